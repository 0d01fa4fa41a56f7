# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Processes that gchintctl starts itself: a fake gchintd that prints its arguments, the command, and
# how both end.

mkdir -p "$work/own/bin" "$work/own/lone" "$work/own/sbin" "$work/own/path"
d=$work/own
cp "$ctl" "$d/bin/gchintctl"
cp "$ctl" "$d/lone/gchintctl"
recording_make "$d/kept.db" everything
# Its behaviour is in $OWN: dying before it is ready, bare without a recording; its status in
# $OWN_STATUS. A process that the command names in OWN_SAID.tgid was sampled.
cat >"$d/bin/gchintd" <<'X2'
#!/usr/bin/python3
import os, shutil, signal, socket, sqlite3, sys
how = os.environ.get("OWN", "")
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
out = open(os.environ["OWN_SAID"], "a")
print(sys.argv[0], *sys.argv[1:], file=out)
for n in ("NOTIFY_SOCKET", "GCHINT_STREAM", "GCHINT_ANNOTATIONS", "WATCHDOG_USEC", "GCHINT_SYMBOLS", "GCHINT_PROFILE"):
    print(n, os.environ.get(n), file=out)
print("a group of its own:", os.getpgid(0) == os.getpid(), file=out)
for a in sys.argv:
    if a.startswith("--config=/"):
        print(open(a[9:]).read(), file=out)
option = dict(zip(sys.argv, sys.argv[1:]))
if how == "dying":
    print("gchintd: nothing works", file=sys.stderr)
    sys.exit(3)
file = option["--record"]
if how != "bare":
    shutil.copy(os.environ["OWN_KEPT"], file)
marks = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
marks.bind(option["--annotations"])
tell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
def say(text):
    tell.sendto(text, os.environ["NOTIFY_SOCKET"])
say(b"STATUS=opening")
say(b"STATUS=ready\nREADY=1\n")
while not ended:
    marks.settimeout(0.02)
    try:
        print("mark:", marks.recv(512).decode().split(" ", 1)[1], file=out)
    except TimeoutError:
        pass
marks.setblocking(False)
try:
    while True:
        print("mark:", marks.recv(512).decode().split(" ", 1)[1], file=out)
except BlockingIOError:
    pass
if os.path.exists(os.environ["OWN_SAID"] + ".tgid"):
    tgid = int(open(os.environ["OWN_SAID"] + ".tgid").read())
    db = sqlite3.connect(file)
    db.execute("insert into processes values(?, ?, 1000000000, 0, 'node', null)", (tgid, tgid))
    for i, method in enumerate((0x4fff, 0x5000, 0x50ff, 0x5100, 0x511f, 0x5120)):
        db.execute("insert into hotspots values(?, ?, ?, 0, 0, 0, ?, null, null, null)", (1200000000 + i, tgid, tgid, method))
    db.commit()
print("stopped", file=out)
out.close()
sys.exit(int(os.environ.get("OWN_STATUS", "0")))
X2
chmod 755 "$d/bin/gchintd"
cp "$d/bin/gchintd" "$d/sbin/gchintd"
cp "$d/bin/gchintd" "$d/path/gchintd"
export OWN_SAID=$d/said-by OWN_KEPT=$d/kept.db
# What the command sees.
cat >"$d/path/command" <<'X2'
#!/bin/sh
echo "command: $*"
for v in GCHINT_ANNOTATIONS GCHINT_STREAM GCHINT_SYMBOLS GCHINT_PROFILE WATCHDOG_USEC; do
	eval "echo \"$v=\$$v\""
