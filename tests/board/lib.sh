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

# tell LINE: to tests/check, past whoever keeps what this prints
tell() {
	[ -z "${GCHINT_TELL-}" ] || echo "$*" >>"$GCHINT_TELL"
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

# unpack TARBALL FOLDER: once, also where two who want it come at once
unpack() {
	[ ! -d "$2" ] || return 0
	mkdir -p "$cache/lock"
	(
		flock 8
		[ ! -d "$2" ] || exit 0
		say "unpacking $1"
		rm -rf "$2.part"
		mkdir -p "$2.part"
		tar -C "$2.part" --strip-components=1 -xf "$1"
		publish "$2.part" "$2"
	) 8>"$cache/lock/unpack"
}
