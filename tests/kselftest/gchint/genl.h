/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Generic netlink by hand: tests send what no library would. */
#ifndef GENL_H
#define GENL_H

#include <stddef.h>
#include <stdint.h>
#include <linux/gchint.h>

/**
 * struct genl - a socket that knows the family
 * @fd: the socket
 * @family: number of the family
 * @event: number of the multicast group "event"
 * @sampling: of the group "sampling"
 * @wait_ms: how long a request waits for its acknowledgement; 0: 5000
 * @message: text of the extended acknowledgement of the last request, or ""
 * @attrs: attributes of the last reply or multicast message
 * @attrs_len: their bytes
 * @cmd: its command
 * @replies: messages in reply to the last request, without the acknowledgement
 */
struct genl {
	int fd;
	uint16_t family;
	uint32_t event;
	uint32_t sampling;
	uint32_t seq;
	int wait_ms;
	char message[256];
	char attrs[16384] __attribute__((aligned(8)));
	size_t attrs_len;
	uint8_t cmd;
	int replies;
};

/* 0 or -errno; -ENOENT if the kernel has no such family. */
int genl_open(struct genl *g);
void genl_close(struct genl *g);

/**
 * genl_request() - send a request, read until its acknowledgement
 * @g: the socket
 * @cmd: command
 * @flags: NLM_F_DUMP, or 0
 * @attrs: attributes as sent
 * @len: their bytes
 *
 * Return: 0 or the -errno of the acknowledgement; the attributes of the last
 * reply, if any, are then in @g->attrs.
 */
int genl_request(struct genl *g, uint8_t cmd, uint16_t flags,
		 const void *attrs, size_t len);

/**
 * genl_put() - append an attribute to a request
 * @to: destination
 * @type: its type
 * @data: payload
 * @len: bytes of payload
 *
 * Return: bytes used, aligned.
 */
size_t genl_put(void *to, uint16_t type, const void *data, size_t len);
size_t genl_put_u32(void *to, uint16_t type, uint32_t value);

/**
 * genl_find() - payload of an attribute
 * @attrs: first attribute
 * @len: bytes of attributes
 * @type: its type
 * @payload: its bytes; may be NULL
 *
 * Return: the first of that type, or NULL.
 */
const void *genl_find(const void *attrs, size_t len, uint16_t type,
		      size_t *payload);

/* One number of GCHINT_CMD_INFO_GET: 0 or -errno. */
int genl_info(struct genl *g, uint16_t attr, uint32_t *value);

/* GCHINT_CMD_RECORD_SET. */
int genl_record(struct genl *g, uint32_t phases);

/* Joins a multicast group: 0 or -errno. */
int genl_listen(struct genl *g, uint32_t group);

/* Next multicast message into @g->attrs: 0, or -ETIMEDOUT, or -errno. */
int genl_next(struct genl *g, int ms);

#endif
