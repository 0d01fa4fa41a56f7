// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: calibrations, read and written: accepted and refused ones. */
#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/gchintctl/calibrate/calibration.h"

#define HEAD "gchint-calibration 1\n"
#define P0   HEAD "policy 0\n"
#define O0   P0 "opp 300 5 1\n"

/* It is @want: an error, or the text written from it. */
static bool text_gives(const char *text, size_t size, const char *want)
{
	struct calibration c;
	char said[4096] = "";
	FILE *f;
	int ret = calibration_parse(&c, text, size, said, sizeof(said));

	if (!ret) {
		f = fmemopen(said, sizeof(said), "w");
		if (!f)
			abort();
		calibration_write(&c, f);
		fclose(f);
	}
	calibration_free(&c);
	if (!strcmp(said, want) && !ret == !strncmp(want, HEAD, strlen(HEAD)) &&
	    (!ret || ret == -EINVAL) && !c.policy && !c.nr)
		return true;
	printf("# '%.200s' is '%s' (%d), not '%s'\n", text, said, ret, want);
	return false;
}

static void rows_check(void)
{
	static const struct {
		const char *text, *want;
	} all[] = {
		{ O0, O0 },
		{ "# a\n\n gchint-calibration\t1 # b\npolicy 0\nopp 300 5 1", O0 },
		{ HEAD "idle 7 0\npolicy 0\nopp 1 1 4294967295\nmemory 3 2\nawake 0 1\n",
		  HEAD "idle 7 0\npolicy 0\nawake 0 1\nmemory 3 2\nopp 1 1 4294967295\n" },
		{ O0 "opp 301 5 1\npolicy 4294967295\nopp 1 1000000000 1\n",
		  O0 "opp 301 5 1\npolicy 4294967295\nopp 1 1000000000 1\n" },
		{ "", "line 0: no policy" },
		{ HEAD, "line 1: no policy" },
		{ "policy 0\n", "line 1: \"gchint-calibration 1\" is wanted first" },
		{ "gchint-calibration\n", "line 1: \"gchint-calibration 1\" is wanted first" },
		{ "gchint-calibration 1 1\n", "line 1: \"gchint-calibration 1\" is wanted first" },
		{ "gchint-calibrations 1\n", "line 1: \"gchint-calibration 1\" is wanted first" },
		{ "gchint-calibration 2\n", "line 1: \"gchint-calibration 1\" is wanted first" },
		{ HEAD HEAD, "line 2: gchint-calibration is there twice" },
		{ HEAD "a 1 1\n", "line 2: awake, idle, memory, opp or policy is wanted" },
		{ HEAD "policies 1\n", "line 2: awake, idle, memory, opp or policy is wanted" },
		{ HEAD "idle 1\n", "line 2: idle takes 2 words behind it" },
		{ HEAD "policy\n", "line 2: policy takes 1 words behind it" },
		{ HEAD "policy 0 1\n", "line 2: policy takes 1 words behind it" },
		{ P0 "opp 1 1\n", "line 3: opp takes 3 words behind it" },
		{ P0 "opp 1 1 1 1\n", "line 3: too many words" },
		{ P0 "idle 1 1\n", "line 3: idle is of the machine: before the first policy" },
		{ HEAD "awake 1 1\n", "line 2: awake is of a policy: behind one" },
		{ HEAD "memory 1 1\n", "line 2: memory is of a policy: behind one" },
		{ HEAD "opp 1 1 1\n", "line 2: opp is of a policy: behind one" },
		{ HEAD "idle 1 1\nidle 1 1\n", "line 3: idle is there twice" },
		{ P0 "memory 1 1\nmemory 1 1\n", "line 4: memory is there twice" },
		{ P0 "awake 1 1\nawake 1 1\n", "line 4: awake is there twice" },
		{ HEAD "idle x 1\n", "line 2: idle takes a whole number and its error" },
		{ HEAD "idle 1 -1\n", "line 2: idle takes a whole number and its error" },
		{ HEAD "idle 01 1\n", "line 2: idle takes a whole number and its error" },
		{ HEAD "idle 1 4294967296\n", "line 2: idle takes a whole number and its error" },
		{ HEAD "idle 1: 1\n", "line 2: idle takes a whole number and its error" },
		{ HEAD "idle 1/ 1\n", "line 2: idle takes a whole number and its error" },
		{ HEAD "idle 1000000001 1\n", "line 2: idle is above 1000000000" },
		{ HEAD "policy x\n", "line 2: policy takes the number of its first CPU" },
		{ HEAD "policy 4294967296\n", "line 2: policy takes the number of its first CPU" },
		{ O0 "policy 0\n", "line 4: policy 0 is not above the one before" },
		{ P0 "policy 1\n", "line 3: policy 0 has no opp" },
		{ P0, "line 2: policy 0 has no opp" },
		{ O0 "policy 7\n", "line 4: policy 7 has no opp" },
		{ P0 "opp 0 1 1\n", "line 3: opp takes kHz, uW and the error of those" },
		{ P0 "opp x 1 1\n", "line 3: opp takes kHz, uW and the error of those" },
		{ P0 "opp 1 1000000001 1\n",
		  "line 3: opp takes kHz, uW up to 1000000000, and their error" },
		{ P0 "opp 1 1 x\n", "line 3: opp takes kHz, uW up to 1000000000, and their error" },
		{ P0 "opp 1 0 1\n", "line 3: no busy CPU draws nothing" },
		{ O0 "opp 300 6 1\n", "line 4: opp 300 is not above the one before" },
		{ O0 "opp 301 4 1\n", "line 4: opp 301 draws less than a slower one" },
		{ O0 "policy 1\nopp 1 1 1\nx 1 1\n",
		  "line 6: awake, idle, memory, opp or policy is wanted" },
	};
	bool good = true;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		good = text_gives(all[i].text, strlen(all[i].text), all[i].want) && good;
	CHECK(good, "a calibration is parsed, or its error reported");
	CHECK(text_gives(O0 "\0", sizeof(O0), "line 0: a byte that is no text"),
	      "a NUL byte is refused");
}

