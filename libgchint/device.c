// SPDX-License-Identifier: MIT
/* /dev/gchint: open, map, call. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "retired.h"

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Open the device on a descriptor above standard error. Return: descriptor or -errno. */
static int open_device(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	fd = fd_above_stdio(fd);
	if (fd < 0)
		return fd;
	/* A regular file may be truncated while it is mapped, which raises SIGBUS. */
	if (fstat(fd, &st) || !S_ISCHR(st.st_mode)) {
		close(fd);
		return -ENODEV;
	}
	return fd;
}

#define BLOCK_BYTES (GCHINT_SLOTS * sizeof(struct gchint_slot))

/* Map over @over, a page of a closed session, unless it is NULL. */
static void *mapping_make(void *over, size_t size, int protection, int fd, off_t offset)
{
	return mmap(over, size, protection, MAP_SHARED | (over ? MAP_FIXED : 0), fd, offset);
}

/*
 * Map slot block @n of the session @fd into @block, the @number-th of this process, which no
 * other thread can see yet. A page may hold several blocks; it is then mapped once for each.
 */
static int block_map(struct gchint_session *s, struct slot_block *block, unsigned int number,
		     unsigned int n, int fd)
{
	const size_t within = n * BLOCK_BYTES % page_size();
	char *page;

	page = mapping_make(retired_take_slots(s, number), page_size(), PROT_READ | PROT_WRITE, fd,
			    (off_t)(GCHINT_MMAP_SLOTS + n * BLOCK_BYTES - within));
	if (page == MAP_FAILED)
		return -errno;
	store_relaxed(&block->slots, (struct gchint_slot *)(void *)(page + within));
	return 0;
}

static void block_set_fd(struct slot_block *block, int fd)
{
	fd_identify(fd, &block->device);
	store_relaxed(&block->fd, fd);
}

/* Size of the mapping of all CPUs; 0 if there is none or its entries are too short. */
static size_t cpus_size(const struct gchint_info *info)
{
	if (!(info->features & GCHINT_FEATURE_CPUS) ||
	    info->cpu_size < sizeof(struct gchint_info_cpu) || !info->nr_cpus)
		return 0;
	return (size_t)info->nr_cpus * info->cpu_size;
}

/* NULL on a kernel without this mapping: the information page lists the first CPUs. */
static const void *map_cpus(struct gchint_session *s, const struct gchint_info *info, int fd)
{
	const size_t size = cpus_size(info);
	void *cpus;

	if (!size)
		return NULL;
	cpus = mapping_make(retired_take_cpus(s, size), size, PROT_READ, fd, GCHINT_MMAP_CPUS);
	return cpus == MAP_FAILED ? NULL : cpus;
}

int device_open(struct gchint_session *s, const char *path)
{
	const size_t size = page_size();
	struct gchint_info *info;
	int fd, ret;

	fd = open_device(path);
	if (fd < 0)
		return fd;
	retired_sweep(s);
	info = mapping_make(retired_take_info(s), size, PROT_READ, fd, GCHINT_MMAP_INFO);
	if (info == MAP_FAILED) {
		ret = -errno;
		goto close_fd;
	}
	/* The page is append-only: a newer kernel adds fields and changes none. */
	if (info->abi < GCHINT_ABI || info->size < sizeof(struct gchint_info)) {
		ret = -EPROTONOSUPPORT;
		goto unmap_info;
	}
	ret = block_map(s, &s->block, 0, 0, fd);
	if (ret)
		goto unmap_info;
	block_set_fd(&s->block, fd);
	s->grows = (info->features & GCHINT_FEATURE_GROW) != 0;
	store_relaxed(&s->cpus, map_cpus(s, info, fd));
	store_relaxed(&s->info, info);
	return 0;

unmap_info:
	munmap(info, size);
close_fd:
	close(fd);
	return ret;
}

/* The slot block whose descriptor serves @slot; slot_number() is the slot's number there. */
static struct slot_block *block_of_slot(struct gchint_session *s, uint32_t slot)
{
	return s->grows ? &s->block : block_at(s, slot / GCHINT_SLOTS);
}

static uint32_t slot_number(const struct gchint_session *s, uint32_t slot)
{
	return s->grows ? slot : slot % GCHINT_SLOTS;
}

/* -1 if the descriptor was closed. */
static int slot_fd(struct gchint_session *s, uint32_t slot)
{
	struct slot_block *block = block_of_slot(s, slot);

	return block ? load_acquire(&block->fd) : -1;
}

/* Open a further session of the device: kernels whose sessions cannot grow. */
static int block_open_session(struct gchint_session *s, unsigned int number,
			      struct slot_block *block)
{
	char path[] = "/proc/self/fd/\0\0\0\0\0\0\0\0\0\0";
	unsigned int n, digits = 0;
	int fd, ret;

