# SPDX-License-Identifier: MIT
# Prepares a board's file for this host; sourced after lib.sh.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # set by a board's file, used by the caller

# supplied NAME: in a run of tests/check, false if the board needs a set that tests/prepare could
# not get; prints a TAP line then
supplied() {
	[ -n "${GCHINT_CHECK-}" ] && [ -s "$root/build/check/missing" ] && [ -f "$rig/boards/$1" ] || return 0
	# shellcheck disable=SC1090 # one of ours
	for s in $(. "$rig/boards/$1" >/dev/null; echo "$need_sets"); do
		if grep -qxF "$s" "$root/build/check/missing"; then
			echo "1..0 # SKIP $1 needs $s, which could not be had"
			return 1
		fi
	done
}

# load_board NAME: reads boards/NAME and prepares its packages and its kernel. Sets in addition to
# the variables of the file: out (directory of this board's runs), release, kernel_image,
# modules_base, kdir, kernel_root, karch, cross, kernel_source (version of the source package).
load_board() {
	board=$1
	if [ ! -f "$rig/boards/$board" ]; then
		die "no board '$board'; there are: $(sed -n 's/^\([a-z0-9.-]*\):.*/\1/p' "$rig/boards.list" | tr '\n' ' ')"
	fi
	title= arch= kernel= need_sets= emulator= machine= serials= append=
	disk= disk_device= verdict_device= timeout= storm=15 ops=2000 threads= pstate=
	modules= optional_modules= extra_modules= module_args= own_tests= more_tests= no_cpufreq= builtin=
	# shellcheck disable=SC1090 # one of ours
	. "$rig/boards/$board"
	if [ -n "$need_sets" ]; then
		# shellcheck disable=SC2086 # names without blanks
		"$rig/fetch" $need_sets
	fi
	out=$build/$board
	mkdir -p "$out"
	case $kernel in
	own:*)
		kernel_root=$("$rig/kernel" "${kernel#own:}")
		release=$(cat "$kernel_root/release")
		kernel_image=$kernel_root/image
		modules_base=$kernel_root/install
		kdir=$kernel_root
		;;
	*)
		kernel_root=$(readlink -f "$cache/deb/$kernel/current")
		kernel_image=$(newest "$kernel_root"/boot/vmlinuz-*)
		release=${kernel_image##*/vmlinuz-}
		modules_base=$kernel_root
		[ -d "$modules_base/lib/modules" ] || modules_base=$kernel_root/usr
		kdir=$kernel_root/usr/src/linux-headers-$release
		;;
	esac
	case $arch in
	amd64) karch=x86_64 cross= triplet=x86_64-linux-gnu sysroot= ;;
	armhf)
		karch=arm cross=arm-linux-gnueabihf- triplet=arm-linux-gnueabihf
		sysroot=$(readlink -f "$cache/deb/armhf/current")
		;;
	arm64)
		karch=arm64 cross=aarch64-linux-gnu- triplet=aarch64-linux-gnu
		sysroot=$(readlink -f "$cache/deb/arm64/current")
		;;
	*) die "boards/$board: architecture '$arch' is not known to board.sh" ;;
	esac
}

# find_source VERSION: sets source_tarball and source_key
find_source() {
	source_tarball=$(newest "/usr/src/linux-source-$1.tar.xz" \
		"$cache/deb/linux-source-$1/current/usr/src/linux-source-$1.tar.xz" || true)
	[ -n "$source_tarball" ] ||
		die "linux-source-$1 is missing: packaging/need board, or tests/board/fetch linux-source-$1"
	source_key=linux-source-$1-$(stat -L -c %s "$source_tarball")
}

# kernel_tree VERSION: the whole source, unpacked, to build a kernel from; sets source_tree
kernel_tree() {
	find_source "$1"
	source_tree=$cache/source/$source_key
	unpack "$source_tarball" "$source_tree"
}

# kernel_files: the few files of linux-source-6.1 that tests use, without the 1.3 GB
# around them; sets source_tree
kernel_files() {
	find_source 6.1
	source_tree=$cache/source/$source_key-files
	unpack "$source_tarball" "$source_tree" \
		scripts/checkpatch.pl scripts/const_structs.checkpatch scripts/spelling.txt \
		drivers/hwmon/pmbus/adm1275.c drivers/hwmon/pmbus/pmbus.h \
		tools/testing/selftests/kselftest tools/testing/selftests/kselftest.h \
		tools/testing/selftests/kselftest_harness.h tools/testing/selftests/lib.mk
}

# kbuild DIRECTORY ARG...: compile the external modules of a directory
kbuild() {
	directory=$1
	shift
	make -s -C "$kdir" M="$directory" ARCH="$karch" CROSS_COMPILE="$cross" "$@" modules
}
