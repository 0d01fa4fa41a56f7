# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the report draws: the data of its script, and its tables.

mkdir "$work/report"
d=$work/report
drawn() { # NAME FILE...: the page $d/NAME.html
	"$ctl" report -o "$d/$1.html" "${@:2}" 2>"$d/$1.err"
}
points() { # NAME LIST N: line N of the script's list, a point each: seconds and value; a gap is an empty line
	python3 -c 'import json, re, sys
text = open(sys.argv[1]).read()
data = json.loads(re.search("<script type=\"application/json\">(.*?)</script>", text, re.S)[1])
p, at = data[sys.argv[2]][int(sys.argv[3])]["points"], 0
for t, v in zip(p[::2], p[1::2]):
	at += t
	print("" if v is None else f"{at / 1e6:.6f} {v:.4f}")' "$d/$1.html" "$2" "$3"
}
names() { # NAME LIST: the names of its lines
	python3 -c 'import json, re, sys
text = open(sys.argv[1]).read()
data = json.loads(re.search("<script type=\"application/json\">(.*?)</script>", text, re.S)[1])
print(" ".join(line["name"] for line in data[sys.argv[2]]))' "$d/$1.html" "$2"
}
recording() { # NAME SQL: a recording of 60 s, changed
	sqlite3 "$d/$1.db" <"$here/recordings/0.1.0.sql"
	sqlite3 "$d/$1.db" "delete from samples; delete from transitions; delete from residency; delete from costs;
		delete from annotations; delete from phases; update meta set value = 1000000000 where key = 'start_ns';
		update meta set value = 61000000000 where key = 'end_ns'; $2"
}
every="with recursive n(i) as (select 0 union all select i + 1 from n where i < 59999)"

# 1 W read each ms for 60 s, but for 600 readings of 20 W and one of none.
recording peaks "insert into samples $every select 1000000000 + i * 1000000, (select id from rails where label = 'pin'),
	case when i % 100 = 37 then 20000000 when i = 30050 then 1000 else 1000000 end, 1 from n;
	insert into transitions $every select 1000000000 + i * 1000000, 0,
	case when i % 100 = 37 then 2100000 when i = 30050 then 300000 else 960000 end, 'trace' from n"
drawn peaks "$d/peaks.db"
(cd "$d" && "$ctl" report -o - "$d/peaks.db" >peaks-out.html 2>peaks-out.err)
ok "a page goes to standard output as it goes to a file" cmp "$d/peaks-out.html" "$d/peaks.html"
ok "without a word, or a file of that name" is "" "$(cat "$d/peaks-out.err"; find "$d" -name -)"
if grep -q application/json "$d/peaks.html"; then
	ok "a plot of many samples keeps the power peak" is "20.0000 0.0010 1" \
		"$(points peaks rails 0 | awk 'NF { if ($2 > max) max = $2; if (min == "" || $2 < min) min = $2; n += $2 == 20 }
			END { print max, min, (n >= 600) }')"
	ok "a plot of many samples keeps the frequency extremes" is "2100.0000 300.0000" \
		"$(points peaks cpus 0 | awk 'NF { if ($2 > max) max = $2; if (min == "" || $2 < min) min = $2 }
			END { printf "%.4f %.4f", max, min }')"
	ok "a plot has a bounded number of points" test "$(points peaks rails 0 | wc -l)" -le 16004
	ok "points of a plot are in order of time" bash -c "$(declare -f points); d='$d'; points peaks rails 0 | awk 'NF' | sort -cg"
else
	skip "data of the page's script" "built without dygraphs: packaging/need build"
fi
# Of a counter the mean between two readings is drawn: 1 W but for 20 W every 100 ms.
recording counter "insert into samples $every select 1000000000 + i * 1000000, (select id from rails where kind = 'energy'),
	i * 1000 + 19000 * ((i + 62) / 100), 1 from n"
