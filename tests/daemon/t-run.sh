# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# gchintctl run and attach: how each runtime is recognised and its adapter loaded, with fake
# programs and adapters that do nothing; hint counts of a program with hints. tests/adapters tests
# real runtimes.

fresh run
mkdir "$d/bin" "$d/adapters" "$d/path" "$d/lib"
cp "$ctl" "$d/bin/gchintctl"
echo "void nothing(void);void nothing(void){}" | gcc -shared -fPIC -x c -o "$d/adapters/libgchint-boehm.so" -
for n in gjs jvm launch lua mono node ocaml php python ruby; do
	cp "$d/adapters/libgchint-boehm.so" "$d/adapters/libgchint-$n.so"
done
# Environment and arguments of a program.
cat >"$d/path/show" <<'X2'
#!/bin/sh
echo "$(basename "$0"): $*"
for v in LD_PRELOAD LD_LIBRARY_PATH NODE_OPTIONS RUBYOPT LUA_INIT_5_4 GCHINT_HINTS; do
	eval "[ -z \"\${$v+x}\" ] || echo \"$v=\$$v\""
done
X2
for n in java mono mono-sgen node nodejs ruby ruby3.1 rubyish; do
	cp "$d/path/show" "$d/path/$n"
done
chmod 755 "$d"/path/*
# Programs as linkers make them: by the libraries they need, by the symbols they export.
cat >"$d/show.c" <<'X2'
#include <stdio.h>
#include <stdlib.h>
void OFFERS(void);
void OFFERS(void) {}
int main(int argc, char **argv)
{
	const char *p = getenv("LD_PRELOAD");
	printf("%s, %d arguments, LD_PRELOAD=%s\n", argv[0], argc - 1, p ? p : "");
	for (int i = 0; i < 3; i++) {
		const char *names[] = { "LUA_INIT_5_4", "NODE_OPTIONS", "RUBYOPT" };
		p = getenv(names[i]);
		if (p)
			printf("%s=%s\n", names[i], p);
	}
	return 5;
}
X2
offers() { # PROGRAM SYMBOL [FLAG...]
	gcc -rdynamic -DOFFERS="$2" -o "$d/path/$1" "$d/show.c" "${@:3}"
}
needs() { # PROGRAM LIBRARY
	echo "void library(void);void library(void){}" | gcc -shared -fPIC -x c -Wl,-soname,"$2" -o "$d/lib/$2" -
	gcc -DOFFERS=none -Wl,--no-as-needed -Wl,-rpath,"$d/lib" -o "$d/path/$1" "$d/show.c" "$d/lib/$2"
}
offers o-ocaml caml_minor_gc_begin_hook
offers o-lua lua_setwarnf
offers o-node napi_module_register -Wl,--defsym=_ZN4node5StartEiPPc=main
offers o-php gc_collect_cycles
offers o-python PyImport_Inittab
offers o-nothing something
needs n-gc libgc.so.1
needs n-gjs libgjs.so.0
needs n-guile libguile-3.0.so.1
needs n-ecl libecl.so.21
needs n-node libnode.so.108
needs n-python libpython3.11.so.1.0
needs n-ruby libruby-3.1.so.3.1
needs n-other libother.so.1
gcc -static -DOFFERS=none -o "$d/path/static" "$d/show.c"
# Scripts, and what is none.
printf '#!%s/path/o-lua -x\nprint(1)\n' "$d" >"$d/path/script"
printf '#!/usr/bin/env o-python\n' >"$d/path/by-env"
printf '#! %s/path/script\n' "$d" >"$d/path/second"
printf '#!%s/path/second\n' "$d" >"$d/path/third"
printf '#!%s/path/third\n' "$d" >"$d/path/fourth"
printf '#!%s/path/nowhere\n' "$d" >"$d/path/no-interpreter"
printf '#!' >"$d/path/short"
printf 'hello\n' >"$d/path/text"
: >"$d/path/empty"
head -c 100 "$d/path/o-lua" >"$d/path/cut"
head -c 5 "$d/path/o-lua" >"$d/path/magic"
{ head -c 4 "$d/path/o-lua"; printf '\001'; tail -c +6 "$d/path/o-lua"; } >"$d/path/other"
cp "$d/path/o-lua" "$d/path/setuid"
chmod 755 "$d"/path/*
chmod u+s "$d/path/setuid"
cp "$d/path/o-lua" "$d/path/not-executable"
chmod 644 "$d/path/not-executable"
# The command's strings live until gchintctl ends: no leak.
run() { # ARGUMENT...: without a device or a recorder, with these programs only
	GCHINT_DEVICE=$d/none PATH=$d/path:/usr/bin:/bin ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0:verify_asan_link_order=0 \
		"$d/bin/gchintctl" run "$@" </dev/null 2>&1 || echo "exit $?"
}
# Clamps, of whatever kernel this is: CLAMPS is the error by which they fail; 0: they work.
cat >"$d/clamps.c" <<'X2'
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>

long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	const char *clamps = getenv("CLAMPS");
	static uint32_t max = 1024;
	uint32_t *attr;
	va_list args;
	long a[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	attr = (uint32_t *)a[1];
	if (number == SYS_sched_getattr) {
		attr[0] = 56;
		attr[13] = max;
		return 0;
	}
	if (number != SYS_sched_setattr)
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	errno = clamps ? atoi(clamps) : EOPNOTSUPP;
	if (errno)
		return -1;
	max = attr[13] > 1024 ? 1024 : attr[13];
	return 0;
}
X2
gcc -D_GNU_SOURCE -shared -fPIC -o "$d/clamps.so" "$d/clamps.c"
clamped() { # ERRNO ARGUMENT...
	(export CLAMPS=$1 LD_PRELOAD=$d/clamps.so && shift && run "$@")
}
runs() {
	local p
	unset LD_PRELOAD LUA_INIT LUA_INIT_5_4 NODE_OPTIONS RUBYOPT LD_LIBRARY_PATH GCHINT_STREAM GCHINT_TRACE
	for p in java mono mono-sgen node nodejs ruby ruby3.1 rubyish o-ocaml o-lua o-node o-php o-python o-nothing n-gc n-gjs n-guile n-ecl n-node \
		n-python n-ruby n-other static script by-env second third fourth no-interpreter short text empty cut magic other \
		setuid not-executable absent ./absent; do
		echo "== $p"
		run -q -- "$p" a "b c"
	done
	echo "== with what the user has"
	NODE_OPTIONS=--x RUBYOPT=-w LD_LIBRARY_PATH=/l run -q node
	LUA_INIT_5_4='x = 1' run -q o-lua
	LD_PRELOAD=$d/adapters/libgchint-ruby.so run -q o-python
	run -H cap -q java
	run -H boost -q java
	run -H all -q java
	run -H some -q java
	GCHINT_HINTS=some run -q java
	echo "== utilisation clamps"
	for p in 0 95 22 38 1 5; do
		clamped $p -H clamp -q java
	done
	GCHINT_HINTS=clamp clamped 95 -q java
	GCHINT_CLAMP=0 clamped 0 -H clamp -q java
	GCHINT_DISABLE=1 clamped 95 -H clamp -q java
	GCHINT_HINTS=clamp clamped 95 -H all -q java
	run
	run --nix
	echo "== not counted, and where hints go"
	run java
	(export GCHINT_STREAM=/tmp/some && run java)
	(export GCHINT_STREAM=/tmp/some && clamped 0 -H clamp java)
	mv "$d/adapters/libgchint-jvm.so" "$d/away"
	run java
	mv "$d/away" "$d/adapters/libgchint-jvm.so"
	echo "== without libgchint-launch.so"
	mv "$d/adapters/libgchint-launch.so" "$d/away"
	for p in java n-gc o-php n-ruby mono by-env o-nothing; do
		run -q "$p"
	done
	mv "$d/away" "$d/adapters/libgchint-launch.so"
}
ran() { # In a shell of its own; without this run's directory.
	(runs) | sed "s|$d|DIR|g"
}
ok "runtimes are recognised and their adapters loaded" expected run ran

# A program that gives hints: how many, how many pauses.
make -s -C "$here/../../libgchint" BUILD="$d/build" CFLAGS="-O2 -g" "$d/build/libgchint.a" >/dev/null 2>"$d/make.log" ||
	cat "$d/make.log"
cat >"$d/hints.c" <<'X2'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gchint.h>

void lua_setwarnf(void);
void lua_setwarnf(void) {}
static void phase(uint32_t phase, uint32_t flags)
{
	gchint_phase_begin(phase, flags);
	usleep(300);
	gchint_phase_end();
	/* Mutators run: pauses without a gap are one. */
	usleep(300);
}
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "path"))
		puts(getenv("GCHINT_STREAM"));
	gchint_init(0);
	if (!strcmp(what, "nested")) {
		gchint_phase_begin(GCHINT_PHASE_ROOTS, GCHINT_F_STW);
		usleep(300);
		phase(GCHINT_PHASE_MARK, GCHINT_F_STW);
		gchint_phase_end();
	}
	for (int i = 0; i < 3 && strstr(what, "stw"); i++)
		phase(GCHINT_PHASE_MARK, GCHINT_F_STW);
	for (int i = 0; i < 5 && strstr(what, "foreground"); i++)
		phase(GCHINT_PHASE_MARK, GCHINT_F_FOREGROUND);
	for (int i = 0; i < 7 && strstr(what, "concurrent"); i++)
		phase(GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT);
	if (!strcmp(what, "slow stw"))
		usleep(700000);
	if (!strcmp(what, "killed stw"))
		raise(SIGKILL);
	return 3;
}
X2
gcc -rdynamic -I"$here/../../include" -I"$here/../../include/uapi" -o "$d/path/hints" "$d/hints.c" "$d/build/libgchint.a" -pthread
cp "$gchintd" "$d/bin/gchintd"
count_print() { # ARGUMENT...: of gchintctl, in a shell of its own
	(
		unset LD_PRELOAD LUA_INIT LUA_INIT_5_4 GCHINT_STREAM GCHINT_TRACE
		export GCHINT_MIN_US=0
		"$@"
	)
}
for c in "3|3 pauses|stw" "5|0 pauses, 5 stops of single threads|foreground" "8|3 pauses|stw foreground" "7|0 pauses|concurrent" \
	"10|3 pauses|stw concurrent" "3|1 pause|nested" "3|3 pauses|slow stw"; do
	IFS='|' read -r number pauses what <<<"$c"
	ok "phases of a program are counted: $what" shows count_print run -- hints "$what" <<<"gchintctl: $number phases, $pauses: nowhere, there is no /dev/gchint"$'\nexit 3'
