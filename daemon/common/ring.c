// SPDX-License-Identifier: GPL-2.0-or-later
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "clock.h"

/* How long a ring written by another process stays open after its program ended. */
#define GRACE_NS (2 * NSEC_PER_SEC)

/* Maps the names that follow the ring, if there are any. */
static const struct gchint_stream_names *names_map(const struct gchint_stream *ring, int fd,
						   off_t size)
{
	void *map;

	if (!(ring->features & GCHINT_STREAM_NAMES) ||
	    size < (off_t)(sizeof(*ring) + sizeof(struct gchint_stream_names)))
		return NULL;
	/* The ring ends within a page, where the names begin. */
	map = mmap(NULL, sizeof(*ring) + sizeof(struct gchint_stream_names), PROT_READ, MAP_SHARED,
		   fd, 0);
	return map == MAP_FAILED ? NULL : (const void *)((const struct gchint_stream *)map + 1);
}

/* Its program can punch a hole into such a file: to read it is SIGBUS if no huge page is left. */
static bool file_is_huge(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) || (unsigned long)fs.f_type == HUGETLBFS_MAGIC;
}

/* Returns NULL and sets *why if the file is not a ring of libgchint's. */
static struct gchint_stream *ring_map(int fd, off_t *size, const char **why)
{
	struct gchint_stream *map;
	struct stat st;
	int seals;

	*why = "not a sealed ring of libgchint's";
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || file_is_huge(fd) || fstat(fd, &st) ||
	    st.st_size < (off_t)sizeof(*map))
		return NULL;
	*size = st.st_size;
	map = mmap(NULL, sizeof(*map), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		*why = "no memory for a ring";
		return NULL;
	}
	if (map->magic == GCHINT_STREAM_MAGIC && map->abi >= GCHINT_STREAM_ABI &&
	    map->events == GCHINT_STREAM_EVENTS)
		return map;
	munmap(map, sizeof(*map));
	*why = "a ring of another version";
	return NULL;
}

/* The first descriptor of a message. Any program may send more: they are closed. */
static int descriptor_first(const struct cmsghdr *c)
{
	int fd, more;

	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	for (size_t at = CMSG_LEN(2 * sizeof(fd)); at <= c->cmsg_len; at += sizeof(fd)) {
		memcpy(&more, (const char *)c + at - sizeof(more), sizeof(more));
		close(more);
	}
	return fd;
}

/*
 * The process that a ring is of: the sender, or one that it watches. Root may send for any process,
 * and a user who reads for his own.
 */
static bool ring_find_process(struct ring_reader *ring, const struct ucred *sender,
			      const char **why)
{
	const struct gchint_stream *map = ring->map;

	ring->pid = sender->pid;
	if (!(map->features & GCHINT_STREAM_BEHALF))
		return true;
	*why = "a ring of another user's program";
	if (sender->uid && sender->uid != geteuid())
		return false;
	*why = "a ring of a program in another pid namespace";
	ring->pid = map->pid;
	return map->sender == sender->pid && ring->pid > 0;
}

