# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Terminal output: top after keys, the manual, progress of a report.

mkdir -p "$work/terminal/bin"
d=$work/terminal
recording_make "$d/a.db" everything
# A terminal of ROWS that has these KEYS before the program starts, and its content when that has
# ended. vt100 has few control sequences, and its page stays.
cat >"$d/stands.py" <<'X2'
import fcntl, os, pty, re, struct, sys, termios, tty
rows, keys = int(sys.argv[1]), sys.argv[2].encode().decode("unicode_escape").encode()
ready, go = os.pipe()
pid, fd = pty.fork()
if not pid:
    os.read(ready, 1)
    os.execvpe(sys.argv[3], sys.argv[3:], dict(os.environ, TERM="vt100"))
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
tty.setraw(fd)
os.write(fd, keys)
os.write(go, b"x")
out = b""
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    out += data
status = os.waitpid(pid, 0)[1]
page = [[" "] * 80 for _ in range(rows)]
y = x = 0
top, bottom = 0, rows - 1
for token in re.findall(r"\x1b\[[?0-9;]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b.|[\x00-\x1f]|[^\x00-\x1f]", out.decode(errors="replace")):
    number = [int(n) for n in re.findall(r"\d+", token)] if token[0] == "\x1b" else []
    n = number[0] if number else 1
    kind = token[-1] if token.startswith("\x1b[") else token
    if token == "\r":
        x = 0
    elif token == "\b":
        x -= 1
    elif token == "\n" or token == "\x1bD":
        if y == bottom:
            page.insert(bottom, page.pop(top)); page[bottom] = [" "] * 80
        else:
            y += 1
    elif token == "\x1bM":
        if y == top:
            page.insert(top, page.pop(bottom)); page[top] = [" "] * 80
        else:
            y -= 1
    elif not token.startswith("\x1b"):
        if token >= " ":
            page[y][x] = token
            x = min(x + 1, 79)
    elif kind == "H":
        y, x = (number + [1, 1])[0] - 1 if number else 0, number[1] - 1 if len(number) > 1 else 0
    elif kind in "ABCD":
        y += {"A": -n, "B": n}.get(kind, 0)
        x += {"C": n, "D": -n}.get(kind, 0)
    elif kind == "r":
        top, bottom = (number[0] - 1, number[1] - 1) if len(number) > 1 else (0, rows - 1)
    elif kind == "J":
        for at in range(y * 80 + x, rows * 80) if not number or not n else range(rows * 80):
            page[at // 80][at % 80] = " "
    elif kind == "K":
        for at in range(x, 80) if not number or not n else range(x + 1):
            page[y][at] = " "
print("\n".join("".join(line).rstrip() for line in page).rstrip())
print("== exit", status >> 8)
X2
stands() {
	echo "== rows $1, keys '$2'"
	(cd "$d" && timeout 250 python3 stands.py "$1" "$2" "$ctl" top -n 2 -d 2 a.db)
}
# Of each: the column by which it sorts, the number of lines, the first line after the title, the first
# phase, its exit status. In parallel: each waits for its second sample.
top_sorts() {
	local n=0 at=()
	for keys in '40 ' '40 s' '40 ss' '40 sss' '40 ssss' '40 h' '40 h?' '40   ' '40 x' '40 \x1bOB\x1bOB' '12 \x1bOB\x1bOB' \
		'12 \x1bOB\x1bOB\x1bOA' '12 \x1bOA'; do
		n=$((n + 1))
		stands "${keys%% *}" "${keys#* }" >"$d/top.$n" &
		at+=("$d/top.$n")
	done
	wait
	for n in "${at[@]}"; do
		awk 'NR == 2 { sub(/.*by /, ""); sub(/\).*/, ""); printf "%s", $0 } NR == 3 { printf "|%s", $1 }
			/^PHASE/ { phase = 1; next } phase == 1 { printf "|%s %s", $1, $2; phase = 2 } END { printf "|%d|%s\n", NR, $3 }' "$n"
	done
}
if "$ctl" top --help >/dev/null && ldd "$ctl" | grep -q ncurses; then
	ok "keys sort, scroll and explain top" diff - <(top_sorts) <<'X2'
kind|13|roots, stw|30|0
share|13|mark, foreground|30|0
longest|13|mark, foreground|30|0
count|13|roots, stw|30|0
kind|13|roots, stw|30|0
kind||10|0
kind|13|roots, stw|30|0
kind|13|roots, stw|30|0
kind|13|roots, stw|30|0
kind|13|roots, stw|30|0
kind|CPU|roots, stw|14|0
kind||roots, stw|14|0
kind|13|roots, stw|14|0
X2
	held() { # It would have ended by itself.
		cd "$d" && timeout 250 python3 -c 'import os, pty, select, sys, tty
ready, go = os.pipe()
pid, fd = pty.fork()
if not pid:
    os.read(ready, 1)
    os.execve(sys.argv[1], sys.argv[1:], dict(os.environ, TERM="vt100"))
tty.setraw(fd)
os.write(fd, b" ")
os.write(go, b"x")
out, pressed = b"", False
while True:
    if not select.select([fd], [], [], 1)[0]:
        if b"held)" in out and not pressed:
            pressed = True
            os.write(fd, b"q")
        continue
    try:
        out += os.read(fd, 65536)
    except OSError:
        break
print(os.waitpid(pid, 0)[1], pressed)' "$ctl" top -n 2 -d 0.5 a.db
	}
	ok "a paused top waits for a key" is "0 True" "$(held)"
	gone() { # Its window is closed: nothing is left to wait for.
		TERM=vt100 python3 -c 'import os, pty, signal, sys
pid, fd = pty.fork()
if not pid:
    os.execv(sys.argv[1], sys.argv[1:])
os.read(fd, 100)
os.close(fd)
def give_up(*_):
    os.kill(pid, signal.SIGKILL)
signal.signal(signal.SIGALRM, give_up)
signal.alarm(30)
print(os.waitpid(pid, 0)[1])' "$ctl" top "$d/a.db"
	}
	ok "top ends with its terminal" is 0 "$(gone)"
else
	skip "top after keys" "built without ncurses"
fi

# A manual that prints its arguments.
cat >"$d/bin/man" <<'X2'
#!/bin/sh
[ "$1" != -w ] || exit "${NO_MAN:-0}"
echo "man $*, LESS=$LESS"
X2
chmod 755 "$d/bin/man"
cat >"$d/on.py" <<'X2'
import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    try:
        os.write(1, os.read(fd, 65536).replace(b"\r\n", b"\n").replace(b"\r", b"<"))
    except OSError:
        break
sys.exit(os.waitpid(pid, 0)[1] >> 8)
X2
on() { # COMMAND...: what it writes to a terminal, "<" where a line begins anew
	(cd "$d" && PATH=$d/bin:$PATH timeout 250 python3 on.py "$@") || echo "exit $?"
}
ok "help on a terminal is the command's place in the manual page" shows on "$ctl" help why <<<"man 1 gchintctl, LESS=+/^ +why"
ok "general help on a terminal is the short text" shows on "$ctl" help <<<"usage: gchintctl [--json]"
ok "help for an unknown command" shows on "$ctl" help nix <<'X2'
unknown command 'nix'
exit 2
X2
ok "without the manual page help is the short text" shows env NO_MAN=1 bash -c "$(declare -f on); d='$d' on '$ctl' help why" <<<"usage: gchintctl why"
ok "elsewhere help is the short text" shows env PATH="$d/bin:$PATH" "$ctl" help why <<<"usage: gchintctl why"
for n in b c; do
	cp "$d/a.db" "$d/$n.db"
done
sqlite3 "$d/c.db" "update meta set value = 'other' where key = 'label'"
ok "a recording leaves the terminal to its command" shows on "$ctl" record --gchintd "$gchintd" -o own.db --option --sysfs="$d/none" -- sh -c 'sleep 0.3; echo its own' <<'X2'
! own.db: 0
its own
gchintctl: recorded own.db
X2
recorded_aside() { # the command's output is elsewhere
	on sh -c '"$@" >own.txt' sh "$ctl" record --gchintd "$gchintd" -o aside.db --option --sysfs="$d/none" -- sh -c 'sleep 0.3; echo its own'
}
ok "and shows its progress on another one" shows recorded_aside <<<"aside.db: 0 s"
ok "a report shows its progress" shows on "$ctl" report -o page.html c.db a.db b.db <<<"<gchintctl: 1 of 2 drawn<gchintctl: 2 of 2 drawn"
ok "a report of more runs of a group, too" shows on "$ctl" report --detail 2 -o page.html a.db b.db c.db <<<"<gchintctl: 3 of 3 drawn"
ok "a report without plots has no progress" shows on "$ctl" report --detail 0 -o page.html a.db b.db c.db <<'X2'
! drawn
gchintctl: wrote page.html
X2
