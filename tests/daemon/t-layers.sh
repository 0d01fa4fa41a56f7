# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Dependencies go one way: tests/lint/layers.daemon lists which part may use which, and
# layers.source, .gchintd and .gchintctl which directory in these.

layers_check() { # LIST SOURCES OBJECTS
	"$here/../lint/layers" --allow "$here/../lint/layers.$1" "$here/../../$2" "$DAEMON/$3"
}

for program in source gchintd gchintctl; do
	ok "files and directories of daemon/$program use each other one way" layers_check $program "daemon/$program" "obj/$program"
done
ok "directories of daemon use each other one way" layers_check daemon daemon obj
