// SPDX-License-Identifier: MIT
/*
 * .NET (6 and newer), as a notification-only profiler, so that another profiler can be loaded as well:
 *
 *	CORECLR_ENABLE_NOTIFICATION_PROFILERS=1
 *	CORECLR_NOTIFICATION_PROFILERS=/path/libgchint-dotnet.so={8f2f3a2e-...};
 *
 * or attached to a running process through its diagnostic socket (gchintctl attach). It opens an
 * EventPipe session within the process: each event of the collector is delivered at once, on the
 * thread that it happens on.
 *
 *	GCSuspendEEBegin	safepoint, STW		for a collection; other stops are ignored
 *	GCStart			collect, STW		with the cause
 *	GCRestartEEBegin	none			as in the runtime's own statistics
 *
 * and on each thread of a background collection:
 *
 *	BGCBegin		roots, STW
 *	BGC1stNonConEnd		mark, concurrent
 *	BGC1stConEnd		none
 *	BGC2ndNonConBegin	remark, STW		until the program runs on
 *	BGC2ndConBegin		sweep, concurrent
 *	BGC2ndConEnd		none
 *	BGCAllocWaitBegin, End	wait			an allocating thread waits for it
 *
 * GCHeapStats has the bytes of each generation after a collection.
 *
 * A background collection begins with a pause, in which it may first collect the young
 * generation: that is a separate collection. Threads of the server collector have standing roles.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include <gchint.h>

#include "../common/start.h"
#include "../common/variables.h"
#include "profiler.h"

/* GCSuspendEEBegin's reasons, and GCStart's. */
#define SUSPEND_FOR_GC	    1
#define SUSPEND_FOR_GC_PREP 6

#define GC_BACKGROUND 1 /* GCStart's type */
#define PINNED_AT     94 /* bytes of GCHeapStats before the size of the pinned objects */

enum provider {
	PROVIDER_OTHER,
	PROVIDER_RUNTIME,
	PROVIDER_PRIVATE,
};

/* Event numbers; those of the private provider are independent of the others. */
enum {
	GC_START = 1,
	GC_HEAP_STATS = 4,
	GC_RESTART_BEGIN = 7,
	GC_SUSPEND_BEGIN = 9,
	GC_MARK = 202, /* on each thread that marked */

	BGC_BEGIN = 11,
	BGC_1ST_STOP_END,
	BGC_1ST_CONCURRENT_END,
	BGC_2ND_STOP_BEGIN,
	BGC_2ND_STOP_END,
	BGC_2ND_CONCURRENT_BEGIN,
	BGC_2ND_CONCURRENT_END,
	BGC_WAIT_BEGIN = 23,
	BGC_WAIT_END,
};

static const uint16_t runtime_name[] = u"Microsoft-Windows-DotNETRuntime";
static const uint16_t private_name[] = u"Microsoft-Windows-DotNETRuntimePrivate";

static struct object *info;

/*
 * State of the calling thread:
 *	pauses		it has announced a pause that is not over
 *	works		it has announced a part of a background collection
 *	role_set	its name was checked for a standing role
 *	stop		number of the stop that it announced
 *	begun		collections that it has announced or seen
 */
static __thread struct {
	bool pauses, works, role_set;
	uint32_t stop, begun;
} this_thread __attribute__((tls_model("initial-exec")));

/*
 * With the server collector a thread other than the one that stopped the world may begin the
 * collection and restart the world. It cannot hint on behalf of the stopping thread, which
 * therefore reads these counters at its next event.
 */
static uint32_t stopped, started; /* stops so far, and the last of them that is over */
static uint32_t begun; /* collections so far */
static uint32_t cause, generation; /* of the last collection */

/* Which provider an event comes from. The runtime is asked once for each provider. */
static enum provider provider_of(uintptr_t provider)
{
	static uintptr_t known[3];
	static enum provider which[3];
	uint16_t name[sizeof(private_name) / sizeof(private_name[0]) + 1] = { 0 };
	provider_info_fn *ask = (provider_info_fn *)info->table[AT_PROVIDER_INFO];
	enum provider is = PROVIDER_OTHER;
	uint32_t length = 0;

