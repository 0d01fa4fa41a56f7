// SPDX-License-Identifier: MIT
/*
 * The program that runs in the guest: calls to time or count, and load for the governor.
 *
 *	meter doorbell ROUNDS CALLS	a line per round: ns of an empty ioctl, of a
 *					doorbell without an edge, with an edge that
 *					moves nothing, with one that moves the clock
 *	meter load MS THREADS [hint]	half busy threads; with hint, each in a phase
 *	meter edges N US		N phase edges, US apart, of a thread that spins
 *	meter print WORD...		a line for the counting plugin, see count.c
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/gchint.h>

#define PAGE 4096

static void meter_die(const char *what)
{
	fprintf(stderr, "meter: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_us(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static void spin_until(uint64_t ns)
{
	volatile int i;

	while (now_ns() < ns)
		for (i = 0; i < 100; i++)
			;
}

static void bind_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		meter_die("sched_setaffinity");
}

/* -- The plugin -- */

#ifdef __x86_64__
/*
 * One small function per byte value: a no-operation that holds the byte, padded
 * to sixteen bytes.
 */
__asm__(".pushsection .text\n"
	".p2align 4\n"
	"meter_bytes:\n"
	".set byte, 0\n"
	".rept 256\n"
	".byte 0x0f, 0x1f, 0x80, byte, 0x6b, 0x72, 0x6d\n"
	"ret\n"
	".p2align 4\n"
	".set byte, byte + 1\n"
	".endr\n"
	".popsection");

extern const char meter_bytes[];
#endif

static void plugin_send(const char *line)
{
#ifdef __x86_64__
	for (; *line; line++)
		((void (*)(void))(uintptr_t)&meter_bytes[16 * (unsigned char)*line])();
#else
	(void)line;
#endif
}

static int plugin_send_words(int argc, char **argv)
{
	char line[160] = "";
	size_t used = 0;
	int i;

	bind_cpu(0);
	for (i = 0; i < argc && used < sizeof(line) - 2; i++)
		used += (size_t)snprintf(line + used, sizeof(line) - 1 - used, "%s%s", i ? " " : "",
					 argv[i]);
	strcat(line, "\n");
	plugin_send(line);
	return 0;
}

/* -- A session, by hand -- */

static int device = -1;
static volatile struct gchint_slot *slots;

static void open_session(void)
{
	void *page;

	device = open("/dev/" GCHINT_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0)
		meter_die("/dev/" GCHINT_DEVICE);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, device, GCHINT_MMAP_SLOTS);
	if (page == MAP_FAILED)
		meter_die("mmap");
	slots = page;
}

static unsigned int slot_attach(void)
{
	struct gchint_attach attach = { 0 };

	if (ioctl(device, GCHINT_IOC_ATTACH, &attach))
		meter_die("GCHINT_IOC_ATTACH");
	return attach.slot;
}

static void slot_edge(unsigned int slot, unsigned int phase, unsigned int flags)
{
	uint32_t old = slots[slot].state;

	__atomic_store_n(
		&slots[slot].state,
		GCHINT_STATE((old & GCHINT_STATE_SEQ_MASK) + GCHINT_STATE_EDGE, phase, flags),
		__ATOMIC_RELAXED);
}

static void slot_ring(unsigned int slot)
{
	if (ioctl(device, GCHINT_IOC_RING, (unsigned long)slot))
		meter_die("GCHINT_IOC_RING");
}

/* -- Doorbells -- */

enum call {
	EMPTY,
	NO_EDGE,
	EDGE,
	SWITCH,
	CALLS
};

static const char *const call_names[] = { "empty", "no-edge", "edge", "switch" };

