// SPDX-License-Identifier: MIT
/* The environment: parses its variables and describes errors in words. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environ.h"
#include "filter.h"
#include "names.h"
#include "trace.h"

/* The name, the accepted values (for error messages) and the maximum of each variable. */
static const struct {
	const char *name, *wants;
	long max;
} variables[] = {
	[VARIABLE_DISABLE] = { "GCHINT_DISABLE", "0 or 1", 1 },
	[VARIABLE_MIN_US] = { "GCHINT_MIN_US", "a number of microseconds up to 10000000",
			      10000000 },
	[VARIABLE_CLAMP] = { "GCHINT_CLAMP", "a percentage, 0 to 100", 100 },
	[VARIABLE_TRACE] = { "GCHINT_TRACE", "a file, or a pipe that is read", 0 },
	[VARIABLE_STREAM] = { "GCHINT_STREAM", "a recorder's socket", 0 },
	[VARIABLE_DEVICE] = { "GCHINT_DEVICE", "a device", 0 },
	[VARIABLE_PROFILE] = { "GCHINT_PROFILE", "0, 1 or 2", 2 },
	[VARIABLE_SYMBOLS] = { "GCHINT_SYMBOLS", "a directory", 0 },
	[VARIABLE_HINTS] = { "GCHINT_HINTS", "all, boost, cap or clamp", 1 },
};

const char *variable_read(enum variable which)
{
	const char *text = secure_getenv(variables[which].name);

	return text && *text ? text : NULL;
}

int variable_is_set(enum variable which)
{
	return secure_getenv(variables[which].name) != NULL;
}

/*
 * A number up to @max, or -1. Not strtol(): newer C libraries replace it by a function that musl
 * does not have.
 */
static long number_parse(const char *text, long max)
{
	long value = 0;

	for (; *text >= '0' && *text <= '9'; text++) {
		value = value * 10 + (*text - '0');
		if (value > max)
			return -1;
	}
	return *text ? -1 : value;
}

int variable_number(struct gchint_session *s, enum variable which, long *value)
{
	const char *text = variable_read(which);
	long v;

	if (!text)
		return 0;
	v = number_parse(text, variables[which].max);
	if (v < 0) {
		s->bad = (uint8_t)which;
		return -EINVAL;
	}
	*value = v;
	return 0;
}

int variable_hints(struct gchint_session *s, uint8_t *hints)
{
	static const char *const words[] = {
		[HINTS_ALL] = "all",
		[HINTS_BOOST] = "boost",
		[HINTS_CAP] = "cap",
		[HINTS_CLAMP] = "clamp",
	};
	const char *text = variable_read(VARIABLE_HINTS);
	uint8_t n;

	if (!text)
		return 0;
	for (n = 0; n < sizeof(words) / sizeof(words[0]); n++)
		if (!strcmp(text, words[n])) {
			*hints = n;
			return 0;
		}
	s->bad = VARIABLE_HINTS;
	return -EINVAL;
}

/* The last character of @size is reserved for the terminating zero. */
struct words {
	char *text;
	size_t size, length;
};

static void words_append(struct words *w, const char *text)
{
	for (; *text; text++, w->length++)
		if (w->length + 1 < w->size)
			w->text[w->length] = *text;
}

static const char *name_of_error(int error)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
		{ -EACCES, "permission denied" },
		{ -ECANCELED, "GCHINT_DISABLE is set" },
		{ -EBADF, "no session is open" },
		{ -EDQUOT, "the user's limit is reached" },
		{ -EINVAL, "not understood" },
		{ -EISDIR, "is a directory" },
		{ -EMFILE, "too many open files" },
		{ -ENODEV, "not the device of gchint" },
		{ -ENOENT, "no such file" },
		{ -ENOTDIR, "not a directory" },
		{ -ENXIO, "it has no reader, or there is no such device" },
		{ -EPERM, "not permitted" },
		{ -EPROTONOSUPPORT, "the module's ABI is not supported" },
		{ -EROFS, "read-only file system" },
	};
	size_t n;

	for (n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (names[n].error == error)
			return names[n].name;
	return "unexpected error";
}

