// SPDX-License-Identifier: MIT

// Package gchint announces background work that a program does itself in Go: a cache that is
// compacted, an arena that is swept, an index that is built. It does not see Go's own collector.
//
//	if err := gchint.Init(); err != nil { ... }
//	defer gchint.Begin(gchint.Compact, gchint.Foreground)()
//
// A phase belongs to a thread: from Begin to the call of the function that it returns, the
// goroutine stays on one thread. A call costs as much as any cgo call, some tens of nanoseconds.
package gchint

// #cgo pkg-config: libgchint
// #define GCHINT_NO_INLINE
// #include <gchint.h>
import "C"

import (
	"runtime"
	"syscall"
)

// Phase is enum gchint_phase.
type Phase uint32

// The types of work.
const (
	Collect Phase = iota + 1
	Safepoint
	Roots
	Mark
	Remark
	Refs
	Sweep
	Copy
	Compact
	Trim
	Wait
	Work
)

// Flags are GCHINT_F_*, combined by |: which threads wait for the work.
type Flags uint32

// Flags of a phase.
const (
	STW        Flags = 1
	Concurrent Flags = 2
	Foreground Flags = 4
	Urgent     Flags = 8
)

// Init opens the process's session. It is no error if hints go nowhere; an invalid environment
// variable is one.
func Init() error {
	if ret := C.gchint_init(0); ret < 0 {
		return syscall.Errno(-ret)
	}
	return nil
}

// Begin begins a phase of the calling goroutine's thread and returns the function that ends it.
func Begin(phase Phase, flags Flags) func() {
	runtime.LockOSThread()
	C.gchint_phase_begin(C.enum_gchint_phase(phase), C.gchint_flags_t(flags))
	return func() {
		C.gchint_phase_end()
		runtime.UnlockOSThread()
	}
}
