/* SPDX-License-Identifier: MIT */
/**
 * DOC: libgchint: a program says what kind of work its threads do, and who waits
 *
 * Three calls are enough for a collector that works on the threads that call:
 *
 *	gchint_init(0);						once
 *	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
 *	gchint_phase_end();
 *
 * The session API does the rest: hints on behalf of other threads, standing
 * roles, causes, progress, and what the kernel knows of its policies.
 *
 * Where hints go, the first that works:
 *	the device	/dev/gchint; the ABI is in <linux/gchint.h>
 *	clamps		utilisation clamps by sched_setattr(2): a cap for concurrent
 *			work, never a boost; only when the caller allows it. With
 *			GCHINT_HINTS=clamp in the environment they go first, and the
 *			device is not opened
 *	a recorder	through memory, where one listens (GCHINT_STREAM); also beside
 *			clamps
 *	nothing		at the price of one predictable branch
 * GCHINT_TRACE=FILE records every hint besides, with or without the device.
 *
 * Where it may be called: gchint_phase_begin(), gchint_phase_end(),
 * gchint_begin(), gchint_end() and every call on a struct gchint_thread are
 * async-signal-safe: no allocation, lock, stdio, exit or lazily allocated TLS;
 * errno is preserved. They may be called with the world stopped. So may
 * gchint_attach() and gchint_policy(). gchint_open(), gchint_init() and
 * gchint_close() are thread-safe, but wait for each other: not in a signal handler.
 * The first phase call of a thread attaches it (an ioctl or two). A runtime
 * that wants no system call inside a pause calls gchint_self() when the thread starts.
 *
 * fork: what the child calls has no effect, at the same cost, until the child
 * calls gchint_init() or gchint_open(); the parent is not disturbed. A child of
 * vfork must not call. exec ends everything.
 *
 * With clamps, a forked child and a thread that attaches itself do not keep the cap
 * of the thread that created them. A thread that is never attached does, and so does a
 * program that is started by posix_spawn() or vfork() from within a capped phase.
 *
 * Errors: functions return -errno and leave errno alone. Nothing exits, and nothing
 * prints but one line on standard error where GCHINT_HINTS has no meaning, or asks for
 * clamps that cannot be had. A failing gchint_attach() gives a handle that does nothing, so a
 * runtime may ignore every result.
 *
 * Memory: one page for the whole process, 32 bytes of static TLS a thread, the
 * kernel's two pages; two more for each further GCHINT_SLOTS threads that are
 * leased at the same time; no thread.
 *
 * Environment (gchint(7)): GCHINT_DISABLE, GCHINT_TRACE, GCHINT_MIN_US,
 * GCHINT_CLAMP, GCHINT_HINTS, GCHINT_DEVICE, GCHINT_STREAM, GCHINT_PROFILE. Read when the
 * session opens; GCHINT_SYMBOLS whenever a method is named.
 */
#ifndef GCHINT_H
#define GCHINT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/gchint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GCHINT_VERSION_MAJOR 1
#define GCHINT_VERSION_MINOR 0

#if defined(__GNUC__)
#define GCHINT_API	     __attribute__((visibility("default")))
#define __gchint_unlikely(x) __builtin_expect(!!(x), 0)
#else
#error "gchint.h needs the __atomic built-in functions of gcc or clang"
#endif

/** struct gchint_session - a process's session; opaque */
struct gchint_session;

/**
 * struct gchint_thread - handle of one leased thread
 *
 * The members belong to the library; they stand here for the inline functions.
 * @bell: gchint_info.doorbell_begin; doorbell_end follows it
 * @state: the word that a plain edge stores to. While anything but a plain edge is
 *	due it points to a word with GCHINT_STATE_WRITING set, which sends the
 *	inline functions to the library.
 * @index: the library's record of the thread, from 1; 0 none
 * @epoch: of the session that gave the record
 * @tid: the thread
 */
struct gchint_thread {
	const uint32_t *bell;
	uint32_t *state;
	uint16_t index;
	uint16_t epoch;
	int32_t tid;
};

/** enum gchint_backend - where hints go */
enum gchint_backend {
	GCHINT_BACKEND_NOTHING,
	GCHINT_BACKEND_TRACE, /* to GCHINT_TRACE only */
	GCHINT_BACKEND_CLAMP,
	GCHINT_BACKEND_DEVICE,
	GCHINT_BACKEND_STREAM /* to a recorder, see <gchint-stream.h> */
};

