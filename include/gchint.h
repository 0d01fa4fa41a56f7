/* SPDX-License-Identifier: MIT */
/**
 * DOC: libgchint: a program announces the work of its threads, and whether others wait for it
 *
 * Three calls are enough for a collector that works on the calling threads:
 *
 *	gchint_init(0);						once
 *	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
 *	gchint_phase_end();
 *
 * The session API has the rest: hints on behalf of other threads, roles, causes,
 * progress, and the state of the kernel's frequency policies.
 *
 * Hints go to the first of these backends that is available:
 *	the device	/dev/gchint; the ABI is in <linux/gchint.h>
 *	clamps		utilisation clamps by sched_setattr(2): a cap for concurrent
 *			work, never a boost; only if the caller allows it. With
 *			GCHINT_HINTS=clamp in the environment they come first, and the
 *			device is not opened
 *	a recorder	through shared memory, if one listens (GCHINT_STREAM); also in
 *			addition to clamps
 *	nothing		at the cost of one predictable branch
 * GCHINT_TRACE=FILE records every hint in addition, with any backend.
 *
 * Thread safety: functions are thread-safe, except gchint_explain(). A handle has one user
 * at a time.
 * gchint_phase_begin(), gchint_phase_end(), gchint_phase_next(), gchint_attach(),
 * gchint_get_policy() and every function on a struct gchint_thread are
 * async-signal-safe: no allocation, lock, stdio, exit or lazily allocated TLS. They
 * may be called while the world is stopped. gchint_open(), gchint_init() and
 * gchint_close() wait for each other and must not be called in a signal handler.
 * The first phase call of a thread attaches it (one or two ioctls). A runtime that
 * allows no system call inside a pause calls gchint_self() when the thread starts.
 *
 * Ordering: an edge is a relaxed store. It does not order other accesses of the
 * program.
 *
 * fork: calls in the child have no effect, at the same cost, until the child calls
 * gchint_init() or gchint_open(). The parent is not affected. A child of vfork()
 * must not call any function. exec ends the session.
 *
 * With clamps, a forked child and a thread that attaches itself do not keep the cap
 * of the thread that created them. A thread that is never attached keeps it, and so
 * does a program that is started by posix_spawn() or vfork() during a capped phase.
 *
 * Errors: functions return -errno and preserve errno. The library never exits. It
 * prints at most one line on standard error: if the value of GCHINT_HINTS is invalid, or
 * requires clamps that are not available, or if the user has as many sessions open as one
 * user may have. A failing gchint_attach() stores a handle that
 * does nothing, so a runtime may ignore every result.
 *
 * Memory: two pages for the process, 32 bytes of static TLS for each thread, and two
 * pages of the kernel; two more pages for each further GCHINT_SLOTS threads that are
 * leased at the same time. The library creates no thread.
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

/*
 * The version of the project: all of its parts have this one. Interfaces are versioned apart from
 * it, the library's by its soname, the module's by GCHINT_ABI.
 */
#define GCHINT_VERSION_MAJOR 0
#define GCHINT_VERSION_MINOR 1
#define GCHINT_VERSION_PATCH 0

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
 * The members belong to the library; they are public only for the inline functions.
 * @bell: gchint_info.doorbell_begin; doorbell_end follows it
 * @state: the word that a plain edge stores to. While anything but a plain edge is
 *	due it points to a word with GCHINT_STATE_WRITING set, which sends the
 *	inline functions to the library.
 * @index: the library's record of the thread, from 1; 0 none
 * @epoch: of the session that the record belongs to
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
 * In C a type of its own, like enum gchint_phase, so that compilers warn of swapped
 * arguments (-Wextra, -Wenum-conversion). In C++ swapped arguments do not compile.
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
 * struct gchint_detail - details of a phase
 * @size: sizeof(struct gchint_detail), set by the caller
 * @cause: enum gchint_cause
 * @work_done: work done so far, in the collector's own unit
 * @work_total: work of the whole phase in the same unit; 0 unknown
 * @stall_ns: instant (CLOCK_MONOTONIC, ns) at which mutators will stall if the
 *	cycle has not ended by then; 0 unknown
 * @method: address of the method that runs; 0 unknown
 * @expect_ns: expected length of this phase, ns; 0 unknown. A phase that is expected
 *	to be shorter than GCHINT_MIN_US is not announced, unless it has
 *	GCHINT_F_URGENT. A length that was learned, or declared by gchint_expect(),
 *	never hides a phase with GCHINT_F_STW.
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