done
ok "without hints that is reported" shows count_print run -- hints none <<<"gchintctl: no hints: hints collected nothing"$'\nexit 3'
ok "phases of a killed program are counted" shows count_print run -- hints "killed stw" <<<"gchintctl: 3 phases, 3 pauses"$'\nexit 137'
ok "run -q prints no count" shows count_print run -q -- hints stw <<<"! phases,"
ok "phases of a recorded program are counted" shows count_print run -r "$d/run.db" -- hints "stw concurrent" <<'X2'
gchintctl: 10 phases, 3 pauses: into
gchintctl: next: gchintctl summary
X2
ok "and are in the recording" is "mark, stw 3 sweep, concurrent 7" \
	"$("$d/bin/gchintctl" summary "$d/run.db" | grep -E '^(mark|sweep)' | awk '{ print $1, $2, $3 }' | paste -sd' ')"
ok "run -q -r prints no count either" shows count_print run -q -r "$d/quiet.db" -- hints stw <<<"! phases,"
ok "phases that clamps act on are counted" shows count_print clamped 0 -H clamp -- hints "stw concurrent" <<<"10 phases, 3 pauses: utilisation clamps act on them"
ok "and where they are recorded" shows count_print clamped 0 -H clamp -r "$d/clamped.db" -- hints "stw concurrent" <<<"10 phases, 3 pauses: into"
ok "clamps that the kernel lacks are reported before the program runs" shows count_print clamped 95 -H clamp -- hints stw <<'X2'
gchintctl: --hints clamp: the kernel is built without CONFIG_UCLAMP_TASK
exit 1
X2
ok "a program by itself reports them" shows count_print env CLAMPS=95 LD_PRELOAD="$d/clamps.so" GCHINT_HINTS=clamp "$d/path/hints" stw \
	<<<"libgchint: no clamps: GCHINT_HINTS=clamp: the kernel is built without CONFIG_UCLAMP_TASK"