/* flags of gchint_open() and gchint_init() */
#define GCHINT_OPEN_CLAMP 0x01 /* without the device, cap by utilisation clamps */

/**
 * gchint_flags_t - GCHINT_F_*, combined by |
 *
 * In C a type of its own, as enum gchint_phase is: of arguments that are swapped the
 * compilers warn (-Wextra, -Wenum-conversion). In C++ they do not compile.
 */
#ifdef __cplusplus
typedef unsigned int gchint_flags_t;
#else
typedef enum {
	__GCHINT_FLAGS_NONE,
	__GCHINT_FLAGS_ALL = 0x7fffffff /* an int, however short others are */
} gchint_flags_t;
#endif

/**
 * struct gchint_detail - what a collector knows of a phase besides its kind
 * @size: sizeof(struct gchint_detail)
 * @cause: enum gchint_cause
 * @work_done: work done so far, in the collector's own unit
 * @work_total: work of the whole phase in the same unit; 0 unknown
 * @stall_ns: instant (CLOCK_MONOTONIC, ns) at which mutators will stall if the
 *	cycle is not over; 0 unknown
 * @method: address of the method that runs; 0 unknown
 * @expect_ns: how long the phase will take; 0 unknown. A phase shorter than the
 *	filter's bound (GCHINT_MIN_US) is not announced, unless GCHINT_F_URGENT.
 *	Learned or by gchint_expect(), a length hides no phase with GCHINT_F_STW.
 */
struct gchint_detail {
	uint32_t size;
	uint32_t cause;
	uint64_t work_done;
	uint64_t work_total;
	uint64_t stall_ns;
	uint64_t method;
	uint64_t expect_ns;
};

/**
 * struct gchint_policy - what the kernel says of the cpufreq policy of a CPU
 * @size: in: sizeof(struct gchint_policy)
 * @cpu: the CPU that was asked for
 * @governor: its governor's name, NUL-terminated
 * @cur_khz: frequency last set, rounded up to an eighth of @hw_max_khz; 0 unknown
 * @max_khz: highest frequency allowed now
 * @hw_max_khz: highest frequency of the hardware
 * @flags: GCHINT_POLICY_*
 */
struct gchint_policy {
	uint32_t size;
	uint32_t cpu;
	char governor[16];
	uint32_t cur_khz;
	uint32_t max_khz;
	uint32_t hw_max_khz;
	uint32_t flags;
};

/* ------------------------------------------------------------------ session */

/**
 * gchint_open() - open the process's session
 * @session: where to store the handle; never NULL after success
 * @flags: GCHINT_OPEN_*
 *
 * A process has one session; opening again gives the same one and counts. In a
 * forked child it opens a new one. That there is no device is no error: see
 * gchint_backend() and gchint_why().
 *
 * Return: 0; -EINVAL for an unknown flag; -errno if GCHINT_TRACE names a file that
 * cannot be opened for appending (nothing is open then).
 */
GCHINT_API int gchint_open(struct gchint_session **session, unsigned int flags);

/**
 * gchint_close() - end one gchint_open()
 *
 * The last one ends every lease and closes the device. No thread may use a
 * handle of gchint_attach() meanwhile or afterwards. Threads that use
 * gchint_phase_begin() may go on: their calls have no effect until the session
 * is opened again.
 *
 * Return: 0; -EBADF if @session is not open; -ESTALE in a forked child.
 */
GCHINT_API int gchint_close(struct gchint_session *session);

/** gchint_backend() - where the hints of @session go. */
GCHINT_API enum gchint_backend gchint_backend(const struct gchint_session *session);

/**
 * gchint_why() - why the device is not in use
 *
 * Return: 0 if it is; -ENOENT no such device; -EACCES no permission;
 * -EPROTONOSUPPORT its ABI is not ours; -ECANCELED GCHINT_DISABLE is set, or
 * GCHINT_HINTS=clamp; with that, where there are no clamps: -EOPNOTSUPP or -EINVAL the
 * kernel has none; -EPERM or -ENOSYS a seccomp filter; ...
 */
GCHINT_API int gchint_why(const struct gchint_session *session);

