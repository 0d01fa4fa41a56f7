# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Recordings made to harm the reader. Whatever is in a file: no crash, no command to a terminal, a
# bounded run time, and missing data is reported.

mkdir "$work/hostile"
d=$work/hostile
hostile() { # NAME SQL...: a recording, changed, whose tables hold values of any type; its path is $f
	f=$d/$1.db
	sed 's/\(,\|)\) STRICT;/\1;/; s/, *;/;/' "$here/recordings/0.1.0.sql" | sqlite3 "$f"
	shift
	sqlite3 "$f" "$@"
}
answers() { # CODE TEXT COMMAND...: it ends by itself, with that code and message
	local code=$1 text=$2 got=0
	shift 2
	timeout 250 "$@" >"$d/out" 2>"$d/err" || got=$?
	is "$code" "$got" && { [ -z "$text" ] || grep -qF -- "$text" "$d/err"; } || { head -c 2000 "$d/err"; return 1; }
}
all=("summary" "--json summary" "annotations" "top -n 1" "export --format csv --table sample_list" "export --format csv"
	"export --format jsonl" "export --format chrome-trace" "export --format openmetrics" "export --format perfetto" "export --format firefox" "why" "why --at 0.5")
reads() { # FILE COMMAND...: 0 or 3, nothing else; printed JSON is valid
	local file=$1 got=0 words
	shift
	words="$*"
	# shellcheck disable=SC2086 # words of a command
	timeout 250 "$ctl" $words "$file" >"$d/out" 2>"$d/err" || got=$?
	case $got in 0 | 3) ;; *) echo "exit $got"; head -c 2000 "$d/err"; return 1 ;; esac
	[ -s "$d/out" ] || [ "$got" != 0 ] || return 1
	[ "$got" = 0 ] || [ -s "$d/out" ] || return 0
	case $words in *json\ * | *chrome*) python3 -m json.tool "$d/out" /dev/null ;; esac
}

hostile khz "update transitions set khz = 'abc'"
ok "a frequency that is not a number is left out and reported, exit 3" answers 3 "rows that make no sense are left out" "$ctl" summary "$f"
ok "a frequency that is not a number has no line" bash -c "! grep -q '^ *0.0 MHz' '$d/out'"
hostile backwards "update phases set t1 = t0 - 1 where id % 3 = 0; update phases set t0 = 'x' where id % 3 = 1"
ok "phases that end before they begin are left out and reported, exit 3" \
	answers 3 "rows that make no sense are left out" "$ctl" summary "$f"
ok "a trace leaves them out too" answers 3 "one that ends before it begins" "$ctl" export "$f" --format chrome-trace

# A view in a file may be any statement.
endless="with recursive n(i) as (select 1 union all select i + 1 from n) select i as t0, i as t1 from n"
hostile view "drop view phase_list; create view phase_list as $endless"
ok "a view with endless rows is not read" answers 0 "" "$ctl" export "$f" --format csv
ok "rows come from the tables" is "$(sqlite3 "$f" 'select count(*) + 1 from phases')" "$(wc -l <"$d/out")"
hostile table "alter table samples rename to s; create view samples as $endless"
ok "a view in place of a table is refused by name" answers 3 "it has no table 'samples'" "$ctl" summary "$f"
hostile lacks "drop table leases"
ok "a missing table is refused by name" answers 3 "it has no table 'leases'" "$ctl" export "$f" --format jsonl
hostile bomb ""
python3 "$here/bomb.py" "$f"
# Commands that print no row: millions of rows come before the limit.
for c in "summary" "export --format openmetrics"; do
	# shellcheck disable=SC2086 # command and arguments
	ok "circular pages are detected: $c" \
		answers 3 "more rows than a file of its size can hold" bash -c 'exec "$0" "$@" >/dev/null' "$ctl" $c "$f"
done

# Commands that print rows print no more than the file has space for, with some slack for small files.
for c in "jsonl" "csv --table samples"; do
	# shellcheck disable=SC2086 # format and arguments
	"$ctl" export "$f" --format $c 2>"$d/err" | wc -l >"$d/printed"
	ok "circular pages are detected before many rows are printed: $c" test "$(grep -c "more rows than a file of its size can hold" "$d/err")" = 1 \
		-a "$(cat "$d/printed")" -le "$((100000 + $(stat -c %s "$f")))"
done

# A log that the header announces cannot be created in another user's directory: it is opened
# another way.
if user_can_change; then
	mkdir "$d/ro"
	cp "$f" "$d/ro/wal.db"
	printf '\2\2' | dd of="$d/ro/wal.db" bs=1 seek=18 conv=notrunc 2>/dev/null
	chmod 755 "$work" "$d" "$d/ro"
	chmod 644 "$d/ro/wal.db"
	install -m 755 "$ctl" "$d/gchintctl"
	ok "circular pages are detected without a writable directory" answers 3 "more rows than a file of its size can hold" \
		setpriv --reuid 65534 --clear-groups "$d/gchintctl" summary "$d/ro/wal.db"
fi

