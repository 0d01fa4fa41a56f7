# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Profiles: which method ran, where the kernel sees a loop.

mkdir "$work/profile"
chmod 755 "$work" "$work/profile"
d=$work/profile
make -s -C "$here/../../libgchint" BUILD="$d/lib" CFLAGS="-O2 -g" "$d/lib/libgchint.a" >/dev/null 2>"$d/make.log" ||
	cat "$d/make.log"
gcc -O2 -g -I"$here/../../include" -I"$here/../../include/uapi" -o "$d/profiled" "$here/profiled.c" \
	"$d/lib/libgchint.a" -pthread

# profile NAME [OPTION]... -- ARGUMENT...: of the program, into $d/NAME.db
profile() {
	local name=$1
	shift
	"$ctl" profile record -q -o "$d/$name.db" "$@" >"$d/$name.out" 2>"$d/$name.err"
}
# shares FILE: "METHOD SAMPLES" lines of a recording
shares() {
	sqlite3 -readonly -separator ' ' "$1" "select case when method is null then '?' when method = 0 then '-' else coalesce(
		(select s.name from symbols s where s.tgid = h.tgid and s.address = h.method and s.t <= h.t order by s.t desc
		limit 1), '?') end as m, count(*) from hotspots h group by m order by 2 desc"
}
# about FILE METHOD LOW HIGH: samples of a method, in that range
about() {
	local n
	n=$(shares "$1" | awk -v m="$2" '{ n = $NF; sub(/ [0-9]+$/, "") } $0 == m { print n }')
	echo "$2: ${n:-0} samples, wanted $3 to $4"
	shares "$1"
	[ "${n:-0}" -ge "$3" ] && [ "${n:-0}" -le "$4" ]
}
# same_total FILE OUTPUT: as many samples as the CPU time implies, within a fifth
same_total() {
	awk -v n="$(sqlite3 -readonly "$1" 'select count(*) from hotspots')" '{ want = $1 / 1e9 * 999; print n, want
		exit !(n > want * 0.8 && n < want * 1.2) }' "$2"
}

profile first -- "$d/profiled" methods 7
ok "record returns the program's exit status" is 7 $?
state=$(sqlite3 -readonly "$d/first.db" "select state || ': ' || what from sources where name = 'hotspots'")
if [ "${state%%:*}" != running ]; then
	skip "profiles" "$state"