/**
 * gchint_explain() - where the process's hints go, or why not, in words
 * @text: one line without a newline, NUL-terminated, cut if @size is too small
 * @size: of @text; may be 0
 *
 * Also after gchint_open() or gchint_init() failed: names the environment variable
 * that could not be obeyed, and what it may be. Not while another thread opens or
 * closes. Return: the line's whole length.
 */
GCHINT_API size_t gchint_explain(char *text, size_t size);

/**
 * gchint_fd() - a descriptor to wait on for changes of governors and limits
 *
 * It polls readable when governors, limits or the set of policies have changed
 * since 8 bytes were last read from it. It belongs to the library: do not close
 * it. Return: the descriptor, or -ENODEV.
 */
GCHINT_API int gchint_fd(const struct gchint_session *session);

/**
 * gchint_policy() - what the kernel says of the policy of a CPU
 * @session: the session
 * @cpu: its number, or -1 for the one the caller runs on now
 * @policy: filled; @policy->size set by the caller
 *
 * Makes no system call where the C library knows the CPU. Async-signal-safe.
 * Return: 0; -ENODEV without the device; -ENOENT the CPU has no policy; -EINVAL
 * no such CPU or a size below that of the first version; -EAGAIN the kernel was
 * writing each time.
 */
GCHINT_API int gchint_policy(const struct gchint_session *session, int cpu,
			     struct gchint_policy *policy);

/**
 * gchint_expect() - declare how long phases of a kind last
 * @session: the session
 * @phase: enum gchint_phase
 * @flags: GCHINT_F_*
 * @ns: expected length; 0 forgets what is known
 *
 * Where doorbells or clamps cost a system call the library also learns it: the longest
 * of late. There, phases expected to be shorter than GCHINT_MIN_US cost none, unless
 * they have GCHINT_F_STW or GCHINT_F_URGENT; with clamps, GCHINT_F_FOREGROUND either.
 * Return: 0 or -EINVAL.
 */
GCHINT_API int gchint_expect(struct gchint_session *session, enum gchint_phase phase,
			     gchint_flags_t flags, uint64_t ns);

/* ------------------------------------------------------------------ threads */

/**
 * gchint_attach() - lease a thread of this process, to hint on its behalf
 * @session: the session
 * @tid: its thread id; 0 the calling thread
 * @role: enum gchint_role
 * @lead: the thread to follow, with GCHINT_ROLE_FOLLOW; else NULL
 * @thread: the handle; on failure one that does nothing. May be NULL if only the
 *	role matters.
 *
 * Any thread may use the handle, one at a time. The lease ends by
 * gchint_detach(), with its thread, with the session. Call gchint_detach() also
 * for a thread that ended: its handle is not given away before.
 *
 * Return: 0; -ESRCH no such thread in this process; -EBUSY it is leased already;
 * -ENOSPC more than GCHINT_SLOTS_MAX threads, or, with a kernel whose sessions do not
 * grow, more than GCHINT_SLOTS that lead or follow each other; -EDQUOT the user's limit; -EUSERS that of all users; -EINVAL a bad
 * role or leader; -ENODEV the hints go nowhere; -ESTALE in a forked child.
 */
GCHINT_API int gchint_attach(struct gchint_session *session, pid_t tid, unsigned int role,
			     const struct gchint_thread *lead, struct gchint_thread **thread);

/**
 * gchint_detach() - end a lease
 *
 * Return: 0; -EINVAL if the handle leases nothing.
 */
GCHINT_API int gchint_detach(struct gchint_thread *thread);

/**
 * gchint_set_role() - change what a thread counts as whenever it runs
 *
 * Return: 0; -EINVAL a bad role or leader, or a handle that leases nothing;
 * -ENOENT the thread, or the leader, has ended.
 */
GCHINT_API int gchint_set_role(struct gchint_thread *thread, unsigned int role,
			       const struct gchint_thread *lead);

/**
 * gchint_begin_detail() - gchint_begin() with all that is known of the phase
 *
 * Details hold until the phase ends; an inner phase starts with none and does
 * not give them back.
 */
GCHINT_API void gchint_begin_detail(struct gchint_thread *thread, enum gchint_phase phase,
				    gchint_flags_t flags, const struct gchint_detail *detail);