ok "and a wrong GCHINT_HINTS" shows count_print env GCHINT_HINTS=some "$d/path/hints" stw <<<"libgchint: no hints: GCHINT_HINTS=some"
stream=$(GCHINT_DEVICE=$d/none PATH=$d/path:$PATH "$d/bin/gchintctl" run -- hints path 2>/dev/null)
ok "no file is left of the counting" is "/tmp/gchintctl.XXXXXX/stream gone" "$(sed -E 's/(gchintctl\.).{6}/\1XXXXXX/; s/stream\.[0-9a-f]{16}/stream/' <<<"$stream") $(
	test -e "${stream%/*}" || echo gone)"

# A fake JVM: it listens on request, and prints what it receives.
: >"$d/lib/libjvm.so"
truncate -s 4096 "$d/lib/libjvm.so"
cat >"$d/jvm.py" <<'X2'
import mmap, os, signal, socket, sys, time
how, lib = sys.argv[1:3]
# With a limit, whatever does not come.
signal.alarm(250)
if how != "none":
    file = open(lib, "rb")
    held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
path = f"/tmp/.java_pid{os.getpid()}"
server = socket.socket(socket.AF_UNIX)
asked = []
def on_quit(*_):
    asked.append([n for n in os.listdir(".") if n.startswith(".attach_pid")] == [f".attach_pid{os.getpid()}"])
    server.bind(path)
    server.listen()
