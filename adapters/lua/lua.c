// SPDX-License-Identifier: MIT
/*
 * Lua 5.4: LUA_INIT_5_4='package.loadlib("/path/libgchint-lua.so", "luaopen_gchint")()' lua5.4
 *
 * Which function runs, for profilers: to the processor all of them are one loop. The hook
 * at calls and returns tells it:
 *
 *	call, tail call		a Lua function: that one. A C function: who called it, whose
 *				native code it is
 *	return			the Lua function that it returns into, also out of a C function:
 *				so it is right again after a yield, a resume, an error
 *
 * A function is known by its source and line, and named when it is first called. The hook is set
 * only while a recorder profiles, for each call takes a slower way then. A program that sets a
 * hook of its own has that one, and no method until it takes it away.
 *
 * Lua tells nobody of its collections.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include <gchint.h>

#include "../common/start.h"

#define LEVELS 16 /* of C functions that call each other */

/** struct known - a function that was called */
struct known {
	uint64_t key;
	uintptr_t method;
};

/* To compare: names are written at each call. */
static int at_calls;

/* Of this thread's states. */
static __thread struct {
	struct known *at;
	size_t room, nr;
} functions;

static uint64_t key_of(const lua_Debug *d)
{
	uint64_t key = 14695981039346656037u ^ (uint64_t)(unsigned int)d->linedefined;
	const char *s;

	for (s = d->short_src; *s; s++)
		key = (key ^ (unsigned char)*s) * 1099511628211u;
	return key ? key : 1;
}

/* Where it is, or where it belongs; there is room. */
static struct known *place_of(uint64_t key)
{
	size_t n = key & (functions.room - 1);

	while (functions.at[n].key && functions.at[n].key != key)
		n = (n + 1) & (functions.room - 1);
	return &functions.at[n];
}

static int make_room(void)
{
	struct known *old = functions.at, *more;
	size_t was = functions.room, n;

	if (functions.nr * 2 < was)
		return 1;
	more = calloc(was ? was * 2 : 256, sizeof(*more));
	if (!more)
		return 0;
	functions.at = more;
	functions.room = was ? was * 2 : 256;
	for (n = 0; n < was; n++)
		if (old[n].key)
			*place_of(old[n].key) = old[n];
	free(old);
	return 1;
}

/* At @address, if it has one. */
static uintptr_t name(lua_State *L, lua_Debug *d, uintptr_t address)
{
	char text[400];

	lua_getinfo(L, "n", d);
	if (*d->what == 'm')
		snprintf(text, sizeof(text), "main chunk (%s)", d->short_src);
	else
		snprintf(text, sizeof(text), "%s (%s:%d)", d->name ? d->name : "function",
			 d->short_src, d->linedefined);
	return gchint_symbol_add(address, 1, text);
}

/* 0 without memory: then it has no name. */
static uintptr_t method_of(lua_State *L, lua_Debug *d)
{
	const uint64_t key = key_of(d);
	struct known *k;

	if (!make_room())
		return 0;
	k = place_of(key);
	if (!k->key) {
		k->method = name(L, d, 0);
		k->key = key;
		functions.nr++;
	}
	return k->method;
}

static void on_call(lua_State *L, lua_Debug *d)
{
	uintptr_t method;
	int level;

	if (d->event != LUA_HOOKRET) {
		lua_getinfo(L, "S", d);
		if (*d->what == 'C')
			return;
		method = method_of(L, d);
		gchint_method_enter(method);
		if (at_calls && method)
			name(L, d, method);
		return;
	}
	for (level = 1; level < LEVELS; level++) {
		lua_Debug caller;

		if (!lua_getstack(L, level, &caller))
			break;
		lua_getinfo(L, "S", &caller);
		if (*caller.what != 'C') {
			gchint_method_leave(method_of(L, &caller));
			return;
		}
	}
	gchint_method_leave(0);
}

static void hook(lua_State *L)
{
	lua_sethook(L, on_call, LUA_MASKCALL | LUA_MASKRET, 0);
}

/* debug.sethook: what a program sets is set; what it takes away makes room for ours. */
static int set_hook(lua_State *L)
{
	int n = lua_gettop(L);

	gchint_method_leave(0);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, n, 0);
	if (!lua_gethook(L))
		hook(L);
	return 0;
}

/* debug.gethook: ours is none of the program's business. */
static int get_hook(lua_State *L)
{
	lua_State *which = lua_isthread(L, 1) ? lua_tothread(L, 1) : L;
	int n = lua_gettop(L);

	if (lua_gethook(which) == on_call) {
		lua_pushnil(L);
		lua_pushstring(L, "");
		lua_pushinteger(L, 0);
		return 3;
	}
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, n, LUA_MULTRET);
	return lua_gettop(L);
}

static void wrap(lua_State *L, const char *function, lua_CFunction by)
{
	lua_getfield(L, -1, function);
	lua_pushcclosure(L, by, 1);
	lua_setfield(L, -2, function);
}

__attribute__((visibility("default"))) int luaopen_gchint(lua_State *L);

int luaopen_gchint(lua_State *L)
{
	static int started;

	if (started++ || !adapter_start("libgchint-lua.so", NULL) || !gchint_profiled())
		return 0;
	at_calls = gchint_profiled() == 2;
	adapter_fork();
	gchint_self();
	if (lua_getglobal(L, "debug") == LUA_TTABLE) {
		wrap(L, "sethook", set_hook);
		wrap(L, "gethook", get_hook);
	}
	lua_pop(L, 1);
	hook(L);
	return 0;
}
