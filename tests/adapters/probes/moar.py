# SPDX-License-Identifier: MIT
"""moar.py PROFILE OURS - collections of MoarVM's profile among ours, a duration in ns a line."""
import json
import sys

profile = json.load(open(sys.argv[1]))
log = [gc["time"] / 1e3 for part in profile if isinstance(part, dict)
       for gc in sorted(part.get("gcs") or [], key=lambda gc: gc["sequence"])]
ours = [int(line) / 1e6 for line in open(sys.argv[2])]
# The profiler starts after the compiler, which collects too, and stops before the end.
outside = len(ours) - len(log)
if not log or not 0 <= outside <= 10:
    sys.exit(f"{len(ours)} collections, and {len(log)} in its profile")
best = min(range(outside + 1), key=lambda n: sum(abs(a - b) for a, b in zip(ours[n:], log)))
within = ours[best:best + len(log)]
print(f"{len(within)} collections, {outside} outside of the profile; "
      f"{sum(within):.3f} ms, and {sum(log):.3f} in its log")
