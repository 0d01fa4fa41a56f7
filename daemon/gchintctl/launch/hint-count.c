// SPDX-License-Identifier: GPL-2.0-or-later
#include "hint-count.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../common/ring.h"
#include "../../recording/schema.h"
#include "../ctl.h"
#include "../../recording/reader/db.h"

#define RINGS	       1024
#define RINGS_AT_ONCE  64 /* programs accepted by one hint_count_poll() */
#define PAUSE_TYPES    2
#define EVENTS_AT_ONCE GCHINT_STREAM_EVENTS

struct hint_ring {
	struct hint_ring *next;
	struct ring_reader in;
	bool closed; /* its last event was read */
	/*
	 * By pause type, 0 stop-the-world and 1 other foreground: leases in such a phase
	 * now, how often their number rose from 0, and when it was 0 last.
	 */
	unsigned int open[PAUSE_TYPES];
	uint64_t until[PAUSE_TYPES]; /* 0: not yet */
	uint64_t pauses[PAUSE_TYPES];
	struct {
		uint8_t phase, flags;
	} lease[RING_LEASES];
};

struct hint_listener {
	struct hint_count total;
	struct hint_ring *rings;
	unsigned int count;
	uint64_t late; /* rings that arrived after their program had waited */
	int fd, late_fd;
	char dir[32], path[64];
};

/*
 * Only who knows its name can send to the socket then: /proc/net/unix has the former name, the
 * directory cannot be listed, and other users cannot read the environment of the programs.
 */
static void late_rename(const char *from, const char *to)
{
	char old[160], new[160];

	snprintf(old, sizeof(old), "%s" LATE_SUFFIX, from);
	snprintf(new, sizeof(new), "%s" LATE_SUFFIX, to);
	/* Without the file programs that wait are not counted. */
	if (rename(old, new))
		errno = 0;
}

void late_remove(const char *path)
{
	char name[160];

	snprintf(name, sizeof(name), "%s" LATE_SUFFIX, path);
	unlink(name);
}

bool stream_share(const char *dir, char *path, size_t size)
{
	unsigned char secret[8];
	char name[128];
	int n;

	if (geteuid())
		return true;
	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		return false;
	n = snprintf(name, sizeof(name), "%s/stream.", dir);
	for (size_t i = 0; i < sizeof(secret); i++)
		n += snprintf(name + n, sizeof(name) - (size_t)n, "%02x", secret[i]);
	if ((size_t)n >= size || chmod(path, 0666) || rename(path, name) || chmod(dir, 0711))
		return false;
	late_rename(path, name);
	strcpy(path, name);
	return true;
}

static void on_message(int signo)
{
	(void)signo;
}

/*
 * A message interrupts the wait of child_run(): the socket takes few, and more programs than these
 * may start between two calls of hint_count_poll().
 */
static bool wake_on_message(int fd)
{
	const struct sigaction wake = { .sa_handler = on_message, .sa_flags = SA_RESTART };

	return !sigaction(SIGIO, &wake, NULL) && !fcntl(fd, F_SETOWN, getpid()) &&
	       !fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC);
}

struct hint_listener *hint_listener_open(void)
{
	struct hint_listener *l = calloc(1, sizeof(*l));
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const int on = 1;
	int saved;

	if (!l)
		return NULL;
	l->fd = l->late_fd = -1;
	saved = -ctl_directory(l->dir, sizeof(l->dir), "gchintctl");
	if (saved)
		goto free_l;
	snprintf(l->path, sizeof(l->path), "%s/stream", l->dir);
	strcpy(addr.sun_path, l->path);
	l->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (l->fd >= 0 && !setsockopt(l->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) &&
	    !bind(l->fd, (struct sockaddr *)&addr, sizeof(addr))) {
		l->late_fd = late_open(l->path);
		if (stream_share(l->dir, l->path, sizeof(l->path)) && wake_on_message(l->fd))
			return l;
	}
	saved = errno;
	late_close(l->late_fd, l->path);
	if (l->fd >= 0)
		close(l->fd);
	unlink(l->path);
	rmdir(l->dir);
free_l:
	free(l);
	errno = saved;
	return NULL;
}

const char *hint_listener_path(const struct hint_listener *l)
{
	return l->path;
}

/* The pause type of a phase, PAUSE_TYPES if it is not a pause. */
static unsigned int phase_pause_type(unsigned int phase, unsigned int flags)
{
	if (!phase || !(flags & (GCHINT_F_STW | GCHINT_F_FOREGROUND)))
		return PAUSE_TYPES;
	return flags & GCHINT_F_STW ? 0 : 1;
}

/* An event may only add details to a phase that is open: that is not another hint. */
static void hint_ring_count_event(struct hint_count *t, struct hint_ring *c,
				  const struct gchint_stream_event *e)
{
	unsigned int phase = e->type == GCHINT_STREAM_PHASE ? e->phase : GCHINT_PHASE_NONE;
	unsigned int was, is;

	c->closed = c->closed || e->type == GCHINT_STREAM_CLOSE;
	if (e->slot >= RING_LEASES)
		return;
	/* Other events, such as readings of the heap, say nothing of the phase, which stays open. */
	if (e->type != GCHINT_STREAM_PHASE && e->type != GCHINT_STREAM_ATTACH &&
	    e->type != GCHINT_STREAM_DETACH && e->type != GCHINT_STREAM_CLOSE)
		return;
	was = phase_pause_type(c->lease[e->slot].phase, c->lease[e->slot].flags);
	is = phase_pause_type(phase, e->flags);
	if (phase && (phase != c->lease[e->slot].phase || e->flags != c->lease[e->slot].flags))
		t->phases++;
	if (is < PAUSE_TYPES && is != was && !c->open[is]++ &&
	    (!c->until[is] || e->time > c->until[is] + SCHEMA_PAUSE_GAP_NS))
		c->pauses[is]++;
	if (was < PAUSE_TYPES && was != is && !--c->open[was])
		c->until[was] = e->time;
	c->lease[e->slot].phase = (uint8_t)phase;
	c->lease[e->slot].flags = e->flags;
}

