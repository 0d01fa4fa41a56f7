# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Schema versions: recordings of each show the same, none is changed by reading, tables are
# strict, indexes are used, and the former names of what was renamed still work.

fresh schema
for v in 1 2 3; do mkdir "$d/$v"; done
sqlite3 "$d/1/a.db" <"$here/kept/v1.sql"
sqlite3 "$d/1/a.db" <"$here/kept/words.sql"
sqlite3 "$d/2/a.db" <"$here/kept/v2.sql"
"$ctl" import "$here/kept/words.trace" -o "$d/3/new.db" 2>"$d/said"
cat >"$d/copy.py" <<'X2'
# SPDX-License-Identifier: MIT
"""copy OLD EMPTY NEW: the rows of an older recording in one of the schema of EMPTY."""
import shutil
import sqlite3
import sys

shutil.copy(sys.argv[2], sys.argv[3])
db = sqlite3.connect(sys.argv[3])
db.execute("ATTACH ? AS old", (sys.argv[1],))
known = {row[0] for row in db.execute("SELECT name FROM old.sqlite_master WHERE type = 'table'")}
for table, in db.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
    db.execute(f"DELETE FROM main.{table}")
    former = "marks" if table == "annotations" else table
    if former in known:
        columns = [row[1] for row in db.execute(f"PRAGMA old.table_info({former})")]
        to = ["remedy" if column == "mend" else column for column in columns]
        db.execute(f"INSERT INTO main.{table}({', '.join(to)}) SELECT {', '.join(columns)} FROM old.{former}")
db.commit()
X2
shown() { # FOLDER: what commands say of its a.db
	cd "$1" || return
	"$ctl" summary a.db
	"$ctl" --json summary a.db
	"$ctl" annotations a.db
	"$ctl" why a.db -n 3
	"$ctl" why a.db --at 0.5
	"$ctl" top -n 1 a.db
	for t in sources annotations actuators phase_list sample_list; do "$ctl" export -f csv -t "$t" a.db; done
	# Older files may lack the last columns of rails and sched.
	for f in jsonl chrome-trace openmetrics firefox; do
		"$ctl" export -f "$f" a.db | sed '/"table":"rails"/d; /"table":"sched"/s/,"cpu":null//'
	done
}
for v in 1 2; do
	before=$(cksum <"$d/$v/a.db")
	mkdir "$d/$v/copy"
	ok "the rows of version $v keep the types of strict tables" \
		python3 "$d/copy.py" "$d/$v/a.db" "$d/3/new.db" "$d/$v/copy/a.db"
	(shown "$d/$v") >"$d/$v/said" 2>&1
	(shown "$d/$v/copy") >"$d/$v/copy/said" 2>&1
	ok "version $v shows as version 3 does" diff "$d/$v/said" "$d/$v/copy/said"
	ok "with its annotations" grep -q " s  " "$d/$v/said"
	ok "and reading changes nothing of it" is "$before a.db copy said" "$(cksum <"$d/$v/a.db") $(cd "$d/$v" && echo *)"
done
sqlite3 "$d/2/a.db" "alter table marks rename to other"
ok "a file of version 2 without its marks is named" bash -c \
	"'$ctl' summary '$d/2/a.db' 2>&1 | grep -q \"it has no table 'marks'\""

db=$d/3/new.db
ok "every table is strict" is 0 "$(sql "select count(*) from pragma_table_list where schema = 'main' and type = 'table' and
	name not like 'sqlite%' and not strict")"
ok "which refuses a text for a number" bash -c "! sqlite3 '$db' \"insert into thermal values(1, 'x', 1)\" 2>/dev/null"

# The plans of the queries that gchintctl makes.
mkdir "$d/plan"
cp "$db" "$d/plan/a.db"
sqlite3 "$d/plan/a.db" "insert into thermal_sensors values(1, 'cooling', 'fan', '/x'); insert into thermal values(1, 1, 1);
	insert or replace into policies(policy, cpus) values(0, '0'); insert into decisions(t, policy, khz) values(1, 0, 1);
	insert into hotspots(t, tgid, ip) values(1040000000, 1, 4096)"
planned() {
	cd "$d/plan" || return
	export GCHINT_PLAN=$d/plan/steps ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
	for c in "summary a.db" "why a.db --at 0.01" "export -f perfetto -o x a.db" "export -f chrome-trace a.db" \
		"export -f firefox a.db" "profile report a.db"; do
		# shellcheck disable=SC2086 # words
		LD_PRELOAD="$(gcc -print-file-name=libasan.so) $BUILD/plan.so" "$ctl" $c
	done
}
(planned) >"$d/plan/said" 2>&1
uses() { # INDEX QUERY: a step of the query uses it
	grep "INDEX $1\b.*$2" "$d/plan/steps" | grep -q . || { cat "$d/plan/said" "$d/plan/steps"; return 1; }
}
ok "phases are read in order of time by an index" uses phases_by_begin "FROM phases ORDER BY t0"
ok "phases of a thread" uses phases_by_thread "FROM phases ORDER BY tgid, tid, t0"
ok "decisions in order of time" uses decisions_by_time "FROM decisions ORDER BY t"
ok "the decision before an instant" uses decisions_by_policy "FROM decisions WHERE policy"
ok "samples of threads in order of time" uses hotspots_by_time "FROM hotspots h"
ok "a sensor's last reading" uses thermal_by_sensor "FROM thermal x"
ok "and none of these is sorted" bash -c "! grep -E 'USE TEMP B-TREE FOR ORDER BY: .*FROM (phases|decisions|hotspots h) .*ORDER BY' '$d/plan/steps' |
	grep -vE 'UNION|GROUP BY'"
ok "the leases of a thread, as in docs/recording.md" grep -q "INDEX leases_by_thread" <(sqlite3 "$db" \
	"explain query plan select t, role, lease from leases where tgid = 1 and tid = 1 order by t")

# Names of before.
ok "marks is still the command, and says what it is now" is "gchintctl: marks is deprecated: use annotations" \
	"$("$ctl" marks "$d/1/a.db" 2>&1 >"$d/former")"
ok "and does the same" diff "$d/former" <("$ctl" annotations "$d/1/a.db")
"$gchintd" -c - -q --record "$d/f.db" --sysfs "$d/none" --tracefs "$d/none" --feed "$d/feed" --marks "$d/former-socket" 2>"$d/f.log" &
pid=$!
daemons+=("$pid")
wait_for 10 test -S "$d/former-socket"
GCHINT_MARKS=$d/former-socket "$ctl" annotations --add here
stop
ok "--marks is still the option, and says what it is now" is "gchintd: --marks is deprecated: use --annotations" \
	"$(grep deprecated "$d/f.log")"
ok "and so is the variable" is here "$(db=$d/f.db sql "select text from annotations")"

# The command of a run.
run() { # FILE OPTION...
	"$ctl" record -q -o "$@" --option --sysfs="$d/none" --option --tracefs="$d/none" -- sh -c 'exit 0' "a secret" "it's"
}
run "$d/name.db" && run "$d/whole.db" --command
ok "of a command its name alone is kept" is "start: sh " \
	"$(db=$d/name.db sql "select text || ' ' || coalesce((select value from meta where key = 'command'), '') from annotations limit 1")"
ok "with --command its arguments, too" is "sh -c 'exit 0' 'a secret' 'it'\\''s'" \
	"$(db=$d/whole.db sql "select value from meta where key = 'command'")"
