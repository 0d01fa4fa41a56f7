# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What differs between runs, in words.

mkdir "$work/compare"
d=$work/compare
run() { # NAME LABEL WATTS PAUSE_MS SECONDS: a recording with a rail, pauses and a command
	local t1=$((1000000000 + $5 * 1000000))
	sqlite3 "$d/$1.db" <"$here/recordings/0.1.0.sql"
	sqlite3 "$d/$1.db" "delete from samples; delete from transitions; delete from residency; delete from costs;
		delete from annotations; delete from phases; update meta set value = 1000000000 where key = 'start_ns';
		update meta set value = $t1 where key = 'end_ns'; update meta set value = '$2' where key = 'label';
		insert into annotations(t, pid, text) values(1000000000, 1, 'start: x'), ($t1, 1, 'end: x: 0');
		insert into samples select 1000000000 + value * 1000000, (select id from rails where label = 'pin'), $3, 1
			from generate_series(0, $5, 50);
		insert into phases(id, t0, t1, cpu, phase, flags, how, uncertain) select value, 1100000000 + value * 100000000,
			1100000000 + value * 100000000 + $4 * 1000, 0, 3, 1, 1, 0 from generate_series(1, 9)"
}
for i in 1 2 3 4 5; do
	run "a$i" schedutil $((2000000 + i * 10000)) $((5000 + i * 30)) $((10000 + (i * 7 % 5) * 50))
	run "b$i" gchint $((1600000 + i * 10000)) $((7500 + i * 30)) $((10000 + (i * 3 % 5) * 50))
done
"$ctl" compare "$d"/a?.db "$d"/b?.db >"$d/words"
ok "less energy is reported as better, with its interval" grep -qE \
	'^  energy of pin, measured +20\.[0-9] J → 16\.[0-9] J +(19|20) % less \([0-9.]+ to [0-9.]+ %\): better$' "$d/words"
ok "longer pauses are reported as worse" grep -qE '^  longest pause +5\.09 ms → 7\.59 ms +(47|48|49) % more \([0-9.]+ to [0-9.]+ %\): worse$' "$d/words"
ok "no difference is reported as none" grep -qE \
	'^  duration +10\.1 s → 10\.1 s +no clear difference \([0-9.]+ % less to [0-9.]+ % more\)$' "$d/words"
ok "energy comes first, and the header names both groups" is "gchint (5) against schedutil (5), medians energy" \
	"$(head -n 2 "$d/words" | awk 'NR == 2 { $0 = $1 } 1' | paste -sd' ')"
"$ctl" --json compare "$d"/a?.db "$d"/b?.db >"$d/json"
ok "JSON has the same results" is "gchint schedutil -1 True welch True" "$(python3 -c 'import json, sys
f = next(f for f in json.load(open(sys.argv[1])) if f["figure"].startswith("energy of pin"))
print(f["label"], f["against"], f["better"], f["significant"], f["by"], f["low"] < f["change"] < f["high"] < 0)' "$d/json")"
"$ctl" compare "$d"/a1.db "$d"/b1.db >"$d/words"
ok "one run of each group allows no verdict" is "1 1" "$(grep -cE '^  duration +10\.1 s → 10\.2 s +0\.5 % more \(a single run\)$' "$d/words") $(
	grep -cx '  record two runs or more of each group for a verdict' "$d/words")"
ok "figures without a value are named in one line" is "  0 in all runs: MinMU, 10 ms window" "$(
	for n in a1 b1; do
		cp "$d/$n.db" "$d/long-$n.db"
		sqlite3 "$d/long-$n.db" "update phases set t1 = t0 + 20000000"
	done
	"$ctl" compare "$d/long-a1.db" "$d/long-b1.db" | grep 'in all runs')"
ok "runs of one group cannot be compared, exit 2" bash -c "'$ctl' compare '$d/a1.db' '$d/a2.db' 2>&1 | grep -q 'all recordings are of the group .schedutil.; label them'"
"$ctl" compare "$d"/a[123].db -- "$d"/a[45].db >"$d/words"
ok "-- separates two groups, named by their files" is "a4.db and 1 more (2) against a1.db and 2 more (3), medians" \
	"$(head -n 1 "$d/words")"
"$ctl" compare "$d"/b1.db -- "$d"/a[12].db >"$d/words"
ok "labels that name the same groups are kept" is "schedutil (2) against gchint (1), medians" "$(head -n 1 "$d/words")"
"$ctl" compare "$d"/a1.db "$d"/b1.db -- "$d"/b2.db >"$d/words"
ok "a group of several labels is named by a file" is "b2.db (1) against a1.db and 1 more (2), medians" \
	"$(head -n 1 "$d/words")"