/** enum gchint_heap_when - the place of a reading of the heap in its collection */
enum gchint_heap_when {
	GCHINT_HEAP_BEFORE = 1,
	GCHINT_HEAP_AFTER
};

/* What a member of struct gchint_heap has if it is not known; 0 is a known value. */
#define GCHINT_HEAP_UNKNOWN	       UINT64_MAX
#define GCHINT_HEAP_UNKNOWN_GENERATION UINT32_MAX

/**
 * struct gchint_heap - a reading of a heap, before or after a collection
 * @size: sizeof(struct gchint_heap), set by the caller
 * @when: enum gchint_heap_when
 * @time_ns: instant of the reading (CLOCK_MONOTONIC, ns), not in the future; 0 now
 * @used: bytes in use by objects, also by dead ones that were not collected yet
 * @committed: bytes that the heap has from the system, at least @used
 * @limit: bytes to which it may grow
 * @allocated: bytes that the program has allocated in it since it began; never decreases
 * @freed: objects that this collection freed; with GCHINT_HEAP_AFTER
 * @generation: the oldest generation that is collected, from 0, the youngest
 *
 * Begin with GCHINT_HEAP_INIT, which sets @size and everything else to unknown.
 */
struct gchint_heap {
	uint32_t size;
	uint32_t when;
	uint64_t time_ns;
	uint64_t used;
	uint64_t committed;
	uint64_t limit;
	uint64_t allocated;
	uint64_t freed;
	uint32_t generation;
	uint32_t reserved;
};

#define GCHINT_HEAP_INIT                                                                           \
	{                                                                                          \
		sizeof(struct gchint_heap), 0, 0, GCHINT_HEAP_UNKNOWN, GCHINT_HEAP_UNKNOWN,        \
			GCHINT_HEAP_UNKNOWN, GCHINT_HEAP_UNKNOWN, GCHINT_HEAP_UNKNOWN,             \
			GCHINT_HEAP_UNKNOWN_GENERATION, 0                                          \
	}

/**
 * struct gchint_policy - the cpufreq policy of a CPU
 * @size: sizeof(struct gchint_policy), set by the caller
 * @cpu: the CPU
 * @governor: name of the policy's governor, NUL-terminated
 * @cur_khz: frequency that was last set, kHz, rounded up to an eighth of
 *	@hw_max_khz; 0 unknown
 * @max_khz: highest frequency that is allowed now, kHz
 * @hw_max_khz: highest frequency of the hardware, kHz
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
 * A process has one session: opening it again returns the same handle and increments a
 * count. In a forked child it opens a new session. A missing device is no error: see
 * gchint_get_backend() and gchint_get_reason(). Thread-safe, not async-signal-safe.
 *
 * Return: 0; -EINVAL for an unknown flag or an invalid environment variable; another
 * -errno if the file of GCHINT_TRACE cannot be opened for appending. An error opens
 * nothing.
 */
GCHINT_API int gchint_open(struct gchint_session **session, unsigned int flags);

/**
 * gchint_close() - undo one gchint_open()
 * @session: the session
 *
 * The last call ends every lease and closes the device. During that call and
 * afterwards no thread may use a handle of gchint_attach(). Threads may still use
 * gchint_phase_begin(): their calls have no effect until the session is opened again.
 * Thread-safe, not async-signal-safe.
 *
 * Return: 0; -EBADF if @session is not open; -ESTALE in a forked child.
 */
