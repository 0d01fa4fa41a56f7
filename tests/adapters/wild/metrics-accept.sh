# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: /metrics answers in the format that Accept prefers, and says what is wrong with a token
# source: https://www.rfc-editor.org/rfc/rfc9110#name-accept
# needs: /usr/bin/python3
# when: gate
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
(umask 077 && echo 0123456789abcdef >token)
printf '[metrics]\nlisten = 127.0.0.1:%s\ntoken_file = %s\n' "$port" "$PWD/token" >m.conf
mkdir machine
"$gchintd" --config m.conf --record d.db -q --sysfs="$PWD/machine" 2>daemon.err &
daemon=$!
cat >ask.py <<'EOP'
import sys, time, urllib.request, urllib.error
at = f"http://127.0.0.1:{sys.argv[1]}/metrics"
def ask(**headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(at, headers=headers), timeout=10) as r:
            return r.status, r.headers["Content-Type"].split(";")[0], r.read()
    except urllib.error.HTTPError as e:
        return e.code, "", e.read()
for _ in range(600):
    try:
        ask()
        break
    except OSError:
        time.sleep(0.1)
plain, open_metrics = "text/plain", "application/openmetrics-text"
bad = 0
for accept, right in (
        ("application/openmetrics-text;q=0,text/plain", plain),
        ("application/openmetrics-text;q=0.2,text/plain;q=0.9", plain),
        ("text/plain;version=0.0.4;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1", plain),
        ("application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2", open_metrics),
        ("text/*", plain), ("text/html", plain), ("TEXT/PLAIN", plain), ("*/*;q=0.1, text/plain;q=0.05", open_metrics),
        ("*/*", plain), ("application/*;q=0.5, text/plain ; q=0.5", plain), ("", plain)):
    got = ask(Accept=accept)[1]
    if got != right:
        print(f"Accept: {accept}: {got}, not {right}")
        bad = 1
for authorization, status, text in (("Bearer wrong", 401, b"wrong token"), ("Basic eDp5", 401, b"Bearer TOKEN"),
                                    ("Bearer 0123456789abcdef", 200, b"# EOF")):
    got = ask(Authorization=authorization)
    if got[0] != status or text not in got[2]:
        print(authorization, got[0], got[2][:200])
        bad = 1
sys.exit(bad)
EOP
result=0
/usr/bin/python3 ask.py "$port" || result=1
kill $daemon
wait $daemon || true
exit $result
