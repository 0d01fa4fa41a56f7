// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: what is read of CPUs in the kernel's files: policies and their frequencies, idle
 * states, the cost of hinted threads, and the tracepoint's lines.
 */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../daemon/recording/queue.h"
#include "../../daemon/source/cpu/memory-group.h"
#include "../../daemon/source/hint/tracker.h"
#include "faults.h"
#include "place.h"
#include "records.h"

#define CPUFREQ	    "sys/devices/system/cpu/cpufreq/"
#define POLICY(n)   CPUFREQ "policy" #n "/"
#define ACTUATOR(n) "sys/class/misc/gchint/actuator/policy" #n
#define IDLE(cpu)   "sys/devices/system/cpu/cpu" #cpu "/cpuidle/"
#define INSTANCE    "trace/instances/gchintd"

static void timer_run(void)
{
	watched_at(0)->fn(watched_at(0)->data, 0);
}

/* Number of definitions of a type and of records in the queue; removes all. */
static unsigned int definitions_count(struct queue *q, enum definition_kind kind,
				      enum record_type type, unsigned int *records)
{
	unsigned int n = 0;

	*records = 0;
	for (size_t i = 0; i < queue_fill(q); i++) {
		const struct record *r = queue_peek(q, i);

		*records += r->type == type;
		if (r->type != RECORD_DEFINE)
			continue;
		n += r->define->kind == kind;
		definition_free(r->define);
	}
	queue_consume(q, queue_fill(q));
	return n;
}

static void policy_files(void)
{
	place_file(POLICY(0) "related_cpus", "0 1 3\n");
	place_file(POLICY(0) "scaling_driver", "a-driver\n");
	place_file(POLICY(0) "scaling_governor", "schedutil\n");
	place_file(POLICY(0) "scaling_cur_freq", "600000\n");
	place_file(POLICY(0) "scaling_min_freq", "300000\n");
	place_file(POLICY(0) "scaling_max_freq", "900000\n");
	place_file(POLICY(0) "cpuinfo_min_freq", "200000\n");
	place_file(POLICY(0) "cpuinfo_max_freq", "4294967294\n");
	place_file(POLICY(0) "cpuinfo_transition_latency", "4294967295\n");
	place_file(POLICY(0) "scaling_available_frequencies",
		   "300000 600000 x 0 800000 900000 4294967294 4294967295 \n");
	place_file(POLICY(0) "stats/time_in_state", "300000 10\n600000 20\n");
	place_file("debug/opp/cpu0/opp:300000000/supply-0/u_volt_target", "800000\n");
	place_file("debug/opp/cpu0/opp:300000000/u_volt_target", "1\n");
	place_file("debug/opp/cpu0/opp:600000000/u_volt_target", "850000\n");
	place_file("debug/opp/cpu0/opp:800000000/supply-0/u_volt_target", "0\n");
	place_file("debug/energy_model/cpu0/flags", "0x3\n");
	place_file("debug/energy_model/cpu0/ps:300000/power", "57600\n");
	place_file("debug/energy_model/cpu0/ps:900000/power", "0\n");
	/* Policies without CPUs, with the highest number, and without a number. */
	place_file(POLICY(4) "scaling_driver", "a-driver\n");
	place_file(POLICY(8192) "related_cpus", "5\n");
	place_file(POLICY(x) "related_cpus", "5\n");
	/* A policy with few known values; its power is of an abstract scale. */
	place_file(POLICY(8191) "related_cpus", "8191\n");
	place_file(POLICY(8191) "scaling_cur_freq", "0\n");
	place_file(POLICY(8191) "scaling_available_frequencies", "400000\n");
	place_file("debug/energy_model/cpu8191/flags", "0x2\n");
	place_file("debug/energy_model/cpu8191/ps:400000/power", "7\n");
}

