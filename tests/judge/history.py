# SPDX-License-Identifier: MIT
"""Results of each run on this machine: one line per suite and run. Columns: time (UTC), tree,
suite, verdict, seconds, number of repeated boots, then tests passed, failed and skipped, CPU
seconds. Lines of an older tree lack the last column."""

import math
import os
import statistics
import time

CACHE = os.environ.get("GCHINT_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gchint")
PATH = os.path.join(CACHE, "history")


def row_append(tree, result):
    """One line, in one write, so that concurrent runs do not mix."""
    words = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), tree, result["suite"],
             result["verdict"], result["seconds"], len(result["unsteady"]),
             result["passed"], result["failed"], result["skipped"], result["cpu"])
    try:
        os.makedirs(CACHE, exist_ok=True)
        file = os.open(PATH, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        return f"no history is kept: {error}"
    try:
        os.write(file, (" ".join(map(str, words)) + "\n").encode())
    finally:
        os.close(file)
    return ""


def rows_read(suites):
    try:
        with open(PATH, encoding="utf-8") as file:
            rows = [line.split() for line in file]
    except FileNotFoundError:
        rows = []
    return [row for row in rows if len(row) in (9, 10) and row[2] in suites]


def longest_first(suites):
    """Suites by their median duration here, so that no long one is left for the end. Those
    without history come before all others, in their order."""
    seconds = {}
    for row in rows_read([s.name for s in suites]):
        seconds.setdefault(row[2], []).append(int(row[4]))
    return sorted(suites, key=lambda s: -statistics.median(seconds.get(s.name, [math.inf])))


def history_show(suites):
    """A line per suite: number of runs, failures, repeated boots; duration; the last failure."""
    rows = rows_read(suites)
    if not rows:
        print(f"nothing in {PATH} yet")
        return
    print(f"{'suite':<20} {'runs':>5} {'red':>5} {'unsteady':>8} {'median s':>8} {'longest s':>9} {'CPU s':>6}  last red")
    for suite in suites:
        mine = [row for row in rows if row[2] == suite]
        if not mine:
            continue
        red = [row for row in mine if row[3] not in ("passed", "skipped")]
        seconds = [int(row[4]) for row in mine]
        used = [int(row[9]) for row in mine if len(row) == 10]
        cpu = f"{statistics.median(used):.0f}" if used else "?"
        last = f"{red[-1][0]} {red[-1][1]} {red[-1][3]}" if red else "-"
        print(f"{suite:<20} {len(mine):>5} {len(red):>5} {sum(row[5] != '0' for row in mine):>8} "
              f"{statistics.median(seconds):>8.0f} {max(seconds):>9} {cpu:>6}  {last}")
    print(f"every run: {PATH}")
