/* SPDX-License-Identifier: MIT */
/* As it was in 1.0, without its comments: see test-frozen. It does not change. */
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
struct gchint_session;
struct gchint_thread {
	const uint32_t *bell;
	uint32_t *state;
	uint16_t index;
	uint16_t epoch;
	int32_t tid;
};
enum gchint_backend {
	GCHINT_BACKEND_NOTHING,
	GCHINT_BACKEND_TRACE,
	GCHINT_BACKEND_CLAMP,
	GCHINT_BACKEND_DEVICE,
	GCHINT_BACKEND_STREAM
};
#define GCHINT_OPEN_CLAMP 0x01
#ifdef __cplusplus
typedef unsigned int gchint_flags_t;
#else
typedef enum {
	__GCHINT_FLAGS_NONE,
	__GCHINT_FLAGS_ALL = 0x7fffffff
} gchint_flags_t;
#endif
struct gchint_detail {
	uint32_t size;
	uint32_t cause;
	uint64_t work_done;
	uint64_t work_total;
	uint64_t stall_ns;
	uint64_t method;
	uint64_t expect_ns;
};
struct gchint_policy {
	uint32_t size;
	uint32_t cpu;
	char governor[16];
	uint32_t cur_khz;
	uint32_t max_khz;
	uint32_t hw_max_khz;
	uint32_t flags;
};
GCHINT_API int gchint_open(struct gchint_session **session, unsigned int flags);
GCHINT_API int gchint_close(struct gchint_session *session);
GCHINT_API enum gchint_backend gchint_get_backend(const struct gchint_session *session);
GCHINT_API int gchint_get_reason(const struct gchint_session *session);
GCHINT_API size_t gchint_explain(char *text, size_t size);
GCHINT_API int gchint_get_fd(const struct gchint_session *session);
GCHINT_API int gchint_get_policy(const struct gchint_session *session, int cpu,
				 struct gchint_policy *policy);
GCHINT_API int gchint_expect(struct gchint_session *session, enum gchint_phase phase,
			     gchint_flags_t flags, uint64_t ns);
GCHINT_API int gchint_attach(struct gchint_session *session, pid_t tid, unsigned int role,
			     const struct gchint_thread *lead, struct gchint_thread **thread);
GCHINT_API int gchint_detach(struct gchint_thread *thread);
GCHINT_API int gchint_set_role(struct gchint_thread *thread, unsigned int role,
			       const struct gchint_thread *lead);
GCHINT_API void gchint_begin_detail(struct gchint_thread *thread, enum gchint_phase phase,
				    gchint_flags_t flags, const struct gchint_detail *detail);
GCHINT_API void gchint_next_detail(struct gchint_thread *thread, enum gchint_phase phase,
				   gchint_flags_t flags, const struct gchint_detail *detail);
GCHINT_API void gchint_progress(struct gchint_thread *thread, uint64_t work_done,
				uint64_t work_total, uint64_t stall_ns);
GCHINT_API void gchint_set_cause(struct gchint_thread *thread, unsigned int cause);
GCHINT_API void gchint_set_method(struct gchint_thread *thread, uint64_t method);
GCHINT_API void gchint_abandon(struct gchint_thread *thread);
GCHINT_API int gchint_init(unsigned int flags);
GCHINT_API struct gchint_thread *gchint_self(void);
GCHINT_API int gchint_is_profiled(void);
GCHINT_API uintptr_t gchint_symbol_add(uintptr_t address, size_t size, const char *name);
GCHINT_API void gchint_symbol_remove(uintptr_t address, size_t size);
extern GCHINT_API __thread struct gchint_thread __gchint_self
	__attribute__((tls_model("initial-exec")));
extern GCHINT_API __thread uintptr_t __gchint_method __attribute__((tls_model("initial-exec")));
GCHINT_API void __gchint_begin(struct gchint_thread *thread, uint32_t phase, uint32_t flags);
GCHINT_API void __gchint_end(struct gchint_thread *thread);
GCHINT_API void __gchint_next(struct gchint_thread *thread, uint32_t phase, uint32_t flags);
GCHINT_API void __gchint_self_begin(uint32_t phase, uint32_t flags);
GCHINT_API void __gchint_self_end(void);
GCHINT_API void __gchint_self_next(uint32_t phase, uint32_t flags);
#define __GCHINT_NOWHERE 0x0001ffffu
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
static inline int __gchint_plain_end(uint32_t *state)
{
	uint32_t old = __atomic_load_n(state, __ATOMIC_RELAXED);
	if (__gchint_unlikely(old & GCHINT_STATE_WRITING))
		return old != __GCHINT_NOWHERE;
	__atomic_store_n(state, (old & GCHINT_STATE_SEQ_MASK) + GCHINT_STATE_EDGE,
			 __ATOMIC_RELAXED);
	return 0;
}
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
#define __gchint_state(t) __atomic_load_n(&(t).state, __ATOMIC_RELAXED)
#ifndef GCHINT_NO_INLINE
static inline void gchint_begin(struct gchint_thread *thread, enum gchint_phase phase,
				gchint_flags_t flags)
{
	if (__gchint_unlikely(__gchint_plain_begin(__gchint_state(*thread), thread->bell,
						   __GCHINT_WHAT(phase, flags))))
		__gchint_begin(thread, phase, flags << 8);
}
static inline void gchint_end(struct gchint_thread *thread)
{
	if (__gchint_unlikely(__gchint_plain_end(__gchint_state(*thread))))
		__gchint_end(thread);
}
static inline void gchint_next(struct gchint_thread *thread, enum gchint_phase phase,
			       gchint_flags_t flags)
{
	if (__gchint_unlikely(__gchint_plain_next(__gchint_state(*thread), thread->bell,
						  __GCHINT_WHAT(phase, flags))))
		__gchint_next(thread, phase, flags << 8);
}
static inline void gchint_phase_begin(enum gchint_phase phase, gchint_flags_t flags)
{
	if (__gchint_unlikely(__gchint_plain_begin(__gchint_state(__gchint_self),
						   __gchint_self.bell,
						   __GCHINT_WHAT(phase, flags))))
		__gchint_self_begin(phase, flags << 8);
}
static inline void gchint_phase_end(void)
{
	if (__gchint_unlikely(__gchint_plain_end(__gchint_state(__gchint_self))))
		__gchint_self_end();
}
static inline void gchint_phase_next(enum gchint_phase phase, gchint_flags_t flags)
{
	if (__gchint_unlikely(__gchint_plain_next(__gchint_state(__gchint_self), __gchint_self.bell,
						  __GCHINT_WHAT(phase, flags))))
		__gchint_self_next(phase, flags << 8);
}
static inline uintptr_t gchint_method_enter(uintptr_t method)
{
	uintptr_t outer = __atomic_load_n(&__gchint_method, __ATOMIC_RELAXED);
	__atomic_store_n(&__gchint_method, method, __ATOMIC_RELAXED);
	return outer;
}
static inline void gchint_method_leave(uintptr_t outer)
{
	__atomic_store_n(&__gchint_method, outer, __ATOMIC_RELAXED);
}
#else
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
#endif
#ifdef __cplusplus
}
#endif
#endif
