# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the daemon itself takes, by its own account: it sleeps as often as its
# periods say and no more. Counts, so a busy machine only makes them lower.

wakeups() { # a second, from the recording
	sql "select cast((max(wakeups) - min(wakeups)) * 1e9 / (max(t) - min(t)) as integer) from costs"
}

# Rails each 100 ms, frequency traced each 250 ms, the rest each second; the
# writer comes twice a second. On common multiples they share: 13 a second.
fresh idle
start -p 100
sleep 3
stop
ok "no more wake-ups than the sampling asks for ($(wakeups) a second)" test "$(wakeups)" -le 26

# Edges that come singly are taken once a period (20 ms), whatever their rate.
fresh edges
start -p 1000
feed --events 3000 --rate 1000 >/dev/null
stop
ok "a thousand edges a second cost a wake-up each period ($(wakeups) a second)" test "$(wakeups)" -le 116
ok "and all are recorded" is "1500 " "$(sql 'select count(t1) from phases') $(sql 'select * from drops')"
ok "CPU time and memory are in the record" is 1 \
	"$(sql 'select max(cpu_ns) > min(cpu_ns) and min(rss_kib) > 1000 from costs')"
