// SPDX-License-Identifier: GPL-2.0-or-later
#include "rows.h"

#include <stdlib.h>

static const char *const record_sql[RECORD_NR] = {
	[RECORD_PHASE] = "REPLACE INTO phases VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[RECORD_DECISION] = "INSERT INTO decisions VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[RECORD_LEASE] = "INSERT INTO leases VALUES(?,?,?,?,?,?,?)",
	[RECORD_TRANSITION] = "INSERT INTO transitions VALUES(?,?,?,?)",
	[RECORD_RESIDENCY] = "INSERT INTO residency VALUES(?,?,?,?)",
	[RECORD_IDLE] = "INSERT INTO idle VALUES(?,?,?,?,?)",
	[RECORD_SAMPLE] = "INSERT INTO samples VALUES(?,?,?,?)",
	[RECORD_HOTPLUG] = "INSERT INTO hotplug VALUES(?,?,?)",
	[RECORD_THERMAL] = "INSERT INTO thermal VALUES(?,?,?)",
	[RECORD_SCHED] = "INSERT INTO sched VALUES(?,?,?,?,?,?,?,?,?,?)",
	[RECORD_PERF] = "INSERT INTO perf VALUES(?,?,?,?,?,?,?,?)",
	[RECORD_HOTSPOT] = "INSERT INTO hotspots VALUES(?,?,?,?,?,?,?,?,?,?)",
	[RECORD_POLICY_STATE] = "INSERT INTO policy_states VALUES(?,?,?,?,?)",
	[RECORD_DROP] = "INSERT INTO drops VALUES(?,?,?,?)",
	[RECORD_COST] = "INSERT INTO costs VALUES(?,?,?,?,?,?)",
};

/* The columns a definition fills: t, then numbers, then strings, in this order. */
static const struct {
	const char *sql;
	unsigned int numbers, strings;
} define_sql[DEFINE_NR] = {
	[DEFINE_META] = { "REPLACE INTO meta(key, value) SELECT ?2, ?3 WHERE ?1 IS NOT NULL", 0,
			  2 },
	[DEFINE_CLOCK] = { "REPLACE INTO clocks(offset_ns, error_ns, source, clock, how) "
			   "SELECT ?2, ?3, ?4, ?5, ?6 WHERE ?1 IS NOT NULL",
			   2, 3 },
	[DEFINE_POLICY] = { "REPLACE INTO policies(t, policy, hw_min_khz, hw_max_khz, latency_ns, "
			    "cpus, driver, governor) VALUES(?,?,?,?,?,?,?,?)",
			    4, 3 },
	[DEFINE_OPP] = { "REPLACE INTO opps(policy, khz, uv, power_uw, source) "
			 "SELECT ?2, ?3, ?4, ?5, ?6 WHERE ?1 IS NOT NULL",
			 4, 1 },
	[DEFINE_RAIL] = { "REPLACE INTO rails(t, id, period_ns, update_ns, wraps_at, name, label, "
			  "kind, unit, source, path, derived, cpus) VALUES(?1,?2,?3,?4,?5,?6,?7,"
			  "?8,CASE ?8 WHEN 'power' THEN 'uW' WHEN 'energy' THEN 'uJ' "
			  "WHEN 'voltage' THEN 'uV' ELSE 'uA' END,?9,?10,?11,?12)",
			  4, 7 },
	[DEFINE_IDLE_STATE] = { "REPLACE INTO idle_states(cpu, state, name) "
				"SELECT ?2, ?3, ?4 WHERE ?1 IS NOT NULL",
				2, 1 },
	[DEFINE_THERMAL] = { "REPLACE INTO thermal_sensors(id, kind, name, path) "
			     "SELECT ?2, ?3, ?4, ?5 WHERE ?1 IS NOT NULL",
			     1, 3 },
	[DEFINE_PROCESS] = { "REPLACE INTO processes(t, tgid, tid, uid, comm, cmdline) "
			     "VALUES(?,?,?,?,?,?)",
			     3, 2 },
	[DEFINE_ACTUATOR] = { "INSERT INTO actuators(t, policy, tgid, actuator) "
			      "SELECT ?1, ?2, ?3, ?4 WHERE ?3 IS NULL OR ?4 IS NOT (SELECT "
			      "actuator FROM actuators WHERE tgid = ?3 ORDER BY rowid DESC "
			      "LIMIT 1)",
			      2, 1 },
	[DEFINE_SOURCE] = { "REPLACE INTO sources(t, period_ns, name, state, what, remedy) "
			    "VALUES(?,?,?,?,?,?)",
			    1, 4 },
	[DEFINE_NOTE] = { "INSERT INTO notes(t, priority, source, text) VALUES(?,?,?,?)", 1, 2 },
	[DEFINE_IMAGE] = { "INSERT INTO images(t, tgid, first, last, offset, path) "
			   "VALUES(?1,?2,?3,?4 - 1,?5,?6)",
			   4, 1 },
	[DEFINE_STACK] = { "REPLACE INTO stacks(id, frames) SELECT ?2, ?3 WHERE ?1 IS NOT NULL", 1,
			   1 },
	[DEFINE_ANNOTATION] = { "INSERT INTO annotations(t, pid, uid, text) VALUES(?,?,?,?)", 2,
				1 },
};

