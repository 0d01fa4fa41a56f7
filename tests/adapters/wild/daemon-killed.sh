# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a recorder that is killed is reported by the signal, and the program's status is kept
# source: https://www.kernel.org/doc/html/latest/admin-guide/mm/concepts.html#oom-killer
# needs: pkill sh
# when: gate
# shellcheck disable=SC2016
status 4 "$ctl" record -o k.db -- sh -c 'pkill -9 -P $PPID gchintd; exit 4'
has err 'gchintd was killed by signal 9'
