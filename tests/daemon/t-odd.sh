# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Unusual uses of gchintctl: impossible outputs, truncated files, a killed recorder. Nothing is
# lost, and missing data is reported.

fresh odd
start -l odd
feed --events 400 >/dev/null
"$ctl" annotations --add here --socket "$d/annotations"
wait_for 30 got 1 'select count(*) from annotations'
wait_for 30 got 200 'select count(t1) from phases'
wait_for 30 got 1 "select count(*) > 0 from sample_list where label = 'pin'"
stop
odd() { # CODE TEXT COMMAND...: its status and message
	local code=$1 text=$2 got=0
	shift 2
	"$@" >"$d/out" 2>"$d/err" || got=$?
	is "$code" "$got" && grep -qF -- "$text" "$d/err" || { cat "$d/err"; return 1; }
}

cp "$d/r.db" "$d/other.db"
before=$(sha256sum <"$d/other.db")
ok "a report does not overwrite a recording" \
	odd 3 "other.db: is a database, which is never replaced" "$ctl" report "$d/r.db" -o "$d/other.db"
ok "an export does not overwrite a recording" odd 3 "other.db: is a database, which is never replaced" \
	"$ctl" export "$d/r.db" --format csv -o "$d/other.db"
ok "the recording is unchanged" is "$before" "$(sha256sum <"$d/other.db")"
# Links of its own: a file that replaces one of these harms no user.
ln -s /proc/self/fd/1 "$d/first"
ln -s /proc/self/fd/3 "$d/third"
ok "an output that is no regular file is written to" is "$("$ctl" export "$d/r.db" --format csv | sha256sum)" \
	"$("$ctl" export "$d/r.db" --format csv -o "$d/first" | sha256sum)"
echo before >"$d/appended"
"$ctl" export "$d/r.db" --format csv -o "$d/first" >>"$d/appended"
ok "an output appended by > or >> keeps the earlier content" is "before $("$ctl" export "$d/r.db" --format csv | head -n 1)" \
	"$(head -n 2 "$d/appended" | paste -sd' ')"
: >"$d/gone"
exec 3<>"$d/gone"
rm "$d/gone"
"$ctl" export "$d/r.db" --format csv -o "$d/third"
ok "an output behind a link is written to and stays a link" is "$("$ctl" export "$d/r.db" --format csv | sha256sum) link" \
	"$(sha256sum </proc/self/fd/3) $(test -L "$d/third" && echo link)"
exec 3>&-
for c in "summary $d/r.db" "annotations $d/r.db" "top -n 1 $d/r.db" "export $d/r.db --format csv" "--help"; do
	# shellcheck disable=SC2086,SC2016 # command and arguments
	ok "a full disk behind the output of ${c%% *} exits with 3" odd 3 "standard output: No space left" \
		sh -c '"$0" "$@" >/dev/full' "$ctl" $c
done
"$ctl" summary "$d/r.db" --json >"$d/json"
ok "--json is accepted after the command" python3 -m json.tool "$d/json" /dev/null
ok "an unexpected argument is reported" odd 2 "status: unexpected argument 'x'" "$ctl" status x
ok "a directory is reported as no recording" odd 3 "$d: not a regular file, and so no recording of gchintd" \
	"$ctl" summary "$d"
ok "a table is refused for a format that has all tables" \
	odd 2 "--table works only with csv" "$ctl" export "$d/r.db" --format jsonl --table phases

# A page of zeros in the middle, as a failing card leaves it.
cp "$d/r.db" "$d/torn.db"
page=$(sqlite3 "$d/torn.db" "select rootpage from sqlite_master where name = 'phases'")
dd if=/dev/zero of="$d/torn.db" bs=4096 seek=$((page - 1)) count=1 conv=notrunc status=none
for c in "export $d/torn.db --format jsonl" "export $d/torn.db --format chrome-trace" \
	"export $d/torn.db --format csv --table phases" "summary $d/torn.db"; do
	# shellcheck disable=SC2086 # command and arguments
	ok "a damaged recording is reported, exit 3: ${c#* "$d/torn.db" }" odd 3 "malformed: the rows after that are missing" "$ctl" $c
done

# What is not known.
cp "$d/r.db" "$d/null.db"
sqlite3 "$d/null.db" "update costs set rss_kib = null; update rails set source = '<b>\"', derived = '<b>x';
	update opps set source = '<b>\"'"
