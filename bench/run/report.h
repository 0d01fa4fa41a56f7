/* SPDX-License-Identifier: MIT */
/* The figures of a run, as text to read or as CSV and JSON for programs: one row a run. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "lib/table.h"
#include "run/run.h"

/** struct report_run - a run and its name */
struct report_run {
	const char *name;
	struct run_result result;
};

/** report_text() - all figures of one run, in sections. */
void report_text(const struct report_run *run, FILE *out);
/** report_rows() - one wide row a run, every figure a column. 0 or -ENOMEM. */
int report_rows(const struct report_run *run, size_t count, enum table_form form, FILE *out);
/** report_table1() - the columns of the Dalvik seed's Table 1. 0 or -ENOMEM. */
int report_table1(const struct report_run *run, size_t count, enum table_form form, FILE *out);
/** report_summary() - min, median, max and 95 % interval over runs of one thing. */
int report_summary(const struct report_run *run, size_t count, enum table_form form, FILE *out);

#endif
