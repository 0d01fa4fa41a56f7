# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Helpers of the daemon's tests: TAP lines, and daemons in directories of their own. BUILD and
# DAEMON name the built tests and the built daemon.

: "${BUILD:?run through make -C tests/daemon check}" "${DAEMON:?}"
gchintd=$DAEMON/gchintd
ctl=$DAEMON/gchintctl
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
# Isolates the tests from the machine: its sensors, its counters, its user's settings.
export GCHINT_SYSFS=$work/machine/sys GCHINT_TRACEFS=$work/machine/trace GCHINT_DEBUGFS=$work/machine/debug
export GCHINT_MODULES=$work/machine/modules
export GCHINT_CACHE=${GCHINT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gchint}
export HOME=$work/home TMPDIR=$work/tmp LC_ALL=C.UTF-8 TZ=UTC
unset COLUMNS XDG_CONFIG_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR GCHINT_TRACE GCHINT_DEVICE GCHINT_HINTS
mkdir -p "$GCHINT_SYSFS" "$GCHINT_TRACEFS" "$GCHINT_DEBUGFS" "$GCHINT_MODULES" "$HOME" "$TMPDIR"
echo updates/dkms/cpufreq_gchint.ko.xz: >"$GCHINT_MODULES/modules.dep"
chmod 1777 "$TMPDIR"
umask 022
daemons=()
tests=0 failed=0
# Sanitizer reports of any program, also of one whose status is not checked.
mkdir "$work/sanitizer"
export ASAN_OPTIONS=detect_leaks=1:log_path=$work/sanitizer/report
export UBSAN_OPTIONS=print_stacktrace=1:log_path=$work/sanitizer/report

cleanup() {
	local p
	for p in "${daemons[@]}"; do
		kill -KILL "$p" 2>/dev/null
	done
	mountpoint -q "$work/small" && umount "$work/small"
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# ok NAME COMMAND...: one TAP line; the command's output is shown on failure
ok() {
	local name=$1 out
	shift
	tests=$((tests + 1))
	if out=$("$@" 2>&1); then
		echo "ok $tests daemon $name"
	else
		echo "not ok $tests daemon $name"
		failed=1
		printf '# %s\n' "$*" "$out" | head -n 20 | sed 's/^\([^#]\)/# \1/'
	fi
}

skip() {
	tests=$((tests + 1))
	echo "ok $tests daemon $1 # SKIP $2"
}

finish() {
	ok "no sanitizer reported an error" no_reports
	ok "every command of these tests was found" is "" "$(cat "$work/unknown" 2>/dev/null)"
	echo "1..$tests"
	exit "$failed"
}

no_reports() {
	! grep -rH . "$work/sanitizer"
}

# An unknown command, a misspelt helper, would otherwise only skip a test.
command_not_found_handle() {
	echo "$1: command not found" | tee -a "$work/unknown"
	return 127
}

# wait_for SECONDS COMMAND...: until it succeeds; SECONDS is for an idle machine, and the limit is
# thirty times as long: it only ends what hangs
wait_for() {
	local end up
	read -r up _ </proc/uptime
	end=$((${up%.*} + $1 * 30))
	shift
	until "$@" >/dev/null 2>&1; do
		read -r up _ </proc/uptime
		[ "${up%.*}" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# free_port: of this machine's loopback, below those that the kernel assigns itself
free_port() {
	python3 -c 'import random, socket
while True:
    port = random.randrange(20000, 32000)
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            continue
    print(port)
    break'
}

# user_can_change: may a test start a program as another user?
user_can_change() {
	setpriv --reuid 65534 --clear-groups true 2>/dev/null
}

# fresh NAME: $d is a new directory with a board in it
fresh() {
	d=$work/$1
	mkdir "$d"
	"$here/tree" "$d"
}

# start [OPTION]...: a daemon on the board in $d, ready; its pid is $pid. An option overrides those
# set here: start -c "$d/conf" --tracefs "$d/none"
start() {
	"$gchintd" -c - --record "$d/r.db" --sysfs "$d/sys" --tracefs "$d/trace" \
		--debugfs "$d/debug" --feed "$d/feed" --annotations "$d/annotations" "$@" 2>>"$d/log" &
	pid=$!
	daemons+=("$pid")
	wait_for 10 test -S "$d/annotations" || { cat "$d/log"; return 1; }
}

# stop: ends the last daemon by SIGTERM; its exit code
stop() {
	kill -TERM "$pid" && wait "$pid"
}

# sql QUERY: on the recording in $d. A query that fails reports so: an empty result is a valid
# answer.
sql() {
	sqlite3 -readonly "${db:-$d/r.db}" "$1" || echo "(sqlite3 exits with $?)"
}

# got WANT QUERY: whether the recording in $d answers so; for wait_for
got() {
	[ "$(sql "$2" 2>/dev/null)" = "$1" ]
}

# is WANT GOT...
is() {
	local want=$1
	shift
	[ "$want" = "$*" ] || { echo "wanted '$want', got '$*'"; return 1; }
}

feed() {
	"$BUILD/feed" "$d/feed" "$@"
}

# recording_make FILE [NAME]...: a recording of release 0.1.0, changed by recordings/NAME.sql
recording_make() {
	local file=$1
	shift
	(cd "$here/recordings" && cat 0.1.0.sql "${@/%/.sql}") | sqlite3 "$file"
}

# shows COMMAND...: each line of standard input is part of a line that it prints in $d, in this order,
# however many blanks these have; one after "! " is in none. Its status is its last line, "exit 0".
shows() {
	local status=0 wanted
	wanted=$(cat)
	(cd "$d" && "$@" </dev/null) >"$d/shown" 2>&1 || status=$?
	echo "exit $status" >>"$d/shown"
	awk 'function squeeze(text) { gsub(/[ \t]+/, " ", text); sub(/^ /, "", text); return text }
		FNR == NR { want[++wants] = squeeze($0); next }
		{ line[++lines] = squeeze($0) }
		END {
			for (i = 1; i <= wants; i++) {
				absent = sub(/^! /, "", want[i])
				for (j = absent ? 1 : at + 1; j <= lines && !index(line[j], want[i]); j++)
					;
				if (absent == (j <= lines)) { print (absent ? "shown: " : "not shown: ") want[i]; bad = 1 }
				if (!absent && j <= lines) at = j
			}
			for (j = 1; bad && j <= lines; j++) print line[j]
			exit bad
		}' <(echo "$wanted") "$d/shown"
}

# What differs from build to build.
plain() {
	sed -E -e "s|$DAEMON/||; s|$here/||" -e "s/version=\"[^\"]*\"/version=\"V\"/; s/gchint(d|ctl) [0-9][0-9.]*[^ <\",]*/gchint\1 V/g"
}

# expected NAME COMMAND...: its output is that of the file expected/NAME, of which a command has one;
# EXPECTED=write rewrites it
expected() {
	local name=$1 status=0
	shift
	(cd "$d" && "$@") >"$d/said" 2>&1 || status=$?
	[ "$status" = 0 ] || echo "exit $status" >>"$d/said"
	plain <"$d/said" >"$d/$name"
	if [ "${EXPECTED:-}" = write ]; then
		mkdir -p "$here/expected"
		cp "$d/$name" "$here/expected/$name"
	fi
	diff "$here/expected/$name" "$d/$name"
}
