# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Shared by the boards of the demo on the host; $top and $here are set.
# shellcheck disable=SC2034,SC2154 # used by the scripts that source this
cache=${GCHINT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gchint}
out=$top/build/demo
runs=$out/runs
mkdir -p "$out"

step() {
	printf 'demo: %s\n' "$*"
}

# Two demos in one tree would put one's recordings into the other's table.
exec 9>"$out/lock"
flock -n 9 || until
	step "waiting for another demo that runs in this tree"
	flock -w 60 9
do :; done

# quietly LOG COMMAND...: its output is shown only when it fails
quietly() {
	log_of=$1
	shift
	if ! "$@" >"$log_of" 2>&1; then
		tail -n 25 "$log_of" >&2
		echo "demo: '$1' failed; all it said is in $log_of" >&2
		exit 1
	fi
}

# on_board ARGUMENT...: tests/board/run, of which only the demo's own lines are shown
on_board() {
	rm -f "$out/status"
	{
		tests/board/run "$@" && touch "$out/status"
	} 2>&1 | tee "$out/boot.log" | sed -u -n '/^demo:/p'
	[ -e "$out/status" ] || {
		grep -vE 'still in' "$out/boot.log" | tail -n 15 >&2
		echo "demo: the board did not come to its end; all it said is in $out/boot.log" >&2
		exit 1
	}
}

# Builds a component for this machine, in the directory where the tests of other boards build it too
for_the_host() {
	quietly "$out/host.log" flock "$top/build/lock" make -C "$1" BUILD="$top/build/$1"
}

# Library, Boehm adapter and daemon for the armhf boards, in $out
for_the_board() {
	sysroot=$(readlink -f "$cache/deb/armhf/current")
	cc=arm-linux-gnueabihf-gcc
	quietly "$out/libgchint.log" make -C libgchint BUILD="$out/libgchint" CC=$cc
	quietly "$out/adapters.log" make -C adapters BUILD="$out/adapters" CC=$cc SYSROOT="$sysroot" \
		LIBGCHINT="$out/libgchint" "$out/adapters/libgchint-boehm.so"
	quietly "$out/daemon.log" make -C daemon BUILD="$out/daemon" CC=$cc SYSROOT="$sysroot"
}

# tabulate SOURCE: the recordings in $runs as one table, and for each program, since different
# programs cannot be compared, a comparison and a page: report.html, report-w3m.html
tabulate() {
	echo
	source=$1 pages=
	set --
	for program in gcw w3m; do
		# Runs under schedutil first: the others are compared with them.
		for governor in schedutil gchint; do
			for db in "$runs/$program-$governor"-*.db; do
				[ ! -e "$db" ] || set -- "$@" "$db"
			done
		done
	done
	"$here/table" "$source" "$@"
	for program in gcw w3m; do
		set --
		for governor in schedutil gchint; do
			for db in "$runs/$program-$governor"-*.db; do
				[ ! -e "$db" ] || set -- "$@" "$db"
			done
		done
		[ $# -gt 0 ] || continue
		page=report.html
		[ $program = gcw ] || page=report-$program.html
		echo
		build/daemon/gchintctl report -o $page -t "$program under gchint and schedutil" "$@"
		build/daemon/gchintctl --no-pager compare --brief "$@"
		pages="$pages $page"
	done
	echo
	step "look at$pages; the recordings are in build/demo/runs: build/daemon/gchintctl summary FILE"
}
