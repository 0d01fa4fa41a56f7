/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The hint ABI by hand, as its header documents it, without a library. */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/gchint.h>

#define DEVICE "/dev/" GCHINT_DEVICE

/**
 * struct session - an open file and its two mappings
 * @fd: the file, -1 closed
 * @info: the kernel's page
 * @slots: the slots
 * @rung: doorbells that session_edge() rang
 */
struct session {
	int fd;
	const volatile struct gchint_info *info;
	volatile struct gchint_slot *slots;
	unsigned int rung;
};

/* 0 or -errno of the step that failed; nothing stays open then. */
int session_open(struct session *s);
void session_close(struct session *s);

/**
 * session_attach() - lease a slot
 * @s: the session
 * @tid: thread, 0 the caller
 * @role: enum gchint_role
 * @lead: slot to follow
 * Return: the slot's number or -errno.
 */
int session_attach(struct session *s, int tid, unsigned int role,
		   unsigned int lead);

/* 0 or -errno. */
int session_detach(struct session *s, unsigned int slot);
int session_ring(struct session *s, unsigned int slot);
int session_role(struct session *s, unsigned int slot, unsigned int role,
		 unsigned int lead);

/** session_store() - a phase edge without a doorbell */
void session_store(struct session *s, unsigned int slot, unsigned int phase,
		   unsigned int flags);

/**
 * session_progress() - details within a phase, without a doorbell
 * @s: the session
 * @slot: the slot
 * @done: units of work
 * @total: of the whole phase, 0 unknown
 * @stall_ns: CLOCK_MONOTONIC, 0 unknown
 */
void session_progress(struct session *s, unsigned int slot, uint64_t done,
		      uint64_t total, uint64_t stall_ns);

/**
 * session_edge() - a phase edge as a runtime does it
 *
 * One store, and a doorbell only if the mask for the phase that begins or ends
 * asks for it.
 *
 * Return: 0, 1 if it rang, or -errno of the ring.
 */
int session_edge(struct session *s, unsigned int slot, unsigned int phase,
		 unsigned int flags);

/**
 * session_watch_quietly() - exclude the calling thread's own load
 * @s: a session of its own for that; stays open while it watches
 *
 * In a policy that all CPUs share, a program that watches raises the frequency,
 * even more on a busy emulator. A standing role caps it.
 *
 * Return: 0 or -errno.
 */
int session_watch_quietly(struct session *s);

#endif
