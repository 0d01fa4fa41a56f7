# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the report draws: the data that gnuplot receives, read in its place.

mkdir "$work/report"
d=$work/report
mkdir "$d/bin"
cat >"$d/bin/gnuplot" <<'X'
#!/bin/sh
cat "$1" >>"$DRAWN"
echo '<svg xmlns="http://www.w3.org/2000/svg"/>' | tee "${1%/script}/narrow" >"${1%/script}/picture"
X
chmod 755 "$d/bin/gnuplot"
drawn() { # NAME FILE...: the page $d/NAME.html and all of its plots, $d/NAME.plots
	rm -f "$d/$1.plots"
	DRAWN=$d/$1.plots PATH=$d/bin:$PATH "$ctl" report -o "$d/$1.html" "${@:2}"
}
block() { # NAME DATABLOCK: its rows, of the first plot that has it
	awk -v b="\$$2 << EOD" '$0 == b { on = 1; next } on && /^EOD/ { exit } on' "$d/$1.plots"
}
recording() { # NAME SQL: a recording of 60 s, changed
	sqlite3 "$d/$1.db" <"$here/kept/v1.sql"
	sqlite3 "$d/$1.db" "delete from samples; delete from transitions; delete from residency; delete from costs;
		delete from marks; delete from phases; update meta set value = 1000000000 where key = 'start_ns';
		update meta set value = 61000000000 where key = 'end_ns'; $2"
}
every="with recursive n(i) as (select 0 union all select i + 1 from n where i < 59999)"

# 1 W read each ms for 60 s, but for 600 readings of 20 W and one of none.
recording peaks "insert into samples $every select 1000000000 + i * 1000000, (select id from rails where label = 'pin'),
	case when i % 100 = 37 then 20000000 when i = 30050 then 1000 else 1000000 end, 1 from n;
	insert into transitions $every select 1000000000 + i * 1000000, 0,
	case when i % 100 = 37 then 2100000 when i = 30050 then 300000 else 960000 end, 'trace' from n"
drawn peaks "$d/peaks.db"
ok "a plot of many samples keeps the power peak" is "20.000000 0.001000 1" \
	"$(block peaks R0 | awk 'NF { if ($2 > max) max = $2; if (min == "" || $2 < min) min = $2; n += $2 == 20 }
		END { print max, min, (n >= 600) }')"
ok "a plot of many samples keeps the frequency extremes" is "2100.0000 300.0000" \
	"$(block peaks C0 | awk 'NF { if ($2 > max) max = $2; if (min == "" || $2 < min) min = $2 }
		END { printf "%.4f %.4f", max, min }')"
ok "a plot has a bounded number of points" test "$(block peaks R0 | wc -l)" -le 4004
ok "points of a plot are in order of time" bash -c "$(declare -f block); d='$d'; block peaks R0 | awk 'NF' | sort -cg"
# Of a counter the mean between two readings is drawn: 1 W but for 20 W every 100 ms.
recording counter "insert into samples $every select 1000000000 + i * 1000000, (select id from rails where kind = 'energy'),
	i * 1000 + 19000 * ((i + 62) / 100), 1 from n"
drawn counter "$d/counter.db"
ok "a plot of an energy counter keeps its extremes" is "20.000 1.000" \
	"$(block counter R0 | awk 'NF { if ($2 > max) max = $2; if (min == "" || $2 < min) min = $2 }
		END { printf "%.3f %.3f", max, min }')"

# A rail with a single interval: a line over it, not just a name in the legend.
recording lone "insert into samples select 2000000000 + value * 3000000000, (select id from rails where kind = 'energy'),
	value * 6000000, 1 from generate_series(0, 1)"
drawn lone "$d/lone.db"
ok "a counter's only interval is drawn as a line" is "1.000000000 2.000000 4.000000000 2.000000" \
	"$(block lone R0 | paste -sd' ')"

# A battery's meter, a package's counter, and one per core: all are power.
recording mixed "alter table rails add column cpus text; delete from rails; insert into rails(id, t, name, label, kind, unit, source,
	path, period_ns, cpus) values(1, 1, 'c:0', 'core 0', 'energy', 'uJ', 'power', '/x', 1, '0'), (2, 1, 'p', 'package', 'energy', 'uJ', 'power',
	'/x', 1, null), (3, 1, 'bat', 'battery', 'power', 'uW', 'hwmon', '/x', 1, null), (4, 1, 'v', 'vdd', 'voltage', 'uV', 'hwmon', '/x', 1, null);
	insert into samples select 1000000000 + value * 1000000, 1 + value % 4, value * 1000, 1 from generate_series(0, 400)"
drawn mixed "$d/mixed.db"
ok "rails are ordered: power meters, counters, cores; no voltage" is "battery package core 0" \
	"$(sed -n "s/.* [$]R[0-9] using 1:2 .* title '\([^']*\)' noenhanced.*/\1/p" "$d/mixed.plots" | uniq | head -n 3 | paste -sd' ')"

# One frequency has one colour, whatever else a run had.
recording slow "insert into transitions values(1000000000, 0, 300000, 'trace'), (2000000000, 0, 960000, 'trace');
	update meta set value = 'slow' where key = 'label'"
recording fast "insert into transitions values(1000000000, 0, 960000, 'trace'), (2000000000, 0, 2100000, 'trace');
	update meta set value = 'fast' where key = 'label'"
