// SPDX-License-Identifier: MIT
#include "plan.h"
#include "trace.h"
void gc_verify_pre(struct gc_heap *heap) { (void)heap; }
void gc_verify_post(struct gc_heap *heap) { (void)heap; }
void gc_verify_cards(struct gc_heap *heap) { (void)heap; }