GCHINT_API int gchint_close(struct gchint_session *session);

/**
 * gchint_get_backend() - the destination of hints
 * @session: the session, or NULL
 *
 * Return: enum gchint_backend; GCHINT_BACKEND_NOTHING for NULL.
 */
GCHINT_API enum gchint_backend gchint_get_backend(const struct gchint_session *session);

/**
 * gchint_get_reason() - the reason why the device is not in use
 * @session: the session, or NULL
 *
 * Return: 0 if it is in use; -ENOENT no such device; -EACCES no permission;
 * -EPROTONOSUPPORT its ABI is not supported; -ECANCELED GCHINT_DISABLE is set, or
 * GCHINT_HINTS=clamp; with GCHINT_HINTS=clamp on a system without clamps: -EOPNOTSUPP
 * or -EINVAL the kernel has none, -EPERM or -ENOSYS a seccomp filter; -EBADF no session
 * is open; or another -errno of open(2), mmap(2) or sched_setattr(2).
 */
GCHINT_API int gchint_get_reason(const struct gchint_session *session);

/**
 * gchint_explain() - describe the destination of hints, or why there is none
 * @text: one line without a newline, NUL-terminated, cut if @size is too small
 * @size: bytes of @text; may be 0
 *
 * After gchint_open() or gchint_init() failed it names the invalid environment variable
 * and its valid values. Not to be called while another thread opens or closes the session.
 *
 * Return: the length of the whole line, without the terminating NUL.
 */
GCHINT_API size_t gchint_explain(char *text, size_t size);

/**
 * gchint_get_fd() - a descriptor that signals changes of governors and limits
 * @session: the session
 *
 * It polls readable if governors, limits or the set of policies have changed
 * since 8 bytes were last read from it. It belongs to the library: do not close it.
 *
 * Return: the descriptor, or -ENODEV without the device.
 */
GCHINT_API int gchint_get_fd(const struct gchint_session *session);

/**
 * gchint_get_policy() - read the frequency policy of a CPU
 * @session: the session
 * @cpu: number of the CPU, or -1 for the one that the caller runs on
 * @policy: the result; the caller sets @policy->size before
 *
 * Makes no system call if @cpu is a number, or if the C library knows the current CPU.
 * Async-signal-safe.
 *
 * Return: 0; -ENODEV without the device; -ENOENT the CPU has no policy; -EINVAL
 * no such CPU, or @policy->size is below that of the first version; -EAGAIN the kernel
 * was writing at each of 100 attempts.
 */
GCHINT_API int gchint_get_policy(const struct gchint_session *session, int cpu,
				 struct gchint_policy *policy);

/**
 * gchint_expect() - declare the expected length of a phase
 * @session: the session
 * @phase: enum gchint_phase
 * @flags: GCHINT_F_*; lengths are kept apart for foreground, concurrent and other phases
 * @ns: expected length, ns; 0 forgets the known length
 *
 * Where doorbells or clamps cost a system call, the library also learns lengths: the
 * longest recent one counts. Phases that are expected to be shorter than GCHINT_MIN_US
 * then make no system call, unless they have GCHINT_F_STW or GCHINT_F_URGENT, or with
 * clamps GCHINT_F_FOREGROUND.
 *
 * Return: 0; -EINVAL a bad session, phase or flag.
 */
GCHINT_API int gchint_expect(struct gchint_session *session, enum gchint_phase phase,
			     gchint_flags_t flags, uint64_t ns);

/* ------------------------------------------------------------------ threads */

