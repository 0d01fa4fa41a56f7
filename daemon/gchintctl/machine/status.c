// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <uapi/linux/gchint.h>

#include "../../common/json.h"
#include "../../common/names.h"
#include "../../source/source.h"
#include "../ctl.h"
#include "actuators.h"
#include "kernel.h"

static const char usage[] =
	"usage: gchintctl [--json] status\n"
	"Prints the board, the module, each frequency policy with its governor, the sessions\n"
	"that give hints now, and the sources of a recording: first those that work, then\n"
	"those that are missing, and how to fix them.\n"
	"\n"
	"Only root (CAP_NET_ADMIN) sees the sessions.\n";

#define SESSIONS 256

struct status {
	struct source_context context;
	bool as_json;
	struct json json;
	struct message_info info;
	struct kernel_policies kernel;
	struct message_session session[SESSIONS];
	unsigned int slots[SESSIONS], sessions;
	unsigned int more; /* sessions that did not fit in @session */
	int module, may_sessions; /* 0 or -errno */
	int found[SOURCE_NR]; /* 0 or -errno of the source's probe */
	struct probe probe[SOURCE_NR];
	bool any; /* a policy was printed */
};

static void on_info(void *data, const struct message_info *info)
{
	((struct status *)data)->info = *info;
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

static void status_query_module(struct status *s)
{
	static const struct message_ops ops = {
		.info = on_info,
		.session = on_session,
		.slot = on_slot,
	};

	s->module = kernel_ask(GCHINT_CMD_INFO_GET, &ops, s);
	if (s->module)
		return;
	kernel_policies(&s->kernel);
	s->may_sessions = kernel_ask(GCHINT_CMD_SESSION_GET, &ops, s);
}

/* Prints null or "?" for a file that cannot be read. */
static void status_print_text(struct status *s, const char *entry, const char *file,
			      const char *key)
{
	char text[256];
	bool known = root_read(text, sizeof(text), "%s/devices/system/cpu/cpufreq/%s/%s",
			       s->context.root.sysfs, entry, file) > 0;

	if (s->as_json)
		json_text(&s->json, key, known ? text : NULL);
	else
		printf("  %s %s", key, known ? text : "?");
}

static void status_print_khz(struct status *s, const char *entry, const char *file, const char *key)
{
	char name[32];
	uint64_t khz;
	bool known = !root_u64(&khz, "%s/devices/system/cpu/cpufreq/%s/%s", s->context.root.sysfs,
			       entry, file) &&
		     khz;

	snprintf(name, sizeof(name), "%s_khz", key);
	if (s->as_json && known)
		json_uint(&s->json, name, khz);
	else if (s->as_json)
		json_null(&s->json, name);
	else if (known)
		printf("  %s %.1f MHz", key, (double)khz / 1000);
	else
		printf("  %s ?", key);
}

static int status_print_policy(void *data, const char *entry)
{
	struct status *s = data;
	const struct message_policy *p =
		kernel_policy(&s->kernel, strtoull(entry + strlen("policy"), NULL, 10));

	char actuator[32] = "";
	bool known;

	if (s->as_json) {
		json_object(&s->json, NULL);
		json_text(&s->json, "policy", entry);
	} else {
		printf("%-10s", entry);
	}
	s->any = true;
	status_print_text(s, entry, "related_cpus", s->as_json ? "cpus" : "CPUs");
	status_print_text(s, entry, "scaling_governor", "governor");
	status_print_text(s, entry, "scaling_driver", "driver");
	if (!s->as_json)
		printf("\n          ");
	status_print_khz(s, entry, "scaling_cur_freq", "now");
	status_print_khz(s, entry, "scaling_min_freq", "min");
	status_print_khz(s, entry, "scaling_max_freq", "max");
	if (p && !(p->has & HAS(GCHINT_POLICY_A_MODE)))
		p = NULL; /* gchint does not act here; mode 0 would be a valid mode */
	known = !actuator_in_force(actuator, sizeof(actuator), &s->context.root, entry);
	if (s->as_json) {
		json_text(&s->json, "actuator", known ? actuator : NULL);
		if (p) {
			json_text(&s->json, "mode", name_mode(p->mode));
			json_text(&s->json, "reason", name_reason(p->reason));
			json_bool(&s->json, "fast", p->fast);
			json_uint(&s->json, "transitions", p->transitions);
		}
		json_end(&s->json);
		return 0;
	}
	if (p && p->has & HAS(GCHINT_POLICY_A_ACTUATOR) && p->actuator != GCHINT_ACTUATOR_GOVERNOR)
		printf("\n            gchint: by %s, mode %s, last reason %s, %llu requests",
		       known ? actuator : "?", name_mode(p->mode), name_reason(p->reason),
		       (unsigned long long)p->transitions);
	else if (p)
		printf("\n            gchint: mode %s, last reason %s, %llu requests, %s switch",
		       name_mode(p->mode), name_reason(p->reason),
		       (unsigned long long)p->transitions, p->fast ? "fast" : "slow");
	putchar('\n');
	return 0;
}

static void status_print_board(struct status *s)
{
	char model[256] = "";
	struct utsname u;

	if (root_read(model, sizeof(model), "%s/firmware/devicetree/base/model",
		      s->context.root.sysfs) <= 0)
		root_read(model, sizeof(model), "%s/class/dmi/id/product_name",
			  s->context.root.sysfs);
	uname(&u);
	if (s->as_json) {
		json_text(&s->json, "board", *model ? model : NULL);
		json_text(&s->json, "machine", u.machine);
		json_text(&s->json, "kernel", u.release);
	} else {
		printf("board     %s (%s), Linux %s\n", *model ? model : "model not known",
		       u.machine, u.release);
	}
}

static void status_print_module(struct status *s)
{
	bool loaded = !s->module;

	if (s->as_json) {
		json_object(&s->json, "module");
		json_bool(&s->json, "loaded", loaded);
		if (loaded) {
			json_uint(&s->json, "abi", s->info.abi);
			json_uint(&s->json, "sessions", s->info.sessions);
			json_uint(&s->json, "slots", s->info.slots);
			json_uint(&s->json, "recorders", s->info.recorders);
			json_uint(&s->json, "lost", s->info.lost);
		}
		json_end(&s->json);
		return;
	}
	if (loaded)
		printf("module    loaded, ABI %u, %u sessions, %u slots, %u recorders, %llu events "
		       "lost\n",
		       s->info.abi, s->info.sessions, s->info.slots, s->info.recorders,
		       (unsigned long long)s->info.lost);
	else if (s->module == -ENOENT)
		puts("module    not loaded: hints change no frequency; recording works without it");
	else
		printf("module    cannot be queried: %s\n", strerror(-s->module));
}

static void status_print_policies(struct status *s)
{
	struct actuators machine;
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/devices/system/cpu/cpufreq", s->context.root.sysfs);
	if (s->as_json)
		json_list(&s->json, "policies");
	root_list(dir, "policy", status_print_policy, s);
	if (s->as_json)
		json_end(&s->json);
	else if (!s->any)
		puts("policies  none: hints are recorded and have no other effect; load the "
		     "board's cpufreq driver, if it has one");
	actuators_read(&machine, &s->context.root);
	if (s->as_json)
		placement_json(&machine, &s->json);
	else
		placement_print(&machine);
}

static void status_print_sessions(struct status *s)
{
	if (s->as_json)
		json_list(&s->json, "sessions");
	else if (!s->module && s->may_sessions)
		printf("sessions  %s\n", s->may_sessions == -EPERM ? "shown to root only" :
								     strerror(-s->may_sessions));
	for (unsigned int i = 0; i < s->sessions; i++) {
		const struct message_session *m = &s->session[i];
		char comm[64];

		if (root_read(comm, sizeof(comm), "%s/%d/comm", s->context.root.procfs, m->tgid) <=
		    0)
			snprintf(comm, sizeof(comm), "?");
		if (s->as_json) {
			json_object(&s->json, NULL);
			json_uint(&s->json, "session", m->id);
			json_int(&s->json, "pid", m->tgid);
			json_uint(&s->json, "uid", m->uid);
			json_uint(&s->json, "slots", s->slots[i]);
			json_bool(&s->json, "may_raise", m->granted & GCHINT_GRANT_RAISE);
			json_text(&s->json, "comm", comm);
			json_end(&s->json);
		} else {
			printf("session   %llu: %s (pid %d, uid %u), %u slots%s\n",
			       (unsigned long long)m->id, comm, m->tgid, m->uid, s->slots[i],
			       m->granted & GCHINT_GRANT_RAISE ? ", may raise" : "");
		}
	}
	if (s->as_json) {
		json_end(&s->json);
		json_uint(&s->json, "sessions_not_shown", s->more);
	} else if (s->more) {
		printf("sessions  and %u more\n", s->more);
	}
}

/* What works first, then what is missing and how to fix it. */
static void status_print_found(const struct status *s, bool found)
{
	bool any = false;

	for (int i = 0; i < SOURCE_NR; i++) {
		if (!s->found[i] != found)
			continue;
		if (!any)
			puts(found ? "sources" : "missing");
		any = true;
		printf("  %-10s %s %s\n", config_source_name((enum source_id)i), found ? "+" : "-",
		       s->probe[i].what);
		if (*s->probe[i].remedy)
			printf("             fix: %s\n", s->probe[i].remedy);
	}
}

static void status_print_sources(struct status *s)
{
	for (int i = 0; i < SOURCE_NR; i++)
		s->found[i] = source_table[i]->probe(&s->context, &s->probe[i]);
	if (!s->as_json) {
		status_print_found(s, true);
		status_print_found(s, false);
		return;
	}
	json_list(&s->json, "sources");
	for (int i = 0; i < SOURCE_NR; i++) {
		const struct probe *p = &s->probe[i];

		json_object(&s->json, NULL);
		json_text(&s->json, "source", config_source_name((enum source_id)i));
		json_bool(&s->json, "present", !s->found[i]);
		json_text(&s->json, "what", p->what);
		json_text(&s->json, "remedy", *p->remedy ? p->remedy : NULL);
		json_end(&s->json);
	}
	json_end(&s->json);
}

int cmd_status(const struct ctl *ctl, int argc, char **argv)
{
	struct status *s;

	if (argc > 1) {
		if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
			fputs(usage, stdout);
			return CTL_OK;
		}
		ctl_error("status: unexpected argument '%s'; see gchintctl status --help", argv[1]);
		return CTL_USAGE;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return CTL_FAILED;
	s->as_json = ctl->json;
	s->json.f = stdout;
	root_init(&s->context.root);
	config_defaults(&s->context.config);
	status_query_module(s);
	if (s->as_json)
		json_object(&s->json, NULL);
	status_print_board(s);
	status_print_module(s);
	status_print_policies(s);
	status_print_sessions(s);
	status_print_sources(s);
	if (s->as_json)
		json_end(&s->json);
	free(s);
	return CTL_OK;
}
