# SPDX-License-Identifier: MIT
# Runs on the board: the same program under two governors, one recording.
# shellcheck shell=sh
set -eu
policy=/sys/devices/system/cpu/cpufreq/policy0

echo adm1272 0x60 >/sys/bus/i2c/devices/i2c-0/new_device
gchintd --record /tmp/demo.db --period 5 --annotations /tmp/annotations --quiet &
daemon=$!
tries=0
until gchintctl annotations --add "start" --socket /tmp/annotations 2>/dev/null; do
	tries=$((tries + 1))
	if [ $tries -gt 100 ] || ! kill -0 $daemon; then
		echo "demo: gchintd does not come up"
		exit 1
	fi
	sleep 0.2
done

for governor in schedutil gchint; do
	echo "$governor" >$policy/scaling_governor
	[ "$(cat $policy/scaling_governor)" = $governor ]
	sleep 1
	gchintctl annotations --add "begin $governor" --socket /tmp/annotations
	echo "demo: $governor"
	LD_PRELOAD=libgchint-boehm.so pulse "${DEMO_REQUESTS:-25}"
	gchintctl annotations --add "end $governor" --socket /tmp/annotations
done
echo schedutil >$policy/scaling_governor

kill $daemon
wait $daemon
