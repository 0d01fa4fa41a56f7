# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# wild: a Lua that cannot load libraries runs its program
# source: https://www.lua.org/manual/5.4/manual.html#pdf-package.loadlib
# needs: gcc lua5.4
# when: gate
# As the interpreter of a Lua built for "generic": loadlib returns nil.
cat >lua.c <<'EOC'
#include <lua5.4/lauxlib.h>
#include <lua5.4/lualib.h>
#include <stdlib.h>
int main(void)
{
	lua_State *L = luaL_newstate();
	const char *init = getenv("LUA_INIT_5_4");

	luaL_openlibs(L);
	if (luaL_dostring(L, "package.loadlib = function() return nil, 'dynamic libraries not enabled', 'absent' end") ||
	    (init && luaL_dostring(L, init)) || luaL_dostring(L, "print('done')"))
		return 1;
	return init ? 7 : 2;
}
EOC
gcc -o generic lua.c -llua5.4
status 7 "$ctl" run -- ./generic
[ "$(cat out)" = "done" ]