else
	f=$d/first.db
	ok "the number of samples matches the CPU time" same_total "$f" "$d/first.out"
	ok "a method that only the annotation shows has its share" about "$f" "hot (m.lua:3)" 480 720
	ok "a second method of the same loop has its share" about "$f" 'cold <&"; (m.lua:9)' 240 360
	ok "a thread that never hinted has its share" about "$f" worker 240 360
	ok "a new thread does not inherit a method" about "$f" - 60 140
	ok "instructions alone show one function" bash -c "[ \$(sqlite3 '$f' \"select count(*) * 100 / (select count(*) from hotspots)
		from hotspots h join symbols s on s.tgid = h.tgid and s.address = h.ip where s.name = 'work'\") -ge 80 ]"
	objcopy --only-keep-debug "$d/profiled" "$d/profiled.debug"
	objcopy --strip-all --add-gnu-debuglink="$d/profiled.debug" "$d/profiled" "$d/linked"
	objcopy --strip-all "$d/profiled" "$d/bare"
	named() { # NAME: of 100 samples of that program, those in its function
		profile "$1" -- "$d/$1" methods 7
		sqlite3 -readonly "$d/$1.db" "select sum(name = 'work') * 100 / count(*) >= 80 from hotspots h
			join symbols s on s.tgid = h.tgid and s.address = h.ip where s.image = '$1'"
	}
	ok "functions of a stripped program are named by its debug symbols" is 1 "$(named linked)"
	ok "without debug symbols they have no name" is "" "$(named bare)"
	ok "and the report has the reason" bash -c "'$ctl' profile report '$d/bare.db' | grep -q 'with an image but no symbol'"
	ok "samples of the phase belong to its method" is "1" "$(sqlite3 -readonly "$f" "select count(distinct method)
		from hotspots where phase = 4 and method <> 0")"
	"$ctl" profile report "$f" >"$d/report"
	ok "the report lists all three methods" bash -c "grep -q 'hot (m.lua:3)' '$d/report' && grep -q 'worker' '$d/report' &&
		grep -qE 'mark, stw +cold' '$d/report'"
	ok "an unknown frequency or energy is shown as ?" \
		grep -qE '^ +[0-9]+ +[0-9.]+ +\? +\? +mark, stw +cold' "$d/report"
	ok "report filters by phase" bash -c "'$ctl' profile report --phase mark '$f' | grep -q 'cold' &&
		! '$ctl' profile report --phase mark '$f' | grep -q 'worker'"
	ok "report filters by method" bash -c "'$ctl' profile report --method 'work*' '$f' | grep -q '100.0 % in a method'"
	ok "a filter without matches is reported" bash -c "'$ctl' profile report --method 'nix*' '$f' 2>&1 >/dev/null |
		grep -q 'none of its [0-9]* samples passes --method nix\*'; '$ctl' profile report --process nix '$f' 2>/dev/null; [ \$? = 3 ]"
	ok "an unknown phase is an error" bash -c "'$ctl' profile report --phase nix '$f' 2>/dev/null; [ \$? = 2 ]"
	cp "$f" "$d/kept.db"
	ok "a second profile goes to another file, which is said" bash -c "'$ctl' profile record -o '$d/kept.db' -- true 2>&1 |
		grep -q 'kept.db exists and is kept: recording into $d/kept-2.db' && cmp '$f' '$d/kept.db'"
	ok "folded stacks have every sample once" is "$(sqlite3 -readonly "$f" "select count(*) from hotspots")" \
		"$("$ctl" profile flame --folded "$f" | awk '{ n += $NF } END { print n }')"
	ok "folded stacks have three methods" is 3 "$("$ctl" profile flame --folded "$f" | grep -oE '(hot|cold|worker)[^;]*' | sort -u | wc -l)"
	ok "a flame graph is written" "$ctl" profile flame -o "$d/first.svg" "$f"
	ok "the flame graph is well-formed and loads nothing" python3 -c "
import sys, xml.etree.ElementTree as e
names = {t.tag.split('}')[1] for t in e.parse('$d/first.svg').iter()}
titles = [t.text for t in e.parse('$d/first.svg').iter() if t.tag.endswith('title')]
sys.exit(not (names <= {'svg', 'g', 'rect', 'text', 'title', 'script'} and not any(k.endswith(('href', 'src')) for t in e.parse('$d/first.svg').iter() for k in t.keys()) and any('cold <&\"' in t for t in titles)))"
	ok "no temporary file is left" is "" "$(find /tmp -maxdepth 1 -name 'gchint-profile.*' -newer "$d/make.log")"

	ok "an export for speedscope" "$ctl" profile export --format speedscope -o "$d/first.json" "$f"
	ok "the speedscope file has every sample, methods above native code" python3 -c "
import json, sys
d = json.load(open('$d/first.json'))
names = [f['name'] for f in d['shared']['frames']]
stacks = [[names[i] for i in s] for p in d['profiles'] for s in p['samples']]
cold = [s for s in stacks if any(f.startswith('cold') for f in s)]
sums = all(abs(sum(p['weights']) - p['endValue']) < 1e-6 and p['type'] == 'sampled' for p in d['profiles'])
print(len(stacks), len(cold), cold[:1])
sys.exit(not (sums and len(stacks) == $(sqlite3 -readonly "$f" "select count(*) from hotspots") and
	all(s[0] == 'profiled' and s[1] == 'mark' for s in cold) and len(cold) > 200))"
	"$ctl" profile export --format perf-script "$f" >"$d/first.script"
	# The expressions of stackcollapse-perf.pl, which other tools use as well.
	ok "perf script output folds into the same stacks" python3 -c "
import collections, re, sys
fold, stack, seen = collections.Counter(), [], 0
for line in open('$d/first.script'):
    line = line.rstrip()
    if not line:
        fold[';'.join(reversed(stack))] += 1
        stack = []
    elif re.match(r'^(\S.+?)\s+(\d+)/*(\d+)*\s+', line) and re.search(r':\s*(\d+)*\s+(\S+):\s*\$', line):
        stack, seen = [], seen + 1
    else:
        stack.append(re.match(r'^\s*(\w+)\s*(.+) \((\S*)\)\$', line).group(2).replace(';', ':'))
