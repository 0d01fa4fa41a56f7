# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a Python under profile may activate its trampoline for perf, and one that has it says so
# source: https://github.com/python/cpython/issues/105003
# needs: perf-trampoline
# when: gate
export GCHINT_PROFILE=1 GCHINT_TRACE="$PWD/trace"
status 0 "$ctl" run -- /usr/bin/python3 -c 'import sys; sys.activate_stack_trampoline("perf"); print(sys.is_stack_trampoline_active())'
[ "$(cat out)" = True ]
has err 'functions end here'
status 0 "$ctl" run -- /usr/bin/python3 -X perf -c 'import sys; print(sys.is_stack_trampoline_active())'
[ "$(cat out)" = True ]
has err 'no functions: Python.s trampoline for perf'
# An error of the original is the program's.
status 7 "$ctl" run -- /usr/bin/python3 -c 'import sys
try: sys.activate_stack_trampoline("none")
except ValueError: exit(7)'
lacks err 'functions end here'