static void hint_ring_drain(struct hint_count *t, struct hint_ring *c, bool dead)
{
	struct gchint_stream_event event;
	enum ring_found found;

	for (int n = 0; n < EVENTS_AT_ONCE; n++) {
		found = ring_next(&c->in, &event, dead);
		if (found == RING_EMPTY)
			break;
		if (found == RING_EVENT)
			hint_ring_count_event(t, c, &event);
		else
			t->lost++;
	}
	t->lost += ring_lost(&c->in);
}

static void hint_ring_remove(struct hint_listener *l, struct hint_ring **at)
{
	struct hint_ring *c = *at;

	*at = c->next;
	l->count--;
	l->total.pauses += c->pauses[0];
	l->total.stops += c->pauses[0] ? 0 : c->pauses[1];
	ring_close(&c->in);
	free(c);
}

static void hint_listener_accept(struct hint_listener *l)
{
	for (int i = 0; i < RINGS_AT_ONCE; i++) {
		struct ring_reader in;
		struct hint_ring *c;
		const char *why;
		int ret = ring_receive(l->fd, &in, &why);

		if (ret == -EAGAIN)
			return;
		if (ret) {
			l->total.missed++;
			continue;
		}
		if (in.map->features & GCHINT_STREAM_LATE)
			l->late++;
		c = l->count < RINGS ? calloc(1, sizeof(*c)) : NULL;
		if (!c) {
			l->total.missed++;
			ring_close(&in);
			continue;
		}
		c->in = in;
		c->next = l->rings;
		l->rings = c;
		l->count++;
		l->total.programs++;
	}
}

void hint_count_poll(void *listener)
{
	struct hint_listener *l = listener;

	hint_listener_accept(l);
	for (struct hint_ring **at = &l->rings; *at;) {
		bool dead = ring_dead(&(*at)->in);

		hint_ring_drain(&l->total, *at, dead);
		if (dead || (*at)->closed)
			hint_ring_remove(l, at);
		else
			at = &(*at)->next;
	}
}

struct hint_count hint_listener_close(struct hint_listener *l)
{
	struct hint_count t;
	uint64_t late;

	hint_count_poll(l);
	while (l->rings)
		hint_ring_remove(l, &l->rings);
	late = late_count(l->late_fd);
	if (late > l->late)
		l->total.missed += late - l->late;
	t = l->total;
	late_close(l->late_fd, l->path);
	close(l->fd);
	unlink(l->path);
	rmdir(l->dir);
	free(l);
	return t;
}

/* A stop of a thread begins where no earlier foreground phase of its process is still open. */
static const char count_sql[] =
	"WITH begins AS (SELECT t0 > coalesce(max(coalesce(t1, 9223372036854775807))"
	"  OVER (PARTITION BY tgid ORDER BY t0, id"
	"  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), -1) AS one FROM phases"
	"  WHERE flags & 4 AND NOT flags & 1 AND tgid NOT IN (SELECT tgid FROM pauses))"
	" SELECT count(*), (SELECT count(*) FROM pauses),"
	" (SELECT count(*) FROM (SELECT tgid FROM phases UNION SELECT tgid FROM leases"
	"  UNION SELECT tgid FROM processes)),"
	" coalesce(min(session >> 62 & 1), 1), (SELECT coalesce(sum(one), 0) FROM begins) FROM "
	"phases";

bool hint_count_read(struct hint_count *count, const char *path)
{
	sqlite3 *db = db_open(path);
	sqlite3_stmt *s;
	uint64_t begin, end;
	bool found;

	memset(count, 0, sizeof(*count));
	if (!db)
		return false;
	if (!db_span(db, &begin, &end)) {
		ctl_error("%s: the recording is empty: its hints are not known", path);
		sqlite3_close(db);
		return false;
	}
	s = db_query(db, count_sql);
	found = db_next(s);
	if (found) {
		count->phases = (uint64_t)db_int(s, 0, 0);
		count->pauses = (uint64_t)db_int(s, 1, 0);
		count->programs = db_u32(s, 2, 0);
		count->by_kernel = !db_int(s, 3, 1);
		count->stops = (uint64_t)db_int(s, 4, 0);
	}
	sqlite3_finalize(s);
	s = db_query(db, "SELECT sum(count) FILTER (WHERE why NOT LIKE '" LATE_WHY "%'),"
			 " sum(count) FILTER (WHERE why LIKE '" LATE_WHY "%') FROM drops"
			 " WHERE source IN ('library', 'genl', 'record')");
	if (db_next(s)) {
		count->lost = (uint64_t)db_int(s, 0, 0);
		count->missed = (uint64_t)db_int(s, 1, 0);
	}
	sqlite3_finalize(s);
	sqlite3_close(db);
	return found;
}
