# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a file of arguments that is a pipe, as in javac @<(find ...), is read by the program alone
# source: found by trying; https://docs.oracle.com/en/java/javase/17/docs/specs/man/javac.html has such files
# needs: bash javac
# when: gate
echo 'class A { }' >A.java
status 0 "$ctl" run -- bash -c 'javac -d . @<(echo A.java)'
[ -e A.class ]
