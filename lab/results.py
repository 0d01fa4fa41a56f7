# SPDX-License-Identifier: MIT
"""The results that lab/run writes: read, joined over boots, means and ratios with intervals.

Directories with the same workload are boots of it. A boot is the replicate: boots differ by
more than the runs within one do. Intervals are therefore of resampled boots, with runs nested
in them, and no boot replaces another.
"""

import csv
import json
import math
import os
import random
import sys

BASE = "schedutil"
OURS = "gchint-model"
MAIN = "cv2f"
POWERS = {"cv2f": "C·f·V²", "table": "vendor's table"}
RESAMPLES = 1000
ENOUGH = 5  # boots from which on targets are judged

# Two-sided 95 per cent quantile of Student's t by degrees of freedom.
STUDENT = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]

SAME = ("asked_bytes", "checksum")  # of every run of a workload


def csv_write(path, rows):
    """Dictionaries of the same keys as a CSV file."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        if rows:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def results_read(directory):
    """The contents of about.json, and the workloads of a directory of results. Exits if it has none."""
    try:
        with open(os.path.join(directory, "about.json"), encoding="utf-8") as file:
            about = json.load(file)
    except FileNotFoundError:
        sys.exit(f"{os.path.relpath(sys.argv[0])}: {directory}: no about.json: not results of lab/run, or of "
                 "one that has not ended")
    runs, phases = [], []
    with open(os.path.join(directory, "runs.csv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            runs.append({k: v if k in ("workload", "governor", "power") else
                         int(v) if k in ("run", "repetition") else float(v or "nan")
                         for k, v in row.items()})
    path = os.path.join(directory, "phases.csv")
    if os.path.exists(path):
        with open(path, encoding="utf-8", newline="") as file:
            phases = list(csv.DictReader(file))
    return about, [Workload(about, label, runs, phases) for label in about["workloads"]]


def boots_join(works):
    """Workloads of the same label are one, of several boots."""
    out = {}
    for w in works:
        if w.label in out:
            out[w.label].add_boot(w)
        else:
            out[w.label] = w
    return list(out.values())


def mean_interval(values):
    """Mean and half of its 95 per cent confidence interval."""
    n = len(values)
    mean = sum(values) / n
    if n < 2:
        return mean, math.nan
    spread = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    t = STUDENT[n - 1] if n - 1 < len(STUDENT) else 1.96
    return mean, t * spread / math.sqrt(n)


def plain_mean(values):
    return sum(values) / len(values)


def resampled_interval(boots, statistic):
    """Half of the 95 per cent interval of @statistic, boots and the runs in them drawn anew.

    @boots: one tuple of lists of runs a boot; @statistic gets a list of such tuples.
    """
    draw = random.Random(1)  # the same page from the same figures
    seen = sorted(statistic([tuple(draw.choices(runs, k=len(runs)) for runs in boot)
                             for boot in draw.choices(boots, k=len(boots))])
                  for _ in range(RESAMPLES))
    return (seen[round(0.975 * (RESAMPLES - 1))] - seen[round(0.025 * (RESAMPLES - 1))]) / 2


def mean_of_boots(boots, which=0):
    return plain_mean([plain_mean(boot[which]) for boot in boots])


def ratio_of_boots(boots):
    below = mean_of_boots(boots, 1)
    return mean_of_boots(boots) / below if below else math.nan


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


class Workload:
    """The runs of one workload, by governor."""

    def __init__(self, about, label, runs, phases):
        self.about, self.label = about, label
        self.arguments = about["workloads"][label]
        self.warm = about["warm"].get(label, 0)
        self.governors = about["governors"]
        self.runs = [r for r in runs if r["workload"] == label and r["repetition"] > 0]
        self.phases = [p for p in phases if p["workload"] == label]
        self.known = {}
        for r in self.runs:
            r["boot"] = int(r.get("boot", 1)) - 1
        self.boots = 1 + max((r["boot"] for r in self.runs), default=0)
        self.base = BASE if BASE in self.governors else self.governors[0]

    def add_boot(self, other):
        """Add the same workload's runs of another boot."""
        if (self.arguments, self.warm) != (other.arguments, other.warm):
            sys.exit(f"lab/{os.path.basename(sys.argv[0])}: {self.label} is not the same workload in both directories")
        new = [g for g in other.governors if g not in self.governors]
        self.governors = self.governors + new
        for r in other.runs:
            r["boot"] += self.boots
        self.boots += other.boots
        self.runs += other.runs
        self.phases += [p for p in other.phases if p["governor"] in new]

    def charge_horizon(self):
        """Idle energy of every run until the slowest candidate has ended, on average."""
        slowest = max((self._compute_mean(g, "ms", MAIN)[0] for g in self.candidate_governors()), default=math.nan)
        for r in self.runs:
            r["horizon_mj"] = r["mj"] + max(0.0, slowest - r["ms"]) / 1e3 * r.get("rest_mw", math.nan)

    def unequal_keys(self):
        """What differs between runs that should have done the same."""
        return [k for k in SAME if len({r[k] for r in self.runs if not math.isnan(r.get(k, math.nan))}) > 1]

    def has_figure(self, key):
        return any(not math.isnan(r.get(key, math.nan)) for r in self.runs)

    def run_values(self, governor, key, power=MAIN):
        return [r[key] for r in self.runs if r["governor"] == governor and r["power"] == power]

    def by_boot(self, key, power, *governors):
        """One tuple of runs a boot that has them all."""
        boots = {}
        for r in self.runs:
            if r["governor"] in governors and r["power"] == power:
                boots.setdefault(r["boot"], {}).setdefault(r["governor"], []).append(r[key])
        return [tuple(boots[n][g] for g in governors) for n in sorted(boots)
                if all(g in boots[n] for g in governors)]

    def cached_value(self, what, compute):
        if what not in self.known:
            self.known[what] = compute()
        return self.known[what]

    def mean_of(self, governor, key, power=MAIN):
        return self.cached_value(("mean", governor, key, power), lambda: self._compute_mean(governor, key, power))

    def _compute_mean(self, governor, key, power):
        boots = self.by_boot(key, power, governor)
        if len(boots) > 1:
            return mean_of_boots(boots), resampled_interval(boots, mean_of_boots)
        return mean_interval(boots[0][0]) if boots else (math.nan, math.nan)

    def ratio_of(self, governor, key, power=MAIN):
        """To the base, and half of its confidence interval."""
        return self.cached_value(("ratio", governor, key, power), lambda: self._compute_ratio(governor, key, power))

    def _compute_ratio(self, governor, key, power):
        boots = self.by_boot(key, power, governor, self.base) if governor != self.base else []
        if len(boots) > 1:
            return ratio_of_boots(boots), resampled_interval(boots, ratio_of_boots)
        # Of one boot that has both, else of what each has.
        (a, ca), (b, cb) = [mean_interval(runs) for runs in boots[0]] if boots else \
            [self.mean_of(g, key, power) for g in (governor, self.base)]
        if not b or math.isnan(a) or math.isnan(b):
            return math.nan, math.nan
        return a / b, a / b * math.hypot(ca / a, cb / b) if a else math.nan

    def candidate_governors(self):
        return [g for g in self.governors if not is_oracle(g)]

    def oracle_settings(self):
        """The fixed settings that were tried; candidate_governors() has all other governors."""
        return [g for g in self.governors if is_oracle(g)]

    def gc_share(self):
        return self.mean_of(self.base, "gc_cpu_%")