"$ctl" summary "$d/null.db" >"$d/summary"
ok "memory that was not recorded is shown as ?, not 0" grep -q '^COST .* ? KiB' "$d/summary"
"$ctl" --json summary "$d/null.db" >"$d/json"
ok "notes of sources are escaped in JSON" python3 -m json.tool "$d/json" /dev/null
"$ctl" report "$d/null.db" -o "$d/null.html" 2>/dev/null
ok "notes of sources are escaped in a page" bash -c "grep -q '&lt;b&gt;x' '$d/null.html' && ! grep -q '<b>[\"x]' '$d/null.html'"
for n in $(seq 14); do
	cp "$d/r.db" "$d/n$n.db"
	sqlite3 "$d/n$n.db" "update meta set value = 'l$n' where key = 'label'"
done
ok "recordings that the comparison cannot hold are reported" \
	odd 0 "2 recordings are not compared" "$ctl" report "$d"/n?.db "$d"/n1?.db --detail 0 -o "$d/many.html"
ok "the page reports them too" grep -q 'Left out of the table: 2 recordings' "$d/many.html"
cp "$d/r.db" "$d/unlike.db"
sqlite3 "$d/unlike.db" "update policies set hw_max_khz = 960000 where policy = 1"
"$ctl" top -n 1 "$d/unlike.db" >"$d/top"
ok "top shows each CPU relative to its own highest frequency" bash -c \
	"grep -E '^cpu0 ' '$d/top' | grep -q '\.\.' && grep -E '^cpu1 ' '$d/top' | grep -q '##############################'"
modelled() {
	"$ctl" summary "$1" | sed -n '/^ENERGY  modelled/,/^$/p' | tail -n +2
}
sqlite3 "$d/unlike.db" "update phases set cpu = 0"
before=$(modelled "$d/unlike.db")
ok "phases on cpu0 alone have a modelled energy" is 1 "$(grep -c 'J (modelled)' <<<"$before")"
sqlite3 "$d/unlike.db" "update opps set power_uw = power_uw * 10 where policy = 1"
ok "another policy's power is not used" is "$before" "$(modelled "$d/unlike.db")"
sqlite3 "$d/unlike.db" "update opps set power_uw = null where policy = 0"
ok "a policy without a power of its own has ?" is 1 "$(modelled "$d/unlike.db" | grep -c ' ?  (.* not known)')"
# The policy of a CPU was not recorded: its power only where all agree.
cp "$d/r.db" "$d/nopolicy.db"
sqlite3 "$d/nopolicy.db" "update phases set cpu = 0; delete from policies"
ok "policies of equal power need not be told apart" is 1 "$(modelled "$d/nopolicy.db" | grep -c 'J (modelled)')"
sqlite3 "$d/nopolicy.db" "update opps set power_uw = power_uw + 1 where policy = 1"
ok "policies of different power must be told apart" is "1 0" \
	"$(modelled "$d/nopolicy.db" | grep -c ' ?  (.* not known)') $(modelled "$d/nopolicy.db" | grep -c 'J (modelled)')"
# No frequency of the phases' CPU was recorded: nothing is modelled, and that is not 0 J.
cp "$d/r.db" "$d/nofrequency.db"
sqlite3 "$d/nofrequency.db" "delete from transitions; delete from rails; delete from samples; delete from phases where t1 is null"
ok "phases at an unknown frequency are one line" is "  not counted: $(sqlite3 "$d/nofrequency.db" "select printf('%.3f', sum(t1 - t0) / 1e6) from phases") ms of phases at an unknown frequency" \
	"$(modelled "$d/nofrequency.db" | grep .)"
ok "the answer says so" is 1 "$("$ctl" summary "$d/nofrequency.db" | grep -c "^energy is not modelled either: no frequency of a phase's CPU was recorded$")"
ok "in JSON it is null" is None "$("$ctl" --json summary "$d/nofrequency.db" | python3 -c 'import json, sys
print(*[e["joules"] for e in json.load(sys.stdin)["energy"]])')"
cp "$d/r.db" "$d/none.db"
sqlite3 "$d/none.db" "delete from samples; delete from transitions; delete from phases; delete from costs; delete from residency"
"$ctl" --json top -n 1 "$d/none.db" >"$d/json"
ok "an unknown interval is null" grep -q '"from_ns":null,"to_ns":null' "$d/json"

