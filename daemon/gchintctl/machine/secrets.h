/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and numbers that identify a machine or its user, and a search for them in files. */
#ifndef GCHINTCTL_SECRETS_H
#define GCHINTCTL_SECRETS_H

#define SECRETS_SERIAL "serial number"

struct secrets {
	struct {
		const char *what;
		char text[128];
	} of[16];
	unsigned int nr;
	char facts[4096]; /* published anyway: a name that is a word of this is not a secret */
};

/**
 * secrets_add - add a text to those that secrets_in() searches for
 * @s: all zeroes at first, except for @facts
 * @what: description of the text, a static string
 * @text: the text; one that many machines share (root, localhost) is ignored
 *
 * Returns NULL, or the reason why the text cannot be searched for.
 */
const char *secrets_add(struct secrets *s, const char *what, const char *text);

/* Returns @what of the first secret that the file contains as a whole word, or NULL. */
const char *secrets_in(const struct secrets *s, const char *path);

#endif
