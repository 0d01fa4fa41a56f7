# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The complete output of gchintctl for one recording that contains a little of everything,
# recordings/everything.sql, compared with the reviewed files in words/. WORDS=write, of make check, rewrites
# them: review the difference in git then.

mkdir "$work/words"
d=$work/words
for n in a b c e; do
	sqlite3 "$d/$n.db" <"$here/recordings/0.1.0.sql"
	sqlite3 "$d/$n.db" <"$here/recordings/everything.sql"
done
# Another run of it, with more power, at another frequency, on another host.
sqlite3 "$d/b.db" "update meta set value = 'other' where key = 'label'; update samples set value = value * 11 / 10 where rail = 1;
	update transitions set khz = 1400000 where khz = 300000; update phases set t1 = t1 + (t1 - t0) / 8 where id in (1, 5, 7, 10)"
sqlite3 "$d/c.db" "update samples set value = value * 102 / 100 where rail = 1; update phases set t1 = t1 - 300000 where id in (1, 10)"
# And an almost empty one.
sqlite3 "$d/e.db" "update meta set value = '' where key in ('label', 'board.model', 'board.host', 'board.kernel'); delete from samples;
	delete from rails; delete from transitions; delete from policies; delete from policy_states; delete from processes;
	delete from opps; delete from decisions; delete from costs; delete from drops; delete from clocks; delete from annotations;
	update phases set cpu = null, tgid = null, tid = null, cause = null where id > 2"

json() { # ARGUMENT...: gchintctl's, a member a line
	"$ctl" --json "$@" | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin), indent=0))'
}
ok "summary" words summary "$ctl" summary a.db
ok "summary with power limits" words summary-watts "$ctl" summary a.db -w 0.5:4 --watts package=1:2
ok "summary of an almost empty recording" words summary-none "$ctl" summary e.db
ok "summary in JSON" words summary.json json summary a.db
ok "summary of an almost empty recording in JSON" words summary-none.json json summary e.db
cp "$d/a.db" "$d/one-reading.db"
sqlite3 "$d/one-reading.db" "delete from samples; insert into samples values(1100000000, 1, 7, 900)"
ok "summary of one reading" words summary-one-reading "$ctl" summary one-reading.db
# Voltages that change and one that does not; a counter that wraps and is unreadable for a while.
cp "$d/a.db" "$d/v.db"
sqlite3 "$d/v.db" "delete from samples where rail != 3; insert into samples values(900000000, 3, 850000, 1), (1800000000, 3, null, 1),
	(3400000000, 3, 950000, 1); insert into samples select t, 4, 250000, 1 from samples where rail = 3;
	update rails set kind = 'voltage', unit = 'uV' where id = 4"
cp "$d/a.db" "$d/u.db"
sqlite3 "$d/u.db" "delete from samples where rail != 2; update samples set value = null where rail = 2 and (t - 1003000000) / 50000000 in (20, 21, 22, 49);
	update samples set value = value - 4000000 where rail = 2 and t > 2600000000;
	update samples set t = (select t from samples s where s.rail = 2 and s.rowid = samples.rowid - 1) where rail = 2 and (t - 1003000000) / 50000000 = 30"
for n in v u; do
	ok "summary of other rails ($n)" words summary-$n "$ctl" summary $n.db
	ok "why of other rails ($n)" words why-$n "$ctl" why $n.db -n 2
done
ok "annotations" words annotations "$ctl" annotations a.db
ok "annotations in JSON" words annotations.json json annotations a.db
ok "why of the longest pauses" words why "$ctl" why a.db
ok "why of an almost empty recording" words why-none "$ctl" why e.db -n 4
at() {
	local t
	for t in 0 0.1 0.2 0.245 0.312 0.703 0.95 1.245 1.31 1.6 1.701 1.85 1.95 2.4; do
		"$ctl" why a.db --at $t
	done
	"$ctl" why e.db --at 0.22
}
ok "why at instants" words why-at at
ok "top" words top "$ctl" top -n 1 a.db
ok "top over a longer interval" words top-long "$ctl" top -n 1 -d 2.3 a.db
ok "top of an almost empty recording" words top-none "$ctl" top -n 1 e.db
ok "top in JSON" words top.json json top -n 1 -d 2 a.db
ok "compare" words compare "$ctl" compare a.db b.db c.db
ok "compare two of each" words compare-two "$ctl" compare a.db c.db b.db ./b.db
ok "compare in JSON" words compare.json json compare a.db c.db b.db ./b.db
ok "compare with an almost empty recording" words compare-none "$ctl" compare a.db e.db
for f in csv jsonl chrome-trace firefox openmetrics prometheus; do
	ok "export as $f" words "$f" "$ctl" export a.db --format $f
