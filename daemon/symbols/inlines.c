// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions that the compiler inlined. libdw's dwarf_getscopes() walks a whole unit for each address;
 * the functions of a unit are listed once here, because a unit of a large program has 100,000 of
 * them.
 */
#ifdef HAVE_DW
#include "inlines.h"

#include <dwarf.h>
#include <stdlib.h>

#define NESTING_MAX 64 /* levels of scopes that are followed */

struct function_range {
	Dwarf_Addr first, end;
	Dwarf_Off die;
};

struct inlines_unit {
	struct inlines_unit *next;
	Dwarf_CU *cu;
	struct function_range *range; /* by address */
	size_t ranges, room;
};

/* Where the inlined functions of an address are put, and what their calls' files are called. */
struct search {
	Dwarf_Addr pc;
	Dwarf_Files *files;
	size_t nr;
	Dwarf_Die found[NESTING_MAX]; /* outermost first */
};

static bool unit_add_range(struct inlines_unit *u, Dwarf_Addr first, Dwarf_Addr end, Dwarf_Off die)
{
	if (u->ranges == u->room) {
		const size_t room = u->room ? u->room * 2 : 256;
		struct function_range *more = realloc(u->range, room * sizeof(*more));

		if (!more)
			return false;
		u->range = more;
		u->room = room;
	}
	u->range[u->ranges++] = (struct function_range){ first, end, die };
	return true;
}

/* Lists the functions below a scope; those of Rust and C++ are within namespaces and types. */
static bool unit_add_functions(struct inlines_unit *u, Dwarf_Die *scope, unsigned int depth)
{
	Dwarf_Addr base, first, end;
	Dwarf_Die die;

	if (depth == NESTING_MAX || dwarf_child(scope, &die))
		return true;
	do {
		ptrdiff_t more = 0;

		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			while ((more = dwarf_ranges(&die, more, &base, &first, &end)) > 0)
				if (!unit_add_range(u, first, end, dwarf_dieoffset(&die)))
					return false;
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
			if (!unit_add_functions(u, &die, depth + 1))
				return false;
			break;
		default:
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
	return true;
}

static int range_compare(const void *a, const void *b)
{
	const struct function_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* NULL without memory. */
static const struct inlines_unit *inlines_unit(struct inlines *i, Dwarf_Die *unit)
{
	struct inlines_unit *u;

	for (u = i->units; u; u = u->next)
		if (u->cu == unit->cu)
			return u;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->cu = unit->cu;
	if (!unit_add_functions(u, unit, 0)) {
		free(u->range);
		free(u);
		return NULL;
	}
	if (u->ranges)
		qsort(u->range, u->ranges, sizeof(*u->range), range_compare);
	u->next = i->units;
	i->units = u;
	return u;
}

static const struct function_range *unit_function(const struct inlines_unit *u, Dwarf_Addr pc)
{
	size_t lo = 0, hi = u->ranges;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;

		if (u->range[mid].first <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && pc < u->range[lo - 1].end ? &u->range[lo - 1] : NULL;
}

/* Goes down the scopes that contain the address; each scope has at most one such child. */
static void search_descend(struct search *s, Dwarf_Die scope)
{
	Dwarf_Die die;

	for (unsigned int depth = 0; depth < NESTING_MAX && !dwarf_child(&scope, &die); depth++) {
		bool found = false;

		do {
			const int tag = dwarf_tag(&die);

			found = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
				dwarf_haspc(&die, s->pc) > 0;
			if (found && tag == DW_TAG_inlined_subroutine)
				s->found[s->nr++] = die;
		} while (!found && !dwarf_siblingof(&die, &die));
		if (!found)
			return;
		scope = die;
	}
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

static struct dwarf_line die_call(Dwarf_Die *die, Dwarf_Files *files)
{
	struct dwarf_line call = { NULL, 0 };
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;

	if (files && dwarf_attr(die, DW_AT_call_file, &attribute) &&
	    !dwarf_formudata(&attribute, &file) && dwarf_attr(die, DW_AT_call_line, &attribute) &&
	    !dwarf_formudata(&attribute, &line) && line && line <= INT32_MAX) {
		call.file = dwarf_filesrc(files, file, NULL, NULL);
		call.line = call.file ? (int)line : 0;
	}
	return call;
}

size_t inlines_find(struct inlines *i, Dwarf_Die *unit, Dwarf_Addr pc,
		    struct dwarf_inlined *inlined, size_t max)
{
	const struct inlines_unit *u = inlines_unit(i, unit);
	const struct function_range *range = u ? unit_function(u, pc) : NULL;
	struct search s = { .pc = pc };
	size_t files, nr = 0;
	Dwarf_Die function;

	if (!range || !dwarf_offdie(dwarf_cu_getdwarf(u->cu), range->die, &function))
		return 0;
	search_descend(&s, function);
	if (s.nr && dwarf_getsrcfiles(unit, &s.files, &files))
		s.files = NULL;
	while (s.nr && nr < max) {
		Dwarf_Die *die = &s.found[--s.nr];
		const char *name = die_name(die);

		/* Without one name the chain would not be true. */
		if (!name)
			return 0;
		inlined[nr++] = (struct dwarf_inlined){ name, die_call(die, s.files) };
	}
	return nr;
}

void inlines_free(struct inlines *i)
{
	for (struct inlines_unit *u = i->units, *next; u; u = next) {
		next = u->next;
		free(u->range);
		free(u);
	}
	i->units = NULL;
}
#endif
