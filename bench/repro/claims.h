/* SPDX-License-Identifier: MIT */
/* The checks that claims.list names. */
#ifndef BENCH_CLAIMS_H
#define BENCH_CLAIMS_H

#include "repro/claim.h"

#define CLAIM(check, id, text, paper) void check(struct outcome *o);
#include "repro/claims.list"
#undef CLAIM

#endif
