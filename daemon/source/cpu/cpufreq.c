// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpufreq: the policies, their OPPs, time in each state, governor, limits and actuator as
 * they change, and where no tracepoint reports it, the frequency at each poll.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../common/cpus.h"
#include "../../common/text.h"
#include "../privilege.h"
#include "../source.h"

#define PAGE   4096 /* the most that a file of sysfs has */
#define STATES 512 /* lines of two numbers that fit into a page of sysfs */

struct policy {
	uint32_t number; /* first CPU */
	uint32_t *cpu; /* all of its CPUs */
	unsigned int cpus;
	uint32_t cur_khz;
	bool silent; /* the note that its driver emits no event was emitted */
	struct record_policy_state state;
	char actuator[16]; /* as recorded last; "" before that */
	uint32_t state_khz[STATES];
	uint64_t state_ticks[STATES];
	unsigned int states;
};

struct cpufreq {
	struct source_context *context;
	struct watch *timer;
	struct policy **policy;
	unsigned int nr;
	/* While text_pairs() walks over time_in_state. */
	struct policy *walking;
	unsigned int row;
	uint64_t now;
};

static const char *policy_read_attr(struct cpufreq *c, const struct policy *p, const char *name,
				    char *buf, size_t size)
{
	int n = root_read(buf, size, "%s/devices/system/cpu/cpufreq/policy%u/%s",
			  c->context->root.sysfs, p->number, name);

	return n > 0 ? buf : NULL;
}

static uint32_t policy_read_u32(struct cpufreq *c, const struct policy *p, const char *name)
{
	uint64_t v;

	if (root_u64(&v, "%s/devices/system/cpu/cpufreq/policy%u/%s", c->context->root.sysfs,
		     p->number, name) ||
	    v >= UNKNOWN_U32)
		return UNKNOWN_U32;
	return (uint32_t)v;
}

static int64_t u32_or_null(uint32_t v)
{
	return v == UNKNOWN_U32 ? UNKNOWN_S64 : (int64_t)v;
}

static void policy_define(struct cpufreq *c, const struct policy *p)
{
	char cpus[CPUS_TEXT], driver[32], governor[32];
	const char *strings[] = {
		policy_read_attr(c, p, "related_cpus", cpus, sizeof(cpus)),
		policy_read_attr(c, p, "scaling_driver", driver, sizeof(driver)),
		policy_read_attr(c, p, "scaling_governor", governor, sizeof(governor)),
	};
	const int64_t numbers[] = {
		p->number,
		u32_or_null(policy_read_u32(c, p, "cpuinfo_min_freq")),
		u32_or_null(policy_read_u32(c, p, "cpuinfo_max_freq")),
		/* CPUFREQ_ETERNAL is all ones, the same as our UNKNOWN_U32. */
		u32_or_null(policy_read_u32(c, p, "cpuinfo_transition_latency")),
	};

	context_define(c->context,
		       definition_new(DEFINE_POLICY, clock_now(), numbers, 4, strings, 3));
}

/* Voltage from the OPP table in debugfs, power from the energy model there. */
static void opp_define(struct cpufreq *c, const struct policy *p, uint32_t khz)
{
	const char *debugfs = c->context->root.debugfs;
	int64_t numbers[] = { p->number, khz, UNKNOWN_S64, UNKNOWN_S64 };
	const char *source = NULL;
	uint64_t v;

	if (!root_u64(&v, "%s/opp/cpu%u/opp:%llu/supply-0/u_volt_target", debugfs, p->number,
		      khz * 1000ull) ||
	    !root_u64(&v, "%s/opp/cpu%u/opp:%llu/u_volt_target", debugfs, p->number, khz * 1000ull))
		/* A table without voltages contains 0. */
		numbers[2] = v ? (int64_t)v : UNKNOWN_S64;
	if (!root_u64(&v, "%s/energy_model/cpu%u/ps:%u/power", debugfs, p->number, khz)) {
		char flags[32];

		/*
		 * Microwatts if bit 0 of flags says so (include/linux/energy_model.h,
		 * EM_PERF_DOMAIN_MICROWATTS); else an abstract scale, which is no power.
		 */
		root_read(flags, sizeof(flags), "%s/energy_model/cpu%u/flags", debugfs, p->number);
		if (strtoull(flags, NULL, 0) & 1) {
			numbers[3] = (int64_t)v;
			source = "energy_model";
		}
	}
	context_define(c->context, definition_new(DEFINE_OPP, clock_now(), numbers, 4, &source, 1));
}

