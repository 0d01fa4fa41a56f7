/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sampling in the kernel: a BPF program on each perf event reads, at the instant of the
 * sample, the method and the phase from the sampled thread's own memory, so that the thread
 * need not answer a signal. It needs CAP_BPF and CAP_PERFMON, and a kernel whose BTF says
 * where it keeps a thread's pointer.
 */
#ifndef SOURCE_TUNNEL_H
#define SOURCE_TUNNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "../../recording/record.h"

/* Of a call chain, the program's and the kernel's. */
#define TUNNEL_FRAMES	     127
#define TUNNEL_KERNEL_FRAMES 32

/**
 * struct tunnel_place - where a thread publishes its method and phase
 * @method: offset of its method from its thread pointer
 * @word: address of its state word; 0: it is in no phase
 * @owner: address of 32 bits that equal @tid as long as the thread owns the word
 * @tid: in the program's pid namespace
 * @valid: @method and @word are valid
 */
struct tunnel_place {
	int64_t method;
	uint64_t word, owner;
	uint32_t tid, valid;
	uint64_t lost; /* samples dropped, counted by the BPF program */
};

/**
 * struct tunnel_sample - as the program writes it
 * @thread: the number it was attached with
 * @word: state word, if @known has HOTSPOT_PHASE
 * @known: HOTSPOT_*, TUNNEL_WORD
 * @in_kernel: bytes of @kernel, from the innermost; -errno for none
 * @in_user: the same of @user
 */
struct tunnel_sample {
	uint64_t t, method;
	uint32_t thread, cpu, word, known;
	int32_t in_kernel, in_user;
	uint64_t kernel[TUNNEL_KERNEL_FRAMES], user[TUNNEL_FRAMES];
};

#define TUNNEL_WORD 4u /* the phase was read from a word; else there is none */

struct tunnel;

/**
 * tunnel_open() - load the program
 * @threads: that can be attached at once
 * @sysfs: root of sysfs, for the kernel's BTF
 * @why: on failure, what is missing
 *
 * Return: 0 or -errno.
 */
int tunnel_open(struct tunnel **t, uint32_t threads, const char *sysfs, const char **why);
void tunnel_close(struct tunnel *t);

/* A descriptor that holds @event, which may then be closed, and the program; or -errno. */
int tunnel_attach(struct tunnel *t, int event, uint32_t thread);
/* Call before tunnel_attach(), and whenever the place changes. */
void tunnel_place(struct tunnel *t, uint32_t thread, const struct tunnel_place *place);
/* The next sample; false if there is none yet. */
bool tunnel_next(struct tunnel *t, struct tunnel_sample *sample);
/* Samples of a thread that were dropped for lack of space since the last call. */
uint64_t tunnel_lost(struct tunnel *t, uint32_t thread);

#endif