done
for f in csv jsonl chrome-trace firefox; do
	ok "export of an almost empty recording as $f" words "$f-none" "$ctl" export e.db --format $f
done
ok "export of a table" words csv-samples "$ctl" export a.db -f csv -t samples
for v in pause frequency decision sample; do
	ok "export of a view" words csv-$v-list "$ctl" export a.db -f csv -t ${v}_list
done
# A packet per line.
perfetto() {
	"$ctl" export -f perfetto "$1" | protoc --decode=perfetto.protos.Trace -I "$here" perfetto.proto |
		awk '/^packet/ && NR > 1 { print line; line = "" } { sub(/^ +/, ""); line = line $0 " " } END { print line }'
}
if command -v protoc >/dev/null; then
	ok "export as perfetto" words perfetto perfetto a.db
	ok "export of an almost empty recording as perfetto" words perfetto-none perfetto e.db
else
	skip "export as perfetto" "no protoc: packaging/need unit"
fi

# Groups of runs without any result, with many results, and of equal runs.
for n in 1 2 3 4 5 6 7 8; do
	cp "$d/a.db" "$d/c$n.db"
	# Before: n and -n hundredths around a.db's; since: twice as long, or anywhere.
	sqlite3 "$d/c$n.db" "update meta set value = case when $n < 5 then 'before' else 'since' end where key = 'label';
		update samples set value = value * (100 + $n * ($n % 2 * 2 - 1)) / 100 where rail = 1;
		update phases set t1 = t0 + (t1 - t0) * case when $n < 5 then 1 + $n / 50.0 when id % 2 then 2 + $n / 50.0 else $n % 4 / 2.0 + .02 end"
done
ok "compare four and four" words compare-four "$ctl" compare c1.db c2.db c3.db c4.db c5.db c6.db c7.db c8.db
ok "compare four and four in JSON" words compare-four.json json compare c1.db c2.db c3.db c4.db c5.db c6.db c7.db c8.db
ok "compare of equal runs" words compare-alike "$ctl" compare a.db ./a.db c.db ./c.db

# Profiles: of a recording with a counter of energy, with a power meter, with neither.
for n in p q r; do
	cp "$d/a.db" "$d/$n.db"
	sqlite3 "$d/$n.db" <"$here/recordings/profile.sql"
done
sqlite3 "$d/q.db" "delete from rails where kind = 'energy'; update meta set value = 'no' where key = 'hotspots.kernel';
	delete from hotspots where phase is null"
sqlite3 "$d/r.db" "delete from rails; update meta set value = '' where key like 'hotspots.%'; update hotspots set cpu = null;
	update hotspots set phase = null, flags = null, method = null"
