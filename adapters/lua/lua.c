// SPDX-License-Identifier: MIT
/*
 * Lua 5.4: LUA_INIT_5_4='package.loadlib("/path/libgchint-lua.so", "luaopen_gchint")()' lua5.4
 *
 * Reports which Lua function runs, for profilers: all functions run in one interpreter loop, so
 * the program counter does not distinguish them. A hook at calls and returns does:
 *
 *	call, tail call		of a Lua function: that function. Of a C function: its caller,
 *				as whose native code it counts
 *	return			the Lua function that is returned into, also from a C function,
 *				so that it is right again after a yield, a resume, or an error
 *
 * A function is identified by its source and line, and named at its first call. The hook is set
 * only while a recorder profiles, because it slows down each call. A program that sets its own
 * hook replaces this one, and has no method until it removes its hook.
 *
 * Lua has no callback for its collections, so none is hinted.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include <gchint.h>

#include "../common/start.h"
#include "../common/variables.h"

#define LEVELS 16 /* nested C functions that a return is traced through */

/**
 * struct known - entry of the hash table of called functions
 * @source: where Lua keeps its source's name, which Lua may reuse for another one
 * @line: in which it begins; -1: the entry is free
 * @name: the source's name
 * @method: its address as a symbol
 */
struct known {
	const char *source;
	int line;
	char name[LUA_IDSIZE];
	uintptr_t method;
};

/* For comparison: names are written at each call. */
static int at_calls;

/* Functions of all Lua states that run on this thread. */
static __thread struct {
	struct known *at;
	size_t capacity, nr;
} functions;

/* Found by pointer, since this is done at each call; the names are only compared. */
static size_t function_hash(const char *source, int line)
{
	return (size_t)(((uintptr_t)source ^ (uintptr_t)line << 32) * 11400714819323198485u >> 40);
}

/* The entry of the function, or the free entry for it. The table must not be full. */
static struct known *function_find(const char *source, int line, const char *name)
{
	size_t n = function_hash(source, line) & (functions.capacity - 1);

	while (functions.at[n].line >= 0 &&
	       (functions.at[n].source != source || functions.at[n].line != line ||
		strcmp(functions.at[n].name, name)))
		n = (n + 1) & (functions.capacity - 1);
	return &functions.at[n];
}

static int functions_grow(void)
{
	struct known *old = functions.at, *more;
	size_t was = functions.capacity, n;

	if (functions.nr * 2 < was)
		return 1;
	more = calloc(was ? was * 2 : 256, sizeof(*more));
	if (!more)
		return 0;
	functions.at = more;
	functions.capacity = was ? was * 2 : 256;
	for (n = 0; n < functions.capacity; n++)
		more[n].line = -1;
	for (n = 0; n < was; n++)
		if (old[n].line >= 0)
			*function_find(old[n].source, old[n].line, old[n].name) = old[n];
	free(old);
	return 1;
}

/* @address: the symbol's address from an earlier call, 0 at the first */
static uintptr_t function_register(lua_State *L, lua_Debug *d, uintptr_t address)
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

/* 0 if memory is short: the function then has no name. */
static uintptr_t method_of(lua_State *L, lua_Debug *d)
{
	struct known *k;

	if (!functions_grow())
		return 0;
	k = function_find(d->source, d->linedefined, d->short_src);
	if (k->line < 0) {
		k->method = function_register(L, d, 0);
		k->source = d->source;
		k->line = d->linedefined;
		memcpy(k->name, d->short_src, sizeof(k->name));
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
			function_register(L, d, method);
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

static void hook_install(lua_State *L)
{
	lua_sethook(L, on_call, LUA_MASKCALL | LUA_MASKRET, 0);
}

/* debug.sethook: the program's hook takes precedence; without one this hook is set again. */
static int set_hook(lua_State *L)
{
	int n = lua_gettop(L);

	gchint_method_leave(0);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, n, 0);
	if (!lua_gethook(L))
		hook_install(L);
	return 0;
}

/* debug.gethook: hides this hook from the program. */
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

static void debug_wrap(lua_State *L, const char *function, lua_CFunction by)
{
	lua_getfield(L, -1, function);
	lua_pushcclosure(L, by, 1);
	lua_setfield(L, -2, function);
}

__attribute__((visibility("default"))) int luaopen_gchint(lua_State *L);

int luaopen_gchint(lua_State *L)
{
	static int started;

	adapter_forget("lua");
	if (started++ || !adapter_start("libgchint-lua.so", NULL) || !gchint_is_profiled())
		return 0;
	at_calls = gchint_is_profiled() == 2;
	adapter_fork();
	gchint_self();
	if (lua_getglobal(L, "debug") == LUA_TTABLE) {
		debug_wrap(L, "sethook", set_hook);
		debug_wrap(L, "gethook", get_hook);
	}
	lua_pop(L, 1);
	hook_install(L);
	return 0;
}
