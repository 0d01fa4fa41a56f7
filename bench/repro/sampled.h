/* SPDX-License-Identifier: MIT */
/**
 * DOC: The workload "methods" as gchintctl profile shows it
 *
 * The program itself is profiled, in a run of its own, by $GCHINTCTL or the one that was built.
 * A sample is of the CPU time of that run, so shares are the same on a busy machine.
 */
#ifndef BENCH_SAMPLED_H
#define BENCH_SAMPLED_H

#include "repro/claim.h"

/**
 * struct sampled - samples of one run
 * @interpreter, @native: instructions of the program itself; of libraries and the kernel
 * @collecting: in a phase of the collector
 * @method: in a known method, outside of phases
 * @own, @called: of those, instructions of the program itself; of libraries and the kernel
 * @named: of @own, those with a name, a source and a line
 * @first: of @method, those of the method of line 1
 */
struct sampled {
	double all, interpreter, native, collecting, method, own, called, named, first;
};

/**
 * sampled() - profile a run; equal requests are run once
 * @setting: of the workload; @heap: options of the heap; @record: of profile record.
 *	"key=value ..." separated by blanks, or by commas for the heap
 * Return: true, or false with o->failed and the reason. A run without samples is no failure.
 */
bool sampled(struct outcome *o, const char *setting, const char *heap, const char *record,
	     struct sampled *s);

#endif
