# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Arrows go one way: no two files of a program call each other, directly or in a round.

arrows() { # FOLDER
	rm -f "$work/layers.a"
	find "$DAEMON/obj/$1" -name '*.o' -exec ar rcs "$work/layers.a" {} +
	"$here/../collectors/layers" "$work/layers.a"
}
ok "gchintd's files call each other one way" arrows gchintd
ok "gchintctl's files call each other one way" arrows gchintctl
