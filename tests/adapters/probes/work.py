# SPDX-License-Identifier: MIT
# Description: a PyPy program that collects; prints what the collector's hooks said, in ms.
import gc
import sys

said = {"minor": 0, "steps": 0, "ns": 0.0}


def on_minor(stats):
    said["minor"] += stats.count
    said["ns"] += stats.duration


def on_step(stats):
    said["steps"] += stats.count
    said["ns"] += stats.duration


gc.hooks.on_gc_minor = on_minor
gc.hooks.on_gc_collect_step = on_step
kept = []
for i in range(300000):
    kept.append([str(i)] * 8)
    if len(kept) > 60000:
        kept = kept[30000:]
gc.collect()
print("minor=%d steps=%d ms=%.3f" % (said["minor"], said["steps"], said["ns"] * 1e3))
sys.exit(7)