done
[ -z "$GCHINT_ANNOTATIONS" ] || ls "${GCHINT_ANNOTATIONS%/*}"
exit "${COMMAND_STATUS:-0}"
X2
chmod 755 "$d/path/command"
own() { # NAME COMMAND...: its output, and the daemon's arguments
	echo "== ${*:2}"
	rm -f "$OWN_SAID" "$d/$1.db"
	(cd "$d" && PATH=$d/path:$PATH "${@:2}" </dev/null 2>&1) || echo "exit $?"
	[ -e "$OWN_SAID" ] || return
	cat "$OWN_SAID"
	sed -n 's/^NOTIFY_SOCKET \(.*\)\/notify/\1/p; s/^GCHINT_SYMBOLS \//\//p' "$OWN_SAID" | while read -r left; do
		[ ! -e "$left" ] || echo "left: $left"
	done
}
unset GCHINT_STREAM GCHINT_ANNOTATIONS GCHINT_PROFILE GCHINT_SYMBOLS NODE_OPTIONS
own_unnamed() { # NAME COMMAND...: without names that differ from run to run, in a shell of its own
	(own "$@") | sed -E -e "s|$d|DIR|g" -e 's|/tmp/(gchintctl\|gchint-profile)\.[A-Za-z0-9]{6}|/tmp/\1.XXXXXX|g' -e 's/true-[0-9]{8}-[0-9]{6}/true-DATE-TIME/g' -e 's|/stream\.[0-9a-f]{16}|/stream|g'
}
record_print() { # settings of the daemon and of its command
	export WATCHDOG_USEC=5
	own_unnamed a bin/gchintctl record -o a.db -- command a "b c"
	own_unnamed a bin/gchintctl record -o a.db -l "a label" -p 7 --option --sysfs=/x --option -v -q -- command
}
ok "record passes settings to its daemon and its command" expected record record_print
ok "the daemon next to the program's directory is found" shows own_unnamed a lone/gchintctl record -o a.db -q -- command <<<"DIR/lone/../sbin/gchintd --config -"
rm "$d/sbin/gchintd"
ok "else that of PATH" shows own_unnamed a lone/gchintctl record -o a.db -q -- true <<<"DIR/path/gchintd --config -"
in_environment() { # VARIABLE=VALUE... -- NAME COMMAND...
	local settings=()
	while [ "$1" != -- ]; do
		settings+=("$1")
		shift
	done
	(export "${settings[@]}" && own_unnamed "${@:2}")
}
ok "the command's status is returned, and annotated" shows in_environment COMMAND_STATUS=9 -- a bin/gchintctl record -o a.db -- command <<'X2'
gchintctl: recorded a.db
exit 9
mark: command: 9
X2
ok "a daemon that fails is reported" shows in_environment OWN_STATUS=5 -- a bin/gchintctl record -o a.db -- command <<'X2'
gchintctl: gchintd exited with status 5; a.db may be incomplete
! exit 5
X2
ok "a command that fails, too, has the last word" shows in_environment OWN_STATUS=5 COMMAND_STATUS=4 -- a bin/gchintctl record -o a.db -q -- command <<<"exit 4"
ok "a daemon that does not start runs nothing" shows in_environment OWN=dying -- a bin/gchintctl record -o a.db -- command <<'X2'
gchintd: nothing works
gchintctl: DIR/bin/gchintd did not start
exit 4
! command:
X2
ok "a daemon that is absent is named" shows own_unnamed a bin/gchintctl record -o a.db --gchintd "$d/nowhere" -- command <<'X2'
gchintctl: DIR/nowhere: No such file or directory
exit 4
X2
for c in "absent 127 No such file or directory" "kept.db 126 Permission denied"; do
	read -r program code text <<<"$c"
	ok "a command that cannot be run leaves no recording: $code" shows own_unnamed a bin/gchintctl record -o a.db -- "./$program" <<-X2
		gchintctl: ./$program: $text
		gchintctl: nothing was recorded: a.db is removed
		exit $code
	X2
done
ok "record -C prints the cost" shows own_unnamed a bin/gchintctl record -o a.db -C -q -- true <<<"recording took 2.00 % of one CPU, 100.0 wake-ups a second"
ok "record -C without a recording names it" shows in_environment OWN=bare -- a bin/gchintctl record -o a.db -C -q -- true <<<"a.db: No such file or directory"
sqlite3 "$d/kept.db" "delete from costs"
ok "record -C without a cost says so" shows own_unnamed a bin/gchintctl record -o a.db -C -q -- true <<<"recording took an amount that was not recorded"
ok "without a name a recording is named by its command and the time" shows own_unnamed a bin/gchintctl record -q -- true <<'X2'
recorded true-DATE-TIME.db
--record true-DATE-TIME.db
X2
# The maximum of options that is passed on, and one more.
for n in "39 stopped" "40 too many options for gchintd"; do
	# shellcheck disable=SC2046 # options and arguments
	ok "${n%% *} options for the daemon" shows own_unnamed a bin/gchintctl record -o a.db -q $(yes -- '--option --x' | head -n "${n%% *}") -- true <<<"${n#* }"