/** gchint_next_detail() - gchint_next() with all that is known of the new phase. */
GCHINT_API void gchint_next_detail(struct gchint_thread *thread, enum gchint_phase phase,
				   gchint_flags_t flags, const struct gchint_detail *detail);

/**
 * gchint_progress() - work done within the phase
 * @thread: the handle
 * @work_done: so far
 * @work_total: of the whole phase; 0 unknown
 * @stall_ns: as in struct gchint_detail
 *
 * Also tells the kernel that the phase is alive: a phase that runs longer than
 * gchint_info.hint_ttl_ms without it is ignored. Never a system call, unless
 * GCHINT_TRACE is set, or @stall_ns has passed and a clamp is to be lifted.
 */
GCHINT_API void gchint_progress(struct gchint_thread *thread, uint64_t work_done,
				uint64_t work_total, uint64_t stall_ns);

/**
 * gchint_own_work() - work that the thread has done itself, collecting aside
 * @thread: the handle
 * @work: since it was attached, in a unit that takes the program much the same time
 *	wherever it is: bytes allocated, requests served. Only ever grows.
 *
 * Not of a phase, and no edge: the kernel reads it when it looks, and learns how
 * memory-bound the program is while nobody collects. Call it some ten times a second or
 * more. Never a system call, nor is it recorded.
 */
GCHINT_API void gchint_own_work(struct gchint_thread *thread, uint64_t work);

/** gchint_set_cause() - the cause is known now: in the phase, or just after it. */
GCHINT_API void gchint_set_cause(struct gchint_thread *thread, unsigned int cause);

/** gchint_set_method() - address of the method that runs, for profilers; 0 none. */
GCHINT_API void gchint_set_method(struct gchint_thread *thread, uint64_t method);

/** gchint_abandon() - end the phase and all that enclose it. */
GCHINT_API void gchint_abandon(struct gchint_thread *thread);

/* ----------------------------------------------- the process's own session */

/**
 * gchint_init() - open the process's session and attach the calling thread
 * @flags: GCHINT_OPEN_*
 *
 * Once, where system calls are allowed; again in a forked child. Until then
 * gchint_phase_begin() and gchint_phase_end() do nothing.
 *
 * Return: enum gchint_backend, never negative on success; else as gchint_open().
 */
GCHINT_API int gchint_init(unsigned int flags);

/**
 * gchint_self() - the calling thread's own handle; attaches it if needed
 *
 * It is the thread that gchint_phase_begin() announces. Only for calls on this
 * very thread; gone with it. A thread that gchint_attach() leased is announced
 * through that handle alone: this one does nothing then. Phase calls try to
 * attach once for a session, this one each time. Never NULL.
 */
GCHINT_API struct gchint_thread *gchint_self(void);

/* ------------------------------------------------------------------ methods */

/**
 * gchint_profiled() - does a recorder sample this process, and can learn its methods?
 *
 * For a runtime that must switch something on, such as a hook at each call, before it
 * can tell its methods. Async-signal-safe.
 *
 * Return: 0 no; 1 yes; 2 yes, and who records wants each method named again at each call,
 * by gchint_symbol_add() with the address that it has, as profilers without this tunnel
 * must: to compare what that costs.
 */
GCHINT_API int gchint_profiled(void);

/**
 * gchint_symbol_add() - name a method, where its code is loaded
 * @address: where the code is; 0 for a method that an interpreter runs, which has none
 * @size: bytes of it; ignored if @address is 0
 * @name: in UTF-8; control characters become '?', what is beyond 400 bytes is cut
 *
 * An interpreted method is given an address of a range that nothing else in the process
 * uses; it is never given again. Names go to perf-PID.map in the folder GCHINT_SYMBOLS, if
 * that is set: three system calls, once for each method and never for a call of it. Names
 * of code that is there already stay true of what was sampled before. Thread-safe and
 * async-signal-safe. A forked child has its parent's names in its own file, from its
 * gchint_init() or gchint_open() on.
 *
 * Return: what gchint_method_enter() takes: @address, or the one given. 0 if there is no
 * more: then the method has no name.
 */
GCHINT_API uintptr_t gchint_symbol_add(uintptr_t address, size_t size, const char *name);

/** gchint_symbol_remove() - the code at @address is gone, or has moved; as above. */
GCHINT_API void gchint_symbol_remove(uintptr_t address, size_t size);

