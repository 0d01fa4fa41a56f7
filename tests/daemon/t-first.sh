# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# First commands: a program of no runtime under gchintctl run and record, names that exist already,
# programs that do not, recordings without hints. Compared with words/first.

fresh first
mkdir "$d/bin" "$d/path"
cp "$ctl" "$d/bin/gchintctl"
cp "$gchintd" "$d/bin/gchintd"
make -s -C "$here/../../libgchint" BUILD="$d/build" CFLAGS="-O2 -g" "$d/build/libgchint.a" >/dev/null 2>"$d/make.log" ||
	cat "$d/make.log"
cat >"$d/own.c" <<'X2'
#include <unistd.h>
#include <gchint.h>

#ifdef LUA
void lua_setwarnf(void);
void lua_setwarnf(void) {}
#endif
int main(int argc, char **argv)
{
	(void)argv;
	gchint_init(0);
	for (int i = 1; i < argc; i++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
		usleep(300);
		gchint_phase_end();
		/* Mutators run: pauses without a gap are one, with one of 5 us they are two. */
		usleep(100);
	}
	return argc > 3 ? 3 : 0;
}
X2
# A runtime of its own: it contains libgchint, links it, or loads it.
own() { # PROGRAM OPTION...
	local program=$1
	shift
	gcc -I"$here/../../include" -I"$here/../../include/uapi" "$@" -o "$d/path/$program" "$d/own.c" \
		"$d/build/libgchint.a" -pthread
}
own own
own own-static -static
own lua -DLUA -rdynamic
echo 'const char library[] = "libgchint.so.1"; int main(void) { return library[0] == 0; }' | gcc -x c -o "$d/path/loads" -
printf '#!/nowhere/interpreter\n' >"$d/path/no-interpreter"
printf '#!/bin/sh\nexec own 1 2\n' >"$d/path/starts"
chmod 755 "$d"/path/*
first() { # run|record ARGUMENT...: in $d, without a device or a recorder, with these programs first
	echo "== $*"
	(cd "$d" && GCHINT_DEVICE=$d/none GCHINT_MIN_US=0 PATH=$d/path:/usr/bin:/bin "$d/bin/gchintctl" "$@" </dev/null 2>&1) ||
		echo "exit $?"
}
firsts() {
	unset LD_PRELOAD LUA_INIT LUA_INIT_5_4 GCHINT_STREAM GCHINT_TRACE
	first run -- own 1 2
	first run -- own 1 2 3
	first run -- own
	first run -- own-static 1
	first run -- loads
	first run -- starts
	first run -- true
	first run -q -- true
	first run -- false
	(export GCHINT_DISABLE=1 && first run -- own 1)
	first run -q -r own.db -- own 1 2
	first run -r own.db -- own 1 2
	first run -r own.db -- own
	first run -r own.db -- true
	first record -q -o none.db -- true
	first record -q -o none.db -- own
	first record -q -o none.db -- lua
	first record -q -o plain -- own 1
	first record -q -o plain -- own 1
	first record -q -o .hidden -- own 1
	first record -q -o .hidden -- own 1
	first record -q -- own 1
	first record -o absent.db -- absent
	first record -o own.db -- absent
	first record -o script.db -- no-interpreter
	first record -- absent
	first record -o rotated.db --option --keep=2 -q -- own 1
	first record -o rotated.db --option --keep=2 -q -- own 1
	first record -o . -q -- true
	: >"$d/profile.db"
	first profile record -- absent
	(cd "$d" && ls -A -- *.db* plain* .hidden*)
}
firsts_said() { # in a shell of its own; without names that differ from run to run
	(firsts) | sed -E "s|$d|DIR|g; s/-[0-9]{8}-[0-9]{6}/-TIME/g; s|DIR/bin/||g"
}
ok "programs of no runtime run; missing hints and names that exist are reported" words first firsts_said
