/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What would reduce the paused time of a process: the settings of runtimes, and a prediction of
 * what each would do. Pure.
 *
 * A prediction is made of a recording: bytes before and after each collection, its generation and
 * its pauses. What it takes from one collection to the next is allocated whatever the setting is,
 * so the number of collections follows from the room that the setting gives; the length of each is
 * that of the recording, corrected for what it has to copy or to traverse.
 */
#ifndef ANALYSIS_ADVICE_H
#define ANALYSIS_ADVICE_H

#include "findings.h"

/* How a setting acts. */
enum advice_model {
	ADVICE_HEAP, /* the limit of a heap with generations whose sizes follow from it */
	ADVICE_HEAP_V8, /* the same of V8, which starts collections well before its limit */
	ADVICE_ROOM, /* bytes from one collection to the next */
	ADVICE_YOUNG, /* the size of the young generation */
	ADVICE_PACE, /* room in per cent of what stays */
	ADVICE_SLOTS, /* the share of CRuby's slots that are free after a collection */
	ADVICE_COUNT, /* new objects until CPython collects its youngest generation */
};

/**
 * struct advice_knob - a setting of a runtime
 * @runtime: the adapter's name
 * @prefix: the setting up to its value; what begins with "-" is an argument, else a variable
 * @suffix: behind the value
 * @model: how it acts
 * @unit: bytes of a value of 1, of those that are bytes; else 1
 * @standard: value of a program that does not set it, in @unit; 0: not known
 * @factor: by which an advice multiplies it; 0: an advice follows from the heap
 * @call: of a setting that only the adapter reads: what a program calls without it, before and behind
 *	the value; NULL: the runtime reads it
 */
struct advice_knob {
	const char *runtime, *prefix, *suffix;
	enum advice_model model;
	double unit, standard, factor;
	const char *call[2];
};

#define ADVICE_KNOBS 10
extern const struct advice_knob advice_knobs[ADVICE_KNOBS];

#define ADVICE_SETTING 160
#define ADVICE_TEXT    480

/**
 * struct advice - a change, and what it would do
 * @knob: the setting; NULL: what it does is not predicted
 * @setting: with its value, such as "-Xmx192m" or "GOGC=200"; several are separated by blanks
 * @limit: of a heap's limit: the new one in bytes; else 0
 * @now: of a heap's limit: the one now
 * @live: bytes that stay after a full collection; 0 not known
 * @collections: in the recording; pauses, of a runtime that does not report its heap
 * @full: full collections among them that the program did not ask for
 * @full_paused: ns of their pauses
 * @paused: ns of all pauses
 * @cpu: CPU time of collection, ns; FINDINGS_UNKNOWN
 * @wait_low: in addition to it, runnable and without a CPU for at least that long, ns;
 *	FINDINGS_UNKNOWN
 * @wait_high: at most, ns; FINDINGS_UNKNOWN
 * @collections_then: predicted, as are the others of that ending; NAN not known
 * @assumed: the value now is taken to be the standard one: the program's settings are not known
 * @bound: the predicted figures are upper bounds: what survives is not known
 * @text: a sentence, with how the figures are known
 *
 * Without advice the figures of the recording are known all the same.
 */
struct advice {
	const struct advice_knob *knob;
	char setting[ADVICE_SETTING];
	int64_t limit, now, live;
	size_t collections, full;
	uint64_t full_paused, paused;
	int64_t cpu, wait_low, wait_high;
	double collections_then, full_then, full_paused_then, paused_then, cpu_then;
	bool assumed;
	bool bound;
	char text[ADVICE_TEXT];
};

/**
 * advice_of - advise the setting that reduces the paused time the most
 * @in: what is known
 * @advice: receives it
 *
 * Returns false without advice: nothing that is predicted would reduce it by a tenth, or the
 * process is hardly paused.
 */
bool advice_of(const struct findings_input *in, struct advice *advice);

/**
 * advice_predict - predict a given setting
 * @in: what is known
 * @setting: as in struct advice
 * @advice: receives it
 *
 * Returns false if nothing is predicted of it; figures of the recording are known all the same.
 */
bool advice_predict(const struct findings_input *in, const char *setting, struct advice *advice);

/**
 * advice_verdict - what a change did, from one run without it and one with it
 * @now: without it
 * @then: with it
 *
 * Pauses also last while their threads wait for a CPU. Where the run with the change waited longer
 * and its collections needed less CPU time, the two runs do not show it; nor where it may have
 * waited for so much longer that the rest was a gain.
 */
const char *advice_verdict(const struct advice *now, const struct advice *then);

#endif
