/* SPDX-License-Identifier: MIT */
/**
 * DOC: hints to a recorder, without the module
 *
 * A recorder listens on a local datagram socket and passes its path to the programs
 * that it starts, in the environment variable GCHINT_STREAM. That of the system's service
 * is GCHINT_STREAM_SERVICE, which is used without the variable; an empty one means none.
 * If there is a socket, libgchint creates a ring in memory, sends it to the socket in one message,
 * and from then on only stores into it: no system call except for the clock, no wait, no file. With
 * the device the ring has what the kernel does not report: samples, readings of the heap and the
 * name of the runtime.
 *
 * The message is one byte, 'G', and one descriptor (SCM_RIGHTS): a memfd that contains
 * struct gchint_stream and can neither shrink nor grow (F_SEAL_SHRINK, F_SEAL_GROW,
 * F_SEAL_SEAL). SCM_CREDENTIALS identify the sender. Neither side keeps a descriptor,
 * so a program may close all of its own. A forked child, and a program after exec, send
 * a ring of their own if they hint.
 *
 * A recorder that is busy or stopped does not empty its socket. The program waits for 100 ms, then
 * keeps the descriptor and tries again at later events and at its end. It sets GCHINT_STREAM_LATE in
 * @features, and appends a line feed to the file of that path with ".late" added, if the
 * recorder has made one: of programs that were not recorded it has more line feeds than late rings
 * arrived. A program that cannot make a ring, because of a limit or a filter, appends one as well.
 *
 * The ring has many writers (threads, and signal handlers that interrupt them) and one
 * reader. Each event has a ticket; initially that of event n is n. A writer that finds the
 * ticket of event @tail % NR equal to @tail increments @tail (compare and swap), fills
 * the event, and stores its ticket + 1 (release). A ticket that is behind means that
 * the ring is full: the writer increments @lost and continues. The reader acquires a
 * ticket that equals its own position + 1, copies the event, and stores position + NR
 * (release). Numbers wrap. A writer that is stopped between the two delays the reader,
 * never another writer; an event that a dead process did not finish is lost.
 *
 * Samples: a recorder that profiles sets GCHINT_PROFILE for the programs that it starts.
 * If libgchint then handles the signal GCHINT_STREAM_SIGNAL, which the program must not
 * use, it sets GCHINT_STREAM_SAMPLES in @features. The recorder opens a perf event on each
 * thread and lets the kernel send that signal to the thread at each overflow (F_SETSIG,
 * F_SETOWN_EX). The thread answers with one GCHINT_STREAM_SAMPLE. A program without the
 * handler ignores the signal, which is its default action.
 *
 * Where perf events are not allowed, and GCHINT_STREAM_TIMERS is set, the recorder queues
 * that signal to a thread itself (rt_tgsigqueueinfo, SI_QUEUE), with a frequency in Hz as
 * its value. The thread then starts a timer of its CPU time, and each time it expires, puts
 * a GCHINT_STREAM_SAMPLE. The value 0 stops the timer, and so does the end of the session.
 *
 * A recorder that can read a thread's memory at the instant of its sample, such as a BPF
 * program on the event, needs no answer: @method is the place of a thread's method, and
 * GCHINT_STREAM_WORD has the address of its phase.
 *
 * For a program that cannot load a library another process writes the ring: its parent,
 * which watches it. The program sends the ring before exec, with GCHINT_STREAM_EXTERNAL in
 * @features. Such a ring ends with GCHINT_STREAM_CLOSE, or two seconds after the program.
 * A process that was there before its watcher, or that the program starts, sends nothing: the
 * watcher sends the ring for it, with GCHINT_STREAM_BEHALF, also after its end. A watcher that knows
 * what threads are called sets GCHINT_STREAM_NAMED and sends GCHINT_STREAM_NAME: a process may have
 * ended when the recorder looks. A recorder takes
 * such a ring from root and from its own user, in its own pid namespace: there @sender is the pid of
 * the credentials.
 *
 * Names of methods: with GCHINT_STREAM_NAMES the file continues after struct gchint_stream
 * with struct gchint_stream_names, which only grows. A writer adds the length of its lines to
 * @tail (compare and swap), copies them, and stores their last byte, a line feed, with release.
 * Where a line feed follows zeros, the line begins after the last zero: what is before it was
 * not finished (yet). If there is no space the writer uses the file that GCHINT_SYMBOLS names.
 * So names arrive whatever the user, the root directory and the pid namespace of the program.
 *
 * A reader must not trust the ring: it keeps its position to itself, copies an event
 * once, and checks the copy. The format is append-only, like the kernel's ABI: a reader
 * skips unknown types of events.
 */
#ifndef GCHINT_STREAM_H
#define GCHINT_STREAM_H

#include <linux/types.h>

#define GCHINT_STREAM_SERVICE "/run/gchint/stream"
#define GCHINT_STREAM_MAGIC   0x74736367u /* "gcst" in a little-endian file */
#define GCHINT_STREAM_ABI     1
#define GCHINT_STREAM_EVENTS  8192 /* NR, a power of two */
#define GCHINT_STREAM_NO_CPU  0xffffffffu
#define GCHINT_STREAM_TEXT    (16u << 20) /* bytes of names; only those in use take memory */
#define GCHINT_STREAM_SIGNAL  23 /* SIGURG: ignored unless a program takes it */

