// SPDX-License-Identifier: MIT
/*
 * timer - Lua's own hook, set by a timer of CPU time as lua(1) sets it at an interrupt, counts the
 * function that runs. It costs a call nothing, and native code counts for the function that called
 * it, not for coroutines. Returns a function that ends this and returns the counts.
 */
#include <signal.h>
#include <time.h>

#include <lauxlib.h>
#include <lua.h>

#define PERIOD 1000000 /* ns; the kernel's tick may be longer */

static lua_State *state;
static int counts;
static timer_t timer;

static void function_count(lua_State *L, lua_Debug *d)
{
	lua_sethook(L, NULL, 0, 0);
	lua_getinfo(L, "S", d);
	lua_rawgeti(L, LUA_REGISTRYINDEX, counts);
	lua_pushfstring(L, "%s:%d", d->short_src, d->linedefined);
	lua_pushvalue(L, -1);
	lua_rawget(L, -3);
	lua_pushinteger(L, lua_tointeger(L, -1) + 1);
	lua_remove(L, -2);
	lua_rawset(L, -3);
	lua_pop(L, 1);
}

static void on_timer(int number)
{
	(void)number;
	lua_sethook(state, function_count, LUA_MASKCOUNT, 1);
}

static int counts_end(lua_State *L)
{
	signal(SIGPROF, SIG_IGN);
	timer_delete(timer);
	lua_sethook(L, NULL, 0, 0);
	lua_rawgeti(L, LUA_REGISTRYINDEX, counts);
	return 1;
}

__attribute__((visibility("default"))) int luaopen_timer(lua_State *L);

int luaopen_timer(lua_State *L)
{
	const struct itimerspec every = { { 0, PERIOD }, { 0, PERIOD } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };

	state = L;
	lua_newtable(L);
	counts = luaL_ref(L, LUA_REGISTRYINDEX);
	if (sigaction(SIGPROF, &action, NULL) ||
	    timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) ||
	    timer_settime(timer, 0, &every, NULL))
		return luaL_error(L, "no timer of CPU time");
	lua_pushcfunction(L, counts_end);
	return 1;
}
