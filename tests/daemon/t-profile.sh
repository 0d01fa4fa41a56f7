# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Profiles: which method ran, where the kernel says that a loop did.

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
# same_total FILE OUTPUT: as many samples as CPU time asks for, within a fifth
same_total() {
	awk -v n="$(sqlite3 -readonly "$1" 'select count(*) from hotspots')" '{ want = $1 / 1e9 * 999; print n, want
		exit !(n > want * 0.8 && n < want * 1.2) }' "$2"
}

profile first -- "$d/profiled" methods 7
ok "the program's own status" is 7 $?
state=$(sqlite3 -readonly "$d/first.db" "select state || ': ' || what from sources where name = 'hotspots'")
if [ "${state%%:*}" != running ]; then
	skip "profiles" "$state"
else
	f=$d/first.db
	ok "samples are as many as the CPU time says" same_total "$f" "$d/first.out"
	ok "a method that instructions do not show" about "$f" "hot (m.lua:3)" 480 720
	ok "another one, in the same loop" about "$f" 'cold <&"; (m.lua:9)' 240 360
	ok "of a thread that never hinted" about "$f" worker 240 360
	ok "no method of a neighbour's for the thread that came after it" about "$f" - 60 140
	ok "instructions show one function" bash -c "[ \$(sqlite3 '$f' \"select count(*) * 100 / (select count(*) from hotspots)
		from hotspots h join symbols s on s.tgid = h.tgid and s.address = h.ip where s.name = 'work'\") -ge 80 ]"
	ok "samples of the phase are those of its method" is "1" "$(sqlite3 -readonly "$f" "select count(distinct method)
		from hotspots where phase = 4 and method <> 0")"
	"$ctl" profile report "$f" >"$d/report"
	ok "the report has all three" bash -c "grep -q 'hot (m.lua:3)' '$d/report' && grep -q 'worker' '$d/report' &&
		grep -qE 'mark, stw +cold' '$d/report'"
	ok "a frequency and an energy that nobody knows are ?" \
		grep -qE '^ +[0-9]+ +[0-9.]+ +\? +\? +mark, stw +cold' "$d/report"
	ok "a filter by phase" bash -c "'$ctl' profile report --phase mark '$f' | grep -q 'cold' &&
		! '$ctl' profile report --phase mark '$f' | grep -q 'worker'"
	ok "a filter by method" bash -c "'$ctl' profile report --method 'work*' '$f' | grep -q '100.0 % in a method'"
	ok "a filter that leaves nothing says so" bash -c "'$ctl' profile report --method 'nix*' '$f' 2>&1 >/dev/null |
		grep -q 'none of [0-9]* samples is left by --method nix\*'; '$ctl' profile report --process nix '$f' 2>/dev/null; [ \$? = 3 ]"
	ok "a phase that is none is a mistake" bash -c "'$ctl' profile report --phase nix '$f' 2>/dev/null; [ \$? = 2 ]"
	ok "no file is overwritten" bash -c "'$ctl' profile record -o '$f' -- true 2>/dev/null; [ \$? = 3 ]"
	ok "folded stacks have every sample once" is "$(sqlite3 -readonly "$f" "select count(*) from hotspots")" \
		"$("$ctl" profile flame --folded "$f" | awk '{ n += $NF } END { print n }')"
	ok "and three methods" is 3 "$("$ctl" profile flame --folded "$f" | grep -oE '(hot|cold|worker)[^;]*' | sort -u | wc -l)"
	ok "a picture" "$ctl" profile flame -o "$d/first.svg" "$f"
	ok "that is whole, and no page of a stranger's" python3 -c "
