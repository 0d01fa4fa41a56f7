// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: sends messages to "gchintd --feed SOCKET" as the module would, with the current
 * time.
 *
 * flood: phase edges of a few slots at a rate, for throughput and kill tests; prints how many
 * events it sent and, on request, the time in ns, and keeps a log of them. mix: two collectors with
 * pauses and concurrent phases on two CPUs, with frequencies and rail power to match, for reports.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../daemon/common/clock.h"
#include "build.h"

/* Messages per system call: what accumulates in a sleep of a millisecond. */
#define BURST 64

struct feed {
	int fd;
	struct build b;
	unsigned int batch; /* events of one message */
	struct build ready[BURST]; /* built, not sent */
	unsigned int nr_ready;
	FILE *log; /* "seq time" of each event after it was sent */
	uint64_t sent;
	bool broken;
	/* mix */
	const char *sysfs, *freq;
	uint32_t khz[4];
	double watts;
	unsigned int seed;
	bool gchint;
};

static int socket_connect(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	const int room = 8 << 20;

	/* As much as gchintd requests for netlink; without privilege the system's limit. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)))
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	strncpy(addr.sun_path, path, sizeof(addr.sun_path) - 1);
	for (int i = 0; i < 200; i++) {
		if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
			return fd;
		usleep(25000);
	}
	fprintf(stderr, "feed: %s: %s\n", path, strerror(errno));
	exit(2);
}

/* Sends what is ready, in as few system calls as the socket allows. */
static void send_ready(struct feed *f)
{
	struct mmsghdr msgs[BURST] = { 0 };
	struct iovec iov[BURST];
	unsigned int done = 0;

	for (unsigned int i = 0; i < f->nr_ready; i++) {
		iov[i].iov_base = (void *)build_bytes(&f->ready[i], &iov[i].iov_len);
		msgs[i].msg_hdr.msg_iov = &iov[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	while (done < f->nr_ready && !f->broken) {
		int n = sendmmsg(f->fd, msgs + done, f->nr_ready - done, MSG_NOSIGNAL);

		if (n < 0)
			f->broken = true;
		for (int i = 0; i < n; i++)
			f->sent += f->ready[done++].events;
	}
	for (unsigned int i = 0; i < f->nr_ready; i++)
		build_done(&f->ready[i]);
	f->nr_ready = 0;
}

/* The message is complete; it is sent when a burst is, or at the next feed_flush(). */
static void message_whole(struct feed *f)
{
	if (!f->b.msg)
		return;
	f->ready[f->nr_ready++] = f->b;
	f->b.msg = NULL;
	f->b.events = 0;
	if (f->nr_ready == BURST)
		send_ready(f);
}

static void feed_flush(struct feed *f)
{
	message_whole(f);
	send_ready(f);
}

static void feed_flood(struct feed *f, uint64_t events, uint64_t rate)
{
	uint64_t start = clock_now(), last_log = 0, now = start;

	for (uint64_t i = 0; (!events || i < events) && !f->broken; i++) {
		uint32_t slot = (uint32_t)(i / 2 % 8);
		uint64_t due = rate ? start + (i + 1) * NSEC_PER_SEC / rate : 0;

		build_phase(&f->b, now, slot % 4, 1, 1, slot, i % 2 ? 0 : GCHINT_PHASE_MARK,
			    i % 2 ? 0 : GCHINT_F_CONCURRENT, i, 0);
		if (f->b.events >= f->batch)
			message_whole(f);
		now = clock_now();
		/* Sleep only in steps that the timer can keep; the remainder is carried over. */
		if (due > now + NSEC_PER_MSEC) {
			struct timespec ts = { 0, (long)(due - now) };

			send_ready(f);
			/* One line per millisecond is enough to know when each event was sent. */
			if (f->log && now - last_log > NSEC_PER_MSEC && !f->b.msg) {
				fprintf(f->log, "%llu %llu\n", (unsigned long long)f->sent,
					(unsigned long long)now);
				fflush(f->log);
				last_log = now;
			}
			nanosleep(&ts, NULL);
			now = clock_now();
		}
	}
	feed_flush(f);
}

/* ---- mix ---- */

static double random_next(struct feed *f)
{
	return rand_r(&f->seed) / (double)RAND_MAX;
}

/* In place and of constant length: a reader never sees an empty file. */
static void put_file(const char *dir, const char *file, long long v)
{
	char path[512], text[32];
	int fd, n;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = snprintf(text, sizeof(text), "%-12lld\n", v);
	if (write(fd, text, (size_t)n) != n)
		fprintf(stderr, "feed: %s: %s\n", path, strerror(errno));
	close(fd);
}

/* 20 % static, the rest with the cube of the frequency: f V^2 with V about f. */
static void power_update(struct feed *f, double busy)
{
	double w = 0.25;

	for (int i = 0; i < 2; i++)
		w += 0.08 + 0.85 * busy * pow(f->khz[i] / 2.1e6, 2.4);
	f->watts = w * (0.98 + 0.04 * random_next(f));
	if (!f->sysfs)
		return;
	put_file(f->sysfs, "class/hwmon/hwmon0/power1_input", (long long)(f->watts * 1e6));
	put_file(f->sysfs, "class/hwmon/hwmon0/in1_input", 800 + (long long)f->khz[0] / 7000);
}

static void set_khz(struct feed *f, int cpu, uint32_t khz, uint32_t reason)
{
	char line[128];

	if (f->khz[cpu] == khz)
		return;
	if (f->gchint)
		build_decision(&f->b, clock_now(), (uint32_t)cpu, f->khz[cpu], khz, reason,
			       reason == GCHINT_REASON_LOAD ? 0 : 4242,
			       20000 + (uint64_t)(random_next(f) * 40000));
	f->khz[cpu] = khz;
	if (f->freq) {
		FILE *pipe = fopen(f->freq, "a");

		if (!pipe)
			return;
		snprintf(line, sizeof(line),
			 "          <idle>-0       [%03d] d.h1. %.6f: "
			 "cpu_frequency: state=%u cpu_id=%d\n",
			 cpu, (double)clock_now() / 1e9, khz, cpu);
		fputs(line, pipe);
		fclose(pipe);
	} else {
		feed_flush(f);
		build_sample(&f->b, clock_now(), (uint32_t)cpu, khz);
		feed_flush(f);
	}
}

static void wait_ms(struct feed *f, double ms, double busy)
{
	uint64_t end = clock_now() + (uint64_t)(ms * 1e6);

	feed_flush(f);
	do {
		uint64_t now = clock_now(), step = end > now ? end - now : 0;
		struct timespec ts;

		power_update(f, busy);
		if (step > 8 * NSEC_PER_MSEC)
			step = 8 * NSEC_PER_MSEC;
		ts = (struct timespec){ 0, (long)step };
		nanosleep(&ts, NULL);
	} while (clock_now() < end);
}

static void phase_run(struct feed *f, int tid, uint32_t what, uint32_t flags, double ms,
		      double slow)
{
	uint32_t khz = 2100000, reason = GCHINT_REASON_STW;

	if (f->gchint && flags & GCHINT_F_CONCURRENT) {
		khz = what == GCHINT_PHASE_MARK ? 960000 : 652800;
		reason = GCHINT_REASON_MODEL;
		ms *= slow;
	}
	build_phase(&f->b, clock_now(), 0, 4242, tid, (uint32_t)(tid - 4242), what, flags, 0, 1000);
	if (f->gchint)
		set_khz(f, 0, khz, reason);
	else if (flags & GCHINT_F_CONCURRENT)
		set_khz(f, 0, 2100000, GCHINT_REASON_LOAD);
	wait_ms(f, ms, 1);
	build_phase(&f->b, clock_now(), 0, 4242, tid, (uint32_t)(tid - 4242), 0, 0, 1000, 1000);
}

static void feed_mix(struct feed *f, double seconds)
{
	uint64_t end = clock_now() + (uint64_t)(seconds * 1e9);

	f->batch = 64;
	for (int i = 0; i < 3; i++)
		build_lease(&f->b, clock_now(), 4242, 4242 + i, (uint32_t)i,
			    i == 1 ? GCHINT_ROLE_CONCURRENT : GCHINT_ROLE_NONE,
			    GCHINT_LEASE_ATTACH);
	f->khz[0] = f->khz[1] = 960000;
	while (clock_now() < end && !f->broken) {
		set_khz(f, 0, random_next(f) < 0.5 ? 1497600 : 1190400, GCHINT_REASON_LOAD);
		set_khz(f, 1, random_next(f) < 0.5 ? 1728000 : 960000, GCHINT_REASON_LOAD);
		wait_ms(f, 60 + 160 * random_next(f), 0.5);
		phase_run(f, 4242, GCHINT_PHASE_ROOTS, GCHINT_F_STW, 1 + 3 * random_next(f), 1);
		phase_run(f, 4243, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, 40 + 60 * random_next(f),
			  1.25);
		phase_run(f, 4242, GCHINT_PHASE_REMARK, GCHINT_F_STW, 2 + 6 * random_next(f), 1);
		phase_run(f, 4243, GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT,
			  15 + 30 * random_next(f), 1.1);
		if (random_next(f) < 0.12)
			phase_run(f, 4244, GCHINT_PHASE_COLLECT, GCHINT_F_FOREGROUND | GCHINT_F_STW,
				  20 + 40 * random_next(f), 1);
		set_khz(f, 0, 960000, GCHINT_REASON_LOAD);
	}
	for (int i = 0; i < 3; i++)
		build_lease(&f->b, clock_now(), 4242, 4242 + i, (uint32_t)i, 0, GCHINT_LEASE_EXIT);
	feed_flush(f);
}

/* One message of each type, as input for the fuzzer. */
static int write_seeds(const char *dir)
{
	struct build b = { .seq = 7 };

	for (int i = 0; i < 4; i++) {
		char path[512];
		const void *bytes;
		size_t len;
		FILE *out;

		if (i == 0)
			build_phase(&b, 1000, 1, 10, 11, 2, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT,
				    5, 50);
		else if (i == 1)
			build_decision(&b, 2000, 1, 396000, 792000, GCHINT_REASON_STW, 11, 30000);
		else if (i == 2)
			build_lease(&b, 3000, 10, 11, 2, GCHINT_ROLE_STW, GCHINT_LEASE_ATTACH);
		else
			build_sample(&b, 4000, 0, 792000);
		snprintf(path, sizeof(path), "%s/message-%d", dir, i);
		bytes = build_bytes(&b, &len);
		out = fopen(path, "w");
		if (!out || fwrite(bytes, 1, len, out) != len || fclose(out)) {
			fprintf(stderr, "feed: %s: %s\n", path, strerror(errno));
			return 1;
		}
		build_done(&b);
	}
	return 0;
}

static const char usage[] =
	"usage: feed SOCKET [--events N] [--rate N] [--batch N] [--gap N] [--log FILE] [--clock]\n"
	"       feed SOCKET --mix SECONDS [--sysfs DIR] [--freq FIFO] [--seed N] [--gchint]\n"
	"       feed SOCKET --raw FILE\n"
	"       feed --write DIR\n";

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "batch", required_argument, NULL, 'b' },
		{ "clock", no_argument, NULL, 'c' },
		{ "events", required_argument, NULL, 'e' },
		{ "freq", required_argument, NULL, 'f' },
		{ "gap", required_argument, NULL, 'g' },
		{ "gchint", no_argument, NULL, 'G' },
		{ "log", required_argument, NULL, 'l' },
		{ "mix", required_argument, NULL, 'm' },
		{ "rate", required_argument, NULL, 'r' },
		{ "raw", required_argument, NULL, 'R' },
		{ "seed", required_argument, NULL, 's' },
		{ "sysfs", required_argument, NULL, 'S' },
		{ "write", required_argument, NULL, 'w' },
		{ 0 },
	};
	struct feed f = { .batch = 1, .seed = 1 };
	uint64_t events = 1000, rate = 0, gap = 0, start;
	const char *raw = NULL;
	double seconds = 0;
	bool clock = false;
	int opt;

	signal(SIGPIPE, SIG_IGN);
	while ((opt = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		switch (opt) {
		case 'b':
			f.batch = (unsigned int)atoi(optarg);
			break;
		case 'c':
			clock = true;
			break;
		case 'e':
			events = strtoull(optarg, NULL, 0);
			break;
		case 'f':
			f.freq = optarg;
			break;
		case 'g':
			gap = strtoull(optarg, NULL, 0);
			break;
		case 'G':
			f.gchint = true;
			break;
		case 'l':
			f.log = fopen(optarg, "w");
			break;
		case 'm':
			seconds = atof(optarg);
			break;
		case 'r':
			rate = strtoull(optarg, NULL, 0);
			break;
		case 'R':
			raw = optarg;
			break;
		case 's':
			f.seed = (unsigned int)atoi(optarg);
			break;
		case 'S':
			f.sysfs = optarg;
			break;
		case 'w':
			return write_seeds(optarg);
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind + 1 != argc) {
		fputs(usage, stderr);
		return 2;
	}
	f.fd = socket_connect(argv[optind]);
	if (raw) {
		static char buf[65536];
		FILE *in = fopen(raw, "r");
		size_t n = in ? fread(buf, 1, sizeof(buf), in) : 0;

		return !n || send(f.fd, buf, n, MSG_NOSIGNAL) < 0;
	}
	/* From here: without the daemon's start, for which socket_connect() waited. */
	start = clock_now();
	if (seconds > 0) {
		feed_mix(&f, seconds);
	} else {
		feed_flood(&f, gap ? events / 2 : events, rate);
		if (gap) {
			f.b.seq += gap;
			feed_flood(&f, events / 2, rate);
		}
	}
	printf("%llu", (unsigned long long)f.sent);
	if (clock)
		printf(" %llu", (unsigned long long)(clock_now() - start));
	putchar('\n');
	return 0;
}
