// SPDX-License-Identifier: MIT
/* Adapters in the variables of runtimes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "variables.h"

/*
 * struct option - how a runtime is given its adapter
 * @before: in front of the word
 * @file: in the word, which is quoted if it has blanks
 * @after: what only we put behind it
 */
struct option {
	const char *runtime, *variable, *before, *file, *after, *separators;
};

static const struct option options[] = {
	{ "dotnet", "CORECLR_NOTIFICATION_PROFILERS", "", "/libgchint-dotnet.so", "", ";" },
	{ "dotnet", "CORECLR_NOTIFICATION_PROFILERS_32", "", "/libgchint-dotnet.so", "", ";" },
	{ "dotnet", "CORECLR_NOTIFICATION_PROFILERS_64", "", "/libgchint-dotnet.so", "", ";" },
	{ "dotnet", "CORECLR_NOTIFICATION_PROFILERS_ARM32", "", "/libgchint-dotnet.so", "", ";" },
	{ "dotnet", "CORECLR_NOTIFICATION_PROFILERS_ARM64", "", "/libgchint-dotnet.so", "", ";" },
	{ "jvm", "JAVA_TOOL_OPTIONS", "", "/libgchint-jvm.so", "", " \t\n" },
	{ "mono", "MONO_ENV_OPTIONS", "", "--profile=gchint", "", " " },
	{ "node", "NODE_OPTIONS", "--require ", "/gchint-node.cjs", " " VARIABLES_NODE_MAP, " " },
	{ "ruby", "RUBYOPT", "", "libgchint-ruby.so", "", " \t\n" },
};

void variable_set(const char *name, const char *value)
{
	static int (*set)(const char *, const char *, int);
	static int (*unset)(const char *);

	if (!set) {
		set = (int (*)(const char *, const char *, int))dlsym(RTLD_NEXT, "setenv");
		unset = (int (*)(const char *))dlsym(RTLD_NEXT, "unsetenv");
	}
	if (value && set)
		set(name, value, 1);
	else if (!value && unset)
		unset(name);
}

void variable_append(const char *name, const char *separator, const char *value)
{
	const char *before = getenv(name);
	char *both;

	if (before && strstr(before, value))
		return;
	if (!before || !*before) {
		variable_set(name, value);
	} else if (asprintf(&both, "%s%s%s", before, separator, value) > 0) {
		variable_set(name, both);
		free(both);
	}
}

/* Whether the file that a word names, as a path, can be read. */
static int word_is_usable(const char *word, const char *end, const char *file)
{
	const char *from = memchr(word, '/', (size_t)(end - word));
	const char *to = memmem(word, (size_t)(end - word), file, strlen(file));
	char path[PATH_MAX];

	if (!from || from > to)
		return 0;
	to += strlen(file);
	return snprintf(path, sizeof(path), "%.*s", (int)(to - from), from) < (int)sizeof(path) &&
	       !access(path, R_OK);
}

static void option_remove(const struct option *o, int usable)
{
	const char *value = getenv(o->variable), *at, *word, *end;
	char *left, *to;
	int removed = 0;

	if (!value || !strstr(value, o->file))
		return;
	left = to = malloc(strlen(value) + 1);
	if (!left)
		return;
	for (at = value; *at; at = end) {
		word = at + strspn(at, o->separators);
		if (!strncmp(word, o->before, strlen(o->before)))
			word += strlen(o->before);
		if (*word == '"')
			end = strchrnul(word + 1, '"') + 1;
		else
			end = word + strcspn(word, o->separators);
		if (end > value + strlen(value))
			end = value + strlen(value);
		if (memmem(word, (size_t)(end - word), o->file, strlen(o->file)) &&
		    !(usable && word_is_usable(word, end, o->file))) {
			removed = 1;
			if (!strncmp(end, o->after, strlen(o->after)))
				end += strlen(o->after);
			continue;
		}
		memcpy(to, at, (size_t)(end - at));
		to += end - at;
	}
	*to = '\0';
	to = left + strspn(left, o->separators);
	if (removed)
		variable_set(o->variable, *to ? to : NULL);
	free(left);
}

void variable_remove(const char *name, const char *part, const char *separators)
{
	const struct option o = {
		.variable = name, .before = "", .file = part, .after = "", .separators = separators
	};

	option_remove(&o, 0);
}

/*
 * Lua runs LUA_INIT_5_4 or, if that is not set, LUA_INIT. Ours is a call, which has COPIED as its
 * argument if the user's is that of LUA_INIT, and then the user's: in a new line, or as a call if
 * it names a file.
 */
#define LUA_BEGIN  "(package.loadlib([==["
#define LUA_MIDDLE "]==], 'luaopen_gchint') or function() end)("
#define LUA_COPIED "'LUA_INIT'"
#define LUA_FILE   " dofile([==["
#define LUA_END	   "]==])"

char *lua_compose(const char *adapter)
{
	const char *user = getenv("LUA_INIT_5_4"), *copied = user ? "" : LUA_COPIED;
	char *text;

	if (!user)
		user = getenv("LUA_INIT");
	if (asprintf(&text, LUA_BEGIN "%s" LUA_MIDDLE "%s)%s%s%s", adapter, copied,
		     !user	  ? "" :
		     *user == '@' ? LUA_FILE :
				    "\n",
		     !user ? "" : user + (*user == '@'), user && *user == '@' ? LUA_END : "") < 0)
		return NULL;
	return text;
}

static void lua_remove(void)
{
	const char *value = getenv("LUA_INIT_5_4"), *at;
	char *user = NULL;

	if (!value || strncmp(value, LUA_BEGIN, strlen(LUA_BEGIN)) != 0)
		return;
	at = strstr(value, "/libgchint-lua.so" LUA_MIDDLE);
	if (!at)
		return;
	at += strlen("/libgchint-lua.so" LUA_MIDDLE);
	if (!strncmp(at, LUA_COPIED ")", strlen(LUA_COPIED ")"))) {
		variable_set("LUA_INIT_5_4", NULL);
		return;
	}
	if (!strncmp(at, ")\n", 2)) {
		user = strdup(at + 2);
	} else if (!strncmp(at, ")" LUA_FILE, strlen(")" LUA_FILE))) {
		user = strdup(at + strlen(LUA_FILE));
		if (user && strlen(user) > strlen(LUA_END)) {
			user[0] = '@';
			user[strlen(user) - strlen(LUA_END)] = '\0';
		}
	}
	if (user)
		variable_set("LUA_INIT_5_4", user);
	free(user);
}

void adapter_remove(const char *runtime, int usable)
{
	if (!strcmp(runtime, "lua"))
		lua_remove();
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (!strcmp(options[i].runtime, runtime))
			option_remove(&options[i], usable);
}

void adapter_forget(const char *runtime)
{
	const char *preloaded = getenv("LD_PRELOAD");

	if (preloaded && strstr(preloaded, "libgchint-launch.so"))
		adapter_remove(runtime, 0);
}
