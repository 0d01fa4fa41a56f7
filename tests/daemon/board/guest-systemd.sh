#!/bin/sh
# SPDX-License-Identifier: MIT
# In a Debian guest booted by systemd: sysusers, udev, the unit as installed, its
# watchdog, a crash, the journal. TAP on the second serial port, then power off.
set -u
exec >/dev/ttyS1 2>&1
n=0 failed=0
ok() {
	n=$((n + 1))
	name=$1
	shift
	if out=$("$@" 2>&1); then
		echo "ok $n daemon under systemd: $name"
	else
		echo "not ok $n daemon under systemd: $name"
		failed=1
		echo "$* => $out" | head -n 15 | sed 's/^/# /'
	fi
}
wait_for() { # SECONDS COMMAND...
	left=$(($1 * 2))
	shift
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.5
	done
}
pid() { systemctl show -P MainPID gchintd; }
# another PID than $1, ready
replaced() {
	p=$(pid)
	[ "$p" != "$1" ] && [ "$p" != 0 ] && systemctl is-active --quiet gchintd
}
phases_of() { sqlite3 "$1" 'select count(*) from phases'; }
sound() {
	for f in "$@"; do
		[ "$(sqlite3 "$f" 'pragma integrity_check')" = ok ] || return 1
	done
}
db=/var/lib/gchintd/gchintd.db
said() { journalctl -u gchintd -o cat --no-pager | grep -q "$1"; }

ok "sysusers made the group" getent group gchint
ok "and the recorder's, in which the daemon's user is" sh -c 'id -Gn gchintd | grep -qx gchint-record'
ok "modules-load loaded the module" test -c /dev/gchint
ok "udev gave the device to the group" sh -c 'stat -c "%a %G" /dev/gchint | grep -qx "660 gchint"'

systemctl start gchintd
[ -d /sys/kernel/tracing/instances ] || echo "# no tracefs"
# shellcheck disable=SC2012 # for people
ls -ld /sys/kernel/tracing /sys/kernel/tracing/instances/gchintd /sys/kernel/tracing/instances/gchintd/trace_* | sed 's/^/# /'
ok "the unit starts and says READY" systemctl is-active gchintd
ok "it runs as its own user" sh -c "ps -o user= -p $(pid) | grep -q gchintd || stat -c %U /proc/$(pid) | grep -qx gchintd"
ok "with two capabilities, out of effect while it runs" sh -c "grep -q '^CapPrm:.*0000000000001004\$' /proc/$(pid)/status && grep -q '^CapEff:.*0000000000000000\$' /proc/$(pid)/status"
ok "the module's events reach it" said 'genl: phases, decisions and leases'
ok "the tracepoint works in the sandbox" said 'trace: every change of frequency'
ok "the journal has our fields" sh -c 'journalctl GCHINT_SOURCE=genl -o json --no-pager | grep -q "\"SYSLOG_IDENTIFIER\":\"gchintd\""'
# await_phases N: until N phases are recorded; the test that follows reports a failure
await_phases() {
	for _ in $(seq 600); do
		[ "$(phases_of $db)" -lt "$1" ] || return 0
		sleep 0.2
	done
}
hint 5 20 >/dev/null
await_phases 10
ok "a member's phases are recorded" test "$(phases_of $db)" -eq 10
ok "root's sessions and policies in status" sh -c 'gchintctl status | grep -q "module    loaded"'
ok "annotations through the service's socket" gchintctl annotations --add "from the test"