/* ------------------------------------------------------------- the hot path */

/* Internal, exported for the inline functions. */
extern GCHINT_API __thread struct gchint_thread __gchint_self
	__attribute__((tls_model("initial-exec")));
extern GCHINT_API __thread uintptr_t __gchint_method __attribute__((tls_model("initial-exec")));
GCHINT_API void __gchint_begin(struct gchint_thread *thread, uint32_t phase, uint32_t flags);
GCHINT_API void __gchint_end(struct gchint_thread *thread);
GCHINT_API void __gchint_next(struct gchint_thread *thread, uint32_t phase, uint32_t flags);
GCHINT_API void __gchint_self_begin(uint32_t phase, uint32_t flags);
GCHINT_API void __gchint_self_end(void);
GCHINT_API void __gchint_self_next(uint32_t phase, uint32_t flags);

/* The word that a handle points to which leads nowhere. */
#define __GCHINT_NOWHERE 0x0001ffffu

/*
 * Does the kernel ask for a doorbell at any edge? One relaxed load of two masks:
 * see struct gchint_info. On x86 the compilers do not fold an atomic load into the
 * compare; the assembler does.
 */
static inline int __gchint_asked(const uint32_t *bell)
{
#if defined(__x86_64__) && defined(__LP64__)
	int asked;

	__asm__ __volatile__("cmpq $0, %1" : "=@ccne"(asked) : "m"(*(const uint64_t *)bell));
	return asked;
#else
	return (__atomic_load_n(&bell[0], __ATOMIC_RELAXED) |
		__atomic_load_n(&bell[1], __ATOMIC_RELAXED)) != 0;
#endif
}

/*
 * An edge is plain if no phase is open and no doorbell is asked: one store. The
 * kernel orders nothing by it, so it is relaxed. Otherwise, 1: the library does
 * the whole edge. @state and @bell: members of the handle; @what: __GCHINT_WHAT().
 */
#define __GCHINT_WHAT(phase, flags) (GCHINT_STATE_EDGE + ((phase) | (flags) << 8))
static inline int __gchint_plain_begin(uint32_t *state, const uint32_t *bell, uint32_t what)
{
	uint32_t old = __atomic_load_n(state, __ATOMIC_RELAXED);

	if (__gchint_unlikely(old & ~(GCHINT_STATE_SEQ_MASK & ~GCHINT_STATE_WRITING)))
		return old != __GCHINT_NOWHERE;
	if (__gchint_unlikely(__gchint_asked(bell)))
		return 1;
	__atomic_store_n(state, old + what, __ATOMIC_RELAXED);
	return 0;
}

/* What began with a doorbell, or inside of another phase, has GCHINT_STATE_WRITING. */
static inline int __gchint_plain_end(uint32_t *state)
{
	uint32_t old = __atomic_load_n(state, __ATOMIC_RELAXED);

	if (__gchint_unlikely(old & GCHINT_STATE_WRITING))
		return old != __GCHINT_NOWHERE;
	__atomic_store_n(state, (old & GCHINT_STATE_SEQ_MASK) + GCHINT_STATE_EDGE,
			 __ATOMIC_RELAXED);
	return 0;
}

/* One phase gives way to the next: nobody sees a moment without. */
static inline int __gchint_plain_next(uint32_t *state, const uint32_t *bell, uint32_t what)
{
	uint32_t old = __atomic_load_n(state, __ATOMIC_RELAXED);

	if (__gchint_unlikely(old & GCHINT_STATE_WRITING))
		return old != __GCHINT_NOWHERE;
	if (__gchint_unlikely(__gchint_asked(bell)))
		return 1;
	__atomic_store_n(state, (old & GCHINT_STATE_SEQ_MASK) + what, __ATOMIC_RELAXED);
	return 0;
}

/* The arguments for a handle. Another thread may attach and detach: one load each. */
#define __gchint_state(t) __atomic_load_n(&(t).state, __ATOMIC_RELAXED)

#ifndef GCHINT_NO_INLINE

/**
 * gchint_begin() - a phase begins on a leased thread
 * @thread: handle of gchint_attach(), or gchint_self()
 * @phase: enum gchint_phase
 * @flags: GCHINT_F_*
 *
 * Inside of another phase it hides that one until gchint_end(). The five
 * innermost are remembered; one further out is forgotten, and counts as none.
 */
