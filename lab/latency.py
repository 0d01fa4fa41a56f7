# SPDX-License-Identifier: MIT
"""latency: open loops. At each rate energy against the tail of the latencies, and which
governors are dominated: another one is no worse in energy, p99 and p99.9, and better in one."""

import math
import os

from pareto import HEIGHT, WIDTH, Point, points_dominated, points_svg
from results import BASE, OURS, interval_text, markdown_table

TAIL = ("latency_p99_ms", "latency_p999_ms")
ENOUGH_PAUSES = 200  # in a run: with fewer the 99th percentile is one of a few pauses
SAVING = 0.95  # of the base's energy, at no more than its p99


def open_loops(works):
    """Those whose requests arrive at a rate of their own."""
    return [w for w in works if w.base == BASE and w.has_figure(TAIL[0]) and "--rate=0" not in w.arguments.split()]


def points_of(w):
    return [Point(g, *(w.ratio_of(g, key) for key in ("mj", *TAIL))) for g in w.candidate_governors()]


def rates_draw(loops, to):
    """One picture: a panel for each rate."""
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} '
           f'{math.ceil(len(loops) / 2) * HEIGHT}">']
    for i, w in enumerate(loops):
        panel = points_svg(points_of(w), w.label, f"{w.label}: 99th percentile of latency over {BASE}'s")
        out.append(panel.replace("<svg ", f'<svg x="{i % 2 * WIDTH}" y="{i // 2 * HEIGHT}" width="{WIDTH}" '
                                 f'height="{HEIGHT}" ', 1))
    with open(to, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "</svg>\n")


def dominators_text(names):
    """Who dominates a point: those beyond the intervals first."""
    sure = [name for name, far in names if far]
    maybe = [name for name, far in names if not far]
    return "; ".join(([", ".join(sure)] if sure else []) +
                     (["within the intervals " + ", ".join(maybe)] if maybe else []))


def rate_section(w):
    under = points_dominated(points_of(w))
    pauses = w.mean_of(BASE, "pause_count")[0]
    lines = ["", f"### {w.label}", "", f"{pauses:.0f} pauses a run under {BASE}" +
             ("." if pauses >= ENOUGH_PAUSES else f", fewer than {ENOUGH_PAUSES}: the percentiles are of few pauses."), ""]
    lines += markdown_table(["governor", "energy", "p50", "p99", "p99.9", "p99 ms", "dominated by"], [
        [g] + [interval_text(w.ratio_of(g, key), form=".3f") for key in ("mj", "latency_p50_ms", *TAIL)] +
        [interval_text(w.mean_of(g, TAIL[0]), form=".3f"), dominators_text(under.get(g, []))] for g in w.candidate_governors()])
    least = [(w.ratio_of(g, "mj")[0], g) for g in w.candidate_governors() if w.ratio_of(g, TAIL[0])[0] <= 1]
    lines += ["", f"Least energy at {BASE}'s p99 or less: {min(least)[1]}, {min(least)[0]:.3f}."]
    return lines


def targets_table(loops):
    """What is asked of the default."""
    rows = []
    for w in loops:
        if OURS not in w.governors:
            continue
        under = [n for n in points_dominated(points_of(w)).get(OURS, []) if not n[0].startswith("gchint-model")]
        mj, p99 = w.ratio_of(OURS, "mj")[0], w.ratio_of(OURS, TAIL[0])[0]
        rows.append([w.label, "**by** " + dominators_text(under) if under else "no",
                     f"{mj:.3f} at {p99:.2f}: " + ("reached" if mj <= SAVING and p99 <= 1 else "**not reached**")])
    return markdown_table(["rate", f"is {OURS} dominated by another governor?",
                           f"energy at most {SAVING} at {BASE}'s p99"], rows) if rows else []


def latency_section(works, to):
    loops = open_loops(works)
    if not loops:
        return []
    lines = ["", "## Latencies at a fixed rate", "", f"Energy and percentiles of latency from arrival, over {BASE}'s. A "
             "governor is dominated if another one is no worse in energy, p99 and p99.9, and better in one.", ""]
    if to:
        picture = os.path.splitext(to)[0] + "-latency.svg"
        rates_draw(loops, picture)
        lines += [f"![energy against latency]({os.path.basename(picture)})", ""]
    lines += targets_table(loops)
    for w in loops:
        lines += rate_section(w)
    return lines
