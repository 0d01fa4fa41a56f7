# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# First commands: a program of no runtime under gchintctl run and record, names that exist already,
# programs that do not, recordings without hints.

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
unset LD_PRELOAD LUA_INIT LUA_INIT_5_4 GCHINT_STREAM GCHINT_TRACE
first() { # run|record ARGUMENT...: in $d, without a device or a recorder, with these programs first
	GCHINT_DEVICE=$d/none GCHINT_MIN_US=0 PATH=$d/path:/usr/bin:/bin "$d/bin/gchintctl" "$@" 2>&1 | sed -E 's/-[0-9]{8}-[0-9]{6}/-TIME/g'
	return "${PIPESTATUS[0]}"
}
ok "run counts phases, and returns the program's status" shows first run -- own 1 2 3 <<'X2'
gchintctl: 3 phases, 3 pauses: nowhere, there is no /dev/gchint; -o FILE keeps them
exit 3
X2
ok "a program that contains libgchint is counted" shows first run -- own-static 1 <<<"gchintctl: 1 phase, 1 pause: "
ok "so is one that a script starts" shows first run -- starts <<'X2'
gchintctl: starts: no runtime that has an adapter; it runs as it is
gchintctl: 2 phases, 2 pauses
exit 0
X2
# Why there are no hints.
ok "a program that collected nothing" shows first run -- own <<<"gchintctl: no hints: own collected nothing, or only in phases that are expected to be shorter than GCHINT_MIN_US"
ok "a program that opened no session" shows first run -- loads <<<"gchintctl: no hints: loads has libgchint, but opened no session"$'\nexit 0'
# It has libgchint, and a library that is gone.
echo 'int gone(void) { return 0; }' | gcc -x c -shared -fPIC -o "$d/path/libgone.so" -
own broken -Wl,--no-as-needed -L"$d/path" -lgone
rm "$d/path/libgone.so"
ok "a program that the loader cannot start" shows first run -- broken <<'X2'
broken: error while loading shared libraries: libgone.so
gchintctl: no hints: broken ended with status 127, as a program does that cannot be loaded; its standard error has the reason
exit 127
X2
ok "a program without libgchint" shows first run -- true <<'X2'
gchintctl: true: no runtime that has an adapter
gchintctl: no hints: neither true nor a program that it started used libgchint
exit 0
X2
ok "a program whose status says more" shows first run -- false <<<"gchintctl: no hints: neither false"$'\nexit 1'
ok "with -q that is left out" shows first run -q -- true <<'X2'
! no hints
exit 0
X2
ok "GCHINT_DISABLE" shows env GCHINT_DISABLE=1 bash -c "$(declare -f first); d='$d' first run -- own 1" <<<"gchintctl: no hints: GCHINT_DISABLE forbids them"

# A name that exists is kept.
ok "a recorded run is reported with its file" shows first run -r own.db -- own 1 2 <<<"gchintctl: 2 phases, 2 pauses: into own.db"
ok "another one gets a name of its own" shows first run -r own.db -- own 1 2 <<'X2'
gchintctl: own.db exists and is kept: recording into own-2.db
gchintctl: 2 phases, 2 pauses: into own-2.db
X2
ok "the answer follows, and what shows more" shows first run -o told.db -- own 1 2 <<'X2'
gchintctl: 2 phases, 2 pauses: into told.db
own was stopped
paused
gchintctl: next: gchintctl summary told.db, or for a page gchintctl report told.db
X2
ok "with -q neither" shows first run -q -o told.db -- own 1 2 <<'X2'
! own was stopped
! next:
X2
ok "a page is written beside the recording" shows first run --report -o page.db -- own 1 2 <<'X2'
gchintctl: wrote page.html
gchintctl: next: gchintctl summary page.db
X2
ok "and another one beside the next" shows first run --report -o page.db -- own 1 2 <<'X2'
gchintctl: wrote page-2.html
X2
echo mine >"$d/mine.html"
ok "a page of the user's is kept" shows first run --report -o mine.db -- own 1 <<'X2'
gchintctl: wrote mine-2.html
X2
ok "unchanged" grep -q '^mine$' "$d/mine.html"
ok "a page has the name that was given" shows first run --report=given.html -q -o given.db -- own 1 <<<"gchintctl: wrote given.html"
ok "a label has a run recorded" shows first run -q -l some -- own 1 <<<"gchintctl: recorded own-TIME"
ok "so does the cost" shows first run -q -C -- own 1 <<'X2'
gchintctl: recorded own-TIME
gchintctl: recording took
X2
rm -f "$d"/own-20*
ok "so does one without hints" shows first run -r own.db -- own <<<"gchintctl: no hints in own-3.db: own collected nothing"
for c in "none.db:none.db:true" "none.db:none-2.db:own" "none.db:none-3.db:lua"; do
	IFS=: read -r name file program <<<"$c"
	ok "record reports a recording without hints: $program" shows first record -q -o "$name" -- "$program" <<<"gchintctl: no hints in $file:"
done
for name in plain .hidden; do
	ok "a recording needs no suffix: $name" shows first record -q -o $name -- own 1 <<<"! exists"
	ok "the next one has none either: $name" shows first record -q -o $name -- own 1 <<<"gchintctl: $name exists and is kept: recording into $name-2"
done
ok "without a name it is the program's and the time" shows first record -q -- own 1 <<<"gchintctl: recorded own-TIME.db"
for c in "absent absent" "script no-interpreter"; do
	ok "a program that cannot be run leaves no recording: ${c#* }" shows first record -o "${c% *}.db" -- "${c#* }" <<-X2
		gchintctl: ${c#* }: No such file or directory
		gchintctl: nothing was recorded: ${c% *}.db is removed
		exit 127
	X2
done
ok "nor removes an earlier one" shows first record -o own.db -- absent <<<"gchintctl: nothing was recorded: own-4.db is removed"
ok "nor one of a profile" shows bash -c "$(declare -f first); : >profile.db; d='$d' first profile record -- absent" <<<"gchintctl: nothing was recorded: profile-2.db is removed"
first_rotated() { # twice into one file that rotates
	first record -o rotated.db --option --keep=2 -q -- own 1 && first record -o rotated.db --option --keep=2 -q -- own 1
}
ok "with --keep the earlier one is rotated" shows first_rotated <<<"! exists"
ok "a directory is no recording" shows first record -o . -q -- true <<<"gchintd: record: .: exists"$'\nexit 4'
ok "these files are there, and no others" is \
	".hidden .hidden-2 given.db mine.db none-2.db none-3.db none.db own-2.db own-3.db own-TIME.db own.db page-2.db page.db plain plain-2 profile.db rotated.db rotated.db.1 told-2.db told.db" \
	"$(cd "$d" && LC_ALL=C ls -A -- *.db* plain* .hidden* | sed -E 's/-[0-9]{8}-[0-9]{6}/-TIME/' | LC_ALL=C sort | paste -sd' ')"