/**
 * gchint_attach() - lease a thread of this process, to hint on its behalf
 * @session: the session
 * @tid: thread id; 0 the calling thread
 * @role: enum gchint_role
 * @lead: the handle of the thread to follow, with GCHINT_ROLE_FOLLOW; else NULL
 * @thread: the handle; on failure one that does nothing. May be NULL if only the
 *	role matters.
 *
 * Any thread may use the handle, one at a time. The lease ends with
 * gchint_detach(), with its thread, or with the session. Call gchint_detach() also
 * for a thread that has ended: its handle is not reused before. Async-signal-safe.
 *
 * Return: 0; -ESRCH no such thread in this process; -EBUSY it is leased already;
 * -ENOSPC more than GCHINT_SLOTS_MAX threads, or, with a kernel whose sessions do not
 * grow, more than GCHINT_SLOTS that lead or follow each other; -EDQUOT the user's limit
 * is reached; -EUSERS that of all users is reached; -EINVAL a bad role or leader;
 * -ENODEV hints go nowhere; -ESTALE in a forked child.
 */
GCHINT_API int gchint_attach(struct gchint_session *session, pid_t tid, unsigned int role,
			     const struct gchint_thread *lead, struct gchint_thread **thread);

/**
 * gchint_detach() - end a lease
 * @thread: the handle, which must not be used afterwards
 *
 * Async-signal-safe.
 *
 * Return: 0; -EINVAL if the handle has no lease.
 */
GCHINT_API int gchint_detach(struct gchint_thread *thread);

/**
 * gchint_set_role() - change the role of a thread
 * @thread: the handle
 * @role: enum gchint_role; it counts whenever the thread runs and announces no phase
 * @lead: as for gchint_attach()
 *
 * Async-signal-safe.
 *
 * Return: 0; -EINVAL a bad role or leader, or a handle without a lease; -ENOENT the
 * thread, or the leader, has ended; -ENOSPC thread and leader are in different sessions
 * of a kernel whose sessions do not grow; -ESTALE in a forked child.
 */
GCHINT_API int gchint_set_role(struct gchint_thread *thread, unsigned int role,
			       const struct gchint_thread *lead);

/**
 * gchint_begin_detail() - gchint_begin() with details of the phase
 * @thread: the handle
 * @phase: enum gchint_phase
 * @flags: GCHINT_F_*
 * @detail: the details, copied; NULL none
 *
 * Details are valid until the phase ends. An inner phase begins without any, and they
 * are not restored when it ends.
 */
GCHINT_API void gchint_begin_detail(struct gchint_thread *thread, enum gchint_phase phase,
				    gchint_flags_t flags, const struct gchint_detail *detail);

/**
 * gchint_next_detail() - gchint_next() with details of the new phase
 * @thread: the handle
 * @phase: enum gchint_phase
 * @flags: GCHINT_F_*
 * @detail: those of the new phase, copied; NULL none. They are valid until it ends.
 */
GCHINT_API void gchint_next_detail(struct gchint_thread *thread, enum gchint_phase phase,
				   gchint_flags_t flags, const struct gchint_detail *detail);

/**
 * gchint_progress() - report work done within the phase
 * @thread: the handle
 * @work_done: work so far, in the collector's own unit
 * @work_total: work of the whole phase in that unit; 0 unknown
 * @stall_ns: as in struct gchint_detail
 *
 * Keeps a long phase valid: the kernel ignores a phase that runs longer than
 * gchint_info.hint_ttl_ms without progress. Makes no system call, unless
 * GCHINT_TRACE is set, or @stall_ns has passed and a clamp has to be lifted.
 */
GCHINT_API void gchint_progress(struct gchint_thread *thread, uint64_t work_done,
				uint64_t work_total, uint64_t stall_ns);

/**
 * gchint_own_work() - report the thread's own work, without collecting
 * @thread: the handle
 * @work: work since it was attached, in a unit that takes about the same time throughout
 *	the program, such as bytes allocated or requests served. Must not decrease.
 *
 * This is neither a detail of a phase nor an edge: the kernel samples it, and learns how
 * memory-bound the program is while no collection runs. Call it about ten times a second
 * or more. Makes no system call, and is not recorded.
 */
GCHINT_API void gchint_own_work(struct gchint_thread *thread, uint64_t work);

