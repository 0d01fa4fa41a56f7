# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a program of musl runs below one that preloads an adapter
# source: https://github.com/github/gh-aw-firewall/issues/2535
# needs: musl-gcc /usr/bin/python3
# when: gate
printf 'int main(void) { return 7; }\n' >m.c
musl-gcc -o m m.c
status 7 ./m
status 7 "$ctl" run -- /usr/bin/python3 -c 'import gc, subprocess; gc.collect(); exit(subprocess.run(["./m"]).returncode)'
lacks err relocating
status 7 "$ctl" run -R python -- ./m
lacks err relocating