static void policies_check(struct source_context *context, void **state)
{
	const struct source *cpufreq = source_table[SOURCE_cpufreq];

	text_is(place_probe(cpufreq, context),
		"-19 'no cpufreq policy: frequency is unknown' 'load the board's cpufreq driver'",
		"without policies frequencies are unavailable");
	policy_files();
	place_file(ACTUATOR(0), "off\n");
	text_is(place_probe(cpufreq, context), "0 'driver a-driver' ''",
		"with a policy its driver is named");
	context->config.source[SOURCE_cpufreq].period_ms = 70;
	faults.at_ns = 1000;
	CHECK(!cpufreq->start(context, state) && watched_count() == 1 &&
		      watched_at(0)->period_ns == 70000000,
	      "policies are sampled once per period");
	records_are(context->queue,
		    "policy 0 200000 4294967294 '0 1 3' 'a-driver' 'schedutil'\n"
		    "opp 0 300000 800000 57600 'energy_model'\n"
		    "opp 0 600000 850000\n"
		    "opp 0 800000\n"
		    "opp 0 900000 0 'energy_model'\n"
		    "opp 0 4294967294\n"
		    "policy 1000: 0 'schedutil' 300000 900000\n"
		    "actuator 0 'off'\n"
		    "residency 1000: policy 0 at 300000 100000000\n"
		    "residency 1000: policy 0 at 600000 200000000\n"
		    "transition 1000: cpu 0 600000 kHz by 0\n"
		    "transition 1000: cpu 1 600000 kHz by 0\n"
		    "transition 1000: cpu 3 600000 kHz by 0\n"
		    "policy 8191 '8191'\n"
		    "opp 8191 400000\n"
		    "policy 1000: 8191 '' ? ?\n"
		    "actuator 8191 'none'\n"
		    "clock 0 70000000 'cpufreq' 'CLOCK_MONOTONIC' 'polled: a change is seen up to "
		    "a period late; time_in_state counts 10 ms'\n",
		    "policies, their frequencies and unknown values are recorded");
}

static void policy_changes(struct source_context *context, void *state)
{
	faults.at_ns = 2000;
	timer_run();
	records_are(context->queue, "", "unchanged values are not recorded again");
	place_file(POLICY(0) "scaling_cur_freq", "900000\n");
	place_file(POLICY(0) "stats/time_in_state", "300000 10\n600000 25\n700000 0\nrubbish\n");
	place_file(POLICY(0) "scaling_governor", "a-governor-of-a-long-name\n");
	place_file(ACTUATOR(0), "limits\n");
	timer_run();
	records_are(context->queue,
		    "policy 2000: 0 'a-governor-of-a' 300000 900000\n"
		    "actuator 0 'limits'\n"
		    "residency 2000: policy 0 at 600000 250000000\n"
		    "residency 2000: policy 0 at 700000 0\n"
		    "transition 2000: cpu 0 900000 kHz by 2\n"
		    "transition 2000: cpu 1 900000 kHz by 2\n"
		    "transition 2000: cpu 3 900000 kHz by 2\n",
		    "changed values are recorded");
	place_file(POLICY(0) "scaling_cur_freq", "300000\n");
	place_file(POLICY(0) "stats/time_in_state", "300000 10\n600000 25\n650000 0\n");
	place_file(POLICY(0) "scaling_min_freq", "500000\n");
	context->traced = true;
	context->traced_cpu[1] = 1;
	faults.at_ns = 3000;
	timer_run();
	records_are(context->queue,
		    "policy 3000: 0 'a-governor-of-a' 500000 900000\n"
		    "residency 3000: policy 0 at 650000 0\n",
		    "with the tracepoint frequencies are not polled");
	context->traced = false;
	place_file(POLICY(0) "scaling_cur_freq", "0\n");
	timer_run();
	place_file(POLICY(0) "scaling_cur_freq", "x\n");
	timer_run();
	place_file(POLICY(0) "scaling_cur_freq", "900000\n");
	timer_run();
	records_are(context->queue, "", "an unreadable frequency is no change");
	/* A driver that is removed, and one that is added. */
	place_gone("sys/devices/system/cpu/cpufreq/policy0");
	place_gone(ACTUATOR(0));
	place_file(POLICY(7) "related_cpus", "7\n");
	place_file(POLICY(7) "scaling_cur_freq", "100000\n");
	faults.at_ns = 4000;
	timer_run();
	records_are(context->queue,
		    "policy 7 '7'\n"
		    "policy 4000: 7 '' ? ?\n"
		    "actuator 7 'none'\n"
		    "transition 4000: cpu 7 100000 kHz by 0\n"
		    "policy 4000: 0 '' ? ?\n"
		    "actuator 0 'none'\n",
		    "a policy that disappears is unknown, a new one is recorded");
	place_file(POLICY(7) "scaling_cur_freq", "200000\n");
	source_table[SOURCE_cpufreq]->stop(state);
	records_are(context->queue, "transition 4000: cpu 7 200000 kHz by 2\n",
		    "the end samples once more");
}

