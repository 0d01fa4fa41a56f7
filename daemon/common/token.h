/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The secret that monitors send, in a file. */
#ifndef GCHINT_TOKEN_H
#define GCHINT_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_SIZE 256 /* bytes of a token, its NUL included */

/**
 * token_read - read the token of a file
 * @path: the file
 * @token: receives it, "" on failure
 * @why: receives the reason of a failure
 * @size: of @why
 *
 * Returns false if there is none that is a secret: the file cannot be read, others can read it, or
 * it could be guessed.
 */
bool token_read(const char *path, char token[TOKEN_SIZE], char *why, size_t size);

#endif
