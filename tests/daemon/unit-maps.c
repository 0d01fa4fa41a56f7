// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines of perf-PID.map and of /proc/PID/maps, and whose map counts. */
#include <string.h>
#include <unistd.h>

#include "../../daemon/symbols/mapping.h"
#include "../../daemon/symbols/perf-map.h"
#include "unit.h"

static bool line_is_symbol(const char *text, uint64_t start, uint64_t size, const char *name)
{
	struct symbol s;
	char line[64];

	strcpy(line, text);
	return perf_map_parse_line(line, &s) && s.start == start && s.size == size &&
	       !strcmp(s.name, name);
}

static bool line_is_malformed(const char *text)
{
	struct symbol s;
	char line[64];

	strcpy(line, text);
	return !perf_map_parse_line(line, &s);
}

static bool line_is_mapping(const char *text, const struct mapping *wanted)
{
	struct mapping m;
	char line[128];

	strcpy(line, text);
	return mapping_parse(line, &m) && m.start == wanted->start && m.end == wanted->end &&
	       m.offset == wanted->offset && m.executable == wanted->executable &&
	       !strcmp(m.path, wanted->path);
}

void unit_maps(void)
{
	const uid_t users[] = { geteuid() + 1, geteuid() + 2 };
	struct mapping m;
	char none[] = "7f00-";

	CHECK(line_is_symbol("7f00 1a f(x) y", 0x7f00, 0x1a, "f(x) y"), "a name may have blanks");
	CHECK(line_is_symbol("0 0 @17", 0, 0, "@17"), "a time has no size");
	CHECK(line_is_malformed("7f00 1a ") && line_is_malformed("7f00 f") &&
		      line_is_malformed("x 1a f") && line_is_malformed(""),
	      "a line without a name, a size or a start is malformed");
	CHECK(line_is_malformed("ffffffffffffffff 2 f"), "a symbol does not wrap around");
	CHECK(symbol_file_is_trusted(&(struct stat){ .st_uid = geteuid() }, users, 2) &&
		      symbol_file_is_trusted(&(struct stat){ .st_uid = users[1] }, users, 2) &&
		      !symbol_file_is_trusted(&(struct stat){ .st_uid = users[1] }, users, 1),
	      "a map counts if a user of the process owns it, or ours");
	CHECK(line_is_mapping("7f00-8000 r-xp 00001000 08:01 17    /a b\n",
			      &(struct mapping){ 0x7f00, 0x8000, 0x1000, true, "/a b" }) &&
		      line_is_mapping("7f00-8000 rw-p 00000000 00:00 0 \n",
				      &(struct mapping){ 0x7f00, 0x8000, 0, false, "" }),
	      "a mapping may have a path with blanks, or none");
	CHECK(!mapping_parse(none, &m), "a line that ends early is no mapping");
}
