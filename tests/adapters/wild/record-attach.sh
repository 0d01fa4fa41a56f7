# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a recording of an attach that fails is removed, and not called recorded
# source: https://github.com/async-profiler/async-profiler/issues/885
# needs: sleep
# when: gate
sleep 100 &
pid=$!
status 1 "$ctl" record -o a.db -- "$ctl" attach --wait $pid
kill $pid
has err 'is no JVM'
has err 'nothing was recorded: a.db is removed'
lacks err 'recorded a.db'
[ ! -e a.db ]
