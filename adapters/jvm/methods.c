// SPDX-License-Identifier: MIT
/*
 * Where the code is that HotSpot compiles, for profilers: each method at its address from
 * when on it is loaded until it is unloaded, as its source has it, and the stubs and the
 * interpreter by HotSpot's own names. So a sampled instruction tells its method, at no cost
 * to the code that runs. What was inlined into a method counts for that one, and what is
 * interpreted is the interpreter, unless interpreted.c is asked for.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gchint.h>
#include <jvmti.h>

#include "jvm.h"

/* "Lorg/some/Thing;" is org.some.Thing. */
static void put_class(char *text, size_t size, const char *signature)
{
	size_t n = 0;

	if (*signature == 'L')
		signature++;
	for (; *signature && *signature != ';' && n + 1 < size; signature++)
		text[n++] = *signature == '/' ? '.' : *signature;
	text[n] = '\0';
}

/* The line that it begins in; 0 none, or not told. */
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
			put_class(type, sizeof(type), signature);
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

static void JNICALL compiled(jvmtiEnv *env, jmethodID method, jint size, const void *address,
			     jint count, const jvmtiAddrLocationMap *map, const void *info)
{
	char text[METHODS_NAME];

	(void)count;
	(void)map;
	(void)info;
	methods_name(env, method, text, sizeof(text));
	gchint_symbol_add((uintptr_t)address, (size_t)size, text);
}

/* It tells no size: the resolver ends what begins there. */
static void JNICALL unloaded(jvmtiEnv *env, jmethodID method, const void *address)
{
	(void)env;
	(void)method;
	gchint_symbol_remove((uintptr_t)address, 1);
}

static void JNICALL generated(jvmtiEnv *env, const char *name, const void *address, jint size)
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

	if (!gchint_profiled())
		return;
	if ((*env)->AddCapabilities(env, &wanted) != JVMTI_ERROR_NONE) {
		fputs("libgchint-jvm.so: no methods: this JVM tells of no compiled code\n", stderr);
		return;
	}
	callbacks->CompiledMethodLoad = compiled;
	callbacks->CompiledMethodUnload = unloaded;
	callbacks->DynamicCodeGenerated = generated;
}

void methods_watch(jvmtiEnv *env)
{
	if (!gchint_profiled())
		return;
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
					 NULL);
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
					 NULL);
	/* What was there before. */
	(*env)->GenerateEvents(env, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	(*env)->GenerateEvents(env, JVMTI_EVENT_COMPILED_METHOD_LOAD);
}