mkdir "$d/old" "$d/new"
cp "$d"/a[12].db "$d/old"
cp "$d"/a[12].db "$d/new"
(cd "$d" && "$ctl" compare old/a?.db -- new/a?.db) >"$d/words"
ok "files of one name are told apart by their directories" is "new/a1.db and 1 more (2) against old/a1.db and 1 more (2), medians" \
	"$(head -n 1 "$d/words")"
"$ctl" compare --brief -- "$d"/a?.db "$d"/b?.db >"$d/words"
ok "a leading -- only ends the options" is "gchint (5) against schedutil (5), medians" "$(head -n 1 "$d/words")"
"$ctl" compare "$d"/a?.db "$d"/b?.db -- >"$d/words"
ok "a trailing -- changes nothing" is "gchint (5) against schedutil (5), medians" "$(head -n 1 "$d/words")"
all() { # COMMAND OPTION...: its status with an invalid file among others, its output, its messages
	local status=0
	"$ctl" "$@" "$d/a1.db" "$d/absent.db" "$d/b1.db" >"$d/out" 2>"$d/err" || status=$?
	echo "$status $(wc -c <"$d/out") $(grep -c '/absent\.db: No such file' "$d/err")"
}
ok "a missing file is reported and nothing is compared" is "3 0 1" "$(all compare)"
ok "a missing file leaves no page" is "3 0 1 no" \
	"$(all report -o "$d/none.html") $(test -e "$d/none.html" && echo yes || echo no)"
"$ctl" compare "$d"/a?.db "$d"/b?.db >"$d/full"
"$ctl" compare --brief "$d"/a?.db "$d"/b?.db >"$d/brief"
ok "--brief prints only the main figures, in the same words" is "0 1 1" \
	"$(grep -cvxFf "$d/full" "$d/brief") $(grep -c '^  energy of pin' "$d/brief") $(
		[ "$(wc -l <"$d/brief")" -lt "$(wc -l <"$d/full")" ] && echo 1)"
# Several hosts: groups of their own, each compared with its own host, one clock.
for h in a1 a2 b1 b2; do
	cp "$d/$h.db" "$d/far-$h.db"
	sqlite3 "$d/far-$h.db" "update meta set value = 'far' where key = 'board.host';
		insert or replace into clocks values('realtime', 'CLOCK_REALTIME', 1000000000 - 1700000005 * 1000000000, 1, 'x')"
	sqlite3 "$d/$h.db" "insert or replace into clocks values('realtime', 'CLOCK_REALTIME', 1000000000 - 1700000000 * 1000000000, 1, 'x')"
done
"$ctl" compare "$d"/a[12].db "$d"/b[12].db "$d"/far-a?.db "$d"/far-b?.db | grep against >"$d/hosts"
ok "each host is compared with itself" is "gchint @ board (2) against schedutil @ board (2), medians
schedutil @ far (2) against schedutil @ board (2), medians
gchint @ far (2) against schedutil @ far (2), medians" "$(cat "$d/hosts")"
ok "recordings of one host do not show the host" is 0 \
	"$("$ctl" compare "$d"/a[12].db "$d"/b[12].db | grep -c ' @ ')"
"$ctl" report "$d"/a?.db "$d"/b?.db --detail 0 -o "$d/page.html"
ok "the page starts with the same comparison" is "1 1" \
	"$(grep -c 'energy of pin, measured&nbsp;(J) .*<td><b>[0-9.]*</b> .*<span class="verdict better">.*&nbsp;% less (.*): better</span>' "$d/page.html") $(
		awk '/class="verdict/ && !v { v = NR } /<h[23]>/ && !/Side by side/ && !t { t = NR } END { print (v && v < t) }' "$d/page.html")"
"$ctl" report -o "$d/split.html" --detail 0 "$d"/b1.db -- "$d"/a[12].db
ok "the page has the same groups" grep -q '</svg>schedutil<br>2 runs, against gchint<' "$d/split.html"
"$ctl" report "$d/a1.db" "$d/far-a1.db" --detail 0 -o "$d/hosts.html"
ok "the page puts both recordings on one clock, 5 s apart" is "0.00 668.87 331.13 668.87" \
	"$(grep -o 'class="recorded" d="M[0-9.]* 0h[0-9.]*' "$d/hosts.html" | sed 's/.*M//; s/ 0h/ /' | paste -sd' ')"
ok "the page shows when each recording began" is "1 1" "$(grep -c '2023-11-14 22:13:20 UTC' "$d/hosts.html") $(
	grep -c '2023-11-14 22:13:25 UTC' "$d/hosts.html")"
ok "no mean is shown whose error exceeds it" bash -c "! grep -q 'plusmn' '$d/page.html'"
