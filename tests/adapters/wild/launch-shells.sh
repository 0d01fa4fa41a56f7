# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: the runtime is found at exec, through shells, xargs, shims and pip's scripts
# source: https://github.com/pypa/pip/issues/4237
# needs: /usr/bin/python3 xargs env
# when: gate
py='import gc; gc.collect(); exit(7)'
found() { # COMMAND...: as many hints as collections, of which Python has one at least
	status 7 "$ctl" run -- "$@"
	has err '^gchintctl: [1-9][0-9]* phase'
	lacks err 'runs as it is'
}
found sh -c "/usr/bin/python3 -c '$py'; exit \$?"
found sh -c "exec env -u HOME nice timeout 60 /usr/bin/python3 -c '$py'"
printf '#!/usr/bin/env bash\nset -e\nexec /usr/bin/python3 "$@"\n' >shim
chmod +x shim
found ./shim -c "$py"
# As pip writes it where the path of the interpreter has a blank.
mkdir 'a b'
ln -s /usr/bin/python3 'a b/python3'
printf '#!/bin/sh\n%s\n%s\nimport gc\ngc.collect()\nexit(7)\n' "'''exec' \"$PWD/a b/python3\" \"\$0\" \"\$@\"" "' '''" >script
chmod +x script
found ./script
echo x | xargs -I{} "$ctl" run -- sh -c "exec /usr/bin/python3 -c '$py'" >out 2>err || [ $? -eq 123 ]
has err '[1-9][0-9]* phase'
# One level below a program that is linked statically.
if command -v busybox >/dev/null; then
	status 7 "$ctl" run -- busybox sh -c "/usr/bin/python3 -c '$py'"
	has err '^gchintctl: [1-9][0-9]* phase'
fi
