# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: of a hundred programs that start at once each is counted, as recorded or as missed
# source: docs/recording.md: what was missed is counted
# needs: /usr/bin/python3
# when: all
# shellcheck disable=SC2016
status 0 "$ctl" run -R python -- sh -c 'for _ in $(seq 100); do /usr/bin/python3 -I -S -c "import gc; gc.disable(); gc.collect()" & done; wait'
# A collection by the program, and one to three at its end.
phases=$(sed -n 's/^gchintctl: \([0-9]*\) phases.*/\1/p' err)
one=$(GCHINT_TRACE=$PWD/one "$ctl" run -q -R python -- /usr/bin/python3 -I -S -c 'import gc; gc.disable(); gc.collect()' && grep -c ' begin ' one)
missed=$(sed -n 's/.*without those of \([0-9]*\) programs.*/\1/p' err)
echo "$phases phases, $one each, ${missed:-0} programs missed"
[ "$phases" -eq $((one * (100 - ${missed:-0}))) ] && [ "${missed:-0}" -le 20 ]
