# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A sensor whose bus takes longer than everything else together.

fresh slow
for n in 2 3 4; do
	echo 700000 >"$d/sys/class/hwmon/hwmon0/power${n}_input"
done
# Six channels of 250 ms each: a loop that read them itself would block for a second and a half each
# time, and read the fast ones as rarely.
GCHINT_SLOW=/hwmon0/ GCHINT_SLOW_MS=250 ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 \
	LD_PRELOAD="$(gcc -print-file-name=libasan.so) $BUILD/slow.so" \
	"$gchintd" -c - --record "$d/r.db" --sysfs "$d/sys" --tracefs "$d/trace" -p 20 \
	--debugfs "$d/debug" --feed "$d/feed" --annotations "$d/annotations" 2>"$d/log" &
pid=$!
daemons+=("$pid")
wait_for 30 grep -q "slow rails are read by a thread" "$d/log"
ok "a slow sensor is detected and reported" grep -q "hwmon: .* takes over 250 us to read" "$d/log"
wait_for 30 test -S "$d/annotations"
feed --events 20000 --rate 10000 >"$d/sent" &
job=$!
for n in $(seq 20); do
	"$ctl" annotations --add "m$n" --socket "$d/annotations"
done
wait "$job"
sleep 2
stop
ok "twenty annotations are accepted during a slow read" is 20 "$(sql "select count(*) from annotations where text glob 'm[0-9]*'")"
ok "no event is lost during a slow read" is "20000 10000 " \
	"$(cat "$d/sent") $(sql 'select count(t1) from phases') $(sql 'select count from drops')"
ok "slow rails are sampled, with the error of their timestamps" is "1|1" \
	"$(sql "select count(*) >= 2, min(error_ns) >= 120000000 from samples join rails on rail = id
		where label = 'pin' and value = 1500000")"
ok "a fast rail of the same source is sampled more often" is 1 \
	"$(sql "select (select count(*) from sample_list where name = 'shunt:in2') >
		3 * (select count(*) from sample_list where label = 'pin')")"

# A read of all rails takes 30 of every 20 ms: after sixteen in a row the rate is halved.
fresh budget
for n in 2 3 4; do
	echo 700000 >"$d/sys/class/hwmon/hwmon0/power${n}_input"
done
GCHINT_SLOW=/hwmon0/ GCHINT_SLOW_MS=6 ASAN_OPTIONS=verify_asan_link_order=0 \
	LD_PRELOAD="$(gcc -print-file-name=libasan.so) $BUILD/slow.so" \
	"$gchintd" -c - --record "$d/r.db" --sysfs "$d/sys" --tracefs "$d/none" -p 20 --feed "$d/feed" \
	--annotations "$d/annotations" 2>"$d/log" &
pid=$!
daemons+=("$pid")
wait_for 30 grep -q "hwmon: sampling .* over 5 % of the period: now every 40 ms" "$d/log"
stop
ok "the period grows if reads take too much of it" grep -q "hwmon: sampling .*: now every 40 ms" "$d/log"
ok "the period grows after sixteen slow reads, not after one" is 1 \
	"$(sql "select count(*) between 14 and 19 from sample_list where label = 'pin' and t <=
		(select min(t) from notes where text like '%now every 40 ms%')")"