struct rows {
	sqlite3_stmt *record[RECORD_NR];
	sqlite3_stmt *define[DEFINE_NR];
};

struct rows *rows_new(sqlite3 *db)
{
	struct rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return NULL;
	for (int i = 0; i < RECORD_NR; i++)
		if (record_sql[i] &&
		    sqlite3_prepare_v3(db, record_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &rows->record[i], NULL))
			goto free_rows;
	for (int i = 0; i < DEFINE_NR; i++)
		if (sqlite3_prepare_v3(db, define_sql[i].sql, -1, SQLITE_PREPARE_PERSISTENT,
				       &rows->define[i], NULL))
			goto free_rows;
	return rows;

free_rows:
	rows_free(rows);
	return NULL;
}

void rows_free(struct rows *rows)
{
	if (!rows)
		return;
	for (int i = 0; i < RECORD_NR; i++)
		sqlite3_finalize(rows->record[i]);
	for (int i = 0; i < DEFINE_NR; i++)
		sqlite3_finalize(rows->define[i]);
	free(rows);
}

/* Binds columns from left to right; an unknown value stays NULL. */
struct binder {
	sqlite3_stmt *stmt;
	int column;
};

static void bind_u64(struct binder *b, uint64_t v)
{
	sqlite3_bind_int64(b->stmt, b->column++, (sqlite3_int64)v);
}

static void bind_s64(struct binder *b, int64_t v)
{
	if (v != UNKNOWN_S64)
		sqlite3_bind_int64(b->stmt, b->column, v);
	b->column++;
}

static void bind_u32(struct binder *b, uint32_t v)
{
	if (v != UNKNOWN_U32)
		sqlite3_bind_int64(b->stmt, b->column, v);
	b->column++;
}

static void bind_str(struct binder *b, const char *s)
{
	if (s)
		sqlite3_bind_text(b->stmt, b->column, s, -1, SQLITE_STATIC);
	b->column++;
}

/* A value only where @known says so. */
static void bind_u64_if(struct binder *b, bool known, uint64_t v)
{
	if (known)
		bind_u64(b, v);
	else
		b->column++;
}

static void bind_s32_if(struct binder *b, bool known, int32_t v)
{
	if (known)
		sqlite3_bind_int64(b->stmt, b->column, v);
	b->column++;
}

static void bind_phase(struct binder *b, const struct record *r)
{
	const struct record_phase *p = &r->phase;

	bind_u64(b, p->id);
	bind_u64(b, p->t0);
	bind_u64_if(b, p->how != PHASE_OPEN, r->t);
	bind_u32(b, p->cpu);
	bind_s32_if(b, p->tgid != 0, p->tgid);
	bind_s32_if(b, p->tid != 0, p->tid);
	bind_u64_if(b, p->hinted, p->session);
	bind_u64_if(b, p->hinted, p->slot);
	bind_u32(b, p->phase);
	bind_u32(b, p->flags);
	bind_u32(b, p->cause);
	bind_u32(b, p->seq);
	bind_u64_if(b, p->has_work, p->work_done);
	bind_u64_if(b, p->work_total != 0, p->work_total);
	bind_u64_if(b, p->stall_ns != 0, p->stall_ns);
	bind_u64(b, p->how);
	bind_u64(b, p->uncertain);
}

static void bind_decision(struct binder *b, const struct record *r)
{
	const struct record_decision *d = &r->decision;

	bind_u64(b, r->t);
	bind_u32(b, d->cpu);
	bind_u32(b, d->policy);
	bind_u32(b, d->khz_from);
	bind_u32(b, d->khz);
	bind_u32(b, d->reason);
	bind_u32(b, d->load);
	bind_u64_if(b, d->has_latency, d->latency_ns);
	bind_s32_if(b, d->hinted, d->tgid);
	bind_s32_if(b, d->hinted, d->tid);
	bind_u64_if(b, d->hinted, d->slot);
	bind_u64_if(b, d->phase != UNKNOWN_U32, d->phase);
	bind_u64_if(b, d->flags != UNKNOWN_U32, d->flags);
}

static void bind_lease(struct binder *b, const struct record *r)
{
	bind_u64(b, r->t);
	bind_s32_if(b, r->lease.tgid != 0, r->lease.tgid);
	bind_s32_if(b, r->lease.tid != 0, r->lease.tid);
	bind_u64(b, r->lease.session);
	bind_u32(b, r->lease.slot);
	bind_u32(b, r->lease.role);
	bind_u32(b, r->lease.lease);
}

static void bind_transition(struct binder *b, const struct record *r)
{
	static const char *const how[] = { "start", "trace", "poll", "sampling" };

	bind_u64(b, r->t);
	bind_u32(b, r->transition.cpu);
	bind_u32(b, r->transition.khz);
	bind_str(b, how[r->transition.how]);
}

