// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bounded queue of events: many producers that may not wait, one consumer.
 *
 * Each cell has a sequence number: it equals a position when that position's
 * producer may fill the cell, and the position plus one when the consumer may
 * empty it. A producer claims its position by moving the head, so producers
 * never wait for each other, and one that is interrupted delays only the
 * consumer.
 */
#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/mm.h>

#include "compat/workqueue.h"
#include "event.h"

/* The drain is delayed, so that one message carries several events. */
#define RING_DELAY msecs_to_jiffies(5)
/* A power of two. 352 KiB, most of the memory that the module allocates. */
#define RING_CELLS 4096

struct ring_cell {
	atomic_t seq;
	struct gchint_event_data record;
};

static struct ring_cell *ring_cells;
static atomic_t ring_head;
static unsigned int ring_tail;
static atomic64_t ring_lost;

/* Set by the producer that schedules a drain, cleared when the drain begins. */
static atomic_t ring_pending;

static const struct gchint_ring_reader *ring_reader;

/*
 * Set the consumer, or NULL. The structure is static data of the module, so a
 * producer that still sees the old pointer may use it.
 */
void gchint_ring_set_reader(const struct gchint_ring_reader *reader)
{
	WRITE_ONCE(ring_reader, reader);
}

/*
 * Should events be put into the ring? Interrupts are off, or RCU is held for
 * reading: gchint_netlink_exit() waits for such sections before it unregisters
 * the family whose listeners are asked for here.
 */
bool gchint_ring_has_listener(void)
{
	const struct gchint_ring_reader *reader = READ_ONCE(ring_reader);

	return reader && reader->listens();
}

static void ring_drain(struct work_struct *work)
{
	const struct gchint_ring_reader *reader;

	/*
	 * Pairs with atomic_xchg() in gchint_ring_put(): a producer that finds
	 * the flag set has published its event before the cells are read here.
	 */
	atomic_xchg(&ring_pending, 0);
	reader = READ_ONCE(ring_reader);
	if (reader)
		reader->drain();
}

static DECLARE_DELAYED_WORK(ring_drain_work, ring_drain);

/* The run queue's lock is no longer held here, so a worker may be woken. */
static void ring_queue_drain(struct irq_work *work)
{
	queue_delayed_work(system_dfl_wq, &ring_drain_work, RING_DELAY);
}

static struct irq_work ring_irq_work;

/* Append an event, or count it as lost. In any context but NMI. */
void gchint_ring_put(const struct gchint_event_data *record)
{
	unsigned int pos = atomic_read(&ring_head);
	struct ring_cell *cell;
	int behind;

	for (;;) {
		cell = &ring_cells[pos % RING_CELLS];
		/* Pairs with the release in gchint_ring_get(). */
		behind = pos - atomic_read_acquire(&cell->seq);
		if (behind > 0) {
			atomic64_inc(&ring_lost);
			return;
		}
		if (!behind &&
		    atomic_try_cmpxchg(&ring_head, (int *)&pos, pos + 1))
			break;
		if (behind < 0)
			pos = atomic_read(&ring_head);
	}
	cell->record = *record;
	/* Pairs with the acquire in gchint_ring_get(). */
	atomic_set_release(&cell->seq, pos + 1);

	if (!atomic_xchg(&ring_pending, 1))
		irq_work_queue(&ring_irq_work);
}

/* Take the oldest event; false if there is none. One caller at a time. */
bool gchint_ring_get(struct gchint_event_data *record)
{
	struct ring_cell *cell = &ring_cells[ring_tail % RING_CELLS];

	/* Pairs with the release in gchint_ring_put(). */
	if (atomic_read_acquire(&cell->seq) != (int)(ring_tail + 1))
		return false;
	*record = cell->record;
	/* Pairs with the acquire in gchint_ring_put(). */
	atomic_set_release(&cell->seq, ring_tail + RING_CELLS);
	ring_tail++;
	return true;
}

/* The number of events that found the ring full since the module's start. */
u64 gchint_ring_lost(void)
{
	return atomic64_read(&ring_lost);
}

int gchint_ring_init(void)
{
	unsigned int i;

	ring_cells = kvcalloc(RING_CELLS, sizeof(*ring_cells), GFP_KERNEL);
	if (!ring_cells)
		return -ENOMEM;
	for (i = 0; i < RING_CELLS; i++)
		atomic_set(&ring_cells[i].seq, i);
	init_irq_work(&ring_irq_work, ring_queue_drain);
	return 0;
}

/* No producer is left. The irq_work queues the drain, so it is synced first. */
void gchint_ring_exit(void)
{
	irq_work_sync(&ring_irq_work);
	cancel_delayed_work_sync(&ring_drain_work);
	kvfree(ring_cells);
}