profiles() {
	"$ctl" profile report p.db
	"$ctl" profile report -n 3 p.db
	"$ctl" profile report -n 4 q.db
	"$ctl" profile report --lines 5 r.db
	echo "== filters"
	"$ctl" profile report -n 2 -m 'Main*' p.db
	"$ctl" profile report -n 2 --phase none p.db
	"$ctl" profile report -n 2 --phase mark --process java p.db
	for filter in "-m nix*" "--phase roots" "--process nix" "-m nix* --phase mark --process java"; do
		# shellcheck disable=SC2086 # option and argument
		"$ctl" profile report $filter p.db || echo "exit $?"
	done
}
ok "tables of a profile" words profile profiles
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
diffs() {
	cp p.db s.db
	sqlite3 s.db "delete from hotspots where rowid % 3 = 0 and method is not null; update hotspots set method = null where rowid % 7 = 0"
	"$ctl" profile diff p.db s.db
	"$ctl" profile diff -n 2 s.db p.db
	"$ctl" profile diff p.db q.db
	"$ctl" profile diff --phase mark p.db s.db
	"$ctl" profile diff --phase nix p.db s.db || echo "exit $?"
	"$ctl" profile diff p.db || echo "exit $?"
	"$ctl" profile diff p.db a.db || echo "exit $?"
}
ok "diff of two profiles" words profile-diff diffs
profile_exports() {
	local n
	for n in p r; do
		"$ctl" profile export --format speedscope $n.db | sed 's/},/&\n/g'
		echo
		"$ctl" profile export --format perf-script --method 'f*' $n.db
	done
	"$ctl" profile export --format perf-script --phase mark --process java p.db | head -n 40
	"$ctl" profile export p.db || echo "exit $?"
	"$ctl" profile export --format nix p.db || echo "exit $?"
}
ok "profiles in other formats" words profile-export profile_exports
named() { # Names with characters that separate words there.
	cp p.db h.db
	sqlite3 h.db "update processes set comm = 'a (b)' || char(10) || 'c' where tgid = 70; update symbols set
		name = 'f(g h)' || char(10) || 'i', image = 'l (1)' || char(10) || '.so' where name = 'mark_loop'"
	"$ctl" profile export --format perf-script --phase roots h.db | head -n 12
}
ok "profiles with unusual names" words profile-names named
profile_firefox() {
	local n
	for n in p r; do
		"$ctl" profile export --format firefox $n.db
	done
	"$ctl" profile export --format firefox --process 'py*' p.db
}
ok "profiles for the Firefox Profiler" words profile-firefox profile_firefox
ok "folded stacks of a profile" words profile-folded "$ctl" profile flame --folded p.db
flames() {
	local n
	for n in p r; do
		rm -f $n.svg
		"$ctl" profile flame -o $n.svg $n.db
		cat $n.svg
	done
	(mkdir -p unnamed && cd unnamed && "$ctl" profile flame --phase mark ../p.db && sed -n 1,4p flame.svg)
}
ok "flame graph of a profile" words profile-flame flames
# Frames narrower than three tenths of a pixel are left out; nine of 35400 are just as wide.
narrow() { # SAMPLES FEW: frames of the plots if so many of them belong to another program
	sqlite3 "$d/q.db" "delete from hotspots; insert into hotspots select 1200000000 + value, case when value <= $2 then 80 else 70 end,
		70, 0, 0, 0, 0, 4096, null, null from generate_series(1, $1)"
	"$ctl" profile flame -o "$d/narrow.svg" "$d/q.db"
	grep -c '<rect x=' "$d/narrow.svg"
}
ok "flame graphs omit functions that are too narrow" is "5 3" "$(narrow 35400 9) $(narrow 35401 9)"

# The page: its text and still pictures without scripts, and the script's data.
page() { # NAME FILE...: its text
	"$ctl" report -o "$d/$1.html" -t "a <title> & more" "${@:2}" 2>/dev/null
	sed -e '/<style>/,/<\/style>/d' -e '/<script/,/<\/script>/d' -e '/<meta /d' "$d/$1.html"
}
given() {
	sed -n '/<script type="application\/json"/,/<\/script>/p' "$d/$1.html"
}
ok "page of one recording" words page page one a.db
ok "page of several recordings" words page-some page some a.db b.db c.db e.db
for n in v u; do
	ok "page of other rails ($n)" words page-$n page $n $n.db
done
# Voltages whose first value is known some time after the beginning.
cp "$d/v.db" "$d/w.db"
sqlite3 "$d/w.db" "delete from samples where t < 1200000000"
ok "page of late voltages" words page-w page w w.db
if grep -q 'application/json' "$d/one.html"; then
	for n in v u; do
		ok "data of the page's script, other rails ($n)" words given-$n given $n
	done
	ok "data of the page's script" words given given one
else
	skip "data of the page's script" "built without dygraphs: packaging/need build"
fi

# Traces of programs: each event of gchint-trace(5), and some invalid ones.
imported() {
	rm -f "$d/i.db"
	"$ctl" import "$here/recordings/everything.trace" -o i.db -l "of a trace"
	"$ctl" export i.db -f jsonl | grep -v '"table":"names"'
	"$ctl" summary i.db
	sqlite3 i.db "select key, value from meta where key != 'program' and key not like 'board.%'; select name, state, what, remedy from sources;
		select source, clock, how from clocks where source != 'realtime'"
}
ok "import of a trace" words imported imported
deep() { # Nested phases, deeper than in any program.
	local i
	for i in $(seq 80); do echo "$((1000 + i)) 1 1 begin mark concurrent done=$i"; done >deep.trace
	for i in $(seq 79); do echo "$((2000 + i)) 1 1 end mark concurrent"; done >>deep.trace
	rm -f "$d/deep.db"
	"$ctl" import deep.trace -o deep.db
	sqlite3 deep.db 'select count(*), sum(t1 - t0), sum(work_done), min(flags), max(session & 255) from phases;
		select t0, t1, work_done from phases where id between 62 and 98'
}
ok "import of deeply nested phases" words deep deep

