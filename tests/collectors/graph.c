// SPDX-License-Identifier: MIT
/*
 * graph OPTIONS SEED STEPS THREADS OTHER FORKS CROWDS DISTURBS: one random program against the
 * model; exit 0 or 1. OTHER, if not empty, are the options of a second heap; with FORKS=1 the threads
 * fork, with CROWDS=1 small mark stacks overflow, and with DISTURBS=1 threads get signals, are
 * canceled and leave a callback by longjmp(). GRAPH_HANG_S=N: those hang after N seconds
 * without a step (default: 200).
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct model_run run = { .options = argc > 1 ? argv[1] : "",
				 .seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1,
				 .steps = argc > 3 ? (unsigned int)atoi(argv[3]) : 20000,
				 .threads = argc > 4 ? (unsigned int)atoi(argv[4]) : 1,
				 .other = argc > 5 && *argv[5] ? argv[5] : NULL,
				 .forks = argc > 6 && atoi(argv[6]),
				 .crowds = argc > 7 && atoi(argv[7]),
				 .disturbs = argc > 8 && atoi(argv[8]) };
	int ret = model_run(&run);

	printf("%s: %llu cycles, %llu minor, %llu verifications, %llu dirty cards, %.1f MB\n",
	       ret ? "bad" : "good", (unsigned long long)run.stats.cycles,
	       (unsigned long long)run.stats.minors, (unsigned long long)run.stats.verifications,
	       (unsigned long long)run.stats.cards_dirty, (double)run.stats.allocated_bytes / 1e6);
	if (run.disturbs)
		printf("%u signals, %u threads canceled, %u callbacks left\n", run.handled,
		       run.canceled, run.left);
	return ret;
}
