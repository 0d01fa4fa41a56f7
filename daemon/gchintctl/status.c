// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <uapi/linux/gchint.h>

#include "../common/escape.h"
#include "../common/names.h"
#include "../gchintd/sources/source.h"
#include "ctl.h"
#include "kernel.h"

static const char usage[] =
	"usage: gchintctl [--json] status\n"
	"Prints the board, the module, each frequency policy with its governor, the sessions\n"
	"that give hints now, and each source of the recording: what it finds, or what is\n"
	"missing and how to mend it.\n"
	"\n"
	"Sessions are told to root (CAP_NET_ADMIN) only.\n";

#define SESSIONS 256

struct status {
	struct host host;
	bool json;
	struct message_info info;
	struct message_policy policy[GCHINT_INFO_POLICIES];
	unsigned int policies;
	struct message_session session[SESSIONS];
	unsigned int slots[SESSIONS], sessions;
	unsigned int more; /* sessions beyond */
	int module, may_sessions; /* 0 or -errno */
	bool first; /* of a JSON list */
};

static void on_info(void *data, const struct message_info *info)
{
	((struct status *)data)->info = *info;
}

static void on_policy(void *data, const struct message_policy *p)
{
	struct status *s = data;

	if (s->policies < GCHINT_INFO_POLICIES)
		s->policy[s->policies++] = *p;
}

static void on_session(void *data, const struct message_session *session)
{
	struct status *s = data;

	if (s->sessions < SESSIONS)
		s->session[s->sessions++] = *session;
	else
		s->more++;
}

static void on_slot(void *data, const struct message_slot *slot)
{
	struct status *s = data;

	(void)slot;
	if (s->sessions && !s->more)
		s->slots[s->sessions - 1]++;
}

static void ask(struct status *s)
{
	static const struct message_ops ops = {
		.info = on_info,
		.policy = on_policy,
		.session = on_session,
		.slot = on_slot,
	};

	s->module = kernel_ask(GCHINT_CMD_INFO_GET, &ops, s);
	if (s->module)
		return;
	kernel_ask(GCHINT_CMD_POLICY_GET, &ops, s);
	s->may_sessions = kernel_ask(GCHINT_CMD_SESSION_GET, &ops, s);
}

static const struct message_policy *told(const struct status *s, uint64_t cpu)
{
	for (unsigned int i = 0; i < s->policies; i++)
		if (s->policy[i].cpu == cpu)
			return &s->policy[i];
	return NULL;
}

/* A text field of a policy, quoted for JSON; unknown is null or "?". */
static void field(const struct status *s, const char *entry, const char *file, const char *key)
{
	char text[256];
	bool known = root_read(text, sizeof(text), "%s/devices/system/cpu/cpufreq/%s/%s",
			       s->host.root.sysfs, entry, file) > 0;

	if (!s->json) {
		printf("  %s %s", key, known ? text : "?");
		return;
	}
	printf(",\"%s\":", key);
	if (!known) {
		fputs("null", stdout);
		return;
	}
	fputc('"', stdout);
	escape_json(stdout, text);
	fputc('"', stdout);
}

static void frequency(const struct status *s, const char *entry, const char *file, const char *key)
{
	uint64_t khz;
	bool known = !root_u64(&khz, "%s/devices/system/cpu/cpufreq/%s/%s", s->host.root.sysfs,
			       entry, file) &&
		     khz;

	if (s->json && known)
		printf(",\"%s_khz\":%llu", key, (unsigned long long)khz);
	else if (s->json)
		printf(",\"%s_khz\":null", key);
	else if (known)
		printf("  %s %.1f MHz", key, (double)khz / 1000);
	else
		printf("  %s ?", key);
}

static int show_policy(void *data, const char *entry)
{
	struct status *s = data;
	const struct message_policy *p = told(s, strtoull(entry + strlen("policy"), NULL, 10));

	if (s->json)
		printf("%s{\"policy\":\"%s\"", s->first ? "" : ",", entry);
	else
		printf("%-10s", entry);
	s->first = false;
	field(s, entry, "related_cpus", s->json ? "cpus" : "CPUs");
	field(s, entry, "scaling_governor", "governor");
	field(s, entry, "scaling_driver", "driver");
	if (!s->json)
		printf("\n          ");
	frequency(s, entry, "scaling_cur_freq", "now");
	frequency(s, entry, "scaling_min_freq", "min");
	frequency(s, entry, "scaling_max_freq", "max");
	if (p && !(p->has & HAS(GCHINT_POLICY_A_MODE)))
		p = NULL; /* it is not ours: mode 0 would be one of ours */
	if (p && s->json)
		printf(",\"mode\":\"%s\",\"reason\":\"%s\",\"fast\":%s,\"transitions\":%llu",
		       name_mode(p->mode), name_reason(p->reason), p->fast ? "true" : "false",
		       (unsigned long long)p->transitions);
	else if (p)
		printf("\n            gchint: mode %s, last reason %s, %llu requests, %s switch",
		       name_mode(p->mode), name_reason(p->reason),
		       (unsigned long long)p->transitions, p->fast ? "fast" : "slow");
	fputs(s->json ? "}" : "\n", stdout);
	return 0;
}

