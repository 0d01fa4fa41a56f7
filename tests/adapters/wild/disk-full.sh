# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a recording of which the disk took a part is not called recorded, and the status is the program's
# source: docs/recording.md: what was missed is counted
# needs: root unshare /usr/bin/python3
# when: all
cat >churn.py <<'EOP'
import gc, time
end = time.monotonic() + 1
while time.monotonic() < end:
    gc.collect(0)
exit(7)
EOP
mkdir full
# shellcheck disable=SC2016
status 7 unshare -m sh -c 'mount -t tmpfs -o size=400k full full && cd full && exec "$0" record -o f.db -- "$0" run -q -- /usr/bin/python3 ../churn.py' "$ctl"
has err 'no room on the disk'
has err 'f.db may be incomplete'
lacks err ': recorded f.db'