static void many_policies(struct source_context *context)
{
	const struct source *cpufreq = source_table[SOURCE_cpufreq];
	char path[100], table[1000] = "";
	unsigned int records;
	void *state = NULL;

	place_gone("sys/devices/system/cpu/cpufreq");
	for (int i = 0; i < 66; i++)
		sprintf(table + strlen(table), "%d 0\n", 1000 + i);
	place_file(POLICY(100) "stats/time_in_state", table);
	for (int i = 100; i < 200; i++) {
		snprintf(path, sizeof(path), CPUFREQ "policy%d/related_cpus", i);
		place_file(path, "1\n");
	}
	watched_forget();
	CHECK(!cpufreq->start(context, &state), "a machine of many policies");
	CHECK(definitions_count(context->queue, DEFINE_POLICY, RECORD_RESIDENCY, &records) == 100 &&
		      records == 66,
	      "all of them are recorded, with all of their frequencies");
	timer_run();
	records_are(context->queue, "", "nothing is recorded after the end");
	sprintf(table, "%d 1\n", 1000);
	for (int i = 1; i < 66; i++)
		sprintf(table + strlen(table), "%d %d\n", 1000 + i, i > 62);
	place_file(POLICY(100) "stats/time_in_state", table);
	timer_run();
	records_are(context->queue,
		    "residency 4000: policy 100 at 1000 10000000\n"
		    "residency 4000: policy 100 at 1063 10000000\n"
		    "residency 4000: policy 100 at 1064 10000000\n"
		    "residency 4000: policy 100 at 1065 10000000\n",
		    "each frequency is compared with its own last value");
	cpufreq->stop(state);
	records_are(context->queue, "", "nothing has changed at the end");
}

static void idle_check(struct source_context *context)
{
	const struct source *cpuidle = source_table[SOURCE_cpuidle];
	unsigned int records;
	void *state = NULL;
	char path[100];

	text_is(place_probe(cpuidle, context), "-19 'no cpuidle states: idle time is unknown' ''",
		"a machine without idle states");
	place_file(IDLE(0) "state0/name", "WFI\n");
	place_file(IDLE(0) "state0/usage", "5\n");
	place_file(IDLE(0) "state0/time", "50\n");
	place_file(IDLE(0) "state1/usage", "0\n");
	place_file(IDLE(0) "state1/time", "0\n");
	place_file(IDLE(0) "statex/usage", "1\n");
	place_file(IDLE(0) "other/usage", "1\n");
	place_file(IDLE(8191) "state2/name", "deep\n");
	place_file(IDLE(8191) "state2/usage", "7\n");
	place_file(IDLE(8192) "state0/usage", "7\n");
	place_file(IDLE(idle) "state0/usage", "7\n");
	text_is(place_probe(cpuidle, context), "0 'idle states, the first is WFI' ''",
		"a machine with idle states");
	context->config.source[SOURCE_cpuidle].period_ms = 80;
	faults.at_ns = 1000;
	watched_forget();
	CHECK(!cpuidle->start(context, &state) && watched_at(0)->period_ns == 80000000,
	      "idle states are sampled once per period");
	records_are(context->queue,
		    "state 0 0 'WFI'\n"
		    "state 0 1\n"
		    "state 8191 2 'deep'\n"
		    "idle 1000: cpu 0 state 0 50 us 5 times\n"
		    "idle 1000: cpu 0 state 1 0 us 0 times\n",
		    "idle states are recorded per CPU, number and name");
	faults.at_ns = 2000;
	place_file(IDLE(0) "state0/time", "60\n");
	place_file(IDLE(8191) "state2/time", "70\n");
	timer_run();
	records_are(context->queue, "idle 2000: cpu 8191 state 2 70 us 7 times\n",
		    "a state without new entries is not recorded");
	place_file(IDLE(0) "state1/usage", "2\n");
	timer_run();
	records_are(context->queue, "idle 2000: cpu 0 state 1 0 us 2 times\n",
		    "a state with new entries is recorded");
	place_gone(IDLE(0) "state1/usage");
	place_file(IDLE(0) "state0/usage", "6\n");
	cpuidle->stop(state);
	records_are(context->queue, "idle 2000: cpu 0 state 0 60 us 6 times\n",
		    "the end samples once more");
	place_gone("sys/devices/system/cpu");
	/* 65 CPUs, all with the states of the first. */
	place_file(IDLE(0) "other", "");
	for (int i = 0; i < 64; i++) {
		snprintf(path, sizeof(path), IDLE(0) "state%d", i);
		mkdir(path, 0755);
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d", i + 1);
		if (symlink("cpu0", path))
			abort();
	}
	watched_forget();
	CHECK(!cpuidle->start(context, &state) &&
		      definitions_count(context->queue, DEFINE_IDLE_STATE, RECORD_IDLE, &records) ==
			      65 * 64,
	      "all idle states of all CPUs are recorded");
	cpuidle->stop(state);
	place_gone("sys");
	CHECK(cpuidle->start(context, &state) == -ENOMEM, "without CPUs cpuidle does not start");
}

