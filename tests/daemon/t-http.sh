# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The HTTP endpoint: what strangers see, what they can do to the recorder, and the process that
# serves them.

fresh http
port=$(free_port)
(umask 077 && echo 0123456789abcdef >"$d/token")
mkdir "$d/out"
cat >"$d/conf" <<X
[metrics]
listen = 127.0.0.1:$port
token_file = $d/token
textfile = $d/out/gchint.prom
period_s = 1
X
page() { # HOST [HEADER]: of /metrics
	exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
	printf 'GET /metrics HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n' "$1" "${2:+$2$'\r\n'}" >&3
	timeout 250 cat <&3
	exec 3>&-
}
known='Authorization: Bearer 0123456789abcdef'
start -c "$d/conf"
# A file of another user where a temporary file could be.
echo "of another user" >"$d/out/gchint.prom.$pid"
feed --events 200 >/dev/null
counted() { page localhost "$known" | grep -qE '^gchint_phases_total\{(service="[^"]*",)?phase="mark"} 100'; }
wait_for 30 counted

private='^gchint_(phase|decision|hint|cpu|slots)'
page 127.0.0.1 >"$d/stranger"
ok "a stranger sees no phases, decisions or frequencies" is "200 0" \
	"$(awk 'NR == 1 { print $2 }' "$d/stranger") $(grep -cE "$private" "$d/stranger")"
ok "a stranger sees that the recorder works" grep -q '^gchint_recording_stopped 0' "$d/stranger"
ok "a client with the token sees all" test "$(page 127.0.0.1 "$known" | grep -cE "$private")" -gt 20
status() { page "$@" | awk 'NR == 1 { print $2 }'; }
ok "a name that points here by DNS rebinding is refused" is "403 403 403 403" \
	"$(status evil.example) $(status "evil.example:$port") $(status 127.0.0.1.evil.example) $(status "[::1.evil")"
ok "addresses and localhost are served, and any name with the token" is "200 200 200 200" \
	"$(status "127.0.0.1:$port") $(status "[::1]:$port") $(status "LocalHost:$port") $(status "host-a:$port" "$known")"

server() { cat "/proc/$pid/task/$pid/children"; }
server=$(server) server=${server% }
cat "/proc/${server:-$pid}/status" >"$d/server"
ok "HTTP is served by another process without capabilities" is \
	"0000000000000000 0000000000000000 0000000000000000 1" \
	"$(awk '/^Cap(Inh|Prm|Eff):/ || /^NoNewPrivs/ { print $2 }' "$d/server" | paste -sd' ')"
if [ "$(id -u)" -eq 0 ]; then
	ok "root starts it as user 65534" is "65534 65534 65534 65534" \
		"$(awk '/^Uid/ { print $2, $3, $4, $5 }' "$d/server")"
else
	skip "root starts it as user 65534" "needs root"
fi
ok "it has no file of the recorder open" is "" "$(find "/proc/${server:-$pid}/fd" -lname "$d/r.db*")"
stop
ok "a file where a temporary file could be is left alone" is "of another user" "$(cat "$d/out/gchint.prom.$pid")"

# Half of the clients say nothing, the others read nothing; one asks as fast as it is answered.
cat >"$d/strangers.py" <<'X'
# SPDX-License-Identifier: MIT
"""strangers PORT STOP: 60 clients that stay, and one that asks until the file STOP exists."""
import os
import socket
import sys
import urllib.request

port, stop = int(sys.argv[1]), sys.argv[2]
kept = []
for n in range(60):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    s.connect(("127.0.0.1", port))
    if n % 2:
        s.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    kept.append(s)
print("connected", flush=True)
asked = 0
while asked < 20 or not os.path.exists(stop):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=4) as answer:
        assert b"# EOF" in answer.read()
    asked += 1
print("answered", flush=True)
X
mv "$d/r.db" "$d/first.db"
start -c "$d/conf"
timeout 600 python3 "$d/strangers.py" "$port" "$d/enough" >"$d/strangers" 2>&1 &
job=$!
wait_for 30 grep -q connected "$d/strangers"
feed --events 40000 --rate 20000 >"$d/sent"
touch "$d/enough"
wait "$job"
ok "60 idle and slow clients keep no other from an answer" is "connected answered" "$(paste -sd' ' "$d/strangers")"

server=$(server) server=${server% }
kill -KILL "${server:?}"
served() { page localhost | grep -q '# EOF'; }
ok "an HTTP server that dies is started again" wait_for 30 served
ok "and that is reported" grep -q 'metrics: the HTTP server ended; another starts' "$d/log"
server=$(server) server=${server% }
wait_for 30 got 20000 'select count(t1) from phases'
kill -KILL "$pid"
wait "$pid" 2>/dev/null
gone() { ! kill -0 "${server:?}"; }
ok "it ends with its recorder" wait_for 10 gone
ok "no event is lost to slow clients" is "40000 20000 " \
	"$(cat "$d/sent") $(sql 'select count(t1) from phases') $(sql 'select count from drops')"
