# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a Node of another user in a directory that it may not write has its own output alone
# source: docs/launch.md: Node
# needs: node root setpriv
# when: all
mkdir closed
cd closed || exit 1
GCHINT_PROFILE=1 status 7 "$ctl" run -- setpriv --reuid 65534 --regid 65534 --clear-groups node --expose-gc -e 'gc(); console.log("done"); process.exitCode = 7'
[ "$(cat out)" = "done" ]
has err 'JavaScript functions are not recorded'
has err '[0-9] phase'