import sys, xml.etree.ElementTree as e
names = {t.tag.split('}')[1] for t in e.parse('$d/first.svg').iter()}
titles = [t.text for t in e.parse('$d/first.svg').iter() if t.tag.endswith('title')]
sys.exit(not (names <= {'svg', 'g', 'rect', 'text', 'title'} and any('cold <&\"' in t for t in titles)))"
	ok "nothing is left behind" is "" "$(find /tmp -maxdepth 1 -name 'gchint-profile.*' -newer "$d/make.log")"

	ok "an export for speedscope" "$ctl" profile export --format speedscope -o "$d/first.json" "$f"
	ok "has every sample, and the method over its native code" python3 -c "
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
	# The expressions of stackcollapse-perf.pl, by which others read it as well.
	ok "what perf's readers read folds into the same stacks" python3 -c "
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
	ok "a format that is none is a mistake" bash -c "'$ctl' profile export --format nix '$f' 2>/dev/null; [ \$? = 2 ] &&
		{ '$ctl' profile export '$f' 2>/dev/null; [ \$? = 2 ]; }"
	profile twice -- "$d/profiled" methods 7
	ok "two recordings of the same" "$ctl" profile diff "$f" "$d/twice.db"
	"$ctl" profile diff "$f" "$d/twice.db" >"$d/diff"
	ok "have each method once, with the CPU time of both" awk '/ hot \(m.lua:3\)$/ { rows++
		good = $1 > 0.48 && $1 < 0.72 && $2 > 0.48 && $2 < 0.72 } END { print rows; exit !(rows == 1 && good) }' "$d/diff"
	"$ctl" profile diff --method 'hot*' "$f" "$d/few.db" >/dev/null 2>&1
	ok "a recording that is not there" is 3 $?
	"$ctl" profile diff "$f" >/dev/null 2>&1
	ok "one recording is too few" is 2 $?

	# The same program by perf(1): as many samples, and as much of them in the one function, by the same clock.
	perf_agrees() {
		local total ours
		total=$(perf report -i "$d/perf.data" --stdio -n --sort symbol 2>/dev/null | awk '$1 ~ /%$/ { n += $2
			if ($0 ~ /\[\.\] work( |$)/) work += $2 } END { print n + 0, work + 0 }')
		ours=$(sqlite3 -readonly -separator ' ' "$f" "select count(*), sum(exists(select 1 from symbols s where s.tgid = h.tgid
			and s.address = h.ip and s.name = 'work') and h.kernel is null) from hotspots h")
		echo "samples, and in work: perf $total, ours $ours"
		echo "$total $ours" | awk '{ exit !($1 > 500 && $3 > $1 * 0.8 && $3 < $1 * 1.2 && ($4 / $3 - $2 / $1)^2 < 0.15^2) }'
	}
	if perf record -q -e cpu-clock -F 999 -o "$d/perf.data" -- "$d/profiled" methods 0 >/dev/null 2>&1 && grep -q cpu-clock < <(
		sqlite3 -readonly "$f" "select value from meta where key = 'hotspots.event'"); then
		ok "the totals are those of perf record" perf_agrees
	else
		skip "the totals are those of perf record" "no perf here, or a machine that counts cycles"
	fi

	if command -v valgrind >/dev/null; then
		ok "a store at each call takes under 1 % of instructions, and under a tenth of what a log takes" \
			env GCHINTCTL="$ctl" LIBGCHINT="$d/lib" ROUNDS=1 "$here/../../bench/profile/run" 1000000
	else
		skip "what a store at each call takes" "no valgrind: packaging/need unit"
	fi

	ok "code that moves" profile moves -- "$d/profiled" moves
	ok "the name of before" about "$d/moves.db" first 150 250
	ok "the name of after" about "$d/moves.db" second 150 250
	ok "between and beside them nobody's" about "$d/moves.db" "?" 240 360

	ok "a hostile file of names" profile hostile -- "$d/profiled" hostile
	ok "what it says well" about "$d/hostile.db" "good name" 70 130
	ok "what lies over another" about "$d/hostile.db" over 70 130
	ok "the rest is nobody's" about "$d/hostile.db" "?" 320 480

	ok "a program that has the signal" profile signal -- "$d/profiled" signal
	ok "is sampled without its methods" bash -c "[ \"\$(sqlite3 '$d/signal.db' 'select count(*) > 500, count(method) from hotspots')\" = '1|0' ]"
	ok "which is said" bash -c "'$ctl' profile report '$d/signal.db' | grep -q '^no thread told its method'"

	ok "only programs of a name" profile other -c 'another*' -- "$d/profiled"
	ok "leaves nothing, which is said" bash -c "'$ctl' profile report '$d/other.db' 2>&1 | grep -q 'no samples in it'"
	ok "fewer a second" profile few -F 100 -- "$d/profiled"
	ok "a tenth of them" about "$d/few.db" "hot (m.lua:3)" 45 75
	ok "stand for as much CPU time" bash -c "'$ctl' profile diff '$f' '$d/few.db' | awk '/ hot .m.lua:3.\$/ {
		good = \$2 > 0.45 && \$2 < 0.75 } END { exit !good }'"
	ok "what is new is more, and not by chance" bash -c "'$ctl' profile diff '$d/moves.db' '$f' | awk '/ hot .m.lua:3.\$/ {
		good = \$1 == 0 && \$3 ~ /^\+0\.[4-7]/ } END { exit !good }'"

	if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] && command -v setpriv >/dev/null; then
		mkdir -m 777 "$d/user"
		cp "$ctl" "$gchintd" "$d/profiled" "$d/user"
		as_user() {
			setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
				env ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS= "$@"
		}
		ok "another user, without any privilege" as_user "$d/user/gchintctl" profile record -q -o "$d/user/u.db" -- "$d/user/profiled"
		ok "has the same methods" about "$d/user/u.db" "hot (m.lua:3)" 480 720
		ok "and not the kernel" is "no 0" "$(sqlite3 -readonly -separator ' ' "$d/user/u.db" \
			"select value, (select count(kernel) from hotspots) from meta where key = 'hotspots.kernel'")"
		ok "which the report says" bash -c "'$ctl' profile report '$d/user/u.db' | grep -q '^what ran in the kernel was not seen'"
	else
		skip "another user" "wants root, and perf_event_paranoid of 2"
	fi
fi
