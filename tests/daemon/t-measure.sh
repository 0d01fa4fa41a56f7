# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Repeated runs of a command, alone and against a baseline: figures, verdicts, exit status. Work is
# counted, energy is that of a counter that the command itself moves: no verdict depends on how
# fast the machine is.

mkdir -p "$work/measure/none"
d=$work/measure
cat >"$d/work" <<'X2'
#!/usr/bin/python3
# work N: N thousand rounds of a loop
import sys
for _ in range(1000 * int(sys.argv[1])):
    pass
X2
cat >"$d/turns" <<'X2'
#!/usr/bin/python3
# turns FILE: little work and a lot in turns; FILE has a line for each turn
import sys
with open(sys.argv[1], "a+") as f:
    f.seek(0)
    turns = len(f.readlines())
    f.write("\n")
for _ in range(10000000 if turns % 2 else 100):
    pass
X2
cat >"$d/draw" <<'X2'
#!/usr/bin/python3
# draw COUNTER UJ: adds so much to the counter, in the middle third of a time with many readings, so
# that late readings do not split it
import os
import sys
import time
f = os.open(sys.argv[1], os.O_RDWR)
for step in range(90):
    time.sleep(0.01)
    if 30 <= step < 60:
        os.pwrite(f, b"%d" % (int(os.pread(f, 32, 0)) + int(sys.argv[2]) // 30), 0)
X2
cat >"$d/add" <<'X2'
#!/bin/sh
# add COUNTER UJ: adds so much to the counter at once
echo $(($(cat "$1") + $2)) >"$1"
X2
cat >"$d/orphan" <<'X2'
#!/usr/bin/python3
# orphan zombie N: leaves a process behind that worked, and has ended; orphan running: one that has not
import os
import sys
r, w = os.pipe()
child = os.fork()
if not child:
    if not os.fork():
        os.write(w, b"%d" % os.getpid())
        if sys.argv[1] == "running":
            os.close(w)
            os.execlp("sleep", "sleep", "1000")
        for _ in range(1000 * int(sys.argv[2])):
            pass
    os._exit(0)
os.waitpid(child, 0)
pid = int(os.read(r, 32))
if sys.argv[1] == "running":
    print(pid, file=open(sys.argv[2], "a"))
else:
    # It stays a zombie, unless it has been waited for already.
    try:
        while open(f"/proc/{pid}/stat").read().split()[2] != "Z":
            pass
    except (FileNotFoundError, ProcessLookupError):
        pass
X2
cat >"$d/get" <<'X2'
# get FILE EXPRESSION: of the JSON j; f(NAME) is a figure
import json
import sys
j = json.load(open(sys.argv[1]))
def f(name):
    x = next(x for x in j["figures"] if x["figure"].startswith(name))
    return {c["label"]: c for c in x["commands"]} | x["commands"][-1].get("difference", {})
print(*eval(f"({sys.argv[2]},)"))
X2
chmod 755 "$d/work" "$d/turns" "$d/draw" "$d/add" "$d/orphan"
get() { # EXPRESSION
	python3 "$d/get" "$d/json" "$1"
}
measure() { # OPTION...: its status; the output is in $d/out, the messages are in $d/err
	local status=0
	"$ctl" measure "$@" >"$d/out" 2>"$d/err" || status=$?
	echo "$status"
}
measured() { # OPTION...: the same with JSON
	local status
	status=$(measure --json "$@")
	cp "$d/out" "$d/json"
	echo "$status"
}
said() { # WANT PATTERN: how many lines of output and messages have the pattern
	is "$1" "$(cat "$d/out" "$d/err" | grep -cE -- "$2")"
}

# CPU time, without a rail.
export GCHINT_SYSFS=$d/none
ok "four times the work exceeds a limit, exit 1" is 1 \
	"$(measured -n 4 -w 0 -f cpu=50 -b "$d/work 1000" -- "$d/work" 4000)"
ok "the limit is reported with the figure" said 1 \
	'^gchintctl: CPU time: .*(more|as much).*: the limit of --fail-above is 50 % more$'
ok "its CPU time is larger, not by chance" is "True True [4, 4]" \
	"$(get 'f("CPU")["significant"], f("CPU")["low"] > 0, f("CPU")["runs"]')"
ok "the same work exceeds no limit of 50 %" is 0 "$(measured -n 4 -w 0 -f cpu=50 -b "$d/work 1000" -- "$d/work" 1000)"
inconclusive() { # WHY: how many lines say that the CPU time is not known to be within 10 %
	grep -cE "^gchintctl: CPU time: inconclusive: the limit of --fail-above is 10 % more, and $1" "$d/err"
}
ok "a limit that runs cannot show is said to be inconclusive, with what they lack" is "0 1" \
	"$(measure -n 1 -w 0 -f cpu=10 -b "$d/work 1" -- "$d/work" 1) $(inconclusive 'a single run shows no difference$')"
ok "--conclusive makes it a failure, exit 6" is "6 1" \
	"$(measure -n 1 -w 0 -f cpu=10 --conclusive -b "$d/work 1" -- "$d/work" 1) $(inconclusive '')"
ok "with --conclusive a limit that is shown to be kept is no failure" is "0 0" \
	"$(measure -n 4 -w 0 -f cpu=10 --conclusive -b "$d/work 4000" -- "$d/work" 1) $(inconclusive '')"
# The first run of the baseline takes far more than the second: little is shown by two such.
ok "the difference that is ruled out is named, and how many runs would do" is "6 1" \
	"$(echo >"$d/turn"; measure -n 2 -w 0 -f cpu=10 --conclusive -b "$d/turns $d/turn" -- "$d/work" 1000) $(inconclusive \
		'2 runs of each (only rule out more than [0-9.]+ %|do not even rule out ten times as much); 200 runs of each would not show 10 %: let each do more work$')"
ok "JSON has each run, the mean with its interval, the verdict" is "4 True True True" "$(get \
	'len(f("CPU")["command"]["values"]), all(v > 0 for v in f("CPU")["command"]["values"]),
	f("dur")["command"]["mean_low"] <= f("dur")["command"]["mean"] <= f("dur")["command"]["mean_high"],
	bool(f("CPU")["verdict"])')"
ok "JSON says what was measured" is "$d/work 1000 $d/work 1000 4 0 0 None" \
	"$(get '*j["commands"], *(j[k] for k in ("runs", "warmup", "failed_runs", "idle_s"))')"
ok "without a rail energy is unknown, with the reason" is "True None" "$(get \
	'"no rail of this machine" in j["no_energy"], next((x for x in j["figures"] if x["figure"].startswith("energy")), None)')"
ok "a limit of an unknown energy is reported, exit 5" is "5 1" "$(measure -n 2 -w 0 -f energy=5 -b true -- true) $(
	grep -c '^gchintctl: --fail-above energy=5: no run has such a figure: no rail of this machine' "$d/err")"
ok "without a rail a command is measured" is 0 "$(measure -n 2 -w 0 -- "$d/work" 1)"
ok "the text says that energy and pauses are unknown, and why" said 2 \
	'^(energy: unknown: no rail of this machine .*gchintctl status|pauses: unknown: .*gchintctl run)'
ok "the text has duration and CPU time with their intervals" said 2 '^(duration|CPU time), s  +[0-9.]+ \([-0-9.]+ to [0-9.]+\)( +[0-9.]+){3}$'
ok "one command gets the number of runs that a comparison needs" said 1 \
	'^runs of this command and of another that would show a difference of 5 %: duration [0-9a-z ]+, CPU time [0-9a-z ]+(, peak memory [0-9a-z ]+)?$'
ok "nothing is printed on the way without a terminal" said 0 'run [0-9]+ of|recorded'
python3 -c 'import os, pty, sys
pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 65536))' "$ctl" measure -n 2 -b true -- true </dev/null >"$d/terminal" 2>&1
ok "on a terminal each run is shown with the time that is left" is "1 1 1" "$(tr '\r' '\n' <"$d/terminal" |
	awk '/^run 1 of 6: warming up *$/ { a++ } /^run 3 of 6: baseline, about [0-9]+ s left *$/ { b++ }
		/^run 6 of 6: baseline, about/ { c++ } END { print a, b, c }')"