want = collections.Counter()
for line in sys.stdin:
    path, n = line.rstrip('\n').rsplit(' ', 1)
    path = path.split(';', 1)[1].replace('(', '[').replace(')', ']')
    want[';'.join('[unknown]' if x == '?' else x for x in path.split(';'))] += int(n)
print(seen, sum(want.values()), list((fold - want).items())[:3], list((want - fold).items())[:3])
sys.exit(not (seen > 1000 and fold == want))" < <("$ctl" profile flame --folded "$f")
	# firefox NAME [FILTER]...: by the rules of its format, and as many samples as the report
	# has, by function, phase, method
	firefox() {
		local n=$1
		shift
		"$ctl" profile export --format firefox "$@" -o "$d/$n.json" "$f" &&
			"$ctl" profile report -n 1000000 "$@" "$f" >"$d/$n.report" &&
			python3 "$here/firefox/check.py" "$d/$n.json" "$d/$n.report"
	}
	ok "the Firefox profile has the samples of the report" firefox fx
	ok "the Firefox profile of a phase has the report's samples" firefox fx-mark --phase mark
	ok "the Firefox profile outside of phases has the report's samples" firefox fx-none --phase none
	ok "the Firefox profile of one method has the report's samples" firefox fx-hot --method 'hot*'
	if cli=$("$here/firefox/get" 2>"$d/err"); then
		mkdir "$d/fx"
		imported() {
			python3 "$here/firefox/imported.py" "$cli" "$d/fx.json" "$d/fx" >"$d/fx.imported" &&
				python3 "$here/firefox/check.py" "$d/fx.json" "$d/fx.report" "$d/fx.imported"
		}
		ok "the Firefox Profiler's importer reads the profile" imported
	else
		skip "the Firefox Profiler's importer" "$(cat "$d/err")"
	fi
	ok "an unknown format is an error" bash -c "'$ctl' profile export --format nix '$f' 2>/dev/null; [ \$? = 2 ] &&
		{ '$ctl' profile export '$f' 2>/dev/null; [ \$? = 2 ]; }"
	ok "an option for JVMs is reported to have no effect" bash -c "'$ctl' profile record --interpreted -q -o '$d/jvm.db' -- true 2>&1 |
		grep -q 'true is no JVM: --interpreted has no effect'"
	profile twice -- "$d/profiled" methods 7
	ok "two recordings of one program are compared" "$ctl" profile diff "$f" "$d/twice.db"
	"$ctl" profile diff "$f" "$d/twice.db" >"$d/diff"
	ok "diff lists each method once, with both CPU times" awk '/ hot \(m.lua:3\)$/ { rows++
		good = $1 > 0.48 && $1 < 0.72 && $2 > 0.48 && $2 < 0.72 } END { print rows; exit !(rows == 1 && good) }' "$d/diff"
	"$ctl" profile diff --method 'hot*' "$f" "$d/few.db" >/dev/null 2>&1
	ok "diff of a missing recording exits with 3" is 3 $?
	"$ctl" profile diff "$f" >/dev/null 2>&1
	ok "diff of one recording exits with 2" is 2 $?

	# By line: two lines of the loop have the function's samples, shown as in the source.
	"$ctl" profile annotate "$f" >"$d/annotated"
	# in FILE LINE...: samples of lines with such text, by the output
	in_lines() {
		awk -v file="$1" 'BEGIN { while ((getline line < file) > 0) text[++n] = line }
			/^ +[0-9]+ +[0-9.]+ +[0-9?]+ +[0-9]+  / { said = $0; sub(/^ +[0-9]+ +[0-9.]+ +[0-9?]+ +[0-9]+  /, "", said)
				was = text[$4]; sub(/^[ \t]+/, "", was); if (said != was) { print "line " $4 " is not: " said; bad = 1 }
				all += $1; if (said ~ /i < 20000|sink \+=/) loop += $1 }
			END { print all, loop; exit bad || !(all > 700 && loop > all * 0.9) }' "$d/annotated"
	}
	if ldd "$ctl" | grep -q libdw; then
		ok "annotate shows the hottest function by source line" in_lines "$here/profiled.c"
		ok "annotate shows the function that is named" bash -c "[ \"\$('$ctl' profile annotate -s 'w?rk' '$f' |
			grep -c ' samples, ')\" = 1 ] && [ \$('$ctl' profile annotate -s '*' '$f' | grep -c ' samples, ') -gt 1 ]"
	else
		skip "annotate by source line" "libdw is not there"
	fi
	ok "annotate -n limits the number of lines" is "1 ... and" "$("$ctl" profile annotate -n 1 "$f" |
		awk '/^ +[0-9]+ +[0-9.]+ +[0-9?]+ / { n++ } /more: --lines$/ { more = $1 " " $2 } END { print n, more }')"
	strip -g -o "$d/stripped" "$d/profiled"
	profile stripped -- "$d/stripped" methods
	"$ctl" profile annotate "$d/stripped.db" >"$d/annotated"
	ok "annotate without debug information lists instructions" awk 'NR == 1 { head = /^work of stripped: [0-9]+ samples, .*; without debugging/ }
		/^ +[0-9]+ +[0-9.]+ +\? +\+0x[0-9a-f]+$/ { n += $1 } END { exit !(head && n > 700) }' "$d/annotated"
	"$ctl" profile annotate -s 'nix*' "$f" >/dev/null 2>"$d/err"
	ok "annotate reports an unknown symbol" bash -c "[ $? = 3 ] && grep -q 'passes --symbol nix' '$d/err'"

	# Code that a program made and dumped: names, lines, and its new address.
	seq -f 'this is line %g' 30 >"$d/source.txt"
	if gcc -O2 -I"$here/../../include" -I"$here/../../include/uapi" -o "$d/jitted" "$here/jitted.c" "$d/lib/libgchint.a" \
		-pthread 2>"$d/err"; then
		profile jitted -- "$d/jitted" "$d/jit-1.dump" "$d/source.txt"
		g=$d/jitted.db
		"$ctl" profile annotate -s '*' "$g" >"$d/annotated"
		ok "code of a JIT dump has names, also after a move" awk '/^first of \[methods\]/ { first = $4 } /^second of/ { second = $4 }
			END { print first, second; exit !(first > second * 1.6 && first < second * 2.4 && second > 200) }' "$d/annotated"
		ok "code of a JIT dump has lines" awk '/^(first|second) of/ { at = $1 } / this is line / { n[at " " $NF] += $1
			if ($4 != $NF) bad = 1 } END { for (i in n) print i, n[i]
			exit bad || !(n["first 11"] + n["first 10"] > 400 && n["second 21"] + n["second 20"] > 200) }' "$d/annotated"
		f=$g ok "it is methods for the Firefox Profiler, too" firefox fx-jitted
		ok "exports have the lines of JIT code" python3 -c "
