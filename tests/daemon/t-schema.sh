# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The schema: recordings of each release show what they did then, tables are strict, and what of a
# command is kept.

fresh schema
mkdir "$d/old" "$d/new"
sqlite3 "$d/old/a.db" <"$here/recordings/0.1.0.sql"
"$ctl" import "$here/recordings/everything.trace" -o "$d/new/a.db" 2>"$d/import.err"

before=$(cksum <"$d/old/a.db")
ok "a recording of 0.1.0 has its phases, rails and annotations" is "8 4 4 here" "$("$ctl" --json summary "$d/old/a.db" |
	python3 -c 'import json, sys
summary = json.load(sys.stdin)
print(sum(p["count"] for p in summary["phases"]), summary["pauses"]["count"], sum(e["how"] == "measured" for e in summary["energy"]))') $(
	"$ctl" --json annotations "$d/old/a.db" | python3 -c 'import json, sys; print(*(a["text"] for a in json.load(sys.stdin)))')"
ok "a recording of 0.1.0 has no heaps, and no other table of its may be missing" is "0 3" "$("$ctl" export -f csv -t heaps \
	"$d/old/a.db" | grep -c '[0-9]') $(cp "$d/old/a.db" "$d/no.db" && sqlite3 "$d/no.db" "drop table idle" && "$ctl" summary "$d/no.db" >/dev/null 2>&1
	echo $?)"
ok "reading changes nothing of a recording" is "$before a.db" "$(cksum <"$d/old/a.db") $(ls -A "$d/old")"
# What a recording of 0.1.0 is must not depend on the program that reads it.
schema_print() { # FILE: each column of each table, with its type
	sqlite3 "$1" "select m.name, c.name, c.type, c.\"notnull\", c.pk from sqlite_master m, pragma_table_info(m.name) c
		where m.type = 'table' order by 1, c.cid"
}
ok "a new recording has each column of 0.1.0, of the same type" is "" \
	"$(comm -23 <(schema_print "$d/old/a.db" | sort) <(schema_print "$d/new/a.db" | sort))"

db=$d/new/a.db
ok "every table is strict" is 0 "$(sql "select count(*) from pragma_table_list where schema = 'main' and type = 'table' and
	name not like 'sqlite%' and not strict")"

# The command of a run.
command_record() { # FILE OPTION...
	"$ctl" record -q -o "$@" --option --sysfs="$d/none" --option --tracefs="$d/none" -- sh -c 'exit 0' "a secret" "it's"
}
command_record "$d/name.db" && command_record "$d/whole.db" --command
ok "of a command its name alone is kept" is "start: sh " \
	"$(db=$d/name.db sql "select text || ' ' || coalesce((select value from meta where key = 'command'), '') from annotations limit 1")"
ok "with --command its arguments, too" is "sh -c 'exit 0' 'a secret' 'it'\\''s'" \
	"$(db=$d/whole.db sql "select value from meta where key = 'command'")"

# A column that was added since a recording was made: it has none, and is otherwise read as before.
cp "$d/old/a.db" "$d/lacks.db"
sqlite3 "$d/lacks.db" "alter table rails drop column wraps_at; alter table sched drop column cpu; alter table annotations drop column uid"
for c in "summary" "annotations" "export -f csv -t rails" "export -f jsonl"; do
	# shellcheck disable=SC2086 # command and arguments
	ok "a recording without the last columns is read: $c" diff <("$ctl" $c "$d/old/a.db" | sed 's|old/a\.db|lacks.db|') <("$ctl" $c "$d/lacks.db")
done

# The tables of docs/recording.md are those of schema.def. EXPECTED=write writes them there.
page=$here/../../docs/recording.md
"$BUILD/unit" schema - >"$d/tables"
if [ "${EXPECTED:-}" = write ]; then
	sed -i -e "/^<!-- schema.def -->/,/^<!-- end -->/{/^<!-- schema.def/r $d/tables" -e '/^<!--/!d}' "$page"
fi
ok "docs/recording.md has each column" diff <(sed -n '/^<!-- schema.def -->/,/^<!-- end -->/p' "$page" | grep -v '^<!--') "$d/tables"