measured -n 2 -w 0 -b "$d/orphan zombie 1" -- "$d/orphan" zombie 2000 >"$d/status"
ok "CPU time of orphans is counted" is "0 True 0" \
	"$(cat "$d/status") $(get 'min(f("CPU")["command"]["values"]) > max(f("CPU")["baseline"]["values"]) * 1.2, j["runs_that_left_processes"]')"
ok "processes that a run leaves behind are reported" is "0 1" "$(measure -n 2 -w 0 -- "$d/orphan" running "$d/left") $(
	grep -c '^CPU time: 2 runs left processes behind' "$d/out")"
while read -r pid; do kill "$pid"; done <"$d/left"

# Commands that fail, and mistakes.
ok "a failing command ends the measurement, exit 5" is "5 1" "$(measure -n 2 -w 0 -- sh -c 'exit 3') $(
	grep -c "^gchintctl: measure: run 1 of 2, command 'sh -c 'exit 3'': exit status 3; --show-output" "$d/err")"
ok "a failing baseline is named" is "5 1" "$(measure -n 2 -b false -- true) $(
	grep -c "^gchintctl: measure: run 1 of 6, baseline 'false': exit status 1" "$d/err")"
ok "--ignore-failure measures it, and says so" is "0 1" "$(measure -i -n 2 -w 1 -- false) $(
	grep -c '^2 runs exited with an error' "$d/out")"