static void bind_sched(struct binder *b, const struct record *r)
{
	const struct record_sched *s = &r->sched;

	bind_u64(b, r->t);
	bind_u64(b, (uint64_t)s->tgid);
	bind_u64(b, (uint64_t)s->tid);
	bind_u64(b, s->run_ns);
	bind_u64(b, s->wait_ns);
	bind_u64(b, s->slices);
	bind_s64(b, s->migrations);
	bind_s64(b, s->utime_ns);
	bind_s64(b, s->stime_ns);
	bind_u32(b, s->cpu);
}

static void bind_perf(struct binder *b, const struct record *r)
{
	const struct record_perf *p = &r->perf;

	bind_u64(b, r->t);
	bind_u64(b, (uint64_t)p->tgid);
	bind_u64(b, (uint64_t)p->tid);
	bind_s64(b, p->cycles);
	bind_s64(b, p->instructions);
	bind_s64(b, p->misses);
	bind_s64(b, p->enabled_ns);
	bind_s64(b, p->running_ns);
}

static void bind_hotspot(struct binder *b, const struct record *r)
{
	const struct record_hotspot *h = &r->hotspot;

	bind_u64(b, r->t);
	bind_u64(b, (uint64_t)h->tgid);
	bind_u64(b, (uint64_t)h->tid);
	bind_u32(b, h->cpu);
	bind_u64_if(b, h->known & HOTSPOT_PHASE, h->phase);
	bind_u64_if(b, h->known & HOTSPOT_PHASE, h->flags);
	bind_u64_if(b, h->known & HOTSPOT_METHOD, h->method);
	bind_u64_if(b, h->ip != 0, h->ip);
	bind_u64_if(b, h->kernel != 0, h->kernel);
	bind_u64_if(b, h->stack != 0, h->stack);
}

static void bind_record(struct binder *b, const struct record *r)
{
	switch (r->type) {
	case RECORD_PHASE:
		bind_phase(b, r);
		return;
	case RECORD_DECISION:
		bind_decision(b, r);
		return;
	case RECORD_LEASE:
		bind_lease(b, r);
		return;
	case RECORD_TRANSITION:
		bind_transition(b, r);
		return;
	case RECORD_SCHED:
		bind_sched(b, r);
		return;
	case RECORD_PERF:
		bind_perf(b, r);
		return;
	case RECORD_HOTSPOT:
		bind_hotspot(b, r);
		return;
	default:
		break;
	}
	bind_u64(b, r->t);
	switch (r->type) {
	case RECORD_RESIDENCY:
		bind_u32(b, r->residency.policy);
		bind_u32(b, r->residency.khz);
		bind_u64(b, r->residency.total_ns);
		break;
	case RECORD_IDLE:
		bind_u32(b, r->idle.cpu);
		bind_u32(b, r->idle.state);
		bind_u64(b, r->idle.total_us);
		bind_u64(b, r->idle.usage);
		break;
	case RECORD_SAMPLE:
		bind_u32(b, r->sample.rail);
		bind_s64(b, r->sample.value);
		bind_u32(b, r->sample.error_ns);
		break;
	case RECORD_HOTPLUG:
		bind_u32(b, r->hotplug.cpu);
		bind_u64(b, r->hotplug.online);
		break;
	case RECORD_THERMAL:
		bind_u32(b, r->thermal.id);
		bind_s64(b, r->thermal.value);
		break;
	case RECORD_POLICY_STATE:
		bind_u32(b, r->policy_state.policy);
		bind_str(b, *r->policy_state.governor ? r->policy_state.governor : NULL);
		bind_u32(b, r->policy_state.min_khz);
		bind_u32(b, r->policy_state.max_khz);
		break;
	case RECORD_DROP:
		bind_str(b, r->drop.source);
		bind_u64(b, r->drop.count);
		bind_str(b, r->drop.why);
		break;
	case RECORD_COST:
		bind_u64(b, r->cost.cpu_ns);
		bind_u64(b, r->cost.wakeups);
		bind_u64(b, r->cost.records);
		bind_u64(b, r->cost.bytes);
		bind_u32(b, r->cost.rss_kib);
		break;
	default:
		break;
	}
}

static int stmt_run(sqlite3_stmt *stmt)
{
	int ret = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return ret == SQLITE_DONE ? SQLITE_OK : ret;
}

int rows_record(struct rows *rows, const struct record *r)
{
	struct binder b = { rows->record[r->type], 1 };

	bind_record(&b, r);
	return stmt_run(b.stmt);
}

int rows_define(struct rows *rows, const struct definition *d)
{
	struct binder b = { rows->define[d->kind], 1 };

	bind_u64(&b, d->t);
	for (unsigned int i = 0; i < define_sql[d->kind].numbers; i++)
		bind_s64(&b, d->number[i]);
	for (unsigned int i = 0; i < define_sql[d->kind].strings; i++)
		bind_str(&b, d->string[i]);
	return stmt_run(b.stmt);
}
