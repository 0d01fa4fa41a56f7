# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: programs that start while the recorder does not run are recorded later, or counted
# source: docs/recording.md: what was missed is counted
# needs: /usr/bin/python3 sqlite3 pgrep
# when: all
cat >wait.py <<'EOP'
import gc, os, sys, time
gc.collect()
open(f"{sys.argv[1]}.{os.getpid()}", "x").close()
while not os.path.exists("continued"):
    time.sleep(0.05)
gc.collect()
EOP
cat >quick.py <<'EOP'
import gc, os, sys
gc.collect()
open(f"{sys.argv[1]}.{os.getpid()}", "x").close()
EOP
cat >flood <<'EOS'
daemon=$(pgrep -P "$PPID" gchintd)
kill -STOP "$daemon"
for _ in $(seq 30); do /usr/bin/python3 "$1" here & done
for _ in $(seq 1000); do [ "$(ls here.* 2>/dev/null | wc -l)" -lt 30 ] || break; sleep 0.1; done
[ "$1" != quick.py ] || wait
kill -CONT "$daemon"
touch continued
wait
EOS
status 0 "$ctl" run -R python -r wait.db -- sh flood wait.py
[ "$(sqlite3 wait.db 'select count(distinct tgid) from phases')" -eq 30 ]
[ "$(sqlite3 wait.db "select count(*) from drops where why like '%not accepted%'")" -eq 0 ]
rm -f here.* continued
status 0 "$ctl" run -R python -r quick.db -- sh flood quick.py
recorded=$(sqlite3 quick.db 'select count(distinct tgid) from phases')
missed=$(sqlite3 quick.db "select coalesce(sum(count), 0) from drops where why like 'a program was not accepted%'")
echo "recorded $recorded, missed $missed"
[ "$missed" -gt 0 ] && [ $((recorded + missed)) -eq 30 ]
has err "without those of $missed programs"