/* In ns, of the machine's kernel. */
static void tick_is_recorded(struct queue *q)
{
	struct timespec tick;
	char text[64];

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	snprintf(text, sizeof(text), "meta 'sched.tick_ns' '%ld'\n", tick.tv_nsec);
	records_are(q, text, "the tick of accounts is recorded");
}

static void sched_check(struct source_context *context)
{
	const struct source *sched = source_table[SOURCE_sched];
	void *state = NULL;

	text_is(place_probe(sched, context),
		"-2 'no schedstat: run-queue delay is unknown' 'a kernel with CONFIG_SCHED_INFO'",
		"a kernel without scheduler statistics");
	place_file("proc/self/schedstat", "");
	CHECK(place_probe(sched, context)[0] == '-', "without threads sched is not available");
	place_file("proc/self/schedstat", "1 2 3\n");
	text_is(place_probe(sched, context),
		"0 'CPU time, delay and migrations of hinted threads' ''",
		"a kernel with scheduler statistics");
	for (int32_t tid = 70; tid < 75; tid++)
		tracker_event(context->tracker, &(struct message_event){
							.type = GCHINT_EVENT_LEASE,
							.has = HAS(GCHINT_EVENT_A_TID),
							.session = (uint64_t)(80 - tid),
							.slot = 1,
							.tgid = 70,
							.tid = tid == 74 ? 0 : tid,
							.lease = GCHINT_LEASE_ATTACH,
						});
	/* All known values, and invalid ones; 73 has ended. */
	place_file("proc/70/task/70/schedstat", "5000000 700000 42\n");
	place_file("proc/70/task/70/sched", "nr_voluntary : 7\nse.nr_migrations   :   12\nx : 9\n");
	place_file("proc/70/task/70/stat",
		   "70 (a ) b) S 1 2 3 4 -1 6 7 8 9 10 30 20 1 2 20 0 1 0 33 1 2 3 4 5 6 7 8 9 "
		   "10 11 12 13 14 15 17 5 0 0\n");
	place_file("proc/70/task/71/schedstat", "1 2\n");
	place_file("proc/70/task/72/schedstat", "1 2 3 4\n");
	place_file("proc/70/task/72/sched", "nr_migrations\n");
	place_file("proc/70/task/72/stat", "70 a S 1 2 3 4 -1 6 7 8 9 10 30 20 1\n");
	context->config.source[SOURCE_sched].period_ms = 90;
	place_file("proc/70/cgroup", "4:memory:/a\n");
	place_file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000\n");
	place_file("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "900\n");
	faults.at_ns = 1000;
	watched_forget();
	records_are(context->queue,
		    "lease 0: 0 of 70/70 slot 1 role ?\n"
		    "process 70 70\n"
		    "lease 0: 0 of 70/71 slot 1 role ?\n"
		    "process 70 70\n"
		    "process 70 71\n"
		    "lease 0: 0 of 70/72 slot 1 role ?\n"
		    "process 70 70\n"
		    "process 70 72\n"
		    "lease 0: 0 of 70/73 slot 1 role ?\n"
		    "process 70 70\n"
		    "process 70 73\n"
		    "lease 0: 0 of 70/0 slot 1 role ?\n",
		    "leases are recorded");
	CHECK(!sched->start(context, &state) && watched_at(0)->period_ns == 90000000,
	      "threads are sampled once per period");
	tick_is_recorded(context->queue);
	place_gone("proc/70/task/71");
	timer_run();
	/* It has ended: its memory is 0 then. */
	place_file("proc/70/task/72/stat",
		   "70 (a) Z 1 2 3 4 -1 6 7 8 9 10 30 20 1 2 20 0 1 0 33 1 0 3 4 5 6 7 8 9 "
		   "10 11 12 13 14 15 17 5 0 0\n");
	place_gone("proc/70/task/70");
	sched->stop(state);
	records_are(context->queue,
		    "memory group 1000 of 70: 900 1000 ?\n"
		    "sched 1000 of 70/72: ran 1 waited 2 in 3 slices; ? ? ?\n"
		    "sched 1000 of 70/70: ran 5000000 waited 700000 in 42 slices; 12 300000000 "
		    "200000000 on 5 with 8 KiB\n"
		    "memory group 1000 of 70: 900 1000 ?\n"
		    "sched 1000 of 70/72: ran 1 waited 2 in 3 slices; ? 300000000 200000000 on 5\n",
		    "each thread's statistics are recorded as far as known");
}

static void group_is(const struct source_context *context, int64_t used, int64_t most,
		     int64_t pressed, const char *name)
{
	struct memory_group g;

	if (!memory_group_read(&context->root, 90, &g))
		g = (struct memory_group){ 0 };
	if (g.used != used || g.most != most || g.pressed != pressed)
		printf("# %lld of %lld, pressed %lld\n", (long long)g.used, (long long)g.most,
		       (long long)g.pressed);
	CHECK(g.used == used && g.most == most && g.pressed == pressed, name);
}

/* The lowest limit counts, whose ever it is. */
static void memory_groups_check(const struct source_context *context)
{
	struct memory_group g;

	group_is(context, 0, 0, 0, "a kernel without control groups");
	place_file("proc/90/cgroup", "3:cpu,cpuacct:/a\n0::/a/b/c\n");
	group_is(context, 0, 0, 0, "control groups without files");
	place_file("sys/fs/cgroup/a/b/c/memory.max", "max\n");
	place_file("sys/fs/cgroup/a/b/c/memory.current", "7\n");
	group_is(context, 0, 0, 0, "a group without a limit");
	place_file("sys/fs/cgroup/a/memory.max", "5000\n");
	place_file("sys/fs/cgroup/a/memory.high", "4000\n");
	place_file("sys/fs/cgroup/a/memory.current", "3900\n");
	group_is(context, 3900, 4000, UNKNOWN_S64, "the limit of an ancestor, the lower one");
	place_file("sys/fs/cgroup/a/memory.events", "low 1\nhigh 20\nmax 300\noom 4\n");
	group_is(context, 3900, 4000, 320, "how often it was reached");
	place_file("sys/fs/cgroup/a/b/c/memory.max", "3000\n");
	group_is(context, 7, 3000, UNKNOWN_S64, "the lowest of several limits");
	place_file("proc/90/cgroup", "0::/../outside\n2:memory:/v\n");
	place_file("sys/fs/cgroup/memory/v/memory.limit_in_bytes", "9223372036854771712\n");
	place_file("sys/fs/cgroup/memory/v/memory.usage_in_bytes", "1\n");
	group_is(context, 0, 0, 0, "version 1 without a limit");
	place_file("sys/fs/cgroup/memory/v/memory.limit_in_bytes", "2000\n");
	place_file("sys/fs/cgroup/memory/v/memory.failcnt", "11\n");
	group_is(context, 1, 2000, 11, "version 1 with a limit");
	CHECK(memory_group_read(&context->root, 90, &g), "a group is read");
	place_file("proc/90/cgroup", "2:memory:/\n");
	place_file("sys/fs/cgroup/memory/v/memory.failcnt", "12\n");
	CHECK(memory_group_reread(&context->root, &g) && g.pressed == 12 && g.most == 2000,
	      "and again after its process has ended");
	place_gone("sys/fs");
	CHECK(!memory_group_reread(&context->root, &g), "and not when it is gone");
}

static void edge_send(struct source_context *context, uint64_t at, uint32_t type, int32_t tid,
		      uint32_t what)
{
	faults.at_ns = at;
	tracker_event(context->tracker, &(struct message_event){
						.type = type,
						.has = HAS(GCHINT_EVENT_A_TID),
						.time = at,
						.session = (uint64_t)tid,
						.slot = 2,
						.tgid = 80,
						.tid = tid,
						.phase = what,
						.lease = what,
					});
}

/* Accounts at the begin and end of threads, of a source that began at 0.2 s. */
static void edges_check(struct source_context *context)
{
	const struct source *sched = source_table[SOURCE_sched];
	void *state = NULL;

	place_file("proc/80/task/80/schedstat", "5000000 700000 42\n");
	place_file("proc/80/task/80/stat",
		   "80 (a) S 1 2 3 4 -1 6 7 8 9 10 0 0 1 2 20 0 1 0 33 1 2 3 4 5 6 7 8 9 "
		   "10 11 12 13 14 15 17 5 0 0\n");
	place_file("proc/80/task/81/schedstat", "9000000 0 1\n");
	place_file("proc/80/task/81/stat",
		   "81 (b) S 1 2 3 4 -1 6 7 8 9 10 0 0 1 2 20 0 1 0 18 1\n");
	context->config.source[SOURCE_sched].period_ms = 100;
	faults.at_ns = 200000000;
	CHECK(!sched->start(context, &state), "threads are sampled again");
	tick_is_recorded(context->queue);
	edge_send(context, 400000000, GCHINT_EVENT_LEASE, 80, GCHINT_LEASE_ATTACH);
	edge_send(context, 401000000, GCHINT_EVENT_LEASE, 81, GCHINT_LEASE_ATTACH);
	edge_send(context, 402000000, GCHINT_EVENT_PHASE, 80, GCHINT_PHASE_MARK);
	edge_send(context, 403000000, GCHINT_EVENT_PHASE, 80, GCHINT_PHASE_NONE);
	edge_send(context, 404000000, GCHINT_EVENT_PHASE, 80, GCHINT_PHASE_MARK);
	edge_send(context, 512000000, GCHINT_EVENT_PHASE, 80, GCHINT_PHASE_NONE);
	edge_send(context, 513000000, GCHINT_EVENT_LEASE, 80, GCHINT_LEASE_EXIT);
	place_gone("proc/80/task/81");
	edge_send(context, 514000000, GCHINT_EVENT_LEASE, 81, GCHINT_LEASE_EXIT);
	sched->stop(state);
	faults.at_ns = 1000;
	records_are(context->queue,
		    "lease 400000000: 0 of 80/80 slot 2 role ?\n"
		    "sched 330000000 of 80/80: ran 0 waited 0 in 0 slices; 0 0 0\n"
		    "sched 400000000 of 80/80: ran 5000000 waited 700000 in 42 slices; ? 0 0 on 5 "
		    "with 8 KiB\n"
		    "process 80 80\n"
		    "lease 401000000: 0 of 80/81 slot 2 role ?\n"
		    "sched 401000000 of 80/81: ran 9000000 waited 0 in 1 slices; ? 0 0\n"
		    "process 80 80\n"
		    "process 80 81\n"
		    "process 80 80\n"
		    "phase 402000000: 1 from 402000000, 4 of 80/80, end 0\n"
		    "phase 403000000: 1 from 402000000, 4 of 80/80, end 1\n"
		    "phase 404000000: 2 from 404000000, 4 of 80/80, end 0\n"
		    "phase 512000000: 2 from 404000000, 4 of 80/80, end 1\n"
		    "sched 512000000 of 80/80: ran 5000000 waited 700000 in 42 slices; ? 0 0 on 5 "
		    "with 8 KiB\n"
		    "sched 512000000 of 80/81: ran 9000000 waited 0 in 1 slices; ? 0 0\n"
		    "lease 513000000: 3 of 80/80 slot 2 role ?\n"
		    "sched 513000000 of 80/80: ran 5000000 waited 700000 in 42 slices; ? 0 0 on 5 "
		    "with 8 KiB\n"
		    "lease 514000000: 3 of 80/81 slot 2 role ?\n"
		    "sched 514000000 of 70/72: ran 1 waited 2 in 3 slices; ? 300000000 200000000 "
		    "on 5\n",
		    "accounts are read as threads begin and end");
}

/* Idle states as phases end: ten times a period, once in 1 ms for each state. */
static void idle_edges(struct source_context *context)
{
	const struct source *cpuidle = source_table[SOURCE_cpuidle];
	void *state = NULL;

	place_file(IDLE(0) "state0/usage", "1\n");
	place_file(IDLE(0) "state0/time", "10\n");
	context->config.source[SOURCE_cpuidle].period_ms = 20;
	faults.at_ns = 1000000;
	CHECK(!cpuidle->start(context, &state), "idle states are sampled again");
	place_file(IDLE(0) "state0/usage", "2\n");
	edge_send(context, 1500000, GCHINT_EVENT_PHASE, 82, GCHINT_PHASE_MARK);
	edge_send(context, 2900000, GCHINT_EVENT_PHASE, 82, GCHINT_PHASE_NONE);
	edge_send(context, 3000000, GCHINT_EVENT_PHASE, 82, GCHINT_PHASE_MARK);
	edge_send(context, 3100000, GCHINT_EVENT_PHASE, 82, GCHINT_PHASE_NONE);
	cpuidle->stop(state);
	place_gone("sys");
	faults.at_ns = 1000;
	records_are(context->queue,
		    "state 0 0\n"
		    "idle 1000000: cpu 0 state 0 10 us 1 times\n"
		    "process 80 80\n"
		    "process 80 82\n"
		    "phase 1500000: 3 from 1500000, 4 of 80/82, end 0\n"
		    "phase 2900000: 3 from 1500000, 4 of 80/82, end 1\n"
		    "phase 3000000: 4 from 3000000, 4 of 80/82, end 0\n"
		    "phase 3100000: 4 from 3000000, 4 of 80/82, end 1\n"
		    "idle 3100000: cpu 0 state 0 10 us 2 times\n",
		    "idle states are read as phases end");
}

static void instance_make(void)
{
	place_file("trace/events/power/cpu_frequency/enable", "0");
	place_file(INSTANCE "/events/power/cpu_frequency/enable", "0");
	place_file(INSTANCE "/trace_clock", "");
	place_file(INSTANCE "/buffer_size_kb", "");
	place_file(INSTANCE "/trace_pipe", "");
}

static void trace_append(const char *text)
{
	FILE *f = fopen(INSTANCE "/trace_pipe", "a");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

/* A line of @length without its end. */
static void tell_long(int length, unsigned int khz, unsigned int cpu)
{
	static const char fmt[] = "%*s [000] d 1.000001: cpu_frequency: state=%u cpu_id=%u";
	char line[600];
	int n = snprintf(line, sizeof(line), fmt, 0, "", khz, cpu);

	snprintf(line, sizeof(line), fmt, length - n, "a-1", khz, cpu);
	trace_append(line);
}

static void trace_probes(const struct source_context *context)
{
	const struct source *trace = source_table[SOURCE_trace];

	text_is(place_probe(trace, context),
		"-2 'no tracefs: frequency is polled' 'mount -t tracefs tracefs "
		"/sys/kernel/tracing'",
		"a kernel without tracefs");
	place_file("trace/events/other", "");
	text_is(place_probe(trace, context),
		"-2 'no tracepoint power:cpu_frequency: frequency is polled' ''",
		"a kernel without the tracepoint");
	place_file("trace/events/power/cpu_frequency/enable", "0");
	text_is(place_probe(trace, context), "-13 'trace/instances: not permitted' 'run as root'",
		"a tracefs without instances");
	mkdir("trace/instances", 0755);
	text_is(place_probe(trace, context),
		"0 'every change of frequency, power:cpu_frequency' ''",
		"an instance can be created");
	instance_make();
	text_is(place_probe(trace, context),
		"0 'every change of frequency, power:cpu_frequency' ''", "an instance exists");
	if (geteuid())
		return;
	/* As a user without access; with write access only; with an own instance. */
	chmod(".", 0755);
	chmod("trace/events", 0700);
	if (seteuid(65534))
		return;
	text_is(place_probe(trace, context), "-13 'trace: not permitted' 'run as root'",
		"an instance is not accessible");
	if (seteuid(0))
		abort();
	chmod("trace/events", 0755);
	if (seteuid(65534))
		return;
	text_is(place_probe(trace, context), "-13 'trace/instances: not permitted' 'run as root'",
		"an instance cannot be created");
	if (seteuid(0))
		abort();
	chmod(INSTANCE "/trace_clock", 0666);
	if (seteuid(65534))
		return;
	text_is(place_probe(trace, context),
		"0 'every change of frequency, power:cpu_frequency' ''",
		"an instance is accessible");
	if (seteuid(0))
		abort();
}

/* Reasons for a failed start, and what is left then. */
static void trace_refused(struct source_context *context)
{
	const struct source *trace = source_table[SOURCE_trace];
	int lowest = dup(STDOUT_FILENO), next, fd;
	void *state = NULL;

	close(lowest);
	place_gone("trace/instances");
	CHECK(trace->start(context, &state) == -ENOENT,
	      "without trace instances the source does not start");
	mkdir("trace/instances", 0755);
	CHECK(trace->start(context, &state) == -ENOENT && access(INSTANCE, F_OK),
	      "without a pipe it does not start and removes its instance");
	instance_make();
	place_gone(INSTANCE "/trace_clock");
	CHECK(trace->start(context, &state) == -ENOENT,
	      "without the monotonic clock it does not start");
	instance_make();
	place_gone(INSTANCE "/events");
	CHECK(trace->start(context, &state) == -ENOENT, "without the event it does not start");
	instance_make();
	fd = open(INSTANCE "/trace_pipe", O_RDONLY | O_CLOEXEC);
	place_file(INSTANCE "/events/power/cpu_frequency/enable", "1");
	CHECK(!flock(fd, LOCK_EX) && trace->start(context, &state) == -EBUSY &&
		      !strcmp(place_line(INSTANCE "/events/power/cpu_frequency/enable"), "1") &&
		      !strcmp(place_line(INSTANCE "/trace_clock"), ""),
	      "another program's instance is left unchanged");
	close(fd);
	next = dup(STDOUT_FILENO);
	close(next);
	CHECK(next == lowest && !context->traced, "no descriptor stays open");
	records_are(context->queue, "", "a failed start records nothing");
}

static void trace_check(struct source_context *context)
{
	const struct source *trace = source_table[SOURCE_trace];
	unsigned int records;
	void *state = NULL;
	char all[200];

	trace_probes(context);
	trace_refused(context);
	instance_make();
	context->config.trace_buffer = 100 << 10;
	context->config.source[SOURCE_trace].period_ms = 60;
	watched_forget();
	CHECK(!trace->start(context, &state) && context->traced && watched_count() == 1 &&
		      watched_at(0)->period_ns == 60000000,
	      "the tracepoint is read once per period");
	snprintf(all, sizeof(all), "%s", place_line(INSTANCE "/trace_clock"));
	snprintf(all + strlen(all), sizeof(all) - strlen(all), " %s",
		 place_line(INSTANCE "/buffer_size_kb"));
	snprintf(all + strlen(all), sizeof(all) - strlen(all), " %s",
		 place_line(INSTANCE "/events/power/cpu_frequency/enable"));
	text_is(all, "mono 100 1",
		"the instance has the monotonic clock and the configured buffer");
	records_are(context->queue,
		    "clock 0 1000 'trace' 'mono trace clock' 'stamped by the kernel; the text form "
		    "is cut to 1 us'\n",
		    "the clock of trace events is defined");
	trace_append("a-1 [000] d 0.000001: cpu_frequency: state=300000 cpu_id=0\n"
		     "a-1 [000] d 0.000002: cpu_frequency: state=300000 cpu_id=0\n"
		     "a-1 [000] d 0.000003: cpu_frequency: state=300000 cpu_id=8191\n"
		     "a-1 [000] d 0.000004: cpu_frequency: state=300000 cpu_id=8192\n"
		     "CPU:1 [LOST 17 EVENTS]\n"
		     "rubbish\n"
		     "a-1 [000] d 0.000005: cpu_frequency: state=600000 cp");
	timer_run();
	records_are(context->queue,
		    "transition 1000: cpu 0 300000 kHz by 1\n"
		    "transition 3000: cpu 8191 300000 kHz by 1\n"
		    "drop 17 'trace' 'the kernel's trace ring ran over'\n",
		    "changes of frequency and lost events are recorded");
	trace_append("u_id=0\n");
	timer_run();
	records_are(context->queue, "transition 5000: cpu 0 600000 kHz by 1\n",
		    "a line that is read in two parts is joined");
	tell_long(511, 700000, 1);
	trace_append("\n");
	tell_long(512, 700000, 2);
	trace_append("\n");
	tell_long(560, 700000, 3);
	trace_append("\n");
	tell_long(100, 700000, 4);
	trace_append("\n");
	timer_run();
	records_are(context->queue,
		    "transition 1000001000: cpu 1 700000 kHz by 1\n"
		    "transition 1000001000: cpu 4 700000 kHz by 1\n",
		    "a line that is too long is skipped, the next one is read");
	/* More than one read returns. */
	for (unsigned int i = 0; i < 200; i++)
		tell_long(100, 100000 + i, 5), trace_append("\n");
	timer_run();
	CHECK(!definitions_count(context->queue, DEFINE_META, RECORD_TRANSITION, &records) &&
		      records == 200,
	      "all pending events are read");
	trace_append("a-1 [000] d 0.000009: cpu_frequency: state=900000 cpu_id=0\n");
	trace->stop(state);
	records_are(context->queue, "transition 9000: cpu 0 900000 kHz by 1\n",
		    "the end samples once more");
	CHECK(!context->traced &&
		      !strcmp(place_line(INSTANCE "/events/power/cpu_frequency/enable"), "0"),
	      "the event is disabled at the end");
}

void unit_cpus(void)
{
	struct place place;
	struct source_context context;
	void *state = NULL;

	if (!place_enter(&place))
		return;
	place_context(&context);
	place_low(true);
	faults.at_ns = 1000;
	policies_check(&context, &state);
	policy_changes(&context, state);
	many_policies(&context);
	place_gone("sys");
	idle_check(&context);
	sched_check(&context);
	memory_groups_check(&context);
	edges_check(&context);
	idle_edges(&context);
	trace_check(&context);
	faults.at_ns = 0;
	place_low(false);
	place_context_free(&context);
	place_leave(&place);
}
