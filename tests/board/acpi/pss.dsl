// SPDX-License-Identifier: MIT
// P-states for the four processors of QEMU's q35 machine.
//
// Each control register is the scratch register of one of the four UARTs: it
// stores what is written and does nothing else, so that a test reads back what
// the driver asked of the hardware, in units of 60 MHz. Status is the same
// register. 2.1 GHz to 300 MHz, power in mW as in the Krait table.

#define GCHINT_PSTATES(number, port) \
	Scope (\_SB.CPUS.C00##number) \
	{ \
		Name (_PCT, Package () { \
			ResourceTemplate () { Register (SystemIO, 8, 0, port) }, \
			ResourceTemplate () { Register (SystemIO, 8, 0, port) } \
		}) \
		Name (_PSS, Package () { \
			Package () { 2100, 690, 20, 20, 35, 35 }, \
			Package () { 1500, 395, 20, 20, 25, 25 }, \
			Package () { 960, 214, 20, 20, 16, 16 }, \
			Package () { 300, 58, 20, 20, 5, 5 } \
		}) \
		Name (_PSD, Package () { \
			Package () { 5, 0, number, 0xfd, 1 } \
		}) \
		Method (_PPC, 0) { Return (0) } \
	}

DefinitionBlock ("", "SSDT", 2, "GCHINT", "PSTATES", 1)
{
	External (\_SB.CPUS.C000, DeviceObj)
	External (\_SB.CPUS.C001, DeviceObj)
	External (\_SB.CPUS.C002, DeviceObj)
	External (\_SB.CPUS.C003, DeviceObj)

	GCHINT_PSTATES (0, 0x3ff)
	GCHINT_PSTATES (1, 0x2ff)
	GCHINT_PSTATES (2, 0x3ef)
	GCHINT_PSTATES (3, 0x2ef)
}
