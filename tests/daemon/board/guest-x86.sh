# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# On the x86 board: real hwmon and IIO drivers on a stub bus, the module loaded, unloaded and loaded
# again, a rail unbound, the wall clock stepped, all while one gchintd records. The time of each
# event goes to the console as "seen: NAME NS".
set -u
policies=/sys/devices/system/cpu/cpufreq
instant() {
	echo "seen: $1 $(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)"
}
governor() {
	for p in "$policies"/policy*; do
		echo "$1" >"$p/scaling_governor"
	done
}
failed=0
want() {
	name=$1
	shift
	if "$@"; then echo "seen: $name 1"; else echo "seen: $name 0"; failed=1; fi
}

modprobe i2c-stub chip_addr=0x44,0x40
modprobe ltc4215
modprobe ina2xx-adc
for b in /sys/bus/i2c/devices/i2c-*; do
	grep -q "SMBus stub" "$b/name" && bus=${b##*-} dev=$b
done
i2cset -y "$bus" 0x44 4 100 b	# sense, source, input
i2cset -y "$bus" 0x44 5 50 b
i2cset -y "$bus" 0x44 6 60 b
echo ltc4215 0x44 >"$dev/new_device"
# ina226: configuration, bus voltage, power, current (big endian words)
i2cset -y "$bus" 0x40 0 0x2741 w
i2cset -y "$bus" 0x40 2 0x8025 w
i2cset -y "$bus" 0x40 3 0x6400 w
i2cset -y "$bus" 0x40 4 0x6400 w
# "Conversion ready", permanently: the driver's capture thread waits for it and does not check
# meanwhile whether it should stop.
i2cset -y "$bus" 0x40 6 0x0800 w
echo ina226 0x40 >"$dev/new_device"
sleep 1
governor schedutil

gchintd -c - --record /tmp/x86.db --annotations /tmp/annotations -p 20 2>/tmp/gchintd.log &
pid=$!
tries=0
until gchintctl annotations --add ready --socket /tmp/annotations 2>/dev/null; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] || { cat /tmp/gchintd.log; exit 1; }
	sleep 0.2
done

gchintctl annotations --add "schedutil" --socket /tmp/annotations
hint 10 20 >/tmp/hint.schedutil
governor gchint
gchintctl annotations --add "gchint" --socket /tmp/annotations
hint 10 20 >/tmp/hint.gchint
gchintctl watch -n 1 0 >/tmp/watch.txt
governor schedutil

instant rail-before
i2cset -f -y "$bus" 0x44 4 200 b
i2cset -f -y "$bus" 0x40 3 0xc800 w
instant rail-after
sleep 1

date -s "2031-01-01 00:00:00" >/dev/null
instant clock-step
sleep 1

instant unbind
echo "$bus-0044" >/sys/bus/i2c/drivers/ltc4215/unbind
sleep 1
echo "$bus-0044" >/sys/bus/i2c/drivers/ltc4215/bind
instant bind
sleep 4

instant rmmod
want rmmod-while-recording rmmod cpufreq_gchint
sleep 1
insmod "$(find /lib/modules -name cpufreq_gchint.ko)"
instant insmod
sleep 1
hint 5 20 >/tmp/hint.reloaded

echo 0 >/sys/devices/system/cpu/cpu3/online
sleep 1
echo 1 >/sys/devices/system/cpu/cpu3/online
sleep 1
gchintctl status >/tmp/status.txt
kill -TERM $pid
wait $pid
want ended-well test $? -eq 0

# A measurement loaded into the module, and an invalid one; the rails of i2c-stub's chip are
# constant.
source_of() { sed -n 's/^policy0 source=\([^ ]*\).*/\1/p' /sys/kernel/debug/gchint/opps; }
calibration() {
	echo "gchint-calibration 1"
	echo "idle 91000 500"
	echo "policy 0"
	power=${1:-100000}
	for khz in $(tr ' ' '\n' <$policies/policy0/scaling_available_frequencies | grep . | sort -n); do
		echo "opp $khz $power 900"
		power=$((power + 50000))
	done
}
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
governor gchint
before=$(source_of)
calibration >/tmp/calibration
want calibrate-loads gchintctl calibrate --load /tmp/calibration
want calibrate-measured test "$(source_of)" = measured
calibration 1000000000 >/tmp/nonsense
want calibrate-nonsense sh -c '! gchintctl calibrate --load /tmp/nonsense 2>/tmp/refused'
want calibrate-says-why grep -q 'line 5: opp takes kHz' /tmp/refused
want calibrate-stays grep -q ' 100000$' /sys/kernel/debug/gchint/opps
want calibrate-forgets gchintctl calibrate --forget
want calibrate-forgotten test "$(source_of)" = "$before"
limits=$(cat $policies/policy*/scaling_m*_freq)
want calibrate-still sh -c '! gchintctl calibrate -r ltc4215-'"$bus"'-0044:power1 -n 2 -w 20 -s 0 2>/tmp/refused'
want calibrate-not-the-cpus grep -q "the rail does not supply the CPUs" /tmp/refused
want calibrate-puts-back test "$(cat $policies/policy*/scaling_m*_freq)" = "$limits"
cat /tmp/refused /tmp/gchintd.log
gchintctl summary /tmp/x86.db
tar -C /tmp -cf /tmp/x86.tar x86.db hint.schedutil hint.gchint hint.reloaded status.txt watch.txt gchintd.log
exit $failed