# Every column of every table, as another type: of each row another value in each column, and other
# pairs of values in the second file. No row is left as it was but every eighth value.
hostile types ""
sqlite3 "$f" "select m.name, c.name from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table'
	and m.name not in ('names', 'meta')" >"$d/columns"
values=("'abc'" "x'00ff1b5b'" -1 9223372036854775807 -9223372036854775808 9e999 null)
for step in 1 3; do
	cp "$f" "$d/type.db"
	n=0
	while IFS='|' read -r table column; do
		for i in "${!values[@]}"; do
			# Tables without row numbers have few rows: these are told apart by the digits in them.
			echo "update or ignore $table set $column = ${values[i]} where (rowid + $n) % 8 = $i;"
			echo "update or ignore $table set $column = ${values[i]} where (length($table.$column) + $n) % 8 = $i;"
		done
		n=$((n + step))
	done <"$d/columns" | sqlite3 "$d/type.db" 2>/dev/null
	for c in "${all[@]}"; do
		# shellcheck disable=SC2086 # command and arguments
		ok "columns of other types, $step: $c" reads "$d/type.db" $c
	done
done
hostile start "update meta set value = '-9223372036854775808' where key in ('start_ns', 'end_ns')"
for c in "${all[@]}"; do
	# shellcheck disable=SC2086 # command and arguments
	ok "a phase that begins before time 0: $c" reads "$f" $c
done

# A terminal interprets some bytes: colours, titles, answers typed by itself.
esc=$(printf '\033]0;owned\a\033[2J\302\233 31m\r\010\177\342\200\256\377')
hostile escape "update meta set value = '$esc'; update rails set name = name || '$esc', label = '$esc', source = '$esc',
	derived = '$esc'; update policies set driver = '$esc', cpus = cpus; update policy_states set governor = '$esc';
	update sources set what = '$esc'; insert into annotations(t, pid, text) values(1, 1, '$esc'); update opps set source = '$esc';
	insert into drops values(1, '$esc', 1, '$esc'); update processes set comm = '$esc', cmdline = '$esc';
	update meta set value = '1846110000000' where key = 'start_ns'; delete from meta where key = 'end_ns'"
harmless() { # bytes of standard input that a terminal would interpret, shown
	python3 -c 'import sys, unicodedata
text = sys.stdin.buffer.read()
bad = [c for c in text.decode("utf-8", "surrogateescape")
       if c not in "\n\t" and (unicodedata.category(c) in ("Cc", "Cf", "Cs") or c in "\u2028\u2029")]
assert b"owned" in text, "the hostile text is not in it"
assert not bad, bad'
}
for c in "summary" "annotations" "top -n 1"; do
	# shellcheck disable=SC2086 # command and arguments
	ok "escape sequences are removed: $c" bash -c "$(declare -f harmless); '$ctl' $c '$f' | harmless"
done
ok "escape sequences are removed from messages" bash -c "$(declare -f harmless); '$ctl' summary '$d/$esc' 2>&1 | harmless"
mkdir -p "$d/sys/devices/system/cpu/cpufreq/policy0"
printf '%s' "$esc" >"$d/sys/devices/system/cpu/cpufreq/policy0/scaling_governor"
ok "escape sequences are removed from the kernel's files" bash -c "$(declare -f harmless); GCHINT_SYSFS='$d/sys' '$ctl' status | harmless"
ok "escape sequences are removed where rows go to a terminal" bash -c "$(declare -f harmless); python3 -c 'import os, pty, sys
pty.spawn(sys.argv[1:])' '$ctl' export '$f' --format csv --table rails | tr -d '\r' | harmless"
ok "other text is shown unchanged" is "1" \
	"$(sqlite3 "$f" "update annotations set text = 'größer → 5 µs 日本' where t > 1" && "$ctl" annotations "$f" | grep -c 'größer → 5 µs 日本')"

# NULL stays NULL.
hostile null "update phases set work_done = null, cpu = null"
"$ctl" export "$f" --format jsonl >"$d/out"
ok "unknown values are null in JSON, not 0" is "$(sqlite3 "$f" 'select count(*) from phases') 0" \
	"$(grep -c '"table":"phases".*"cpu":null.*"work_done":null' "$d/out") $(grep -c '"table":"phases".*"work_done":[0-9]' "$d/out")"
"$ctl" export --format csv --table phases "$f" >"$d/out"
ok "unknown values are empty in CSV" is "$(sqlite3 "$f" 'select count(*) from phases') 0" "$(python3 -c 'import csv, sys
rows = list(csv.DictReader(sys.stdin))
print(len(rows), sum(r["cpu"] + r["work_done"] != "" for r in rows))' <"$d/out")"

# Recordings of each release stay readable.
f=$d/released.db
sqlite3 "$f" <"$here/recordings/0.1.0.sql"
for c in "${all[@]}"; do
	# shellcheck disable=SC2086 # command and arguments
	ok "a recording of 0.1.0 is readable: $c" answers 0 "" "$ctl" $c "$f"
done
ok "a recording of 0.1.0 is read through the newest view" is "$(sqlite3 "$f" 'select count(*) from phases where flags & 1')" \
	"$("$ctl" export "$f" --format csv | tail -n +2 | cut -d, -f10 | grep -c 1)"