if how != "starting":
    signal.signal(signal.SIGQUIT, on_quit)
print("ready", flush=True)
while how in ("none", "starting"):
    signal.pause()
while not asked:
    time.sleep(0.02)
client, _ = server.accept()
os.unlink(path)
said = b""
while said.count(b"\0") < 5:
    said += client.recv(4096)
words = said.split(b"\0")
print("asked", asked, [w.decode() for w in words[:4]],
      sorted(w for w in words[4].decode().split(";") if w.startswith(("GCHINT_TRACE=", "GCHINT_MIN"))), flush=True)
client.sendall({"good": b"0\nreturn code: 0\n", "old": b"0\n", "agent": b"0\nreturn code: 7\n", "bad": b"1\nno\n"}[how])
client.close()
X2
attaches() {
	local how pid
	unset GCHINT_STREAM GCHINT_TRACE
	export GCHINT_DEVICE=$d/none
	mkdir -p "$d/cwd"
	cd "$d/cwd" || return
	for how in none starting nowhere good old agent bad; do
		echo "== $how"
		rm -f "$d/jvm.out"
		python3 "$d/jvm.py" "${how/nowhere/starting}" "$d/lib/libjvm.so" >"$d/jvm.out" &
		pid=$!
		wait_for 10 grep -q ready "$d/jvm.out"
		if [ $how = nowhere ]; then
			kill -KILL $pid
			wait $pid 2>/dev/null
			"$d/bin/gchintctl" attach $pid 2>&1 | sed "s/$pid/PID/g"
			continue
		fi
		GCHINT_TRACE=$d/t GCHINT_MIN_US='5;6' GCHINT_MIN_MS=7 "$d/bin/gchintctl" attach --wait $pid >"$d/attach.out" 2>&1
		echo "exit $?"
		[ $how != none ] && [ $how != starting ] || kill -KILL $pid
		wait $pid 2>/dev/null
		cat "$d/jvm.out" "$d/attach.out" | sed "s/$pid/PID/g"
	done
	ls -A "$d/cwd"
	echo "== where hints would go nowhere, and without the adapter"
	rm "$d/jvm.out"
	python3 "$d/jvm.py" good "$d/lib/libjvm.so" >"$d/jvm.out" &
	pid=$!
	wait_for 10 grep -q ready "$d/jvm.out"
	"$d/bin/gchintctl" attach $pid 2>&1 | sed "s/$pid/PID/g"
	mv "$d/adapters/libgchint-jvm.so" "$d/away"
	GCHINT_STREAM=/tmp/s "$d/bin/gchintctl" attach $pid 2>&1 | sed "s/$pid/PID/g"
	mv "$d/away" "$d/adapters/libgchint-jvm.so"
	kill -KILL $pid
	wait $pid 2>/dev/null
	for how in --wait x 0 -1 2147483648 "1 2" 12x --nix; do
		# shellcheck disable=SC2086 # arguments
		"$d/bin/gchintctl" attach $how 2>&1 || echo "exit $?"
	done
}
attached() {
	(attaches 2>&1) | sed "s|$d|DIR|g"
}
ok "attach distinguishes JVMs from other programs" expected attach attached
lists_jvms() { # what attach prints of two JVMs, of which the first has counters
	local pid counters
	python3 "$d/jvm.py" good "$d/lib/libjvm.so" >"$d/good.out" &
	pid=$!
	python3 "$d/jvm.py" starting "$d/lib/libjvm.so" >"$d/starting.out" &
	wait_for 10 grep -q ready "$d/good.out" && wait_for 10 grep -q ready "$d/starting.out"
	counters=/tmp/hsperfdata_gchint-$$
	mkdir "$counters"
	python3 -c 'import struct, sys
name, text = b"sun.gc.policy.name\0", b"GarbageFirst\0"
entry = struct.pack("<IIIBBBBI", 56, 20, len(text), 66, 0, 0, 0, 40) + name + b"\0" + text
sys.stdout.buffer.write(b"\xca\xfe\xc0\xc0\x01\x02\0\x01" + struct.pack("<IIQII", 0, 0, 0, 32, 1) + entry.ljust(56, b"\0"))' >"$counters/$pid"
	"$d/bin/gchintctl" attach | grep -E "^ *($pid|$!|PID) |^HEAP" | sed "s/^ *$pid /good /; s/^ *$! /starting /" | sort
	kill -KILL $pid $!
	wait $pid $! 2>/dev/null
	rm -r "$counters"
}
ok "without a process attach lists what there is, with its collector" shows lists_jvms <<'X2'
PID RUNTIME COLLECTOR HEAP MiB PROGRAM ATTACHES
HEAP: used at the last collection
good jvm G1 ? python3 yes
starting jvm ? ? python3 started with -Xrs, or still starting
X2

