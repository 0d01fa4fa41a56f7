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

#define BANK_BYTES (GCHINT_SLOTS * sizeof(struct gchint_slot))

/*
 * Map slot block @n of the session @fd into @bank, which no other thread can see yet. A
 * page may hold several blocks; it is then mapped once for each.
 */
static int map_slots(struct bank *bank, unsigned int n, int fd)
{
	const size_t within = n * BANK_BYTES % page_size();
	char *page;

	page = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    (off_t)(GCHINT_MMAP_SLOTS + n * BANK_BYTES - within));
	if (page == MAP_FAILED)
		return -errno;
	store_relaxed(&bank->slots, (struct gchint_slot *)(void *)(page + within));
	return 0;
}

static void bank_take_fd(struct bank *bank, int fd)
{
	identity_of(fd, &bank->device);
	store_relaxed(&bank->fd, fd);
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
static const void *map_cpus(const struct gchint_info *info, int fd)
{
	const size_t size = cpus_size(info);
	void *cpus;

	if (!size)
		return NULL;
	cpus = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, GCHINT_MMAP_CPUS);
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
	info = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, GCHINT_MMAP_INFO);
	if (info == MAP_FAILED) {
		ret = -errno;
		goto close_fd;
	}
	/* The page is append-only: a newer kernel adds fields and changes none. */
	if (info->abi < GCHINT_ABI || info->size < sizeof(struct gchint_info)) {
		ret = -EPROTONOSUPPORT;
		goto unmap_info;
	}
	ret = map_slots(&s->bank, 0, fd);
	if (ret)
		goto unmap_info;
	bank_take_fd(&s->bank, fd);
	s->grows = (info->features & GCHINT_FEATURE_GROW) != 0;
	store_relaxed(&s->cpus, map_cpus(info, fd));
	store_relaxed(&s->info, info);
	return 0;

unmap_info:
	munmap(info, size);
close_fd:
	close(fd);
	return ret;
}

/* The slot block whose descriptor serves @slot; number_of() is the slot's number there. */
static struct bank *bank_of(struct gchint_session *s, uint32_t slot)
{
	return s->grows ? &s->bank : bank_at(s, slot / GCHINT_SLOTS);
}

static uint32_t number_of(const struct gchint_session *s, uint32_t slot)
{
	return s->grows ? slot : slot % GCHINT_SLOTS;
}

/* -1 if the descriptor was closed. */
static int fd_of(struct gchint_session *s, uint32_t slot)
{
	struct bank *bank = bank_of(s, slot);

	return bank ? load_acquire(&bank->fd) : -1;
}

/* Open a further session of the device: kernels whose sessions cannot grow. */
static int open_another(struct gchint_session *s, struct bank *bank)
{
	char path[] = "/proc/self/fd/\0\0\0\0\0\0\0\0\0\0";
	unsigned int n, digits = 0;
	int fd, ret;

	/* Open the same device as the first session; the environment may have changed since. */
	fd = fd_of(s, 0);
	if (fd < 0)
		return -EBADF;
	for (n = (unsigned int)fd; n; n /= 10)
		digits++;
	for (n = (unsigned int)fd; n; n /= 10)
		path[sizeof("/proc/self/fd/") - 2 + digits--] = (char)('0' + n % 10);
	fd = open_device(s->elsewhere ? path : "/dev/" GCHINT_DEVICE);
	if (fd < 0)
		return fd;
	ret = map_slots(bank, 0, fd);
	if (ret)
		close(fd);
	else
		bank_take_fd(bank, fd);
	return ret;
}

int device_open_more(struct gchint_session *s, unsigned int n, struct bank *bank)
{
	const unsigned long slots = (n + 1ul) * GCHINT_SLOTS;
	const int fd = fd_of(s, 0);

	if (!s->grows)
		return open_another(s, bank);
	if (fd < 0)
		return -EBADF;
	if (ioctl(fd, GCHINT_IOC_GROW, slots) < 0)
		return -errno;
	return map_slots(bank, n, fd);
}

static void mapping_blank(void *page, size_t size)
{
	mmap(page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void device_close_more(struct bank *bank, int mapped)
{
	char *page;

	if (bank->fd >= 0 && identity_is(bank->fd, &bank->device))
		close(bank->fd);
	store_relaxed(&bank->fd, -1);
	if (!bank->slots)
		return;
	page = (char *)bank->slots - (uintptr_t)bank->slots % page_size();
	if (mapped) {
		mapping_blank(page, page_size());
		return;
	}
	munmap(page, page_size());
	store_relaxed(&bank->slots, NULL);
}

void device_close(struct gchint_session *s, int mapped)
{
	const size_t size = page_size();
	struct gchint_info *info = (struct gchint_info *)s->info;
	struct bank *bank;
	unsigned int n;
	size_t cpus;

	for (n = 0; (bank = bank_at(s, n)); n++)
		device_close_more(bank, mapped);
	if (!info)
		return;
	cpus = s->cpus ? cpus_size(info) : 0;
	if (mapped) {
		mapping_blank(info, size);
		store_relaxed(&info->doorbell_begin, UINT32_MAX);
		if (cpus)
			mapping_blank((void *)s->cpus, cpus);
		return;
	}
	if (cpus)
		munmap((void *)s->cpus, cpus);
	store_relaxed(&s->cpus, NULL);
	store_relaxed(&s->info, NULL);
	munmap(info, size);
}

int device_attach(struct gchint_session *s, unsigned int bank, struct gchint_attach *attach)
{
	int ret;

	attach->lead = number_of(s, attach->lead);
	ret = ioctl(fd_of(s, bank * GCHINT_SLOTS), GCHINT_IOC_ATTACH, attach) < 0 ? -errno : 0;
	if (!s->grows)
		attach->slot += bank * GCHINT_SLOTS;
	return ret;
}

int device_set_role(struct gchint_session *s, uint32_t slot, uint32_t role, uint32_t lead)
{
	struct gchint_set_role arg = {
		.slot = number_of(s, slot),
		.role = role,
		.lead = number_of(s, lead),
	};

	return ioctl(fd_of(s, slot), GCHINT_IOC_SET_ROLE, &arg) < 0 ? -errno : 0;
}

static int call_slot(struct gchint_session *s, unsigned long request, uint32_t slot)
{
	return ioctl(fd_of(s, slot), request, (unsigned long)number_of(s, slot)) < 0 ? -errno : 0;
}

int device_detach(struct gchint_session *s, uint32_t slot)
{
	return call_slot(s, GCHINT_IOC_DETACH, slot);
}

int device_ring(struct gchint_session *s, uint32_t slot)
{
	struct bank *bank = bank_of(s, slot);
	int ret;

	if (fd_of(s, slot) < 0)
		return -EBADF;
	ret = call_slot(s, GCHINT_IOC_RING, slot);
	/* The program closed or replaced the descriptor. The mapped pages still work. */
	if (ret == -EBADF || ret == -ENOTTY)
		store_relaxed(&bank->fd, -1);
	return ret;
}