static void policy_define_opps(struct cpufreq *c, const struct policy *p)
{
	char list[PAGE + 1], *save, *word;

	if (!policy_read_attr(c, p, "scaling_available_frequencies", list, sizeof(list)))
		return;
	for (word = strtok_r(list, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		uint64_t khz;

		if (text_u64(word, &khz) || !khz || khz >= UNKNOWN_U32)
			continue;
		privilege_raise();
		opp_define(c, p, (uint32_t)khz);
		privilege_lower();
	}
}

/*
 * The mean since the read before where the kernel measures it (cpuinfo_avg_freq, which has no value
 * for an idle CPU), else what the driver was asked for or measures.
 */
static uint32_t policy_read_khz(struct cpufreq *c, const struct policy *p)
{
	uint32_t khz = policy_read_u32(c, p, "cpuinfo_avg_freq");

	return khz != UNKNOWN_U32 && khz ? khz : policy_read_u32(c, p, "scaling_cur_freq");
}

/*
 * Whether the kernel's event reports the policy's changes. Drivers that set clocks past cpufreq's
 * core emit none (intel_pstate and amd-pstate in active mode, and what schedutil adjusts by
 * performance levels): a driver is taken to until an event of it was seen.
 */
static bool policy_is_traced(const struct cpufreq *c, const struct policy *p)
{
	for (unsigned int i = 0; c->context->traced && i < p->cpus; i++)
		if (c->context->traced_cpu[p->cpu[i]])
			return true;
	return false;
}

static void policy_note_silent(struct cpufreq *c, struct policy *p)
{
	char driver[32];

	if (p->silent || !c->context->traced)
		return;
	p->silent = true;
	context_note(c->context, LOG_INFO, "cpufreq",
		     "policy%u: %s emits no event as it changes the frequency: it is polled, every "
		     "%llu ms",
		     p->number,
		     policy_read_attr(c, p, "scaling_driver", driver, sizeof(driver)) ?
			     driver :
			     "its driver",
		     (unsigned long long)c->context->config.source[SOURCE_cpufreq].period_ms);
}

static void policy_sample_frequency(struct cpufreq *c, struct policy *p, enum record_how how)
{
	uint32_t khz = policy_read_khz(c, p);

	if (khz == UNKNOWN_U32 || khz == 0 || khz == p->cur_khz)
		return;
	if (how == HOW_POLL)
		policy_note_silent(c, p);
	p->cur_khz = khz;
	for (unsigned int i = 0; i < p->cpus; i++) {
		const struct record r = {
			.t = c->now,
			.type = RECORD_TRANSITION,
			.transition = { .cpu = p->cpu[i], .khz = khz, .how = how },
		};

		context_record(c->context, &r);
	}
}

static void policy_sample_state(struct cpufreq *c, struct policy *p)
{
	struct record r = { .t = c->now, .type = RECORD_POLICY_STATE };
	char governor[32];

	r.policy_state.policy = p->number;
	r.policy_state.min_khz = policy_read_u32(c, p, "scaling_min_freq");
	r.policy_state.max_khz = policy_read_u32(c, p, "scaling_max_freq");
	if (policy_read_attr(c, p, "scaling_governor", governor, sizeof(governor)))
		snprintf(r.policy_state.governor, sizeof(r.policy_state.governor), "%.15s",
			 governor);
	if (!memcmp(&r.policy_state, &p->state, sizeof(p->state)))
		return;
	p->state = r.policy_state;
	context_record(c->context, &r);
}

/* "none" where the module is not loaded, NULL in the recording where that is not known. */
static void policy_sample_actuator(struct cpufreq *c, struct policy *p)
{
	const int64_t numbers[] = { p->number, UNKNOWN_S64 };
	char actuator[16] = "?";
	const char *string = actuator;
	int n = root_read(actuator, sizeof(actuator), "%s/class/misc/gchint/actuator/policy%u",
			  c->context->root.sysfs, p->number);

	if (n == -ENOENT || n == -ENODEV)
		strcpy(actuator, "none");
	else if (n <= 0)
		strcpy(actuator, "?");
	if (!strcmp(actuator, p->actuator))
		return;
	strcpy(p->actuator, actuator);
	if (*actuator == '?')
		string = NULL;
	context_define(c->context, definition_new(DEFINE_ACTUATOR, c->now, numbers, 2, &string, 1));
}

static void cpufreq_on_state(void *data, uint64_t khz, uint64_t ticks)
{
	struct cpufreq *c = data;
	struct policy *p = c->walking;
	unsigned int row = c->row++;
	const struct record r = {
		.t = c->now,
		.type = RECORD_RESIDENCY,
		/* time_in_state counts in USER_HZ, which is 100 on every Linux. */
		.residency = { .total_ns = ticks * 10 * NSEC_PER_MSEC,
			       .policy = p->number,
			       .khz = (uint32_t)khz },
	};

	if (row >= STATES)
		return;
	if (row < p->states && p->state_khz[row] == khz && p->state_ticks[row] == ticks)
		return;
	p->state_khz[row] = (uint32_t)khz;
	p->state_ticks[row] = ticks;
	if (row >= p->states)
		p->states = row + 1;
	context_record(c->context, &r);
}

static void policy_sample_residency(struct cpufreq *c, struct policy *p)
{
	char text[PAGE + 1];

	if (!policy_read_attr(c, p, "stats/time_in_state", text, sizeof(text)))
		return;
	c->walking = p;
	c->row = 0;
	text_pairs(text, cpufreq_on_state, c);
}

static void policy_free(struct policy *p)
{
	free(p->cpu);
	free(p);
}

/* related_cpus is "0 1 2 3": a list with blanks. */
static bool policy_read_cpus(struct cpufreq *c, struct policy *p)
{
	char cpus[CPUS_TEXT];
	uint8_t set[CPUS_MAX];
	int nr;

	if (!policy_read_attr(c, p, "related_cpus", cpus, sizeof(cpus)))
		return false;
	for (char *s = cpus; *s; s++)
		if (*s == ' ')
			*s = ',';
	nr = text_cpulist(cpus, set, sizeof(set));
	if (nr <= 0)
		return true;
	p->cpu = malloc((size_t)nr * sizeof(*p->cpu));
	for (uint32_t cpu = 0; p->cpu && cpu < CPUS_MAX; cpu++)
		if (set[cpu])
			p->cpu[p->cpus++] = cpu;
	return p->cpu;
}

static int cpufreq_on_policy(void *data, const char *entry)
{
	struct cpufreq *c = data;
	struct policy *p, **more;
	uint64_t number;

	if (text_u64(entry + strlen("policy"), &number) || number >= CPUS_MAX)
		return 0;
	for (unsigned int i = 0; i < c->nr; i++)
		if (c->policy[i]->number == number)
			return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return 0;
	p->number = (uint32_t)number;
	if (!policy_read_cpus(c, p)) {
		policy_free(p);
		return 0;
	}
	more = realloc(c->policy, (c->nr + 1) * sizeof(*more));
	if (!more) {
		policy_free(p);
		return 0;
	}
	c->policy = more;
	c->policy[c->nr++] = p;
	policy_define(c, p);
	policy_define_opps(c, p);
	policy_sample_state(c, p);
	policy_sample_actuator(c, p);
	policy_sample_residency(c, p);
	policy_sample_frequency(c, p, HOW_START);
	return 0;
}

static void cpufreq_scan(struct cpufreq *c)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/devices/system/cpu/cpufreq", c->context->root.sysfs);
	root_list(dir, "policy", cpufreq_on_policy, c);
}

