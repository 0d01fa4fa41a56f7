// SPDX-License-Identifier: MIT
/*
 * Description: each event, and what libgchint receives of it: call, phase, flags, cause, work
 * and stall, literally, in the file of GCHINT_TRACE.
 */
#include "tap.h"

#include <errno.h>
#include <gchint.h>
#include <gchint/gc-listener-gchint.h>

static struct gc_listener_gchint l;
static char path[] = "/tmp/gchint-trace-XXXXXX";
static long at; /* what of the trace was read */

/* What the policy of the CPU is said to be, instead of libgchint */
static int policy_error, policy_cpu;
static const struct gchint_session *policy_session;

int __wrap_gchint_get_policy(const struct gchint_session *session, int cpu,
			     struct gchint_policy *policy);
int __wrap_gchint_get_policy(const struct gchint_session *session, int cpu,
			     struct gchint_policy *policy)
{
	policy_session = session;
	policy_cpu = cpu;
	if (policy_error || policy->size != sizeof(*policy))
		return policy_error;
	policy->cur_khz = 1200000;
	policy->max_khz = 1800000;
	policy->hw_max_khz = 2000000;
	return 0;
}

/* The lines since it was last asked, without time and thread, joined by " | " */
static const char *heard(void)
{
	static char text[4096];
	char line[512], event[512], *cut;
	FILE *file = fopen(path, "re");

	text[0] = '\0';
	if (!file)
		return "?";
	fseek(file, at, SEEK_SET);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %*s %*s %511[^\n]", event) != 1)
			continue;
		/* What libgchint expects of the time that it lasts is not ours. */
		cut = strstr(event, " short");
		if (cut)
			*cut = '\0';
		if (*text)
			strcat(text, " | ");
		strcat(text, event);
	}
	at = ftell(file);
	fclose(file);
	return text;
}

static void hears(const char *want, const char *of)
{
	const char *got = heard();

	if (!ok(!strcmp(got, want), "%s: %s", of, *want ? want : "nothing"))
		printf("# heard: %s\n", got);
}

#define EVENT(op, ...) l.base.ops->op(&l.base, &(struct gc_event){ __VA_ARGS__ })

static void a_cycle_of_the_daemon(void)
{
	EVENT(daemon_started, .daemon = true);
	hears("attach role=none | role role=concurrent", "the daemon starts");
	EVENT(cycle_begin, .cause = GC_CAUSE_CONCURRENT, .kind = GC_KIND_MAJOR, .heap_bytes = 5,
	      .max_bytes = 9, .footprint_bytes = 7, .allocated_bytes = 50);
	hears("begin collect concurrent cause=threshold | heap when=before used=5 committed=7 "
	      "limit=9 allocated=50 generation=1",
	      "a cycle begins");
	EVENT(requesting_stop, .cause = GC_CAUSE_CONCURRENT);
	hears("end collect concurrent | begin safepoint concurrent cause=threshold",
	      "a stop is requested, and no mutator waits yet");
	EVENT(first_stopped, .cause = GC_CAUSE_CONCURRENT);
	hears("end safepoint concurrent | begin safepoint stw,concurrent cause=threshold",
	      "a stopped mutator waits for another");
	EVENT(stopped, .cause = GC_CAUSE_CONCURRENT, .stw = true);
	hears("end safepoint stw,concurrent | begin roots stw cause=threshold",
	      "the world is stopped");
	EVENT(restarted, .cause = GC_CAUSE_CONCURRENT);
	hears("end roots stw | begin collect concurrent cause=threshold", "the world is restarted");
	EVENT(mark_begin, .phase = GC_PHASE_MARK, .cause = GC_CAUSE_CONCURRENT, .work_total = 70);
	hears("end collect concurrent | begin mark concurrent cause=threshold done=0 total=70",
	      "marking begins");
	EVENT(progress, .phase = GC_PHASE_MARK, .work_done = 30, .work_total = 70, .time_ns = 1000,
	      .exhaust_ns = 1001000);
	hears("progress mark concurrent done=30 total=70 stall=1001000", "progress is reported");
	EVENT(progress, .phase = GC_PHASE_MARK, .work_done = 31, .work_total = 70, .time_ns = 1000,
	      .exhaust_ns = 1000999);
	hears("end mark concurrent | begin mark concurrent,urgent cause=allocation done=31 "
	      "total=70 "
	      "stall=1000999",
	      "a stall is nearer than a millisecond");
	EVENT(progress, .phase = GC_PHASE_MARK, .work_done = 32, .work_total = 70, .time_ns = 1000,
	      .exhaust_ns = 1000999);
	hears("progress mark concurrent,urgent done=32 total=70 stall=1000999",
	      "progress with the stall still near");
	EVENT(mark_end, .phase = GC_PHASE_MARK, .cause = GC_CAUSE_CONCURRENT, .work_done = 71,
	      .work_total = 70);
	hears("end mark concurrent,urgent | begin collect concurrent cause=threshold done=71 "
	      "total=70",
	      "marking ends");
	EVENT(remark_begin, .phase = GC_PHASE_REMARK, .stw = true);
	hears("end collect concurrent | begin remark stw cause=allocation", "remark begins");
	EVENT(remark_end, .phase = GC_PHASE_REMARK, .stw = true);
	hears("end remark stw | begin collect stw cause=allocation", "remark ends");
	EVENT(sweep_begin, .phase = GC_PHASE_SWEEP);
	hears("end collect stw | begin sweep concurrent cause=allocation", "sweeping begins");
	EVENT(sweep_end, .phase = GC_PHASE_SWEEP);
	hears("end sweep concurrent | begin collect concurrent cause=allocation", "sweeping ends");
	EVENT(cycle_end, .phase = GC_PHASE_IDLE, .heap_bytes = 3, .max_bytes = 9,
	      .footprint_bytes = 6, .allocated_bytes = 51);
	hears("heap when=after used=3 committed=6 limit=9 allocated=51 generation=0 | end collect "
	      "concurrent",
	      "the cycle ends");
	EVENT(trim_begin, .cause = GC_CAUSE_TRIM, .daemon = true);
	hears("begin trim concurrent cause=timer", "a trim begins");
	EVENT(trim_end, .cause = GC_CAUSE_TRIM);
	hears("end trim concurrent", "a trim ends");
}

