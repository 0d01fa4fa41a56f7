// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: netlink payloads of any bytes; every parsed value must have been there. */
#include <stdlib.h>
#include <string.h>

#include <uapi/linux/gchint.h>

#include "../../../daemon/common/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_event(void *data, const struct message_event *e)
{
	const uint32_t need =
		HAS(GCHINT_EVENT_A_TYPE) | HAS(GCHINT_EVENT_A_TIME) | HAS(GCHINT_EVENT_A_CPU);

	(void)data;
	if ((e->has & need) != need)
		abort();
	if (!(e->has & HAS(GCHINT_EVENT_A_KHZ)) && e->khz)
		abort();
}

static void on_policy(void *data, const struct message_policy *p)
{
	(void)data;
	if (!(p->has & HAS(GCHINT_POLICY_A_CPU)))
		abort();
}

static void on_session(void *data, const struct message_session *s)
{
	(void)data;
	if (!(s->has & HAS(GCHINT_SESSION_A_ID)))
		abort();
}

static void on_slot(void *data, const struct message_slot *s)
{
	(void)data;
	(void)s;
}

static void on_info(void *data, const struct message_info *i)
{
	(void)data;
	if (!(i->has & HAS(GCHINT_A_LOST)) && i->lost)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct message_ops ops = {
		.event = on_event,
		.policy = on_policy,
		.session = on_session,
		.slot = on_slot,
		.info = on_info,
	};
	/* Netlink buffers are aligned; the fuzzer's are not. */
	void *copy = NULL;

	if (posix_memalign(&copy, 8, size ? size : 1))
		return 0;
	memcpy(copy, data, size);
	message_parse(copy, size, 0, &ops, NULL);
	free(copy);
	return 0;
}