import json, sys
s = json.load(open('$d/fx-jitted.json'))['shared']
lines = {s['frameTable']['line'][i]: s['sources']['filename'][s['funcTable']['source'][f]]
	for i, f in enumerate(s['frameTable']['func']) if s['frameTable']['line'][i]}
files = {s['stringArray'][name] for line, name in lines.items() if line in (10, 11, 20, 21)}
print(lines, files)
sys.exit(not (files == {'$d/source.txt'}))"
		ok "no line belongs to the code that was there before" is 0 "$(sqlite3 -readonly "$g" "select count(*) from lines where file like '%source.txt'
			and line not between 10 and 12 and line not between 20 and 22")"
	else
		skip "JIT code" "$(head -n 1 "$d/err")"
	fi

	# The same program by perf(1): as many samples, and outside of the kernel, whose share
	# depends on other load, as many in the one function, by the same clock.
	perf_agrees() {
		local total ours
		total=$(perf report -i "$d/perf.data" --stdio -n --sort symbol 2>/dev/null | awk '$1 ~ /%$/ { n += $2
			if (/\[\.\]/) user += $2; if ($0 ~ /\[\.\] work( |$)/) work += $2 } END { print n + 0, user + 0, work + 0 }')
		ours=$(sqlite3 -readonly -separator ' ' "$f" "select count(*), sum(h.kernel is null), sum(exists(select 1 from symbols s where s.tgid = h.tgid
			and s.address = h.ip and s.name = 'work') and h.kernel is null) from hotspots h")
		echo "samples, outside of the kernel, in work: perf $total, ours $ours"
		echo "$total $ours" | awk '{ exit !($1 > 500 && $4 > $1 * 0.8 && $4 < $1 * 1.2 && $3 > 300 && $6 > 300 &&
			($6 / $5 - $3 / $2)^2 < 0.1^2) }'
	}
	if perf record -q -e cpu-clock -F 999 -o "$d/perf.data" -- "$d/profiled" methods 0 >/dev/null 2>&1 && grep -q cpu-clock < <(
		sqlite3 -readonly "$f" "select value from meta where key = 'hotspots.event'"); then
		ok "the totals are those of perf record" perf_agrees
	else
		skip "the totals are those of perf record" "no perf here, or a machine that counts cycles"
	fi

	if command -v valgrind >/dev/null; then
		ok "an annotation per call costs under 1 % of instructions and a tenth of a log's" \
			env GCHINTCTL="$ctl" LIBGCHINT="$d/lib" ROUNDS=1 "$here/../../bench/profile/run" 1000000
	else
		skip "the cost of an annotation per call" "no valgrind: packaging/need unit"
	fi

	ok "code that moves is recorded" profile moves -- "$d/profiled" moves
	ok "samples before the move have the old name" about "$d/moves.db" first 150 250
	ok "samples after the move have the new name" about "$d/moves.db" second 150 250
	ok "samples outside of both ranges have no name" about "$d/moves.db" "?" 240 360

	ok "a hostile symbol map is recorded" profile hostile -- "$d/profiled" hostile
	ok "valid entries of the symbol map are used" about "$d/hostile.db" "good name" 70 130
	ok "overlapping entries of the symbol map are used" about "$d/hostile.db" over 70 130
	ok "other samples have no name" about "$d/hostile.db" "?" 320 480

	# Filters, set at the start and during the recording.
	kept() { # NAME: "METHOD PHASE" that it has, and what its notes say of a filter
		sqlite3 -readonly -separator ' ' "$d/$1.db" "select distinct coalesce(s.name, '-'), h.phase from hotspots h
			left join symbols s on s.tgid = h.tgid and s.address = h.method order by 1" | paste -sd '|'
		sqlite3 -readonly "$d/$1.db" "select text from notes where text like 'filter %'"
	}
	mark=$(sqlite3 -readonly "$f" "select number from names where kind = 'phase' and name = 'mark'")
	ok "recording with a filter by phase" profile phase --phase mark -- "$d/profiled"
	ok "only that phase is recorded" is "cold <&\"; (m.lua:9) $mark" "$(kept phase)"
	ok "recording with a filter by two methods" profile method -m 'hot*|work*' -- "$d/profiled"
	ok "only these methods are recorded" bash -c "[ \"\$(sqlite3 '$d/method.db' 'select count(distinct method), count(*) > 700 from hotspots')\" = '2|1' ]"
	ok "recording with a cgroup that does not have the program fails" is 1 "$(profile group --cgroup nix.slice -- "$d/profiled"; echo $?)"
	ok "nothing is recorded, which is noted" bash -c "$(declare -f kept); d=$d; kept group | grep -q '^filter cgroup=nix.slice rejected all 0 samples'"
	ok "recording with an unknown method fails" is 1 "$(profile none -m nix -- "$d/profiled"; echo $?)"
	ok "nothing is recorded of existing methods" bash -c "$(declare -f kept); d=$d; kept none | grep -q '^filter method=nix rejected all [1-9]'"
	mkfifo "$d/end"
	profile turns -c nobody -- "$d/profiled" turns <"$d/end" &
	recorder=$!
	exec 8>"$d/end"
	wait_for 20 test -s "$d/turns.db"
	# From none to one phase, to one method, to everything; each for some samples.
	grown() { # MORE: samples than $had
		[ "$(sqlite3 -readonly "$d/turns.db" 'select count(*) from hotspots')" -ge $((had + $1)) ]
	}
	for what in --phase=mark '--method=hot*' '--command=*profiled*'; do
		had=$(sqlite3 -readonly "$d/turns.db" 'select count(*) from hotspots')
		ok "the filter is changed during the recording: $what" "$ctl" profile filter "$what" "$d/turns.db"
		ok "the new filter applies to later samples" wait_for 10 grown 30
	done
	ok "a filter for a recorder that does not run is an error" bash -c "'$ctl' profile filter --phase mark '$f' 2>/dev/null; [ \$? = 4 ]"
	ok "a filter with an unknown phase is an error" bash -c "'$ctl' profile filter --phase mark,nix '$d/turns.db' 2>/dev/null; [ \$? = 2 ]"
	echo >&8
	exec 8>&-
	wait "$recorder"
	# By the times at which each filter was in force.
	in_force() {
		sqlite3 -readonly -separator ' ' "$d/turns.db" "with f as (select row_number() over (order by t) as n, t, lead(t, 1, 1 << 62)
			over (order by t) as u from notes where text like 'what is sampled from here on%') select f.n,
			group_concat(distinct s.name || ' ' || h.phase) from f join hotspots h on h.t >= f.t and h.t < f.u join symbols s on
			s.tgid = h.tgid and s.address = h.method group by f.n" | head -n 2 | paste -sd '|'
	}
	ok "samples match the filter of their time" is "1 cold (m.lua:9) $mark|2 hot (m.lua:3) 0" "$(in_force)"
	ok "a filter without matches is noted" bash -c "$(declare -f kept); d=$d; kept turns | grep -c '^filter ' | grep -qx 1"

	# By a program in the kernel where permitted; no thread has to answer then.
	if [ "$(sqlite3 -readonly "$f" "select value from meta where key = 'hotspots.way'")" = bpf ]; then
		ok "a program that handles the signal is polled" profile looked -- "$d/profiled" signal
		ok "a polled program has its methods" about "$d/looked.db" "hot (m.lua:3)" 480 720
		ok "a program that blocks the signal is recorded" profile blocked -- "$d/profiled" blocked
		ok "a program that blocks the signal has its methods" about "$d/blocked.db" "hot (m.lua:3)" 480 720
		ok "its other threads have their methods" about "$d/blocked.db" worker 240 360
		ok "its samples have their phases" is 1 "$(sqlite3 -readonly "$d/blocked.db" "select count(*) between 240 and 360 from hotspots
			where phase = 4 and flags = 1")"
		ok "a phase on behalf of another thread is recorded" profile behalf -- "$d/profiled" behalf
		ok "such a phase belongs to that thread until it ends" is "alone 0|helped $(sqlite3 -readonly "$d/behalf.db" \
			"select number from names where kind = 'phase' and name = 'sweep'")" "$(sqlite3 -readonly -separator ' ' "$d/behalf.db" \
			"select s.name, group_concat(distinct h.phase) from hotspots h join symbols s on s.tgid = h.tgid and s.address = h.method
			group by 1 order by 1" | paste -sd '|')"
		ok "sampling by signals" profile asked --signal -- "$d/profiled"
		ok "sampling by signals finds the same methods" about "$d/asked.db" "hot (m.lua:3)" 480 720
	else
		skip "methods that the kernel reads" "$state"
	fi

	ok "--signal with a program that handles the signal" profile signal --signal -- "$d/profiled" signal
	ok "the program is sampled without methods" bash -c "[ \"\$(sqlite3 '$d/signal.db' 'select count(*) > 500, count(method) from hotspots')\" = '1|0' ]"
	ok "the report states that there are no methods" bash -c "'$ctl' profile report '$d/signal.db' | grep -q '^no thread reported its method'"

	ok "recording with a filter by a name that no process has fails" is 1 "$(profile other -c 'another*' -- "$d/profiled"; echo $?)"
	ok "nothing is recorded of other names, which is reported" bash -c "'$ctl' profile report '$d/other.db' 2>&1 | grep -q 'contains no samples'"
	ok "recording with a lower frequency" profile few -F 100 -- "$d/profiled"
	ok "there are a tenth of the samples" about "$d/few.db" "hot (m.lua:3)" 45 75
	ok "they represent the same CPU time" bash -c "'$ctl' profile diff '$f' '$d/few.db' | awk '/ hot .m.lua:3.\$/ {
		good = \$2 > 0.45 && \$2 < 0.75 } END { exit !good }'"
	ok "diff reports a new method as significant" bash -c "'$ctl' profile diff '$d/moves.db' '$f' | awk '/ hot .m.lua:3.\$/ {
		good = \$1 == 0 && \$3 ~ /^\+0\.[4-7]/ } END { exit !good }'"

	if user_can_change && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ]; then
		mkdir -m 777 "$d/user"
		cp "$ctl" "$gchintd" "$d/profiled" "$d/user"
		as_user() {
			setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
				env ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS= "$@"
		}
		ok "an unprivileged user records" as_user "$d/user/gchintctl" profile record -q -o "$d/user/u.db" -- "$d/user/profiled"
		ok "sampling by signals finds the same methods" about "$d/user/u.db" "hot (m.lua:3)" 480 720
		ok "an unprivileged user's recording has no kernel samples" is "no 0" "$(sqlite3 -readonly -separator ' ' "$d/user/u.db" \
			"select value, (select count(kernel) from hotspots) from meta where key = 'hotspots.kernel'")"
		ok "the report states that the kernel was not sampled" bash -c "'$ctl' profile report '$d/user/u.db' | grep -q '^time in the kernel was not sampled'"

		# Its command line claims that it is a recorder, and where we should write.
		lure=$(mktemp -d /tmp/gchint-profile.XXXXXX)
		printf '[hotspots]\nhz = 999\n' >"$lure/conf"
		cp "$lure/conf" "$d/lure"
		chmod 644 "$d/user/u.db"
		setpriv --reuid 65534 --regid 65534 --clear-groups bash -c 'trap : HUP; while :; do sleep 0.1; done' \
			x "--config=$lure/conf" <"$d/user/u.db" &
		liar=$!
		daemons+=("$liar")
		wait_for 5 grep -qz 'gchint-profile' "/proc/$liar/cmdline"
		ok "another user's process is not accepted as a recorder" bash -c \
			"! '$ctl' profile filter --phase mark '$d/user/u.db' 2>'$d/lure.err' && grep -q 'no gchintctl profile record of this user' '$d/lure.err'"
		ok "nothing is written to the path that it names" cmp "$lure/conf" "$d/lure"
		kill -KILL "$liar"
		wait "$liar" 2>/dev/null
		rm -r "$lure"

		# Root of a user namespace is the user who made it.
		if as_user unshare -Ur true 2>"$d/err"; then
			ok "root of a user namespace records" as_user unshare -Ur "$d/user/gchintctl" profile record -q -o "$d/user/ns.db" -- "$d/user/profiled"
			ok "root of a user namespace sees its program's methods" about "$d/user/ns.db" "hot (m.lua:3)" 480 720
			ok "root of a user namespace gets neither kernel samples nor BPF" is "no signal 0" "$(sqlite3 -readonly -separator ' ' \
				"$d/user/ns.db" "select (select value from meta where key = 'hotspots.kernel'), (select value from meta
				where key = 'hotspots.way'), (select count(kernel) from hotspots)")"
			ok "a program in a user namespace is recorded" as_user "$d/user/gchintctl" profile record -q -o "$d/user/in.db" -- unshare -Ur "$d/user/profiled"
			ok "its methods are visible to the user outside" about "$d/user/in.db" "hot (m.lua:3)" 480 720
			# A program that asks to be sampled is, if the recorder may inspect it: the
			# kernel checks as for ptrace.
			# shellcheck disable=SC2016 # for the program
			as_user unshare -Ur "$d/user/gchintctl" profile record -q -o "$d/user/other.db" -- sh -c \
				'echo "$GCHINT_STREAM" >"$1/s" && mv "$1/s" "$1/stream" && until [ -e "$1/end" ]; do sleep 0.1; done' x "$d/user" \
				2>"$d/other.err" &
			recorder=$!
			wait_for 20 test -e "$d/user/stream"
			GCHINT_PROFILE=1 GCHINT_STREAM=$(cat "$d/user/stream") "$d/profiled" >/dev/null
			touch "$d/user/end"
			wait "$recorder"
			ok "another user's program gets no samples" is "0 1" "$(sqlite3 -readonly -separator ' ' "$d/user/other.db" \
				"select (select count(*) from hotspots), (select count(*) from notes
				where text like 'thread % could not be sampled: Permission denied')")"
		else
			skip "user namespaces" "$(head -n 1 "$d/err")"
		fi
	else
		skip "another user" "wants root, and perf_event_paranoid of 2"
	fi
fi
