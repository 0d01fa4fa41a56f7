// SPDX-License-Identifier: GPL-2.0-only
/* The sockets that record, and the sum of what they ask for. */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "recorder.h"
#include "tell/event.h"

/* Sockets that may record at the same time. */
#define RECORDERS_MAX 64

struct recorder {
	struct list_head node;
	u32 portid;
	u32 phases;
};

/* Serialises the recorders, and their sum on its way to the event room. */
static DEFINE_MUTEX(recorders_lock);
static LIST_HEAD(recorders);
static unsigned int nr_recorders;

/**
 * gchint_recorder_count - how many sockets record
 *
 * Return: the number.
 */
unsigned int gchint_recorder_count(void)
{
	return READ_ONCE(nr_recorders);
}

static struct recorder *find_recorder(u32 portid)
{
	struct recorder *recorder;

	list_for_each_entry(recorder, &recorders, node)
		if (recorder->portid == portid)
			return recorder;
	return NULL;
}

static void sum_recorders(void)
{
	struct recorder *recorder;
	u32 phases = 0;

	list_for_each_entry(recorder, &recorders, node)
		phases |= recorder->phases;
	gchint_event_record(phases);
}

static void remove_recorder(struct recorder *recorder)
{
	list_del(&recorder->node);
	WRITE_ONCE(nr_recorders, nr_recorders - 1);
	kfree(recorder);
}

/**
 * gchint_recorder_set - a socket asks for both edges of phases on every CPU
 * @portid: the socket
 * @phases: bit n for phase n; 0: of none any more
 * @extack: where a mistake is told
 *
 * Return: 0, -EUSERS or -ENOMEM; nothing has changed then.
 */
int gchint_recorder_set(u32 portid, u32 phases, struct netlink_ext_ack *extack)
{
	struct recorder *recorder;
	int ret = 0;

	mutex_lock(&recorders_lock);
	recorder = find_recorder(portid);
	if (!phases) {
		if (recorder)
			remove_recorder(recorder);
		goto sum;
	}
	if (!recorder) {
		if (nr_recorders == RECORDERS_MAX) {
			NL_SET_ERR_MSG(extack, "too many sockets record already");
			ret = -EUSERS;
			goto unlock;
		}
		recorder = kzalloc(sizeof(*recorder), GFP_KERNEL_ACCOUNT);
		if (!recorder) {
			ret = -ENOMEM;
			goto unlock;
		}
		recorder->portid = portid;
		list_add(&recorder->node, &recorders);
		WRITE_ONCE(nr_recorders, nr_recorders + 1);
	}
	recorder->phases = phases;
sum:
	sum_recorders();
unlock:
	mutex_unlock(&recorders_lock);
	return ret;
}

/* A socket that records may be closed, or its process killed, at any time. */
static int socket_event(struct notifier_block *nb, unsigned long event,
			void *data)
{
	struct netlink_notify *notify = data;
	struct recorder *recorder;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC ||
	    !net_eq(notify->net, &init_net) || !gchint_recorder_count())
		return NOTIFY_DONE;

	mutex_lock(&recorders_lock);
	recorder = find_recorder(notify->portid);
	if (recorder) {
		remove_recorder(recorder);
		sum_recorders();
	}
	mutex_unlock(&recorders_lock);
	return NOTIFY_DONE;
}

static struct notifier_block socket_nb = { .notifier_call = socket_event };

/**
 * gchint_recorder_init - hear of sockets that are closed
 *
 * Return: 0 or a negative errno.
 */
int gchint_recorder_init(void)
{
	return netlink_register_notifier(&socket_nb);
}

/**
 * gchint_recorder_exit - forget those who are left
 */
void gchint_recorder_exit(void)
{
	struct recorder *recorder, *next;

	netlink_unregister_notifier(&socket_nb);
	list_for_each_entry_safe(recorder, next, &recorders, node)
		remove_recorder(recorder);
}
