# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Which rail answers what a run drew, and which readings of a rail are no energy. Machines are made
# of files as their drivers show them; recordings are made of rows.

fresh rails
zone() { # ZONE NAME UJ: of powercap
	mkdir -p "$d/$m/class/powercap/$1"
	echo "$2" >"$d/$m/class/powercap/$1/name"
	echo 262143328850 >"$d/$m/class/powercap/$1/max_energy_range_uj"
	echo "$3" >"$d/$m/class/powercap/$1/energy_uj"
}
chip() { # N NAME [FILE VALUE]...: of hwmon
	local dir=$d/$m/class/hwmon/hwmon$1
	mkdir -p "$dir"
	echo "$2" >"$dir/name"
	shift 2
	while [ $# -gt 0 ]; do
		echo "$2" >"$dir/$1"
		shift 2
	done
}
recorded() { # MACHINE [COMMAND]: its recording, while the command feeds it
	"$ctl" record -q -o "$d/$1.db" --gchintd "$gchintd" --option --sysfs="$d/$1" --option --tracefs="$d/none" -- \
		sh -c "${2:-sleep 0.3}" >"$d/$1.said" 2>&1
	"$ctl" summary "$d/$1.db" >"$d/$1.summary"
}
headline() { # MACHINE: the rails of the headline
	sed -n 's/^energy: \([^ ]*\).* J of \(.*\) (.*/\2/p; s/^energy: \(unknown.*\)/\1/p' "$d/$1.summary"
}
fed() { # FILE...: a loop that adds 50 mJ each 10 ms to counters, for 0.5 s
	local f
	printf 'e=1000000; for i in $(seq 50); do e=$((e+50000)); '
	for f; do printf 'echo $e >%s; ' "$f"; done
	printf 'sleep .01; done'
}

# A desktop: a graphics card and a battery come before the package by name.
m=desktop
chip 3 amdgpu power1_label PPT power1_average 90000000
chip 4 BAT0 in0_input 12000 power1_input 45000000
zone intel-rapl:0 package-0 1000000
zone intel-rapl:0:0 core 1000000
zone intel-rapl:1 psys 1000000
recorded desktop "$(fed "$d/desktop/class/powercap/intel-rapl:0/energy_uj" "$d/desktop/class/powercap/intel-rapl:1/energy_uj")"
ok "the package answers, not a GPU, a battery or the platform" is package-0 "$(headline desktop)"
ok "a GPU's and a battery's rails are listed as such" is "1 1" \
	"$(grep -c '^ENERGY  amdgpu:power1 (PPT), a GPU: ' "$d/desktop.summary") $(grep -c '^ENERGY  BAT0:power1, a battery or charger: no consumption: ' "$d/desktop.summary")"
ok "and are not attributed to threads" is 2 \
	"$(grep -c 'attributed to threads: ?  (the rail does not feed CPUs)' "$d/desktop.summary")"

# Two packages; the first one's energy is told by two interfaces.
m=server
zone intel-rapl:0 package-0 1000000
zone intel-rapl-mmio:0 package-0 1000000
zone intel-rapl:1 package-1 2000000
recorded server "p=$d/server/class/powercap; e=1000000; for i in \$(seq 50); do e=\$((e+50000)); echo \$e >\$p/intel-rapl:0/energy_uj
	echo \$e >\$p/intel-rapl-mmio:0/energy_uj; echo \$((2*e)) >\$p/intel-rapl:1/energy_uj; sleep .01; done"
ok "all packages answer, each once" is "package-0 and package-1" "$(headline server | sed 's/package-1 and package-0/package-0 and package-1/')"

made() { # NAME SQL: a recording of ten seconds with no rails but those of the SQL
	sqlite3 "$d/$1.db" <"$here/recordings/0.1.0.sql"
	sqlite3 "$d/$1.db" "delete from samples; delete from transitions; delete from residency; delete from costs; delete from rails;
		delete from annotations; delete from phases; update meta set value = 1000000000 where key = 'start_ns'; delete from opps;
		update meta set value = 11000000000 where key = 'end_ns'; $2"
	"$ctl" summary "$d/$1.db" >"$d/$1.summary"
}
rail="insert into rails(id, name, label, kind, unit, source, cpus, update_ns, wraps_at) values"
# Dies that mirror one counter.
made mirrored "$rail(1, 'intel-rapl:0', 'package-0-die-0', 'energy', 'uJ', 'powercap', null, 1000000, null),
		(2, 'intel-rapl:1', 'package-0-die-1', 'energy', 'uJ', 'powercap', null, 1000000, null),
		(3, 'intel-rapl:2', 'package-1-die-0', 'energy', 'uJ', 'powercap', null, 1000000, null);
	insert into samples select 1000000000 + value * 100000000, r.id, value * 1000000 * (1 + (r.id = 3)), 1 from generate_series(0, 100), rails r"
ok "a die that mirrors another's counter counts once" is "energy: 300 J of package-0-die-0 and package-1-die-0 (measured); 1 more rail below" \
	"$(grep '^energy:' "$d/mirrored.summary")"

# A second reading at the instant of another one: of the first, and in the middle; then after a reset.
halves() { # VALUE VALUES: 100 readings, the rows VALUES after those of the first 5 s
	echo "insert into samples select 1000000000 + value * 100000000, 1, $1, 1 from generate_series(0, 50);
		insert into samples values $2;
		insert into samples select 1000000000 + value * 100000000, 1, $1, 1 from generate_series(51, 100)"
}
zone_rail="$rail(1, 'intel-rapl:0', 'package-0', 'energy', 'uJ', 'powercap', null, null, null)"
made instant "$zone_rail; insert into samples values(1000000000, 1, -1000000, 1);
	$(halves 'value * 1000000 + 30000000 * (value > 50)' '(6000000000, 1, 80000000, 1)')"
ok "energy between two readings of one instant counts" is "energy: 131 J of package-0 (measured)" \
	"$(grep '^energy:' "$d/instant.summary")"
made reset "$zone_rail; $(halves 'value * 1000000 - 50000000 * (value > 50)' '(6000000000, 1, 0, 1), (6000000000, 1, 400000, 1)')"
ok "a reset between readings of one instant loses no energy" is "energy: 100 J of package-0 (measured)" \
	"$(grep '^energy:' "$d/reset.summary")"

# A laptop without RAPL: its battery is no answer. A board with a sensor of its input and one of its CPU.
m=laptop
chip 0 BAT0 in0_input 12000 power1_input 45000000
chip 1 ucsi_source_psy_USBC000:001 in0_input 20000 curr1_input 3000
recorded laptop
ok "a battery is no answer" grep -q '^energy: unknown (no power rail is readable' "$d/laptop.summary"
m=jetson
chip 0 ina3221 in1_label VDD_IN in2_label VDD_CPU_GPU_CV in3_label VDD_SOC in1_input 5000 in2_input 5000 in3_input 5000 \
	curr1_input 1200 curr2_input 300 curr3_input 200 in4_input 2 in5_input 1 in6_input 1 in7_input 4 in7_label "sum of shunt voltages" curr4_input 1700
recorded jetson
ok "a board's CPU answers before its input" is VDD_CPU_GPU_CV "$(headline jetson)"
ok "a sum of currents has no voltage, and a product has its voltage's label" is \
	"ina3221:curr1xin1|VDD_IN ina3221:curr2xin2|VDD_CPU_GPU_CV ina3221:curr3xin3|VDD_SOC" \
	"$(db=$d/jetson.db sql "select name, label from rails where kind = 'power' order by name" | paste -sd' ')"

# A reversed shunt; a battery that is charged and discharged.
made reversed "$rail(1, 'ina226:power1', null, 'power', 'uW', 'hwmon', null, null, null),
		(2, 'ina230:power1', null, 'power', 'uW', 'hwmon', null, null, null);
	insert into samples select 1000000000 + value * 100000000, 1, -1200000 - value, 1 from generate_series(0, 100);
	insert into samples select 1000000000 + value * 100000000, 2, -2000 + 4000 * (value % 2), 1 from generate_series(0, 100)"
ok "a negative power is not known, for a reason" grep -q \
	'^ENERGY  ina226:power1: ?  (its power is negative: its shunt is reversed, or it feeds a battery' "$d/reversed.summary"
ok "a meter may err a little around zero" grep -q '^ENERGY  ina230:power1: 0.000000 J' "$d/reversed.summary"

# A counter that stops in the middle, and one that cannot be read for a while: 10 W.
stop="select 1000000000 + value * 100000000, 1, min(value, 60) * 1000000, 1 from generate_series(0, 100)"
made stopped "$rail(1, 'intel-rapl:0', 'package-0', 'energy', 'uJ', 'powercap', null, 1000000, null); insert into samples $stop"
ok "the time after a counter stopped is not known" is "energy: 60 J of package-0 (measured); not known for 4.00 s of 10.0 s" \
	"$(grep '^energy:' "$d/stopped.summary")"
ok "and the table says why" grep -q 'its counter stopped for 40 readings: they are taken as unknown' "$d/stopped.summary"
made off "$rail(1, 'amdgpu:energy1', null, 'energy', 'uJ', 'hwmon', null, 1000000, null); insert into samples $stop"
ok "a GPU may be off" grep -q '^ENERGY  amdgpu:energy1, a GPU: 60.000000 J, mean 6' "$d/off.summary"
made gap "$rail(1, 'intel-rapl:0', 'package-0', 'energy', 'uJ', 'powercap', null, 1000000, null);
	insert into samples select 1000000000 + value * 100000000, 1, case when value between 40 and 55 then null else value * 1000000 end, 1
		from generate_series(0, 100)"
ok "the readings around a gap tell its energy" is "energy: 100 J of package-0 (measured)" "$(grep '^energy:' "$d/gap.summary")"
made lost "$rail(1, 'intel-rapl:0', 'package-0', 'energy', 'uJ', 'powercap', null, 1000000, null);
	insert into samples select 1000000000 + value * 100000000, 1,
		case when value between 40 and 55 then null else (value - 17 * (value > 55)) * 1000000 end, 1 from generate_series(0, 100)"
ok "unless the recorder did not know it" is "energy: 83 J of package-0 (measured); not known for 1.70 s of 10.0 s" \
	"$(grep '^energy:' "$d/lost.summary")"
made dead "$rail(1, 'intel-rapl:0', 'package-0', 'energy', 'uJ', 'powercap', null, 1000000, null);
	insert into samples select 1000000000 + value * 100000000, 1, 7, 1 from generate_series(0, 100)"
ok "a dead counter has one reason, in the answer and in the table" is \
	"energy: unknown (package-0: its counter never moved: it does not count here) ENERGY intel-rapl:0 (package-0): ? (its counter never moved: it does not count here, in 101 readings)" \
	"$(grep -i '^energy' "$d/dead.summary" | sed 's/  */ /g' | paste -sd' ')"

# A meter that averages for a second, as ACPI's: what it shows at first is of the time before.
m=server-board
chip 0 power_meter power1_average 200000000 power1_average_interval 1000
chip 1 macsmc_hwmon power2_label "AC Input Power" power2_input 90000000
recorded server-board
ok "a recording shorter than a meter's mean has no energy" is \
	"energy: unknown (power_meter:power1: its readings are means of a time that is longer than the recording)" \
	"$(grep '^energy:' "$d/server-board.summary")"
ok "what a mains adapter gives is no consumption" grep -q '^ENERGY  macsmc_hwmon:power2 (AC Input Power), a battery or charger' \
	"$d/server-board.summary"
made mean "$rail(1, 'power_meter:power1', null, 'power', 'uW', 'hwmon', null, 200000000, null);
	insert into samples select 1000000000 + value * 100000000, 1, 10000000, 1 from generate_series(0, 100);
	insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, how, uncertain) values
		(1, 4000000000, 4200000000, 0, 70, 70, 3, 2, 1, 0), (2, 6000000000, 9000000000, 0, 70, 70, 4, 2, 1, 0)"
