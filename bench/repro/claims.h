/* SPDX-License-Identifier: MIT */
/* The claims that claims.list names. */
#ifndef BENCH_CLAIMS_H
#define BENCH_CLAIMS_H

#include "repro/claim.h"

#define CLAIM(name) extern const struct claim name;
#include "repro/claims.list"
#undef CLAIM

#endif
