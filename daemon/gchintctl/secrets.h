/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and numbers that say whose machine this is, and whether a file holds one. */
#ifndef GCHINTCTL_SECRETS_H
#define GCHINTCTL_SECRETS_H

#define SECRETS_SERIAL "serial number"

struct secrets {
	struct {
		const char *what;
		char text[128];
	} of[16];
	unsigned int nr;
	char facts[4096]; /* what may be told: a name that is a word of it is no secret */
};

/**
 * secrets_add - look for this one as well
 * @s: beginning with zeroes, and @facts filled
 * @what: it is, static
 * @text: itself; what every machine has (root, localhost) is passed over
 *
 * Returns NULL, or why it cannot be looked for.
 */
const char *secrets_add(struct secrets *s, const char *what, const char *text);

/* What of them a file holds, as a word of its own; NULL nothing. */
const char *secrets_in(const struct secrets *s, const char *path);

#endif
