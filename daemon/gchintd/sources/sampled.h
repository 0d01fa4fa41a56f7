/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that are sampled: the one way or the other to a record a sample. */
#ifndef GCHINTD_SAMPLED_H
#define GCHINTD_SAMPLED_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "../host.h"
#include "images.h"
#include "methods.h"
#include "sampling.h"
#include "stacks.h"
#include "tunnel.h"

#define THREADS 4096 /* of all processes */
#define PENDING 512 /* samples of a thread that wait for their answer */

struct sample {
	uint64_t t, ip, kernel, method;
	uint32_t cpu, stack;
	uint8_t phase, flags;
	uint8_t told; /* HOTSPOT_*, TUNNEL_WORD */
	bool in_kernel;
};

struct thread {
	struct thread *next;
	struct process *process;
	struct perf_event_mmap_page *page; /* NULL: could not be sampled, not tried again */
	int32_t tid, own_tid; /* as the program sees it */
	int fd;
	uint32_t number; /* the tunnel's */
	bool alive; /* at the last walk */
	uint32_t first, nr; /* of pending */
	struct sample pending[PENDING];
};

struct process {
	struct process *next;
	struct thread *threads;
	struct images images;
	int32_t pid;
	bool same, answers;
	bool seen; /* through the tunnel: nobody is asked */
	bool wanted; /* by the filter: its threads are sampled */
	struct tunnel_place place; /* of a thread in no phase */
	struct tunnel_place *word; /* of those that told where their phase is */
	size_t words;
	struct methods methods;
};

struct hotspots {
	struct host *host;
	struct watch *timer;
	struct process *processes;
	unsigned int nr_processes, nr_threads;
	struct sampling sampling;
	bool told;
	struct config_hotspots filter; /* as it was looked at last */
	uint64_t passed, stopped; /* samples, since then */
	struct stacks stacks;
	struct tunnel *tunnel; /* NULL: threads must answer */
	struct thread *numbered[THREADS]; /* of the tunnel's */
	uint32_t number; /* given last */
};

/* Whoever of @p began or ended since. */
void threads_walk(struct hotspots *h, struct process *p);
/* What the kernel has of one that answers; of all that are seen through the tunnel. */
void thread_drain(struct hotspots *h, struct process *p, struct thread *th);
void threads_drain(struct hotspots *h);
/* Samples that ran over in the tunnel. */
void thread_lost(struct hotspots *h, struct thread *th);
/* Records its oldest sample, answered or not, if the filter lets it pass. */
void thread_flush(struct hotspots *h, struct process *p, struct thread *th);
/* With what is left of it; the next one stands in its place. */
void thread_end(struct hotspots *h, struct process *p, struct thread **at);

#endif
