# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Perfetto's own format, decoded by protoc: every phase, every reading, the clock.

mkdir "$work/export"
d=$work/export
"$here/../../bench/report/make" "$d/a.db" 900 40 one
# One phase within another, and one that outlives its outer phase.
sqlite3 "$d/a.db" "insert into phases(id, t0, t1, cpu, tgid, tid, slot, phase, flags, how, uncertain)
	values(1001, 1000000000, 1000900000, 0, 7, 7, 9, 4, 2, 1, 0), (1002, 1000100000, 1000200000, 0, 7, 7, 9, 3, 1, 1, 0),
	(1003, 1000800000, 1000950000, 0, 7, 7, 9, 5, 1, 1, 0); insert into processes(tgid, tid, t, comm) values(7, 7, 1, 'a' || x'ff' || '<b>');
	create table if not exists heaps(t integer, tgid integer, tid integer, moment text, used integer, committed integer, most integer,
	allocated integer, freed integer, generation integer) strict;
	insert into heaps(t, tgid, tid, moment, used) values(1000000001, 7, 7, 'before', 70), (1000000002, 7, 7, 'after', null),
	(1000000003, 7, 8, 'after', 50)"
"$ctl" export -f perfetto "$d/a.db" -o "$d/a.pftrace"
cat >"$d/read.py" <<'X'
# SPDX-License-Identifier: MIT
"""Slices of a decoded trace as an importer makes them, by a stack for each track."""
import re
import sys

packets, depth = [], 0
for line in open(sys.argv[1], encoding="utf-8"):
    if line.startswith("packet {"):
        packets.append([])
    elif packets:
        packets[-1].append(line.strip())


def value(packet, key):
    return next((l.split(": ", 1)[1] for l in packet if l.startswith(key + ": ")), None)


events = [(int(value(p, "timestamp")), p) for p in packets if "track_event {" in p]
events.sort(key=lambda e: e[0])
stacks, slices, counters = {}, [], []
for t, p in events:
    kind, track = value(p, "type"), value(p, "track_uuid")
    if kind == "TYPE_SLICE_BEGIN":
        stacks.setdefault(track, []).append(t)
    elif kind == "TYPE_SLICE_END":
        slices.append(t - stacks[track].pop())
    elif kind == "TYPE_COUNTER":
        counters.append(float(value(p, "double_counter_value")))
units = sorted({value(p, "unit_name") for p in packets if value(p, "unit_name")})
unknown = [l for p in packets for l in p if re.match(r"\d+[:{ ]", l)]
print(len(slices), sum(ns * ns for ns in slices), sum(map(len, stacks.values())), len(counters), " ".join(units),
      len(unknown), max(counters))
X
if command -v protoc >/dev/null; then
	ok "the trace is valid Perfetto" bash -c \
		"protoc --decode=perfetto.protos.Trace -I '$here' perfetto.proto <'$d/a.pftrace' >'$d/a.txt'"
	ok "every phase is a slice of its length, every reading a counter with its unit" is \
		"$(sqlite3 "$d/a.db" "select count(*) || ' ' || sum((t1 - t0) * (t1 - t0)) || ' 0 ' || ((select count(*) from samples where value is not null) +
			(select count(*) from transitions where khz > 0) + 2) || ' \"J\" \"MHz\" \"W\" \"bytes\" 0 ' || 2100.0 from phases")" \
		"$(python3 "$d/read.py" "$d/a.txt")"
	ok "the clock is mapped and the label included" is "1700000000000000000 1" \
		"$(grep -A1 'clock_id: 1$' "$d/a.txt" | sed -n 's/.*timestamp: //p') $(grep -c 'string_value: "one"' "$d/a.txt")"
	ok "a name that is not UTF-8 is still exported" grep -q 'name: "a.*<b>"' "$d/a.txt"
else
	skip "a Perfetto trace is decoded" "no protoc: packaging/need unit"
fi

# The Firefox Profiler's format: every column of the stated length, every name in its table, the
# same joules as in the summary, MHz that can be derived from their integral.
cat >"$d/firefox.py" <<'X'
# SPDX-License-Identifier: MIT
"""Phases, their ns and ns squared; instants; joules of each rail; the highest MHz."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    p = json.load(f)
phases, instants = [], 0
names, categories = p["shared"]["stringArray"], p["meta"]["categories"]
for t in p["threads"]:
    m = t["markers"]
    for column in ("name", "startTime", "endTime", "phase", "category", "data"):
        assert len(m[column]) == m["length"], column
    assert all(0 <= c < len(categories) for c in m["category"])
    for i in range(m["length"]):
        if m["phase"][i]:
            phases.append((names[m["name"][i]], round((m["endTime"][i] - m["startTime"][i]) * 1e6), t["tid"]))
            assert m["data"][i]["type"] == "gc-phase" and categories[m["category"][i]]["name"] != "Governor"
        else:
            instants += 1
            assert m["data"][i]["type"] == "mark" or names[m["name"][i]] != "mark"
joules, mhz = [], 0
for c in p["counters"]:
    s = c["samples"]
    assert len(s["time"]) == len(s["count"]) == s["length"] and s["time"] == sorted(s["time"])
    if c["category"] == "power":
        joules.append(sum(s["count"]) * 3600 / 1e12)
    else:
        mhz = max([mhz] + [n / (s["time"][i + 1] - s["time"][i]) for i, n in enumerate(s["count"][1:])])
print(len(phases), sum(ns * ns for _, ns, _ in phases), instants, *(f"{j:.6f}" for j in sorted(joules)), round(mhz))
print(*sorted(name for name, _, tid in phases if tid == 7), sep="; ")
X
"$ctl" export -f firefox "$d/a.db" -o "$d/a.json"
ok "the Firefox profile has every phase, decision, joule and frequency" is \
	"$(sqlite3 "$d/a.db" "select count(*) || ' ' || sum((t1 - t0) * (t1 - t0)) || ' ' || ((select count(*) from decisions) +
		(select count(*) from annotations) + (select count(*) from hotplug)) from phases") $("$ctl" --json summary "$d/a.db" | python3 -c 'import json, sys
print(*sorted(f"{e['"'joules'"']:.6f}" for e in json.load(sys.stdin)["energy"] if e["how"] == "measured"))') 2100" \
	"$(python3 "$d/firefox.py" "$d/a.json" | head -n 1)"
ok "the Firefox profile shows which threads waited" is "mark, concurrent; remark, stw; roots, stw" "$(python3 "$d/firefox.py" "$d/a.json" | tail -n 1)"
sqlite3 "$d/a.db" "update samples set value = null where rowid % 7 = 0"
"$ctl" export -f firefox "$d/a.db" -o "$d/gap.json"
ok "a missing reading is not zero: its interval belongs to the next one" is "0" \
	"$(python3 -c 'import json, sys
print(sum(c["category"] == "power" and 0 in c["samples"]["count"][1:] for c in json.load(open(sys.argv[1]))["counters"]))' "$d/gap.json")"