ok "a missing program is reported before any run, exit 5" is "5 gchintctl: measure: $d/absent: no such program" \
	"$(measure -b true -- "$d/absent") $(cat "$d/err")"
ok "too many runs are refused, exit 2" is "2 gchintctl: measure: --runs takes a number from 1 to 200, not 201" \
	"$(measure -n 201 -- true) $(cat "$d/err")"
ok "a limit needs a baseline, exit 2" is "2 1" "$(measure -f 5 -- true) $(grep -c 'add --baseline COMMAND' "$d/err")"
ok "a limit of an unknown figure is refused, exit 2" is "2 1" "$(measure -b true -f speed=5 -- true) $(
	grep -c 'one of energy, time, cpu, gc-cpu and pause' "$d/err")"
ok "--conclusive needs a limit, exit 2" is "2 1" "$(measure -b true --conclusive -- true) $(grep -c 'add --fail-above PCT' "$d/err")"
ok "a baseline that needs a shell is refused, exit 2" is "2 gchintctl: measure: --baseline 'a | b': it needs a shell: sh -c '...'" \
	"$(measure -b 'a | b' -- true) $(cat "$d/err")"
ok "no command is refused, exit 2" is "2 1" "$(measure -b true) $(grep -c 'no command given' "$d/err")"
ok "a gchintd that is not there is reported, exit 4" is 4 "$(measure -n 2 -w 0 --gchintd "$d/absent" -- true)"

# What runs, and in which order.
log=$d/log
echo "echo A >>'$log'" >"$d/a"
echo "echo B >>'$log'" >"$d/b"
echo "echo p >>'$log'" >"$d/p"
measure -n 3 -w 1 --prepare "sh $d/p" -b "sh '$d/a'" -- sh "$d/b" >"$d/status"
ok "runs alternate as ABBA, after those to warm up, each prepared" is "0 pApBpApBpBpApApB" "$(cat "$d/status") $(paste -sd' ' "$log" | tr -d ' ')"
ok "the output of commands is dropped" is "0 0 0" \
	"$(measure -n 2 -w 0 -- echo hello) $(grep -c '^hello' "$d/out") $(grep -c hello "$d/err")"
measure -n 2 -w 0 --show-output -- echo hello >"$d/status"
ok "--show-output lets commands print on standard error" is "0 2 0" \
	"$(cat "$d/status") $(grep -c hello "$d/err") $(grep -c '^hello' "$d/out")"