/* Mean ns of one call. */
static double call_measure_batch(enum call call, int null, unsigned int slot, int calls)
{
	char line[80];
	uint64_t begin;
	int i;

	/* Already in a phase, so that every case begins at the same clock rate. */
	slot_edge(slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	slot_ring(slot);
	snprintf(line, sizeof(line), "section doorbell-%s\n", call_names[call]);
	plugin_send(line);
	begin = now_ns();
	for (i = 0; i < calls; i++) {
		switch (call) {
		case EMPTY:
			/* A call that the device does not know: ENOTTY. */
			ioctl(null, GCHINT_IOC_RING, (unsigned long)slot);
			break;
		case NO_EDGE:
			slot_ring(slot);
			break;
		case EDGE:
			slot_edge(slot, i & 1 ? GCHINT_PHASE_MARK : GCHINT_PHASE_SWEEP,
				  GCHINT_F_CONCURRENT);
			slot_ring(slot);
			break;
		default:
			slot_edge(slot, i & 1 ? GCHINT_PHASE_MARK : GCHINT_PHASE_NONE,
				  GCHINT_F_CONCURRENT);
			slot_ring(slot);
			break;
		}
	}
	begin = now_ns() - begin;
	plugin_send("section\n");
	return (double)begin / calls;
}

static int doorbell_measure(int rounds, int calls)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	unsigned int slot;
	int round, c;

	if (null < 0)
		meter_die("/dev/null");
	bind_cpu((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
	open_session();
	slot = slot_attach();
	/* Full load, so that only the hint changes the clock between the cases. */
	spin_until(now_ns() + 300000000);
	for (round = 0; round < rounds; round++) {
		printf("doorbell %d", round);
		for (c = EMPTY; c < CALLS; c++)
			printf(" %.1f", call_measure_batch(c, null, slot, calls));
		printf("\n");
		fflush(stdout);
	}
	return 0;
}

/* -- Load -- */

struct member {
	pthread_t thread;
	int number;
	uint64_t end;
	bool hint;
};

static void *half_busy(void *arg)
{
	static const unsigned int phases[] = {
		GCHINT_PHASE_MARK,
		GCHINT_PHASE_SWEEP,
		GCHINT_PHASE_COPY,
		GCHINT_PHASE_TRIM,
	};
	struct member *m = arg;
	unsigned int slot = 0, step = (unsigned int)m->number;

	bind_cpu(m->number % (int)sysconf(_SC_NPROCESSORS_ONLN));
	if (m->hint)
		slot = slot_attach();
	while (now_ns() < m->end) {
		/* Always in a phase; the phase changes every eight periods. */
		if (m->hint && step++ % 8 == 0)
			slot_edge(slot, phases[step / 8 % 4], GCHINT_F_CONCURRENT);
		spin_until(now_ns() + 1000000);
		sleep_us(1000);
	}
	return NULL;
}

static int load_run(int ms, int threads, bool hint)
{
	struct member *all = calloc((size_t)threads, sizeof(*all));
	uint64_t end = now_ns() + (uint64_t)ms * 1000000;
	int i;

	if (!all)
		meter_die("memory");
	if (hint)
		open_session();
	for (i = 0; i < threads; i++) {
		all[i].number = i;
		all[i].end = end;
		all[i].hint = hint;
		if (pthread_create(&all[i].thread, NULL, half_busy, &all[i]))
			meter_die("pthread_create");
	}
	for (i = 0; i < threads; i++)
		pthread_join(all[i].thread, NULL);
	free(all);
	return 0;
}

/* -- Edges that move the clock, for the governor's own histogram -- */

static int edges_run(int n, uint64_t apart_ns)
{
	unsigned int slot;
	int i;

	bind_cpu((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
	open_session();
	slot = slot_attach();
	spin_until(now_ns() + 100000000);
	for (i = 0; i < n; i++) {
		slot_edge(slot, i & 1 ? GCHINT_PHASE_NONE : GCHINT_PHASE_MARK,
			  i & 1 ? 0 : GCHINT_F_CONCURRENT);
		slot_ring(slot);
		spin_until(now_ns() + apart_ns);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "print"))
		return plugin_send_words(argc - 2, argv + 2);
	if (argc == 4 && !strcmp(argv[1], "doorbell"))
		return doorbell_measure(atoi(argv[2]), atoi(argv[3]));
	if ((argc == 4 || argc == 5) && !strcmp(argv[1], "load"))
		return load_run(atoi(argv[2]), atoi(argv[3]), argc == 5);
	if (argc == 4 && !strcmp(argv[1], "edges"))
		return edges_run(atoi(argv[2]), strtoull(argv[3], NULL, 10) * 1000);
	fprintf(stderr,
		"usage: meter doorbell ROUNDS CALLS | load MS THREADS [hint] | edges N US | "
		"print WORD...\n");
	return 2;
}
