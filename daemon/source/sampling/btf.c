// SPDX-License-Identifier: GPL-2.0-or-later
#include "btf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE_ANY (64 << 20) /* limit of the file's size; a whole kernel's BTF has about 6 MB */
#define DEPTH	 8 /* limit of nested anonymous members, and of chained typedefs */

struct btf {
	char *base;
	size_t size;
	const char *strings;
	size_t strings_size;
	const struct btf_type **type; /* indexed by type id, from 1 */
	uint32_t types;
};

static int btf_read_file(struct btf *b, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;
	size_t room = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	/* The st_size of a sysfs file is unreliable, and a read returns at most a page. */
	while (n > 0 && b->size < SIZE_ANY) {
		if (b->size == room) {
			const size_t twice = room ? room * 2 : 1 << 20;
			char *more = realloc(b->base, twice);

			if (!more) {
				ret = -ENOMEM;
				break;
			}
			b->base = more;
			room = twice;
		}
		n = read(fd, b->base + b->size, room - b->size);
		if (n > 0)
			b->size += (size_t)n;
		else if (n < 0)
			ret = -errno;
	}
	close(fd);
	return ret;
}

/* Bytes after a type's fixed part; -1 for an unknown BTF_KIND, whose size is unknown too. */
static long type_tail_size(const struct btf_type *t)
{
	const long nr = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return nr * (long)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return nr * 8;
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return nr * 12;
	default:
		return BTF_INFO_KIND(t->info) < NR_BTF_KINDS ? 0 : -1;
	}
}

static int btf_index_types(struct btf *b)
{
	const struct btf_header *h = (const void *)b->base;
	const char *at, *end;

	if (b->size < sizeof(*h) || h->magic != BTF_MAGIC || h->hdr_len > b->size ||
	    h->type_off > b->size - h->hdr_len || h->type_off % 4 || h->hdr_len % 4 ||
	    h->type_len > b->size - h->hdr_len - h->type_off || h->str_off > b->size - h->hdr_len ||
	    h->str_len > b->size - h->hdr_len - h->str_off || !h->str_len)
		return -EINVAL;
	b->strings = b->base + h->hdr_len + h->str_off;
	b->strings_size = h->str_len;
	if (b->strings[h->str_len - 1])
		return -EINVAL;
	b->type = calloc(h->type_len / sizeof(struct btf_type) + 1, sizeof(*b->type));
	if (!b->type)
		return -ENOMEM;
	at = b->base + h->hdr_len + h->type_off;
	end = at + h->type_len;
	while ((size_t)(end - at) >= sizeof(struct btf_type)) {
		const struct btf_type *t = (const void *)at;
		const long tail = type_tail_size(t);

		if (tail < 0 || tail > end - at - (long)sizeof(*t))
			return -EINVAL;
		b->type[++b->types] = t;
		at += sizeof(*t) + (size_t)tail;
	}
	return 0;
}

static bool btf_name_matches(const struct btf *b, uint32_t offset, const char *name, size_t length)
{
	return offset < b->strings_size && !strncmp(b->strings + offset, name, length) &&
	       !b->strings[offset + length];
}

/* Follows typedefs and qualifiers to a structure or union; NULL if there is none. */
static const struct btf_type *type_resolve(const struct btf *b, uint32_t number)
{
	for (int i = 0; i < DEPTH && number && number <= b->types; i++) {
		const struct btf_type *t = b->type[number];

		switch (BTF_INFO_KIND(t->info)) {
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
			return t;
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_TYPE_TAG:
			number = t->type;
			break;
		default:
			return NULL;
		}
	}
	return NULL;
}

/* Offset of the member in bytes, its type in *@type; -ENOENT if there is none. */
static int64_t type_find_member(const struct btf *b, const struct btf_type *t, const char *name,
				size_t length, int depth, uint32_t *type)
{
	const struct btf_member *m = (const void *)(t + 1);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++, m++) {
		const int64_t at =
			(BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset) /
			8;
		const struct btf_type *in;
		int64_t inner;

		if (m->name_off && btf_name_matches(b, m->name_off, name, length)) {
			*type = m->type;
			return at;
		}
		in = !m->name_off && depth < DEPTH ? type_resolve(b, m->type) : NULL;
		inner = in ? type_find_member(b, in, name, length, depth + 1, type) : -ENOENT;
		if (inner >= 0)
			return at + inner;
	}
	return -ENOENT;
}

static int64_t btf_find_offset(const struct btf *b, const char *type, const char *members)
{
	const struct btf_type *t = NULL;
	int64_t offset = 0;

	for (uint32_t i = 1; i <= b->types && !t; i++)
		if (BTF_INFO_KIND(b->type[i]->info) == BTF_KIND_STRUCT &&
		    btf_name_matches(b, b->type[i]->name_off, type, strlen(type)))
			t = b->type[i];
	while (*members) {
		const size_t length = strcspn(members, ".");
		uint32_t next = 0;
		int64_t at = t ? type_find_member(b, t, members, length, 0, &next) : -ENOENT;

		if (at < 0)
			return at;
		offset += at;
		t = type_resolve(b, next);
		members += length + (members[length] == '.');
	}
	return offset;
}

int64_t btf_offset(const char *path, const char *type, const char *members)
{
	struct btf b = { NULL, 0, NULL, 0, NULL, 0 };
	int64_t ret = btf_read_file(&b, path);

	if (!ret)
		ret = btf_index_types(&b);
	if (!ret)
		ret = btf_find_offset(&b, type, members);
	free(b.type);
	free(b.base);
	return ret;
}
