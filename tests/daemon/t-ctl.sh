# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# gchintctl, and the daemon's metrics.

fresh ctl
mkdir "$d/out"
port=$(free_port)
(umask 077 && echo 0123456789abcdef >"$d/token")
cat >"$d/conf" <<X
[metrics]
listen = 127.0.0.1:$port
token_file = $d/token
textfile = $d/out/gchint.prom
period_s = 1
X
umask 027
start -c "$d/conf" --label gchint -p 5
umask 022
feed --mix 6 --gchint --sysfs "$d/sys" --freq "$d/trace/instances/gchintd/trace_pipe" >/dev/null &
job=$!
get() { # PATH [HEADER]
	exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
	printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer 0123456789abcdef\r\n%sConnection: close\r\n\r\n' "$1" "${2:+$2$'\r\n'}" >&3
	timeout 250 cat <&3
	exec 3>&-
}
has_all() {
	get /metrics >"$d/http" && grep -q '^gchint_rail_watts{rail="adm1272-0-0060:power1"' "$d/http" &&
		grep -qE '^gchint_phases_total\{(service="[^"]*",)?phase="remark"} [1-9]' "$d/http"
}
# First, during a recording: it shows the last seconds.
top_draws() {
	"$ctl" top -n 1 "$d/r.db" >"$d/top" && grep -qE '^cpu0 ' "$d/top" && grep -q pin "$d/top"
}
ok "top draws a live recording in plain text" wait_for 10 top_draws
ok "top fits 80 columns" test "$(wc -L <"$d/top")" -le 80
wait_for 30 has_all
get /metrics >"$d/http"
ok "HTTP serves OpenMetrics that ends with EOF" bash -c \
	"grep -q 'application/openmetrics-text' '$d/http' && [ \"\$(tail -n 1 '$d/http')\" = '# EOF' ]"
get /metrics 'Accept: text/plain' >"$d/plain"
ok "a client that accepts nothing else gets the Prometheus format" is "1 0" \
	"$(grep -c 'text/plain; version=0.0.4' "$d/plain") $(grep -c -e openmetrics -e '^# EOF' -e '^# UNIT' "$d/plain")"
get /metrics 'Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5' >"$d/both"
ok "a client that accepts both gets OpenMetrics" grep -q 'application/openmetrics-text' "$d/both"
ok "the metrics have the rail's power" grep -qE '^gchint_rail_watts\{rail="adm1272-0-0060:power1",label="pin"\} [0-9.]+' "$d/http"
ok "an unknown path is answered with 404" bash -c "$(declare -f get); port=$port; get /x | grep -q ' 404 '"
wait "$job"
wait_for 30 got 0 'select count(*) from phases where t1 is null'
paused() { # as many by HTTP as in the recording, to which some may be on their way
	get /metrics >"$d/paused"
	[ "$(sed -nE 's/^gchint_pause_seconds_count(\{[^}]*})? //p' "$d/paused" | tr -d '\r')" = "$(sql 'select count(*) from pauses')" ]
}
ok "HTTP has the pauses of the recording" wait_for 30 paused
ok "their total, too" is 1 "$(sql "select abs(sum(ns) / 1e9 - $(sed -nE 's/^gchint_pause_seconds_sum(\{[^}]*})? //p' "$d/paused" | tr -d '\r')) < 1e-6 from pauses")"
stop
ok "the text file has the names that node_exporter reads, without type info" is "1 0" \
	"$(grep -c '^# TYPE gchint_phases_total counter' "$d/out/gchint.prom") $(grep -cE '^# (TYPE .* info|UNIT|EOF)' "$d/out/gchint.prom")"
ok "the text file is for the group of the recordings, whatever the umask" is 640 "$(stat -c %a "$d/out/gchint.prom")"
ok "no temporary file is left next to the text file" is gchint.prom "$(ls "$d/out")"

phases=$(sql 'select count(*) from phases')
ok "CSV has a header and one row per phase" is $((phases + 1)) "$("$ctl" export "$d/r.db" --format csv | wc -l)"
ok "an unknown table exits with 2" bash -c "'$ctl' export '$d/r.db' --format csv --table x; [ \$? = 2 ]"
cat >"$d/check.py" <<'X'
# SPDX-License-Identifier: MIT
import json
import sys

