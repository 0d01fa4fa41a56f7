# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Dependencies go one way: tests/lint/layers.PROGRAM lists which directory may use which.

layered() { # PROGRAM
	local lint="$here/../lint"
	"$lint/layers" --allow "$lint/layers.$1" "$here/../../daemon/$1" "$DAEMON/obj/$1"
}

for program in gchintd gchintctl; do
	ok "files and directories of $program use each other one way" layered $program
done