ok "--output keeps a recording of each run, labelled" is "0 baseline command command baseline" \
	"$(measure -n 2 -w 0 -o "$d/kept" -b true -- true) $(for f in "$d"/kept/00?-*.db; do
		sqlite3 -readonly "$f" "select value from meta where key = 'label'"
	done | paste -sd' ')"
ok "compare reads them" is "command (2) against baseline (2), medians" "$("$ctl" compare "$d"/kept/*.db | head -n 1)"
ok "--output keeps what is there, exit 3" is "3 1" "$(measure -n 2 -o "$d/kept" -- true) $(
	grep -c 'File exists; name a new directory' "$d/err")"
ok "otherwise nothing is left" is "" "$(ls -A "$TMPDIR")"

# Several commands, hooks, a parameter, files.
rm -f "$log"
for word in setup conclude cleanup; do echo "echo ${word%"${word#?}"}\$1 >>'$log'" >"$d/hook-$word"; done
echo "echo \$1 >>'$log'" >"$d/one"
measure -n 2 -w 0 -L letter A,B,C --setup "sh $d/hook-setup {letter}" --conclude "sh $d/hook-conclude" \
	--cleanup "sh '$d/hook-cleanup' {letter}" --export-json "$d/json" --export-csv "$d/csv" --export-markdown "$d/md" \
	"sh '$d/one' {letter}" >"$d/status"
ok "a parameter makes a command of each value; setup, conclude and cleanup run in their places" is \
	"0 sA sB sC A c B c C c C c B c A c cA cB cC" "$(cat "$d/status") $(paste -sd' ' "$log")"
ok "the JSON file has the values and the parameter" is "[2, 2, 2] ['A', 'B', 'C'] letter" "$(get \
	'[len(c["values"]) for c in j["figures"][0]["commands"]], [c["letter"] for c in j["figures"][0]["commands"]], j["parameter"]')"
ok "the CSV file has a line for each run" is "2 2 2" "$(python3 -c '
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["figure"] == "duration"]
print(*(sum(float(r["value"]) > 0 and r["letter"] == x for r in rows) for x in "ABC"))' "$d/csv")"
ok "the Markdown file has a table for each figure, a row for each command" is "1 3" "$(grep -c '^| command | duration, s, mean' "$d/md") $(
	sed -n '/duration/,/^$/p' "$d/md" | grep -c "^| \`sh .*/one [ABC]\` | [0-9.]* |")"
ok "a file that cannot be written is reported, exit 3" is "3 1" "$(measure -n 1 -w 0 --export-csv "$d/no/csv" -- true) $(
	grep -c '^gchintctl: measure: .*/no/csv: No such file' "$d/err")"
ok "quoted commands are compared with the first" is "0 $d/work 1;$d/work 2;$d/work 3 3 2" "$(measured -n 2 -w 0 "$d/work 1" "$d/work 2" \
	"$d/work 3") $(get '";".join(j["commands"]), len(j["figures"][0]["commands"]), sum("difference" in c for c in j["figures"][0]["commands"])')"
measure -n 3 -w 0 'sleep 0.05' 'sleep 0.5' >"$d/status"
ok "how many times as fast one is stands before the figures" said 1 \
	'^1: sleep 0.05 ran [0-9]+\.[0-9]+ times as fast as 2: sleep 0.5 \([0-9.]+ to [0-9.]+\)$'
ok "a command that is not quoted is explained, exit 5" is "5 1" "$(measure sleep 1) $(
	grep -c '1: no such program; each argument is a command: quote it .* after --$' "$d/err")"
ok "a parameter that no command has is refused, exit 2" is "2 1" "$(measure -L x 1,2 -- true) $(grep -c 'no command has the parameter {x}' "$d/err")"
ok "a scan without a way is refused, exit 2" is "2 1" "$(measure -P x 1 4 -D -1 'sleep {x}') $(grep -c 'the step does not lead' "$d/err")"
ok "too many commands are refused, exit 2" is "2 1" "$(measure -P x 1 13 'sleep {x}') $(grep -c 'more than 12 commands' "$d/err")"
ok "a failing hook is named, exit 5, and cleanup runs" is "5 1 1" "$(rm -f "$d/cleaned"
	measure -n 1 --setup false --cleanup "touch $d/cleaned" -- true) $(grep -c "^gchintctl: measure: --setup 'false': exit status 1" "$d/err") $(
	find "$d/cleaned" | wc -l)"
