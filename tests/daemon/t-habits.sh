# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Common conventions of other programs: help, suggestions, a pager, complete files.

mkdir "$work/habits"
d=$work/habits
"$here/../../bench/report/make" "$d/a.db" 3000 40 one
answers() { # WANT COMMAND...: its error message, with its status
	local want=$1 got
	shift
	got=$("$@" 2>&1 >/dev/null)
	is "$want" "$? $got"
}
ok "a mistyped command gets a suggestion" answers \
	"2 gchintctl: unknown command 'smmary': did you mean 'summary'? See gchintctl --help" "$ctl" smmary
ok "the beginning of a command gets a suggestion" answers \
	"2 gchintctl: unknown command 'comp': did you mean 'compare'? See gchintctl --help" "$ctl" comp
ok "an unrelated word gets no suggestion" answers "2 gchintctl: unknown command 'frobnicate'; see gchintctl --help" "$ctl" frobnicate
ok "help COMMAND prints the command's help" is "$("$ctl" summary --help)" "$("$ctl" help summary)"
ok "help prints the general help" is "$("$ctl" --help)" "$("$ctl" help)"
ok "a command without --json reports so" answers "2 gchintctl: report has no JSON output; gchintctl --help lists the commands that have it" "$ctl" report --json "$d/a.db"
ok "a command with --json prints only JSON" bash -c \
	"for c in summary annotations why 'top -n 1'; do '$ctl' --json \$c '$d/a.db' | python3 -m json.tool >/dev/null || exit 1; done
	for c in status runtimes; do '$ctl' --json \$c | python3 -m json.tool >/dev/null || exit 1; done"

on_terminal() { # PAGER COMMAND...: its output, on a terminal, without \r
	GCHINT_PAGER=$1 python3 -c 'import os, pty, sys
pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 65536))' "${@:2}" </dev/null | tr -d '\r'
}
ok "long text on a terminal goes through the pager" is "$("$ctl" summary "$d/a.db" | sed 's/^/paged: /')" \
	"$(on_terminal "sed 's/^/paged: /'" "$ctl" summary "$d/a.db")"
ok "--no-pager is respected" is "$("$ctl" summary "$d/a.db")" \
	"$(on_terminal "sed 's/^/paged: /'" "$ctl" --no-pager summary "$d/a.db")"
ok "JSON is never paged" is "$("$ctl" --json summary "$d/a.db")" "$(on_terminal "sed 's/^/paged: /'" "$ctl" --json summary "$d/a.db")"
mkdir "$d/pager"
printf '#!/bin/sh\necho "less, LESS=$LESS"\nexec cat\n' >"$d/pager/less"
chmod 755 "$d/pager/less"
paged() { # VARIABLE=VALUE...: a summary on a terminal, through the pager that these name
	env -u GCHINT_PAGER -u PAGER -u LESS PATH="$d/pager:$PATH" "$@" python3 -c 'import os, pty, sys
pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 65536))' "$ctl" summary "$d/a.db" </dev/null | tr -d '\r' | head -n 1
}
first=$("$ctl" summary "$d/a.db" | head -n 1)
ok "the pager is GCHINT_PAGER, else PAGER, else less, which quits on one screen" is \
	"paged: $first paged: $first less, LESS=FX less, LESS=X" "$(paged GCHINT_PAGER="sed 's/^/paged: /'" PAGER=false) $(
	paged PAGER="sed 's/^/paged: /'") $(paged) $(paged LESS=X)"
ok "cat or an empty name means no pager" is "$first $first $first" "$(paged GCHINT_PAGER=cat) $(paged GCHINT_PAGER=) $(
	paged PAGER= GCHINT_PAGER=)"

# A file exists completely or not at all, and an earlier one stays.
mkdir "$d/out"
echo before >"$d/out/page.html"
chmod 640 "$d/out/page.html"
# More labels than can be compared give an error message, and its pipe is full: the report waits.
for n in $(seq 13); do
	cp "$d/a.db" "$d/label$n.db"
	sqlite3 "$d/label$n.db" "update meta set value = 'label $n' where key = 'label'"
done
mkfifo "$d/stuck"
exec {stuck}<>"$d/stuck"
dd if=/dev/zero of="$d/stuck" oflag=nonblock bs=4096 2>/dev/null
"$ctl" report "$d"/label*.db -o "$d/out/page.html" 2>"$d/stuck" &
job=$!
wait_for 30 bash -c "[ -s '$d'/out/page.html.* ]"
during=$(cat "$d/out/page.html")
kill -TERM "$job"
wait "$job"
status=$?
exec {stuck}>&-
ok "an interrupted report leaves the old page" is "before before 143" \
	"$during $(cat "$d/out/page.html") $status"
ok "an interrupted report leaves no temporary file" is page.html "$(ls -A "$d/out")"
(
	trap '' XFSZ
	ulimit -f 8
	"$ctl" export -f jsonl "$d/a.db" -o "$d/out/page.html" 2>"$d/full"
	echo $? >"$d/status"
)
ok "a full disk leaves the old page" is "3 before page.html 1" "$(cat "$d/status") $(cat "$d/out/page.html") $(ls -A "$d/out") $(
	grep -c 'page.html: File too large' "$d/full")"
"$ctl" export -f csv "$d/a.db" -o "$d/out/page.html"
ok "a new page replaces the old one and keeps its mode" is "640 41" "$(stat -c %a "$d/out/page.html") $(wc -l <"$d/out/page.html")"