drawn counter "$d/counter.db"
# A rail with a single interval: its energy is known in all, and nothing of its course.
recording lone "insert into samples select 2000000000 + value * 3000000000, (select id from rails where kind = 'energy'),
	value * 6000000, 1 from generate_series(0, 1)"
drawn lone "$d/lone.db"
ok "of a rail with two readings the page has the energy, and why no more" is "1 1 1" \
	"$(grep -c 'J in the whole run, measured; it was read 2 times, too rarely for phases' "$d/lone.html") $(
	grep -c 'Not drawn: rails that were read less than 3 times (1)' "$d/lone.html") $(
	grep -c '<small>of 6 J by .*, which was read too rarely for phases' "$d/lone.html")"
# A battery's meter, a package's counter, and one per core: all are power.
recording mixed "delete from rails; insert into rails(id, t, name, label, kind, unit, source,
	path, period_ns, cpus) values(1, 1, 'c:0', 'core 0', 'energy', 'uJ', 'power', '/x', 1, '0'), (2, 1, 'p', 'package', 'energy', 'uJ', 'power',
	'/x', 1, null), (3, 1, 'bat', 'battery', 'power', 'uW', 'hwmon', '/x', 1, null), (4, 1, 'v', 'vdd', 'voltage', 'uV', 'hwmon', '/x', 1, null);
	insert into samples select 1000000000 + value * 1000000, 1 + value % 4, value * 1000, 1 from generate_series(0, 400)"
drawn mixed "$d/mixed.db"
if grep -q application/json "$d/peaks.html"; then
	ok "a plot of an energy counter keeps its extremes" is "20.000 1.000" \
		"$(points counter rails 0 | awk 'NF { if ($2 > max) max = $2; if (min == "" || $2 < min) min = $2 }
			END { printf "%.3f %.3f", max, min }')"
	ok "a rail with two readings is not drawn as a constant power" is "" "$(points lone rails 0)"
	ok "rails are ordered: power meters, counters, cores; no voltage" is "battery package core 0" "$(names mixed rails)"
fi

# Around a listed pause every sample, change and decision is there; elsewhere some are left out.
recording near "insert into samples $every select 1000000000 + i * 1000000, (select id from rails where label = 'pin'),
	1000000 + i % 7, 1 from n; delete from decisions; insert into decisions(t, policy, khz, reason, tid)
	$every select 1000000000 + i * 1000000, 0, 960000 + i % 3, 1, 70 from n;
	insert into phases(id, t0, t1, cpu, phase, flags, how, uncertain) values(1, 31000500000, 31040500000, 0, 3, 1, 1, 0),
	(2, 51000500000, 51000700000, 0, 3, 1, 1, 0), (3, 51000702000, 51000712000, 0, 7, 2, 1, 0), (4, 51000714000, 51000724000, 0, 7, 2, 1, 0)"
drawn near "$d/near.db"
if grep -q application/json "$d/near.html"; then
	ok "around each pause all samples, decisions and short phases are drawn" is "121 121 4 True" "$(python3 -c 'import json, re, sys
text = open(sys.argv[1]).read()
data = json.loads(re.search("<script type=\"application/json\">(.*?)</script>", text, re.S)[1])
frm, to = (int(re.search(f"data-{k}=\"(\\d+)\"", text)[1]) for k in ("from", "to"))
inside = lambda p, n: sum(frm <= t <= to for t in p[::n])
decisions = next(p for p in data["policies"] if p["policy"] == 0)["decisions"]
at, points = 0, []
for t in data["rails"][0]["points"][::2]:
	at += t
	points.append(at)
