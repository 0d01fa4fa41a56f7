# SPDX-License-Identifier: MIT
"""pareto: energy against time, and which governors are dominated.

A governor is a point: geometric means over workloads of its energy (to one horizon, where the
runs have it) and of its time, relative to the base, with whiskers of half of the 95 per cent
interval. A point is dominated if another one is below it in both; surely, if by more than the
intervals of both. A single run has no interval.
"""

import html
import math
import os

from results import BASE, candidates_union, mean_ratio

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 760, 460, 64, 52, 20, 20
COLOURS = {"gchint": "#c03030", "schedutil": "#1f4e9c"}
OTHER = "#606060"
LETTER, LINE = 6.9, 13  # width of a letter of a name, and height of its line


class Point:
    """A governor: (energy, half of its interval), (time, half of its interval), and more of the kind."""

    def __init__(self, name, energy, time, *more):
        self.name, self.energy, self.time = name, energy, time
        self.values = (energy, time, *more)

    def is_below(self, other, sure=False):
        """Is it better than @other in one and not worse in any other; @sure: beyond the intervals?"""
        gaps = []
        for mine, its in zip(self.values, other.values):
            ci = math.hypot(mine[1], its[1])
            if sure and math.isnan(ci):
                return False
            gaps.append(its[0] - mine[0] - (ci if sure else 0))
        return min(gaps) >= 0 and max(gaps) > 0


def points_dominated(points):
    """Name to [(name of a point below it, surely?)], for dominated points only."""
    out = {}
    for p in points:
        by = [(q.name, q.is_below(p, sure=True)) for q in points if q is not p and q.is_below(p)]
        if by:
            out[p.name] = by
    return out


def verdict_lines(points):
    """The verdict as lines of Markdown."""
    under = points_dominated(points)
    # The base's ratio to itself is 1, whatever is known of others.
    known = not any(math.isnan(v) for p in points for v in (p.energy[1], p.time[1]) if p.energy[0] != 1)
    front = sorted((p for p in points if p.name not in under), key=lambda p: p.time[0])
    lines = ["Not dominated, the fastest first: " + ", ".join(
        f"{p.name} ({p.energy[0]:.3f} of the energy in {p.time[0]:.3f} of the time)" for p in front) + "."]
    for p in points:
        if p.name not in under:
            continue
        sure = [n for n, s in under[p.name] if s]
        maybe = [n for n, s in under[p.name] if not s]
        said = []
        if sure:
            said.append("by " + ", ".join(sure))
        if maybe:
            said.append(("within the intervals by " if known else "by ") + ", ".join(maybe))
        lines.append(f"- {p.name} ({p.energy[0]:.3f} in {p.time[0]:.3f}) is dominated {'; '.join(said)}.")
    if not known:
        lines += ["", "**One run of each: no interval is known, so none of this is certain.**"]
    return lines


def axis_bounds(values):
    """Rounded bounds of an axis, and its step."""
    low, high = min(values), max(values)
    if high - low < 0.02:
        low, high = (low + high) / 2 - 0.01, (low + high) / 2 + 0.01
    span = high - low
    step = 10 ** math.floor(math.log10(span / 3))
    step *= next(m for m in (1, 2, 5, 10) if span / (step * m) <= 6)
    return math.floor(low / step) * step, math.ceil(high / step) * step, step


def axis_ticks(low, high, step):
    return [low + i * step for i in range(round((high - low) / step) + 1)]


def colour_of(point):
    return COLOURS.get(point.name.split("-")[0].split("+")[0], OTHER)


def label_place(x, y, name, taken):
    """x, y and text-anchor for the name of the point at (@x, @y): the nearest place that overlaps
    nothing in @taken (left, right, base line, height), to which it is added."""
    width = LETTER * len(name)
    for step in range(12):
        for down in (y - 6 - step * LINE, y + 16 + step * LINE):
            for left, side in ((x + 8, "start"), (x - 8 - width, "end")):
                box = (left, left + width, down, LINE)
                inside = LEFT <= left and left + width <= WIDTH - 4 and TOP <= down - LINE and down <= HEIGHT - BOTTOM
                if inside and not any(boxes_overlap(box, t) for t in taken):
                    taken.append(box)
                    return left + (width if side == "end" else 0), down, side
    return x + 8, y - 6, "start"


def label_leader(x, y, left, down, side, colour):
    """A line from a point to the near end of its name, unless the name is right next to it."""
    if -LINE - 4 < y - down < LINE:
        return []
    end = down - LINE + 2 if down > y else down + 3
    return [f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{left + (4 if side == "start" else -4):.1f}" y2="{end:.1f}" '
            f'stroke="{colour}" stroke-width="0.7"/>']


def boxes_overlap(a, b):
    return a[0] < b[1] and b[0] < a[1] and a[2] - a[3] < b[2] and b[2] - b[3] < a[2]


