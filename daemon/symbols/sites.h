/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where in a program or library a function or a USDT probe is, by its name. */
#ifndef SYMBOLS_SITES_H
#define SYMBOLS_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SITES_MAX 64 /* sites of one USDT probe */

/**
 * struct site - an instruction
 * @offset: in the file
 * @semaphore: offset of the counter that enables the USDT probe; 0: none
 */
struct site {
	uint64_t offset, semaphore;
};

/**
 * sites_find - find the first instruction of a function, or the sites of a probe
 * @path: the file
 * @name: FUNCTION; PROVIDER:NAME of a USDT probe; "TEXT" with its quotes: the only function that uses
 *	the string TEXT, for files without symbols; \n, \t and \\ are as in C
 * @site: receives them
 * @why: receives the reason of a failure, and what to do
 * @size: of @why
 *
 * Finds functions by the symbols of the file, also those that the compiler specialised (such as
 * NAME.constprop.0), and by debugging symbols that are installed apart. Returns how many there
 * are, at most SITES_MAX; 0 on failure.
 */
size_t sites_find(const char *path, const char *name, struct site site[SITES_MAX], char *why,
		  size_t size);

/* Whether the code of a file throws exceptions or catches them, as that of C++ and of Rust. */
bool sites_throw(const char *path);

#endif
