/* SPDX-License-Identifier: MIT */
/**
 * DOC: phases as scopes, for C++11 and newer
 *
 *	{
 *		gchint::scope mark(gchint::phase::mark, gchint::concurrent);
 *		...
 *		mark.next(gchint::phase::sweep, gchint::concurrent);
 *		...
 *	}	// ends here, also by an exception
 *
 * Phases and flags are types of their own, so that swapped arguments do not compile. The cost
 * and the restrictions are those of the functions of <gchint.h>.
 */
#ifndef GCHINT_HPP
#define GCHINT_HPP

#include <cstdint>

#include <gchint.h>

namespace gchint
{

/** phase - enum gchint_phase */
enum class phase : unsigned int {
	none = GCHINT_PHASE_NONE,
	collect = GCHINT_PHASE_COLLECT,
	safepoint = GCHINT_PHASE_SAFEPOINT,
	roots = GCHINT_PHASE_ROOTS,
	mark = GCHINT_PHASE_MARK,
	remark = GCHINT_PHASE_REMARK,
	refs = GCHINT_PHASE_REFS,
	sweep = GCHINT_PHASE_SWEEP,
	copy = GCHINT_PHASE_COPY,
	compact = GCHINT_PHASE_COMPACT,
	trim = GCHINT_PHASE_TRIM,
	wait = GCHINT_PHASE_WAIT,
	work = GCHINT_PHASE_WORK,
};

/** flags - GCHINT_F_*; combined by | */
struct flags {
	unsigned int value;
};

constexpr flags operator|(flags a, flags b)
{
	return flags{ a.value | b.value };
}

constexpr flags no_flags{ 0 };
constexpr flags stw{ GCHINT_F_STW };
constexpr flags concurrent{ GCHINT_F_CONCURRENT };
constexpr flags foreground{ GCHINT_F_FOREGROUND };
constexpr flags urgent{ GCHINT_F_URGENT };

/**
 * scope - a phase of the calling thread, as long as it lives
 *
 * It cannot be copied or moved: a phase ends on the thread where it began.
 */
class scope
{
      public:
	explicit scope(phase p, flags f = no_flags) noexcept
	{
		gchint_phase_begin(static_cast<enum gchint_phase>(p), f.value);
	}
	~scope()
	{
		gchint_phase_end();
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

	/** next() - end the phase and begin another one, as one edge. */
	void next(phase p, flags f = no_flags) noexcept
	{
		gchint_phase_next(static_cast<enum gchint_phase>(p), f.value);
	}
};

/** method - the method that the calling thread runs, for profilers, as long as it lives */
class method
{
      public:
	explicit method(std::uintptr_t address) noexcept
		: outer(gchint_method_enter(address))
	{
	}
	~method()
	{
		gchint_method_leave(outer);
	}
	method(const method &) = delete;
	method &operator=(const method &) = delete;

      private:
	std::uintptr_t outer;
};

} /* namespace gchint */

#endif /* GCHINT_HPP */
