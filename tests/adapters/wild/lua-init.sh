# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2016
# wild: a Lua, its children and what they read of LUA_INIT are as without
# source: https://www.lua.org/manual/5.4/manual.html#7
# needs: lua5.4
# when: gate
echo 'print("file")' >init.lua
print='print(os.getenv("LUA_INIT_5_4"), os.getenv("LUA_INIT"))'
for given in LUA_INIT_5_4='print(1)' LUA_INIT='print(2)' LUA_INIT_5_4=@init.lua LUA_INIT=@init.lua LUA_INIT_5_4= NONE=; do
	status 0 env LUA_INIT='print(0)' "$given" lua5.4 -e "$print"
	mv out without
	status 0 env LUA_INIT='print(0)' "$given" "$ctl" run -q -- lua5.4 -e "$print"
	diff without out
	status 0 env LUA_INIT='print(0)' "$given" "$ctl" run -q -- lua5.4 -e "os.execute([[lua5.4 -e '$print']]) os.exit(0)"
	tail -n "$(wc -l <without)" out | diff without -
done
# A child with its own: LUA_INIT is read where LUA_INIT_5_4 is not set.
LUA_INIT_5_4='x = 1' status 0 "$ctl" run -- lua5.4 -e 'os.execute([[LUA_INIT="x = 2" lua5.4 -e "print(x)"]])'
[ "$(cat out)" = 1 ]
# What a parent without dynamic loading left, which cannot be read here.
LUA_INIT_5_4="(package.loadlib([==[/gone/libgchint-lua.so]==], 'luaopen_gchint') or function() end)()
print(3)" status 0 "$ctl" run -- lua5.4 -e "$print"
[ "$(cat out)" = "$(printf '3\nprint(3)\tnil')" ]
