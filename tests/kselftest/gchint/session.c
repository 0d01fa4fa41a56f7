// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session.h"

#define PAGE 4096

int session_open(struct session *s)
{
	uint64_t generation;
	void *page;
	int ret;

	memset(s, 0, sizeof(*s));
	s->fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (s->fd < 0)
		return -errno;
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, s->fd, GCHINT_MMAP_INFO);
	if (page == MAP_FAILED)
		goto err_close;
	s->info = page;
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd,
		    GCHINT_MMAP_SLOTS);
	if (page == MAP_FAILED)
		goto err_unmap;
	s->slots = page;
	/* From here on the page is valid. */
	if (read(s->fd, &generation, sizeof(generation)) != sizeof(generation)) {
		ret = -errno;
		session_close(s);
		return ret;
	}
	return 0;

err_unmap:
	ret = -errno;
	munmap((void *)s->info, PAGE);
	close(s->fd);
	s->fd = -1;
	return ret;
err_close:
	ret = -errno;
	close(s->fd);
	s->fd = -1;
	return ret;
}

/* A file lives while it is mapped: the session ends with the last of three. */
void session_close(struct session *s)
{
	if (s->fd < 0)
		return;
	munmap((void *)s->info, PAGE);
	munmap((void *)s->slots, PAGE);
	close(s->fd);
	s->fd = -1;
}

int session_attach(struct session *s, int tid, unsigned int role,
		   unsigned int lead)
{
	struct gchint_attach attach = { .tid = tid, .role = role, .lead = lead };

	if (ioctl(s->fd, GCHINT_IOC_ATTACH, &attach))
		return -errno;
	return attach.slot;
}

int session_detach(struct session *s, unsigned int slot)
{
	return ioctl(s->fd, GCHINT_IOC_DETACH, (unsigned long)slot) ? -errno : 0;
}

int session_ring(struct session *s, unsigned int slot)
{
	return ioctl(s->fd, GCHINT_IOC_RING, (unsigned long)slot) ? -errno : 0;
}

int session_role(struct session *s, unsigned int slot, unsigned int role,
		 unsigned int lead)
{
	struct gchint_set_role set = { .slot = slot, .role = role, .lead = lead };

	return ioctl(s->fd, GCHINT_IOC_SET_ROLE, &set) ? -errno : 0;
}

void session_store(struct session *s, unsigned int slot, unsigned int phase,
		   unsigned int flags)
{
	uint32_t old = s->slots[slot].state;
	uint32_t new = GCHINT_STATE((old & GCHINT_STATE_SEQ_MASK) +
				    GCHINT_STATE_EDGE, phase, flags);

	__atomic_store_n(&s->slots[slot].state, new, __ATOMIC_RELAXED);
}

void session_progress(struct session *s, unsigned int slot, uint64_t done,
		      uint64_t total, uint64_t stall_ns)
{
	volatile struct gchint_slot *line = &s->slots[slot];
	uint32_t old = line->state;
	uint32_t seq = (old & GCHINT_STATE_SEQ_MASK) + GCHINT_STATE_EDGE;

	__atomic_store_n(&line->state, old | GCHINT_STATE_WRITING, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	line->work_done = done;
	line->work_total = total;
	line->stall_ns = stall_ns;
	__atomic_store_n(&line->state, (old & ~GCHINT_STATE_SEQ_MASK) |
			 (seq & GCHINT_STATE_SEQ_MASK), __ATOMIC_RELEASE);
}

int session_edge(struct session *s, unsigned int slot, unsigned int phase,
		 unsigned int flags)
{
	unsigned int ended = s->slots[slot].state & 0xff;
	uint32_t begin, end;
	int ret;

	session_store(s, slot, phase, flags);
	begin = __atomic_load_n(&s->info->doorbell_begin, __ATOMIC_RELAXED);
	end = __atomic_load_n(&s->info->doorbell_end, __ATOMIC_RELAXED);
	if (!((phase && begin & 1u << phase) || (ended && end & 1u << ended)))
		return 0;
	ret = session_ring(s, slot);
	if (ret)
		return ret;
	s->rung++;
	return 1;
}

int session_watch_quietly(struct session *s)
{
	int ret = session_open(s);

	if (ret)
		return ret;
	ret = session_attach(s, 0, GCHINT_ROLE_CONCURRENT, 0);
	return ret < 0 ? ret : 0;
}
