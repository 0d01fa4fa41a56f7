# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: collections that a full ring could not take are counted as such, not twice
# source: docs/recording.md: what was missed is counted
# needs: /usr/bin/python3 sqlite3
# when: all
cat >churn.py <<'EOP'
import gc, time
gc.disable()
end, n = time.monotonic() + 1, 0
while time.monotonic() < end:
    gc.collect(0)
    n += 1
print(n)
EOP
status 0 "$ctl" run -r c.db -- /usr/bin/python3 churn.py
sqlite3 c.db 'select (select count(*) from phases) + (select coalesce(sum(count), 0) from drops)' >counted
echo "$(cat out) collections, $(cat counted) recorded or counted as lost"
# Python collects a few times more, and a begin whose predecessor has lost its end is the same phase.
slack=$(($(cat out) / 1000 + 50)) difference=$(($(cat counted) - $(cat out)))
[ $difference -ge -$slack ] && [ $difference -le $slack ]