static void words_append_variable(struct words *w, enum variable which)
{
	const char *value = variable_read(which);

	words_append(w, variables[which].name);
	words_append(w, "=");
	words_append(w, value ? value : "");
}

static const char *name_of_clamp_error(int error)
{
	switch (error) {
	case -EOPNOTSUPP:
		return "the kernel is built without CONFIG_UCLAMP_TASK, as Debian's are; "
		       "boot one that has it";
	case -EINVAL:
	case -E2BIG:
		return "utilisation clamps need Linux 5.3 or newer";
	case -ENOSYS:
		return "the kernel is older than 3.14, or a seccomp filter hides sched_setattr(2)";
	case -EACCES:
	case -EPERM:
		return "sched_setattr(2) is not permitted; allow it in the seccomp filter of the "
		       "container or service";
	case -ECANCELED:
		return "GCHINT_CLAMP=0 forbids clamps";
	}
	return name_of_error(error);
}

/* GCHINT_HINTS=clamp: the device is not opened, so only clamps matter here. */
static void words_append_clamps(struct words *w, const struct gchint_session *s)
{
	if (s->backend != GCHINT_BACKEND_NOTHING)
		words_append(w, name_of_backend(s->backend));
	if (s->backend == GCHINT_BACKEND_CLAMP) {
		/* The kernel copies a clamp, and only threads that hint lose it again. */
		if (load_relaxed(&s->clamped))
			words_append(w, "; threads and programs started in a capped phase may keep "
					"the cap");
		return;
	}
	if (s->backend != GCHINT_BACKEND_NOTHING)
		words_append(w, "; ");
	words_append_variable(w, VARIABLE_HINTS);
	words_append(w, ": ");
	words_append(w, name_of_clamp_error(s->why));
}

size_t gchint_explain(char *text, size_t size)
{
	const struct gchint_session *s = &gchint_page.session;
	const enum variable bad = (enum variable)s->bad;
	const int why = s->refs || bad ? s->why : -EBADF;
	struct words w = { text, size, 0 };
	const int saved = errno;

	if (bad) {
		words_append_variable(&w, bad);
		words_append(&w, ": ");
		if (why != -EINVAL || !variables[bad].max) {
			words_append(&w, name_of_error(why));
			words_append(&w, "; ");
		}
		words_append(&w, "wants ");
		words_append(&w, variables[bad].wants);
	} else if (!why) {
		words_append(&w, "the kernel's device");
	} else if (s->refs && s->hints == HINTS_CLAMP) {
		words_append_clamps(&w, s);
	} else {
		if (s->backend != GCHINT_BACKEND_NOTHING) {
			words_append(&w, name_of_backend(s->backend));
			words_append(&w, "; ");
		}
		if (why != -ECANCELED && why != -EBADF) {
			if (variable_read(VARIABLE_DEVICE))
				words_append_variable(&w, VARIABLE_DEVICE);
			else
				words_append(&w, "/dev/" GCHINT_DEVICE);
			words_append(&w, ": ");
		}
		words_append(&w, name_of_error(why));
	}
	if (size)
		text[w.length < size ? w.length : size - 1] = '\0';
	errno = saved;
	return w.length;
}

void variable_report(struct gchint_session *s)
{
	static const char head[] = "libgchint: no ";
	char line[400];
	size_t length = sizeof(head) - 1, space = sizeof(line) - 1;
	const char *what = "clamps: ";

	if (s->reported)
		return;
	/* The device exists, and other processes of the user have it: that is no choice. */
	if (s->bad == VARIABLE_HINTS || (s->refs && s->why == -EDQUOT))
		what = "hints: ";
	else if (!s->refs || s->hints != HINTS_CLAMP || s->backend == GCHINT_BACKEND_CLAMP)
		return;
	s->reported = 1;
	memcpy(line, head, length);
	memcpy(line + length, what, strlen(what));
	length += strlen(what);
	length += gchint_explain(line + length, space - length);
	if (length >= space)
		length = space - 1;
	line[length++] = '\n';
	/* Nothing can be done if standard error is not writable. */
	if (write(STDERR_FILENO, line, length) < 0)
		return;
}
