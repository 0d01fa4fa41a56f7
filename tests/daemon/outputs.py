# SPDX-License-Identifier: MIT
"""outputs.py CTL CHECK FILE... - compare what gchintctl prints of recordings with their rows.

Each check computes figures from the rows by itself, and asserts that JSON has the members of its
schema, and that JSON, text, page and exports have these figures. FILE is as recordings/everything.sql
makes it, or less.
"""
import csv
import html.parser
import io
import itertools
import json
import math
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

CTL = sys.argv[1]
CLASSES = ((8, "urgent"), (1, "stw"), (4, "foreground"), (2, "concurrent"), (0, ""))


def ctl_run(*arguments):
    done = subprocess.run((CTL,) + arguments, capture_output=True, check=False)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr.decode())
    return done.stdout.decode()


def json_read(*arguments):
    return json.loads(ctl_run("--json", *arguments))


def rows_read(file, sql):
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute(sql)]


def value_read(file, sql):
    return next(iter(rows_read(file, sql)[0].values()))


def close(a, b, share=1e-6):
    return a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=share, abs_tol=1e-9))


def figures_equal(what, want, got, share=1e-6):
    assert want.keys() == got.keys(), (what, sorted(want), sorted(got))
    for key, value in want.items():
        same = close(value, got[key], share) if isinstance(value, (int, float)) else value == got[key]
        assert same, (what, key, value, got[key])


# Schemas: a dict has exactly these members, a list any number of its one element, a tuple is one of
# several; a "?" behind the type allows null.
TYPES = {"int": int, "text": str, "bool": bool, "number": (int, float)}