kind, path, want = sys.argv[1:4]
if kind == "lines":
    rows = [json.loads(line) for line in open(path)]
    got = sum(r["table"] == "phases" for r in rows)
elif kind == "trace":
    events = json.load(open(path))["traceEvents"]
    got = sum(e["ph"] == "X" for e in events)
    # Perfetto names a counter's track "name key".
    counters = {e["name"] + " " + k for e in events if e["ph"] == "C" for k in e["args"]}
    assert "cpu0 MHz" in counters, counters
    assert any("pin) W" in c for c in counters), counters
    slices, last = {}, {}
    # Decisions are distinguished by their policies.
    named = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    decided = {named.get((e["pid"], e["tid"])) for e in events if e["ph"] == "i" and e["s"] == "t"}
    assert decided == {"policy0", "policy1"}, decided
    for e in events:
        # What its importer silently drops: times that are no numbers, ids beyond 32 bits, instants
        # of unknown scope, counters that are no numbers.
        assert 0 <= e["pid"] < 2**32 and 0 <= e.get("tid", 0) < 2**32, e
        assert e["ph"] in "MXCi", e
        if e["ph"] == "M":
            assert e["name"] in ("process_name", "thread_name") and e["args"]["name"], e
            continue
        assert isinstance(e["ts"], float) and e["ts"] > 0, e
        if e["ph"] == "X":
            assert isinstance(e["dur"], float) and e["dur"] >= 0 and e["name"], e
            slices.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["dur"]))
        elif e["ph"] == "C":
            assert all(isinstance(v, (int, float)) for v in e["args"].values()), e
            track = (e["pid"], e["name"])
            assert e["ts"] >= last.get(track, 0), e
            last[track] = e["ts"]
        else:
            assert e["s"] in ("g", "p", "t"), e
    # Also slices of a thread that neither follow one another nor nest; 1 ns of rounding.
    for spans in slices.values():
        ends = []
        for ts, dur in sorted(spans, key=lambda s: (s[0], -s[1])):
            while ends and ends[-1] <= ts + 0.002:
                ends.pop()
            assert not ends or ts + dur <= ends[-1] + 0.002, (ts, dur, ends)
            ends.append(ts + dur)
else:
    json.load(open(path))
    got = want
assert str(got) == want, (got, want)
X
"$ctl" export "$d/r.db" --format jsonl -o "$d/r.jsonl"
ok "each line of JSONL is JSON" python3 "$d/check.py" lines "$d/r.jsonl" "$phases"
"$ctl" export "$d/r.db" --format chrome-trace -o "$d/r.json"
ok "the Chrome trace has a slice per phase, and tracks of frequency and rails" \
	python3 "$d/check.py" trace "$d/r.json" "$phases"
ok "OpenMetrics of a recording counts its phases" is "$(sql 'select count(t1) from phases where phase = 4')" \
	"$("$ctl" export "$d/r.db" --format openmetrics | sed -n 's/^gchint_phases_total{phase="mark"} //p')"
# By the parser of Prometheus' own client: Debian's Python package, where installed.
cat >"$d/openmetrics.py" <<'X'
# SPDX-License-Identifier: MIT
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

for path in sys.argv[1:]:
    families = {f.name: f for f in text_string_to_metric_families(open(path).read())}
    assert len(families["gchint_phases"].samples) > 5, path
    assert any(s.labels["label"] == "pin" for s in families["gchint_rail_watts"].samples), path
    assert families["gchint_rail_joules"].type == "counter", path
    assert families["gchint_build"].samples[0].labels["version"], path
    lengths = families["gchint_phase_length_seconds"]
    assert lengths.type == "histogram", path
    count = {s.labels["phase"]: s.value for s in families["gchint_phases"].samples}
    pauses = [s for s in lengths.samples if s.labels["phase"] == "remark" and s.labels["waits"] == "all"]
    inf = [s.value for s in pauses if s.labels.get("le") == "+Inf"]
    assert inf == [count["remark"]] and count["remark"] > 0, (path, inf, count)
    assert not any(s.labels["waits"] == "all" for s in lengths.samples if s.labels["phase"] == "mark"), path
