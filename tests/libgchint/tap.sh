# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# TAP for shell tests: source it, call ok or skip, end with tap_done.
tap_n=0
tap_failed=0

# ok NAME COMMAND... - what the command prints is shown if it fails.
ok() {
	tap_n=$((tap_n + 1))
	tap_name=$1
	shift
	# Not as a condition: the shell would go on after what failed within a function.
	set +e
	tap_out=$(set -e; "$@" 2>&1)
	tap_status=$?
	set -e
	if [ "$tap_status" -eq 0 ]; then
		echo "ok $tap_n $tap_name"
	else
		echo "not ok $tap_n $tap_name"
		echo "$tap_out" | sed 's/^/# /'
		tap_failed=1
	fi
}

# ok_timed NAME COMMAND... - a test whose verdict depends on how fast the machine is or on
# chance (durations, shares of samples): the gate leaves it out.
ok_timed() {
	if [ "${GCHINT_CHECK-}" = gate ]; then
		skip "$1" "depends on the machine's pace: make check-all"
	else
		ok "$@"
	fi
}

# skip NAME REASON
skip() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n $1 # SKIP $2"
}

# open_dir NAME - makes a directory that every user can enter, and prints its path. The clone may be
# below one that others cannot enter, as root's home is.
open_dir() {
	for tap_place in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
		tap_dir=$(mktemp -d "$tap_place/gchint-$1.XXXXXX") || continue
		chmod 755 "$tap_dir"
		# Who cannot change to another user needs no more.
		if ! setpriv --reuid 65534 --clear-groups true 2>/dev/null ||
			setpriv --reuid 65534 --clear-groups test -x "$tap_dir"; then
			echo "$tap_dir"
			return 0
		fi
		rmdir "$tap_dir"
	done
	echo "no directory for temporary files that every user can enter" >&2
	return 1
}

tap_done() {
	echo "1..$tap_n"
	exit "$tap_failed"
}
