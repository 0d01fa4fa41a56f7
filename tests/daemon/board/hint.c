// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: a thread that gives hints by the ABI alone and prints their times, with which a
 * recording is compared. "hint COUNT MS": COUNT times mark (concurrent, MS ms) and remark
 * (stop-the-world, MS / 2), busy all the while. Prints "BEGIN END PHASE" of each in CLOCK_MONOTONIC
 * ns.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

static int fd;
static volatile struct gchint_info *info;
static volatile struct gchint_slot *slot;
static uint32_t number, seq;

static uint64_t clock_read(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void error_exit(const char *what)
{
	fprintf(stderr, "hint: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void edge_write(uint32_t phase, uint32_t flags, uint32_t mask)
{
	seq += GCHINT_STATE_EDGE;
	__atomic_store_n(&slot->state, GCHINT_STATE(seq, phase, flags), __ATOMIC_RELEASE);
	if (mask && ioctl(fd, GCHINT_IOC_RING, number) && errno != ENOENT)
		error_exit("ring");
}

static void phase_run(uint32_t what, uint32_t flags, uint64_t ns)
{
	uint64_t begin = clock_read(), end;
	uint32_t bit = 1u << what;

	edge_write(what, flags, (info->doorbell_begin | info->record) & bit);
	while (clock_read() - begin < ns)
		;
	end = clock_read();
	edge_write(GCHINT_PHASE_NONE, 0, (info->doorbell_end | info->record) & bit);
	printf("%llu %llu %u\n", (unsigned long long)begin, (unsigned long long)end, what);
}

int main(int argc, char **argv)
{
	struct gchint_attach attach = { 0 };
	int count = argc > 1 ? atoi(argv[1]) : 10;
	uint64_t ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 20) * 1000000;
	uint64_t start;

	fd = open("/dev/gchint", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		error_exit("/dev/gchint");
	info = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, GCHINT_MMAP_INFO);
	slot = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, GCHINT_MMAP_SLOTS);
	if (info == MAP_FAILED || slot == MAP_FAILED)
		error_exit("mmap");
	if (ioctl(fd, GCHINT_IOC_ATTACH, &attach))
		error_exit("attach");
	number = attach.slot;
	slot += number;
	for (int i = 0; i < count; i++) {
		phase_run(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, ns);
		phase_run(GCHINT_PHASE_REMARK, GCHINT_F_STW, ns / 2);
		start = clock_read();
		while (clock_read() - start < ns)
			;
	}
	return 0;
}
