// SPDX-License-Identifier: MIT
/*
 * OpenJDK (17 and newer), as a JVMTI agent: java -agentpath:/path/libgchint-jvm.so, or
 * jcmd PID JVMTI.agent_load /path/libgchint-jvm.so.
 *
 * JVMTI reports each pause on "VM Thread", which hints for itself:
 *
 *	GARBAGE_COLLECTION_START	copy		a pause of G1 that evacuates
 *					remark		the first pause of G1's concurrent cycle
 *					collect		any other, also G1's second one (cleanup);
 *							all with STW
 *	GARBAGE_COLLECTION_FINISH	none
 *
 * The cause comes from the performance counters that the JVM keeps in a shared file:
 * at the start with G1, ZGC and Shenandoah, at the end with Serial and Parallel.
 * How full the heap was comes from the collector's log (heap.c).
 * JVMTI does not report concurrent work. The threads that do it are recognised by their names
 * and get standing roles (threads.c), and the collector's log has the phases of its driver
 * thread (phases.c). While a recorder profiles, the agent also names compiled code (methods.c)
 * or, with -agentpath:/path/libgchint-jvm.so=interpreted, follows each call (interpreted.c). On
 * request it samples which code allocates (allocations.c).
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include <gchint.h>
#include <jvmti.h>

#include "../common/start.h"
#include "../common/tasks.h"
#include "../common/variables.h"
#include "jvm.h"

static void JNICALL gc_start(jvmtiEnv *env)
{
	struct gchint_detail detail = { .size = sizeof(detail) };
	unsigned int phase = GCHINT_PHASE_COLLECT;

	(void)env;
	detail.cause = counters_cause(&phase);
	gchint_begin_detail(threads_announcer(), phase, GCHINT_F_STW, &detail);
	heap_pause(1);
	threads_pause(1);
}

static void JNICALL gc_finish(jvmtiEnv *env)
{
	uint32_t cause;

	(void)env;
	threads_pause(0);
	heap_pause(0);
	gchint_end(threads_announcer());
	cause = counters_late_cause();
	if (cause)
		gchint_set_cause(threads_announcer(), cause);
	tasks_rescan();
}

/* At this event the collector threads that start with the JVM exist. */
static void JNICALL vm_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	(void)thread;
	methods_watch(env);
	interpreted_watch(env);
	allocations_watch(env);
	counters_open();
	threads_watch();
	phases_watch(jni);
}

/* On a busy machine the log reader may be behind by the last cycles. */
static void JNICALL vm_death(jvmtiEnv *env, JNIEnv *jni)
{
	(void)jni;
	allocations_finish(env);
	phases_finish();
}

static int started;
static struct gchint_session *opened; /* adapter_start()'s */

/*
 * The agent is here already, since an earlier attach or the start of the JVM: its hints go to the
 * recorder of this attach from now on. The kernel receives them with or without a recorder.
 */
static jint agent_redirect(const char *options)
{
	if (gchint_get_backend(opened) == GCHINT_BACKEND_DEVICE)
		return JNI_OK;
	threads_release();
	gchint_close(opened);
	/* Another library of the JVM may use the session, which then stays as it is. */
	if (gchint_get_backend(opened) == GCHINT_BACKEND_NOTHING)
		adapter_environment(options);
	else
		fprintf(stderr, "libgchint-jvm.so: hints stay with the earlier recorder: another "
				"library of this JVM uses the session too; restart the JVM\n");
	if (gchint_open(&opened, 0))
		return JNI_ERR;
	threads_rejoin();
	return gchint_get_backend(opened) == GCHINT_BACKEND_NOTHING ? JNI_ERR : JNI_OK;
}

static jint agent_setup(JavaVM *vm, const char *options, int live)
{
	static const jvmtiCapabilities wanted = { .can_generate_garbage_collection_events = 1 };
	jvmtiEventCallbacks callbacks = {
		.GarbageCollectionStart = gc_start,
		.GarbageCollectionFinish = gc_finish,
		.VMInit = vm_init,
		.VMDeath = vm_death,
	};
	JNIEnv *jni = NULL;
	jvmtiEnv *env;

	/* A failing agent would keep the JVM from starting, so only a live attach may fail. */
	if (started)
		return JNI_OK;
	if (!adapter_start("libgchint-jvm.so", &opened))
		return live ? JNI_ERR : JNI_OK;
	if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK ||
	    (*env)->AddCapabilities(env, &wanted) != JVMTI_ERROR_NONE) {
		fprintf(stderr, "libgchint-jvm.so: no hints: this JVM reports no collections\n");
		return live ? JNI_ERR : JNI_OK;
	}
	started = 1;
	methods_prepare(env, &callbacks);
	interpreted_prepare(env, &callbacks, options);
	allocations_prepare(env, &callbacks);
	(*env)->SetEventCallbacks(env, &callbacks, sizeof(callbacks));
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
	if (live) {
		(*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_8);
		vm_init(env, jni, NULL);
	} else {
		(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
	}
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_GARBAGE_COLLECTION_START,
					 NULL);
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
					 NULL);
	return JNI_OK;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	adapter_forget("jvm");
	return agent_setup(vm, options, 0);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	if (started)
		return agent_redirect(options);
	adapter_environment(options);
	return agent_setup(vm, NULL, 1);
}