cat >"$d/large" <<'X2'
#!/usr/bin/python3
# large MIB: touches so much memory
import sys
bytearray(int(sys.argv[1]) << 20).find(b"x")
X2
chmod 755 "$d/large"
measured -n 2 -w 0 -b "$d/large 100" -- "$d/large" 300 >"$d/status"
ok "memory is that of the largest process at its peak" is "0 True" "$(cat "$d/status") $(get 'all(
	100 < x < 150 for x in f("peak")["baseline"]["values"]) and all(300 < x < 350 for x in f("peak")["command"]["values"])')"
# Counters: events that each kernel has stand for those of a CPU, which this machine may not have.
cat >"$d/counters.c" <<'X2'
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/syscall.h>

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	struct perf_event_attr attr;
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_perf_event_open && ((struct perf_event_attr *)a[0])->type == PERF_TYPE_HARDWARE) {
		attr = *(struct perf_event_attr *)a[0];
		attr.config = attr.config == PERF_COUNT_HW_CPU_CYCLES ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_PAGE_FAULTS;
		attr.type = PERF_TYPE_SOFTWARE;
		a[0] = (long)&attr;
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
X2
gcc -shared -fPIC -o "$d/counters.so" "$d/counters.c" -ldl
counted() { LD_PRELOAD="$(gcc -print-file-name=libasan.so) $d/counters.so" measured "$@"; }
# A page fault for each 4 KiB that are touched: 25,600 and 76,800, and those of the sanitizer. Without the right to use
# perf there is none.
counted -n 2 -w 0 -b "$d/large 100" -- "$d/large" 300 >"$d/status"
ok "instructions are those of the command and its descendants, if they may be counted" is "0 True" "$(cat "$d/status") $(get '
	not any(x["figure"] == "instructions" for x in j["figures"]) or (
	min(f("instructions")["baseline"]["values"]) > 0.02 and min(f("cycles")["command"]["values"]) > 1 and
	min(f("instructions")["command"]["values"]) - max(f("instructions")["baseline"]["values"]) > 0.04)')"
measure -n 2 -w 0 -- true >"$d/status"
ok "without counters they are unknown, with the reason" is "0 True" "$(cat "$d/status") $(
	grep -qE '^cycles, instructions: unknown: |^cycles ' "$d/out" && echo True)"

# Energy, of a counter and of a power meter.
export GCHINT_SYSFS=$d/sys
zone=$d/sys/class/powercap/pkg:0
mkdir -p "$zone" "$d/sys/class/hwmon/hwmon0"
echo pkg >"$zone/name"
echo 1000000000000000 >"$zone/max_energy_range_uj"
echo 500000000000 >"$zone/energy_uj"
ok "three times the energy exceeds a limit, exit 1" is 1 \
	"$(measured -n 3 -w 0 -f energy=100 -b "$d/draw $zone/energy_uj 100000" -- "$d/draw" "$zone/energy_uj" 300000)"
ok "energy is that of the commands" is "True True" "$(get 'f("energy of pkg")["significant"], all(
	0.09 < x < 0.12 for x in f("energy of pkg")["baseline"]["values"]) and all(
	0.27 < x < 0.36 for x in f("energy of pkg")["command"]["values"])')"
ok "less energy exceeds no limit" is "0 1" "$(measure -n 3 -w 0 -f energy=5 -b "$d/draw $zone/energy_uj 300000" -- \
	"$d/draw" "$zone/energy_uj" 100000) $(grep -cE '^  energy of pkg, measured +(6|7)[0-9] % less \(.*\): better$' "$d/out")"