ok "the energy before a mean is of the recording alone is not known" grep -q \
	'^energy: 98 J of power_meter:power1 (measured).*; not known for 200.* ms of 10.0 s' "$d/mean.summary"
ok "a phase has all of it only where it covers a meter's time" is "None of 0.0 s, 30 of 2.8 s" "$(
	"$ctl" summary --json "$d/mean.db" | python3 -c 'import json, sys
print(", ".join("%s of %.1f s" % (p["joules"], p["whole_ns"] / 1e9)
	for p in json.load(sys.stdin)["energy"][0]["by_phase"] if p["phase"] != "outside of phases"))')"

# A thread with two readings of its account, ten seconds apart: in its phase of 2 s it ran for all of
# its CPU time, or for none. Four CPUs, the other three busy for 4 s.
made wide "delete from idle; delete from sched; delete from policies; update meta set value = '0-3' where key = 'board.cpus';
	insert into transitions select 1000000000, value, 960000, 'start' from generate_series(0, 3);
	insert into idle select 1000000000 + k.value * 100000000, c.value, 0, 100000 * (k.value - case c.value
		when 0 then max(0, min(k.value - 30, 20)) else max(0, min(k.value - 20, 40)) end), k.value
		from generate_series(0, 3) c, generate_series(0, 100) k;
	insert into phases(id, t0, t1, cpu, tgid, tid, phase, flags, how, uncertain) values
		(1, 4000000000, 6000000000, 0, 70, 70, 4, 2, 1, 0);
	insert into sched(t, tgid, tid, run_ns) values(1000000000, 70, 70, 0), (11000000000, 70, 70, 2000000000);
	$rail(1, 'intel-rapl:0', 'package-0', 'energy', 'uJ', 'powercap', null, null, null);
	insert into samples select 1000000000 + value * 100000000, 1, 400000 * value + 200000 * max(0, min(value - 30, 20))
		+ 600000 * max(0, min(value - 20, 40)), 1 from generate_series(0, 100)"
ok "an attributed energy whose bounds tell nothing is not a number" is "mark, concurrent ? J (0.000000 to " \
	"$(sed -n '/attributed to threads in phases/,$p' "$d/wide.summary" | sed -n 's/  */ /g; s/^ \(mark, concurrent .* to \).*/\1/p' | head -n 1)"
