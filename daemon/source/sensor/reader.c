// SPDX-License-Identifier: GPL-2.0-or-later
#include "reader.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../common/text.h"
#include "../privilege.h"

struct reader {
	reader_fn fn;
	void *data;
	struct watch *watch;
	int done; /* eventfd: the list was read */
	pthread_t thread;
	/* Used by the loop only. */
	bool busy;
	/*
	 * Owned by the thread from the moment that @posted is set until it wrote to @done; by the
	 * loop otherwise. @lock and the eventfd order the accesses.
	 */
	struct reading *list;
	size_t nr, room;
	pthread_mutex_t lock; /* guards @posted */
	pthread_cond_t wake;
	bool posted;
	_Atomic bool stop;
};

static int file_read_number(int fd, int64_t *value)
{
	char buf[64];
	ssize_t n = pread(fd, buf, sizeof(buf) - 1, 0);

	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return n ? text_s64(buf, value) : -ENODATA;
}

static int file_read_counter(int fd, int64_t *value)
{
	ssize_t n = read(fd, value, sizeof(*value));

	if (n < 0)
		return -errno;
	/* End of file: the CPU of the counter is offline. */
	return n == sizeof(*value) ? 0 : -ENODATA;
}

void reading_take(struct reading *r)
{
	r->factor = 1;
	r->t0 = clock_now();
	r->error =
		r->event ? file_read_counter(r->fd, &r->value) : file_read_number(r->fd, &r->value);
	if (!r->error && r->factor_fd >= 0)
		r->error = file_read_number(r->factor_fd, &r->factor);
	r->t1 = clock_now();
}

static void *reader_run(void *data)
{
	struct reader *r = data;
	const uint64_t one = 1;

	privilege_drop();
	for (;;) {
		pthread_mutex_lock(&r->lock);
		while (!r->posted && !r->stop)
			pthread_cond_wait(&r->wake, &r->lock);
		r->posted = false;
		pthread_mutex_unlock(&r->lock);
		for (size_t i = 0; i < r->nr && !r->stop; i++)
			reading_take(&r->list[i]);
		if (r->stop)
			return NULL;
		/* Cannot fail: the counter is far from its limit. */
		if (write(r->done, &one, sizeof(one)) != sizeof(one))
			return NULL;
	}
}

static void on_done(void *data, uint32_t events)
{
	struct reader *r = data;
	uint64_t count;

	(void)events;
	if (read(r->done, &count, sizeof(count)) != sizeof(count))
		return;
	r->busy = false;
	r->fn(r->data, r->list, r->nr);
}

struct reader *reader_new(struct loop *loop, reader_fn fn, void *data)
{
	struct reader *r = calloc(1, sizeof(*r));
	sigset_t all, old;
	int ret;

	if (!r)
		return NULL;
	r->fn = fn;
	r->data = data;
	r->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->done < 0)
		goto free_reader;
	r->watch = loop_fd(loop, r->done, EPOLLIN, on_done, r);
	if (!r->watch)
		goto close_done;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->wake, NULL);
	/* The main loop handles all signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&r->thread, NULL, reader_run, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret)
		goto free_watch;
	return r;

free_watch:
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	watch_free(r->watch);
close_done:
	close(r->done);
free_reader:
	free(r);
	return NULL;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	watch_free(r->watch);
	close(r->done);
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	free(r->list);
	free(r);
}

bool reader_busy(const struct reader *r)
{
	return r->busy;
}

void reader_start(struct reader *r, const struct reading *reading, size_t nr)
{
	if (nr > r->room) {
		struct reading *more = realloc(r->list, nr * sizeof(*more));

		if (!more)
			return;
		r->list = more;
		r->room = nr;
	}
	memcpy(r->list, reading, nr * sizeof(*reading));
	r->nr = nr;
	r->busy = true;
	pthread_mutex_lock(&r->lock);
	r->posted = true;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
}
