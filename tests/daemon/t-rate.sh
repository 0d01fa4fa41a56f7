# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A sensor that gives 500 readings a second is read as often, and the cost is reported. The rate on
# a busy machine does not matter here: the best tenth of a second counts.

fresh rate
printf '[hwmon]\nperiod_ms = 2\nbudget_percent = 100\nmatch = *:power1\n' >"$d/conf"
start -c "$d/conf" --tracefs "$d/none"
densest() { # readings in the tenth of a second that had most of them
	sql "select max(n) from (select count(*) n from samples join rails on rail = id where label = 'pin' group by samples.t / 100000000)"
}
often() {
	[ "$(densest)" -ge 35 ]
}
wait_for 10 often
stop
ok "a sensor is read at 350 Hz or more ($(densest)0 a second)" often
ok "the rail has the requested period" is 2000000 "$(sql "select period_ns from rails where label = 'pin'")"
ok "each reading has a timestamp of its own" is 1 \
	"$(sql "select count(distinct samples.t) = count(*) from samples join rails on rail = id where label = 'pin'")"
"$ctl" summary "$d/r.db" >"$d/summary"
ok "the recording's cost is reported: CPU, wake-ups, memory, energy" grep -qE \
	'^COST  gchintd took [0-9.]+ % of one CPU, [0-9.]+ wake-ups a second, [0-9]+ KiB, [0-9.e-]+ to [0-9.e-]+ J modelled$' "$d/summary"
json_cost() {
	"$ctl" --json summary "$1" | python3 -c 'import json, sys
c = json.load(sys.stdin)["cost"]
print(c and " ".join(str(c[k]) for k in ("ns", "cpu_ns", "wakeups", "rss_kib", "how")), c and
    (None if c["low_joules"] is None else c["low_joules"] < c["high_joules"] and abs(c["high_joules"] - c["cpu_ns"] * 690000 / 1e15) < 1e-8))'
}
ok "the cost is in JSON too" is "$(sql "select max(t) - min(t), max(cpu_ns) - min(cpu_ns), max(wakeups) - min(wakeups), max(rss_kib), 'modelled' from costs" |
	tr '|' ' ') True" "$(json_cost "$d/r.db")"
cp "$d/r.db" "$d/poor.db"
sqlite3 "$d/poor.db" "delete from opps"
ok "without the power of an OPP the energy is unknown, not 0" is "1 None" \
	"$("$ctl" summary "$d/poor.db" | grep -c '^COST .* KiB, energy not known$') $(json_cost "$d/poor.db" | awk '{ print $NF }')"
sqlite3 "$d/poor.db" "delete from costs"
ok "without cost samples the cost is unknown" is "0 None None" \
	"$("$ctl" summary "$d/poor.db" | grep -c '^COST') $(json_cost "$d/poor.db")"
