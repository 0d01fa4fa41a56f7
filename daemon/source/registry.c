// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "../common/clock.h"
#include "source.h"

#define SOURCE(name, period, on) extern const struct source source_##name;
#include "sources.def"
#undef SOURCE

const struct source *const source_table[SOURCE_NR] = {
#define SOURCE(name, period, on) &source_##name,
#include "sources.def"
#undef SOURCE
};

struct sources {
	struct source_context *context;
	void *state[SOURCE_NR];
	bool running[SOURCE_NR];
};

static void source_define(struct source_context *context, enum source_id id, const char *state,
			  const struct probe *p)
{
	const int64_t period = (int64_t)context->config.source[id].period_ms * 1000000;
	const char *strings[] = { config_source_name(id), state, p->what,
				  *p->remedy ? p->remedy : NULL };

	context_define(context, definition_new(DEFINE_SOURCE, clock_now(), &period, 1, strings, 4));
}

static void source_start(struct sources *s, enum source_id id)
{
	const char *name = config_source_name(id);
	struct source_context *context = s->context;
	struct probe p = { 0 };
	int ret;

	if (!context->config.source[id].enabled) {
		probe_found(&p, "switched off in the configuration");
		source_define(context, id, "off", &p);
		return;
	}
	ret = source_table[id]->probe(context, &p);
	if (!ret) {
		ret = source_table[id]->start(context, &s->state[id]);
		if (ret)
			probe_absent(&p, ret, "", "cannot start: %s", strerror(-ret));
	}
	s->running[id] = !ret;
	source_define(context, id, ret ? "absent" : "running", &p);
	if (ret)
		context_note(context, LOG_NOTICE, name, "skipped: %s%s%s", p.what,
			     *p.remedy ? "; " : "", p.remedy);
	else
		context_note(context, LOG_INFO, name, "%s", p.what);
}

static void source_stop(struct sources *s, enum source_id id)
{
	if (!s->running[id])
		return;
	source_table[id]->stop(s->state[id]);
	s->running[id] = false;
	s->state[id] = NULL;
}

struct sources *sources_start(struct source_context *context)
{
	struct sources *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->context = context;
	for (int i = 0; i < SOURCE_NR; i++)
		source_start(s, (enum source_id)i);
	return s;
}

void sources_reload(struct sources *s, const struct config *old)
{
	const struct config *new = &s->context->config;
	bool shared =
		old->genl_buffer != new->genl_buffer || old->genl_phases != new->genl_phases ||
		old->hotspots.hz != new->hotspots.hz || old->iio_buffered != new->iio_buffered ||
		old->trace_buffer != new->trace_buffer ||
		strcmp(old->library_socket, new->library_socket);

	for (int i = 0; i < SOURCE_NR; i++) {
		if (!shared && s->running[i] &&
		    !memcmp(&old->source[i], &new->source[i], sizeof(new->source[i])))
			continue;
		source_stop(s, (enum source_id)i);
		source_start(s, (enum source_id)i);
	}
}

void sources_stop(struct sources *s)
{
	if (!s)
		return;
	/* First the hints: as the last leases end, the others read those threads once more. */
	source_stop(s, SOURCE_library);
	source_stop(s, SOURCE_genl);
	/* In reverse order: a later source may use an earlier one. */
	for (int i = SOURCE_NR; i-- > 0;)
		source_stop(s, (enum source_id)i);
	free(s);
}

unsigned int sources_running(const struct sources *s)
{
	unsigned int n = 0;

	for (int i = 0; i < SOURCE_NR; i++)
		n += s->running[i];
	return n;
}