X
"$ctl" export "$d/r.db" --format openmetrics -o "$d/r.om"
sed '1,/^\r$/d' "$d/http" >"$d/http.om"
ok "the histogram of lengths matches the phases" is "$(sql "select group_concat((select count(*) from phases where phase = 5
	and t1 - t0 <= le), ' ') from (select 1000000 as le union all select 5000000 union all select 25000000 union all select 100000000)")" \
	"$(for le in 0.001 0.005 0.025 0.1; do sed -n "s/^gchint_phase_length_seconds_bucket{phase=\"remark\",waits=\"all\",le=\"$le\"} //p" "$d/r.om"; done | paste -sd' ')"
if /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null; then
	ok "Prometheus' parser accepts endpoint and export" \
		/usr/bin/python3 "$d/openmetrics.py" "$d/http.om" "$d/r.om"
else
	skip "Prometheus' parser accepts endpoint and export" \
		"no python3-prometheus-client: packaging/need unit"
fi
sed '1,/^\r$/d' "$d/plain" >"$d/http.prom"
"$ctl" export "$d/r.db" --format prometheus -o "$d/r.prom"
for f in http.prom out/gchint.prom r.prom; do
	if command -v promtool >/dev/null; then
		ok "promtool accepts $f" is "" "$(promtool check metrics <"$d/$f" 2>&1 || echo "exit $?")"
	else
		skip "promtool accepts $f" "no promtool: packaging/need unit"
	fi
done
for c in "summary $d/r.db" "annotations $d/r.db" "top -n 1 $d/r.db"; do
	# shellcheck disable=SC2086 # command and arguments
	"$ctl" --json $c >"$d/json"
	ok "--json ${c%% *} is JSON" python3 "$d/check.py" json "$d/json" 0
done
GCHINT_SYSFS=$d/sys "$ctl" --json status >"$d/json"
ok "--json status is JSON" python3 "$d/check.py" json "$d/json" 0
GCHINT_SYSFS=$d/sys "$ctl" status >"$d/status"
ok "status shows the policy, its governor, the rails and remedies" bash -c \
	"grep -q 'governor schedutil' '$d/status' && grep -q 'channels on 2 chips' '$d/status' && grep -q fix: '$d/status'"
ok "the summary separates measured from modelled energy" bash -c \
	"'$ctl' summary '$d/r.db' | grep -q 'measured by hwmon' && '$ctl' summary '$d/r.db' | grep -q 'modelled from OPP table energy_model'"

# Unknown is never 0.
fresh unknown
rm -r "$d/sys/devices/system/cpu/cpufreq" "$d/sys/class/powercap" "$d/sys/bus"
: >"$d/sys/class/hwmon/hwmon0/power1_input"
start --tracefs "$d/none"
feed --events 10 >/dev/null
wait_for 30 got 5 'select count(t1) from phases'
wait_for 30 got 1 "select count(*) > 0 from sample_list where name like '%:power1' and value is null"
stop
"$ctl" summary "$d/r.db" >"$d/summary"
ok "an unknown frequency is shown as ?, not 0" bash -c "grep -E '^mark, concurrent' '$d/summary' | grep -qE ' \?\$'"
ok "a rail that cannot be read has no energy and ? for its value" bash -c \
	"! grep -q 'ENERGY.*power1' '$d/summary' && grep -E 'power1 ' '$d/summary' | grep -q '?'"
ok "a rail that cannot be read is not in the metrics" bash -c \
	"! '$ctl' export '$d/r.db' --format openmetrics | grep -q 'power1'"

# record -- COMMAND
fresh child
rec() { "$ctl" record -q -o "$d/$1.db" --gchintd "$gchintd" --option -c --option - --option --sysfs --option "$d/sys" -- "${@:2}"; }
rec a sh -c 'exit 7'
ok "record returns the command's exit status" is 7 $?
rec b sh -c 'kill -TERM $$'
ok "record returns 128 + the signal's number" is 143 $?
rec c "$d/none" 2>/dev/null
ok "record of a missing command returns 127" is 127 $?
# shellcheck disable=SC2016 # expanded by the command
rec m sh -c '"$0" annotations --add inside' "$ctl"
ok "annotations are recorded before, during and after the command" is "start: sh,inside,end: sh: 0" \
	"$(sqlite3 "$d/m.db" "select group_concat(text) from annotations")"
