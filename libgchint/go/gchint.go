// SPDX-License-Identifier: MIT

// Package gchint tells of background work that a program does itself in Go: a cache that is
// compacted, an arena that is swept, an index that is built. Go's own collector it does not see.
//
//	if err := gchint.Init(); err != nil { ... }
//	defer gchint.Begin(gchint.Compact, gchint.Foreground)()
//
// A phase is its thread's: from Begin to the call of what it returned the goroutine stays on
// one thread. A call costs what cgo costs, some tens of nanoseconds.
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

// The kinds of work.
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

// Flags are GCHINT_F_*: who waits; combined by |.
type Flags uint32

// Who waits.
const (
	STW        Flags = 1
	Concurrent Flags = 2
	Foreground Flags = 4
	Urgent     Flags = 8
)

// Init opens the process's session. Hints that go nowhere are no error; what the environment says
// wrongly is.
func Init() error {
	if ret := C.gchint_init(0); ret < 0 {
		return syscall.Errno(-ret)
	}
	return nil
}

// Begin begins a phase of the calling goroutine's thread and returns what ends it.
func Begin(phase Phase, flags Flags) func() {
	runtime.LockOSThread()
	C.gchint_phase_begin(C.enum_gchint_phase(phase), C.gchint_flags_t(flags))
	return func() {
		C.gchint_phase_end()
		runtime.UnlockOSThread()
	}
}
