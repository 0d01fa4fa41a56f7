# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: the status of run is the program's: 127 and 126 as of a shell, and 0 without a runtime, for bash -e
# source: https://pubs.opengroup.org/onlinepubs/9699919799/utilities/V3_chap02.html#tag_18_08_02
# needs: sh
# when: gate
status 0 "$ctl" run -- true
has err 'no hints'
status 3 "$ctl" run -- sh -c 'exit 3'
status 1 "$ctl" run --require-hints -- true
status 3 "$ctl" run --require-hints -- sh -c 'exit 3'
status 0 "$ctl" run -r true.db -- true
[ -s true.db ]
status 1 "$ctl" run --require-hints -r required.db -- true
status 127 "$ctl" run -- ./absent
status 127 "$ctl" run -- no-such-program
status 127 "$ctl" run -r absent.db -- ./absent
[ ! -e absent.db ]
echo 'exit 5' >plain
status 126 "$ctl" run -- ./plain
status 126 "$ctl" run -- "$PWD"
PATH=$PWD:$PATH status 126 "$ctl" run -- plain
chmod +x plain
status 5 "$ctl" run -- ./plain
: >empty
chmod +x empty
status 0 "$ctl" run -- ./empty
printf '#!/no/such/interpreter\n' >orphan
chmod +x orphan
status 127 "$ctl" run -- ./orphan
# shellcheck disable=SC2016
status 143 "$ctl" run -- sh -c 'kill $$'