/* Writes that many policies of that many operating points; its length. */
static size_t text_make(char *text, size_t size, unsigned int policies, unsigned int opps)
{
	size_t at = (size_t)snprintf(text, size, HEAD);

	for (unsigned int i = 0; i < policies; i++) {
		at += (size_t)snprintf(text + at, size - at, "policy %u\n", i);
		for (unsigned int j = 1; j <= opps; j++)
			at += (size_t)snprintf(text + at, size - at, "opp %u 1 1\n", j);
	}
	return at;
}

static int text_parse(const char *text, size_t size, struct calibration *c, char *error)
{
	error[0] = '\0';
	return calibration_parse(c, text, size, error, 100);
}

static void sizes_check(void)
{
	const size_t room = 1 << 16;
	char *text = malloc(room), error[100];
	struct calibration c;
	bool good = true;
	size_t size;

	if (!text)
		abort();
	good = !text_parse(text, text_make(text, room, CALIBRATION_POLICIES, 1), &c, error) &&
	       c.nr == CALIBRATION_POLICIES;
	for (uint32_t i = 0; good && i < c.nr; i++)
		good = c.policy[i].cpu == i && c.policy[i].nr == 1 && c.policy[i].opp[0].khz == 1;
	calibration_free(&c);
	CHECK(good, "the maximum number of policies is accepted");
	good = text_parse(text, text_make(text, room, CALIBRATION_POLICIES + 1, 1), &c, error) ==
		       -EINVAL &&
	       !strcmp(error, "line 1026: more than 512 policies");
	calibration_free(&c);
	CHECK(good, "one policy more is refused");
	good = !text_parse(text, text_make(text, room, 2, CALIBRATION_OPPS), &c, error) &&
	       c.policy[0].nr == CALIBRATION_OPPS && c.policy[1].nr == CALIBRATION_OPPS;
	calibration_free(&c);
	good = good &&
	       text_parse(text, text_make(text, room, 1, CALIBRATION_OPPS + 1), &c, error) ==
		       -EINVAL &&
	       !strcmp(error, "line 67: more than 64 of a policy");
	calibration_free(&c);
	CHECK(good, "the number of operating points has the same limit");
	size = text_make(text, room, 5, 1);
	good = true;
	for (long n = 0; n < 5; n++) {
		unit_memory_left(n);
		good = good && text_parse(text, size, &c, error) == -ENOMEM && !*error;
		unit_memory_left(-1);
		calibration_free(&c);
	}
	good = good && !text_parse(text, size, &c, error);
	calibration_free(&c);
	CHECK(good, "without memory the calibration is refused");
	free(text);
}

void unit_calibration(void)
{
	rows_check();
	sizes_check();
}
