# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The command line and the configuration.

fresh config
rc() { # CODE COMMAND...: the exit code and nothing else
	local want=$1 got=0
	shift
	"$@" >"$d/out" 2>&1 || got=$?
	is "$want" "$got" || { cat "$d/out"; return 1; }
}
says() { # CODE TEXT COMMAND...
	local code=$1 text=$2
	shift 2
	rc "$code" "$@" && grep -qF -- "$text" "$d/out" || { cat "$d/out"; return 1; }
}

ok "an unknown option exits with 2" rc 2 "$gchintd" --frobnicate
ok "nothing to do exits with 5 and names an option" says 5 "--record FILE" "$gchintd" -c -
printf '[record]\nfile = %s\n[hwmon]\nperiod = 5\n' "$d/x.db" >"$d/bad.conf"
ok "a wrong line is reported with file and line, exit 3" \
	says 3 "$d/bad.conf:4: no key 'period' in [hwmon]" "$gchintd" --check -c "$d/bad.conf"
ok "a missing file is reported, exit 3" says 3 "$d/none.conf: No such file" "$gchintd" --check -c "$d/none.conf"
printf '[record]\nfile = %s\n' "$d/x.db" >"$d/good.conf"
ok "--check of a valid file prints nothing" is "" "$("$gchintd" --check -c "$d/good.conf" 2>&1)"
ok "the installed configuration passes --check" rc 0 "$gchintd" --check -c "$here/../../packaging/gchintd.conf"
ok "a wrong value is reported with its option" says 3 "--period: period_ms = '0'" \
	"$gchintd" -c - --record "$d/x.db" --period 0
touch "$d/there.db"
ok "an existing file is not overwritten, exit 4" says 4 "there.db: exists; name another file, or --keep N" \
	"$gchintd" -c - --record "$d/there.db"
mkdir -m 555 "$d/ro"
if user_can_change; then
	chmod 755 "$work" "$d"
	# The tree may be in a directory that other users cannot read.
	install -m 755 "$gchintd" "$d/gchintd"
	ok "a read-only directory is reported, exit 4" says 4 "ro/x.db: cannot write in" \
		setpriv --reuid 65534 --clear-groups "$d/gchintd" -c - --record "$d/ro/x.db"
elif [ "$(id -u)" -ne 0 ]; then
	ok "a read-only directory is reported, exit 4" says 4 "ro/x.db: cannot write in" \
		"$gchintd" -c - --record "$d/ro/x.db"
else
	skip "a read-only directory is reported, exit 4" "root, and no setpriv to be somebody else"
fi
ok "sources are listed in order" bash -c "'$gchintd' --list-sources | sort -c"

# Existing files are kept, whatever option names them by mistake.
fresh kept
echo mine >"$d/notes.txt"
"$gchintd" -q -c - --record "$d/k.db" --sysfs "$d/none" --tracefs "$d/none" --feed "$d/notes.txt" \
	--annotations "$d/notes.txt" 2>"$d/log" &
pid=$!
daemons+=("$pid")
wait_for 10 grep -q "notes.txt: File exists: no annotations can be added" "$d/log"
ok "a regular file at the socket's path is reported and kept" is "mine 1" \
	"$(cat "$d/notes.txt") $(grep -c 'annotations: .*: File exists: .*another socket' "$d/log")"
stop
mkdir "$d/folder"
touch "$d/folder/mine"
ok "a directory is not rotated, exit 4" says 4 "folder: cannot rotate: Is a directory" \
	"$gchintd" -c - --record "$d/folder" --keep 2 --sysfs "$d/none" --tracefs "$d/none"
ok "the directory keeps its content" test -e "$d/folder/mine"
ok "an option without its argument is reported" says 2 "gchintd: option '--record' requires an argument" \
	"$gchintd" --record
ln -s "$d/elsewhere.db" "$d/link.db"
ok "a dangling link is not used for a recording, exit 4" says 4 "link.db: exists" \
	"$gchintd" -c - --record "$d/link.db" --sysfs "$d/none" --tracefs "$d/none"
ok "nothing is created behind a dangling link" test ! -e "$d/elsewhere.db"
long=$d/$(printf '%0120d' 0)
"$gchintd" -q -c - --record "$d/l.db" --sysfs "$d/none" --tracefs "$d/none" --feed "$d/feed" \
	--annotations "$long" 2>"$d/long.log" &
pid=$!
daemons+=("$pid")
wait_for 10 grep -q "no annotations can be added" "$d/long.log"
ok "a socket path that is too long is reported" \
	grep -q "annotations: .*File name too long: no annotations can be added" "$d/long.log"
stop

# Reload: the new configuration, or none of it.
cat >"$d/live.conf" <<X
[hwmon]
period_ms = 20
X
start -c "$d/live.conf"
printf '[hwmon]\nperiod_ms = 10\nnonsense\n' >"$d/live.conf"
kill -HUP "$pid"
wait_for 5 grep -q "live.conf:3" "$d/log"
ok "a wrong reload is reported with file and line and changes nothing" \
	grep -qF "live.conf:3: 'nonsense': key = value is wanted; the old configuration stays" "$d/log"
printf '[hwmon]\nperiod_ms = 10\n[thermal]\nenabled = no\n' >"$d/live.conf"
kill -HUP "$pid"
wait_for 5 grep -q "config: reloaded" "$d/log"
stop
ok "the daemon survives both reloads" is 0 $?
ok "a reload takes effect" is "10000000 off" \
	"$(sql "select max(period_ns) from rails where source = 'hwmon'") $(sql "select state from sources where name = 'thermal'")"

# Notifications to the service manager at start, reload and end.
fresh manager
cat >"$d/hear.py" <<'X'
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
with open(sys.argv[2], "w", buffering=1) as out:
    said = b""
    while said != b"STOPPING=1":
        said = s.recv(4096)
        print(said.decode().replace("\n", " "), file=out)
X
timeout 300 python3 "$d/hear.py" "$d/notify" "$d/heard" &
job=$!
wait_for 10 test -S "$d/notify"
conf() { # KEYS of [record]
	printf '[record]\n%b[metrics]\ntextfile = %s\n' "$1" "$d/m.prom" >"$d/live.conf"
}
reload() { # N: the N-th
	kill -HUP "$pid"
	wait_for 10 bash -c "[ \$(grep -c 'config: reloaded' '$d/log') = $1 ]"
}
conf 'max_size = 64M\n'
NOTIFY_SOCKET=$d/notify start -c "$d/live.conf" --tracefs "$d/none"
reload 1
conf 'queue = 8192\n'
reload 2
conf 'queue = 8192\ndurable = no\n'
reload 3
stop
wait "$job"
running=$(sql "select count(*) from sources where state = 'running'")
ok "the service manager is notified of the reload" is \
	"STATUS=$running sources, recording to $d/r.db|READY=1|RELOADING=1 READY=1|RELOADING=1 READY=1|RELOADING=1 READY=1|STOPPING=1" \
	"$(sed 's/ MONOTONIC_USEC=[0-9]*$//' "$d/heard" | paste -sd'|' | sed 's/RELOADING=1|/RELOADING=1 /g')"
ok "settings that a reload cannot change are reported" is 2 \
	"$(grep -c 'config: \[record\] file, queue and durable change at the next start' "$d/log")"
ok "both reloads are noted in the recording" is "5 3|4 2" \
	"$(sql "select priority, count(*) from notes where source = 'config' group by 1 order by 1 desc" | tr '|' ' ' | paste -sd'|')"
