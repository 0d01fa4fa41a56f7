# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Dependencies go one way: tests/lint/layers.daemon lists which part may use which, and
# layers.PROGRAM which directory of a program.

layers_check() { # LIST SOURCES OBJECTS
	"$here/../lint/layers" --allow "$here/../lint/layers.$1" "$here/../../$2" "$DAEMON/$3"
}

for program in gchintd gchintctl; do
	ok "files and directories of $program use each other one way" layers_check $program "daemon/$program" "obj/$program"
done
ok "recording, gchintd and gchintctl use each other one way" layers_check daemon daemon obj
