# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Processes that gchintctl starts itself: a fake gchintd that prints its arguments, the command, and
# how both end. Compared with the files in words/ (t-words.sh).

mkdir -p "$work/own/bin" "$work/own/lone" "$work/own/sbin" "$work/own/path"
d=$work/own
cp "$ctl" "$d/bin/gchintctl"
cp "$ctl" "$d/lone/gchintctl"
sqlite3 "$d/kept.db" <"$here/recordings/0.1.0.sql"
sqlite3 "$d/kept.db" <"$here/recordings/everything.sql"
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
unmade() { # Names that differ from run to run.
	sed -E -e "s|$d|DIR|g" -e 's|/tmp/(gchintctl\|gchint-profile)\.[A-Za-z0-9]{6}|/tmp/\1.XXXXXX|g' -e 's/true-[0-9]{8}-[0-9]{6}/true-DATE-TIME/g' -e 's|/stream\.[0-9a-f]{16}|/stream|g'
}
records() {
	local n
	unset GCHINT_STREAM GCHINT_ANNOTATIONS GCHINT_PROFILE GCHINT_SYMBOLS NODE_OPTIONS
	export WATCHDOG_USEC=5
	own a bin/gchintctl record -o a.db -- command a "b c"
	own a bin/gchintctl record -o a.db -l "a label" -p 7 --option --sysfs=/x --option -v -q -- command
	own a lone/gchintctl record -o a.db -q -- command
	rm "$d/sbin/gchintd"
	own a lone/gchintctl record -o a.db -q -- true
	(export COMMAND_STATUS=9 && own a bin/gchintctl record -o a.db -- command)
	(export OWN_STATUS=5 && own a bin/gchintctl record -o a.db -- command)
	(export OWN_STATUS=5 COMMAND_STATUS=4 && own a bin/gchintctl record -o a.db -q -- command)
	(export OWN=dying && own a bin/gchintctl record -o a.db -- command)
	own a bin/gchintctl record -o a.db --gchintd "$d/nowhere" -- command
	own a bin/gchintctl record -o a.db -- ./absent
	own a bin/gchintctl record -o a.db -- ./kept.db
	own a bin/gchintctl record -o a.db -C -q -- true
	(export OWN=bare && own a bin/gchintctl record -o a.db -C -q -- true)
	sqlite3 "$d/kept.db" "delete from costs"
	own a bin/gchintctl record -o a.db -C -q -- true
	own a bin/gchintctl record -q -- true
	ls "$d"/true-*.db
	rm -f "$d"/true-*.db
	# The maximum that is passed on, and one more.
	for n in 39 40; do
		# shellcheck disable=SC2046 # options and arguments
		own a bin/gchintctl record -o a.db -q $(yes -- '--option --x' | head -n $n) -- true
	done
	own a bin/gchintctl record
	own a bin/gchintctl record -o a.db
	own a bin/gchintctl record -x
}
terminal() { # COMMAND...: its output on a terminal, each state of a line as a line
	python3 -c 'import pty, sys
sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$@" | tr '\r' '\n' | sed -E '/^$/d; s/ [0-9]+ s,/ N s,/; s/ $/ .../' | uniq
}
progress() {
	unset GCHINT_STREAM GCHINT_ANNOTATIONS GCHINT_PROFILE GCHINT_SYMBOLS NODE_OPTIONS WATCHDOG_USEC
	truncate -s 2621440 "$d/kept.db"
	truncate -s 1048576 "$d/a.db-wal"
	own a terminal bin/gchintctl record -o a.db -- sleep 0.3
	rm -f "$d/a.db-wal"
	own a terminal bin/gchintctl record -q -o a.db -- true
}
shown() {
	(progress) | unmade
}
recorded() {
	(records) | unmade
}
ok "record passes settings to its daemon and its command" words own-record recorded
profiles() {
	unset GCHINT_STREAM GCHINT_ANNOTATIONS GCHINT_PROFILE GCHINT_SYMBOLS NODE_OPTIONS WATCHDOG_USEC
	sqlite3 "$d/kept.db" <"$here/recordings/profile.sql"
	own p bin/gchintctl profile record -o p.db -- command a "b c"
	own p bin/gchintctl profile record -q -o p.db -F 100 -c 'java*' -- command
	own p bin/gchintctl profile record -q -o p.db -c 012345678901234567890123456789012345678901234567890123456789 -- true
	(export COMMAND_STATUS=9 && own p bin/gchintctl profile record -o p.db -- command)
	own profile bin/gchintctl profile record -- true
	(export OWN=dying && own p bin/gchintctl profile record -o p.db -- command)
	(export OWN=bare && own p bin/gchintctl profile record -o p.db -- command)
}
profiled() {
	(profiles) | unmade
}
# It refuses to start where no thread can be sampled.
sampled() { # NAME TEST...
	if "$ctl" status | grep -q 'perf events are refused'; then
		skip "$1" "no perf events here"
	else
		ok "$@"
	fi
}
sampled "profile record passes settings to its daemon and its command" words own-profile profiled
# A program that gchintctl takes for Node: its symbol map, and a log that was not requested.
mkdir "$d/adapters"
echo "void nothing(void);void nothing(void){}" | gcc -shared -fPIC -x c -o "$d/adapters/libgchint-node.so" -
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
maps() {
	local tgid
	local how
	unset GCHINT_STREAM GCHINT_ANNOTATIONS GCHINT_PROFILE GCHINT_SYMBOLS NODE_OPTIONS WATCHDOG_USEC
	# The command's strings live until gchintctl ends.
	export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
	for how in "" NODE_OPTIONS=--perf-basic-prof OWN_OLD=1 NODE_OPTIONS=--x; do
		own p env ${how:+"$how"} bin/gchintctl profile record -q -o p.db -- node
		tgid=$(cat "$OWN_SAID.tgid")
		sqlite3 "$d/p.db" "select method - 20480, (select name from symbols s where s.tgid = h.tgid and s.address = h.method)
			from hotspots h where tgid = $tgid order by t"
		ls "/tmp/perf-$tgid.map"
		(cd "$d" && LC_ALL=C ls isolate*)
		rm -f "/tmp/perf-$tgid.map" "$d"/isolate*
	done 2>&1 | sed -E 's/perf-[0-9]+/perf-PID/; s/-[1-9][0-9]*-/-PID-/; s/-0[0-9]+-/-0PID-/; s/-[1-9][0-9]*\./-PID./'
	rm -f "$OWN_SAID.tgid"
}
mapped() {
	(maps) | unmade
}
sampled "symbol maps of a program are read, and removed if we requested them" words own-maps mapped
ok "record shows its progress on a terminal" words own-terminal shown

# A program that is executable but not readable.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
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
