// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: hints of programs that stream them: rings of the test are sent, and their content
 * becomes leases and phases. "@" stands for this process.
 */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gchint-stream.h>
#include <uapi/linux/gchint.h>

#include "../../daemon/common/clock.h"
#include "../../daemon/common/ring.h"
#include "../../daemon/recording/queue.h"
#include "../../daemon/source/hint/tracker.h"
#include "faults.h"
#include "place.h"
#include "records.h"

#define NR GCHINT_STREAM_EVENTS

static int out = -1;

static struct gchint_stream *map_new(int *fd, bool sealed, int32_t pid)
{
	struct gchint_stream *map;

	*fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0 || ftruncate(*fd, sizeof(*map)))
		abort();
	map = mmap(NULL, sizeof(*map), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (map == MAP_FAILED ||
	    (sealed && fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)))
		abort();
	map->magic = GCHINT_STREAM_MAGIC;
	map->abi = GCHINT_STREAM_ABI;
	map->events = NR;
	map->pid = pid;
	for (uint32_t i = 0; i < NR; i++)
		map->event[i].ticket = i;
	return map;
}

/* One byte, with as many copies of a descriptor. */
static void post_copies(int fd, size_t copies)
{
	union {
		char space[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct sockaddr_un to = { AF_UNIX, "stream" };
	struct iovec iov = { (char[]){ 'G' }, 1 };
	struct msghdr msg = {
		.msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = &iov, .msg_iovlen = 1
	};

	if (copies) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(copies * sizeof(fd));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(copies * sizeof(fd));
	}
	for (size_t i = 0; i < copies; i++)
		memcpy(CMSG_DATA(&control.align) + i * sizeof(fd), &fd, sizeof(fd));
	if (sendmsg(out, &msg, 0) != 1)
		abort();
}

/* With a descriptor unless it is -1 */
static void ring_post(int fd)
{
	post_copies(fd, fd >= 0);
}

static unsigned int descriptors_count(void)
{
	unsigned int open = 0;

	for (int fd = 0; fd < 1024; fd++)
		open += fcntl(fd, F_GETFD) >= 0;
	return open;
}

static struct gchint_stream *ring_make(int32_t pid)
{
	struct gchint_stream *map;
	int fd;

	map = map_new(&fd, true, pid);
	ring_post(fd);
	close(fd);
	return map;
}

static void event_append(struct gchint_stream *map, const struct gchint_stream_event *e)
{
	const uint32_t n = map->tail++;

	map->event[n % NR] = *e;
	map->event[n % NR].ticket = n + 1;
}

static void lease_append(struct gchint_stream *map, uint64_t t, uint8_t type, uint32_t slot,
			 int32_t tid, uint32_t role)
{
	event_append(map,
		     &(struct gchint_stream_event){
			     .time = t, .type = type, .slot = slot, .tid = tid, .role = role });
}

static void phase_append(struct gchint_stream *map, uint64_t t, uint32_t slot, int32_t tid,
			 uint8_t number)
{
	event_append(map, &(struct gchint_stream_event){ .time = t,
							 .type = GCHINT_STREAM_PHASE,
							 .slot = slot,
							 .tid = tid,
							 .phase = number });
}

static void heap_append(struct gchint_stream *map, uint64_t t, uint8_t type, uint8_t when,
			uint64_t first, uint64_t second, uint64_t third)
{
	event_append(map, &(struct gchint_stream_event){ .time = t,
							 .type = type,
							 .tid = 71,
							 .phase = when,
							 .role = 2,
							 .work_done = first,
							 .work_total = second,
							 .stall_ns = third });
}

/* hotspots' timer, the library's, its socket. */
static void timers_run(void)
{
	watched_at(1)->fn(watched_at(1)->data, 0);
}

static void socket_run(void)
{
	watched_at(2)->fn(watched_at(2)->data, EPOLLIN);
}

static void records_compare(struct source_context *context, const char *want, const char *name)
{
	char text[4096], *to = text;

	for (; *want && to < text + sizeof(text) - 12; want++)
		if (*want == '@')
			to += sprintf(to, "%d", (int)getpid());
		else
			*to++ = *want;
	*to = '\0';
	records_are(context->queue, text, name);
}

static void records_forget(struct source_context *context)
{
	for (size_t i = 0; i < queue_fill(context->queue); i++)
		if (queue_peek(context->queue, i)->type == RECORD_DEFINE)
			definition_free(queue_peek(context->queue, i)->define);
	queue_consume(context->queue, queue_fill(context->queue));
}

static void start_check(struct source_context *context, void **state)
{
	const struct source *library = source_table[SOURCE_library];
	char path[110];
	const unsigned int before = descriptors_count();

	unsetenv("GCHINT_STREAM");
	text_is(place_probe(library, context),
		"-2 'no program streams its hints to us' 'gchintctl record -- PROGRAM'",
		"no program streams");
	setenv("GCHINT_STREAM", "", 1);
	text_is(place_probe(library, context),
		"-2 'no program streams its hints to us' 'gchintctl record -- PROGRAM'",
		"GCHINT_STREAM does not name a socket");
	memset(path, 'x', sizeof(path));
	path[108] = '\0';
	setenv("GCHINT_STREAM", path, 1);
	CHECK(!strncmp(place_probe(library, context), "-36 'xxx", 8) &&
		      strstr(place_probe(library, context), "x' 'a shorter GCHINT_STREAM'") &&
		      library->start(context, state) == -ENAMETOOLONG,
	      "a path that is too long is reported");
	path[107] = '\0';
	setenv("GCHINT_STREAM", path, 1);
	text_is(place_probe(library, context), "0 'hints of programs without the module' ''",
		"an unused path is accepted");
	setenv("GCHINT_STREAM", "stream", 1);
	place_file("stream", "mine");
	CHECK(library->start(context, state) == -EEXIST && !strcmp(place_line("stream"), "mine"),
	      "a file in the socket's place is kept");
	place_gone("stream");
	CHECK(descriptors_count() == before, "no descriptor stays open");
	context->config.source[SOURCE_library].period_ms = 30;
	CHECK(!library->start(context, state) && watched_count() == 3 &&
		      !watched_at(1)->period_ns && watched_at(2)->events == EPOLLIN,
	      "the socket is watched");
	records_compare(
		context,
		"clock 0 0 'library' 'CLOCK_MONOTONIC' 'stamped by the program at the edge'\n",
		"the clock of a program's timestamps is defined");
}

static void strangers_check(struct source_context *context)
{
	const unsigned int before = descriptors_count();
	struct gchint_stream *map;
	int fd;

	ring_post(-1);
	map = map_new(&fd, false, 1);
	ring_post(fd);
	post_copies(fd, 2);
	munmap(map, sizeof(*map));
	close(fd);
	/* Huge pages; none are needed as long as it is not mapped. */
	fd = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	if (fd < 0)
		fd = memfd_create("unsealed", MFD_CLOEXEC);
	if (ftruncate(fd, 32 << 20))
		abort();
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	ring_post(fd);
	close(fd);
	socket_run();
	CHECK(descriptors_count() == before, "no descriptor of an invalid message stays open");
	munmap(ring_make(1), sizeof(*map));
	unit_memory_left(0);
	socket_run();
	unit_memory_left(-1);
	records_compare(context,
			"drop 1 'library' 'a message without a ring'\n"
			"drop 1 'library' 'not a sealed ring of libgchint's'\n"
			"drop 1 'library' 'not a sealed ring of libgchint's'\n"
			"drop 1 'library' 'not a sealed ring of libgchint's'\n"
			"drop 1 'library' 'a program was not accepted: no memory for a ring'\n",
			"an invalid ring is counted");
	CHECK(!watched_at(1)->period_ns, "a client without a ring is not polled");
}

static struct gchint_stream *hints_check(struct source_context *context)
{
	struct gchint_stream *map = ring_make(getpid());

	socket_run();
	CHECK(watched_at(1)->period_ns == 30000000 && watched_at(0)->period_ns,
	      "a ring is polled once per period");
	records_compare(context, "process @ @ 'me'\nprocess @ @\n",
			"the ring's program is sampled");
	lease_append(map, 100, GCHINT_STREAM_ATTACH, 0, 71, 1);
	lease_append(map, 110, GCHINT_STREAM_ROLE, 0, 71, GCHINT_ROLE_NR);
	phase_append(map, 200, 0, 71, GCHINT_PHASE_MARK);
	event_append(map, &(struct gchint_stream_event){ .time = 300,
							 .type = GCHINT_STREAM_PHASE,
							 .slot = 0,
							 .phase = GCHINT_PHASE_MARK,
							 .cause = 2,
							 .flags = 0xf0,
							 .work_done = 5,
							 .work_total = 6,
							 .stall_ns = 7 });
	event_append(map, &(struct gchint_stream_event){ .time = 400,
							 .type = GCHINT_STREAM_PHASE,
							 .slot = 0,
							 .phase = GCHINT_PHASE_MARK,
							 .cause = GCHINT_CAUSE_NR });
	phase_append(map, 500, 0, 71, GCHINT_PHASE_NR);
	lease_append(map, 600, GCHINT_STREAM_ATTACH, 0, 72, GCHINT_ROLE_NR - 1);
	lease_append(map, 700, GCHINT_STREAM_DETACH, 0, 72, 0);
	/* Arbitrary numbers, and a slot that was never attached. */
	lease_append(map, 800, GCHINT_STREAM_ATTACH, 512, 73, 1);
	lease_append(map, 800, 99, 3, 73, 1);
	phase_append(map, 900, 511, -5, GCHINT_PHASE_NR - 1);
	phase_append(map, 20000, 511, 0, GCHINT_PHASE_NONE);
	event_append(map, &(struct gchint_stream_event){ .time = 1, .type = GCHINT_STREAM_SAMPLE });
	heap_append(map, 930, GCHINT_STREAM_HEAP_MORE, 0, 8, 9, 0);
	heap_append(map, 930, GCHINT_STREAM_HEAP, GCHINT_STREAM_AFTER, 1, UINT64_MAX, 0);
	heap_append(map, 940, GCHINT_STREAM_HEAP, GCHINT_STREAM_BEFORE, UINT64_MAX, 2, 1ull << 63);
	heap_append(map, 950, GCHINT_STREAM_HEAP, 3, 1, 1, 1);
	map->lost = 7;
	strcpy(map->runtime, "go");
	phase_append(map, 1000, 511, 0, GCHINT_PHASE_SWEEP);
	timers_run();
	phase_append(map, 1100, 511, 0, GCHINT_PHASE_NONE);
	timers_run();
	records_compare(
		context,
		"runtime @ 'go'\n"
		"lease 100: 0 of @/71 slot 0 role 1\n"
		"process @ 71\n"
		"lease 110: 1 of @/71 slot 0 role 0\n"
		"phase 200: 1 from 200, 4 of @/71, end 0\n"
		"phase 300: 1 from 200, 4 of @/71, end 0, 5 of 6 done, stall at 7, cause 2\n"
		"phase 400: 1 from 200, 4 of @/71, end 0, 5 of 6 done, stall at 7, cause 2\n"
		"phase 500: 1 from 200, 4 of @/71, end 1, 5 of 6 done, stall at 7, cause 2\n"
		"lease 600: 3 of @/71 slot 0 role ?\n"
		"lease 600: 0 of @/72 slot 0 role 4\n"
		"process @ 72\n"
		"lease 700: 2 of @/72 slot 0 role ?\n"
		"phase 900: 2 from 900, 12 of @/@, end 0\n"
		"phase 10000: 2 from 900, 12 of @/@, end 1\n"
		"heap 930: after of @/71 1 ? 0 8 9 2\n"
		"heap 940: before of @/71 ? 2 ? ? ? 2\n"
		"phase 1000: 3 from 1000, 7 of @/@, end 0\n"
		"drop 7 'library' 'a program's ring ran over'\n"
		"phase 1100: 3 from 1000, 7 of @/@, end 1, uncertain\n",
		"a ring's events are leases and phases");
	return map;
}

/* At most as many at once as other sources can wait for, or the queue can hold. */
static void floods_check(struct source_context *context, struct gchint_stream *map)
{
	const struct record r = { .t = 1, .type = RECORD_SAMPLE };

	for (int i = 0; i < 4095; i++)
		lease_append(map, 1, GCHINT_STREAM_SAMPLE, 0, 1, 0);
	lease_append(map, 1200, GCHINT_STREAM_DETACH, 511, 1, 0);
	lease_append(map, 1300, GCHINT_STREAM_ATTACH, 4, 74, 0);
	timers_run();
	records_compare(context, "lease 1200: 2 of @/@ slot 511 role ?\n",
			"only a limited number of events is read at once");
	while (queue_room(context->queue) >= 1024)
		queue_push(context->queue, &r);
	timers_run();
	queue_consume(context->queue, 1);
	CHECK(queue_room(context->queue) == 1024, "events wait while the queue is full");
	timers_run();
	queue_consume(context->queue, 8192 - 1024);
	records_compare(context, "lease 1300: 0 of @/74 slot 4 role 0\nprocess @ 74\n",
			"the rest is read once there is space");
}

/* Another ring of a process replaces its first, which is read to its end. */
static void replacement_check(struct source_context *context, struct gchint_stream *map)
{
	struct gchint_stream *second;

	phase_append(map, 1400, 4, 74, GCHINT_PHASE_MARK);
	map->tail++;
	phase_append(map, 1500, 4, 74, GCHINT_PHASE_SWEEP);
	munmap(map, sizeof(*map));
	second = ring_make(12345678);
	socket_run();
	records_compare(context,
			"phase 1400: 4 from 1400, 4 of @/74, end 0\n"
			"phase 1500: 4 from 1400, 4 of @/74, end 1\n"
			"phase 1500: 5 from 1500, 7 of @/74, end 0\n"
			"drop 1 'library' 'a program ended while it wrote an event'\n"
			"lease 10000: 4 of @/73 slot 3 role ?\n"
			"lease 10000: 4 of @/74 slot 4 role ?\n"
			"phase 10000: 5 from 1500, 7 of @/74, end 2\n"
			"process @ @ 'me'\n"
			"process @ @\n",
			"exec ends a program's leases and phases");
	lease_append(second, 2000, GCHINT_STREAM_ATTACH, 1, 75, 0);
	phase_append(second, 2100, 1, 75, GCHINT_PHASE_MARK);
	second->tail++;
	timers_run();
	records_compare(context,
			"lease 2000: 0 of @/@ slot 1 role 0\n"
			"process @ @\n"
			"phase 2100: 6 from 2100, 4 of @/@, end 0\n",
			"a process in another PID namespace has no thread names");
	timers_run();
	records_compare(context, "", "a slow program is waited for");
	CHECK(watched_at(1)->period_ns, "polling continues meanwhile");
	munmap(second, sizeof(*second));
	second = ring_make(getpid());
	lease_append(second, 2200, GCHINT_STREAM_ATTACH, 2, 76, 0);
	lease_append(second, 2300, GCHINT_STREAM_CLOSE, 2, 76, 0);
	lease_append(second, 2400, GCHINT_STREAM_ATTACH, 2, 76, 0);
	socket_run();
	timers_run();
	records_compare(context,
			"drop 1 'library' 'a program ended while it wrote an event'\n"
			"lease 10000: 4 of @/@ slot 1 role ?\n"
			"phase 10000: 6 from 2100, 4 of @/@, end 2\n"
			"process @ @ 'me'\n"
			"process @ @\n"
			"lease 2200: 0 of @/76 slot 2 role 0\n"
			"process @ 76\n"
			"lease 10000: 5 of @/76 slot 2 role ?\n",
			"a closed ring is read to its end");
	munmap(second, sizeof(*second));
	CHECK(!watched_at(1)->period_ns && !watched_at(0)->period_ns,
	      "polling ends with the last ring");
}

/* A killed program: its phases end, and nothing is watched. */
static void kill_check(struct source_context *context)
{
	const struct record r = { .t = 1, .type = RECORD_SAMPLE };
	struct gchint_stream *map;
	int fd, ready[2];
	char want[400], byte;
	pid_t pid;

	map = map_new(&fd, true, 1);
	if (pipe(ready))
		abort();
	pid = fork();
	if (!pid) {
		ring_post(fd);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		abort();
	map->pid = pid;
	close(ready[0]);
	close(ready[1]);
	close(fd);
	socket_run();
	lease_append(map, 3000, GCHINT_STREAM_ATTACH, 511, pid, 0);
	timers_run();
	CHECK(watched_at(1)->period_ns, "a ring is polled while its process lives");
	phase_append(map, 3100, 511, pid, GCHINT_PHASE_MARK);
	map->tail++;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	snprintf(want, sizeof(want),
		 "process %d %d\n"
		 "lease 3000: 0 of %d/%d slot 511 role 0\n"
		 "process %d %d\n",
		 pid, pid, pid, pid, pid, pid);
	records_compare(context, want, "a program's lease is recorded");
	while (queue_room(context->queue) >= 1024)
		queue_push(context->queue, &r);
	timers_run();
	CHECK(queue_room(context->queue) == 1023 && watched_at(1)->period_ns,
	      "a dead program's events wait while the queue is full");
	queue_consume(context->queue, queue_fill(context->queue));
	timers_run();
	snprintf(want, sizeof(want),
		 "phase 3100: 7 from 3100, 4 of %d/%d, end 0\n"
		 "drop 1 'library' 'a program ended while it wrote an event'\n"
		 "lease 10000: 3 of %d/%d slot 511 role ?\n"
		 "phase 10000: 7 from 3100, 4 of %d/%d, end 2\n",
		 pid, pid, pid, pid, pid, pid);
	records_compare(context, want, "a killed program's leases and phases end");
	CHECK(!watched_at(1)->period_ns, "it is not polled after the process ended");
	munmap(map, sizeof(*map));
}

/*
 * The writer does not write. The wait for it is long enough to be told from other readings of the
 * clock, of which each is 100 ms after the one before.
 */
static void writer_hang(struct source_context *context)
{
	const struct record r = { .t = 1, .type = RECORD_SAMPLE };
	struct gchint_stream *map = ring_make(getpid());
	uint64_t waited[3], lost[3];

	socket_run();
	records_forget(context);
	while (queue_push(context->queue, &r))
		;
	faults.leap_ns = NSEC_PER_SEC / 10;
	for (int i = 0; i < 3; i++) {
		for (int n = 0; i < 2 && n < 20; n++)
			lease_append(map, 3500, GCHINT_STREAM_ATTACH, 1, 77, 0);
		munmap(map, sizeof(*map));
		waited[i] = faults.ahead_ns;
		lost[i] = context->lost;
		map = ring_make(getpid());
		socket_run();
		waited[i] = faults.ahead_ns - waited[i];
		lost[i] = context->lost - lost[i];
	}
	faults.leap_ns = faults.ahead_ns = 0;
	CHECK(waited[0] >= 5 * NSEC_PER_SEC, "a ring that is replaced is read whatever it takes,");
	CHECK(waited[1] < 5 * NSEC_PER_SEC && waited[2] < 5 * NSEC_PER_SEC,
	      "but the writer is waited for once if it hangs");
	CHECK(lost[1] == lost[2] + 20, "events that stay in a ring are counted");
	event_append(map,
		     &(struct gchint_stream_event){ .time = 5000, .type = GCHINT_STREAM_CLOSE });
	records_forget(context);
	timers_run();
	munmap(map, sizeof(*map));
	records_forget(context);
	context->lost = 0;
}

/* A full ring takes two rounds to read: what was lost comes behind both. */
static void overrun_check(struct source_context *context)
{
	struct gchint_stream *map = ring_make(getpid());

	socket_run();
	lease_append(map, 3000, GCHINT_STREAM_ATTACH, 0, 79, 0);
	for (int i = 0; i < NR - 4; i++)
		lease_append(map, 3000, GCHINT_STREAM_SAMPLE, 0, 1, 0);
	phase_append(map, 3100, 0, 79, GCHINT_PHASE_MARK);
	phase_append(map, 3200, 0, 79, GCHINT_PHASE_NONE);
	phase_append(map, 3300, 0, 79, GCHINT_PHASE_MARK);
	map->lost = 3;
	timers_run();
	timers_run();
	lease_append(map, 3900, GCHINT_STREAM_CLOSE, 0, 79, 0);
	timers_run();
	records_compare(context,
			"process @ @ 'me'\n"
			"process @ @\n"
			"lease 3000: 0 of @/79 slot 0 role 0\n"
			"process @ 79\n"
			"drop 3 'library' 'a program's ring ran over'\n"
			"phase 3100: 8 from 3100, 4 of @/79, end 0\n"
			"phase 3200: 8 from 3100, 4 of @/79, end 1\n"
			"phase 3300: 9 from 3300, 4 of @/79, end 0\n"
			"lease 10000: 5 of @/79 slot 0 role ?\n"
			"phase 10000: 9 from 3300, 4 of @/79, end 2, uncertain\n",
			"a phase whose end was lost is uncertain, and none before");
	munmap(map, sizeof(*map));
}

/* Whether the map file of this process is the text; removes it. */
static bool map_is(const char *want)
{
	char path[40], text[400] = "";
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "names/perf-%d.map", (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, text, sizeof(text) - 1);
	close(fd);
	unlink(path);
	text[n > 0 ? n : 0] = '\0';
	if (strcmp(text, want))
		printf("# the map has: %s\n", text);
	return !strcmp(text, want);
}

/* A ring of this process with names, whose file has @less bytes less. */
static struct gchint_stream *named_ring(size_t less, const char *text, size_t size, uint32_t tail)
{
	struct gchint_stream_names *names;
	struct gchint_stream *map;
	int fd;

	map = map_new(&fd, false, getpid());
	map->features = GCHINT_STREAM_NAMES;
	if (ftruncate(fd, (off_t)(sizeof(*map) + sizeof(*names) - less)) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ||
	    pwrite(fd, text, size,
		   (off_t)(sizeof(*map) + offsetof(struct gchint_stream_names, text))) < 0 ||
	    pwrite(fd, &tail, sizeof(tail),
		   (off_t)(sizeof(*map) + offsetof(struct gchint_stream_names, tail))) < 0)
		abort();
	ring_post(fd);
	close(fd);
	return map;
}

/* Names of methods, which programs write as they like. */
static void names_check(struct source_context *context)
{
	static const char lines[] = "10 1 one\n\0\0\0"
				    "20 1 two\n30 1 th\0\0"
				    "40 1 four\n50 1 unfinished";
	char *junk = malloc(2100);
	struct gchint_stream *map;

	if (!junk || mkdir("names", 0700) || setenv("GCHINT_SYMBOLS", "names", 1))
		abort();
	memset(junk, 'x', 2048);
	strcpy(junk + 2048, "\n60 1 s\n");
	const struct {
		const char *text, *want, *name;
		size_t size, less;
		uint32_t tail;
	} cases[] = {
		{ lines, "10 1 one\n20 1 two\n40 1 four\n", "finished names are written to the map",
		  sizeof(lines), 0, sizeof(lines) },
		{ lines, "10 1 one\n", "names end where the ring says", sizeof(lines), 0, 12 },
		{ lines, "10 1 one\n20 1 two\n40 1 four\n", "an end beyond the names is theirs",
		  sizeof(lines), 0, UINT32_MAX },
		{ junk, "60 1 s\n", "a line of any length is skipped", 2057, 0, 2057 },
		{ lines, "", "a file that is too short has no names", sizeof(lines), 1,
		  sizeof(lines) },
		{ "", "", "no names make no map", 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		map = named_ring(cases[i].less, cases[i].text, cases[i].size, cases[i].tail);
		socket_run();
		event_append(map, &(struct gchint_stream_event){ .time = 5000,
								 .type = GCHINT_STREAM_CLOSE });
		timers_run();
		munmap(map, sizeof(*map));
		records_compare(context,
				cases[i].less ?
					"drop 1 'library' 'names of a program's methods cannot be "
					"read'\n"
					"process @ @ 'me'\nprocess @ @\n" :
					"process @ @ 'me'\nprocess @ @\n",
				"a ring with names is a ring");
		CHECK(map_is(cases[i].want), cases[i].name);
	}
	rmdir("names");
	free(junk);
	unsetenv("GCHINT_SYMBOLS");
}

/* The kernel merges equal notifications: those of the directory and of a file in it alternate. */
static unsigned int scans_read(int inotify)
{
	char events[4096];
	const ssize_t n = read(inotify, events, sizeof(events));
	unsigned int scans = 0;

	for (ssize_t at = 0; at < n;) {
		struct inotify_event e;

		memcpy(&e, events + at, sizeof(e));
		at += (ssize_t)(sizeof(e) + e.len);
		scans += (e.mask & IN_ISDIR) && !e.len;
	}
	return scans;
}

/* Its directory of threads has one. */
static void invents_threads(struct source_context *context, const char *task)
{
	const int inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	struct gchint_stream *map = ring_make(12);
	char thread[60];

	snprintf(thread, sizeof(thread), "%s/4321", task);
	socket_run();
	if (inotify_add_watch(inotify, task, IN_OPEN) < 0 ||
	    inotify_add_watch(inotify, thread, IN_OPEN) < 0)
		abort();
	for (int i = 0; i < 50; i++)
		lease_append(map, 3950, GCHINT_STREAM_ATTACH, 0, 1000 + i, 0);
	lease_append(map, 3950, GCHINT_STREAM_ATTACH, 1, 78, 0);
	event_append(map,
		     &(struct gchint_stream_event){ .time = 5000, .type = GCHINT_STREAM_CLOSE });
	timers_run();
	CHECK(scans_read(inotify) == 4, "threads that a program invents are searched 4 times");
	close(inotify);
	munmap(map, sizeof(*map));
	records_forget(context);
}

/* Three threads have begun a line of 500 bytes, and finish them later. */
static void begun_names(void)
{
	struct gchint_stream_names *names = calloc(1, sizeof(*names));
	const struct ring_reader reader = { .names = names };
	char line[RING_NAME];
	unsigned int lines = 0;
	uint32_t at = 0;
	bool early;

	if (!names)
		abort();
	names->tail = 3 * 500;
	early = ring_name(&reader, &at, false, line);
	memset(names->text, 'x', 3 * 500);
	for (int i = 1; i <= 3; i++)
		names->text[i * 500 - 1] = '\n';
	while (ring_name(&reader, &at, false, line))
		lines += strlen(line) == 499;
	CHECK(!early && lines == 3, "names of several threads at once are waited for");
	free(names);
}

static void called_append(struct gchint_stream *map, uint64_t t, int32_t tid, const char *name)
{
	struct gchint_stream_event e = { .time = t, .type = GCHINT_STREAM_NAME, .tid = tid };
	char text[16] = "";

	memcpy(text, name, strnlen(name, sizeof(text)));
	memcpy(&e.work_done, text, 8);
	memcpy(&e.work_total, text + 8, 8);
	event_append(map, &e);
}

/* A ring that another process writes says what threads are called: they may have ended. */
static void called_check(struct source_context *context)
{
	struct gchint_stream *map;
	int fd;

	map = map_new(&fd, true, getpid());
	map->features = GCHINT_STREAM_EXTERNAL | GCHINT_STREAM_NAMED;
	ring_post(fd);
	close(fd);
	socket_run();
	records_compare(context, "process @ @ 'me'\n",
			"a process is read for its samples alone if its name comes with its ring");
	called_append(map, 100, getpid(), "sh");
	lease_append(map, 200, GCHINT_STREAM_ATTACH, 0, 75, 0);
	called_append(map, 200, 75, "sixteen letters!");
	called_append(map, 300, 75, "");
	strcpy(map->runtime, "toy");
	event_append(map,
		     &(struct gchint_stream_event){ .time = 400, .type = GCHINT_STREAM_CLOSE });
	timers_run();
	records_compare(context,
			"runtime @ 'toy'\n"
			"process @ @ 'sh'\n"
			"lease 200: 0 of @/75 slot 0 role 0\n"
			"process @ 75\n"
			"process @ 75 'sixteen letters!'\n"
			"lease 10000: 5 of @/75 slot 0 role ?\n",
			"a thread is called as its ring says, without a name as before");
	munmap(map, sizeof(*map));
}

void unit_library(void)
{
	const struct source *hotspots = source_table[SOURCE_hotspots];
	const struct source *library = source_table[SOURCE_library];
	struct gchint_stream *map;
	void *state = NULL, *other = NULL;
	struct place place;
	struct source_context context;
	char path[40];

	if (!place_enter(&place))
		return;
	place_context(&context);
	place_low(true);
	out = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	faults.at_ns = 10000;
	snprintf(path, sizeof(path), "proc/%d/comm", (int)getpid());
	place_file(path, "me\n");
	CHECK(!hotspots->start(&context, &other), "programs are sampled");
	/* Another test checks the event. */
	records_forget(&context);
	start_check(&context, &state);
	strangers_check(&context);
	map = hints_check(&context);
	floods_check(&context, map);
	replacement_check(&context, map);
	kill_check(&context);
	overrun_check(&context);
	writer_hang(&context);
	names_check(&context);
	begun_names();
	called_check(&context);
	/* At the end pending events are read, and everything ends. */
	map = ring_make(12);
	lease_append(map, 3900, GCHINT_STREAM_ATTACH, 0, 12, 0);
	lease_append(map, 3900, GCHINT_STREAM_ATTACH, 1, 78, 0);
	lease_append(map, 3900, GCHINT_STREAM_ATTACH, 2, 1, 0);
	event_append(map,
		     &(struct gchint_stream_event){ .time = 5000, .type = GCHINT_STREAM_CLOSE });
	socket_run();
	snprintf(path, sizeof(path), "proc/%d/task/4321/status", (int)getpid());
	place_file(path, "Name:\tme\nNSpid:\t4321\t1\t78\n");
	timers_run();
	records_compare(&context,
			"process @ @ 'me'\n"
			"process @ @\n"
			"lease 3900: 0 of @/@ slot 0 role 0\n"
			"process @ @\n"
			"lease 3900: 0 of @/4321 slot 1 role 0\n"
			"process @ 4321\n"
			"lease 3900: 0 of @/@ slot 2 role 0\n"
			"process @ @\n"
			"lease 10000: 5 of @/@ slot 0 role ?\n"
			"lease 10000: 5 of @/4321 slot 1 role ?\n"
			"lease 10000: 5 of @/@ slot 2 role ?\n",
			"a thread in another PID namespace has its number here");
	munmap(map, sizeof(*map));
	snprintf(path, sizeof(path), "proc/%d/task", (int)getpid());
	invents_threads(&context, path);
	unit_remove(path);
	map = ring_make(getpid());
	lease_append(map, 4000, GCHINT_STREAM_ATTACH, 1, 77, 0);
	context.patient = true;
	library->stop(state);
	munmap(map, sizeof(*map));
	records_compare(&context,
			"process @ @ 'me'\n"
			"process @ @\n"
			"lease 4000: 0 of @/77 slot 1 role 0\n"
			"process @ 77\n"
			"lease 10000: 5 of @/77 slot 1 role ?\n",
			"pending events are read at the end");
	CHECK(watched_open() == 1 && access("stream", F_OK), "the socket is removed");
	hotspots->stop(other);
	close(out);
	unsetenv("GCHINT_STREAM");
	faults.at_ns = 0;
	place_low(false);
	place_context_free(&context);
	place_leave(&place);
}
