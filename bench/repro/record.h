/* SPDX-License-Identifier: MIT */
/**
 * DOC: Figures in a file, so that verdicts can be derived again without a run
 *
 * One line per figure, separated by tabs: claim, "plain" or "control", term, figure, and where
 * it was taken: tree, CPUs, runs, "quiet" or "busy". Lines of "detail" and "table" hold
 * text in place of term and figure. # begins a comment. Verdicts are not in it.
 */
#ifndef BENCH_RECORD_H
#define BENCH_RECORD_H

#include "repro/claim.h"

#define RECORD_TREE 24

/** struct origin - where a figure was taken */
struct origin {
	char tree[RECORD_TREE];
	struct setup setup;
};

/**
 * struct entry - the figures of a claim
 * @figure, @control: of each term, NAN unknown; @from: the origin of @figure
 */
struct entry {
	const struct claim *claim;
	double figure[CLAIM_TERMS], control[CLAIM_TERMS];
	struct origin from[CLAIM_TERMS];
	char detail[1200];
};

/** struct record - every claim, in order; @table: the seed's Table 1 as Markdown, or empty */
struct record {
	struct entry *entry;
	size_t entries;
	char *table, table_tree[RECORD_TREE];
};

/** struct finding - the verdict on an entry; @control is unknown where there is none */
struct finding {
	enum verdict verdict, control;
	unsigned int unmet;
	const struct alteration *alteration;
};

/** record_init() - nothing known of @claims. 0 or -ENOMEM. */
int record_init(struct record *r, const struct claim *const *claim, size_t claims);
void record_free(struct record *r);

/**
 * record_load() - read @path
 * Return: 0, -ENOENT, or -EINVAL with the line in @error (256 bytes).
 */
int record_load(struct record *r, const char *path, char *error);
/** record_save() - replace @path; an interruption leaves the old one. 0 or negative errno. */
int record_save(const struct record *r, const char *path);

/**
 * record_drop() - forget the figures of every tree for which @known is false, and what was said
 * of their claims
 * Return: how many figures are gone.
 */
size_t record_drop(struct record *r, bool (*known)(const char *tree, void *arg), void *arg);

/** record_put() - store the figures of @o, in place of older ones. */
void record_put(struct entry *e, const struct outcome *o, const struct origin *from, bool control);

/** record_finding() - the verdict on the figures of @e. */
struct finding record_finding(const struct entry *e, bool counts);

#endif
