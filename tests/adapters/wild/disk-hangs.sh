# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a recording whose disk hangs says so; Ctrl-C then ends gchintctl with the program's status
# source: https://github.com/marmos91/dittofs/issues/670
# needs: root losetup mkfs.ext4 fsfreeze /usr/bin/python3
# when: all
truncate -s 32M disk
mkfs.ext4 -q disk
mkdir mnt
mount -o loop disk mnt || exit 0
thaw() {
	fsfreeze -u mnt || :
	# Until gchintd has gone.
	for _ in $(seq 600); do umount mnt 2>/dev/null && return; sleep 0.1; done
}
trap thaw EXIT
wait_until() { # COMMAND...
	for _ in $(seq 600); do "$@" && return; sleep 0.1; done
	cat err
	return 1
}
cat >slow.py <<'EOP'
import gc, os, time
gc.collect()
open("started", "w").close()
while not os.path.exists("frozen"):
    time.sleep(0.01)
for _ in range(20):
    gc.collect()
open("ended", "w").close()
os._exit(7)
EOP
# A shell in the background ignores SIGINT, and so would what it starts.
python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])' \
	"$ctl" run -r mnt/r.db -- /usr/bin/python3 slow.py >out 2>err &
pid=$!
wait_until test -e started
fsfreeze -f mnt
touch frozen
wait_until grep -q 'still writes mnt/r.db; the disk may hang' err
kill -INT $pid
s=0
timeout 20 tail --pid=$pid -f /dev/null || { echo "it does not end"; exit 1; }
wait $pid || s=$?
[ $s -eq 7 ] || { cat err; echo "status $s"; exit 1; }
has err 'mnt/r.db may be incomplete'
lacks err ': recorded mnt/r.db'
