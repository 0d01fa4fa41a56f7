/* SPDX-License-Identifier: MIT */
/*
 * Adapters in the variables of runtimes. libgchint-launch.so sets them in the process that reads
 * them, and removes those that it inherits: a runtime that may not read an adapter's file ends.
 */
#ifndef ADAPTER_VARIABLES_H
#define ADAPTER_VARIABLES_H

#define VARIABLES_NODE_MAP "--perf-basic-prof" /* Node writes /tmp/perf-PID.map */

/**
 * variable_set() - set a variable in the environment
 * @name: its name
 * @value: NULL: remove it
 *
 * Also in bash, whose own setenv() and unsetenv() change its tables only.
 */
void variable_set(const char *name, const char *value);

/** variable_append() - append to a variable, unless it contains @value */
void variable_append(const char *name, const char *separator, const char *value);

/**
 * variable_remove() - remove each word of a variable that contains a text
 * @name: the variable; it is unset if nothing is left
 * @part: the text
 * @separators: between words
 */
void variable_remove(const char *name, const char *part, const char *separators);

/**
 * adapter_remove() - remove the options that load an adapter
 * @runtime: its name, as in libgchint-NAME.so
 * @usable: keep those whose file this process can read
 */
void adapter_remove(const char *runtime, int usable);

/**
 * adapter_forget() - remove the option of an adapter that starts, for the children
 * @runtime: as above
 *
 * Only if the children have libgchint-launch.so, which decides for each.
 */
void adapter_forget(const char *runtime);

/**
 * lua_compose() - code for LUA_INIT_5_4 that loads the adapter and then runs the user's
 * @adapter: path
 *
 * A Lua that cannot load it runs as without. Return: allocated; NULL if there is no memory.
 */
char *lua_compose(const char *adapter);

#endif /* ADAPTER_VARIABLES_H */
