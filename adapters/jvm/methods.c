// SPDX-License-Identifier: MIT
/*
 * Symbols of the code that HotSpot compiles, for profilers: each method by its source name at its
 * address, from its load until its unload, and the stubs and the interpreter by HotSpot's own
 * names. A sampled address then resolves to its method, at no cost to the running code. Inlined
 * code counts for the method that it is inlined into, and interpreted code for the interpreter,
 * unless interpreted.c is enabled.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gchint.h>
#include <jvmti.h>

#include "jvm.h"

/* Formats "Lorg/some/Thing;" as org.some.Thing. */
static void class_format(char *text, size_t size, const char *signature)
{
	size_t n = 0;

	if (*signature == 'L')
		signature++;
	for (; *signature && *signature != ';' && n + 1 < size; signature++)
		text[n++] = *signature == '/' ? '.' : *signature;
	text[n] = '\0';
}

/* The first line of a method; 0 if unknown. */
static int line_of(jvmtiEnv *env, jmethodID method)
{
	jvmtiLineNumberEntry *lines = NULL;
	jint count = 0, n, line = 0;

	if ((*env)->GetLineNumberTable(env, method, &count, &lines) != JVMTI_ERROR_NONE)
		return 0;
	for (n = 0; n < count; n++)
		if (!line || lines[n].line_number < line)
			line = lines[n].line_number;
	(*env)->Deallocate(env, (unsigned char *)lines);
	return line;
}

void methods_name(jvmtiEnv *env, jmethodID method, char *text, size_t size)
{
	char *name = NULL, *signature = NULL, *file = NULL;
	char type[METHODS_NAME / 2] = "?";
	const int line = line_of(env, method);
	jclass class;

	if ((*env)->GetMethodDeclaringClass(env, method, &class) == JVMTI_ERROR_NONE) {
		if ((*env)->GetClassSignature(env, class, &signature, NULL) == JVMTI_ERROR_NONE)
			class_format(type, sizeof(type), signature);
		(*env)->GetSourceFileName(env, class, &file);
	}
	(*env)->GetMethodName(env, method, &name, NULL, NULL);
	if (file && line > 0)
		snprintf(text, size, "%s.%s (%s:%d)", type, name ? name : "?", file, line);
	else if (file)
		snprintf(text, size, "%s.%s (%s)", type, name ? name : "?", file);
	else
		snprintf(text, size, "%s.%s", type, name ? name : "?");
	(*env)->Deallocate(env, (unsigned char *)name);
	(*env)->Deallocate(env, (unsigned char *)signature);
	(*env)->Deallocate(env, (unsigned char *)file);
}

static void JNICALL method_on_compiled(jvmtiEnv *env, jmethodID method, jint size,
				       const void *address, jint count,
				       const jvmtiAddrLocationMap *map, const void *info)
{
	char text[METHODS_NAME];

	(void)count;
	(void)map;
	(void)info;
	methods_name(env, method, text, sizeof(text));
	gchint_symbol_add((uintptr_t)address, (size_t)size, text);
}

/* The event has no size: the resolver removes the symbol that begins at @address. */
static void JNICALL method_on_unloaded(jvmtiEnv *env, jmethodID method, const void *address)
{
	(void)env;
	(void)method;
	gchint_symbol_remove((uintptr_t)address, 1);
}

static void JNICALL code_on_generated(jvmtiEnv *env, const char *name, const void *address,
				      jint size)
{
	(void)env;
	gchint_symbol_add((uintptr_t)address, (size_t)size, name);
}

void methods_prepare(jvmtiEnv *env, jvmtiEventCallbacks *callbacks)
{
	static const jvmtiCapabilities wanted = {
		.can_generate_compiled_method_load_events = 1,
		.can_get_source_file_name = 1,
		.can_get_line_numbers = 1,
	};

	if (!gchint_is_profiled())
		return;
	if ((*env)->AddCapabilities(env, &wanted) != JVMTI_ERROR_NONE) {
		fputs("libgchint-jvm.so: no methods: this JVM reports no compiled code\n", stderr);
		return;
	}
	callbacks->CompiledMethodLoad = method_on_compiled;
	callbacks->CompiledMethodUnload = method_on_unloaded;
	callbacks->DynamicCodeGenerated = code_on_generated;
}

void methods_watch(jvmtiEnv *env)
{
	if (!gchint_is_profiled())
		return;
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
					 NULL);
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
					 NULL);
	/* Report the code that exists already. */
	(*env)->GenerateEvents(env, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	(*env)->GenerateEvents(env, JVMTI_EVENT_COMPILED_METHOD_LOAD);
}