drawn two "$d/slow.db" "$d/fast.db"
ok "a frequency has one colour on a page" is "2 1" \
	"$(sed -n "s/.*rgb '\(#......\)' title '960 MHz'.*/\1/p" "$d/two.plots" | sort | uniq -c | awk '{ n += $1; k++ } END { print n, k }')"
ok "none is as light as paper, nor as dark as a page turned over" is 3 "$(sed -n \
	"s/.*rgb '#\(..\)\(..\)\(..\)' title '[0-9]* MHz'.*/0x\1 0x\2 0x\3/p" "$d/two.plots" | sort -u | python3 -c 'import sys
light = [sum(w * int(x, 16) for w, x in zip((.2126, .7152, .0722), line.split())) for line in sys.stdin]
print(sum(50 < v < 180 for v in light))')"
ok "three frequencies have three colours" is 3 \
	"$(sed -n "s/.*rgb '\(#......\)' title '[0-9]* MHz'.*/\1/p" "$d/two.plots" | sort -u | wc -l)"

# More CPUs and rails than a plot holds.
recording many "delete from policies; insert into policies select value, 1, value || '-' || (value + 3), 'd', 'g', 1, 2, 3
	from generate_series(0, 60, 4); insert into transitions select 1000000000 + value, value, 960000, 'trace'
	from generate_series(0, 63); insert into rails select 100 + value, 1, 'chip:power' || value, 'r' || value, 'power', 'uW',
	'hwmon', '/x', 1000000, null from generate_series(1, 9);
	insert into samples select 1000000000 + value * 1000000, 100 + value % 9 + 1, 1000000, 1 from generate_series(1, 99)"
drawn many "$d/many.db"
ok "one CPU per policy is drawn" is "cpu0 cpu4 cpu8 cpu12 cpu16 cpu20 cpu24 cpu28" \
	"$(grep -o "title 'cpu[0-9]*'" "$d/many.plots" | sort -u -V | cut -d\' -f2 | paste -sd' ')"
ok "the page reports what is not drawn" is "1 1" \
	"$(grep -c 'Of each policy one CPU is drawn.*Not drawn: 8 more policies' "$d/many.html") $(grep -c 'Not drawn: 4 more rails' "$d/many.html")"
ok "the table has all recordings" is 9 "$(grep -o '<th>r[0-9]<br>measured' "$d/many.html" | sort -u | wc -l)"

# One meaning of duration.
recording marked "insert into marks values(11000000000, 1, 'start: x'), (31000000000, 1, 'end: x: 0');
	insert into phases(id, t0, t1, cpu, phase, flags, how, uncertain) values(1, 12000000000, 14000000000, 0, 3, 1, 1, 0)"
cp "$d/marked.db" "$d/again.db"
sqlite3 "$d/again.db" "update meta set value = 'again' where key = 'label'"
drawn marked "$d/marked.db" "$d/again.db"
ok "the page uses the command's duration" is "2 1 2" \
	"$(grep -c '<p class="sub">20.00 s (recorded: 60.00 s)' "$d/marked.html") $(grep -c 'duration.*>20\.' "$d/marked.html") $(
		grep -c '>10.0&nbsp;%<' "$d/marked.html")"
ok "the summary uses the command's duration" is 1 "$("$ctl" summary "$d/marked.db" | grep -c ', 20.000 s (recorded: 60.000 s)$')"

# Energy that cannot be known: 5 J, all of it in pauses of 5 ms that a reading every 100 ms does not
# resolve.
recording short "insert into samples select 1000000000 + value * 100000000, (select id from rails where kind = 'energy'),
	value * 125000, 1 from generate_series(0, 40); insert into samples select 5000000000, rail, max(value), 1 from samples
	union all select 5000000001, rail, max(value), 1 from samples union all select 5000000002, rail, max(value), 1 from samples;
	insert into phases(id, t0, t1, cpu, phase, flags, how, uncertain)
	select value, 1095000000 + value * 100000000, 1100000000 + value * 100000000, 0, 3, 1, 1, 0 from generate_series(0, 39)"
"$ctl" summary "$d/short.db" >"$d/summary"
ok "energy of short pauses is not reported as measured" is 1 \
	"$(grep -c '^  roots, stw  *? J  (0.000000 to 5.000000)$' "$d/summary")"
ok "the sampling interval is the typical one, not the shortest" grep -q '(measured by powercap, every 100.0 ms)' "$d/summary"
"$ctl" --json summary "$d/short.db" >"$d/json"
ok "JSON does not report it as measured" is "None 0 5" "$(python3 -c 'import json, sys
p = next(p for e in json.load(open(sys.argv[1]))["energy"] for p in e["by_phase"] if p["phase"] == "roots, stw")
print(p["joules"], p["low_joules"], p["high_joules"])' "$d/json")"
ok "the rail's maximum power bounds short pauses" is 1 \
	"$("$ctl" summary "$d/short.db" --watts package-0=1.2:1.3 | grep -c '^  roots, stw  *0.250000 J  (0.240000 to 0.260000)$')"
ok "a reading beyond the rail's limits is reported" is 1 \
	"$("$ctl" summary "$d/short.db" -w 2:3 | grep -c '42 intervals are outside of the limits of --watts')"
ok "invalid limits are refused" bash -c "'$ctl' summary '$d/short.db' --watts 5:1; [ \$? = 2 ]"
