# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Figures of recordings at the edge: phases that outlast what is shown, values that are not
# known.

mkdir "$work/figures"
d=$work/figures
recording() { # SQL: a recording with these rows alone
	rm -f "$d/a.db"
	sqlite3 "$d/a.db" <"$here/recordings/0.1.0.sql"
	sqlite3 "$d/a.db" "delete from samples; delete from transitions; delete from residency; delete from costs; delete from phases;
		delete from decisions; delete from policies; delete from annotations;
		update meta set value = 1000000000 where key = 'start_ns'; update meta set value = 2000000000 where key = 'end_ns'; $1"
}
phase="insert into phases(id, t0, t1, cpu, tgid, tid, slot, phase, flags, how, uncertain) values"

recording "$phase(1, 1000000000, 9000000000, 0, 7, 7, 0, 3, 1, 1, 0), (2, 1200000000, 1500000000, 0, 7, 8, 1, 4, 2, 1, 0)"
within() { # PHASE: its ms of the stretch of a second
	"$ctl" --json top -n 1 -d 1 "$d/a.db" | python3 -c 'import json, sys
print(*(p["ns"] // 1000000 for p in json.load(sys.stdin)["phases"] if p["phase"].startswith(sys.argv[1])))' "$1"
}
ok "of a phase that ends after the stretch only what is within it counts" is 500 "$(within roots)"
ok "a phase that is within it counts whole" is 300 "$(within mark)"

recording "delete from rails; insert into rails(id, name, kind, unit) values(0, 'still', 'energy', 'uJ'), (1, 'moves', 'energy', 'uJ');
	insert into samples(rail, t, value) select value % 2, 1000000000 + value * 100000000, (value % 2) * value * 1000000 from generate_series(0, 9)"
ok "of a counter that never moved no joules are known" is "still ? ?|moves 9.000 J 10.000 W" \
	"$("$ctl" top -n 1 -d 1 "$d/a.db" | awk '/^(still|moves)/ { $1 = $1; print }' | paste -sd'|')"
ok "nor in JSON" is "None None 9.0 10.0" "$("$ctl" --json top -n 1 -d 1 "$d/a.db" | python3 -c 'import json, sys
print(*(r[k] for r in json.load(sys.stdin)["rails"] for k in ("value", "mean")))')"

recording "insert into policies(policy, cpus) values(0, '0');
	insert into decisions(t, policy, khz) values(1100000000, 0, 1), (1200000000, null, 2)"
ok "a decision without a policy is on no policy's track of chrome-trace" is "policy0 governor" "$(
	"$ctl" export -f chrome-trace "$d/a.db" | python3 -c 'import json, sys
events = json.load(sys.stdin)["traceEvents"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
print(*(names[e["pid"], e["tid"]] for e in events if "khz" in e.get("args", {})))')"

if command -v protoc >/dev/null; then
	recording "insert into policies(policy, cpus) values(0, '0');
		insert into decisions(t, policy, khz) values(1100000000, 0, 1), (1200000000, null, 2)"
	"$ctl" export -f perfetto "$d/a.db" -o "$d/a.pftrace"
	tracks() { # the track of each decision by name
		protoc --decode=perfetto.protos.Trace -I "$here" perfetto.proto <"$d/a.pftrace" | tr -d '\n' |
			sed 's/packet {/\n&/g' | python3 -c 'import re, sys
names, out = {}, []
for line in sys.stdin:
    if m := re.search(r"track_descriptor \{.*?uuid: (\d+).*?name: \"([^\"]*)\"", line):
        names[m[1]] = m[2]
    elif "TYPE_INSTANT" in line and "khz" in line:
        out.append(names[re.search(r"track_uuid: (\d+)", line)[1]])
print(*out)'
	}
	ok "a decision without a policy is on the track of the governor" is "policy0 governor" "$(tracks)"
else
	skip "a decision without a policy is on the track of the governor" "no protoc"
fi

recording "insert into transitions values(1000000000, 0, 960000, 'trace'), (1100000000, 0, null, 'trace');
	$phase(1, 1200000000, 1300000000, 0, 7, 7, 0, 3, 1, 1, 0), (2, 1050000000, 1060000000, 0, 7, 7, 0, 4, 2, 1, 0)"
mean() { # PHASE: its mean frequency
	"$ctl" summary "$d/a.db" | awk -v p="$1" '$1 == p { print $NF; exit }'
}
ok "a frequency is not kept over a row without one" is "960 ?" "$(mean mark,) $(mean roots,)"
