# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: what is preloaded needs no symbol and no library of glibc's alone, as make install has it
# source: https://github.com/github/gh-aw-firewall/issues/2535
# needs: build musl-gcc nm readelf
# when: gate
make -s -C "$top/libgchint" BUILD="$build/libgchint" DESTDIR="$PWD/root" PREFIX=/usr install >log 2>&1 || { cat log; exit 1; }
make -s -C "$top/adapters" BUILD="$build/adapters" LIBGCHINT="$build/libgchint" DESTDIR="$PWD/root" PREFIX=/usr install >>log 2>&1 || { cat log; exit 1; }
nm -D --defined-only /lib/ld-musl-*.so.1 | awk '{ print $NF }' | sort >musl
bad=0
for library in libgchint.so.1 libgchint-boehm.so libgchint-gjs.so libgchint-launch.so libgchint-ocaml.so libgchint-php.so libgchint-python.so; do
	[ -e "root/usr/lib/$library" ] || continue
	# Weak references may stay open; those to libgchint are met by libgchint.
	nm -D --undefined-only "root/usr/lib/$library" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' |
		grep -v '^_*gchint_' | sort | comm -23 - musl >alien
	readelf -dW "root/usr/lib/$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^lib(c\.so\.6|gchint\.so\.1|dl\.so\.2|pthread\.so\.0)$' >>alien || true
	[ ! -s alien ] || { echo "$library needs" "$(cat alien)"; bad=1; }
done
exit $bad