	for (int n = 0; n < 3; n++)
		if (__atomic_load_n(&known[n], __ATOMIC_ACQUIRE) == provider)
			return which[n];
	if (ask(info, provider, sizeof(name) / sizeof(name[0]), &length, name) != S_OK)
		return PROVIDER_OTHER;
	if (!memcmp(name, runtime_name, sizeof(runtime_name)))
		is = PROVIDER_RUNTIME;
	else if (!memcmp(name, private_name, sizeof(private_name)))
		is = PROVIDER_PRIVATE;
	/* Not a race: two threads that write the same entry write the same values. */
	which[is] = is;
	__atomic_store_n(&known[is], provider, __ATOMIC_RELEASE);
	return is;
}

/* The cause for GCStart's reason. */
static uint32_t cause_of(uint32_t reason, bool background)
{
	switch (reason) {
	case 0: /* allocation of small objects, of large ones, out of space for either */
	case 4:
	case 5:
	case 6:
		return background ? GCHINT_CAUSE_THRESHOLD : GCHINT_CAUSE_ALLOCATION;
	case 1: /* induced */
	case 7:
	case 10:
		return GCHINT_CAUSE_EXPLICIT;
	case 2: /* memory is low */
	case 9:
	case 11:
	case 13:
		return GCHINT_CAUSE_SYSTEM;
	default:
		return GCHINT_CAUSE_UNKNOWN;
	}
}

static void phase_leave(bool *state)
{
	if (*state)
		gchint_phase_end();
	*state = false;
}

static void phase_enter(unsigned int phase, gchint_flags_t flags)
{
	if (this_thread.works || this_thread.pauses)
		gchint_phase_next(phase, flags);
	else
		gchint_phase_begin(phase, flags);
	this_thread.works = !this_thread.pauses;
}

/* Names are reliable: the runtime names its own threads before they run any work. */
static void thread_set_role(void)
{
	char name[16] = "";

	if (this_thread.role_set)
		return;
	this_thread.role_set = true;
	prctl(PR_GET_NAME, name);
	if (!strcmp(name, ".NET Server GC"))
		gchint_set_role(gchint_self(), GCHINT_ROLE_STW, NULL);
	else if (!strncmp(name, ".NET BGC", 8) || !strcmp(name, ".NET Background"))
		gchint_set_role(gchint_self(), GCHINT_ROLE_CONCURRENT, NULL);
}

/* Announces what other threads did during the pause that this thread has announced. */
static void pause_catch_up(void)
{
	struct gchint_detail detail = { .size = sizeof(detail) };

	if (!this_thread.pauses)
		return;
	for (; this_thread.begun != __atomic_load_n(&begun, __ATOMIC_ACQUIRE);
	     this_thread.begun++) {
		detail.cause = __atomic_load_n(&cause, __ATOMIC_RELAXED);
		gchint_next_detail(gchint_self(), GCHINT_PHASE_COLLECT, GCHINT_F_STW, &detail);
	}
	if ((int32_t)(__atomic_load_n(&started, __ATOMIC_RELAXED) - this_thread.stop) >= 0)
		phase_leave(&this_thread.pauses);
}

/* Of GCHeapStats: sizes of the generations 0 to 2 and of large objects, each with what it promoted. */
static void heap_report(const uint8_t *data, uint32_t size)
{
	struct gchint_heap heap = GCHINT_HEAP_INIT;
	uint64_t sizes[8];

	if (size < sizeof(sizes))
		return;
	memcpy(sizes, data, sizeof(sizes));
	heap.when = GCHINT_HEAP_AFTER;
	heap.used = sizes[0] + sizes[2] + sizes[4] + sizes[6];
	/* Pinned objects have their own, in later versions. */
	if (size >= PINNED_AT + sizeof(sizes[0])) {
		memcpy(sizes, data + PINNED_AT, sizeof(sizes[0]));
		heap.used += sizes[0];
	}
	heap.generation = __atomic_load_n(&generation, __ATOMIC_RELAXED);
	gchint_heap(gchint_self(), &heap);
}