# On a busy machine a run can last for longer than from one reading to the next: count those that have none.
measure -n 2 -w 0 -p 1000 -o "$d/brief" -- "$d/add" "$zone/energy_uj" 100000 >"$d/status"
brief=$(for f in "$d"/brief/*.db; do
	sqlite3 -readonly "$f" "select count(*) = 0 from samples where
		t between (select min(t) from annotations where text like 'start: %') and (select max(t) from annotations where text like 'end: %')"
done | grep -c 1)
unknown=$(sed -n 's/^energy of pkg, measured: unknown in \([12]\) of 2 runs .* 1000 ms.*/\1/p' "$d/out")
ok "energy of runs shorter than the readings is unknown, with the reason" test "$(cat "$d/status") $((${unknown:-0} >= brief))" = "0 1"
echo "# $brief of 2 runs had no reading, energy was unknown in ${unknown:-0}"
ok "a counter that does not count has no energy of 0 J" is "0 None" "$(measured -n 2 -w 0 -- sleep 0.3) $(get \
	'f("energy of pkg")["command"]["mean"]')"
rm -r "$zone"
printf 'meter\n' >"$d/sys/class/hwmon/hwmon0/name"
printf '1000000\n' >"$d/sys/class/hwmon/hwmon0/power1_input"
printf 'board\n' >"$d/sys/class/hwmon/hwmon0/power1_label"
measured -n 2 -w 0 --idle 1 -- sleep 2 >"$d/status"
ok "--idle subtracts the power of the idle machine" is "0 1 True" "$(cat "$d/status") $(get \
	'j["idle_s"], all(abs(x) < 0.02 for x in f("energy of board above idle")["command"]["values"])')"

# Pauses of a program that announces them.
make -s -C "$here/../../libgchint" BUILD="$d/build" CFLAGS="-O2 -g" "$d/build/libgchint.a" >/dev/null 2>"$d/make.log" ||
	cat "$d/make.log"
cat >"$d/pause.c" <<'X2'
#include <unistd.h>

#include <gchint.h>

int main(void)
{
	gchint_init(0);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	usleep(20000);
	gchint_phase_end();
	return 0;
}
X2
gcc -I"$here/../../include" -I"$here/../../include/uapi" -o "$d/pause" "$d/pause.c" "$d/build/libgchint.a" -pthread
GCHINT_DEVICE=$d/absent measured -n 2 -w 0 -- "$d/pause" >"$d/status"
ok "pauses are measured where a command announces them" is "0 2 True" "$(cat "$d/status") $(get \
	'len(f("longest")["command"]["values"]), min(f("longest")["command"]["values"]) >= 20')"
lacks() { # LABEL: a line names the command without pauses, and what helps
	grep -c "^gchintctl: --fail-above pause=20: no run of $1 has such a figure: .*\"gchintctl run -q --\" before the command" "$d/err"
}
ok "a limit of pauses that only the command announces is reported with what the baseline lacks, exit 5" is "5 1" \
	"$(GCHINT_DEVICE=$d/absent measure -n 2 -w 0 -f pause=20 -b true -- "$d/pause") $(lacks baseline)"
ok "a limit of pauses that only the baseline announces is reported with what the command lacks, exit 5" is "5 1" \
	"$(GCHINT_DEVICE=$d/absent measure -n 2 -w 0 -f pause=20 -b "$d/pause" -- true) $(lacks command)"
ok "each of several commands that lacks the figure is named" is "5 1 1" \
	"$(GCHINT_DEVICE=$d/absent measure -n 2 -w 0 -f pause=20 -L ms 1,2 -b "$d/pause" "sleep 0.00{ms}") $(lacks ms=1) $(lacks ms=2)"
ok "--fail-above gc-cpu is about the CPU time of collectors" is "5 1" \
	"$(GCHINT_DEVICE=$d/absent measure -n 2 -w 0 -f gc-cpu=20 -b true -- "$d/pause") $(grep -c '^gchintctl: --fail-above gc-cpu=20: no run of baseline has' "$d/err")"
export GCHINT_SYSFS=$work/machine/sys