static void cpufreq_on_timer(void *data, uint32_t events)
{
	struct cpufreq *c = data;

	(void)events;
	c->now = clock_now();
	/* A driver may be loaded, or a CPU come online, at any time. */
	cpufreq_scan(c);
	for (unsigned int i = 0; i < c->nr; i++) {
		policy_sample_state(c, c->policy[i]);
		policy_sample_actuator(c, c->policy[i]);
		policy_sample_residency(c, c->policy[i]);
		if (!policy_is_traced(c, c->policy[i]))
			policy_sample_frequency(c, c->policy[i], HOW_POLL);
	}
}

static int cpufreq_probe(const struct source_context *context, struct probe *p)
{
	char path[300], driver[32];

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpufreq/policy0", context->root.sysfs);
	if (root_read(driver, sizeof(driver), "%s/scaling_driver", path) < 0)
		return probe_absent(p, -ENODEV, "load the board's cpufreq driver",
				    "no cpufreq policy: frequency is unknown");
	return probe_found(p, "driver %s", driver);
}

static void cpufreq_stop(void *state)
{
	struct cpufreq *c = state;

	cpufreq_on_timer(c, 0);
	watch_free(c->timer);
	for (unsigned int i = 0; i < c->nr; i++)
		policy_free(c->policy[i]);
	free(c->policy);
	free(c);
}

static int cpufreq_start(struct source_context *context, void **state)
{
	struct cpufreq *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->context = context;
	c->now = clock_now();
	c->timer = loop_timer(context->loop,
			      context->config.source[SOURCE_cpufreq].period_ms * NSEC_PER_MSEC,
			      cpufreq_on_timer, c);
	if (!c->timer) {
		free(c);
		return -ENOMEM;
	}
	cpufreq_scan(c);
	context_clock(context, "cpufreq", "CLOCK_MONOTONIC", 0,
		      context->config.source[SOURCE_cpufreq].period_ms * NSEC_PER_MSEC,
		      "polled: a change is seen up to a period late; time_in_state counts 10 ms");
	*state = c;
	return 0;
}

const struct source source_cpufreq = { cpufreq_probe, cpufreq_start, cpufreq_stop };
