// SPDX-License-Identifier: MIT
/*
 * seed - credit the kernel's random pool. Libraries of the daemon ask it for a seed when they
 * start, and on the timed board nothing jitters: the kernel's own collection of entropy would take
 * seconds of modelled time.
 */
#include <linux/random.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <sys/ioctl.h>

int main(void)
{
	struct {
		struct rand_pool_info head;
		char bytes[64];
	} pool = { .head = { .entropy_count = 512, .buf_size = 64 } };
	int fd = open("/dev/random", O_RDWR);

	/* Nothing on this board is a secret. */
	memcpy(pool.head.buf, "gchint timed board", 18);
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &pool)) {
		perror("seed: /dev/random");
		return 1;
	}
	return 0;
}
