// SPDX-License-Identifier: MIT
/*
 * The board's state. In a file of its own, since every part uses it and plugin.c calls every part:
 * defined there, each part would depend on all others.
 */
#include "timed.h"

struct timed timed;
