# SPDX-License-Identifier: MIT
# Shared by the scripts of the board rig; sourced, never run.
# shellcheck shell=sh
# shellcheck disable=SC2034 # used by the scripts that source this
set -eu
# depmod and modprobe are outside of a user's PATH on Debian.
export PATH="$PATH:/usr/sbin:/sbin"

rig=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$rig/../.." && pwd)
cache=${GCHINT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gchint}
build=$root/build/board
me=$(basename -- "$0")
mkdir -p "$cache"

say() {
	echo "$me: $*" >&2
}

# note LINE: to tests/check, even where the caller captures this script's output. It never fails: a
# lost report must not end a kernel build.
note() {
	[ -z "${GCHINT_NOTES-}" ] || { echo "$*" >>"$GCHINT_NOTES"; } 2>/dev/null || :
}

die() {
	say "$@"
	exit 1
}

# lock NAME [DIRECTORY]: take a lock of that name until the script ends, so that two runs do not
# fill the same part of the cache, or of DIRECTORY. A waiter reports it every minute: the other run
# may be building a kernel.
lock() {
	lock_file=${2:-$cache}/lock/$1
	mkdir -p "${lock_file%/*}"
	exec 9>"$lock_file"
	flock -n 9 || until
		say "waiting for another run that holds $lock_file"
		note "alive waiting for another run"
		flock -w 60 9
	do :; done
}

# hash FILE...: a short key of their contents
hash() {
	cat -- "$@" | sha256sum | cut -c1-12
}

# publish PARTIAL FINAL: a directory appears in the cache completely or not at all
publish() {
	rm -rf "$2"
	mv "$1" "$2"
}

# newest PATTERN...: the highest version of what a pattern matches
newest() {
	# shellcheck disable=SC2012 # names are versions of Debian packages
	ls -d "$@" 2>/dev/null | sort -V | tail -n 1
}

# unpack TARBALL DIRECTORY [FILE...]: all of it or these files, once, even if two callers want it at
# the same time
unpack() {
	[ ! -d "$2" ] || return 0
	mkdir -p "$cache/lock"
	(
		flock 8
		tarball=$1 to=$2
		shift 2
		[ ! -d "$to" ] || exit 0
		say "unpacking $tarball"
		rm -rf "$to.part"
		mkdir -p "$to.part"
		top=$(basename "$tarball" .tar.xz)
		for f; do
			set -- "$@" "$top/$f"
			shift
		done
		tar -C "$to.part" --strip-components=1 -xf "$tarball" "$@"
		publish "$to.part" "$to"
	) 8>"$cache/lock/unpack"
}
