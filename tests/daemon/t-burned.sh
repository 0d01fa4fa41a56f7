# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# CPU time of collection in a program that runs for less than a period of [sched]: its threads'
# accounts are read as they begin and end. The truth is what the program measured itself.

fresh burned
"$ctl" record -q -o "$d/r.db" --option --sysfs="$d/none" --option --tracefs="$d/none" -- "$BUILD/burned" >"$d/truth"
ok "the program ran" is 0 $?
read -r phases all worker <"$d/truth"
read -r main <<<"$(sql 'select tid from sched where tid = tgid limit 1')"
ok "a thread's account begins with 0 when the thread began" is "0|0" \
	"$(sql "select run_ns, wait_ns from sched where tid = $main order by t limit 1")"
ok "that is before its first phase" is 1 \
	"$(sql "select min(s.t) <= (select min(t0) from phases) from sched s where tid = $main")"
ok "the last reading of the main thread has all of its CPU time" is 1 \
	"$(sql "select max(run_ns) >= $all from sched where tid = $main")"
ok "the account of a thread does not go back" is 0 \
	"$(sql 'select count(*) from (select run_ns - lag(run_ns) over (partition by tid order by t) as d from sched) where d < 0')"
"$ctl" --json summary "$d/r.db" >"$d/json"
bounds() { # workers, phases without a reading, and whether the truth and the estimate are between the bounds
	python3 -c 'import json, sys
cpu, truth = json.load(open(sys.argv[1]))["cpu"], int(sys.argv[2])
print(cpu["workers"], cpu["unknown_ns"], cpu["low_ns"] <= truth <= cpu["high_ns"], cpu["low_ns"] <= cpu["run_ns"] <= cpu["high_ns"])
print(truth, cpu, file=sys.stderr)' "$d/json" $((phases + worker)) 2>"$d/said"
}
ok "the CPU time of collection is between its bounds, with that of a worker" is "1 0 True True" "$(bounds)"
sed 's/^/# /' "$d/said"
"$ctl" summary "$d/r.db" >"$d/summary"
ok "the summary has it" grep -qE '^collection used (at most )?[0-9.]+ .*of CPU' "$d/summary"

# The same pauses live, where phases overlap: a marker in the first one.
ok "five phases are four pauses" is "5|4" "$(sql 'select (select count(*) from phases where flags = 1), count(*) from pauses')"
fresh live
mkdir "$d/out"
printf '[metrics]\ntextfile = %s\nperiod_s = 1\nservice = burned\n' "$d/out/gchint.prom" >"$d/conf"
export GCHINT_STREAM=$d/stream
start -c "$d/conf" --tracefs "$d/none"
"$BUILD/burned" >"$d/truth"
ok "the metrics have them" wait_for 30 grep -q '^gchint_pause_seconds_count{service="burned"} 4$' "$d/out/gchint.prom"
stop
unset GCHINT_STREAM
ok "their total is that of the recording" is 1 "$(sql "select abs(sum(ns) / 1e9 -
	$(sed -n 's/^gchint_pause_seconds_sum{service="burned"} //p' "$d/out/gchint.prom")) < 1e-6 from pauses")"