done
terminal() { # COMMAND...: its output on a terminal, each state of a line as a line
	python3 -c 'import pty, sys
sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$@" | tr '\r' '\n' | sed -E '/^$/d; s/ [0-9]+ s,/ N s,/; s/ $/ .../' | uniq
}
truncate -s 2621440 "$d/kept.db"
truncate -s 1048576 "$d/a.db-wal"
# On a terminal of its own: where the command writes there too it is left out.
aside() { # ARGUMENT...: of gchintctl, with its standard output elsewhere
	terminal sh -c 'exec bin/gchintctl "$@" >aside.txt' sh "$@"
}
ok "record leaves a terminal to its command" shows own_unnamed a terminal bin/gchintctl record -o a.db -- sleep 0.3 <<'X2'
! a.db: N s
recorded a.db
X2
ok "record shows its progress on a terminal" shows own_unnamed a aside record -o a.db -- sleep 0.3 <<'X2'
a.db: N s, 3.5 MiB ...
a.db: N s, 3.5 MiB
recorded a.db
X2
rm -f "$d/a.db-wal"
ok "but not with -q" shows own_unnamed a terminal bin/gchintctl record -q -o a.db -- true <<<"! MiB"
sqlite3 "$d/kept.db" <"$here/recordings/profile.sql"
# It refuses to start where no thread can be sampled.
sampled() { # NAME TEST...
	if "$ctl" status | grep -q 'perf events are refused'; then
		skip "$1" "no perf events here"
	else
		ok "$@"
	fi
}
sampled "profile record passes settings to its daemon and its command" shows own_unnamed p bin/gchintctl profile record -o p.db -- command a "b c" <<'X2'
command: a b c
GCHINT_SYMBOLS=/tmp/gchint-profile.XXXXXX
GCHINT_PROFILE=1
gchintctl: profiled into p.db
--config=/tmp/gchint-profile.XXXXXX/conf --quiet --record p.db
[hotspots]
enabled = yes
hz = 999
signal = no
mark: command: 0
! left:
X2
sampled "profile record passes a frequency and a command's name" shows own_unnamed p bin/gchintctl profile record -q -o p.db -F 100 -c 'java*' -- command <<'X2'
hz = 100
command = java*
X2
long=012345678901234567890123456789012345678901234567890123456789
sampled "a long one, too" shows own_unnamed p bin/gchintctl profile record -q -o p.db -c $long -- true <<<"command = $long"
sampled "profile record returns the command's status" shows in_environment COMMAND_STATUS=9 -- p bin/gchintctl profile record -o p.db -- command <<<"exit 9"
sampled "without a name a profile is profile.db" shows own_unnamed profile bin/gchintctl profile record -- true <<<"profiled into profile.db"
sampled "profile record without a daemon runs nothing" shows in_environment OWN=dying -- p bin/gchintctl profile record -o p.db -- command <<'X2'
exit 4
! command:
X2
# A program whose symbol map the launcher requests, as that of Node, and a log that was not requested.
mkdir "$d/adapters"
echo "void nothing(void);void nothing(void){}" | gcc -shared -fPIC -x c -o "$d/adapters/libgchint-launch.so" -
cp "$d/adapters/libgchint-launch.so" "$d/adapters/libgchint-node.so"
cat >"$d/path/node" <<'X2'
#!/bin/sh
echo "NODE_OPTIONS=$NODE_OPTIONS"
echo $$ >"$OWN_SAID.tgid"
printf '5000 100 first\n5100 20 second one\n' >/tmp/perf-$$.map
touch isolate-0x1234-$$-v8.log isolate-0x1234-0$$-v8.log isolate-0x1-$$.log
if [ -n "$OWN_OLD" ]; then
	touch -d 2020-01-01 /tmp/perf-$$.map
fi
X2
chmod 755 "$d/path/node"
# The command's strings live until gchintctl ends.
maps_print() { # SETTING...: the user's own request, the names of six addresses, what is left
	local tgid
	ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 own p env "$@" bin/gchintctl profile record -q -o p.db -- node | grep -o '^NODE_OPTIONS=.*perf-basic-prof'
	tgid=$(cat "$OWN_SAID.tgid")
	sqlite3 "$d/p.db" "select group_concat(coalesce((select name from symbols s where s.tgid = h.tgid and s.address = h.method), '?'), ', ')
		from (select * from hotspots where tgid = $tgid order by t) h"
	(cd "$d" && LC_ALL=C ls isolate* "/tmp/perf-$tgid.map" 2>/dev/null) | sed "s/$tgid/PID/" | paste -sd' '
	rm -f "/tmp/perf-$tgid.map" "$d"/isolate* "$OWN_SAID.tgid"
}
names="?, first, first, second one, second one, ?"
left="isolate-0x1-PID.log isolate-0x1234-0PID-v8.log"
sampled "a symbol map of Node that we requested is read, and removed with its log" is \
	"$names $left" "$(maps_print | paste -sd' ')"
sampled "one that the user requested is read, and stays" is \
	"NODE_OPTIONS=--perf-basic-prof $names /tmp/perf-PID.map $left isolate-0x1234-PID-v8.log" "$(maps_print NODE_OPTIONS=--perf-basic-prof | paste -sd' ')"
sampled "one of an earlier process is neither read nor removed" is \
	"?, ?, ?, ?, ?, ? /tmp/perf-PID.map $left isolate-0x1234-PID-v8.log" "$(maps_print OWN_OLD=1 | paste -sd' ')"

# A program that is executable but not readable.
if user_can_change; then
	chmod 755 "$work" "$d" "$d/bin" "$d/path"
	install -m 711 "$ctl" "$d/path/shut"
	install -m 711 "$ctl" "$d/path/java" # one that is recognised by its name all the same
	printf '#!%s/path/shut\n' "$d" >"$d/path/by-shut"
	chmod 755 "$d/path/by-shut"
	unread() {
		for p in shut by-shut java; do
			PATH=$d/path:$PATH setpriv --reuid 65534 --clear-groups "$d/bin/gchintctl" run "$p" 2>&1 | grep read
		done
	}
	ok "a program that cannot be read is reported, and runs" is \
		"shut by-shut java" \
		"$(unread | sed -nE 's/^gchintctl: (.*): cannot be read; it runs as it is.*/\1/p' | paste -sd' ')"
else
	skip "a program that cannot be read is reported, and runs" "needs root to be somebody else"
fi