# A log that the reader may not merge has the newest rows.
if user_can_change; then
	mkdir "$d/shut"
	cp "$d/r.db" "$d/shut/50% a?b.db"
	chmod 755 "$work" "$d" "$d/shut"
	install -m 755 "$ctl" "$d/gchintctl"
	sqlite3 "$d/shut/50% a?b.db" 'pragma journal_mode = wal' >/dev/null
	somebody=(setpriv --reuid 65534 --clear-groups "$d/gchintctl" annotations)
	ok "a file in another user's directory is read, whatever its name" is "0 1" \
		"$("${somebody[@]}" "$d/shut/50% a?b.db" >"$d/out" 2>&1; echo $?) $(grep -c here "$d/out" || cat "$d/out")"
	head -c 4096 /dev/urandom >"$d/shut/50% a?b.db-wal"
	ok "a recording with an unreadable log is refused" odd 3 "-wal can only be read in a directory" "${somebody[@]}" "$d/shut/50% a?b.db"
else
	skip "a file in another user's directory" "needs root to be somebody else"
fi

# The recorder is interrupted, hung up or killed.
rec=("$ctl" record -q --gchintd "$gchintd" --option -c --option - --option --sysfs --option "$d/none"
	--option --tracefs --option "$d/none")
gone() { ! pgrep -f "record $d/$1" >/dev/null; }
for s in HUP QUIT TERM INT; do
	# A shell's background child ignores INT and QUIT, nohup's child HUP.
	python3 -c 'import os, signal, sys
for s in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM): signal.signal(s, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "${rec[@]}" -o "$d/$s.db" -- sleep 60 &
	job=$!
	wait_for 20 pgrep -P $job -x sleep
	kill -$s $job
	wait $job
	code=$?
	ok "SIG$s reaches the command and ends the recording" is "$((128 + $(kill -l $s))) ok 2" \
		"$code $(sqlite3 "$d/$s.db" 'pragma integrity_check') $(sqlite3 "$d/$s.db" 'select count(*) from annotations')"
done
"${rec[@]}" -o "$d/killed.db" -- sleep 2 &
job=$!
wait_for 20 pgrep -P $job -x sleep
annotations=$(pgrep -af "record $d/killed.db" | sed -n 's/.* --annotations \([^ ]*\).*/\1/p')
kill -KILL $job
wait $job 2>/dev/null
ok "a killed gchintctl leaves no recorder" wait_for 10 gone killed.db
rm -rf "${annotations%/annotations}" # its socket, which it could not remove
printf '#!/bin/sh\nexec sleep 50\n' >"$d/slow-start"
chmod 755 "$d/slow-start"
"$ctl" record -q -o "$d/never.db" --gchintd "$d/slow-start" -- touch "$d/ran" 2>"$d/err" &
job=$!
wait_for 10 pgrep -P $job -x sleep
started=$(pgrep -P $job -x sleep)
kill -TERM $job
wait $job
code=$?
ok "a signal during the recorder's start is reported and runs nothing" is "143 1 0" \
	"$code $(grep -c 'interrupted before touch was started' "$d/err") $(ls "$d/ran" 2>/dev/null | wc -l)"
ok "a signal during the recorder's start ends the recorder" bash -c "! kill -0 $started 2>/dev/null"
# A daemon that reads nothing: its socket's queue is soon full.
python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
time.sleep(600)' "$d/stuck" &
stuck=$!
daemons+=("$stuck")
wait_for 10 test -S "$d/stuck"
# shellcheck disable=SC2016 # expanded by that shell
ok "an annotation for a daemon that hangs times out with a message" odd 4 "stuck: Resource temporarily unavailable" \
	timeout 250 bash -c 'while true; do "$0" annotations --add x --socket "$1" || exit; done' "$ctl" "$d/stuck"
kill "$stuck"
many=()
for n in $(seq 40); do many+=(--option --quiet); done
ok "too many options for the daemon are reported" odd 2 "too many options for gchintd" \
	"${rec[@]}" "${many[@]}" -o "$d/many.db" -- true
ok "a command that is not executable returns 126" bash -c "'$ctl' record -q --gchintd '$gchintd' \
	--option --sysfs='$d/none' --option --tracefs='$d/none' --option --config=- -o '$d/x.db' -- '$d/r.db' 2>/dev/null; [ \$? = 126 ]"
