# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A recording belongs to one recorder, and a log after a crash to its recording.

ended() { # N: that many phases are in the file with their ends
	[ "$(sql 'select count(t1) from phases')" = "$1" ]
}
second() { # OPTION...: another daemon on the same file; its exit code and output
	local got=0
	timeout 250 "$gchintd" -c - --record "$d/r.db" --sysfs "$d/none" --tracefs "$d/none" "$@" 2>"$d/err" || got=$?
	echo "$got $(sed -n 's/.*r\.db[^:]*: \([^;]*\);.*/\1/p' "$d/err" | head -n 1)"
}

fresh lock
start --tracefs "$d/none"
feed --events 200 >/dev/null
wait_for 10 ended 100
ok "a second recorder that would rotate is refused, with a remedy" is \
	"4 another gchintd records into it" "$(second --keep 3)"
ok "a second recorder without rotation is refused" is "4 exists" "$(second)"
ok "no file was moved" is "r.db r.db-shm r.db-wal" "$(cd "$d" && echo r.db*)"
feed --events 200 >/dev/null
wait_for 10 ended 200
stop
ok "the first recorder continues and leaves one valid file" is "0 r.db 200 ok" \
	"$? $(cd "$d" && echo r.db*) $(sql 'select count(t1) from phases; pragma integrity_check' | paste -sd' ')"
start --tracefs "$d/none" --keep 3
stop
ok "the finished file is rotated as usual" is 200 "$(db=$d/r.db.1 sql 'select count(t1) from phases')"

# A number does not protect it: the file that would be renumbered may be in use.
fresh pushed
"$gchintd" -q -c - --record "$d/r.db.1" --sysfs "$d/none" --tracefs "$d/none" --annotations "$d/other" &
other=$!
daemons+=("$other")
wait_for 10 test -S "$d/other"
echo old >"$d/r.db"
ok "a rotation that would move a file in use is refused" is \
	"4 another gchintd records into it" "$(second --keep 3)"
kill -TERM "$other"
wait "$other"
ok "a refused rotation changes nothing" is "old r.db r.db.1" "$(head -c 3 "$d/r.db") $(cd "$d" && echo r.db*)"

# Moved away by hand while in use: the next recorder's log is not its own.
fresh moved
start --tracefs "$d/none"
feed --events 200 >/dev/null
wait_for 10 ended 100
for s in "" -wal -shm; do mv "$d/r.db$s" "$d/away.db$s"; done
mv "$d/annotations" "$d/annotations.away"
first=$pid
start --tracefs "$d/none" --feed "$d/feed2"
"$BUILD/feed" "$d/feed2" --events 100 >/dev/null
wait_for 10 ended 50
kill -TERM "$first"
wait "$first"
ok "a recorder whose file was moved keeps the new file's log" test -s "$d/r.db-wal"
"$ctl" annotations --add later --socket "$d/annotations"
wait_for 10 got 1 'select count(*) from annotations'
stop
ok "both recordings are complete" is "100 50 1" \
	"$(db=$d/away.db sql 'select count(t1) from phases') $(sql 'select count(t1) from phases') $(sql 'select count(*) from annotations')"

# The log after a kill.
fresh killed
start --tracefs "$d/none"
feed --events 200 >/dev/null
wait_for 10 ended 100
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ok "a killed recorder leaves a log" test -s "$d/r.db-wal"
rm "$d/annotations"
start --tracefs "$d/none" --keep 2
stop
ok "the log is rotated with its file" is "100 ok" \
	"$(db=$d/r.db.1 sql 'select count(t1) from phases; pragma integrity_check' | paste -sd' ')"
rm -f "$d"/r.db*
printf 'a log' >"$d/r.db-wal"
ok "a log without its recording is reported" is "4 a log without its recording" "$(second)"
ok "a log without its recording is kept" is "a log" "$(cat "$d/r.db-wal")"

# A run's recording does not use the service's configuration.
fresh own
mkdir -p "$d/etc"
cat >"$d/conf" <<C
[record]
keep = 3
[metrics]
textfile = $d/service.prom
C
cat >"$d/gchintd" <<C
#!/bin/sh
# The service's file is the daemon's default path.
case " \$* " in *" -c "* | *" --config"*) exec "$gchintd" "\$@" ;; esac
exec "$gchintd" -c "$d/conf" "\$@"
C
chmod 755 "$d/gchintd"
echo mine >"$d/run.db"
"$ctl" record -q -o "$d/run.db" --gchintd "$d/gchintd" --option --sysfs="$d/none" --option --tracefs="$d/none" -- true 2>"$d/err"
ok "gchintctl record does not rotate existing files" is "0 mine yes" \
	"$? $(head -c 4 "$d/run.db") $([ -s "$d/run-2.db" ] && echo yes)"
"$ctl" record -q -o "$d/run2.db" --gchintd "$d/gchintd" --option --sysfs="$d/none" --option --tracefs="$d/none" -- true
ok "gchintctl record does not use the service's configuration" is "0 no" "$? $(test -e "$d/service.prom" && echo yes || echo no)"
"$ctl" record -q -o "$d/run3.db" --gchintd "$d/gchintd" --option --config="$d/conf" --option --sysfs="$d/none" \
	--option --tracefs="$d/none" -- true
ok "gchintctl record uses the configuration that is named" is "0 yes" "$? $(test -e "$d/service.prom" && echo yes || echo no)"