static void runtime_event(uint32_t event, const uint32_t *data, uint32_t size)
{
	switch (event) {
	case GC_SUSPEND_BEGIN:
		if (size < 4 || (data[0] != SUSPEND_FOR_GC && data[0] != SUSPEND_FOR_GC_PREP))
			break;
		thread_set_role();
		phase_leave(&this_thread.works);
		this_thread.pauses = true;
		this_thread.begun = __atomic_load_n(&begun, __ATOMIC_ACQUIRE);
		this_thread.stop = __atomic_add_fetch(&stopped, 1, __ATOMIC_RELAXED);
		gchint_phase_begin(GCHINT_PHASE_SAFEPOINT, GCHINT_F_STW);
		break;
	case GC_START:
		if (size < 16)
			break;
		__atomic_store_n(&cause, cause_of(data[2], data[3] == GC_BACKGROUND),
				 __ATOMIC_RELAXED);
		__atomic_store_n(&generation, data[1], __ATOMIC_RELAXED);
		__atomic_fetch_add(&begun, 1, __ATOMIC_RELEASE);
		pause_catch_up();
		break;
	case GC_RESTART_BEGIN:
		if (this_thread.pauses)
			phase_leave(&this_thread.pauses);
		else
			__atomic_store_n(&started, __atomic_load_n(&stopped, __ATOMIC_RELAXED),
					 __ATOMIC_RELAXED);
		break;
	case GC_MARK:
		thread_set_role();
		break;
	}
}

