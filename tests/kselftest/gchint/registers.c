// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "registers.h"
#include "worker.h"

#define CPUS 256
#define PAGE 0x1000
/* Subspaces of the Platform Communications Channel, behind the registers' pages. */
#define CHANNELS 0x10000
#define CHANNEL_TABLE "/sys/firmware/acpi/tables/PCCT"

static const volatile uint32_t *words, *channels;
static int cpus = CPUS;

/* As the kernel maps them: registers uncached, the memory of a channel cached. */
static int map(uint64_t address, int how, const volatile uint32_t **to)
{
	int fd = open("/dev/mem", O_RDONLY | O_CLOEXEC | how);
	int ret = 0;
	void *at;

	if (fd < 0)
		return -errno;
	at = mmap(NULL, (size_t)cpus * PAGE, PROT_READ, MAP_SHARED, fd, address);
	if (at == MAP_FAILED)
		ret = -errno;
	else
		*to = at;
	close(fd);
	return ret;
}

int registers_open(uint64_t address)
{
	bool apart = !access(CHANNEL_TABLE, F_OK);
	int ret;

	if (apart)
		cpus = CHANNELS / PAGE;
	ret = map(address, O_SYNC, &words);
	if (!ret && apart)
		ret = map(address + CHANNELS, 0, &channels);
	return ret;
}

long registers_word(int cpu, enum register_word word)
{
	if (!words || cpu < 0 || cpu >= cpus)
		return -ENODEV;
	return words[cpu * (PAGE / 4) + word];
}

long registers_autonomous(int cpu, enum register_word word)
{
	if (!channels || cpu < 0 || cpu >= cpus)
		return registers_word(cpu, word);
	return channels[cpu * (PAGE / 4) + word];
}

long registers_await(int cpu, enum register_word word, long value, int ms)
{
	long long end = now_us() + ms * 1000LL;

	while (registers_word(cpu, word) != value && now_us() < end)
		sleep_us(1000);
	return registers_word(cpu, word);
}
