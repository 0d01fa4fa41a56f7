# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# On SABRE Lite: a PMBus power meter whose reading the host changes meanwhile (hook-sabrelite.sh),
# and the core voltage, which follows the frequency.
set -u
policy=/sys/devices/system/cpu/cpufreq/policy0
echo adm1272 0x60 >/sys/bus/i2c/devices/i2c-0/new_device
echo userspace >$policy/scaling_governor
echo 396000 >$policy/scaling_setspeed

gchintd -c - --record /tmp/sabre.db --annotations /tmp/annotations -p 20 2>/tmp/gchintd.log &
pid=$!
tries=0
until gchintctl annotations --add ready --socket /tmp/annotations 2>/dev/null; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] || { cat /tmp/gchintd.log; exit 1; }
	sleep 0.2
done
sleep 1
gchintctl annotations --add "before power" --socket /tmp/annotations
echo "daemon: change the power"
# The host answers in the guest's time: wait until the driver shows the value.
old=$(cat /sys/class/hwmon/hwmon*/power1_input)
tries=0
while [ "$(cat /sys/class/hwmon/hwmon*/power1_input)" = "$old" ] && [ $tries -lt 200 ]; do
	tries=$((tries + 1))
	sleep 0.05
done
gchintctl annotations --add "after power" --socket /tmp/annotations
sleep 1
gchintctl annotations --add "before 792" --socket /tmp/annotations
echo 792000 >$policy/scaling_setspeed
gchintctl annotations --add "after 792" --socket /tmp/annotations
sleep 1
echo gchint >$policy/scaling_governor
hint 10 30 >/tmp/hint.gchint
kill -TERM $pid
wait $pid
status=$?
cat /tmp/gchintd.log
gchintctl summary /tmp/sabre.db
tar -C /tmp -cf /tmp/sabre.tar sabre.db hint.gchint gchintd.log
exit $status
