# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The text that gchintctl prints of a recording with a little of everything: the whole of each report
# once, in expected/; of other recordings the lines that mean something. outputs.py compares figures.

mkdir "$work/text"
d=$work/text
recording_make "$d/a.db" everything
for n in other similar sparse voltages wraps; do recording_make "$d/$n.db" everything $n; done

ok "summary" expected summary "$ctl" summary a.db
ok "summary with power limits" shows "$ctl" summary a.db -w 0.5:4 --watts package=1:2 <<'X2'
energy: 3.09 J of package (measured), 1.55 J of it in phases; 2 more rails below
compact, urgent 0.167125 J (0.150700 to 0.203200)
java (70) 1.592747 J (1.395800 to 1.978200)
ENERGY intel-rapl:0 (package)
wait 0.038750 J (0.031000 to 0.046500)
X2
ok "summary of an almost empty recording" shows "$ctl" summary sparse.db <<'X2'
? (70): paused 40.0 ms of 2.50 s (1.6 %), 1 pause
process not known: paused 294 ms of 2.50 s (12 %), 6 pauses
collection's CPU time: unknown
energy: unknown
sparse.db: no label, 2.500 s
roots, stw 3 90.400 3.6% 30.133 40.000 50.000 50.000 ?
! ENERGY
! RAIL
! DECISIONS
! COST
exit 0
X2
cp "$d/a.db" "$d/one-reading.db"
sqlite3 "$d/one-reading.db" "delete from samples; insert into samples values(1100000000, 1, 7, 900)"
ok "one reading has no energy" shows "$ctl" summary one-reading.db <<'X2'
energy: 0.298 J in phases (modelled from energy_model), without 97.4 ms of them at an unknown frequency
! (measured
ina226-0040:power1 uW 7 7 7 1 0
X2
ok "voltages have no energy" shows "$ctl" summary voltages.db <<'X2'
! (measured
adm1272:in1 uV 850000 909375 950000 12 1
shunt:curr1 uV 250000 250000 250000 13 0
X2
ok "energy over a wrap and over gaps is not invented" shows "$ctl" summary wraps.db <<'X2'
energy: 2.96 J of package (measured), 1.48 J of it in phases; not known for 100 ms of 2.45 s
ENERGY intel-rapl:0 (package): 2.964500 J, mean 1.261489 W (measured by powercap, every 50.0 ms, with gaps)
compact, urgent ? J (0.000000 to 0.312500)
intel-rapl:0 uJ 3018000 5005044 6955500 45 1
X2
ok "annotations" shows "$ctl" annotations a.db <<'X2'
0.150000 s start: sh
1.100000 s half <way> & "more"
2.400000 s end: sh: 0
X2

why_print() { # the longest pauses, and instants within and outside of phases
	"$ctl" why a.db
	for t in 0.1 0.312 0.95 1.245; do "$ctl" why a.db --at $t; done
}
ok "why" expected why why_print
ok "why: the name of a thread is that of the instant" shows "$ctl" why a.db --at 1.701 <<'X2'
asked by renamed, thread 80, in compact
under way refs, for 1.000 ms of 2.000, renamed, thread 80
X2
ok "why of an almost empty recording" shows "$ctl" why sparse.db -n 4 <<'X2'
AT s LENGTH ms PHASE CAUSE THREAD
0.705000 185.000 copy, stw unknown thread not known
0.200000 40.000 roots, stw allocation thread 70
No frequency is shown
X2
ok "why at an instant of one" shows "$ctl" why sparse.db --at 0.22 <<'X2'
no frequency policy was recorded
under way roots, stw, for 20.000 ms of 40.000, thread 70, cpu0
X2
ok "top" expected top "$ctl" top -n 1 -d 2.3 a.db
ok "top of an almost empty recording" shows "$ctl" top -n 1 sparse.db <<'X2'
frequency not known
mark, foreground 1 250.00 ms 16.0 %
X2
ok "compare" expected compare "$ctl" compare a.db similar.db other.db ./other.db
ok "compare with an almost empty recording" shows "$ctl" compare a.db sparse.db <<'X2'
duration 2.25 s → 2.50 s 11 % more (a single run)
not known of these runs: energy of core, measured;
X2

# Profiles: of a recording with a counter of energy, with a power meter, with neither.
for n in p q; do recording_make "$d/$n.db" everything profile; done
recording_make "$d/r.db" everything profile unknown
sqlite3 "$d/q.db" "delete from rails where kind = 'energy'; update meta set value = 'no' where key = 'hotspots.kernel';
	delete from hotspots where phase is null"
ok "tables of a profile" expected profile "$ctl" profile report p.db
ok "a profile with a power meter, without the kernel, cut to four lines" shows "$ctl" profile report -n 4 q.db <<'X2'
98 samples by cpu-clock, 0.098 s of CPU time; 76.5 % in a method that was named
time in the kernel was not sampled
62 63.27 libjvm.so
... and 2 more: --lines
energy measured, rail ina226-0040:power1
40 40.82 2100 0.069 no bound roots, stw Main.run <init>
X2
ok "a profile of which nothing but its samples is known" shows "$ctl" profile report --lines 5 r.db <<'X2'
101 samples by , 0.000 s of CPU time; 0.0 % in a method that was named
101 100.00 ?
energy modelled, by energy_model
80 79.21 ? ? ? ?
X2
for filter in "-m Main* 72" "--phase none 16" "--phase mark --process java 32" "--phase roots 40"; do
	# shellcheck disable=SC2086 # options and arguments
	ok "filter of a profile: ${filter% *}" shows "$ctl" profile report ${filter% *} p.db <<<"${filter##* } samples of 101 by"
done
for filter in "-m nix*" "--process nix" "-m nix* --phase mark --process java"; do
	# shellcheck disable=SC2086 # options and arguments
	ok "a filter that no sample passes is refused: $filter" shows "$ctl" profile report $filter p.db <<<"exit 3"
done
# Threads of a collector that announce nothing: within and outside of a pause, and of a concurrent
# phase; with and without an answer. A thread that has no such role keeps what it said.
cp "$d/p.db" "$d/w.db"
sqlite3 "$d/w.db" "delete from hotspots; insert into leases values(1100000000, 70, 72, 9, 2, 2, 0), (1100000000, 70, 73, 9, 3, 1, 0);
	insert into hotspots select 1210000000 + value, 70, 72, 0, 0, 0, 0, 4096, null, null from generate_series(0, 4);
	insert into hotspots select 1220000000 + value, 70, 72, 0, null, null, null, 4096, null, null from generate_series(0, 2);
	insert into hotspots values(1891000000, 70, 72, 0, 0, 0, 0, 4096, null, null), (1230000000, 70, 74, 0, 0, 0, 0, 4096, null, null),
	(1400000000, 70, 73, 0, 0, 0, 0, 4096, null, null), (1215000000, 70, 73, 0, 0, 0, 0, 4096, null, null)"
phases_of() { # each phase with its samples, and how many of them are derived
	"$ctl" profile report "$d/w.db" | awk '/samples of collector threads/ { print "derived", $1 } /^By method, phase/ { table = 1 }
		table && match($0, /(outside of phases|[a-z]+, (stw|concurrent))/) { n[substr($0, RSTART, RLENGTH)] += $1 }
		END { for (phase in n) print phase, n[phase] }' | sort | paste -sd' '
}
ok "samples of a collector's workers have the phase that it announced" is \
	"derived 10 mark, concurrent 1 outside of phases 2 roots, stw 9" "$(phases_of)"
sqlite3 "$d/w.db" "insert into drops values(1100000000, 'record', 31000, 'queue full: the disk is too slow or full')"
ok "rows that the recorder lost are in the report of a profile" is "31000 samples, answers or names were lost" \
	"$("$ctl" profile report "$d/w.db" | grep lost)"
cp "$d/p.db" "$d/s.db"
sqlite3 "$d/s.db" "delete from hotspots where rowid % 3 = 0 and method is not null; update hotspots set method = null where rowid % 7 = 0"
ok "diff of two profiles" shows "$ctl" profile diff p.db s.db <<'X2'
0.101 s of CPU time before (101 samples), 0.069 s since (69)
0.060 0.034 -0.026 59.41 49.28 Main.run <init>
0.016 0.019 ~ +0.003 15.84 27.54 ?
X2
ok "the other way round, cut to two lines" shows "$ctl" profile diff -n 2 s.db p.db <<'X2'
0.034 0.060 +0.026 49.28 59.41 Main.run <init>
... and 3 more: --lines
X2
ok "a filter of all phases leaves what is in one" shows "$ctl" profile report --phase gc p.db <<<"82 samples of 101 by"
ok "diff of a phase" shows "$ctl" profile diff --phase mark p.db s.db <<<"0.000 0.002 ~ +0.002 0.00 9.52 ?"
ok "a profile is not compared with a recording without samples" shows "$ctl" profile diff p.db a.db <<<"exit 3"
# Names with characters that separate words in perf's format.
cp "$d/p.db" "$d/names.db"
sqlite3 "$d/names.db" "update processes set comm = 'a (b)' || char(10) || 'c' where tgid = 70; update symbols set
	name = 'f(g h)' || char(10) || 'i', image = 'l (1)' || char(10) || '.so' where name = 'mark_loop'"
ok "names in perf's format separate no words" shows "$ctl" profile export --format perf-script --phase roots names.db <<'X2'
a__b__c 70/70 [000] 1.200000: 1000000 cpu-clock:
1000 f[g h] i (l__1__.so)
1fff sweep;all (libjvm.so)
0 Main.run <init> ([methods])
0 roots ([phases])
X2
ok "a flame graph has a frame for each function, with its share" shows bash -c "'$ctl' profile flame -o p.svg p.db && cat p.svg" <<'X2'
all &amp; sundry: 101 samples by cpu-clock
<title>all: 101 samples, 100.00 %, 1543 MHz</title>
<title>java: 93 samples, 92.08 %, 1606 MHz</title>
X2
ok "a flame graph of two profiles has the change of each frame" shows bash -c "'$ctl' profile flame -o p.svg p.db s.db && cat p.svg" <<'X2'
s of CPU time, against 0.101 s of all &amp; sundry
red: more CPU time than before; blue: less
X2
ok "two profiles have no joules in common" shows "$ctl" profile flame --energy p.db s.db <<<"exit 2"
# Frames narrower than three tenths of a pixel are left out; nine of 35400 are just as wide.
narrow() { # SAMPLES FEW: frames of the plots if so many of them belong to another program
	sqlite3 "$d/q.db" "delete from hotspots; insert into hotspots select 1200000000 + value, case when value <= $2 then 80 else 70 end,
		70, 0, 0, 0, 0, 4096, null, null from generate_series(1, $1)"
	"$ctl" profile flame -o "$d/narrow.svg" "$d/q.db"
	grep -c '<g class="frame"' "$d/narrow.svg"
}
ok "flame graphs omit functions that are too narrow" is "5 3" "$(narrow 35400 9) $(narrow 35401 9)"


# A trace of programs: each event of gchint-trace(5), and some invalid lines.
"$ctl" import "$here/recordings/everything.trace" -o "$d/i.db" -l "of a trace" 2>"$d/import.err"
ok "an import has readings of the heap, unknown values as NULL" is \
	"1040000000|200|before|70|?|100|?|?|0 1040500000|200|after|?|0|?|9|3|?" "$(sqlite3 "$d/i.db" "select t, tgid, moment,
	ifnull(used, '?'), ifnull(committed, '?'), ifnull(most, '?'), ifnull(allocated, '?'), ifnull(freed, '?'),
	ifnull(generation, '?') from heaps order by t" | paste -sd' ')"
ok "of an import the first invalid line is reported" is "1 1" "$(grep -c 'everything.trace:27: not a line of gchint-trace(5)' "$d/import.err") $(
	grep -c '13 phases into' "$d/import.err")"
ok "a trace has its phases, by thread, with their flags, causes and work" is \
	"100 100 3 9 1 7 11|100 101 4 2 2 - 500|100 101 7 6 4 - -|100 101 4 2 2 400 -|100 102 1 1 - - -|100 102 9 0 - - -|100 102 8 1 - - -|100 101 5 1 - - -|100 100 10 2 - - -|200 200 11 0 - 3 -|200 200 11 0 - - -|200 200 11 0 - - -|200 200 6 1 - - -" \
	"$(db=$d/i.db sql "select concat from (select id, tgid || ' ' || tid || ' ' || phase || ' ' || flags || ' ' || coalesce(cause, '-') || ' ' ||
		coalesce(work_done, '-') || ' ' || coalesce(work_total, '-') as concat from phases order by id)" | paste -sd'|')"
ok "its leases, with their roles" is "100 100 0 0|100 101 1 0|100 102 2 1|100 101 ? 2" \
	"$(db=$d/i.db sql "select tgid || ' ' || tid || ' ' || coalesce(role, '?') || ' ' || lease from leases order by t" | paste -sd'|')"
ok "what it lacks, its span and its source" is "12 3 1000000000 1041000000 library running" \
	"$(db=$d/i.db sql "select group_concat(count, ' ') from drops") $(db=$d/i.db sql "select group_concat(value, ' ') from
		(select value from meta where key in ('start_ns', 'end_ns') order by value)") $(db=$d/i.db sql "select name || ' ' || state from sources")"
# Nested phases, deeper than in any program.
{
	for i in $(seq 80); do echo "$((1000 + i)) 1 1 begin mark concurrent done=$i"; done
	for i in $(seq 79); do echo "$((2000 + i)) 1 1 end mark concurrent"; done
} >"$d/deep.trace"
"$ctl" import "$d/deep.trace" -o "$d/deep.db" 2>"$d/import.err"
ok "deeply nested phases follow each other without a gap" is "159 0 3240 1 1001 2079" "$(db=$d/deep.db sql "select count(*) || ' ' ||
	(select count(*) from phases p where t1 not in (select t0 from phases) and t1 != (select max(t1) from phases)) || ' ' ||
	sum(work_done) || ' ' || count(distinct slot) || ' ' || min(t0) || ' ' || max(t1) from phases")"

# Mistakes: the status, and what of the command line the message names.
mistakes_check() {
	local code named line status
	while read -r code named line; do
		status=0
		# shellcheck disable=SC2086 # command and arguments
		"$ctl" $line </dev/null >out 2>&1 || status=$?
		[ "$status" = "$code" ] || echo "$line: exit $status, not $code"
		grep -qF -- "$named" out || echo "$line: no '$named' in: $(head -n 1 out)"
		[ "$(grep -c '^gchint' out)" -ge 1 ] || [ "$code" = 0 ] || echo "$line: no program's name"
	done
}
ok "mistakes have their status and are named" is "" "$(cd "$d" && mistakes_check <<'X2'
2 summary summary
2 summary summary a.db other.db
3 absent.db summary absent.db
2 --watts summary a.db --watts
2 3:2 summary a.db --watts 3:2
0 no=1:2 summary a.db --watts no=1:2
2 --nix summary --nix
2 annotations annotations
4 absent annotations --add x --socket absent
2 why why a.db other.db
2 --at why a.db --at
2 x why a.db --at x
2 99 why a.db --at 99
2 -n why a.db -n 0
2 -n top -n x a.db
2 -d top -d 0 a.db
3 absent.db top absent.db
2 compare compare a.db
2 sundry compare a.db a.db
3 absent.db compare a.db absent.db
2 --format export a.db
2 word export a.db --format word
2 nothing export a.db -f csv -t nothing
2 jsonl export a.db -f jsonl -t phases
3 absent/x export a.db -f csv -o absent/x
2 report report
3 absent/x.html report a.db -o absent/x.html
2 -1 report a.db --detail -1
2 import import
3 absent.trace import absent.trace -o new.db
3 other.db import a.db -o other.db
2 record record
2 'o' record -o
4 period_ms record -p 0 -- true
4 absent record --gchintd absent -o n.db -- true
2 run run
2 some run -H some -- true
127 absent-program run -- absent-program
2 attach attach x
2 attach attach 1 2
2 actuator actuator some
2 'x' runtimes x
2 'x' status x
2 nothing help nothing
2 profile profile nix
2 recording profile report p.db r.db
3 a.db profile report a.db
2 nix profile report --phase nix p.db
2 1000001 profile report -n 1000001 p.db
2 5x profile report -n 5x p.db
3 absent/x.svg profile flame -o absent/x.svg p.db
2 2001 profile record -F 2001 -- true
2 127 profile record -c 01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567 -- true
2 -d watch -d 0.09
2 -d watch -d 3601
2 -n watch -n 0
2 --nix --nix
0 gchintctl --version
0 gchintctl -V
X2
)"
ok "an import that fails leaves no recording" test ! -e "$d/new.db"
rm -rf "$d/sys" "$d/debug" "$d/trace"
"$here/tree" "$d"
board() { # ARGUMENT...: the part that depends on the board in $d, not on the machine
	GCHINT_SYSFS=$d/sys GCHINT_DEVICE=$d/none "$ctl" "$@" | sed -E 's/ \(.*Linux .*//' |
		grep -vE '^ +(genl|hotspots|library|perf|sched|trace) |fix: '
}
ok "status of a board" shows board status <<'X2'
board Test board
module not loaded: hints change no frequency; recording works without it
policy0 CPUs 0 governor schedutil driver cpufreq-dt
now 960.0 MHz min 300.0 MHz max 2100.0 MHz
sources
hwmon + 5 channels on 2 chips
powercap + 1 energy counters
missing
power -
X2
ok "why of a board" shows board why <<'X2'
policy0 now 960.0 MHz governor schedutil
hints: gchint is not loaded
X2
# A machine without any source.
mkdir "$d/empty"
for c in "0 status policies none: hints are recorded" "0 why this machine has no cpufreq policy" "2 why -n 1" "1 watch -n 1" "1 actuator auto" \
	"1 actuator governor" "0 actuator off in force off:" "1 actuator"; do
	read -r code command rest <<<"$c"
	case $command in status | why) arguments='' text=$rest ;; *) read -r arguments text <<<"$rest" ;; esac
	[ "$rest" != "-n 1" ] || arguments="-n 1" text=''
	# shellcheck disable=SC2086 # arguments
	ok "$command $arguments on a machine without any source" shows env GCHINT_SYSFS="$d/empty" GCHINT_PROCFS="$d/empty" \
		GCHINT_DEBUGFS="$d/empty" GCHINT_TRACEFS="$d/empty" GCHINT_DEVICE="$d/none" "$ctl" $command $arguments <<<"${text:+$text$'\n'}exit $code"
done