	/* Open the same device as the first session; the environment may have changed since. */
	fd = slot_fd(s, 0);
	if (fd < 0)
		return -EBADF;
	for (n = (unsigned int)fd; n; n /= 10)
		digits++;
	for (n = (unsigned int)fd; n; n /= 10)
		path[sizeof("/proc/self/fd/") - 2 + digits--] = (char)('0' + n % 10);
	fd = open_device(s->elsewhere ? path : "/dev/" GCHINT_DEVICE);
	if (fd < 0)
		return fd;
	ret = block_map(s, block, number, 0, fd);
	if (ret)
		close(fd);
	else
		block_set_fd(block, fd);
	return ret;
}

int device_open_block(struct gchint_session *s, unsigned int n, struct slot_block *block)
{
	const unsigned long slots = (n + 1ul) * GCHINT_SLOTS;
	const int fd = slot_fd(s, 0);

	if (!s->grows)
		return block_open_session(s, n, block);
	if (fd < 0)
		return -EBADF;
	if (ioctl(fd, GCHINT_IOC_GROW, slots) < 0)
		return -errno;
	return block_map(s, block, n, n, fd);
}

static void mapping_blank(void *page, size_t size)
{
	mmap(page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void *block_close(struct slot_block *block)
{
	char *page = NULL;

	if (block->fd >= 0 && fd_is(block->fd, &block->device))
		close(block->fd);
	store_relaxed(&block->fd, -1);
	if (block->slots)
		page = (char *)block->slots - (uintptr_t)block->slots % page_size();
	return page;
}

void device_close_block(struct slot_block *block)
{
	void *page = block_close(block);

	if (!page)
		return;
	munmap(page, page_size());
	store_relaxed(&block->slots, NULL);
}

void device_close(struct gchint_session *s)
{
	struct gchint_info *info = (struct gchint_info *)s->info;
	struct slot_block *block;
	unsigned int n;
	size_t cpus;

	for (n = 0; (block = block_at(s, n)); n++)
		device_close_block(block);
	if (!info)
		return;
	cpus = s->cpus ? cpus_size(info) : 0;
	if (cpus)
		munmap((void *)s->cpus, cpus);
	store_relaxed(&s->cpus, NULL);
	store_relaxed(&s->info, NULL);
	munmap(info, page_size());
}

/* Pages that are not noted in @retired stay for good. */
void device_retire(struct gchint_session *s, struct retired *retired)
{
	struct gchint_info *info = (struct gchint_info *)s->info;
	struct slot_block *block;
	unsigned int n;
	size_t cpus;
	void *page;

	for (n = 0; (block = block_at(s, n)); n++) {
		page = block_close(block);
		if (!page)
			continue;
		mapping_blank(page, page_size());
		if (retired)
			store_relaxed(&retired->slots[n], page);
	}
	if (!info)
		return;
	cpus = s->cpus ? cpus_size(info) : 0;
	mapping_blank(info, page_size());
	store_relaxed(&info->doorbell_begin, UINT32_MAX);
	if (cpus)
		mapping_blank((void *)s->cpus, cpus);
	if (!retired)
		return;
	retired->cpus_size = cpus;
	store_relaxed(&retired->cpus, cpus ? (void *)s->cpus : NULL);
	store_relaxed(&retired->info, info);
}

int device_attach(struct gchint_session *s, unsigned int block, struct gchint_attach *attach)
{
	int ret;

	attach->lead = slot_number(s, attach->lead);
	ret = ioctl(slot_fd(s, block * GCHINT_SLOTS), GCHINT_IOC_ATTACH, attach) < 0 ? -errno : 0;
	if (!s->grows)
		attach->slot += block * GCHINT_SLOTS;
	return ret;
}

int device_set_role(struct gchint_session *s, uint32_t slot, uint32_t role, uint32_t lead)
{
	struct gchint_set_role arg = {
		.slot = slot_number(s, slot),
		.role = role,
		.lead = slot_number(s, lead),
	};

	return ioctl(slot_fd(s, slot), GCHINT_IOC_SET_ROLE, &arg) < 0 ? -errno : 0;
}

static int call_slot(struct gchint_session *s, unsigned long request, uint32_t slot)
{
	return ioctl(slot_fd(s, slot), request, (unsigned long)slot_number(s, slot)) < 0 ? -errno :
											   0;
}

int device_detach(struct gchint_session *s, uint32_t slot)
{
	return call_slot(s, GCHINT_IOC_DETACH, slot);
}

int device_ring(struct gchint_session *s, uint32_t slot)
{
	struct slot_block *block = block_of_slot(s, slot);
	int ret;

	if (slot_fd(s, slot) < 0)
		return -EBADF;
	ret = call_slot(s, GCHINT_IOC_RING, slot);
	/* The program closed or replaced the descriptor. The mapped pages still work. */
	if (ret == -EBADF || ret == -ENOTTY)
		store_relaxed(&block->fd, -1);
	return ret;
}
