// SPDX-License-Identifier: MIT
// Collaborative Processor Performance Control (ACPI 6.5, 8.4.6) for the four
// processors of an emulated machine. Each register is a word of memory that is no
// RAM of the guest, an NVDIMM whose back is a file of the host: a page a CPU.
//
// For gcc -E -P -x c, with
//   PROCESSOR(n)  path of processor n: \_SB.C00##n on arm64, \_SB.CPUS.C00##n on q35
//   PAGES         the NVDIMM's address without its last four digits: digits are put
//                 together, not added, since iasl 20200925 writes wrong package
//                 lengths where it folds so many sums
//   BIG, LITTLE   what processors 0 and 1, 2 and 3 can do, if not alike:
//                 highest, nominal, lowest nonlinear, lowest level, MHz of the
//                 lowest and of the nominal one
//   AUTO(n), EPP(n)  where autonomous selection and the energy preference are, if
//                 not in the page
//
// Words of a page: 00 desired, 04 minimum, 08 maximum, 0c enable, 10 autonomous
// selection, 14 energy preference, 18 performance limited, and of 64 bits 40 the
// reference, 48 the delivered counter. A level is 15 MHz.

#ifndef BIG
#define BIG 140, 140, 64, 20, 300, 2100
#endif
#ifndef LITTLE
#define LITTLE BIG
#endif

#define JOIN(pages, n, offset) pages##n##0##offset
#define WORD(pages, n, offset) JOIN (pages, n, offset)
#define REGISTER(bits, n, offset, size) \
	ResourceTemplate () { Register (SystemMemory, bits, 0, WORD (PAGES, n, offset), size) }
#define R32(n, offset) REGISTER (32, n, offset, 3)
#define R64(n, offset) REGISTER (64, n, offset, 4)
#define ABSENT ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) }

#ifndef AUTO
#define AUTO(n) R32 (n, 10)
#endif
#ifndef EPP
#define EPP(n) R32 (n, 14)
#endif

#define CPPC(n, ...) CPPC_AS (n, __VA_ARGS__)
#define CPPC_AS(n, highest, nominal, nonlinear, lowest, lowest_mhz, nominal_mhz) \
	External (PROCESSOR (n), DeviceObj) \
	Scope (PROCESSOR (n)) \
	{ \
		/* Entries in the order of table 8.22, revision 3. */ \
		Name (_CPC, Package () { \
			23, 3, \
			highest, nominal, nonlinear, lowest, ABSENT, \
			R32 (n, 00), R32 (n, 04), R32 (n, 08), \
			ABSENT, ABSENT, ABSENT, \
			R64 (n, 40), R64 (n, 48), R32 (n, 18), R32 (n, 0c), \
			AUTO (n), ABSENT, EPP (n), \
			nominal, lowest_mhz, nominal_mhz \
		}) \
		Name (_PSD, Package () { Package () { 5, 0, n, 0xfd, 1 } }) \
	}

DefinitionBlock ("", "SSDT", 2, "GCHINT", "CPPC", 1)
{
	// Linux believes _CPC only where the platform says that it knows of it.
	Scope (\_SB)
	{
		Method (_OSC, 4) { Return (Arg3) }
	}
	CPPC (0, BIG)
	CPPC (1, BIG)
	CPPC (2, LITTLE)
	CPPC (3, LITTLE)
}
