# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a program that may open only a few files ends as without, and can open as many
# source: https://github.com/termux/termux-exec-package/issues/34
# needs: ruby node lua5.4 php
# when: all
cat >n.py <<'EOP'
import gc, os, sys
gc.collect()
opened = []
try:
    while True:
        opened.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
print(opened[:1], len(opened))
EOP
compare() { # FILES COMMAND...
	n=$1 s=0
	shift
	# shellcheck disable=SC2086 # the limit
	sh -c 'ulimit -n $0; exec "$@"' $n "$@" >without 2>/dev/null </dev/null || s=$?
	status $s "$ctl" run -q -- sh -c 'ulimit -n $0; exec "$@"' $n "$@"
	diff without out || { cat err; echo "$n files: $*"; exit 1; }
}
for n in 3 4 5 6 7 8 9 10 64; do
	compare $n /usr/bin/python3 -S n.py
	compare $n ruby -e 'GC.start; a = []; begin; loop { a << File.open("/dev/null") }; rescue SystemCallError; end; puts a.size, a[0].fileno'
	compare $n lua5.4 -e 'collectgarbage() print(#io.open("/etc/passwd"):read("a"))'
	compare $n php -r 'gc_collect_cycles(); echo strlen(file_get_contents("/etc/passwd"));'
done
for n in 8 16 17 18 19 20 21 22 64; do
	compare $n node --expose-gc -p 'gc(); 42'
done