static inline void gchint_begin(struct gchint_thread *thread, enum gchint_phase phase,
				gchint_flags_t flags)
{
	if (__gchint_unlikely(__gchint_plain_begin(__gchint_state(*thread), thread->bell,
						   __GCHINT_WHAT(phase, flags))))
		__gchint_begin(thread, phase, flags << 8);
}

/** gchint_end() - the innermost phase ends. Without one, nothing. */
static inline void gchint_end(struct gchint_thread *thread)
{
	if (__gchint_unlikely(__gchint_plain_end(__gchint_state(*thread))))
		__gchint_end(thread);
}

/**
 * gchint_next() - the innermost phase ends and another begins, as one edge
 *
 * Nobody sees a moment without a phase, and one doorbell does for both. A cause
 * that was given stays: it is the same collection. Without a phase, a begin.
 */
static inline void gchint_next(struct gchint_thread *thread, enum gchint_phase phase,
			       gchint_flags_t flags)
{
	if (__gchint_unlikely(__gchint_plain_next(__gchint_state(*thread), thread->bell,
						  __GCHINT_WHAT(phase, flags))))
		__gchint_next(thread, phase, flags << 8);
}

/** gchint_phase_begin() - gchint_begin() on the calling thread, attached if needed. */
static inline void gchint_phase_begin(enum gchint_phase phase, gchint_flags_t flags)
{
	if (__gchint_unlikely(__gchint_plain_begin(__gchint_state(__gchint_self),
						   __gchint_self.bell,
						   __GCHINT_WHAT(phase, flags))))
		__gchint_self_begin(phase, flags << 8);
}

/** gchint_phase_end() - gchint_end() on the calling thread. */
static inline void gchint_phase_end(void)
{
	if (__gchint_unlikely(__gchint_plain_end(__gchint_state(__gchint_self))))
		__gchint_self_end();
}

/** gchint_phase_next() - gchint_next() on the calling thread. */
static inline void gchint_phase_next(enum gchint_phase phase, gchint_flags_t flags)
{
	if (__gchint_unlikely(__gchint_plain_next(__gchint_state(__gchint_self), __gchint_self.bell,
						  __GCHINT_WHAT(phase, flags))))
		__gchint_self_next(phase, flags << 8);
}

/**
 * gchint_method_enter() - the calling thread runs a method from here on
 * @method: its address, or what gchint_symbol_add() gave; 0 none that has a name
 *
 * One store, always: for threads that hint no phase, without a session and without the
 * device. A profiler's sample of the thread reads it. Async-signal-safe.
 *
 * Return: what ran before, for gchint_method_leave(). So methods nest as deep as the
 * program does.
 */
static inline uintptr_t gchint_method_enter(uintptr_t method)
{
	uintptr_t outer = __atomic_load_n(&__gchint_method, __ATOMIC_RELAXED);

	__atomic_store_n(&__gchint_method, method, __ATOMIC_RELAXED);
	return outer;
}

/**
 * gchint_method_leave() - the method is left, and @outer runs again
 *
 * One store. Methods that an exception or a longjmp() skips need not be left one by one.
 */
static inline void gchint_method_leave(uintptr_t outer)
{
	__atomic_store_n(&__gchint_method, outer, __ATOMIC_RELAXED);
}

#else /* the library's own symbols, for foreign function interfaces */

GCHINT_API void gchint_begin(struct gchint_thread *thread, enum gchint_phase phase,
			     gchint_flags_t flags);
GCHINT_API void gchint_end(struct gchint_thread *thread);
GCHINT_API void gchint_next(struct gchint_thread *thread, enum gchint_phase phase,
			    gchint_flags_t flags);
GCHINT_API void gchint_phase_begin(enum gchint_phase phase, gchint_flags_t flags);
GCHINT_API void gchint_phase_end(void);
GCHINT_API void gchint_phase_next(enum gchint_phase phase, gchint_flags_t flags);
GCHINT_API uintptr_t gchint_method_enter(uintptr_t method);
GCHINT_API void gchint_method_leave(uintptr_t outer);

#endif /* GCHINT_NO_INLINE */

#ifdef __cplusplus
}
#endif
#endif /* GCHINT_H */
