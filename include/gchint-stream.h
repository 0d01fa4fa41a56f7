/* SPDX-License-Identifier: MIT */
/**
 * DOC: hints to a recorder, where there is no module
 *
 * A recorder listens on a local datagram socket and names its path to the programs
 * that it starts, in the environment variable GCHINT_STREAM. Where libgchint finds no
 * device it makes a ring in memory of its own, sends it there in one message, and from
 * then on only stores into it: no system call but for the clock, no wait, no file.
 *
 * The message: one byte, 'G', and with it (SCM_RIGHTS) one descriptor, a memfd that
 * holds struct gchint_stream and can neither shrink nor grow (F_SEAL_SHRINK,
 * F_SEAL_GROW, F_SEAL_SEAL). Who sends is told by SCM_CREDENTIALS. Neither side keeps a
 * descriptor: a program may close all of its own. A forked child, and a program after
 * exec, send a ring of their own if they hint.
 *
 * The ring has many writers (threads, and signal handlers that interrupt them) and one
 * reader. An event has a ticket; at first that of event n is n. A writer that finds the
 * ticket of event @tail % NR equal to @tail raises @tail by one (compare and swap), fills
 * the event, and stores its ticket + 1 (release). A ticket that is behind means that
 * the ring is full: the writer adds one to @lost and goes on. The reader acquires a
 * ticket that is its own position + 1, copies the event, and stores position + NR
 * (release). Numbers wrap. A writer that is stopped between the two holds up the
 * reader, never another writer; what a dead process did not finish is lost.
 *
 * Samples: a recorder that profiles says so to the programs that it starts, in
 * GCHINT_PROFILE. Where libgchint then takes the signal GCHINT_STREAM_SIGNAL, which the
 * program must leave alone, it says so in @features. The recorder opens a perf event on each
 * thread and lets the kernel send that signal to the thread at each overflow (F_SETSIG,
 * F_SETOWN_EX); the thread answers with one GCHINT_STREAM_SAMPLE. Whoever does not
 * answer ignores the signal: that is what it does by itself.
 *
 * A recorder that may look into a thread in the instant of its sample, as a BPF program on the
 * event does, needs no answer: @method says where a thread keeps its method, and a
 * GCHINT_STREAM_WORD where one keeps its phase.
 *
 * A program into which no library can be loaded has its ring written by another process, its
 * parent, that watches it: the program sends it before exec, with GCHINT_STREAM_BESIDE in
 * @features. Such a ring ends with GCHINT_STREAM_CLOSE, or two seconds after the program.
 *
 * Nothing in the ring is to be trusted: the reader keeps its position to itself, copies
 * an event once, and checks what it copied. Append-only, as the kernel's ABI: types
 * of events that are not known are skipped.
 */
#ifndef GCHINT_STREAM_H
#define GCHINT_STREAM_H

#include <linux/types.h>

#define GCHINT_STREAM_MAGIC  0x74736367u /* "gcst" in a little-endian file */
#define GCHINT_STREAM_ABI    1
#define GCHINT_STREAM_EVENTS 8192 /* NR, a power of two */
#define GCHINT_STREAM_NO_CPU 0xffffffffu
#define GCHINT_STREAM_SIGNAL 23 /* SIGURG: ignored unless a program takes it */

/**
 * enum gchint_stream_type - what an event tells
 * @GCHINT_STREAM_PHASE: a thread's innermost phase is @phase now, GCHINT_PHASE_NONE for none;
 *	or it is as before, and details of it have become known
 * @GCHINT_STREAM_ATTACH: a thread got the slot @slot, with @role
 * @GCHINT_STREAM_ROLE: its role changed
 * @GCHINT_STREAM_DETACH: it gave the slot back
 * @GCHINT_STREAM_CLOSE: the session closed, the ring ends here
 * @GCHINT_STREAM_SAMPLE: a signal of the profiler's found the thread in @phase, with
 *	@flags, and in the method at @work_done (0: in none that has a name). @slot means
 *	nothing: threads are sampled that have none
 * @GCHINT_STREAM_WORD: the state word of the thread, as struct gchint_slot has it, stands at
 *	the address @work_done for as long as the 32 bits at @work_total are @tid; 0: nowhere
 *	any more. Only with GCHINT_STREAM_METHODS
 */
enum gchint_stream_type {
	GCHINT_STREAM_PHASE = 1,
	GCHINT_STREAM_ATTACH,
	GCHINT_STREAM_ROLE,
	GCHINT_STREAM_DETACH,
	GCHINT_STREAM_CLOSE,
	GCHINT_STREAM_SAMPLE,
	GCHINT_STREAM_WORD
};

/* struct gchint_stream features */
#define GCHINT_STREAM_SAMPLES 0x01u /* answers samples: GCHINT_STREAM_SIGNAL may be sent */
#define GCHINT_STREAM_BESIDE  0x02u /* written by another process, also after the end */
#define GCHINT_STREAM_METHODS 0x04u /* @method says where methods are */

/**
 * struct gchint_stream_event - one event, one cache line
 * @ticket: who may use it, see above
 * @tid: the thread it is about, in the program's pid namespace
 * @time: CLOCK_MONOTONIC, ns
 * @cpu: where that thread ran, GCHINT_STREAM_NO_CPU if another one told of it
 * @slot: number of the lease in the program
 * @type: enum gchint_stream_type
 * @phase: enum gchint_phase
 * @flags: GCHINT_F_*
 * @cause: enum gchint_cause
 * @role: enum gchint_role
 * @work_done: as in struct gchint_slot
 * @work_total: likewise
 * @stall_ns: likewise
 */
struct gchint_stream_event {
	__u32 ticket;
	__s32 tid;
	__u64 time;
	__u32 cpu;
	__u32 slot;
	__u8 type;
	__u8 phase;
	__u8 flags;
	__u8 cause;
	__u32 role;
	__u64 work_done;
	__u64 work_total;
	__u64 stall_ns;
} __attribute__((aligned(64)));

/**
 * struct gchint_stream - the whole memfd
 * @magic: GCHINT_STREAM_MAGIC
 * @abi: GCHINT_STREAM_ABI
 * @events: GCHINT_STREAM_EVENTS
 * @pid: of the program, in its own pid namespace
 * @features: GCHINT_STREAM_SAMPLES, ..., before the ring is sent
 * @method: where each thread has the address of the method that it runs, 64 bits: counted
 *	from its thread pointer (x86-64: fs, arm64: tpidr_el0)
 * @tail: the next ticket
 * @lost: events that found the ring full
 * @event: the events
 */
struct gchint_stream {
	__u32 magic;
	__u32 abi;
	__u32 events;
	__s32 pid;
	__u32 features;
	__u32 reserved;
	__s64 method;
	__u32 more[8];
	__u32 tail __attribute__((aligned(64)));
	__u32 lost;
	struct gchint_stream_event event[GCHINT_STREAM_EVENTS];
};

#endif /* GCHINT_STREAM_H */
