# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a Lua that is given its own LUA_INIT by the Lua that starts it runs that
# source: https://www.lua.org/manual/5.4/manual.html#7
# needs: lua5.4
# when: gate
status 0 "$ctl" run -- lua5.4 -e 'os.execute([[LUA_INIT="print(42)" lua5.4 -e "print(1)"]])'
has out '^42$'
