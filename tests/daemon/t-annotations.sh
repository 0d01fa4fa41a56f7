# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Annotations as any program may send them, and the command lines of programs.

fresh marks
# Process 1 of the feed: a program with a password among its arguments.
mkdir -p "$d/proc/1/task/1"
echo client >"$d/proc/1/task/1/comm"
printf 'client\0--password\0hunter2\0' >"$d/proc/1/cmdline"
printf 'Name:\tclient\nUid:\t7\t7\t7\t7\n' >"$d/proc/1/status"
chmod 755 "$work" "$d"
start --tracefs "$d/none" --procfs "$d/proc"
# Bound first, opened to the group then.
mode_is() { [ "$(stat -c %a "$d/annotations")" = "$1" ]; }
ok "the socket is accessible to its owner and group only" wait_for 10 mode_is 660
# shellcheck disable=SC2016 # Python's own
python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
for text in ("no instant", "5000000000 far back", "12th of a dozen", "x" * 400, "y" * 401, " "):
    s.sendto(text.encode(), sys.argv[1])' "$d/annotations"
feed --events 20 >/dev/null
wait_for 30 got "5 10" "select count(*) || ' ' || (select count(t1) from phases) from annotations"
ok "the daemon's time is the annotation's, whatever the text begins with" is "no instant|5000000000 far back|12th of a dozen 0" \
	"$(sql 'select text from annotations limit 3' | paste -sd'|') $(
		sql 'select count(*) from annotations where t < (select value from meta where key = "start_ns")')"
ok "an annotation has its sender's process and user" is "0 $(id -u)" \
	"$(sql 'select count(*) from annotations where pid is null or pid < 2') $(sql 'select distinct uid from annotations')"
ok "gchintctl refuses a text that is too long" bash -c \
	"'$ctl' annotations --add $(printf '%0401d' 0) --socket '$d/annotations' 2>&1 | grep -q 'over 400 bytes'"
if user_can_change; then
	# shellcheck disable=SC2016 # Python's own
	setpriv --reuid 65534 --regid 0 --clear-groups /usr/bin/python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
for n in range(2000):
    s.sendto(b"z" * 300, sys.argv[1])' "$d/annotations"
fi
stop
ok "one that is too long is counted as a drop" is 1 \
	"$(sql "select sum(count) from drops where source = 'annotations' and why like 'longer%'")"
ok "and reported once" is 1 "$(grep -c 'annotations: user .* sends too many, or longer ones' "$d/log")"
if user_can_change; then
	ok "another user's flood is limited, kept under his name, and counted" is "1|1" "$(sql "select count(*) between 100 and 1000,
		count(*) + (select sum(count) from drops where why like 'over 100 at once%') = 2000 from annotations where uid = 65534")"
else
	skip "another user's flood is limited" "needs root to be somebody else"
fi
ok "the arguments of a program are not recorded" is "client||7" "$(sql 'select comm, cmdline, uid from processes where tgid = 1 limit 1')"

mv "$d/r.db" "$d/first.db"
printf '[record]\narguments = yes\n' >"$d/conf"
start --tracefs "$d/none" --procfs "$d/proc" -c "$d/conf"
feed --events 20 >/dev/null
wait_for 30 got 10 "select count(t1) from phases"
stop
ok "unless the configuration says so" is "client --password hunter2" "$(sql 'select cmdline from processes where tgid = 1 limit 1')"
mv "$d/r.db" "$d/second.db"
start --tracefs "$d/none" --procfs "$d/proc" --command client
feed --events 20 >/dev/null
wait_for 30 got 10 "select count(t1) from phases"
stop
ok "or the command of the run is kept with its own" is "client --password hunter2" "$(sql 'select cmdline from processes where tgid = 1 limit 1')"
