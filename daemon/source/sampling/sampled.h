/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sampled threads: turns samples from the tunnel, or from a thread's own ring, into records. */
#ifndef SOURCE_SAMPLED_H
#define SOURCE_SAMPLED_H

#include <dirent.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "../context.h"
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
	uint8_t known; /* HOTSPOT_*, TUNNEL_WORD */
	bool in_kernel;
};

struct thread {
	struct thread *next;
	struct process *process;
	struct perf_event_mmap_page *page; /* NULL: could not be sampled, not tried again */
	int32_t tid, own_tid; /* own_tid: in the program's pid namespace */
	int fd;
	uint32_t number; /* in the tunnel; 0 none */
	bool alive; /* at the last walk */
	uint32_t first, nr; /* of pending */
	uint32_t settled; /* so many of these have their answer, or will never have one */
	struct sample pending[PENDING];
};

struct process {
	struct process *next;
	struct thread *threads;
	struct images images;
	uint64_t read; /* answers before this instant have arrived */
	/* CPU time of all its threads, also of those that ended: at the start, and as last read. */
	uint64_t cpu_first_ns, cpu_ns, cpu_at;
	DIR *task; /* of its threads; NULL before the first walk */
	int32_t pid;
	bool same, answers, timers;
	bool seen; /* sampled through the tunnel, without signals */
	bool wanted; /* by the filter: its threads are sampled */
	struct tunnel_place place; /* of a thread in no phase */
	struct tunnel_place *word; /* of threads whose state word is known */
	size_t words;
	struct methods methods;
};

struct hotspots {
	struct source_context *context;
	struct watch *timer;
	struct process *processes;
	unsigned int nr_processes, nr_threads;
	struct sampling sampling;
	bool warned;
	struct config_hotspots filter; /* the one in effect */
	uint64_t passed, stopped; /* samples since the filter changed */
	uint64_t samples, cpu_ns; /* all samples; CPU time of processes that have ended */
	struct stacks stacks;
	struct tunnel *tunnel; /* NULL: threads must answer */
	struct thread *numbered[THREADS]; /* by number in the tunnel */
	uint32_t number; /* assigned last */
};

/* Lowers the rate to what the kernel allows now; false if it does already. */
bool hotspots_keep_limit(struct hotspots *h);
/* Finds the threads of @p that started or ended since the last walk. */
void threads_walk(struct hotspots *h, struct process *p);
/* Takes the samples in a thread's own ring; in the tunnel, of all threads. */
void thread_drain(struct hotspots *h, struct process *p, struct thread *th);
void threads_drain(struct hotspots *h);
/* Adds a sample that the thread took itself; @missed: so many before it could not be taken. */
void thread_add_own(struct hotspots *h, struct thread *th, const struct sample *own,
		    uint64_t missed);
/* Records how many of its samples the tunnel dropped. */
void thread_lost(struct hotspots *h, struct thread *th);
/* Removes its oldest sample, answered or not, and records it if the filter matches. */
void thread_flush(struct hotspots *h, struct process *p, struct thread *th);
/* Flushes its samples and frees it; *@at is the next thread then. */
void thread_end(struct hotspots *h, struct process *p, struct thread **at);

#endif
