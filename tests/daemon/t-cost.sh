# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The daemon's own cost, by the kernel's accounting of its threads: it sleeps as often as its
# periods require and no more. Counts, which a busy machine can only lower. Its own numbers must
# agree.

sleeps() { # how often its threads have gone to sleep so far
	cat /proc/"$pid"/task/*/status | awk '$1 == "voluntary_ctxt_switches:" { n += $2 } END { print n }'
}
cpu_ns() { # its threads' CPU time until now
	cat /proc/"$pid"/task/*/schedstat | awk '{ ns += $1 } END { printf "%.0f", ns }'
}
now_ms() {
	awk '{ printf "%.0f", $1 * 1000 }' /proc/uptime
}
# over COMMAND...: runs it; $rate is then the daemon's sleeps per second
over() {
	local n t
	n=$(sleeps) t=$(now_ms)
	"$@"
	rate=$((($(sleeps) - n) * 1000 / ($(now_ms) - t)))
}
# near A B: within a fifth, plus a constant
near() {
	awk -v a="$1" -v b="$2" -v some="$3" 'BEGIN { d = a > b ? a - b : b - a; exit !(d <= 0.2 * a + some) }' ||
		{ echo "$1 and $2"; return 1; }
}

# Rails every 100 ms, traced frequency every 250 ms, the rest every second; the writer wakes twice a
# second. Common multiples are shared: 13 per second.
fresh idle
start -p 100
sleep 0.5
over sleep 3
ok "at most one wake-up per sampling period ($rate a second)" test "$rate" -le 26
ok "the daemon does wake up" test "$rate" -ge 1
stop

# Single edges are read once per period (20 ms), whatever their rate.
fresh edges
start -p 1000
over feed --events 3000 --rate 1000 >"$d/fed"
seen=$(sleeps) used=$(cpu_ns)
ok "a thousand edges a second cost one wake-up per period ($rate a second)" test "$rate" -le 116
stop
ok "all edges are recorded" is "1500 " "$(sql 'select count(t1) from phases') $(sql 'select * from drops')"
ok "its own count of wake-ups agrees with the kernel's" near "$seen" "$(sql 'select max(wakeups) from costs')" 60
ok "its own account of CPU time agrees with the kernel's" near "$used" "$(sql 'select max(cpu_ns) from costs')" 100000000
ok "memory is recorded" is 1 "$(sql 'select min(rss_kib) > 1000 from costs')"