"$ctl" record -q -C -o "$d/cost.db" --gchintd "$gchintd" --option -c --option - --option --sysfs --option "$d/sys" -- true 2>"$d/err"
ok "record -C prints the cost in the words of summary" is \
	"gchintctl: recording took $("$ctl" summary "$d/cost.db" | sed -n 's/^COST  gchintd took //p')" "$(grep -v 'no hints' "$d/err")"
rec a true 2>"$d/err"
ok "an existing recording is kept, and another one made" is "0 1 1" \
	"$? $(grep -c 'exists and is kept' "$d/err") $(sqlite3 "$d/a-2.db" "select count(*) from meta where key = 'schema'")"

# Mistakes.
echo "not a database" >"$d/junk"
ok "a file that is no recording exits with 3" bash -c "'$ctl' summary '$d/junk'; [ \$? = 3 ]"
sqlite3 "$d/other.db" 'create table t(x)'
ok "another program's database exits with 3 and a clear message" bash -c \
	"'$ctl' summary '$d/other.db' 2>&1 | grep -q 'not a recording of gchintd'"
sqlite3 "$d/a.db" 'pragma user_version = 99'
ok "a newer schema is refused with its version" bash -c "'$ctl' summary '$d/a.db' 2>&1 | grep -q 'schema version 99'"
ok "an unknown command exits with 2" bash -c "'$ctl' frobnicate; [ \$? = 2 ]"
for c in $("$ctl" --help | sed -n '/^  gchintctl /d; s/^  \([a-z][a-z]*\) .*/\1/p' | grep -vx help); do
	ok "$c --help shows the usage" bash -c "'$ctl' $c --help | grep -q '^usage: gchintctl.* $c'"
done

for c in "export --nonsense" "annotations --nonsense" "record --nonsense" "report --nonsense" "runtimes --nonsense" "top --nonsense"; do
	# shellcheck disable=SC2086 # command and option
	ok "a wrong option of ${c%% *} is reported with that command and a remedy" bash -c \
		"'$ctl' $c 2>&1 | paste -sd' ' | grep -q \"^gchintctl: ${c%% *}: .*--nonsense.* gchintctl: ${c%% *}: see gchintctl ${c%% *} --help\""
done
ok "top -n takes only a number" bash -c "'$ctl' top -n x '$d/a.db' 2>&1 | grep -q -- '-n takes a number from 1, not x'"

# The report.
db=$work/ctl/r.db
cp "$db" "$d/second.db"
"$ctl" report "$db" "$d/second.db" -o "$d/report.html" 2>"$d/err"
ok "report writes one page" is 0 $?
ok "the page loads nothing from the network" bash -c \
	"! grep -qE '(src|href)=\"(https?:|//|/)' '$d/report.html' && ! grep -qE '<script[^>]* src' '$d/report.html'"
ok "the page has plots, phases, energy and a comparison" bash -c \
	"grep -q '\"rails\": *\[.*name' <(tr -d '\\n' <'$d/report.html') && grep -q 'Energy while phases were open' '$d/report.html' && grep -q 'Side by side' '$d/report.html'"
sqlite3 "$d/second.db" "delete from samples where t > (select min(t) + 300000000 from samples)"
"$ctl" report "$d/second.db" "$work/unknown/r.db" -o "$d/few.html" 2>"$d/err"
ok "a report without rails, or of rails that vanished, is drawn" bash -c \
	"! grep -v ': wrote ' '$d/err'"
sqlite3 "$d/second.db" "update meta set value = '<b>\"''\`touch $d/owned\`''' where key = 'schema'; update rails set label = '\`touch $d/owned\`''\"'"
"$ctl" report "$d/second.db" -o "$d/evil.html" 2>"$d/err"
ok "a label is escaped in plots and pages" bash -c \
	"[ ! -e '$d/owned' ] && ! grep -q '<b>\"' '$d/evil.html'"
unset db