def shape_check(value, shape, path="$"):
    if isinstance(shape, dict):
        assert isinstance(value, dict), (path, value)
        assert set(value) == set(shape), (path, sorted(set(value) ^ set(shape)))
        for key, member in shape.items():
            shape_check(value[key], member, f"{path}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), (path, value)
        for i, element in enumerate(value):
            shape_check(element, shape[0], f"{path}[{i}]")
    elif isinstance(shape, tuple):
        if value is not None or None not in shape:
            assert isinstance(value, dict), (path, value)
            shape_check(value, next((s for s in shape if s and set(s) == set(value)), shape[0]), path)
    elif shape.endswith("?"):
        if value is not None:
            shape_check(value, shape[:-1], path)
    else:
        assert isinstance(value, TYPES[shape]), (path, value)
        assert shape == "bool" or not isinstance(value, bool), (path, value)


PART = {"ns": "int", "joules": "number?", "low_joules": "number", "high_joules": "number?", "whole_ns": "int"}
ATTRIBUTED = ({"unknown": "text"},)
RAIL = {"rail": "text", "label": "text?", "how": "text", "source": "text"}
MEASURED = {**RAIL, "joules": "number", "interval_ns": "int", "unknown_samples": "int", "unknown_ns": "int",
            "by_phase": [{"phase": "text", **PART}], "by_process": [{"pid": "int", "name": "text?", **PART}],
            "attributed": ATTRIBUTED}
# What feeds on a rail, and its CPUs, where they are known; a rail without energy says why.
RAILS = tuple({**members, **feeds, **cpus} for members in (MEASURED, {**RAIL, "joules": "number?", "unknown": "text"})
              for feeds in ({}, {"feeds": "text"}) for cpus in ({}, {"cpus": "text"}))
MODELLED = {"rail": "text?", "how": "text", "source": "text", "joules": "number?", "unknown_frequency_ns": "int",
            "by_phase": [{"phase": "text", "ns": "int", "joules": "number?"}]}
COST = {"ns": "int", "cpu_ns": "int", "wakeups": "int", "rss_kib": "int?"}
SUMMARY = {
    "file": "text", "label": "text", "start_ns": "int", "end_ns": "int", "duration_ns": "int",
    "findings": {"pid": "int?", "sentence": "text", "list": [{"finding": "text", "value": "number", "count": "int?", "text": "text"}],
                 "advice": ({"setting": "text", "bound": "bool", "limit_bytes": "int?", "limit_bytes_now": "int", "live_bytes": "int", "collections": "int",
                             "collections_then": "number", "full_collections": "int", "full_collections_then": "number",
                             "full_paused_ns": "int", "full_paused_ns_then": "int", "paused_ns": "int", "paused_ns_then": "int",
                             "text": "text"}, None)},
    "pauses": {"count": "int", "left_out": "int", "total_ns": "int", "p50_ns": "int", "p95_ns": "int", "p99_ns": "int",
               "half_ns": "int", "max_ns": "int", "by_process": [{"pid": "int?", "name": "text?", "count": "int", "total_ns": "int",
                                                "p99_ns": "int", "half_ns": "int", "max_ns": "int"}]},
    "cpu": ({"run_ns": "int?", "low_ns": "int?", "high_ns": "int?", "wait_low_ns": "int?", "wait_high_ns": "int?", "known_ns": "int", "unknown_ns": "int",
             "workers": "int"}, None),
    "phases": [{"phase": "text", "count": "int", "left_out": "int", "total_ns": "int?", "mean_ns": "int?", "p50_ns": "int?",
                "p95_ns": "int?", "max_ns": "int?", "mean_khz": "int?"}],
    "energy": [(*RAILS, MODELLED)],
    "cost": (dict(COST, how="text", low_joules="number", high_joules="number"), COST, None),
}
TOP = {"from_ns": "int?", "to_ns": "int?", "cpus": [{"cpu": "int", "khz": "int?", "changes": "int"}],
       "phases": [{"phase": "text", "count": "int", "ns": "int", "longest_ns": "int"}],
       "rails": [{"rail": "text", "unit": "text", "value": "number?", "mean_unit": "text", "mean": "number?"}], "dropped": "int"}
COMPARED = [{"label": "text", "against": "text", "figure": "text", "unit": "text", "better": "int", "runs": ["int"],
             "median": "number?", "base_median": "number?", "change": "number?", "low": "number?", "high": "number?",
             "significant": "bool", "by": "text?", "runs_for_5_percent": "int?"}]
ANNOTATIONS = [{"t": "int", "pid": "int", "uid": "int?", "text": "text"}]


def group_name(row):
    """The name that a phase with these flags has in all outputs."""
    flags = row["flags"] or 0
    name = next(name for flag, name in CLASSES if not flag or flags & flag)
    return row["name"] + (f", {name}" if name else "")


def phases_read(file):
    return rows_read(file, "select p.*, n.name from phases p join names n on n.kind = 'phase' and n.number = p.phase order by t0")


def amount(ns):
    """A length as people read it: three digits."""
    value, unit = (ns / 1e3, "us") if ns < 1e6 else (ns / 1e6, "ms") if ns < 1e9 else (ns / 1e9, "s")
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def group_lengths(file):
    """Lengths in ns of the phases of each group whose end is known, sorted."""
    groups = {}
    for p in phases_read(file):
        lengths = groups.setdefault(group_name(p), [])
        if p["t1"] is not None and not p["uncertain"]:
            lengths.append(p["t1"] - p["t0"])
    return {name: sorted(lengths) for name, lengths in groups.items()}


def rank(lengths, percent):
    """The percentile by nearest rank."""
    return lengths[max(0, math.ceil(len(lengths) * percent / 100) - 1)]


def half(lengths):
    """The length at which the longest ones make up half of their sum."""
    part = 0
    for length in sorted(lengths, reverse=True):
        part += length
        if 2 * part >= sum(lengths):
            return length


def rail_samples(file, rail):
    """Its readings; a counter goes on while it cannot be read, so that those within a gap tell nothing."""
    samples = rows_read(file, f"select t, value from samples where rail = {rail['id']} order by t, rowid")
    known = [i for i, s in enumerate(samples) if s["value"] is not None]
    if rail["kind"] == "energy" and known:
        samples = [s for i, s in enumerate(samples) if s["value"] is not None or not known[0] < i < known[-1]]
    return samples


def rail_joules(file, rail):
    """The energy of a rail: a counter's growth, also over a gap, or the trapeziums between readings of a meter."""
    samples = rail_samples(file, rail)
    total = 0
    for a, b in zip(samples, samples[1:]):
        if a["value"] is None or b["value"] is None:
            continue
        if rail["kind"] == "energy":
            total += max(0, b["value"] - a["value"]) / 1e6
        else:
            total += (a["value"] + b["value"]) / 2e6 * (b["t"] - a["t"]) / 1e9
    return total


def check_summary(file):
    """JSON of summary has its schema, and the figures of the rows."""
    said = json_read("summary", file)
    shape_check(said, SUMMARY)
    pauses = sorted(row["ns"] for row in rows_read(file, "select ns from pauses"))
    figures_equal("pauses", {"count": len(pauses), "total_ns": sum(pauses), "p50_ns": rank(pauses, 50),
                             "p95_ns": rank(pauses, 95), "p99_ns": rank(pauses, 99), "half_ns": half(pauses),
                             "max_ns": pauses[-1]},
                  {k: v for k, v in said["pauses"].items() if k not in ("by_process", "left_out")})
    processes = rows_read(file, "select tgid, count(*) n, sum(ns) total, max(ns) longest from pauses group by tgid order by tgid")
    assert [(p["pid"], p["count"], p["total_ns"], p["max_ns"]) for p in
            sorted(said["pauses"]["by_process"], key=lambda p: p["pid"] or 0)] == [tuple(p.values()) for p in processes]
    most = max(processes, key=lambda p: p["total"])
    found = said["findings"]
    assert found["pid"] == most["tgid"] and found["sentence"] == "; ".join(f["text"] for f in found["list"]) + "."
    stopped = found["list"][0]
    assert stopped["finding"] == "stopped" and stopped["count"] == most["n"]
    assert close(stopped["value"], most["total"] / said["duration_ns"])
    groups = group_lengths(file)
    assert [p["phase"] for p in said["phases"]] == sorted(groups, key=[p["phase"] for p in said["phases"]].index)
    for p in said["phases"]:
        lengths = groups[p["phase"]]
        want = {"count": len(lengths), "total_ns": sum(lengths), "mean_ns": sum(lengths) // len(lengths), "max_ns": lengths[-1],
                "p50_ns": rank(lengths, 50), "p95_ns": rank(lengths, 95)} if lengths else {"count": 0, "total_ns": None, "max_ns": None}
        figures_equal(p["phase"], want, {k: p[k] for k in want})
    for rail in rows_read(file, "select * from rails where kind in ('power', 'energy')"):
        energy = [e for e in said["energy"] if e["rail"] == rail["name"]]
        joules = rail_joules(file, rail)
        assert len(energy) == (joules > 0), rail["name"]
        for e in energy:
            assert close(e["joules"], joules), (rail["name"], joules, e["joules"])
            assert e["unknown_samples"] == sum(s["value"] is None for s in rail_samples(file, rail))
            for part in e["by_phase"] + e["by_process"]:
                if part["joules"] is not None:
                    assert part["low_joules"] <= part["joules"] <= (part["high_joules"] or math.inf), part
                assert part["low_joules"] <= joules, part
    costs = rows_read(file, "select max(cpu_ns) - min(cpu_ns) cpu_ns, max(wakeups) - min(wakeups) wakeups, "
                            "(select rss_kib from costs order by t desc limit 1) rss_kib from costs having count(*) > 1")
    if costs:
        figures_equal("cost", costs[0], {k: said["cost"][k] for k in costs[0]})


def modelled_joules(file):
    """Of each group, the power of the OPPs that its CPU had while it was open; None: not all known."""
    power = {(row["policy"], row["khz"]): row["power_uw"] for row in rows_read(file, "select * from opps")}
    policy = {}
    for row in rows_read(file, "select * from policies"):
        first, last = (row["cpus"] + "-" + row["cpus"]).split("-")[:2]
        policy.update({cpu: row["policy"] for cpu in range(int(first), int(last) + 1)})
    steps = rows_read(file, "select cpu, t0, coalesce(t1, 1 << 62) t1, khz from frequency_list where khz > 0")
    groups = {}
    end = int(value_read(file, "select value from meta where key = 'end_ns'"))
    for p in phases_read(file):
        for s in steps:
            ns = min(p["t1"] or end, s["t1"]) - max(p["t0"], s["t0"])
            if s["cpu"] == p["cpu"] and ns > 0:
                uw = power.get((policy[p["cpu"]], s["khz"]))
                groups.setdefault(group_name(p), []).append(None if uw is None else uw * ns / 1e15)
    return {name: None if None in parts else sum(parts) for name, parts in groups.items()}


def check_modelled(file):
    """Modelled energy is power of the OPP times time, and null where one of these is not known."""
    said = next(e for e in json_read("summary", file)["energy"] if e["how"] == "modelled")
    want = modelled_joules(file)
    got = {p["phase"]: p["joules"] for p in said["by_phase"]}
    for name, joules in got.items():
        assert close(joules, want.get(name), 1e-4), (name, joules, want.get(name))
    assert {name for name, joules in want.items() if joules} <= set(got), (want, got)


def check_text(file):
    """The tables of summary have the figures of its JSON."""
    said, text = json_read("summary", file), ctl_run("summary", file)
    rows = {m[1].strip(): m[2].split() for m in re.finditer(
        r"^(\S.{0,23}?) {2,}((?:[0-9.]+|\?)(?: +(?:[0-9.]+%?|\?)){7})$", text, re.M)}
    assert text.split("\n", 1)[0] == said["findings"]["sentence"]
    for p in said["phases"]:
        count, total, _, mean, p50, p95, longest, mhz = rows[p["phase"]]
        want = [f"{p['count']}"] + [f"{p[k] / 1e6:.3f}" for k in ("total_ns", "mean_ns", "p50_ns", "p95_ns", "max_ns")] \
            if p["count"] else ["?"] * 6
        assert [count, total, mean, p50, p95, longest] == want, (p, rows[p["phase"]])
        assert mhz == ("?" if p["mean_khz"] is None else f"{p['mean_khz'] / 1000:.0f}"), (p, mhz)
    assert rows[next(name for name in rows if name.startswith("pauses"))][:2] == [
        f"{said['pauses']['count']}", f"{said['pauses']['total_ns'] / 1e6:.3f}"]
    for e in said["energy"]:
        if e["how"] == "measured":
            block = text[text.index(f"ENERGY  {e['rail']} "):].split("\n\n")[0]
            assert f": {e['joules']:.6f} J" in block, e["rail"]
            for part in e["by_phase"]:
                shown = re.search(rf"^  {re.escape(part['phase'])} +(\S+) J ", block, re.M)[1]
                assert shown == ("?" if part["joules"] is None else f"{part['joules']:.6f}"), (e["rail"], part, shown)


def check_top(file, seconds):
    """JSON of top has its schema, and the figures of the last seconds."""
    said = json_read("top", "-n", "1", "-d", seconds, file)
    shape_check(said, TOP)
    t0, t1 = said["from_ns"], said["to_ns"]
    assert t1 - t0 == int(float(seconds) * 1e9), said
    cpus = rows_read(file, f"select cpu, (select khz from transitions y where y.cpu = x.cpu order by t desc limit 1) khz, "
                           f"sum(t > {t0} and t <= {t1}) changes from transitions x group by cpu")
    assert [c["cpu"] for c in said["cpus"]] == [c["cpu"] for c in cpus]
    assert [c["khz"] for c in said["cpus"]] == [c["khz"] for c in cpus]
    groups = {}
    for p in phases_read(file):
        ns = min(p["t1"] or t1, t1) - max(p["t0"], t0)
        if ns > 0:
            whole = min(p["t1"] or t1, t1) - p["t0"]
            count, total, longest = groups.get(group_name(p), (0, 0, 0))
            groups[group_name(p)] = (count + 1, total + ns, max(longest, whole))
    got = {p["phase"]: (p["count"], p["ns"], p["longest_ns"]) for p in said["phases"]}
    assert got.keys() == groups.keys(), (sorted(got), sorted(groups))
    for name, (count, total, longest) in groups.items():
        assert got[name][:2] == (count, total), (name, got[name], count, total)
        assert got[name][2] <= longest, (name, got[name], longest)
    assert said["dropped"] == value_read(file, "select coalesce(sum(count), 0) from drops")


def check_annotations(file):
    said = json_read("annotations", file)
    shape_check(said, ANNOTATIONS)
    assert said == rows_read(file, "select t, pid, uid, text from annotations order by t"), said


def check_compare(*files):
    """Groups are those of labels, and medians those of the runs' summaries."""
    said = json_read("compare", *files)
    shape_check(said, COMPARED)
    groups = {}
    for file in files:
        groups.setdefault(json_read("summary", file)["label"], []).append(json_read("summary", file))
    base, other = groups
    figures = {f["figure"]: f for f in said}
    wanted = {"longest pause": lambda s: s["pauses"]["max_ns"] / 1e6, "time paused": lambda s: s["pauses"]["total_ns"] / 1e6,
              "duration": lambda s: s["duration_ns"] / 1e9}
    for i, e in enumerate(next(iter(groups.values()))[0]["energy"]):
        if e["how"] == "measured":
            wanted[f"energy of {e['label'] or e['rail']}, measured"] = lambda s, i=i: s["energy"][i]["joules"]
    for name, read in wanted.items():
        f = figures[name]
        assert (f["against"], f["label"]) == (base, other), f
        figures_equal(name, {"base_median": statistics.median(map(read, groups[base])),
                             "median": statistics.median(map(read, groups[other]))}, {k: f[k] for k in ("base_median", "median")})
        if f["base_median"] and f["change"] is not None:
            assert abs((f["median"] / f["base_median"] - 1) - f["change"]) < 0.02, f
        if f["low"] is not None:
            assert f["low"] <= f["change"] <= f["high"], f
            assert f["significant"] == (f["low"] > 0 or f["high"] < 0), f


def rows_complete(want, got, null):
    """The rows of a file with the columns that were added to the schema since it was made."""
    return [row | {k: null for k in (got[0] if got else ()) if k not in row} for row in want]


def check_tables(file):
    """JSON lines have every row of every table, and CSV those of each view and of some tables."""
    tables = [row["name"] for row in rows_read(file, "select name from sqlite_master where type = 'view' or name in "
                                                     "('meta', 'phases', 'policies', 'samples')")]
    lines = [json.loads(line) for line in ctl_run("export", file, "-f", "jsonl").splitlines()]
    names = {row["name"] for row in rows_read(file, "select name from sqlite_master where type = 'table'")}
    assert {line["table"] for line in lines} <= names
    for table in sorted(names):
        got = [{k: v for k, v in line.items() if k != "table"} for line in lines if line["table"] == table]
        want = rows_complete(rows_read(file, f"select * from {table}"), got, None)
        assert sorted(map(str, got)) == sorted(map(str, want)), table
    for table in sorted(tables):
        want = rows_read(file, f"select * from {table}")
        got = list(csv.DictReader(io.StringIO(ctl_run("export", file, "-f", "csv", "-t", table))))
        as_text = [{k: "" if v is None else str(v) for k, v in row.items()} for row in want]
        as_text = rows_complete(as_text, got, "")
        assert sorted(map(str, got)) == sorted(map(str, as_text)), (table, got[:2], as_text[:2])


def check_chrome(file):
    """Every phase is a slice of its thread, every reading and frequency a counter, the rest an instant."""
    events = json.loads(ctl_run("export", file, "-f", "chrome-trace"))["traceEvents"]
    end = int(value_read(file, "select value from meta where key = 'end_ns'"))
    slices = sorted((round(e["ts"] * 1000), round(e["dur"] * 1000), e["name"], e["pid"], e["tid"]) for e in events if e["ph"] == "X")
    assert slices == sorted((p["t0"], (p["t1"] or end) - p["t0"], p["name"], p["tgid"] or 0, p["tid"] or 0)
                            for p in phases_read(file)), slices
    counters = [e for e in events if e["ph"] == "C"]
    want = value_read(file, "select (select count(*) from samples where value is not null) + (select count(*) from transitions where khz > 0) + "
                            "(select count(*) from heaps where used is not null)")
    assert len([e for e in counters if None not in e["args"].values()]) == want, (len(counters), want)
    instants = value_read(file, "select (select count(*) from decisions) + (select count(*) from annotations) + (select count(*) from hotplug)")
    assert sum(e["ph"] == "i" for e in events) == instants


def metrics_read(text):
    """{name: value} of samples; labels belong to the name."""
    samples = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            assert name not in samples, name
            samples[name] = float(value)
    return samples


def histogram_check(samples, name, values):
    """The buckets of a histogram count these values in seconds."""
    buckets = {float(m[1]): v for k, v in samples.items() if (m := re.fullmatch(re.escape(name).replace("SUFFIX", "_bucket").replace(
        r"\}", "") + r'[{,]?le="([^"]+)"\}', k))}
    assert buckets and math.inf in buckets, name
    for bound, count in buckets.items():
        assert count == sum(v <= bound for v in values), (name, bound, count)


def check_metrics(file):
    """OpenMetrics has the counts and times of the rows; Prometheus' own format the same samples."""
    text = ctl_run("export", file, "-f", "openmetrics")
    assert text.endswith("# EOF\n")
    samples = metrics_read(text)
    old = metrics_read(ctl_run("export", file, "-f", "prometheus"))
    assert samples == old, set(samples.items()) ^ set(old.items())
    phases = [p for p in phases_read(file) if p["t1"] is not None]
    for name in {p["name"] for p in phases}:
        lengths = [(p["t1"] - p["t0"]) / 1e9 for p in phases if p["name"] == name]
        assert samples[f'gchint_phases_total{{phase="{name}"}}'] == len(lengths), name
        assert close(samples[f'gchint_phase_seconds_total{{phase="{name}"}}'], sum(lengths)), name
    pauses = [row["ns"] / 1e9 for row in rows_read(file, "select ns from pauses")]
    assert samples["gchint_pause_seconds_count"] == len(pauses)
    assert close(samples["gchint_pause_seconds_sum"], sum(pauses))
    histogram_check(samples, "gchint_pause_seconds_bucket{", pauses)
    for row in rows_read(file, "select n.name, count(d.t) n from names n left join decisions d on d.reason = n.number "
                               "where n.kind = 'reason' group by 1"):
        assert samples[f'gchint_decisions_total{{reason="{row["name"]}"}}'] == row["n"], row
    latency = rows_read(file, "select count(latency_ns) n, total(latency_ns) / 1e9 s from decisions")[0]
    assert close(samples["gchint_hint_latency_seconds_sum"], latency["s"])
    assert samples["gchint_hint_latency_seconds_count"] == latency["n"]
    for rail in rows_read(file, "select * from rails"):
        label = f'{{rail="{rail["name"]}",label="{rail["label"] or ""}"}}'
        last = rows_read(file, f"select value from samples where rail = {rail['id']} order by t desc limit 1")
        unit = {"power": "watts", "voltage": "volts", "current": "amperes", "energy": "joules_total"}[rail["kind"]]
        if last and last[0]["value"] is not None:
            assert close(samples[f"gchint_rail_{unit}{label}"], last[0]["value"] / 1e6), rail["name"]
        else:
            assert f"gchint_rail_{unit}{label}" not in samples, rail["name"]


def check_profile(file):
    """Each export of a profile has all of its samples."""
    number = value_read(file, "select count(*) from hotspots")
    hz = int(value_read(file, "select value from meta where key = 'hotspots.hz'") or 0)
    speedscope = json.loads(ctl_run("profile", "export", "--format", "speedscope", file))
    names = len(speedscope["shared"]["frames"])
    for p in speedscope["profiles"]:
        assert len(p["samples"]) == len(p["weights"])
        assert all(0 <= frame < names for stack in p["samples"] for frame in stack)
        assert not hz or all(close(w, 1 / hz) for w in p["weights"])
    assert sum(len(p["samples"]) for p in speedscope["profiles"]) == number
    script = ctl_run("profile", "export", "--format", "perf-script", file)
    assert len(re.findall(r"^\S+ +\d+/\d+ ", script, re.M)) == number, script[:300]
    folded = ctl_run("profile", "flame", "--folded", file)
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()) == number
    assert all(re.fullmatch(r"[^;]+(;[^;]+)*", line.rsplit(" ", 1)[0]) for line in folded.splitlines())
    firefox = json.loads(ctl_run("profile", "export", "--format", "firefox", file))
    assert sum(t["samples"]["length"] for t in firefox["threads"]) == number
    if shutil.which("go"):
        check_pprof(file, number)


