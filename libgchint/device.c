// SPDX-License-Identifier: MIT
/* /dev/gchint: open, map, call. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int device_open(struct gchint_session *s, const char *path)
{
	const size_t size = page_size();
	struct gchint_info *info;
	void *slots;
	int fd, ret;

	fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	fd = fd_above_stdio(fd);
	if (fd < 0)
		return fd;

	info = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, GCHINT_MMAP_INFO);
	if (info == MAP_FAILED) {
		ret = -errno;
		goto close_fd;
	}
	/* Append-only: a newer kernel fills more and means the same by the rest. */
	if (info->abi < GCHINT_ABI || info->size < sizeof(struct gchint_info)) {
		ret = -EPROTONOSUPPORT;
		goto unmap_info;
	}
	slots = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, GCHINT_MMAP_SLOTS);
	if (slots == MAP_FAILED) {
		ret = -errno;
		goto unmap_info;
	}
	identity_of(fd, &s->device);
	store_relaxed(&s->fd, fd);
	store_relaxed(&s->info, info);
	store_relaxed(&s->slots, slots);
	return 0;

unmap_info:
	munmap(info, size);
close_fd:
	close(fd);
	return ret;
}

static void blank(void *page, size_t size)
{
	mmap(page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void device_close(struct gchint_session *s, int mapped)
{
	const size_t size = page_size();
	struct gchint_info *info = (struct gchint_info *)s->info;
	void *slots = s->slots;

	if (s->fd >= 0 && identity_is(s->fd, &s->device))
		close(s->fd);
	store_relaxed(&s->fd, -1);
	if (!slots)
		return;
	if (mapped) {
		blank(slots, size);
		blank(info, size);
		store_relaxed(&info->doorbell_begin, UINT32_MAX);
		return;
	}
	store_relaxed(&s->slots, NULL);
	store_relaxed(&s->info, NULL);
	munmap(slots, size);
	munmap(info, size);
}

int device_attach(struct gchint_session *s, struct gchint_attach *attach)
{
	return ioctl(load_relaxed(&s->fd), GCHINT_IOC_ATTACH, attach) < 0 ? -errno : 0;
}

int device_set_role(struct gchint_session *s, uint32_t slot, uint32_t role, uint32_t lead)
{
	struct gchint_set_role arg = { .slot = slot, .role = role, .lead = lead };

	return ioctl(load_relaxed(&s->fd), GCHINT_IOC_SET_ROLE, &arg) < 0 ? -errno : 0;
}

int device_detach(struct gchint_session *s, uint32_t slot)
{
	return ioctl(load_relaxed(&s->fd), GCHINT_IOC_DETACH, (unsigned long)slot) < 0 ? -errno : 0;
}

int device_ring(struct gchint_session *s, uint32_t slot)
{
	return ioctl(load_relaxed(&s->fd), GCHINT_IOC_RING, (unsigned long)slot) < 0 ? -errno : 0;
}
