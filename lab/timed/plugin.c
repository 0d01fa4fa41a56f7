// SPDX-License-Identifier: MIT
/*
 * Start and end of the timed board inside QEMU. This object is both the plugin
 * and the library to preload into QEMU:
 *
 *	LD_PRELOAD=timed.so qemu-system-arm -M vexpress-a15 \
 *		-plugin timed.so,board=FILE,trace=FILE,report=FILE ...
 *
 *	quantum=US	how far a core may run ahead of another (default 20)
 *	armed=on	model the caches from the start, not from the guest's mark
 */
#include "timed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "libc.h"
#include "shim.h"
#include "insns.h"

__attribute__((visibility("default"))) int qemu_plugin_version = TIMED_PLUGIN_API;

static const char *report_path;
static struct timespec host_start;

static void on_init(qemu_plugin_id_t id, unsigned int cpu)
{
	(void)id;
	if (cpu >= timed.board.cores) {
		fprintf(stderr, "timed: the board has %u cores: give QEMU -smp %u\n",
			timed.board.cores, timed.board.cores);
		exit(1);
	}
	clock_join(cpu);
}

static void on_idle(qemu_plugin_id_t id, unsigned int cpu)
{
	struct timed_core *c = &timed.core[cpu];

	(void)id;
	c->idle = true;
	insns_now(c);
	idle_enter(c);
	trace_put(c, TRACE_IDLE, c->state, (uint64_t)c->ns);
}

static void on_resume(qemu_plugin_id_t id, unsigned int cpu)
{
	struct timed_core *c = &timed.core[cpu];
	unsigned int state = c->state;

	(void)id;
	c->idle = false;
	domain_refresh(c);
	idle_leave(c);
	/* If that takes time, core_wake() says when the core is busy. */
	trace_put(c, c->waking_ns > 0 ? TRACE_LEAVE : TRACE_BUSY, state, (uint64_t)c->ns);
}

static void report_print(FILE *to)
{
	struct clock_report k;
	struct timespec now;
	uint64_t insns = 0;
	double host;
	unsigned int i;

	clock_report(&k);
	real_clock_gettime(CLOCK_MONOTONIC, &now);
	host = (double)(now.tv_sec - host_start.tv_sec) +
	       (double)(now.tv_nsec - host_start.tv_nsec) / 1e9;
	for (i = 0; i < timed.board.cores; i++) {
		const struct timed_count *n = &timed.core[i].count;

		insns += n->insns;
		fprintf(to,
			"core %u insns %llu accesses %llu l1_miss %llu l2_miss %llu "
			"stream %llu writeback %llu io %llu snoop %llu tlb %llu walk %llu "
			"wakes %llu stall_ms %.3f\n",
			i, (unsigned long long)n->insns, (unsigned long long)n->accesses,
			(unsigned long long)n->l1_miss, (unsigned long long)n->l2_miss,
			(unsigned long long)n->stream, (unsigned long long)n->writeback,
			(unsigned long long)n->io, (unsigned long long)n->snoop,
			(unsigned long long)n->tlb_miss, (unsigned long long)n->walk,
			(unsigned long long)n->wakes, n->stall_ns / 1e6);
	}
	fprintf(to, "pace quanta %llu late %llu timers %llu worst_us %.1f stray %llu\n",
		(unsigned long long)k.quanta, (unsigned long long)k.late,
		(unsigned long long)k.timers, (double)k.worst_ns / 1e3,
		(unsigned long long)k.stray);
	fprintf(to, "time modelled_s %.3f host_s %.3f mips %.1f\n", (double)k.now_ns / 1e9, host,
		(double)insns / 1e6 / host);
}

static void report_on_exit(qemu_plugin_id_t id, void *data)
{
	FILE *to = report_path ? fopen(report_path, "we") : stderr;

	(void)id;
	(void)data;
	if (trace_close())
		perror("timed: the log");
	if (!to) {
		perror(report_path);
		return;
	}
	report_print(to);
	if (to != stderr)
		fclose(to);
}

static int board_load(const char *path)
{
	char why[128];
	FILE *in = fopen(path, "re");
	int r;

	if (!in) {
		perror(path);
		return -1;
	}
	r = board_read(&timed.board, in, why, sizeof(why));
	fclose(in);
	if (r)
		fprintf(stderr, "timed: %s: %s\n", path, why);
	return r;
}

static int option_parse(const char *word)
{
	const char *value = strchr(word, '=');
	size_t n = value ? (size_t)(value++ - word) : strlen(word);

	if (value && n == 5 && !strncmp(word, "board", n))
		return board_load(value);
	if (value && n == 5 && !strncmp(word, "trace", n)) {
		if (!trace_open(value))
			return 0;
		perror(value);
		return -1;
	}
	if (value && n == 6 && !strncmp(word, "report", n)) {
		report_path = strdup(value);
		return report_path ? 0 : -1;
	}
	if (value && n == 7 && !strncmp(word, "quantum", n)) {
		timed.quantum_ns = strtoul(value, NULL, 10) * 1000;
		if (timed.quantum_ns >= 1000 && timed.quantum_ns <= 1000000)
			return 0;
		fprintf(stderr, "timed: quantum=US must be 1..1000\n");
		return -1;
	}
	if (value && n == 5 && !strncmp(word, "armed", n)) {
		timed.armed = !strcmp(value, "on");
		return 0;
	}
	fprintf(stderr, "timed: unknown option '%s'\n", word);
	return -1;
}

__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	int i;

	(void)info;
	timed.quantum_ns = 20000;
	for (i = 0; i < argc; i++)
		if (option_parse(argv[i]))
			return 1;
	if (!timed.board.cores) {
		fprintf(stderr, "timed: which board? give board=FILE\n");
		return 1;
	}
	domain_init();
	for (i = 0; i < (int)timed.board.cores; i++)
		pthread_cond_init(&timed.core[i].may_run, NULL);
	if (cache_init() || snoop_init() || tlb_init() || insns_init()) {
		fprintf(stderr, "timed: no memory\n");
		return 1;
	}
	charge_init(id);
	real_clock_gettime(CLOCK_MONOTONIC, &host_start);
	qemu_plugin_register_vcpu_init_cb(id, on_init);
	qemu_plugin_register_vcpu_idle_cb(id, on_idle);
	qemu_plugin_register_vcpu_resume_cb(id, on_resume);
	qemu_plugin_register_atexit_cb(id, report_on_exit, NULL);
	timed.on = true;
	shim_start();
	return 0;
}
