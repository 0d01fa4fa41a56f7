// SPDX-License-Identifier: GPL-2.0-or-later
/* What a process spends in each phase, as the module counts it for its owner. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <uapi/linux/gchint.h>

#include "../common/names.h"
#include "../common/text.h"
#include "ctl.h"
#include "kernel.h"

static const char usage[] =
	"usage: gchintctl spent [--for SECONDS | --end] PID\n"
	"Time on a CPU and energy of a process of yours in each phase, as the module counts\n"
	"them, with any way for hints to act or none. Counting begins when you first ask, and\n"
	"ends with the process.\n"
	"\n"
	"  -e, --end          end it, and forget\n"
	"  -f, --for SECONDS  wait for so long between beginning and telling; then end what this\n"
	"                     began\n";

struct answer {
	struct message_spent spent;
	struct message_spent_phase phase[GCHINT_PHASE_NR];
};

static void on_spent(void *data, const struct message_spent *spent)
{
	struct answer *a = data;

	a->spent = *spent;
}

static void on_phase(void *data, const struct message_spent_phase *phase)
{
	struct answer *a = data;

	if (phase->phase < GCHINT_PHASE_NR)
		a->phase[phase->phase] = *phase;
}

static int get(uint32_t pid, struct answer *a)
{
	static const struct message_ops ops = { .spent = on_spent, .spent_phase = on_phase };
	const struct kernel_attr attr = { GCHINT_A_PID, pid };

	memset(a, 0, sizeof(*a));
	return kernel_call(GCHINT_CMD_SPENT_GET, &attr, 1, &ops, a);
}

static int count(uint32_t pid, bool on)
{
	static const struct message_ops ops = { 0 };
	const struct kernel_attr attrs[] = { { GCHINT_A_PID, pid }, { GCHINT_A_COUNT, on } };

	return kernel_call(GCHINT_CMD_SPENT_SET, attrs, 2, &ops, NULL);
}

static int refused(uint32_t pid, int ret)
{
	switch (ret) {
	case -ENOENT:
		ctl_error("spent: gchint is not loaded");
		break;
	case -EOPNOTSUPP:
		ctl_error("spent: the module that is loaded is older, and does not count this");
		break;
	case -ESRCH:
		ctl_error("spent: process %" PRIu32 " has no session open: it gives no hints to "
			  "the module",
			  pid);
		break;
	case -EPERM:
		ctl_error("spent: process %" PRIu32 " is not yours: that takes CAP_NET_ADMIN", pid);
		break;
	default:
		ctl_error("spent: the module does not answer: %s", strerror(-ret));
	}
	return CTL_FAILED;
}

static void show(uint32_t pid, const struct answer *a)
{
	uint64_t sum = 0;

	printf("process %" PRIu32 ", counted for %.3f s\n", pid,
	       (double)(a->spent.time - a->spent.since) / 1e9);
	printf("%-10s %14s %16s\n", "phase", "on a CPU, s", "modelled, J");
	for (uint32_t i = 0; i < GCHINT_PHASE_NR; i++) {
		const struct message_spent_phase *p = &a->phase[i];

		if (!p->has)
			continue;
		sum += p->ns;
		printf("%-10s %14.6f", name_phase(i), (double)p->ns / 1e9);
		if (!(p->has & HAS(GCHINT_SPENT_PHASE_A_ENERGY)))
			printf(" %16s", "?");
		else
			printf(" %16.6f", (double)p->energy / 1e9);
		/* Of CPUs with an energy model only. */
		if (p->has & HAS(GCHINT_SPENT_PHASE_A_ENERGY) && p->energy_ns < p->ns)
			printf("  of %.6f s", (double)p->energy_ns / 1e9);
		putchar('\n');
	}
	if (a->spent.unsure)
		printf("In %.1f %% of that time a phase began or ended unheard: half of it was "
		       "given to "
		       "either side.\n",
		       100 * (double)a->spent.unsure / (double)sum);
}

static int count_for(uint32_t pid, uint64_t ns, bool began, struct answer *a)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	int ret;

	while (nanosleep(&t, &t) && errno == EINTR)
		;
	ret = get(pid, a);
	if (began)
		count(pid, false);
	return ret;
}

int cmd_spent(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "end", no_argument, NULL, 'e' },
		{ "for", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool end = false, began = false;
	struct answer answer;
	int64_t wait = 0;
	uint64_t pid;
	int opt, ret;

	(void)ctl;
	while ((opt = getopt_long(argc, argv, "ef:h", longs, NULL)) >= 0) {
		switch (opt) {
		case 'e':
			end = true;
			break;
		case 'f':
			if (text_fixed(optarg, 9, &wait) || wait <= 0) {
				ctl_error("spent: --for %s: seconds are wanted", optarg);
				return CTL_USAGE;
			}
			break;
		case 'h':
			fputs(usage, stdout);
			return CTL_OK;
		default:
			return ctl_usage("spent");
		}
	}
	if (optind + 1 != argc || (end && wait)) {
		ctl_error("spent: one process; --help tells more");
		return CTL_USAGE;
	}
	if (text_u64(argv[optind], &pid) || !pid || pid > INT32_MAX) {
		ctl_error("spent: %s is no process", argv[optind]);
		return CTL_USAGE;
	}
	if (end) {
		ret = count((uint32_t)pid, false);
		return ret ? refused((uint32_t)pid, ret) : CTL_OK;
	}
	ret = get((uint32_t)pid, &answer);
	if (ret == -ENODATA) {
		began = true;
		ret = count((uint32_t)pid, true);
	}
	if (!ret && wait)
		ret = count_for((uint32_t)pid, (uint64_t)wait, began, &answer);
	if (ret)
		return refused((uint32_t)pid, ret);
	if (began && !wait)
		printf("process %" PRIu64 " is counted from now on: ask again\n", pid);
	else
		show((uint32_t)pid, &answer);
	return CTL_OK;
}
