# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a program with file capabilities is reported before it runs without an adapter
# source: https://github.com/nodejs/node/issues/37588
# needs: root setcap setpriv /usr/bin/python3
# when: gate
cp "$(readlink -f /usr/bin/python3)" p
chmod 755 p
if ! setcap cap_net_bind_service+ep p 2>/dev/null; then exit 0; fi
status 7 setpriv --reuid=nobody --clear-groups "$ctl" run -- ./p -c 'import gc; gc.collect(); exit(7)'
has err 'file capabilities: the loader ignores LD_PRELOAD'
# Root has them already: the loader reads its variables.
status 7 "$ctl" run -- ./p -c 'import gc; gc.collect(); exit(7)'
has err '[0-9] phase'
