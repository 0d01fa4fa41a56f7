# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# gchintctl spent where there is no module: what it says. Figures are tests/daemon/board's.

fresh spent
code() { # COMMAND...: its exit code; what it says on stderr goes to $d/err
	"$@" >/dev/null 2>"$d/err"
	echo $?
}
ok "without a process it is refused" is 2 "$(code "$ctl" spent)"
ok "so are two" is 2 "$(code "$ctl" spent 1 2)"
ok "and what is no number" is "2 gchintctl: spent: x is no process" "$(code "$ctl" spent x) $(cat "$d/err")"
ok "and no time" is 2 "$(code "$ctl" spent --for 0 1)"
ok "and to end it later" is 2 "$(code "$ctl" spent --end --for 1 1)"
if [ -e /dev/gchint ]; then
	skip "without the module it says so" "it is loaded here"
else
	ok "without the module it says so" is "1 gchintctl: spent: gchint is not loaded" "$(code "$ctl" spent 1) $(cat "$d/err")"
fi
