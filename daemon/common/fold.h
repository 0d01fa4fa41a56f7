/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folds lines of text for a narrow terminal, between the columns of a table and between words: a
 * terminal cuts them in the middle of a number.
 */
#ifndef GCHINT_FOLD_H
#define GCHINT_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/**
 * fold_line - write a line, folded
 * @to: the stream to write to
 * @line: UTF-8 without a line feed
 * @len: its length in bytes
 * @width: columns; a word that is longer stays whole
 *
 * What follows the first of the lines is indented by two columns more than that one, and by eight
 * at most. Writes a line feed after each.
 */
void fold_line(FILE *to, const char *line, size_t len, size_t width);

/*
 * The width to which standard output is to be folded: that of the variable COLUMNS, else of the
 * terminal; 0: it is neither a terminal nor is the variable set.
 */
size_t fold_width(void);

/* Sends everything that is written to stdout from now on, by whole lines, through fold_line(). */
void fold_output(size_t width);
/* Writes what the last line has, if it has not ended. Returns false on an error of the output. */
bool fold_finish(void);

#endif
