// SPDX-License-Identifier: MIT
/*
 * The declarations of all claims: complete, in order, judged by every term from both
 * sides; and their figures through a file.
 */
#include "unit.h"

#include "repro/claims.h"
#include "repro/page.h"
#include "repro/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct claim *const claims[] = {
#define CLAIM(name) &name,
#include "repro/claims.list"
#undef CLAIM
};

#define CLAIMS (sizeof(claims) / sizeof(*claims))

/* What the paper found, or the middle of the band where it prints no figure. */
static double by_paper(const struct term *t)
{
	return isnan(t->paper) ? (t->size[0] + t->size[1]) / 2 : t->paper;
}

static void as_the_paper(const struct claim *c, double *figure)
{
	for (size_t i = 0; i < claim_terms(c); i++)
		figure[i] = c->term[i].basis == BASIS_ENERGY ? NAN : by_paper(&c->term[i]);
}

static enum verdict claim_judge(const struct claim *c, const double *figure)
{
	return verdict_of(c->term, figure, claim_terms(c), false);
}

static void test_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < CLAIMS; i++) {
		const struct claim *c = claims[i];

		assert_true(!i || strcmp(claims[i - 1]->id, c->id) < 0);
		if (!*c->text || !*c->paper || !*c->falsifier || !*c->note || !c->measure ||
		    !claim_terms(c) || (!c->without.to && !c->with.to))
			fail_msg("%s: its declaration is not complete", c->id);
		for (size_t k = 0; k < claim_terms(c); k++) {
			if (term_rests_on_time(&c->term[k]) && c->needs.runs < 3)
				fail_msg("%s rests on time and asks for no runs", c->id);
			if (c->term[k].basis == BASIS_ENERGY && !c->needs.rail)
				fail_msg("%s speaks of energy and needs no rail", c->id);
		}
	}
}

static void test_bands(void **state)
{
	(void)state;
	for (size_t i = 0; i < CLAIMS; i++) {
		for (size_t k = 0; k < claim_terms(claims[i]); k++) {
			const struct term *t = &claims[i]->term[k];

			if (!isfinite(t->size[0]) || !isfinite(t->size[1]) ||
			    !(t->shape[0] < t->size[0] && t->size[0] <= t->size[1] &&
			      t->size[1] < t->shape[1]))
				fail_msg("%s: %s: the band is not within the direction",
					 claims[i]->id, t->name);
		}
	}
}

static void test_papers_own_figures(void **state)
{
	double figure[CLAIM_TERMS];

	(void)state;
	for (size_t i = 0; i < CLAIMS; i++) {
		as_the_paper(claims[i], figure);
		if (claim_judge(claims[i], figure) != VERDICT_REPRODUCES)
			fail_msg("%s: the paper's own figures do not reproduce", claims[i]->id);
	}
}

/* One term at a time, over each of its four bounds, the others as the paper has them. */
static void verdict_expect(const struct claim *c, size_t term, double value, enum verdict want)
{
	double figure[CLAIM_TERMS];

	as_the_paper(c, figure);
	figure[term] = value;
	if (claim_judge(c, figure) != want)
		fail_msg("%s: %s at %g: %s, want %s", c->id, c->term[term].name, value,
			 verdict_name(claim_judge(c, figure)), verdict_name(want));
}

static void test_every_bound(void **state)
{
	(void)state;
	for (size_t i = 0; i < CLAIMS; i++) {
		const struct claim *c = claims[i];

		for (size_t k = 0; k < claim_terms(c); k++) {
			const struct term *t = &c->term[k];

			if (t->basis == BASIS_ENERGY)
				continue;
			verdict_expect(c, k, t->size[0], VERDICT_REPRODUCES);
			verdict_expect(c, k, t->size[1], VERDICT_REPRODUCES);
			verdict_expect(c, k, (t->shape[0] + t->size[0]) / 2, VERDICT_SHAPE);
			verdict_expect(c, k, t->shape[0], VERDICT_DOES_NOT);
			if (isinf(t->shape[1])) {
				verdict_expect(c, k, 2 * t->size[1] + 1, VERDICT_SHAPE);
				continue;
			}
			verdict_expect(c, k, (t->size[1] + t->shape[1]) / 2, VERDICT_SHAPE);
			verdict_expect(c, k, t->shape[1], VERDICT_DOES_NOT);
		}
	}
}

/* What was found the other way round must not pass: each direction, mirrored at its bound. */
static void test_inverted_figures(void **state)
{
	(void)state;
	for (size_t i = 0; i < CLAIMS; i++) {
		const struct claim *c = claims[i];

		for (size_t k = 0; k < claim_terms(c); k++) {
			const struct term *t = &c->term[k];
			double paper = by_paper(t);
			double near =
				isinf(t->shape[1]) || paper - t->shape[0] < t->shape[1] - paper ?
					t->shape[0] :
					t->shape[1];

			if (t->basis != BASIS_ENERGY)
				verdict_expect(c, k, 2 * near - paper, VERDICT_DOES_NOT);
		}
	}
}

