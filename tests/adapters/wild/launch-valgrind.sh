# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a program under valgrind stays under it
# source: https://valgrind.org/docs/manual/manual-core.html#opt.trace-children
# needs: valgrind php
# when: all
status 7 "$ctl" run -- valgrind -q --tool=none php -n -r 'exit(strpos(file_get_contents("/proc/self/maps"), "/valgrind/") ? 7 : 3);'