/**
 * enum gchint_stream_type - types of events
 * @GCHINT_STREAM_PHASE: a thread's innermost phase is @phase now, GCHINT_PHASE_NONE for none;
 *	or it is the same as before, with further details
 * @GCHINT_STREAM_ATTACH: a thread got the slot @slot, with @role
 * @GCHINT_STREAM_ROLE: its role changed
 * @GCHINT_STREAM_DETACH: it released the slot
 * @GCHINT_STREAM_CLOSE: the session closed; the ring ends here
 * @GCHINT_STREAM_SAMPLE: a profiler's sample found the thread in @phase, with @flags, and in
 *	the method at @work_done (0: one without a name). @slot is unused, since threads
 *	without a slot are sampled as well. Of a timer: @work_total is the instruction (0
 *	unknown), @stall_ns how many samples before it the thread could not take
 * @GCHINT_STREAM_WORD: the thread's state word, as in struct gchint_slot, is at the address
 *	@work_done, as long as the 32 bits at @work_total equal @tid; 0: it has none any
 *	more. Only with GCHINT_STREAM_METHODS
 * @GCHINT_STREAM_HEAP: a reading of the heap at @time, by the thread: @work_done is the bytes
 *	in use, @work_total those committed, @stall_ns the limit, @role the generation, @phase
 *	GCHINT_STREAM_BEFORE or _AFTER a collection. All bits set: unknown. Also with the device
 * @GCHINT_STREAM_HEAP_MORE: before it, with the same @time and @tid, if any of it is known:
 *	@work_done is the bytes allocated so far, @work_total the objects freed
 * @GCHINT_STREAM_NAME: the thread is called as the 16 bytes from @work_done on say, filled up with
 *	zeros; that of the first thread is the name of the process
 */
enum gchint_stream_type {
	GCHINT_STREAM_PHASE = 1,
	GCHINT_STREAM_ATTACH,
	GCHINT_STREAM_ROLE,
	GCHINT_STREAM_DETACH,
	GCHINT_STREAM_CLOSE,
	GCHINT_STREAM_SAMPLE,
	GCHINT_STREAM_WORD,
	GCHINT_STREAM_HEAP,
	GCHINT_STREAM_HEAP_MORE,
	GCHINT_STREAM_NAME
};

/* @phase of GCHINT_STREAM_HEAP: enum gchint_heap_when */
#define GCHINT_STREAM_BEFORE 1
#define GCHINT_STREAM_AFTER  2

/* Bytes of struct gchint_stream runtime, its terminating zero included. */
#define GCHINT_STREAM_RUNTIME 16

/* struct gchint_stream features */
#define GCHINT_STREAM_SAMPLES  0x01u /* answers samples: GCHINT_STREAM_SIGNAL may be sent */
#define GCHINT_STREAM_EXTERNAL 0x02u /* written by another process, also after the end */
#define GCHINT_STREAM_METHODS  0x04u /* @method is valid */
#define GCHINT_STREAM_TIMERS   0x08u /* starts a timer on request; also answers samples */
#define GCHINT_STREAM_NAMES    0x10u /* struct gchint_stream_names follows */
#define GCHINT_STREAM_LATE     0x20u /* sent after the recorder did not accept it in time */
#define GCHINT_STREAM_BEHALF   0x40u /* of another process than the sender: @pid */
#define GCHINT_STREAM_NAMED    0x80u /* GCHINT_STREAM_NAME comes for all that is known by name */

/**
 * struct gchint_stream_event - one event, one cache line
 * @ticket: whether a writer or the reader may use the event, see above
 * @tid: the thread it is about, in the program's pid namespace
 * @time: CLOCK_MONOTONIC, ns
 * @cpu: the CPU of that thread; GCHINT_STREAM_NO_CPU if another thread sent the event
 * @slot: number of the lease in the program
 * @type: enum gchint_stream_type
 * @phase: enum gchint_phase
 * @flags: GCHINT_F_*
 * @cause: enum gchint_cause
 * @role: enum gchint_role
 * @work_done: as in struct gchint_slot
 * @work_total: as in struct gchint_slot
 * @stall_ns: as in struct gchint_slot
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
 * @sender: with GCHINT_STREAM_BEHALF, the pid of the sender in its own pid namespace
 * @method: where each thread keeps the address of the method that it runs, 64 bits: offset
 *	in bytes from its thread pointer (x86-64: fs, arm64: tpidr_el0)
 * @runtime: the program's runtime or collector, such as "jvm": small letters, digits and '-', ended
 *	by a zero; all zeros if it is not known, as in older programs. It may be set at any time, once;
 *	its first byte last (release)
 * @tail: the next ticket
 * @lost: events that were dropped because the ring was full
 * @lost_ends: of these, ends of phases and readings of the heap; 0 of older programs
 * @event: the events
 */
struct gchint_stream {
	__u32 magic;
	__u32 abi;
	__u32 events;
	__s32 pid;
	__u32 features;
	__s32 sender;
	__s64 method;
	char runtime[GCHINT_STREAM_RUNTIME];
	__u32 more[4];
	__u32 tail __attribute__((aligned(64)));
	__u32 lost;
	__u32 lost_ends;
	struct gchint_stream_event event[GCHINT_STREAM_EVENTS];
};

/**
 * struct gchint_stream_names - names of the program's methods
 * @tail: bytes of @text that are taken
 * @text: lines as in perf's map files: gchint_symbol_add(3)
 */
struct gchint_stream_names {
	__u32 tail;
	__u32 more[15];
	char text[GCHINT_STREAM_TEXT];
};

#endif /* GCHINT_STREAM_H */