def points_svg(points, title, across="time over schedutil's"):
    """The picture; @across: what the horizontal axis shows."""
    def interval_of(value):
        half = 0 if math.isnan(value[1]) else value[1]
        return [value[0] - half, value[0] + half]
    x0, x1, dx = axis_bounds([v for p in points for v in interval_of(p.time)])
    y0, y1, dy = axis_bounds([v for p in points for v in interval_of(p.energy)])
    def x_of(v):
        return LEFT + (v - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)
    def y_of(v):
        return HEIGHT - BOTTOM - (v - y0) / (y1 - y0) * (HEIGHT - BOTTOM - TOP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
           'font-size="12">', f"<title>{html.escape(title)}</title>",
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for v in axis_ticks(x0, x1, dx):
        out += [f'<line x1="{x_of(v):.1f}" y1="{TOP}" x2="{x_of(v):.1f}" y2="{HEIGHT - BOTTOM}" stroke="#e0e0e0"/>',
                f'<text x="{x_of(v):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{v:.4g}</text>']
    for v in axis_ticks(y0, y1, dy):
        out += [f'<line x1="{LEFT}" y1="{y_of(v):.1f}" x2="{WIDTH - RIGHT}" y2="{y_of(v):.1f}" stroke="#e0e0e0"/>',
                f'<text x="{LEFT - 6}" y="{y_of(v) + 4:.1f}" text-anchor="end">{v:.4g}</text>']
    out += [f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{html.escape(across)}</text>',
            f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 16 {HEIGHT / 2})">'
            "energy over schedutil's</text>"]
    front = sorted((p for p in points if p.name not in points_dominated(points)), key=lambda p: p.time[0])
    out.append('<polyline fill="none" stroke="#a0a0a0" stroke-dasharray="4 3" points="' +
               " ".join(f"{x_of(p.time[0]):.1f},{y_of(p.energy[0]):.1f}" for p in front) + '"/>')
    taken = [(x_of(p.time[0]) - 5, x_of(p.time[0]) + 5, y_of(p.energy[0]) + 5, 10) for p in points]
    for p in points:
        colour = colour_of(p)
        (a, b), (c, d) = interval_of(p.time), interval_of(p.energy)
        out += [f'<line x1="{x_of(a):.1f}" y1="{y_of(p.energy[0]):.1f}" x2="{x_of(b):.1f}" y2="{y_of(p.energy[0]):.1f}" '
                f'stroke="{colour}" stroke-opacity="0.5"/>',
                f'<line x1="{x_of(p.time[0]):.1f}" y1="{y_of(c):.1f}" x2="{x_of(p.time[0]):.1f}" y2="{y_of(d):.1f}" '
                f'stroke="{colour}" stroke-opacity="0.5"/>',
                f'<circle cx="{x_of(p.time[0]):.1f}" cy="{y_of(p.energy[0]):.1f}" r="4" fill="{colour}"/>']
        left, down, side = label_place(x_of(p.time[0]), y_of(p.energy[0]), p.name, taken)
        out += label_leader(x_of(p.time[0]), y_of(p.energy[0]), left, down, side, colour)
        out.append(f'<text x="{left:.1f}" y="{down:.1f}" text-anchor="{side}" '
                   f'fill="{colour}">{html.escape(p.name)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def panels_svg(panels, columns=2):
    """Pictures of points_svg() side by side, as one."""
    rows = math.ceil(len(panels) / columns)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * WIDTH} {rows * HEIGHT}">']
    for i, panel in enumerate(panels):
        at = f'x="{i % columns * WIDTH}" y="{i // columns * HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        out.append(panel.replace("<svg ", f"<svg {at} ", 1))
    return "\n".join(out + ["</svg>"]) + "\n"


def verdict_section(works, to):
    """The verdict: a picture in the directory of @to, and which governors are dominated."""
    works = [w for w in works if w.base == BASE]
    everywhere = [g for g in candidates_union(works) if all(g in w.governors for w in works)]
    if not works or len(everywhere) < 2:
        return []
    energy = "horizon_mj" if all(w.has_figure("horizon_mj") for w in works) else "mj"
    points = [Point(g, mean_ratio(works, energy, g), mean_ratio(works, "ms", g)) for g in everywhere]
    lines = ["", "## Verdict", "", f"Energy{' to one horizon' if energy != 'mj' else ''} and time over {BASE}'s, geometric "
             f"means of {len(works)} workload{'s' if len(works) > 1 else ''}.", ""]
    if to:
        picture = os.path.splitext(to)[0] + "-pareto.svg"
        with open(picture, "w", encoding="utf-8") as file:
            file.write(points_svg(points, "energy against time"))
        lines += [f"![energy against time]({os.path.basename(picture)})", ""]
    return lines + verdict_lines(points)
