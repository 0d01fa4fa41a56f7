// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each cell has a turn: the position whose producer may fill it, or that
 * position plus one when its consumer may empty it. A producer claims its
 * position by moving the head, so producers never wait for each other, and one
 * that is interrupted holds up nobody but the consumer.
 */
#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/workqueue.h>

#include "event.h"
#include "ring.h"

/* Events wait so long for company in their message. */
#define BATCH msecs_to_jiffies(5)
/* Held until they are sent, a power of two: 352 KiB, most of what the module holds. */
#define CELLS 4096

struct cell {
	atomic_t turn;
	struct gchint_record record;
};

static struct cell *cells;
static atomic_t head;
static unsigned int tail;
static atomic64_t lost;

/* Set by the producer that wakes the consumer, cleared by the latter. */
static atomic_t awake;

static const struct gchint_ring_reader *reader;

/**
 * gchint_ring_read - name the reader
 * @who: it, or NULL. It is part of the module, so a late call finds it.
 */
void gchint_ring_read(const struct gchint_ring_reader *who)
{
	WRITE_ONCE(reader, who);
}

/**
 * gchint_ring_listened - is there anybody to fill the ring for?
 *
 * Irqs off, or under RCU.
 *
 * Return: whether there is.
 */
bool gchint_ring_listened(void)
{
	const struct gchint_ring_reader *who = READ_ONCE(reader);

	return who && who->listens();
}

static void drain(struct work_struct *work)
{
	const struct gchint_ring_reader *who;

	/*
	 * Pairs with atomic_xchg() in gchint_ring_put(): who finds it set
	 * has published before this reads the cells.
	 */
	atomic_xchg(&awake, 0);
	who = READ_ONCE(reader);
	if (who)
		who->drain();
}

static DECLARE_DELAYED_WORK(drain_work, drain);

/* The run queue's lock is behind us here, so that a worker may be woken. */
static void wake(struct irq_work *work)
{
	queue_delayed_work(system_unbound_wq, &drain_work, BATCH);
}

static struct irq_work wake_work;

/**
 * gchint_ring_put - append an event, or count it as lost
 * @record: the event
 *
 * Any context but NMI.
 */
void gchint_ring_put(const struct gchint_record *record)
{
	unsigned int pos = atomic_read(&head);
	struct cell *cell;
	int behind;

	for (;;) {
		cell = &cells[pos % CELLS];
		/* Pairs with the release in gchint_ring_get(). */
		behind = pos - atomic_read_acquire(&cell->turn);
		if (behind > 0) {
			atomic64_inc(&lost);
			return;
		}
		if (!behind && atomic_try_cmpxchg(&head, (int *)&pos, pos + 1))
			break;
		if (behind < 0)
			pos = atomic_read(&head);
	}
	cell->record = *record;
	/* Pairs with the acquire in gchint_ring_get(). */
	atomic_set_release(&cell->turn, pos + 1);

	if (!atomic_xchg(&awake, 1))
		irq_work_queue(&wake_work);
}

/**
 * gchint_ring_get - take the oldest event
 * @record: where to
 *
 * One caller at a time.
 *
 * Return: whether there was one.
 */
bool gchint_ring_get(struct gchint_record *record)
{
	struct cell *cell = &cells[tail % CELLS];

	/* Pairs with the release in gchint_ring_put(). */
	if (atomic_read_acquire(&cell->turn) != (int)(tail + 1))
		return false;
	*record = cell->record;
	/* Pairs with the acquire in gchint_ring_put(). */
	atomic_set_release(&cell->turn, tail + CELLS);
	tail++;
	return true;
}

/**
 * gchint_ring_lost - how many events did not fit
 *
 * Return: since the module was loaded.
 */
u64 gchint_ring_lost(void)
{
	return atomic64_read(&lost);
}

int gchint_ring_init(void)
{
	unsigned int i;

	cells = kvcalloc(CELLS, sizeof(*cells), GFP_KERNEL);
	if (!cells)
		return -ENOMEM;
	for (i = 0; i < CELLS; i++)
		atomic_set(&cells[i].turn, i);
	init_irq_work(&wake_work, wake);
	return 0;
}

/* Nobody puts any more. */
void gchint_ring_exit(void)
{
	irq_work_sync(&wake_work);
	cancel_delayed_work_sync(&drain_work);
	kvfree(cells);
}