static void private_event(uint32_t event)
{
	switch (event) {
	case BGC_BEGIN:
		thread_set_role();
		phase_enter(GCHINT_PHASE_ROOTS, GCHINT_F_STW);
		break;
	case BGC_1ST_STOP_END:
		phase_enter(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		break;
	case BGC_2ND_STOP_BEGIN:
		phase_enter(GCHINT_PHASE_REMARK, GCHINT_F_STW);
		break;
	case BGC_2ND_CONCURRENT_BEGIN:
		phase_enter(GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT);
		break;
	case BGC_WAIT_BEGIN:
		phase_enter(GCHINT_PHASE_WAIT, GCHINT_F_FOREGROUND);
		break;
	case BGC_1ST_CONCURRENT_END:
	case BGC_2ND_STOP_END:
	case BGC_2ND_CONCURRENT_END:
	case BGC_WAIT_END:
		phase_leave(&this_thread.works);
		break;
	}
}

static result event_delivered(struct object *self, uintptr_t provider, uint32_t event,
			      uint32_t version, uint32_t metadata_size, const uint8_t *metadata,
			      uint32_t size, const uint8_t *data)
{
	uint32_t words[4] = { 0 };

	(void)self;
	(void)version;
	(void)metadata_size;
	(void)metadata;
	pause_catch_up();
	switch (provider_of(provider)) {
	case PROVIDER_RUNTIME:
		memcpy(words, data, size < sizeof(words) ? size : sizeof(words));
		runtime_event(event, words, size);
		if (event == GC_HEAP_STATS)
			heap_report(data, size);
		break;
	case PROVIDER_PRIVATE:
		private_event(event);
		break;
	case PROVIDER_OTHER:
		break;
	}
	return S_OK;
}

/* Succeeds once in a process. Like the JVM agent, it never stops the host process. */
static result profiler_start(struct object *runtime)
{
	static const struct guid wanted = PROFILER_INFO_12;
	struct provider_config providers[] = {
		{ runtime_name, 0x1, 4, NULL },
		{ private_name, 0x1, 4, NULL },
	};
	query_fn *query = (query_fn *)runtime->table[AT_QUERY];
	static bool once;
	uint64_t session;

	if (once || !adapter_start("libgchint-dotnet.so", NULL))
		return CANCEL_ACTIVATION;
	if (query(runtime, &wanted, &info) != S_OK ||
	    ((set_event_mask_fn *)info->table[AT_SET_EVENT_MASK_2])(info, 0,
								    HIGH_MONITOR_EVENT_PIPE) ||
	    ((start_session_fn *)info->table[AT_START_SESSION])(info, 2, providers, 0, &session)) {
		fprintf(stderr,
			"libgchint-dotnet.so: no hints: this .NET reports no collections\n");
		return CANCEL_ACTIVATION;
	}
	once = true;
	return S_OK;
}

static result profiler_initialize(struct object *self, struct object *runtime)
{
	(void)self;
	adapter_forget("dotnet");
	return profiler_start(runtime);
}

/* @variables: the GCHINT_* variables of the attaching command. */
static result profiler_initialize_for_attach(struct object *self, struct object *runtime,
					     const void *variables, uint32_t size)
{
	char text[2048];

	(void)self;
	if (size >= sizeof(text))
		return CANCEL_ACTIVATION;
	memcpy(text, variables, size);
	text[size] = '\0';
	adapter_environment(text);
	return profiler_start(runtime);
}

/* A notification-only profiler does not displace another profiler. */
static result profiler_notification_only(struct object *self, int *only)
{
	(void)self;
	*only = 1;
	return S_OK;
}

static result callback_ignore(struct object *self)
{
	(void)self;
	return S_OK;
}

/* All objects are static, so references are not counted. */
static uint32_t object_count_refs(struct object *self)
{
	(void)self;
	return 1;
}

static bool is_one_of(const struct guid *which, const struct guid *of, size_t n)
{
	while (n--)
		if (!memcmp(which, &of[n], sizeof(*which)))
			return true;
	return false;
}

static result query_callback(struct object *self, const struct guid *which, void *out)
{
	static const struct guid callbacks[] = PROFILER_CALLBACKS, unknown = UNKNOWN;
	const size_t n = sizeof(callbacks) / sizeof(callbacks[0]);
	bool ours = is_one_of(which, callbacks, n) || is_one_of(which, &unknown, 1);

	*(struct object **)out = ours ? self : NULL;
	return ours ? S_OK : E_NOINTERFACE;
}

/*
 * callback_ignore() serves slots of any signature: on all architectures of .NET the caller
 * removes the arguments.
 */
static void *const callback_table[CALLBACK_SLOTS] = {
	[AT_QUERY] = (void *)query_callback,
	[AT_ADD_REF] = (void *)object_count_refs,
	[AT_RELEASE] = (void *)object_count_refs,
	[AT_INITIALIZE] = (void *)profiler_initialize,
	[AT_INITIALIZE + 1 ... AT_INITIALIZE_FOR_ATTACH - 1] = (void *)callback_ignore,
	[AT_INITIALIZE_FOR_ATTACH] = (void *)profiler_initialize_for_attach,
	[AT_INITIALIZE_FOR_ATTACH + 1 ... AT_EVENT_DELIVERED - 1] = (void *)callback_ignore,
	[AT_EVENT_DELIVERED] = (void *)event_delivered,
	[AT_EVENT_DELIVERED + 1] = (void *)callback_ignore,
	[AT_NOTIFICATION_ONLY] = (void *)profiler_notification_only,
};
static struct object callback = { callback_table };

static result query_factory(struct object *self, const struct guid *which, void *out)
{
	static const struct guid ours[] = { UNKNOWN, CLASS_FACTORY };
	bool is = is_one_of(which, ours, 2);

	*(struct object **)out = is ? self : NULL;
	return is ? S_OK : E_NOINTERFACE;
}

static result factory_create(struct object *self, struct object *outer, const struct guid *which,
			     void *out)
{
	(void)self;
	(void)outer;
	return query_callback(&callback, which, out);
}

static void *const factory_table[FACTORY_SLOTS] = {
	[AT_QUERY] = (void *)query_factory,	  [AT_ADD_REF] = (void *)object_count_refs,
	[AT_RELEASE] = (void *)object_count_refs, [AT_CREATE] = (void *)factory_create,
	[AT_LOCK] = (void *)callback_ignore,
};
static struct object factory = { factory_table };

/* The entry point that the runtime finds by name in a profiler's library. */
__attribute__((visibility("default"))) result
DllGetClassObject(const struct guid *profiler, const struct guid *which, void *out);

result DllGetClassObject(const struct guid *profiler, const struct guid *which, void *out)
{
	static const struct guid ours = GCHINT_PROFILER;

	return is_one_of(profiler, &ours, 1) ? query_factory(&factory, which, out) : E_NO_CLASS;
}
