# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# kill -9 and full disks.

# One daemon under load, killed at a random time once it has its file. Prints "STATE LOST_MS HELD_MS
# EVENTS": the integrity, the age of the oldest missing event, the longest time that this machine
# delayed the sending program, which only sleeps and sends (the daemon may have been delayed as
# long), and the number of recorded events.
crash() {
	local d=$work/crash-$1 p f killed have n t oldest held
	mkdir "$d"
	"$gchintd" -q -c - --record "$d/r.db" --sysfs "$d/none" --tracefs "$d/none" \
		--feed "$d/feed" 2>>"$d/log" &
	p=$!
	"$BUILD/feed" "$d/feed" --events 0 --rate 2000 --log "$d/sent" >/dev/null &
	f=$!
	wait_for 60 test -s "$d/r.db" -a -s "$d/sent"
	sleep "$2"
	killed=$(awk 'END { print $2 }' "$d/sent")
	kill -KILL "$p"
	wait "$p" 2>/dev/null
	wait "$f" 2>/dev/null
	if [ ! -s "$d/r.db" ] || [ -z "$killed" ]; then
		echo "nothing-recorded 0 0 0"
		return
	fi
	n=$(sqlite3 "$d/r.db" 'pragma integrity_check; select count(*) + count(t1) from phases' | paste -sd' ')
	have=${n#* }
	# The first log line beyond the recorded ones: its event was sent at that time.
	t=$(awk -v have="$have" '$1 > have { print $2; exit }' "$d/sent")
	oldest=0
	[ -z "$t" ] || oldest=$(((killed - t) / 1000000))
	held=$(awk 'NR > 1 && $2 - last > held { held = $2 - last } { last = $2 }
		END { printf "%d", held / 1e6 }' "$d/sent")
	echo "${n%% *} $oldest $held $have"
	rm -rf "$d"
}

crashes() { # COUNT: some at a time; the rest of this file reads $work/crashes
	local i
	for i in $(seq "$1"); do
		crash "$i" "$((RANDOM % 2)).$((RANDOM % 900 + 100))" 2>/dev/null >>"$work/crashes" &
		[ $((i % 4)) -ne 0 ] || wait
	done
	wait
}
: >"$work/crashes"
(crashes "${CRASHES:-16}")
ok "killed at ${CRASHES:-16} random instants: every file is valid" is "${CRASHES:-16}" \
	"$(grep -c '^ok ' "$work/crashes")"
ok "most of these files hold events" test "$(awk '$4 > 0' "$work/crashes" | wc -l)" -gt $((${CRASHES:-16} / 2))
echo "# oldest event lost, ms before the kill: $(awk '{print $2}' "$work/crashes" | sort -n | paste -sd' ')"
echo "# held up by this machine, ms: $(awk '{print $3}' "$work/crashes" | sort -n | paste -sd' ')"
ok "each file holds everything older than a second" is 0 \
	"$(awk -v limit="${LOST_MS:-1000}" '$2 > limit + $3' "$work/crashes" | wc -l)"

# A file size limit replaces a full disk where nothing can be mounted.
fresh fsize
(
	ulimit -f 600
	exec "$gchintd" -c - --record "$d/r.db" --sysfs "$d/none" --tracefs "$d/none" \
		--feed "$d/feed" --annotations "$d/annotations" 2>"$d/log"
) &
pid=$!
daemons+=("$pid")
wait_for 10 test -S "$d/annotations"
feed --events 30000 --rate 30000 >/dev/null &
job=$!
wait_for 15 grep -q "no room on the disk" "$d/log"
kill "$job" 2>/dev/null
wait "$job"
ok "a file-size limit stops the recording, not the daemon" kill -0 "$pid"
stop
ok "records that were never written are counted at the end" \
	grep -q "record: [1-9][0-9]* records at the end were not written" "$d/log"
ok "the file-size limit is reported once" is 1 "$(grep -c 'no room on the disk' "$d/log")"
ok "the limited file is valid and keeps its content" is "ok 1" \
	"$(sqlite3 "$d/r.db" 'pragma integrity_check') $(sqlite3 "$d/r.db" 'select count(*) > 100 from phases')"

mkdir "$work/small"
if mount -t tmpfs -o size=1M tmpfs "$work/small" 2>/dev/null; then
	fresh full
	head -c 300K /dev/zero >"$work/small/ballast"
	start --record "$work/small/r.db" --tracefs "$d/none" -p 1
	feed --events 30000 --rate 30000 >"$d/sent" &
	job=$!
	wait_for 15 grep -q "no room on the disk" "$d/log"
	ok "a full disk is reported once, with the remedy" is 1 "$(grep -c 'no room on the disk.*free some space' "$d/log")"
	kill "$job" 2>/dev/null
	wait "$job"
	before=$(sqlite3 -readonly "$work/small/r.db" 'select count(*) from phases')
	rm "$work/small/ballast"
	mount -o remount,size=16M "$work/small"
	wait_for 10 grep -q "recording goes on" "$d/log"
	ok "recording resumes once there is space" grep -q "record: recording goes on after" "$d/log"
	feed --events 200 >/dev/null
	sleep 0.2
	stop
	db=$work/small/r.db
	ok "rows from before and after the full disk are in a valid file" is "ok 1" \
		"$(sql 'pragma integrity_check') $(sql "select count(*) > $before from phases")"
	ok "the interruption is noted in the recording" is 1 "$(sql "select count(*) from notes where text like 'recording goes on%'")"
	unset db
	umount "$work/small"
else
	skip "full disk" "cannot mount a tmpfs here; the file-size limit above stood in"
fi