int ring_receive(int socket, struct ring_reader *ring, const char **why)
{
	union {
		char space[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct ucred sender = { .pid = 0 };
	off_t size = 0;
	int fd = -1;

	memset(ring, 0, sizeof(*ring));
	if (recvmsg(socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return -EAGAIN;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_CREDENTIALS)
			memcpy(&sender, CMSG_DATA(c), sizeof(sender));
		else if (c->cmsg_type == SCM_RIGHTS)
			fd = descriptor_first(c);
	}
	*why = fd >= 0 && !sender.pid ? FOREIGN_WHY : "a message without a ring";
	if (fd >= 0 && sender.pid > 0)
		ring->map = ring_map(fd, &size, why);
	if (ring->map && !ring_find_process(ring, &sender, why)) {
		munmap(ring->map, sizeof(*ring->map));
		ring->map = NULL;
	}
	if (ring->map)
		ring->names = names_map(ring->map, fd, size);
	if (fd >= 0)
		close(fd);
	if (!ring->map)
		return -EINVAL;
	ring->pidfd = (int)syscall(SYS_pidfd_open, ring->pid, 0);
	return 0;
}

void ring_close(struct ring_reader *ring)
{
	munmap(ring->map, sizeof(*ring->map));
	if (ring->names)
		munmap((char *)(uintptr_t)ring->names - sizeof(*ring->map),
		       sizeof(*ring->map) + sizeof(*ring->names));
	if (ring->pidfd >= 0)
		close(ring->pidfd);
}

int late_open(const char *socket)
{
	char path[256];
	int fd;

	if (snprintf(path, sizeof(path), "%s" LATE_SUFFIX, socket) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	/* Its directory protects it; programs of root may change their user. */
	if (!fchmod(fd, 0666))
		return fd;
	close(fd);
	unlink(path);
	return -EACCES;
}

void late_close(int fd, const char *socket)
{
	struct stat ours, there;
	char path[256];

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "%s" LATE_SUFFIX, socket);
	if (!fstat(fd, &ours) && !lstat(path, &there) && ours.st_dev == there.st_dev &&
	    ours.st_ino == there.st_ino)
		unlink(path);
	close(fd);
}

/* Partner: recorder_count_late() of libgchint/stream.c. */
uint64_t late_count(int fd)
{
	char text[4096];
	uint64_t count = 0;
	off_t at = 0;
	ssize_t n;

	while (fd >= 0 && (n = pread(fd, text, sizeof(text), at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			count += text[i] == '\n';
		at += n;
	}
	return count;
}

/* Partner: event_take() of libgchint/stream.c. */
enum ring_found ring_next(struct ring_reader *ring, struct gchint_stream_event *event, bool dead)
{
	struct gchint_stream_event *at = &ring->map->event[ring->position % GCHINT_STREAM_EVENTS];

	if (__atomic_load_n(&at->ticket, __ATOMIC_ACQUIRE) != ring->position + 1) {
		if (!dead || ring->position == __atomic_load_n(&ring->map->tail, __ATOMIC_RELAXED))
			return RING_EMPTY;
		ring->position++;
		return RING_UNFINISHED;
	}
	memcpy(event, at, sizeof(*event));
	__atomic_store_n(&at->ticket, ring->position + GCHINT_STREAM_EVENTS, __ATOMIC_RELEASE);
	ring->position++;
	return RING_EVENT;
}

/* Partner: stream_name() of libgchint/stream.c. */
bool ring_name(const struct ring_reader *ring, uint32_t *at, bool dead, char line[RING_NAME])
{
	uint32_t tail = ring->names ? __atomic_load_n(&ring->names->tail, __ATOMIC_ACQUIRE) : 0;

	if (tail > sizeof(ring->names->text))
		tail = sizeof(ring->names->text);
	while (*at < tail) {
		const char *text = ring->names->text + *at, *end, *zero;
		const size_t n = tail - *at < RING_NAME ? tail - *at : RING_NAME;

		end = memchr(text, '\n', n);
		/* Several lines may have been begun: these zeros are theirs. */
		if (!end && !dead && memchr(text, '\0', n))
			return false;
		if (!end && (dead || n == RING_NAME)) {
			*at += (uint32_t)n;
			continue;
		}
		if (!end)
			return false;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		/* The program may write anything at any time: decide by the copy. */
		memcpy(line, text, (size_t)(end - text));
		line[end - text] = '\0';
		zero = memrchr(line, '\0', (size_t)(end - text));
		if (zero && !dead)
			return false;
		*at += (uint32_t)(end - text) + 1;
		if (zero)
			memmove(line, zero + 1, (size_t)(line + (end - text) - zero));
		if (*line && !memchr(line, '\n', strlen(line)))
			return true;
	}
	return false;
}

bool ring_runtime(const struct ring_reader *ring, char name[GCHINT_STREAM_RUNTIME])
{
	/* Partner: ring_set_runtime() of libgchint's stream.c. */
	name[0] = __atomic_load_n(&ring->map->runtime[0], __ATOMIC_ACQUIRE);
	if (!name[0])
		return false;
	memcpy(name + 1, &ring->map->runtime[1], GCHINT_STREAM_RUNTIME - 2);
	name[GCHINT_STREAM_RUNTIME - 1] = '\0';
	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

uint32_t ring_unread(const struct ring_reader *ring)
{
	const uint32_t n = __atomic_load_n(&ring->map->tail, __ATOMIC_RELAXED) - ring->position;

	return n < GCHINT_STREAM_EVENTS ? n : GCHINT_STREAM_EVENTS;
}

uint32_t ring_lost(struct ring_reader *ring)
{
	const uint32_t lost = __atomic_load_n(&ring->map->lost, __ATOMIC_ACQUIRE);
	const uint32_t ends = __atomic_load_n(&ring->map->lost_ends, __ATOMIC_RELAXED);
	const uint32_t more = lost - ring->lost, of_ends = ends - ring->lost_ends;

	ring->lost = lost;
	ring->lost_ends = ends;
	/* The program may write anything. An end alone is that of a phase which has none now. */
	return of_ends < more ? more - of_ends : more > 0;
}

static bool ring_process_ended(const struct ring_reader *ring)
{
	struct pollfd p = { .fd = ring->pidfd, .events = POLLIN };

	if (ring->pidfd < 0)
		return kill(ring->pid, 0) && errno == ESRCH;
	return poll(&p, 1, 0) > 0;
}

bool ring_dead(struct ring_reader *ring)
{
	if (!ring_process_ended(ring))
		return false;
	if (!(ring->map->features & GCHINT_STREAM_EXTERNAL))
		return true;
	if (!ring->ended)
		ring->ended = clock_now();
	return clock_now() - ring->ended > GRACE_NS;
}
