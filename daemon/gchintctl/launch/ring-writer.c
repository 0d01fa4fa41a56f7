// SPDX-License-Identifier: GPL-2.0-or-later
#include "ring-writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

bool ring_writer_open(struct ring_writer *w, pid_t pid)
{
	*w = (struct ring_writer){ .memory = memfd_create("gchint",
							  MFD_CLOEXEC | MFD_ALLOW_SEALING) };
	if (w->memory < 0)
		return false;
	if (!ftruncate(w->memory, sizeof(*w->ring)) &&
	    !fcntl(w->memory, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW))
		w->ring = mmap(NULL, sizeof(*w->ring), PROT_READ | PROT_WRITE, MAP_SHARED,
			       w->memory, 0);
	if (!w->ring || w->ring == MAP_FAILED) {
		close(w->memory);
		return false;
	}
	w->ring->abi = GCHINT_STREAM_ABI;
	w->ring->events = GCHINT_STREAM_EVENTS;
	w->ring->features = GCHINT_STREAM_EXTERNAL;
	w->ring->pid = pid;
	for (uint32_t n = 0; n < GCHINT_STREAM_EVENTS; n++)
		w->ring->event[n].ticket = n;
	w->ring->magic = GCHINT_STREAM_MAGIC;
	return true;
}

void ring_writer_close(struct ring_writer *w)
{
	munmap(w->ring, sizeof(*w->ring));
	close(w->memory);
}

int ring_writer_send(struct ring_writer *w, const char *socket_path, bool behalf, bool wait)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	char byte = 'G';
	struct iovec iov = { &byte, 1 };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct msghdr msg = {
		.msg_name = &to,
		.msg_namelen = sizeof(to),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *m = CMSG_FIRSTHDR(&msg);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret = 0;

	if (behalf) {
		w->ring->features |= GCHINT_STREAM_BEHALF;
		w->ring->sender = getpid();
	}
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", socket_path);
	m->cmsg_level = SOL_SOCKET;
	m->cmsg_type = SCM_RIGHTS;
	m->cmsg_len = CMSG_LEN(sizeof(w->memory));
	memcpy(CMSG_DATA(m), &w->memory, sizeof(w->memory));
	if (fd < 0 || sendmsg(fd, &msg, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT)) != 1)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

void ring_writer_lose(struct ring_writer *w, uint64_t count)
{
	__atomic_fetch_add(&w->ring->lost, (uint32_t)count, __ATOMIC_RELAXED);
}

bool ring_writer_has_room(const struct ring_writer *w, uint32_t events)
{
	const uint32_t last = w->ticket + events - 1;

	return __atomic_load_n(&w->ring->event[last % GCHINT_STREAM_EVENTS].ticket,
			       __ATOMIC_ACQUIRE) == last;
}

/* Like libgchint's stream.c, but with a single writer. */
static void event_write(struct ring_writer *w, const struct gchint_stream_event *of)
{
	struct gchint_stream_event *e = &w->ring->event[w->ticket % GCHINT_STREAM_EVENTS];

	if (of->slot >= RING_LEASES || __atomic_load_n(&e->ticket, __ATOMIC_ACQUIRE) != w->ticket) {
		ring_writer_lose(w, 1);
		return;
	}
	__atomic_store_n(&w->ring->tail, w->ticket + 1, __ATOMIC_RELAXED);
	/* All but the ticket, which is the first member. */
	memcpy(&e->tid, &of->tid, sizeof(*of) - sizeof(of->ticket));
	__atomic_store_n(&e->ticket, ++w->ticket, __ATOMIC_RELEASE);
}

uint32_t ring_writer_slot(struct ring_writer *w, const struct probe_hit *h)
{
	uint32_t slot = 0, empty = RING_LEASES;

	for (; slot < RING_LEASES && w->tid[slot] != h->tid; slot++)
		if (!w->tid[slot] && empty == RING_LEASES)
			empty = slot;
	if (slot < RING_LEASES || empty == RING_LEASES)
		return slot;
	w->tid[empty] = h->tid;
	event_write(w, &(struct gchint_stream_event){ .tid = h->tid,
						      .time = h->time,
						      .cpu = h->cpu,
						      .slot = empty,
						      .type = GCHINT_STREAM_ATTACH });
	return empty;
}

void ring_writer_detach(struct ring_writer *w, uint32_t slot, uint64_t time)
{
	if (slot >= RING_LEASES || !w->tid[slot])
		return;
	event_write(w, &(struct gchint_stream_event){ .tid = w->tid[slot],
						      .time = time,
						      .cpu = GCHINT_STREAM_NO_CPU,
						      .slot = slot,
						      .type = GCHINT_STREAM_DETACH });
	w->tid[slot] = 0;
}

void ring_writer_phase(struct ring_writer *w, const struct probe_hit *h, uint32_t slot,
		       unsigned int phase, unsigned int flags, unsigned int cause)
{
	event_write(w, &(struct gchint_stream_event){ .tid = h->tid,
						      .time = h->time,
						      .cpu = h->cpu,
						      .slot = slot,
						      .type = GCHINT_STREAM_PHASE,
						      .phase = (uint8_t)phase,
						      .flags = (uint8_t)flags,
						      .cause = (uint8_t)cause });
}

void ring_writer_name(struct ring_writer *w, pid_t tid, uint64_t time,
		      const char name[PROBE_NAME_SIZE])
{
	struct gchint_stream_event e = {
		.tid = tid, .time = time, .cpu = GCHINT_STREAM_NO_CPU, .type = GCHINT_STREAM_NAME
	};

	memcpy(&e.work_done, name, sizeof(e.work_done));
	memcpy(&e.work_total, name + sizeof(e.work_done), sizeof(e.work_total));
	event_write(w, &e);
}

void ring_writer_runtime(struct ring_writer *w, const char *name)
{
	char *to = w->ring->runtime;

	if (*to || !*name || strlen(name) >= GCHINT_STREAM_RUNTIME)
		return;
	strcpy(to + 1, name + 1);
	/* Partner: ring_runtime() of the recorder. */
	__atomic_store_n(to, *name, __ATOMIC_RELEASE);
}

void ring_writer_end(struct ring_writer *w, uint64_t time)
{
	event_write(w, &(struct gchint_stream_event){ .time = time,
						      .cpu = GCHINT_STREAM_NO_CPU,
						      .type = GCHINT_STREAM_CLOSE });
}
