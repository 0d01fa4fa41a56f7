# SPDX-License-Identifier: MIT
# Shared by the scripts of the board rig; sourced, never run.
# shellcheck shell=sh
# shellcheck disable=SC2034 # used by those who source this
set -eu
# depmod and modprobe stand where Debian gives a user no path to.
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

# tell LINE: to tests/check, even where the caller captures what this prints. It never
# fails: a report that is lost must not end a kernel build.
tell() {
	[ -z "${GCHINT_TELL-}" ] || { echo "$*" >>"$GCHINT_TELL"; } 2>/dev/null || :
}

die() {
	say "$@"
	exit 1
}

# lock NAME [FOLDER]: hold a lock of that name until the script ends, so that two
# runs at once do not fill the same part of the cache, or of FOLDER. Whoever waits
# says so every minute: what the other does, a kernel may be, takes its time.
lock() {
	lock_file=${2:-$cache}/lock/$1
	mkdir -p "${lock_file%/*}"
	exec 9>"$lock_file"
	flock -n 9 || until
		say "waiting for another run that holds $lock_file"
		tell "alive waiting for another run"
		flock -w 60 9
	do :; done
}

# hash FILE...: a short key of their contents
hash() {
	cat -- "$@" | sha256sum | cut -c1-12
}

# publish PARTIAL FINAL: a folder appears in the cache whole or not at all
publish() {
	rm -rf "$2"
	mv "$1" "$2"
}

# newest PATTERN...: the highest version of what a pattern matches
newest() {
	# shellcheck disable=SC2012 # names are versions of Debian packages
	ls -d "$@" 2>/dev/null | sort -V | tail -n 1
}

# unpack TARBALL DIRECTORY [FILE...]: all of it or these files, once, even if two
# callers want it at the same time
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
