# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A uevent of a CPU. The event is the machine's own: no other process can make one.

# Triggered by the uevent, not by the timer a minute later.
uevent=/sys/devices/system/cpu/cpu0/uevent
if [ -w $uevent ]; then
	fresh uevent
	printf '[hotplug]\nperiod_ms = 60000\n' >"$d/conf"
	start -c "$d/conf"
	echo 0 >"$d/sys/devices/system/cpu/online"
	echo change >$uevent
	sleep 1.2
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	sleep 0.1
	ok "the daemon listens to uevents" is 1 "$(sql "select count(*) from clocks where source = 'hotplug' and how like '%uevent%'")"
	ok "a uevent triggers a read at once" is "1|0" \
		"$(sql 'select cpu, online from hotplug order by rowid desc limit 1')"
else
	skip "a uevent triggers a read at once" "no right to make one"
fi
