// SPDX-License-Identifier: MIT
/* What the timed board charges in addition to instructions: caches of several cores, TLBs, idle states.
 * The plugin's own parts, driven by hand. TAP.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "timed/insns.h"
#include "timed/timed.h"

#define RAM  0x80000000u
#define PAGE (RAM + 0x100000u)

static int count, failed;

static void tap_ok(int good, const char *name)
{
	printf("%sok %d timed: %s\n", good ? "" : "not ", ++count, name);
	failed += !good;
}

static int double_near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * (fabs(b) + 1e-9);
}

static const char text[] =
	"name pair\nmem_mbs 100000\nio_ns 50\nline_nj 20\nsnoop_ns 80\n"
	"cluster big\ncores 2\nclock shared\nl1_kib 32\nl1_ways 2\nl2_kib 1024\nl2_ways 16\n"
	"cpi 1\nl2_cycles 20\nmem_ns 300\nstream_ns 10\nswitch_us 10\nlatency_us 10\n"
	"coefficient 100\nstatic_share 1\nawake_mw 10\nstatic_ua 2000 0 10000\n"
	"tlb1_entries 32\ntlb1_cycles 5\ntlb2_entries 128\nwalk_cycles 50\nsnoop_cycles 30\n"
	"opp 500000 800000\nopp 1000000 1000000\nidle sleep 100 500 0.25\n"
	"idle off 200 1000 0 cluster\n"
	"cluster little\ncores 2\nclock shared\nl1_kib 32\nl1_ways 4\nl2_kib 512\nl2_ways 16\n"
	"cpi 2\nl2_cycles 10\nmem_ns 300\nstream_ns 10\nswitch_us 10\nlatency_us 10\n"
	"coefficient 20\nstatic_share 1\nawake_mw 3\nstatic_ua 2000 0 1000\n"
	"opp 300000 800000\nopp 1000000 1000000\n";

static int board_begin(void)
{
	char copy[sizeof(text)], why[128];
	FILE *in;
	int r;

	memcpy(copy, text, sizeof(text));
	in = fmemopen(copy, sizeof(text) - 1, "r");
	r = board_read(&timed.board, in, why, sizeof(why));
	fclose(in);
	domain_init();
	return r || cache_init() || snoop_init() || tlb_init() ? -1 : 0;
}

/* What an access costs a core in addition to its instruction, at 1 GHz. */
static double access_ns(unsigned int cpu, uint32_t phys, bool store)
{
	struct timed_core *c = &timed.core[cpu];
	double before = c->ns;

	c->channel_ns = 0; /* the memory's bandwidth is not what is tried here */
	cache_access(c, phys, store);
	return c->ns - before;
}

static void caches_check(void)
{
	uint32_t a = PAGE, b = PAGE + 4096 + 192;

	tap_ok(double_near(access_ns(0, a, false), 320), "a load from memory");
	tap_ok(double_near(access_ns(0, a, false), 0), "a hit costs nothing");
	tap_ok(double_near(access_ns(1, a, false), 20), "a neighbour's clean line is in their L2");
	/* Core 1 has it as well: it must give it up before core 0 writes. */
	timed.core[1].held_load[(a / BOARD_LINE + 1) % TIMED_HELD] = 77;
	tap_ok(double_near(access_ns(0, a, true), 30) && double_near(access_ns(0, a, true), 0),
	       "a store takes the line from others, once");
	tap_ok(!timed.core[1].held_load[(a / BOARD_LINE + 1) % TIMED_HELD],
	       "a core that loses a line no longer counts it as held");
	tap_ok(double_near(access_ns(1, a, false), 30 + 20),
	       "a line that a neighbour made dirty comes from its cache");
	tap_ok(double_near(access_ns(0, a, true), 30),
	       "a dirty line is clean after a load by another core, so a store snoops again");
	/* The other cluster: through the interconnect, not from memory. */
	tap_ok(double_near(access_ns(2, a, false), 80 + 10), "a dirty line of the other cluster");
	tap_ok(double_near(access_ns(2, b, true), 10 + 10),
	       "a store that misses does not wait for memory");
	tap_ok(double_near(access_ns(3, b, false), 10),
	       "without a snooping cost only L2 is charged");
	/* Twice a store's, and core 1 has had it once. */
	tap_ok(timed.core[0].count.snoop == 2 && timed.core[1].count.snoop == 1,
	       "snoops are counted");
}

/* A line that only one core has had is not snooped. */
static void private_lines(void)
{
	uint64_t snoops = timed.core[0].count.snoop;
	unsigned int i;

	for (i = 0; i < 1000; i++)
		access_ns(0, PAGE + 0x200000 + i * BOARD_LINE, i % 3 == 0);
	tap_ok(timed.core[0].count.snoop == snoops, "private lines are not snooped");
}

