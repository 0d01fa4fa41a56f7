# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Terminal output: top after keys, the manual, progress of a report. Compared with the files in
# words/ (t-words.sh).

mkdir -p "$work/terminal/bin"
d=$work/terminal
sqlite3 "$d/a.db" <"$here/recordings/0.1.0.sql"
sqlite3 "$d/a.db" <"$here/recordings/everything.sql"
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
# In parallel: each waits for its second sample.
tops() {
	local n=0 at=()
	for keys in '' s ss sss ssss h 'h?' '  ' x '\x1bOB\x1bOB'; do
		n=$((n + 1))
		stands 40 "$keys" >"$d/top.$n" &
		at+=("$d/top.$n")
	done
	for keys in '\x1bOB\x1bOB' '\x1bOB\x1bOB\x1bOA' '\x1bOA'; do
		n=$((n + 1))
		stands 12 "$keys" >"$d/top.$n" &
		at+=("$d/top.$n")
	done
	wait
	cat "${at[@]}"
}
if "$ctl" top --help >/dev/null && ldd "$ctl" | grep -q ncurses; then
	ok "top after keys" words terminal-top tops
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
helps() {
	on "$ctl" help why
	on "$ctl" help record
	on "$ctl" help | sed -n 1,2p
	on "$ctl" help nix
	NO_MAN=1 on "$ctl" help why | sed -n 1,2p
	PATH=$d/bin:$PATH "$ctl" help why | sed -n 1,2p
}
ok "help on a terminal is the manual page, elsewhere the short text" words terminal-help helps
for n in b c; do
	cp "$d/a.db" "$d/$n.db"
done
sqlite3 "$d/c.db" "update meta set value = 'other' where key = 'label'"
drawn() {
	on "$ctl" report -o page.html a.db
	on "$ctl" report -o page.html a.db b.db c.db
	on "$ctl" report -o page.html c.db a.db b.db
	on "$ctl" report --detail 2 -o page.html a.db b.db c.db
	on "$ctl" report --detail 0 -o page.html a.db b.db c.db
}
ok "a report shows its progress" words terminal-report drawn