# Mistakes, each with its status.
mistakes() {
	local line status
	while read -r line; do
		status=0
		# shellcheck disable=SC2086 # command and arguments
		"$ctl" $line </dev/null >out 2>&1 || status=$?
		echo "== $line: exit $status"
		head -n 4 out
	done <<'X2'
summary
summary a.db b.db
summary absent.db
summary a.db --watts
summary a.db --watts x
summary a.db --watts 3:2
summary a.db --watts no=1:2
annotations
annotations a.db b.db
annotations --add x --socket absent
annotations --add
why a.db b.db
why a.db --at
why a.db --at x
why a.db --at -1
why a.db --at 99
why a.db -n 0
why a.db -n x
why absent.db
why a.db --at 1 -n 2
top -n 0 a.db
top -n x a.db
top -d 0 a.db
top -d x a.db
top a.db b.db
top absent.db
compare
compare a.db
compare a.db a.db
compare a.db absent.db
export
export a.db
export a.db --format
export a.db --format word
export a.db -f csv -t nothing
export a.db b.db -f csv
export a.db -f jsonl -t phases
export a.db -f csv -o absent/x
report
report absent.db
report a.db -o absent/x.html
report a.db --detail x
report a.db --detail -1
import
import absent.trace -o new.db
import a.db -o c.db
record
record -o
record -p x -- true
record -p 0 -- true
record --gchintd absent -o n.db -- true
run
run -H some -- true
run -- absent-program
attach
attach x
attach 0
attach 1 2
actuator some
actuator off more
runtimes x
status x
help nothing
profile
profile nix
profile report
profile report p.db r.db
profile report absent.db
profile report a.db
profile report --phase nix p.db
profile report -n 0 p.db
profile report -n 1000001 p.db
profile report -n 5x p.db
profile report -n x p.db
profile report --nix p.db
profile flame -o absent/x.svg p.db
profile record
profile record -F 0 -- true
profile record -F 2001 -- true
profile record -c 01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567 -- true
watch -d 0
watch -d 0.09
watch -d 3601
watch -n 0
watch -n x
watch a b
watch --nix
--nix
--version
-V
status --nix
runtimes --nix
actuator --nix
attach --nix
annotations --nix
summary --nix
compare --nix a.db b.db
export --nix
import --nix
why --nix
why a.db e.db -n 1
report --nix
X2
}
ok "messages of mistakes" words mistakes mistakes
ok "an import that fails leaves no recording" test ! -e "$d/new.db"
rm -rf "$d/sys" "$d/debug" "$d/trace"
"$here/tree" "$d"
board() { # ARGUMENT...: the part that depends on the board in $d, not on the machine
	GCHINT_SYSFS=$d/sys GCHINT_DEVICE=$d/none "$ctl" "$@" | sed -E 's/ \(.*Linux .*//' |
		grep -vE '^ +(genl|hotspots|library|perf|sched|trace) |fix: '
}
ok "status of a board" words status board status
members() {
	GCHINT_SYSFS=$d/sys GCHINT_DEVICE=$d/none "$ctl" --json status | python3 -c 'import json, sys
said = json.load(sys.stdin)
del said["kernel"], said["machine"]
said["sources"] = [s for s in said["sources"] if s["source"] not in ("genl", "hotspots", "library", "perf", "sched", "trace")]
print(json.dumps(said, indent=0))'
}
ok "status of a board in JSON" words status.json members
ok "why of a board" words why-now board why
# A machine without any source, but for those that are left out here; so is their heading.
nothing() {
	mkdir -p "$d/empty"
	for c in "status" "--json status" why "why -n 1" "watch -n 1" "actuator auto" "actuator governor" "actuator off" actuator; do
		echo "== $c"
		# shellcheck disable=SC2086 # command and arguments
		GCHINT_SYSFS=$d/empty GCHINT_PROCFS=$d/empty GCHINT_DEBUGFS=$d/empty GCHINT_TRACEFS=$d/empty GCHINT_DEVICE=$d/none "$ctl" $c 2>&1 ||
			echo "exit $?"
	done | sed -E -e 's/ \(.*Linux .*//' -e '/^ +(genl|hotspots|library|perf|sched|trace) |fix: |^sources$/d' -e '/^\{/s/"(machine|kernel)":"[^"]*",?//g' \
		-e '/^\{/s/,"sources":.*//'
}
ok "status of a machine without any source" words nothing nothing