/**
 * gchint_set_cause() - report the cause of a collection
 * @thread: the handle
 * @cause: enum gchint_cause
 *
 * During a phase, or just after it, when the cause becomes known. Makes no system call,
 * unless GCHINT_TRACE is set.
 */
GCHINT_API void gchint_set_cause(struct gchint_thread *thread, unsigned int cause);

/**
 * gchint_set_method() - report the method that the thread runs, for profilers
 * @thread: the handle
 * @method: its address; 0 none
 */
GCHINT_API void gchint_set_method(struct gchint_thread *thread, uint64_t method);

/**
 * gchint_heap() - report how full the heap is, before or after a collection
 * @thread: the handle of the thread that collects, or of the one that announces its phases
 * @heap: the reading, copied
 *
 * Call it just after the first phase of a collection began, with GCHINT_HEAP_BEFORE, and just
 * before its last phase ends, with GCHINT_HEAP_AFTER: a recorder assigns a reading to the
 * phase that its instant is in. A runtime that learns the figures later passes their instant.
 * Either reading may be left out. It is not an edge, decides nothing, and does not reach the
 * kernel: only a recorder (GCHINT_STREAM) and the trace receive it. Without these it returns at
 * once. Makes no system call, unless GCHINT_TRACE is set.
 *
 * Async-signal-safe. As an exception, it may be called while another thread uses the handle.
 */
GCHINT_API void gchint_heap(struct gchint_thread *thread, const struct gchint_heap *heap);

/** gchint_abandon() - end the phase and all phases that enclose it. */
GCHINT_API void gchint_abandon(struct gchint_thread *thread);

/* ----------------------------------------------- the process's own session */

/**
 * gchint_init() - open the process's session and attach the calling thread
 * @flags: GCHINT_OPEN_*
 *
 * To be called once, where system calls are allowed, and again in a forked child. Until
 * then gchint_phase_begin() and gchint_phase_end() do nothing. Thread-safe, not
 * async-signal-safe.
 *
 * Return: enum gchint_backend, which is never negative; on error as gchint_open().
 */
GCHINT_API int gchint_init(unsigned int flags);

/**
 * gchint_self() - the calling thread's own handle; attaches the thread if needed
 *
 * It is the handle that gchint_phase_begin() uses. It is valid on this thread only, until
 * the thread ends. If gchint_attach() leased the thread already, only that handle
 * announces it, and this one does nothing. Phase calls try to attach the thread once for
 * each session, this function at each call. Async-signal-safe.
 *
 * Return: the handle, never NULL.
 */
GCHINT_API struct gchint_thread *gchint_self(void);

/* ------------------------------------------------------------------ methods */

/**
 * gchint_is_profiled() - does a recorder sample this process, and can it learn its methods?
 *
 * For a runtime that must enable something, such as a hook at each call, before it can
 * report its methods. Async-signal-safe.
 *
 * Return: 0 no; 1 yes; 2 yes, and the recorder requests that each method is named again at
 * each call, by gchint_symbol_add() with the address that it has. That measures the cost of
 * profilers that have to name methods at each call.
 */
GCHINT_API int gchint_is_profiled(void);

/**
 * gchint_symbol_add() - name a method, when its code is loaded
 * @address: address of the code; 0 for an interpreted method, which has none
 * @size: size of the code in bytes; ignored if @address is 0
 * @name: in UTF-8; control characters become '?', and all after 400 bytes is cut
 *
 * An interpreted method gets an address from a range that nothing else in the process
 * uses, and that is not reused. Names are appended to perf-PID.map in the directory
 * GCHINT_SYMBOLS, if that is set: three system calls for each method, none for its calls.
 * Samples taken before an address got a new name keep the old one. A forked child has its
 * parent's names in its own file, after its gchint_init() or gchint_open(). Thread-safe and
 * async-signal-safe.
 *
 * Return: the argument for gchint_method_enter(): @address, or the new address. 0 if no
 * address is left: then the method has no name.
 */
GCHINT_API uintptr_t gchint_symbol_add(uintptr_t address, size_t size, const char *name);

