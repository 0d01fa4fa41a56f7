// SPDX-License-Identifier: MIT
//! Hints from Rust: `mod gchint;` and link with `-l gchint`. A phase lasts as long as its
//! [`Scope`] lives, also when the thread unwinds:
//!
//!     gchint::init()?;
//!     let mark = gchint::Scope::new(Phase::Mark, CONCURRENT);
//!     mark.next(Phase::Sweep, CONCURRENT);
//!
//! Costs as much as the functions of gchint.h, which documents where they may be used.
#![allow(dead_code)]
use std::marker::PhantomData;
use std::os::raw::{c_int, c_uint};

/// `enum gchint_phase`
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Collect = 1,
    Safepoint,
    Roots,
    Mark,
    Remark,
    Refs,
    Sweep,
    Copy,
    Compact,
    Trim,
    Wait,
    Work,
}

/// `GCHINT_F_*`, combined by `|`: which threads wait for the work
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(pub u32);

pub const NO_FLAGS: Flags = Flags(0);
pub const STW: Flags = Flags(1);
pub const CONCURRENT: Flags = Flags(2);
pub const FOREGROUND: Flags = Flags(4);
pub const URGENT: Flags = Flags(8);

impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

extern "C" {
    fn gchint_init(flags: c_uint) -> c_int;
    fn gchint_phase_begin(phase: c_uint, flags: c_uint);
    fn gchint_phase_next(phase: c_uint, flags: c_uint);
    fn gchint_phase_end();
}

/// Opens the process's session; to be called again in a forked child. It is no error if hints go
/// nowhere; an invalid environment variable is an `Err` with its `errno`.
pub fn init() -> Result<(), i32> {
    match unsafe { gchint_init(0) } {
        error if error < 0 => Err(-error),
        _ => Ok(()),
    }
}

/// A phase of the calling thread. It cannot be sent to another one: it ends where it began.
pub struct Scope(PhantomData<*const ()>);

impl Scope {
    #[must_use]
    pub fn new(phase: Phase, flags: Flags) -> Scope {
        unsafe { gchint_phase_begin(phase as c_uint, flags.0) };
        Scope(PhantomData)
    }

    /// Ends the phase and begins another one, as one edge.
    pub fn next(&self, phase: Phase, flags: Flags) {
        unsafe { gchint_phase_next(phase as c_uint, flags.0) };
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        unsafe { gchint_phase_end() };
    }
}
