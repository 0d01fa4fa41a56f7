// SPDX-License-Identifier: GPL-2.0-or-later
#include "last-method.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../recording/reader/db.h"

/* Compiled code that is the runtime's own and no method of the program. */
static bool name_is_own(const char *name)
{
	static const char *const own[] = { "Builtin:", "BytecodeHandler:", "Stub:",
					   "StubRoutines" };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strncmp(name, own[i], strlen(own[i])))
			return true;
	/* Of HotSpot, such as "Interpreter"; a method has its class, its file or its line. */
	return !strpbrk(name, ".:(");
}

static bool address_find(const struct recording *rec, int32_t tgid, uint64_t t, int64_t address,
			 char *name, size_t size)
{
	sqlite3_stmt *s = db_query(rec->db, "SELECT name FROM symbols WHERE tgid = ?1 AND "
					    "address = ?2 AND t <= ?3 AND image = '[methods]' AND "
					    "name IS NOT NULL ORDER BY t DESC LIMIT 1");
	bool found = false;

	if (s) {
		sqlite3_bind_int64(s, 1, tgid);
		sqlite3_bind_int64(s, 2, address);
		sqlite3_bind_int64(s, 3, (int64_t)t);
	}
	if (db_next(s)) {
		const char *text = db_text(s, 0, "");

		found = *text && !name_is_own(text);
		/* V8 prefixes functions, with a sign for how they were compiled. */
		if (!strncmp(text, "JS:", 3))
			text += 3 + strspn(text + 3, "*^~+ ");
		if (found)
			snprintf(name, size, "%s", text);
	}
	sqlite3_finalize(s);
	return found;
}

/* @frames: addresses in hexadecimal, the innermost first */
static bool frames_find(const struct recording *rec, int32_t tgid, uint64_t t, const char *frames,
			char *name, size_t size)
{
	char *rest;

	while (*frames) {
		const uint64_t address = strtoull(frames, &rest, 16);

		if (rest == frames)
			break;
		if (address_find(rec, tgid, t, (int64_t)address, name, size))
			return true;
		frames = rest;
	}
	return false;
}

bool last_method_find(const struct recording *rec, int32_t tgid, uint64_t t, char *name,
		      size_t size)
{
	sqlite3_stmt *s =
		db_query(rec->db, "SELECT h.t, h.method, h.ip, s.frames FROM hotspots h LEFT JOIN "
				  "stacks s ON s.id = h.stack WHERE h.t <= ?1 AND h.t > ?2 AND "
				  "h.tgid = ?3 AND h.phase = 0 ORDER BY h.t DESC");
	bool found = false;

	if (s) {
		sqlite3_bind_int64(s, 1, (int64_t)t);
		sqlite3_bind_int64(s, 2, t > LAST_METHOD_NS ? (int64_t)(t - LAST_METHOD_NS) : 0);
		sqlite3_bind_int64(s, 3, tgid);
	}
	while (!found && db_next(s)) {
		const uint64_t at = (uint64_t)db_int(s, 0, 0);

		found = address_find(rec, tgid, at, db_int(s, 1, 0), name, size) ||
			address_find(rec, tgid, at, db_int(s, 2, 0), name, size) ||
			frames_find(rec, tgid, at, db_text(s, 3, ""), name, size);
	}
	sqlite3_finalize(s);
	return found;
}