# Two users: one gives hints, one reads the recording.
useradd -G gchint hinter
useradd -G gchint-record reader
as() { # USER COMMAND...
	who=$1
	shift
	setpriv --reuid "$who" --regid "$who" --init-groups "$@"
}
refused() { ! as "$@"; }
before=$(phases_of $db)
as hinter hint 5 20 >/dev/null
await_phases $((before + 10))
ok "a member of gchint gives hints, which are recorded" test "$(phases_of $db)" -eq $((before + 10))
ok "and reads no recording" refused hinter cat $db
ok "nor its log" refused hinter cat $db-wal
ok "nor puts annotations into it" refused hinter gchintctl annotations --add "from the hinter"
ok "a member of gchint-record reads it while it grows" as reader gchintctl summary $db
ok "and puts annotations into it" as reader gchintctl annotations --add "from the reader"
ok "and gives no hints" refused reader hint 1 1
ok "the recording is its owner's and its group's alone" sh -c "stat -c '%a %U %G' $db | grep -qx '640 gchintd gchint-record'"
ok "no metrics on loopback unless configured" bash -c '! exec 3<>/dev/tcp/127.0.0.1/9477'
install -m 640 -g gchint-record /dev/null /etc/gchint/token
echo 0123456789abcdef >/etc/gchint/token
sed -i 's|^#listen = .*|listen = 127.0.0.1:9477|; s|^#token_file =.*|token_file = /etc/gchint/token|' /etc/gchint/gchintd.conf
systemctl reload gchintd
metrics() { # USER [HEADER]: as that user
	# shellcheck disable=SC2016 # the inner shell's argument
	setpriv --reuid "$1" --regid "$(id -g "$1")" --clear-groups bash -c 'exec 3<>/dev/tcp/127.0.0.1/9477 &&
		printf "GET /metrics HTTP/1.1\r\nHost: localhost\r\n%sConnection: close\r\n\r\n" "$1" >&3 && cat <&3' - "${2-}"
}
token=$(printf 'Authorization: Bearer 0123456789abcdef\r\n.') token=${token%.}
sees() { metrics "$@" | grep -c '^gchint_phases_total'; }
served() { metrics nobody | grep -q '^gchint_'; }
ok "metrics on loopback, once configured" wait_for 20 served
ok "without phases for a user without the token" test "$(sees nobody)" -eq 0
ok "with them for one who has it" test "$(sees nobody "$token")" -gt 5
ok "HTTP is served by a process without capabilities" sh -c "grep -q '^CapPrm:.*0000000000000000\$' /proc/\$(cut -d' ' -f1 /proc/$(pid)/task/$(pid)/children)/status"
ok "top finds the service's recording" sh -c 'gchintctl top -n 1 | grep -q "gchint top"'

p=$(pid)
echo "[hwmon]
nonsense" >/etc/gchint/gchintd.conf.new
cp /etc/gchint/gchintd.conf /etc/gchint/gchintd.conf.good
cat /etc/gchint/gchintd.conf.new >>/etc/gchint/gchintd.conf
systemctl reload gchintd 2>/dev/null
sleep 1
ok "a wrong reload keeps the old configuration and says where" said "gchintd.conf:.*nonsense.*the old configuration stays"
ok "and the daemon" test "$(pid)" = "$p"
cp /etc/gchint/gchintd.conf.good /etc/gchint/gchintd.conf
systemctl reload gchintd 2>/dev/null
ok "a good reload is taken" wait_for 10 said 'config: reloaded'

kill -STOP "$p"
ok "the watchdog kills a hanging daemon and it is started again" wait_for 120 replaced "$p"
ok "systemd says so in the journal" sh -c 'journalctl -u gchintd --no-pager | grep -qi "watchdog timeout"'
p=$(pid)
kill -KILL "$p"
ok "a crashed daemon is started again" wait_for 60 replaced "$p"
ok "the recordings of before are kept and sound" sound $db.1 $db.2
ok "the phases are in the oldest" test "$(phases_of $db.2)" -eq 20
systemctl stop gchintd
ok "it stops in good order" test "$(systemctl show -P Result gchintd)" = success
ok "and leaves no trace instance" sh -c '! test -d /sys/kernel/tracing/instances/gchintd'
ok "security exposure at 2.5 or better" sh -c 'systemd-analyze security gchintd --threshold=25 >/dev/null'
echo "1..$n"
[ "$failed" = 0 ] || journalctl -u gchintd --no-pager | sed 's/^/# /'
systemctl poweroff --force --force
