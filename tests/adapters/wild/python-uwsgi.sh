# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: collections of an application under uWSGI, which loads Python as a plugin
# source: https://github.com/iovisor/bcc/issues/1580
# needs: uwsgi /usr/bin/python3 sqlite3
# when: all
cat >app.py <<'EOP'
import gc
def application(environ, start):
    gc.collect()
    start("200 OK", [])
    return [b"ok\n"]
EOP
"$ctl" run -R python --record u.db -- uwsgi --plugin python3 --socket "$PWD/s" --protocol http --wsgi-file app.py --die-on-term 2>err &
pid=$!
for _ in $(seq 1000); do [ ! -S s ] || break; sleep 0.1; done
python3 - <<'EOP'
import socket
for _ in range(20):
    s = socket.socket(socket.AF_UNIX)
    s.connect("s")
    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
    while s.recv(4096):
        pass
EOP
kill $pid
wait $pid || true
[ "$(sqlite3 u.db 'select count(*) from pauses')" -ge 20 ]