# The limit on idle states is the kernel's to hold: it reports the one in force.
limit=/dev/cpu_dma_latency
ok "a limit on idle states takes microseconds" shows "$d/bin/gchintctl" run --wake-latency 5ms -- true <<X2
gchintctl: run: --wake-latency takes microseconds, 0 to 1000000, not 5ms
exit 2
X2
if [ -w "$limit" ]; then
	# Others may hold a lower one at the same time; the lowest counts.
	limited() { # [OPTION...]: is it in force for the program, and does that not have the file?
		"$d/bin/gchintctl" run -q --wake-latency 1 "$@" -- sh -c "od -An -td4 $limit; ls -l /proc/self/fd; exit 3" 2>&1 |
			awk -v limit="$limit" '$1 ~ /^[0-9]+$/ { us = $1 } index($0, "-> " limit) { has = 1 }
				END { print (us != "" && us <= 1 && !has) ? "held" : "not held" }'
		echo "status ${PIPESTATUS[0]}"
	}
	ok "idle states are limited while a program runs" shows limited <<X2
held
status 3
X2
	ok "and while it is recorded" shows limited -r limited.db <<X2
held
status 3
X2
else
	skip "idle states are limited while a program runs" "no $limit to write"
	skip "and while it is recorded" "no $limit to write"
fi
