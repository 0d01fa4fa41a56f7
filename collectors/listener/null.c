// SPDX-License-Identifier: MIT
#include <gchint/gc-listener.h>

static const struct gc_listener_ops ops;

struct gc_listener gc_listener_null = { &ops };
