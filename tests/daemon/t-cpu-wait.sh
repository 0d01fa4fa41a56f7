# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# How long threads waited for a CPU. Threads of a scheduler in Python run, wait and sleep, in phases
# and outside of them, and are read as the kernel would be: a wait is counted when it ends, or when
# the thread moves to another CPU, and CPU time lacks up to a tick. The truth is that of each thread.

fresh cpu-wait
cat >"$d/threads.py" <<'END'
import json, random, sqlite3, subprocess, sys

ctl, file, period, awake, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
draw = random.Random(seed)
MS, TICK = 1000000, 4000000
BEGIN, END = 1000 * MS, 4000 * MS


def states_make():
    """Of one thread: [t0, t1, what] from BEGIN to END, and the phases."""
    states, phases, t = [], [], BEGIN
    while t < END:
        inside = draw.random() < 0.5
        length = int(draw.choice((0.3, 3, 40, 200)) * draw.uniform(0.5, 1.5) * MS)
        end = min(t + length, END)
        if inside and end < END:
            phases.append((t, end))
        # sleepers sleep in phases and compute outside of them
        sleeps = inside if awake == "outside" else not inside if awake == "inside" else draw.random() < 0.5
        while t < end:
            if sleeps:
                steps = [("sleep", draw.uniform(1, 60))]
            elif states and states[-1][2] == "wait":
                steps = [("run", draw.uniform(0.1, 8))]
            else:
                steps = [("wait", draw.choice((0.05, 2, 60)) * draw.uniform(0.2, 1))]
            for what, ms in steps:
                stop = min(t + int(ms * MS), end)
                if stop > t:
                    states.append([t, stop, what])
                t = stop
    return states, phases


def counted(states, moves, t):
    """What the kernel shows at t."""
    run = wait = 0
    for t0, t1, what in states:
        if t0 >= t:
            break
        if what == "run":
            # at the tick, or at the end
            run += (t1 if t1 <= t else max(t0, t - (t - seed) % TICK)) - t0
        elif what == "wait":
            at = t1 if t1 <= t else max([m for m in moves if t0 < m <= t], default=t0)
            wait += at - t0
    return run, wait


def within(states, what, spans):
    return sum(max(0, min(t1, e) - max(t0, b)) for t0, t1, w in states if w == what for b, e in spans)


db = sqlite3.connect(file)
db.execute("DELETE FROM phases")
db.execute("DELETE FROM sched")
db.execute("DELETE FROM leases")
db.execute("INSERT OR REPLACE INTO meta VALUES('sched.tick_ns', ?)", (str(TICK),))
db.execute("UPDATE meta SET value = ? WHERE key = 'start_ns'", (str(BEGIN),))
db.execute("UPDATE meta SET value = ? WHERE key = 'end_ns'", (str(END + MS),))
truth, all_low = {}, 0
for thread in range(100, 130):
    states, phases = states_make()
    moves = sorted(draw.randrange(BEGIN, END) for _ in range(40))
    for b, e in phases:
        db.execute("INSERT INTO phases(t0, t1, cpu, tgid, tid, phase, flags, cause, how, uncertain)"
                   " VALUES(?, ?, 0, ?, ?, 4, 1, 1, 1, 0)", (b, e, thread, thread))
    # the states as a merged list: one wait may go on over the end of a phase
    joined = []
    for state in states:
        if joined and joined[-1][2] == state[2]:
            joined[-1][1] = state[1]
        else:
            joined.append(list(state))
    t = BEGIN
    while t < END + MS:
        run, wait = counted(joined, moves, t)
        db.execute("INSERT INTO sched(t, tgid, tid, run_ns, wait_ns, slices) VALUES(?, ?, ?, ?, ?, 0)",
                   (t + draw.randrange(-90000, 90000) if t > BEGIN else t, thread, thread, run, wait))
        t += int(period * MS * draw.uniform(0.6, 1.1))
    db.execute("INSERT INTO sched(t, tgid, tid, run_ns, wait_ns, slices) VALUES(?, ?, ?, ?, ?, 0)",
               (END + MS, thread, thread, *counted(joined, moves, END + MS)))
    truth[thread] = joined, phases
db.commit()
db.close()

wrong = seen = known = 0
shown = json.loads(subprocess.check_output([ctl, "why", "--json", "-n", "100000", file]))["pauses"]
for pause in shown:
    at_least, at_most = pause["cpu_wait_at_least_ms"], pause["cpu_wait_at_most_ms"]
    waited = within(truth[pause["pid"]][0], "wait", [(pause["t0"], pause["t1"])]) / MS
    if at_least is None:
        continue
    seen += 1
    known += at_most - at_least <= (pause["t1"] - pause["t0"]) / MS / 2
    if not at_least - 1e-6 <= waited <= at_most + 1e-6:
        wrong += 1
        print("pause", pause["pid"], pause["t0"], pause["t1"], at_least, waited, at_most, file=sys.stderr)
cpu = json.loads(subprocess.check_output([ctl, "--json", "summary", file]))["cpu"]
waited = sum(within(states, "wait", phases) for states, phases in truth.values())
good = cpu["wait_low_ns"] <= waited + 1000 and waited <= cpu["wait_high_ns"] + 1000
ran = sum(within(states, "run", phases) for states, phases in truth.values())
good = good and cpu["low_ns"] <= ran <= cpu["high_ns"] and cpu["low_ns"] <= cpu["run_ns"] <= cpu["high_ns"]
print(cpu, waited, ran, seen, known, file=sys.stderr)
share = cpu["wait_low_ns"] / waited if waited else cpu["wait_low_ns"]
print(wrong, good, seen > 100, "none" if not share else "most" if share >= 0.9 else "half" if share > 0.5 else "some")
END
threads() { # PERIOD, where threads are awake: pauses out of their bounds, a right sum, whether there are pauses, how much of the sum is certain
	cp "$d/empty.db" "$d/$1-$2.db"
	python3 "$d/threads.py" "$ctl" "$d/$1-$2.db" "$1" "$2" 1 2>>"$d/said"
}
mkdir "$d/none"
"$ctl" record -q -o "$d/empty.db" --option --sysfs="$d/none" --option --tracefs="$d/none" -- true 2>/dev/null
ok "sleep in a phase is no wait for a CPU, read often" is "0 True True none" "$(threads 5 outside)"
ok "nor read once a second" is "0 True True none" "$(threads 1000 outside)"
ok "waits in phases are within their bounds, and nearly all of them is certain, read often" is "0 True True most" "$(threads 5 inside)"
ok "less is certain where threads wait in phases and outside, read once a second" is "0 True True some" "$(threads 1000 both)"
ok "and nearly all, read often" is "0 True True most" "$(threads 5 both)"
sed 's/^/# /' "$d/said"
"$ctl" summary "$d/1000-outside.db" >"$d/list"
ok "the summary says that the wait is not known, and what would help" grep -qE \
	'^collection used at most .* of CPU; whether it waited for a CPU is not known \(record with \[sched\] period_ms = 5\)$' "$d/list"
"$ctl" summary "$d/5-inside.db" >"$d/list"
ok "the summary has a certain wait" grep -qE '^collection used .* of CPU and waited at least [0-9.]+ s for a CPU$' "$d/list"