/**
 * gchint_symbol_remove() - the code of a method was unloaded or moved
 * @address: address of the code, or what gchint_symbol_add() returned; 0 does nothing
 * @size: size of the code in bytes
 *
 * Samples taken before keep the name. Thread-safe and async-signal-safe.
 */
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

/* The word that a handle points to if its edges are ignored. */
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

/* A phase that began with a doorbell, or inside of another one, has GCHINT_STATE_WRITING. */
static inline int __gchint_plain_end(uint32_t *state)
{
	uint32_t old = __atomic_load_n(state, __ATOMIC_RELAXED);

	if (__gchint_unlikely(old & GCHINT_STATE_WRITING))
		return old != __GCHINT_NOWHERE;
	__atomic_store_n(state, (old & GCHINT_STATE_SEQ_MASK) + GCHINT_STATE_EDGE,
			 __ATOMIC_RELAXED);
	return 0;
}

/* One store replaces a phase by the next: a reader never sees a state without a phase. */
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

/* The state of a handle. Another thread may attach and detach it: it is loaded once. */
#define __gchint_state(t) __atomic_load_n(&(t).state, __ATOMIC_RELAXED)

#ifndef GCHINT_NO_INLINE

/**
 * gchint_begin() - begin a phase of a leased thread
 * @thread: handle of gchint_attach(), or gchint_self()
 * @phase: enum gchint_phase
 * @flags: GCHINT_F_*
 *
 * A phase inside of another one hides it until gchint_end(). The five innermost
 * phases are remembered; those further out count as none.
 */
static inline void gchint_begin(struct gchint_thread *thread, enum gchint_phase phase,
				gchint_flags_t flags)
{
	if (__gchint_unlikely(__gchint_plain_begin(__gchint_state(*thread), thread->bell,
						   __GCHINT_WHAT(phase, flags))))
		__gchint_begin(thread, phase, flags << 8);
}

/** gchint_end() - end the innermost phase; does nothing if there is none. */
static inline void gchint_end(struct gchint_thread *thread)
{
	if (__gchint_unlikely(__gchint_plain_end(__gchint_state(*thread))))
		__gchint_end(thread);
}

/**
 * gchint_next() - end the innermost phase and begin another one, as one edge
 * @thread: handle of gchint_attach(), or gchint_self()
 * @phase: enum gchint_phase
 * @flags: GCHINT_F_*
 *
 * No reader sees a state without a phase, and one doorbell is enough for both edges. The
 * cause stays, since it is the same collection. Without an open phase it is
 * gchint_begin().
 */
static inline void gchint_next(struct gchint_thread *thread, enum gchint_phase phase,
			       gchint_flags_t flags)
{
	if (__gchint_unlikely(__gchint_plain_next(__gchint_state(*thread), thread->bell,
						  __GCHINT_WHAT(phase, flags))))
		__gchint_next(thread, phase, flags << 8);
}

/** gchint_phase_begin() - gchint_begin() on the calling thread, which is attached if needed. */
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
 * gchint_method_enter() - the calling thread begins to run a method
 * @method: its address, or the result of gchint_symbol_add(); 0 a method without a name
 *
 * Always one store, also on threads without hints, without a session and without the
 * device. A profiler's sample of the thread reads it. Async-signal-safe.
 *
 * Return: the previous method, for gchint_method_leave(), so that methods nest as deep as
 * the program does.
 */
static inline uintptr_t gchint_method_enter(uintptr_t method)
{
	uintptr_t outer = __atomic_load_n(&__gchint_method, __ATOMIC_RELAXED);

	__atomic_store_n(&__gchint_method, method, __ATOMIC_RELAXED);
	return outer;
}

/**
 * gchint_method_leave() - the calling thread leaves a method
 * @outer: the result of gchint_method_enter(): the method that runs again
 *
 * One store. Methods that an exception or a longjmp() skips need not be left one by one.
 * Async-signal-safe.
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