static void translation_check(void)
{
	struct timed_core *c = &timed.core[1];
	double before = c->ns;
	unsigned int i;

	tlb_access(c, 0x10000, PAGE);
	tap_ok(double_near(c->ns - before, 5 + 50), "a first translation walks");
	before = c->ns;
	tlb_access(c, 0x20000, PAGE + 64);
	tap_ok(double_near(c->ns, before), "a page has one translation, wherever it is mapped");
	for (i = 1; i <= 64; i++)
		tlb_access(c, 0x10000 + i * 4096, PAGE + i * 4096);
	before = c->ns;
	tlb_access(c, 0x10000, PAGE);
	tap_ok(double_near(c->ns - before, 5), "after 64 others the second level still has it");
	for (i = 0; i <= 1024; i++)
		tlb_access(c, 0x10000 + i * 4096, PAGE + (1024 + i) * 4096);
	before = c->ns;
	tlb_access(c, 0x10000, PAGE);
	tap_ok(double_near(c->ns - before, 55), "after 1024 others neither level has it");
	tlb_access(c, 0xc0100000, RAM + 0x500000);
	before = c->ns;
	tlb_access(c, 0xc01ff000, RAM + 0x5ff000);
	tap_ok(double_near(c->ns, before), "the kernel's memory is translated by sections");
	before = timed.core[2].ns;
	tlb_access(&timed.core[2], 0x10000, PAGE);
	tap_ok(double_near(timed.core[2].ns, before), "a board file without TLBs charges none");
}

static double wake_us(unsigned int cpu)
{
	double before = timed.core[cpu].ns;

	idle_leave(&timed.core[cpu]);
	return (timed.core[cpu].ns - before) / 1e3;
}

static void idle_ask(unsigned int cpu, uint32_t state)
{
	idle_store(&timed.core[cpu], TIMED_SYSREG + 0x38, state);
}

static void idle_check(void)
{
	uint32_t a = PAGE + 0x400000;
	struct timed_core *c = &timed.core[0];
	uint64_t written;

	access_ns(0, a, false);
	idle_enter(c);
	tap_ok(c->state == 0 && double_near(wake_us(0), 0) &&
		       double_near(access_ns(0, a, false), 0),
	       "WFI, the default idle state, costs and loses nothing");
	idle_ask(0, 1);
	idle_enter(c);
	tap_ok(c->state == 1 && double_near(wake_us(0), 100),
	       "leaving a core's own state costs its exit latency");
	tap_ok(double_near(access_ns(0, a, false), 20), "a core's own state loses L1, not L2");
	idle_enter(c);
	tap_ok(c->state == 0, "a requested state is used for one wait");
	wake_us(0);
	idle_ask(0, 2);
	idle_enter(c);
	tap_ok(double_near(wake_us(0), 100), "while a neighbour runs, the cluster stays on and "
					     "only the core's exit latency counts");
	access_ns(0, a, true);
	written = c->count.writeback;
	idle_ask(0, 2);
	idle_enter(c);
	idle_ask(1, 2);
	idle_enter(&timed.core[1]);
	tap_ok(double_near(wake_us(1), 200) && double_near(wake_us(0), 100),
	       "the first core that wakes is charged the cluster's exit latency");
	tap_ok(double_near(access_ns(0, a, false), 320), "L2 is lost with the cluster");
	tap_ok(timed.core[1].count.writeback + c->count.writeback > written,
	       "dirty lines are written back to memory");
	idle_ask(0, 3);
	idle_enter(c);
	tap_ok(c->state == 0, "a state that the cluster lacks is WFI");
	idle_ask(2, 1);
	idle_enter(&timed.core[2]);
	tap_ok(timed.core[2].state == 0, "a state of the other cluster is WFI");
	idle_store(c, TIMED_SYSREG + 0x3c, 1);
	idle_enter(c);
	tap_ok(c->state == 0, "other registers request no state");
}

void trace_put(struct timed_core *c, enum trace_type type, unsigned int arg, uint64_t ns)
{
	(void)c;
	(void)type;
	(void)arg;
	(void)ns;
}

void insns_wake(struct timed_core *c, double ns)
{
	timed_stall(c, ns);
}

/* The guest's request for the clock of core 0's cluster. */
static void clock_request(uint32_t hz)
{
	domain_store(&timed.core[0], TIMED_SYSREG + 0xa0, hz);
	domain_store(&timed.core[0], TIMED_SYSREG + 0xa4, 0xc0110000);
}

static void clock_check(void)
{
	struct timed_core *c = &timed.core[0], *neighbour = &timed.core[1];
	struct board_cluster *k = &timed.board.cluster[0];
	double before = c->ns;

	clock_request(500000000);
	tap_ok(double_near(c->ns - before, 10e3) && double_near(c->cycle_ns, 2),
	       "a clock changes after the time of a switch, in which the core waits");
	clock_request(1000000000);
	k->settle_us = 100;
	before = c->ns;
	clock_request(500000000);
	tap_ok(double_near(c->ns - before, 10e3) && double_near(c->cycle_ns, 1),
	       "a clock that settles first runs on at its old rate");
	c->ns += 60e3;
	clock_request(1000000000);
	clock_request(500000000);
	domain_refresh(c);
	tap_ok(double_near(c->cycle_ns, 1), "it has not changed before it has settled");
	c->ns += 40e3;
	domain_refresh(c);
	tap_ok(double_near(c->cycle_ns, 2), "later requests do not delay the change");
	domain_refresh(neighbour);
	tap_ok(double_near(neighbour->cycle_ns, 2), "a neighbour with the same clock follows");
	before = c->ns;
	clock_request(500000000);
	tap_ok(double_near(c->ns, before), "a request for the rate in force costs nothing");
	clock_request(1000000000);
	clock_request(500000000);
	c->ns += 200e3;
	domain_refresh(c);
	tap_ok(double_near(c->cycle_ns, 2), "a request that was taken back changes nothing");
	k->settle_us = 0;
	clock_request(1000000000);
}

int main(void)
{
	tap_ok(!board_begin(), "a board of two clusters");
	caches_check();
	private_lines();
	translation_check();
	idle_check();
	clock_check();
	printf("1..%d\n", count);
	return failed ? 1 : 0;
}