print(inside(points, 1) + 1, inside(decisions, 4) + 1, sum(len(k["boxes"]) // 2 for l in data["lanes"] for k in l["phases"]),
	len(decisions) // 4 < 30000)' "$d/near.html")"
	ok "the page says how fine its data is" grep -q 'of each 100 ms.*; around each of the longest pauses it is finer' "$d/near.html"
fi

# What was not recorded is not drawn, and one line has the reason.
recording bare "delete from rails; delete from policies; delete from policy_states; delete from opps; delete from sources;
	insert into sources(name, state, what) values('hwmon', 'absent', 'no power channel'), ('cpufreq', 'absent', 'no policy')"
drawn bare "$d/bare.db"
ok "without power and frequency one grey line says so, and the reasons are where it leads" is "1 0 1 1 1" \
	"$(grep -c '<p class="note">Not recorded: power and frequency (<a href="#run0-sources">why</a>)' "$d/bare.html") $(
	grep -c 'class="missing"' "$d/bare.html") $(grep -c '<details id="run0-sources">' "$d/bare.html") $(
	grep -c 'source hwmon.*no power channel' "$d/bare.html") $(
	grep -c 'Minimum mutator utilisation is not drawn: no pause' "$d/bare.html")"
ok "a page is reported, and needs no other program" is "gchintctl: wrote $d/again.html 0" \
	"$(PATH=/nowhere "$ctl" report -o "$d/again.html" "$d/bare.db" 2>&1) $?"

# One frequency has one shade, whatever else a run had.
recording slow "insert into transitions values(1000000000, 0, 300000, 'trace'), (2000000000, 0, 960000, 'trace');
	update meta set value = 'slow' where key = 'label'"
recording fast "insert into transitions values(1000000000, 0, 960000, 'trace'), (2000000000, 0, 2100000, 'trace');
	update meta set value = 'fast' where key = 'label'"
drawn two "$d/slow.db" "$d/fast.db"
depths() { # its shades of frequencies: depth and MHz
	grep -o '<i class="depth" style="opacity:[0-9.]*"></i>[0-9]*' "$d/two.html" | sed 's/.*opacity:\([0-9.]*\)"><\/i>/\1 /' | sort -u
}
ok "a frequency has one shade on a page, and three have three, the highest the darkest" is "0.15 300 0.55 960 0.95 2100" "$(depths | paste -sd' ')"
recording_make "$d/everything.db" everything
drawn everything "$d/everything.db"
# Every colour of a phase is of that phase alone, and no line of a rail, CPU or group has it.
ok "no line has the colour of a phase" is 0 "$(grep -oh 'style="background-color:#[0-9a-f]*' "$d/everything.html" "$d/two.html" | cut -d# -f2 | sort -u |
	grep -cFf - <(sed -n '/<style>/,/<\/style>/p' "$d/two.html"))"

# More CPUs and rails than a plot holds.
recording many "delete from policies; insert into policies select value, 1, value || '-' || (value + 3), 'd', 'g', 1, 2, 3
	from generate_series(0, 60, 4); insert into transitions select 1000000000 + value, value, 960000, 'trace'
	from generate_series(0, 63); insert into rails(id, t, name, label, kind, unit, source, path, period_ns)
	select 100 + value, 1, 'chip:power' || value, 'r' || value, 'power', 'uW', 'hwmon', '/x', 1000000 from generate_series(1, 9);
	insert into samples select 1000000000 + value * 1000000, 100 + value % 9 + 1, 1000000, 1 from generate_series(1, 99)"
drawn many "$d/many.db"
ok "one CPU per policy is drawn" is "cpu0 cpu4 cpu8 cpu12 cpu16 cpu20 cpu24 cpu28" \
	"$(names many cpus)"
ok "the page reports what is not drawn" is "1 1" \
	"$(grep -c 'Of each policy one CPU is drawn.*Not drawn: 8 more policies' "$d/many.html") $(grep -c 'Not drawn: 4 more rails' "$d/many.html")"
ok "the table has all recordings" is 9 "$(grep -o '<th>r[0-9]<br>measured' "$d/many.html" | sort -u | wc -l)"

# One meaning of duration.
recording marked "insert into annotations(t, pid, text) values(11000000000, 1, 'start: x'), (31000000000, 1, 'end: x: 0');
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