# The service manager's protocol.
fresh notify
cat >"$d/manager.py" <<'X'
# SPDX-License-Identifier: MIT
import os
import signal
import socket
import subprocess
import sys
import time

s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(250)
env = dict(os.environ, NOTIFY_SOCKET=sys.argv[1])
p = subprocess.Popen(["sh", "-c", 'WATCHDOG_PID=$$ WATCHDOG_USEC=200000 exec "$@"', "sh"] + sys.argv[2:],
                     env=env, stderr=subprocess.DEVNULL)
seen = []
end = time.time() + 60
while time.time() < end and sum("WATCHDOG=1" in m for m in seen) < 3:
    seen.append(s.recv(512).decode())
p.send_signal(signal.SIGHUP)
while time.time() < end and not any("RELOADING=1" in m for m in seen):
    seen.append(s.recv(512).decode())
p.send_signal(signal.SIGTERM)
while time.time() < end and not any("STOPPING=1" in m for m in seen):
    seen.append(s.recv(512).decode())
p.wait()
print(*(w for w in ("READY=1", "WATCHDOG=1", "RELOADING=1", "STOPPING=1") if any(w in m for m in seen)))
X
ok "READY, WATCHDOG, RELOADING and STOPPING are sent" is "READY=1 WATCHDOG=1 RELOADING=1 STOPPING=1" \
	"$(python3 "$d/manager.py" "$d/notify" "$gchintd" -q -c - --record "$d/r.db" --sysfs "$d/sys" --tracefs "$d/none" --feed "$d/feed")"

# top on a terminal: an alternate screen, q quits, screen and keys are restored.
cat >"$d/terminal.py" <<'X'
# SPDX-License-Identifier: MIT
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

ready, go = os.pipe()
pid, fd = pty.fork()
if pid == 0:
    os.read(ready, 1)
    os.execve(sys.argv[1], sys.argv[1:], dict(os.environ, TERM="xterm"))
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
before = termios.tcgetattr(fd)
os.write(go, b"x")
out = b""
# Keys to press once the page shows this.
keys = [(b"RAIL", b"s"), (b"share", b"h"), (b"KEYS", b"h"), (b"RAIL", b"resize"), (b"gchint top", b"q")]
seen = 0
end = time.time() + 60
while time.time() < end:
    if select.select([fd], [], [], 0.1)[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        out += data
    if keys and keys[0][0] in out[seen:]:
        seen = len(out)
        key = keys.pop(0)[1]
        if key == b"resize":
            fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 60, 0, 0))
        else:
            os.write(fd, key)
    if not keys and b"\x1b[?1049l" in out:
        break
# The screen is restored before the keys: only the end has both.
_, status = os.waitpid(pid, 0)
after = termios.tcgetattr(fd)
page = out.split(b"\x1b[?1049h", 1)[1].split(b"\x1b[?1049l", 1)[0]
rows = [int(r) for r in re.findall(rb"\x1b\[(\d+)[;d]", page)]
print("status", status, "page", b"\x1b[?1049l" in out, "keys", before[3] == after[3], len(keys),
      "fits", max(rows) <= 24)
X
ok "top on an 80x24 terminal fits, quits on q and restores screen and keys" \
	is "status 0 page True keys True 0 fits True" \
	"$(python3 "$d/terminal.py" "$ctl" top "$work/ctl/r.db")"
# The recorder must not wake what it measures: it only waits for exits.
fresh quiet
"$ctl" record -q -o "$d/q.db" --gchintd "$gchintd" --option -c --option - --option --sysfs --option "$d/sys" -- \
	sh -c 'before=$(awk "/^voluntary/ { print \$2 }" /proc/$PPID/status); sleep 2
		echo $(($(awk "/^voluntary/ { print \$2 }" /proc/$PPID/status) - before))' >"$d/woken"
ok "gchintctl record sleeps while the command runs ($(cat "$d/woken") wake-ups in 2 s)" test "$(cat "$d/woken")" -le 5
"$ctl" record -q -o "$d/t.db" --gchintd "$gchintd" --option -c --option - -- sleep 60 &
job=$!
wait_for 10 pgrep -P $job -x sleep
kill -TERM $job
wait $job
ok "gchintctl record passes SIGTERM on" is 143 $?