static char *scratch_file(void)
{
	static char path[40];
	int fd;

	snprintf(path, sizeof(path), "/tmp/gchint-claims-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	return path;
}

static void record_fill(struct record *r)
{
	struct origin from = { "abc1234", { 4, 5, true } };

	for (size_t i = 0; i < CLAIMS; i++) {
		struct outcome o;

		outcome_init(&o, claims[i]);
		as_the_paper(claims[i], o.figure);
		ours(&o, "seen %zu", i);
		record_put(&r->entry[i], &o, &from, false);
	}
}

static void test_record_round(void **state)
{
	char *path = scratch_file(), error[256] = "";
	struct record a, b;

	(void)state;
	assert_int_equal(record_init(&a, claims, CLAIMS), 0);
	assert_int_equal(record_init(&b, claims, CLAIMS), 0);
	record_fill(&a);
	a.entry[1].from[0].setup.quiet = false;
	assert_int_equal(record_save(&a, path), 0);
	assert_int_equal(record_load(&b, path, error), 0);
	for (size_t i = 0; i < CLAIMS; i++) {
		struct finding f = record_finding(&a.entry[i], false);
		struct finding g = record_finding(&b.entry[i], false);

		assert_string_equal(a.entry[i].detail, b.entry[i].detail);
		assert_int_equal(f.verdict, VERDICT_REPRODUCES);
		assert_int_equal(g.verdict, f.verdict);
		assert_int_equal(g.unmet, f.unmet);
		if (claims[i]->term[0].basis != BASIS_ENERGY)
			assert_string_equal(b.entry[i].from[0].tree, "abc1234");
	}
	assert_true(record_finding(&b.entry[1], false).unmet & UNMET_QUIET);
	record_free(&a);
	record_free(&b);
	unlink(path);
}

static void test_record_refuses(void **state)
{
	static const char *const bad[] = {
		"999-z\tplain\theap, naive\t1\tt\t2\t3\tquiet\n",
		"003-a\tplain\tno such term\t1\tt\t2\t3\tquiet\n",
		"003-a\tplain\theap, naive\tone\tt\t2\t3\tquiet\n",
		"003-a\tplain\theap, naive\tnan\tt\t2\t3\tquiet\n",
		"003-a\tother\theap, naive\t1\tt\t2\t3\tquiet\n",
		"003-a\tplain\theap, naive\t1\tt\t2\t3\tperhaps\n",
		"003-a\tplain\theap, naive\t1\tt\t2\t-3\tquiet\n",
		"003-a\tplain\theap, naive\t1\tt\t2\t3\tquiet\tmore\n",
		"003-a\tplain\theap, naive\t1\n",
		"nonsense\n",
	};
	char *path = scratch_file(), error[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		FILE *f = fopen(path, "we");
		struct record r;

		assert_non_null(f);
		fputs("# a comment\n\n", f);
		fputs(bad[i], f);
		assert_int_equal(fclose(f), 0);
		assert_int_equal(record_init(&r, claims, CLAIMS), 0);
		assert_int_equal(record_load(&r, path, error), -EINVAL);
		assert_non_null(strstr(error, ":3:"));
		record_free(&r);
	}
	unlink(path);
	{
		struct record r;

		assert_int_equal(record_init(&r, claims, CLAIMS), 0);
		assert_int_equal(record_load(&r, path, error), -ENOENT);
		record_free(&r);
	}
}

/* A new figure drops the old control; what was left out keeps its older figure. */
static void test_record_put(void **state)
{
	struct origin old = { "old", { 2, 5, true } }, now = { "new", { 2, 5, true } };
	const struct claim *c = &overflow_small;
	struct outcome o;
	struct record r;

	(void)state;
	assert_int_equal(record_init(&r, &c, 1), 0);
	outcome_init(&o, c);
	as_the_paper(c, o.figure);
	record_put(&r.entry[0], &o, &old, false);
	record_put(&r.entry[0], &o, &old, true);
	assert_false(isnan(r.entry[0].control[0]));
	o.figure[2] = NAN;
	o.disturbed = true;
	record_put(&r.entry[0], &o, &now, false);
	assert_true(isnan(r.entry[0].control[0]));
	assert_false(isnan(r.entry[0].control[2]));
	assert_string_equal(r.entry[0].from[0].tree, "new");
	assert_string_equal(r.entry[0].from[2].tree, "old");
	/* Counts of a busy machine are as good. */
	assert_int_equal(record_finding(&r.entry[0], false).unmet, 0);
	record_free(&r);
}

static void test_wording(void **state)
{
	struct finding f = { VERDICT_DOES_NOT, VERDICT_UNKNOWN, UNMET_RAIL, NULL };
	char text[200];

	(void)state;
	page_verdict(&dalvik_background_energy, &f, text, sizeof(text));
	assert_string_equal(text, "needs a power rail (its substitute: does not)");
	page_verdict(&dalvik_util_time, &f, text, sizeof(text));
	assert_string_equal(text, "needs a power rail (the rest: does not)");
	f.unmet = UNMET_CPUS | UNMET_QUIET;
	page_verdict(&dalvik_migrations, &f, text, sizeof(text));
	assert_string_equal(text, "needs 4 CPUs, unsettled: machine not quiet (here: does not)");
	f.unmet = 0;
	page_verdict(&art_heap, &f, text, sizeof(text));
	assert_string_equal(text, "does not");
	page_control(&f, text, sizeof(text));
	assert_string_equal(text, "none");
	f.verdict = VERDICT_SHAPE;
	f.control = VERDICT_REPRODUCES;
	f.alteration = &art_heap.without;
	page_control(&f, text, sizeof(text));
	assert_non_null(strstr(text, "reproduces; confirms nothing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_bands),
		cmocka_unit_test(test_papers_own_figures),
		cmocka_unit_test(test_every_bound),
		cmocka_unit_test(test_inverted_figures),
		cmocka_unit_test(test_record_round),
		cmocka_unit_test(test_record_refuses),
		cmocka_unit_test(test_record_put),
		cmocka_unit_test(test_wording),
	};

	return run_tap(tests);
}
