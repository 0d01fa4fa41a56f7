# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Annotations as any program may send them.

fresh marks
start --tracefs "$d/none"
# Bound first, opened to the group then.
mode_is() { [ "$(stat -c %a "$d/annotations")" = "$1" ]; }
ok "the socket is accessible to its owner and group only" wait_for 10 mode_is 660
# shellcheck disable=SC2016 # Python's own
now=$(python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
now = time.monotonic_ns()
for text in ("no instant", "5000000000 far back", "99999999999999999999999 beyond 64 bits",
             "%d not yet" % (now + 3600 * 10**9), "12th of a dozen", "%d just now" % now, " "):
    s.sendto(text.encode(), sys.argv[1])
print(now)' "$d/annotations")
wait_for 30 got 7 'select count(*) from annotations'
stop
ok "a leading instant is used as the annotation's time" is "5000000000|far back $now|just now" \
	"$(sql "select t, text from annotations where text in ('far back', 'just now') order by t" | paste -sd' ')"
ok "a malformed, future or too large instant is part of the text" is "4 0" \
	"$(sql "select count(*) from annotations where text in ('no instant', '99999999999999999999999 beyond 64 bits',
		'12th of a dozen') or text like '%0 not yet' or text like '% not yet'") $(
		sql "select count(*) from annotations where text not in ('far back', 'just now') and abs(t - $now) > 5000000000")"
ok "an annotation has its sender's process" is 0 "$(sql 'select count(*) from annotations where pid is null or pid < 2')"
