# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: slow connections of one address do not close /metrics, and end at a deadline
# source: https://en.wikipedia.org/wiki/Slowloris_(cyber_attack)
# needs: /usr/bin/python3
# when: all
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf '[metrics]\nlisten = 127.0.0.1:%s\n' "$port" >m.conf
mkdir machine
"$gchintd" --config m.conf --record d.db -q --sysfs="$PWD/machine" 2>daemon.err &
daemon=$!
cat >slow.py <<'EOP'
import socket, sys, time, urllib.request
port = int(sys.argv[1])
def ask():
    urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read()
for _ in range(600):
    try:
        ask()
        break
    except OSError:
        time.sleep(0.1)
slow = []
for _ in range(260):
    s = socket.create_connection(("127.0.0.1", port), timeout=10)
    s.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
    slow.append(s)
# Each byte is activity; requests are answered all the same, and each connection is ended.
begin = time.monotonic()
while slow and time.monotonic() - begin < 100:
    ask()
    left = []
    for s in slow:
        try:
            s.sendall(b"a")
            left.append(s)
        except OSError:
            pass
    slow = left
    time.sleep(0.1)
sys.exit(1 if slow else 0)
EOP
result=0
/usr/bin/python3 slow.py "$port" || result=1
kill $daemon
wait $daemon || true
exit $result