static void a_cycle_of_a_mutator(void)
{
	EVENT(cycle_begin, .foreground = true, .cause = GC_CAUSE_OOM, .exhaust_ns = 5);
	hears("begin collect foreground cause=oom stall=5 | heap when=before used=0 committed=0 "
	      "limit=0 allocated=0 generation=0",
	      "a mutator collects");
	EVENT(requesting_stop, .foreground = true, .cause = GC_CAUSE_EXPLICIT);
	hears("end collect foreground | begin safepoint foreground cause=explicit",
	      "a mutator begins to wait");
	EVENT(stopped, .foreground = true, .stw = true);
	hears("end safepoint foreground | begin roots stw cause=allocation",
	      "the world is stopped");
	EVENT(copy_begin, .phase = GC_PHASE_COPY, .stw = true, .work_total = 9);
	hears("end roots stw | begin copy stw cause=allocation done=0 total=9", "copying begins");
	EVENT(copy_end, .phase = GC_PHASE_COPY, .stw = true);
	hears("end copy stw | begin collect stw cause=allocation", "copying ends");
	EVENT(cycle_end);
	hears("heap when=after used=0 committed=0 limit=0 allocated=0 generation=0 | end collect "
	      "stw",
	      "the cycle ends");
	EVENT(trim_begin, .cause = GC_CAUSE_STRESS);
	hears("begin trim concurrent", "a trim under stress has no cause");
	EVENT(trim_end);
	hears("end trim concurrent", "a trim under stress ends");
}

static void mutators(void)
{
	EVENT(mutator_paused, .pause = GC_PAUSE_SAFEPOINT);
	EVENT(mutator_paused, .pause = GC_PAUSE_FOREGROUND);
	EVENT(mutator_resumed, .pause = GC_PAUSE_FOREGROUND);
	EVENT(mutator_resumed, .pause = GC_PAUSE_SAFEPOINT);
	hears("", "a pause without waiting for the collector is no hint");
	ok(!l.waiting, "no mutator waits");
	EVENT(mutator_paused, .pause = GC_PAUSE_WAIT);
	hears("begin wait foreground", "a mutator begins to wait");
	ok(l.waiting == 1, "one mutator waits");
	EVENT(mutator_paused, .pause = GC_PAUSE_PACED);
	ok(l.waiting == 2, "two mutators wait");
	hears("begin wait foreground", "a paced pause is a wait");
	EVENT(help_begin, .phase = GC_PHASE_MARK, .cause = GC_CAUSE_CONCURRENT, .stw = false);
	hears("begin mark concurrent,urgent cause=threshold", "a waiting mutator helps");
	EVENT(help_end, .phase = GC_PHASE_MARK);
	hears("end mark concurrent,urgent in=wait", "a helper waits again");
	EVENT(help_begin, .phase = GC_PHASE_COPY, .stw = true, .cause = GC_CAUSE_ALLOC);
	hears("begin copy stw cause=allocation", "a stopped mutator helps");
	EVENT(help_end, .phase = GC_PHASE_COPY);
	hears("end copy stw in=wait", "help in a stop ends");
	EVENT(mutator_resumed, .pause = GC_PAUSE_PACED);
	ok(l.waiting == 1, "one mutator waits");
	hears("end wait foreground", "a wait ends");
	EVENT(mutator_resumed, .pause = GC_PAUSE_WAIT);
	ok(!l.waiting, "no mutator waits");
	hears("end wait foreground", "a wait ends");
	EVENT(mutator_detached);
	hears("detach", "a mutator detaches");
	EVENT(mutator_attached);
	hears("attach role=none", "a mutator attaches again");
}

static void frequency(void)
{
	uint32_t now = 1, most = 2;

	policy_error = -ENODEV;
	ok(gc_listener_gchint_frequency(&now, &most, &l) == -ENODEV && now == 1 && most == 2,
	   "without a device the frequency is unknown");
	policy_error = 0;
	ok(!gc_listener_gchint_frequency(&now, &most, &l) && now == 1200000 && most == 2000000,
	   "the current frequency and the hardware's maximum are returned");
	ok(policy_session == l.session && policy_cpu == -1,
	   "the frequency is that of the caller's CPU");
}

int main(void)
{
	close(mkstemp(path));
	setenv("GCHINT_TRACE", path, 1);
	memset(&l, 0xff, sizeof(l));
	ok(!gc_listener_gchint_open(&l, 0) && l.session && !l.waiting && !l.urgent,
	   "a session opens");
	hears("open backend=trace", "the session is reported");
	a_cycle_of_the_daemon();
	a_cycle_of_a_mutator();
	mutators();
	frequency();
	gc_listener_gchint_close(&l);
	ok(!l.session, "the session is closed");
	hears("close backend=trace", "the end of the session is reported");
	memset(&l, 0xff, sizeof(l));
	ok(gc_listener_gchint_open(&l, 1u << 31) == -EINVAL, "an unknown flag is passed on");
	unlink(path);
	return done();
}