def check_pprof(file, number):
    """pprof's own reader finds each sample, and the phases as labels."""
    with tempfile.NamedTemporaryFile(suffix=".pb") as out:
        ctl_run("profile", "export", "--format", "pprof", "-o", out.name, file)
        raw = subprocess.run(["go", "tool", "pprof", "-raw", "-symbolize=none", out.name], text=True, check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    samples = re.search(r"^Samples:\n(.*?)^Locations$", raw, re.M | re.S)[1]
    assert samples.startswith("samples/count"), samples[:100]
    counts = [int(n) for n in re.findall(r"^ +(\d+)(?: +\d+)*: \d", samples, re.M)]
    assert sum(counts) == number, samples[:300]
    assert len(re.findall(r"phase:\[[a-z]+\]", samples)) == len(counts), samples[:300]
    assert len(re.findall(r"program:\[", samples)) == len(counts), samples[:300]


class Page(html.parser.HTMLParser):
    """What a browser shows: the text outside of scripts and styles; elements are balanced."""
    VOID = {"meta", "br", "input", "hr", "img", "col", "link"}

    def __init__(self, text):
        super().__init__()
        self.open, self.shown, self.seen, self.data = [], [], [], []
        self.feed(text)
        assert not [tag for tag in self.open if tag not in ("html", "body", "p")], self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:], self.getpos())
        self.open.pop()

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.shown.append(data)
        elif self.open[-1] == "script" and self.seen[-1][1].get("type") == "application/json":
            self.data.append(json.loads(data))

    def text(self):
        return " ".join(" ".join(self.shown).replace("\u00a0", " ").split())


