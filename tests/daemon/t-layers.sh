# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Dependencies go one way: no two files of a program use each other, directly or in a cycle, and
# a directory uses only those that daemon/Makefile lists before it.

# Makes $work/layers.a of the objects of a program's sources, as DIR+FILE.o: an archive has no
# directories, and ar replaces an object by one of the same name.
objects_archive() { # PROGRAM
	local file name
	rm -rf "$work/layers" "$work/layers.a"
	mkdir "$work/layers"
	for file in "$here/../../daemon/$1"/*.c "$here/../../daemon/$1"/*/*.c; do
		name=${file#"$here/../../daemon/$1/"}
		name=${name%.c}
		case $name in
		*/*) ln -s "$DAEMON/obj/$1/$name.o" "$work/layers/${name/\//+}.o" ;;
		main) ln -s "$DAEMON/obj/$1/main.o" "$work/layers/main+main.o" ;;
		*) ln -s "$DAEMON/obj/$1/$name.o" "$work/layers/top+$name.o" ;;
		esac
	done
	ar rcs "$work/layers.a" "$work/layers"/*.o
}

files_layered() { # PROGRAM
	objects_archive "$1" && "$here/../collectors/layers" "$work/layers.a"
}

# USER USED: directories of two objects of the archive, one of which has a name that the other uses.
names_used() {
	nm -A "$work/layers.a" | sed 's/^[^:]*:\([^:]*\)+[^:]*:[0-9a-f ]*\([A-Za-z]\) /\1 \2 /' |
		awk '$2 ~ /[TDBRC]/ { home[$3] = $1 }
			$2 == "U" { user[++n] = $1; name[n] = $3 }
			END { for (i = 1; i <= n; i++) if (name[i] in home) print user[i], home[name[i]] }'
}

# The same by #include lines.
headers_used() { # PROGRAM
	(cd "$here/../../daemon/$1" && grep -H '^#include "' ./*.[ch] ./*/*.[ch]) |
		sed -e 's/^\.\///' -e 's/^main\.c:/main\/main.c:/' -e 's/^\([^/:]*\):/top\/\1:/' |
		sed -nE -e '/^(main|top)\/[^:]*:.include "\.\.\//d' \
			-e 's#^(main|top)/[^:]*:.include "([a-z]+)/.*#\1 \2#p' \
			-e 's#^(main|top)/[^:]*:.include "[^/]*"#\1 top#p' \
			-e 's#^([a-z]+)/[^:]*:.include "\.\./([a-z]+)/.*#\1 \2#p' \
			-e 's#^([a-z]+)/[^:]*:.include "\.\./[^/]*"#\1 top#p' \
			-e 's#^([a-z]+)/[^:]*:.include "[^/]*"#\1 \1#p'
}

directories_layered() { # PROGRAM
	local order
	order=$(sed -n "s/^${1^^}_DIRS := //p" "$here/../../daemon/Makefile")
	[ -n "$order" ] || { echo "daemon/Makefile has no ${1^^}_DIRS"; return 1; }
	objects_archive "$1" || return 1
	names_used >"$work/names_used"
	headers_used "$1" >"$work/headers_used"
	awk -v order="top $order main" '
		BEGIN { n = split(order, dir); for (i = 1; i <= n; i++) level[dir[i]] = i }
		FNR == 1 { inputs++ }
		{ used[$1] = 1; used[$2] = 1 }
		!($1 in level) { bad[$1 " is not listed in daemon/Makefile"] = 1; next }
		!($2 in level) { bad[$2 " is not listed in daemon/Makefile"] = 1; next }
		level[$2] > level[$1] { bad[$1 " uses " $2 ", which is listed after it"] = 1 }
		END {
			for (i = 1; i <= n; i++)
				if (!(dir[i] in used))
					bad[dir[i] ": no dependency was found"] = 1
			for (line in bad)
				print line
			exit inputs != 2 || length(bad) != 0
		}' "$work/names_used" "$work/headers_used"
}

for program in gchintd gchintctl; do
	ok "$program's files use each other one way" files_layered $program
	ok "$program's directories use only those listed before them" directories_layered $program
done