def is_oracle(governor):
    return governor.startswith(("oracle-", "phases-", "fixed-"))


def interval_text(pair, scale=1, form=".4g"):
    value, ci = pair
    if math.isnan(value):
        return "n/a"
    return f"{value * scale:{form}}" + ("" if math.isnan(ci) else f" ± {ci * scale:.2g}")


def markdown_table(header, rows):
    return ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"] + \
        ["| " + " | ".join(row) + " |" for row in rows]


def noun_plural(number, noun):
    return f"{number} {noun}{'s' if number != 1 else ''}"


def at_equal_time(points):
    """The least energy at time 1 of (time, energy) @points and the lines between them."""
    under = [e for t, e in points if t <= 1]
    for t, e in points:
        for u, f in points:
            if t < 1 < u:
                under.append(e + (f - e) * (1 - t) / (u - t))
    return min(under, default=math.nan)


def candidates_union(works):
    """All candidates that any workload has, in their order."""
    return list(dict.fromkeys(g for w in works for g in w.candidate_governors()))


def mean_ratio(works, key, governor=OURS):
    """Geometric mean of the ratios to the base, and half of its confidence interval."""
    pairs = [p for p in (w.ratio_of(governor, key) for w in works) if p[0] > 0]
    if not pairs:
        return math.nan, math.nan
    mean = geometric_mean([r for r, _ in pairs])
    return mean, mean * math.sqrt(sum((ci / r) ** 2 for r, ci in pairs)) / len(pairs)