def figure_pattern(value):
    """A value with four decimals, which is rounded either way where it is in the middle."""
    return "|".join({re.escape(f"{value + step:.4f}") for step in (-1e-9, 1e-9)})


def check_page(page, *files):
    """The page shows the label, pauses, phases and energies of the first recording of each label."""
    ctl_run("report", "-o", page, "-t", "a <title> & more", *files)
    with open(page, encoding="utf-8") as f:
        shown = Page(f.read())
    text = shown.text()
    assert "a <title> & more" in text
    labels = {}
    for said in [json_read("summary", file) for file in files]:
        labels.setdefault(said["label"], said)
    for label, said in labels.items():
        assert label in text, label
        # Each finding of the sentence is a link, which is apart from what is around it.
        assert said["findings"]["sentence"].rstrip(".").replace("; ", " ; ") in text, label
        pauses = said["pauses"]
        assert re.search(rf"{re.escape(amount(pauses['total_ns']))} of [0-9.]+ m?s, in {pauses['count']} pauses", text), pauses
        for p in said["phases"]:
            if p["count"]:
                assert f"{p['phase']} {p['count']} {p['total_ns'] / 1e6:.2f} " in text, p
        for e in said["energy"]:
            if e["how"] == "measured":
                for part in e["by_phase"]:
                    assert part["joules"] is None or re.search(figure_pattern(part["joules"]), text), (e["rail"], part)
    for data, file in zip(shown.data, files):
        for line in data["rails"] + data["cpus"]:
            times = list(itertools.accumulate(line["points"][::2]))
            assert times == sorted(times) and 0 <= data["from"] <= times[0] and times[-1] <= data["to"], line["name"]
        for rail in rows_read(file, "select * from rails where kind = 'power'"):
            readings = [(row["t"] // 1000 - 10**6, float(f"{row['value'] / 1e6:.4g}")) for row in rows_read(
                file, f"select t, value from samples where rail = {rail['id']} and value is not null order by t")]
            points = [line["points"] for line in data["rails"] if line["name"] == rail["label"]]
            assert len(points) == (len(readings) > 2), rail["name"]
            for p in points:
                at = itertools.accumulate(p[::2])
                assert [(t, v) for t, v in zip(at, p[1::2]) if v is not None] == readings, rail["name"]
    assert shown.data[0]["rails"] or not value_read(files[0], "select count(*) from samples where value is not null")
    for d in [a["d"] for tag, a in shown.seen if tag == "path" and a.get("class", "").startswith("group") and a["d"] != "M0 4H22"]:
        assert re.fullmatch(r"(?:[ML]-?[0-9.]+ -?[0-9.]+)*", d), d[:80]
    for tag, a in shown.seen:
        assert tag not in ("a", "link", "img", "script") or not re.match(r"(?:https?:)?//", a.get("href", a.get("src", ""))), a


def main():
    check, arguments = sys.argv[2], sys.argv[3:]
    globals()[f"check_{check}"](*arguments)


main()
