// SPDX-License-Identifier: MIT
/*
 * host ADAPTER WHAT - plays a .NET runtime: loads the adapter as a profiler that is only notified,
 * and delivers events, on threads as they come there.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "dotnet/profiler.h"

#define RUNTIME 1000 /* providers */
#define PRIVATE 2000
#define SAMPLES 3000

typedef result delivered_fn(struct object *, uintptr_t, uint32_t, uint32_t, uint32_t, const void *,
			    uint32_t, const void *, const void *, const void *, uintptr_t, uint32_t,
			    const uintptr_t *);

static struct object *profiler;
static bool is_old, has_session;

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "host: %s\n", #what);                                      \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static bool names(const uint16_t *name, const char *text)
{
	while (*text && *name == (unsigned char)*text)
		name++, text++;
	return !*text && !*name;
}

static result query(struct object *self, const struct guid *which, void *out)
{
	static const struct guid wanted = PROFILER_INFO_12;

	if (is_old || memcmp(which, &wanted, sizeof(wanted)))
		return E_NOINTERFACE;
	*(struct object **)out = self;
	return S_OK;
}

/* Nothing that changes what the program does. */
static result set_mask(struct object *self, uint32_t low, uint32_t high)
{
	(void)self;
	CHECK(low == 0 && high == HIGH_MONITOR_EVENT_PIPE);
	return S_OK;
}

static result start_session(struct object *self, uint32_t n, struct provider_config *p, int rundown,
			    uint64_t *session)
{
	(void)self;
	CHECK(n == 2 && !rundown && names(p[0].name, "Microsoft-Windows-DotNETRuntime") &&
	      names(p[1].name, "Microsoft-Windows-DotNETRuntimePrivate"));
	CHECK(p[0].keywords == 1 && p[1].keywords == 1 && p[0].level == 4 && p[1].level == 4);
	has_session = true;
	*session = 1;
	return S_OK;
}

static result provider_info(struct object *self, uintptr_t provider, uint32_t room,
			    uint32_t *length, uint16_t *name)
{
	const char *text = provider == RUNTIME ? "Microsoft-Windows-DotNETRuntime" :
			   provider == PRIVATE ? "Microsoft-Windows-DotNETRuntimePrivate" :
						 "Microsoft-DotNETCore-SampleProfiler";

	(void)self;
	*length = (uint32_t)strlen(text) + 1;
	if (*length > room)
		return (result)0x8007007a;
	for (uint32_t i = 0; i < *length; i++)
		name[i] = (unsigned char)text[i];
	return S_OK;
}

static void *const info_table[AT_PROVIDER_INFO + 1] = {
	[AT_QUERY] = (void *)query,
	[AT_SET_EVENT_MASK_2] = (void *)set_mask,
	[AT_START_SESSION] = (void *)start_session,
	[AT_PROVIDER_INFO] = (void *)provider_info,
};
static struct object info_object = { info_table };

static void fire(uintptr_t provider, uint32_t event, const void *data, uint32_t size)
{
	CHECK(!((delivered_fn *)profiler->table[AT_EVENT_DELIVERED])(
		profiler, provider, event, 1, 0, NULL, size, data, NULL, NULL, 0, 0, NULL));
}

static void suspend(uint32_t reason)
{
	fire(RUNTIME, 9, (uint32_t[]){ reason, 0 }, 8);
	fire(RUNTIME, 8, "", 2);
}

static void gc_start(uint32_t reason, uint32_t type)
{
	fire(RUNTIME, 1, (uint32_t[]){ 1, type, reason, type }, 16);
}

static void restart(void)
{
	fire(RUNTIME, 7, "", 2);
	fire(RUNTIME, 3, "", 2);
}

/* @run on a thread of that name. */
static void on(const char *name, void *(*run)(void *))
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, run, (void *)name));
	CHECK(!pthread_join(thread, NULL));
}

static void *first_stop(void *name)
{
	prctl(PR_SET_NAME, name);
	fire(PRIVATE, 11, "", 2);
	fire(PRIVATE, 12, "", 2);
	restart(); /* as the one that stopped it cannot: it waits for us */
	fire(PRIVATE, 13, "", 2);
	suspend(6);
	fire(PRIVATE, 14, "", 2);
	fire(PRIVATE, 15, "", 2);
	restart();
	fire(PRIVATE, 16, "", 2);
	fire(PRIVATE, 17, "", 2);
	return NULL;
}

static void *begin_and_start(void *name)
{
	prctl(PR_SET_NAME, name);
	gc_start(0, 0);
	fire(RUNTIME, 202, "", 18);
	restart();
	return NULL;
}

