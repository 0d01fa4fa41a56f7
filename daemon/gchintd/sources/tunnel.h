/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's side of a sample: a BPF program on each perf event, which in the instant of the
 * sample reads the method and the phase out of the sampled thread's own memory. Nobody has to
 * answer. It wants CAP_BPF and CAP_PERFMON, and a kernel that tells where it keeps a thread's
 * pointer.
 */
#ifndef GCHINTD_TUNNEL_H
#define GCHINTD_TUNNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "../record.h"

#define TUNNEL_FRAMES 16 /* of a call chain, of the kernel's and of the program's */

/**
 * struct tunnel_place - where a thread tells what it does
 * @method: of its method, from its thread pointer
 * @word: address of its state word; 0: it is in no phase
 * @owner: address of 32 bits that are @tid as long as the word is its own
 * @tid: as the program sees it
 * @tells: @method and @word mean something
 */
struct tunnel_place {
	int64_t method;
	uint64_t word, owner;
	uint32_t tid, tells;
	uint64_t lost; /* the program's own */
};

/**
 * struct tunnel_sample - as the program writes it
 * @thread: the number it was attached with
 * @word: state word, if @known has HOTSPOT_PHASE
 * @known: HOTSPOT_*, TUNNEL_WORD
 * @in_kernel: bytes of @kernel, from the innermost; -errno for none
 * @in_user: likewise of @user
 */
struct tunnel_sample {
	uint64_t t, method;
	uint32_t thread, cpu, word, known;
	int32_t in_kernel, in_user;
	uint64_t kernel[TUNNEL_FRAMES], user[TUNNEL_FRAMES];
};

#define TUNNEL_WORD 4u /* the phase was read; else it is none for want of a word */

struct tunnel;

/**
 * tunnel_open() - load the program
 * @threads: that can be attached at once
 * @sysfs: where the kernel's own types are told
 * @why: on failure, what is missing
 *
 * Return: 0 or -errno.
 */
int tunnel_open(struct tunnel **t, uint32_t threads, const char *sysfs, const char **why);
void tunnel_close(struct tunnel *t);

/* A descriptor that holds @event, which may be closed, and the program on it; or -errno. */
int tunnel_attach(struct tunnel *t, int event, uint32_t thread);
/* Before it is attached, and whenever it changes. */
void tunnel_place(struct tunnel *t, uint32_t thread, const struct tunnel_place *place);
/* The next sample; false if there is none yet. */
bool tunnel_next(struct tunnel *t, struct tunnel_sample *sample);
/* Samples of a thread that found no room, since it was placed last. */
uint64_t tunnel_lost(struct tunnel *t, uint32_t thread);

#endif