static void board(const struct status *s)
{
	char model[256] = "";
	struct utsname u;

	if (root_read(model, sizeof(model), "%s/firmware/devicetree/base/model",
		      s->host.root.sysfs) <= 0)
		root_read(model, sizeof(model), "%s/class/dmi/id/product_name", s->host.root.sysfs);
	uname(&u);
	if (s->json) {
		fputs("{\"board\":", stdout);
		if (*model) {
			fputc('"', stdout);
			escape_json(stdout, model);
			fputc('"', stdout);
		} else {
			fputs("null", stdout);
		}
		printf(",\"machine\":\"%s\",\"kernel\":\"%s\"", u.machine, u.release);
	} else {
		printf("board     %s (%s), Linux %s\n", *model ? model : "model not known",
		       u.machine, u.release);
	}
}

static void module(const struct status *s)
{
	bool loaded = !s->module;

	if (s->json) {
		printf(",\"module\":{\"loaded\":%s", loaded ? "true" : "false");
		if (loaded)
			printf(",\"abi\":%u,\"sessions\":%u,\"slots\":%u,\"recorders\":%u,\"lost\":"
			       "%llu",
			       s->info.abi, s->info.sessions, s->info.slots, s->info.recorders,
			       (unsigned long long)s->info.lost);
		fputc('}', stdout);
		return;
	}
	if (loaded)
		printf("module    loaded, ABI %u, %u sessions, %u slots, %u recorders, %llu events "
		       "lost\n",
		       s->info.abi, s->info.sessions, s->info.slots, s->info.recorders,
		       (unsigned long long)s->info.lost);
	else if (s->module == -ENOENT)
		puts("module    not loaded: modprobe cpufreq_gchint");
	else
		printf("module    cannot be asked: %s\n", strerror(-s->module));
}

static void policies(struct status *s)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/devices/system/cpu/cpufreq", s->host.root.sysfs);
	s->first = true;
	if (s->json)
		fputs(",\"policies\":[", stdout);
	root_list(dir, "policy", show_policy, s);
	if (s->json)
		fputs("]", stdout);
	else if (s->first)
		puts("policies  none: load the board's cpufreq driver");
}

static void sessions(const struct status *s)
{
	if (s->json)
		fputs(",\"sessions\":[", stdout);
	else if (!s->module && s->may_sessions)
		printf("sessions  %s\n", s->may_sessions == -EPERM ? "told to root only" :
								     strerror(-s->may_sessions));
	for (unsigned int i = 0; i < s->sessions; i++) {
		const struct message_session *m = &s->session[i];
		char comm[64];

		if (root_read(comm, sizeof(comm), "%s/%d/comm", s->host.root.procfs, m->tgid) <= 0)
			snprintf(comm, sizeof(comm), "?");
		if (s->json) {
			printf("%s{\"session\":%llu,\"pid\":%d,\"uid\":%u,\"slots\":%u,"
			       "\"may_raise\":%s,\"comm\":\"",
			       i ? "," : "", (unsigned long long)m->id, m->tgid, m->uid,
			       s->slots[i], m->granted & GCHINT_GRANT_RAISE ? "true" : "false");
			escape_json(stdout, comm);
			fputs("\"}", stdout);
		} else {
			printf("session   %llu: %s (pid %d, uid %u), %u slots%s\n",
			       (unsigned long long)m->id, comm, m->tgid, m->uid, s->slots[i],
			       m->granted & GCHINT_GRANT_RAISE ? ", may raise" : "");
		}
	}
	if (s->json)
		printf("],\"sessions_not_shown\":%u", s->more);
	else if (s->more)
		printf("sessions  and %u more\n", s->more);
}

static void sources(const struct status *s)
{
	fputs(s->json ? ",\"sources\":[" : "sources\n", stdout);
	for (int i = 0; i < SOURCE_NR; i++) {
		struct probe p = { 0 };
		int ret = source_table[i]->probe(&s->host, &p);
		const char *name = config_source_name((enum source_id)i);

		if (!s->json) {
			printf("  %-10s %s %s\n", name, ret ? "-" : "+", p.what);
			if (*p.mend)
				printf("             mend: %s\n", p.mend);
			continue;
		}
		printf("%s{\"source\":\"%s\",\"present\":%s,\"what\":\"", i ? "," : "", name,
		       ret ? "false" : "true");
		escape_json(stdout, p.what);
		fputs("\",\"mend\":", stdout);
		if (*p.mend) {
			fputc('"', stdout);
			escape_json(stdout, p.mend);
			fputs("\"}", stdout);
		} else {
			fputs("null}", stdout);
		}
	}
	if (s->json)
		fputs("]}\n", stdout);
}

int cmd_status(const struct ctl *ctl, int argc, char **argv)
{
	struct status *s;

	if (argc > 1) {
		if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
			fputs(usage, stdout);
			return CTL_OK;
		}
		ctl_error("status: '%s': no arguments are taken; --help tells more", argv[1]);
		return CTL_USAGE;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return CTL_FAILED;
	s->json = ctl->json;
	root_init(&s->host.root);
	config_defaults(&s->host.config);
	ask(s);
	board(s);
	module(s);
	policies(s);
	sessions(s);
	sources(s);
	free(s);
	return CTL_OK;
}