static void blocking(void)
{
	suspend(1);
	gc_start(4, 0);
	fire(RUNTIME, 202, "", 0);
	fire(RUNTIME, 2, (uint32_t[]){ 1, 0 }, 8);
	restart();
}

/* GCHeapStats as .NET 5 and newer has it, and one that is cut. */
static void heap(void)
{
	uint8_t data[110] = { 0 };
	const uint64_t sizes[] = { 1000, 9, 200, 9, 30, 9, 4, 9 }, pinned = 50000;

	memcpy(data, sizes, sizeof(sizes));
	memcpy(data + 94, &pinned, sizeof(pinned));
	suspend(1);
	gc_start(4, 0);
	fire(RUNTIME, 4, data, sizeof(data));
	fire(RUNTIME, 4, data, 94);
	fire(RUNTIME, 4, data, 63);
	restart();
}

static void background(void)
{
	suspend(1);
	gc_start(0, 1);
	gc_start(0, 2);
	on(".NET BGC", first_stop);
	fire(SAMPLES, 0, "", 0);
}

static void server(void)
{
	suspend(1);
	on(".NET Server GC", begin_and_start);
	fire(PRIVATE, 23, "", 2);
	fire(PRIVATE, 24, "", 2);
}

static void others(void)
{
	static const uint32_t debugger = 5;

	suspend(5);
	gc_start(0, 0);
	restart();
	fire(RUNTIME, 9, &debugger, 3);
	fire(RUNTIME, 9, NULL, 0);
	fire(SAMPLES, 9, (uint32_t[]){ 1, 0 }, 8);
	fire(SAMPLES, 11, "", 2);
	for (uint32_t event = 0; event < 1024; event++)
		fire(RUNTIME, event, "", 0);
	fire(PRIVATE, 1, "", 1);
}

static void unmatched(void)
{
	restart();
	fire(PRIVATE, 17, "", 2);
	fire(PRIVATE, 24, "", 2);
	fire(PRIVATE, 12, "", 2);
	fire(PRIVATE, 13, "", 2);
	fire(PRIVATE, 16, "", 2);
	fire(PRIVATE, 17, "", 2);
}

static void interfaces(void)
{
	static const struct guid callbacks[] = PROFILER_CALLBACKS;
	query_fn *ask = (query_fn *)profiler->table[AT_QUERY];
	struct guid later = { 0x12345678, 1, 2, { 0 } };
	struct object *out = profiler;

	for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		CHECK(!ask(profiler, &callbacks[i], &out) && out == profiler);
	CHECK(ask(profiler, &later, &out) == E_NOINTERFACE && !out);
	/* Each function that the last of them has can be called. */
	for (int i = AT_INITIALIZE + 1; i < CALLBACK_SLOTS; i++)
		if (i != AT_INITIALIZE_FOR_ATTACH && i != AT_EVENT_DELIVERED &&
		    i != AT_NOTIFICATION_ONLY)
			CHECK(!((result(*)(struct object *, ...))profiler->table[i])(profiler, 1, 2,
										     3, 4, 5, 6));
}

static void nothing(void)
{
}

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "background", background }, { "blocking", blocking }, { "heap", heap },
	{ "interfaces", interfaces }, { "nowhere", nothing },	{ "old", nothing },
	{ "others", others },	      { "server", server },	{ "unmatched", unmatched },
};

int main(int argc, char **argv)
{
	static const struct guid ours = GCHINT_PROFILER, factory_id = CLASS_FACTORY;
	static const struct guid callbacks[] = PROFILER_CALLBACKS;
	result (*get)(const struct guid *, const struct guid *, void *);
	struct object *factory = NULL;
	bool stays;
	int only = 0;
	void *library;

	CHECK(argc == 3 && (library = dlopen(argv[1], RTLD_NOW)));
	*(void **)&get = dlsym(library, "DllGetClassObject");
	CHECK(get && get(&factory_id, &factory_id, &factory) == E_NO_CLASS);
	CHECK(!get(&ours, &factory_id, &factory));
	CHECK(!((result(*)(struct object *, void *, const struct guid *, void *))
			factory->table[AT_CREATE])(factory, NULL, &callbacks[1], &profiler));
	CHECK(!((result(*)(struct object *, int *))profiler->table[AT_NOTIFICATION_ONLY])(profiler,
											  &only));
	CHECK(only == 1);
	is_old = !strcmp(argv[2], "old");
	stays = strcmp(argv[2], "old") && strcmp(argv[2], "nowhere");
	CHECK(((result(*)(struct object *, struct object *))profiler->table[AT_INITIALIZE])(
		      profiler, &info_object) == (stays ? S_OK : CANCEL_ACTIVATION));
	CHECK(has_session == stays);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(parts[i].name, argv[2])) {
			parts[i].run();
			return 0;
		}
	return 1;
}
