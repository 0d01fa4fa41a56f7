# SPDX-License-Identifier: MIT
# ACPI tables and registers of a board; sourced by the boards' files.
# shellcheck shell=sh
# shellcheck disable=SC2154 # set by tests/board/run and lib.sh

# table NAME [CPP-ARGUMENT...]: acpi/NAME.dsl as $out/NAME.aml
table() {
	table_name=$1
	shift
	gcc -E -P -x c "$@" "$rig/acpi/$table_name.dsl" -o "$out/$table_name.dsl"
	iasl -p "$out/$table_name" "$out/$table_name.dsl" >"$out/iasl.log" ||
		die "iasl failed, see $out/iasl.log"
}

# in_front TABLE...: tables for a machine that accepts none on QEMU's command line; the kernel finds
# them in front of the initramfs, never compressed
in_front() {
	early=$boot_out/early
	rm -rf "$early"
	mkdir -p "$early/kernel/firmware/acpi"
	cp "$@" "$early/kernel/firmware/acpi/"
	(cd "$early" && find kernel | sort | cpio --quiet -o -H newc --owner 0:0) >"$early.cpio"
	cat "$early.cpio" "$initrd" >"$boot_out/initrd"
	initrd=$boot_out/initrd
}

# registers: the board's hardware as a file next to its logs, and an NVDIMM over it. With "-m
# 1024,slots=1,maxmem=2G" it begins at the next free GiB.
registers() {
	"$rig/registers" new "$boot_out/registers"
	machine="$machine -object memory-backend-file,id=registers,mem-path=$boot_out/registers,share=on,size=2M"
	machine="$machine -device nvdimm,memdev=registers"
}
