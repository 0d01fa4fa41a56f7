# SPDX-License-Identifier: MIT
"""Hold a profile for the Firefox Profiler to the rules of its format, and to what the report says of the same samples.

usage: check.py FILE.json REPORT [IMPORTED]

REPORT is what gchintctl profile report -n 1000000 prints, IMPORTED what imported.py does.
"""
import collections
import json
import re
import sys

LENGTHS = ("stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources")
CLASSES = {"Concurrent": ", concurrent", "Foreground": ", foreground", "Stop the world": ", stw", "Urgent": ", urgent", "Other": ""}


def columns(table, name, optional=()):
    """Every column is as long as it says."""
    for column, values in table.items():
        if column not in ("length", "weightType", *optional):
            assert len(values) == table["length"], f"{name}.{column}"


def indices(values, limit, name, null=False, none=False):
    """Every index is in range; null or -1 where the format allows it."""
    for i in values:
        if i is None and null or i == -1 and none:
            continue
        assert isinstance(i, int) and 0 <= i < limit, f"{name}: {i} of {limit}"


def rules(p):
    """Those of src/types/profile.ts, version 63."""
    shared, categories = p["shared"], p["meta"]["categories"]
    strings = len(shared["stringArray"])
    stacks, frames, funcs = shared["stackTable"], shared["frameTable"], shared["funcTable"]
    for name in LENGTHS:
        columns(shared[name], name)
    indices(stacks["frame"], frames["length"], "stack.frame")
    for i, prefix in enumerate(stacks["prefix"]):
        assert prefix is None or 0 <= prefix < i, f"stack {i} is within {prefix}"
    indices(frames["func"], funcs["length"], "frame.func")
    indices(frames["category"], len(categories), "frame.category", null=True)
    for category, sub in zip(frames["category"], frames["subcategory"]):
        assert (category is None) == (sub is None), "a subcategory of no category"
        indices([sub], len(categories[category]["subcategories"]) if sub is not None else 0, "frame.subcategory", null=True)
    assert all(line is None or line > 0 for line in frames["line"]), "a line is no 0"
    indices(funcs["name"], strings, "func.name")
    indices(funcs["resource"], shared["resourceTable"]["length"], "func.resource", none=True)
    indices(funcs["source"], shared["sources"]["length"], "func.source", null=True)
    indices(shared["resourceTable"]["name"], strings, "resource.name")
    indices(shared["sources"]["filename"], strings, "source.filename")
    assert any(c["color"] == "grey" for c in categories) and all(c["subcategories"][0] == "Other" for c in categories)
    for table in (zip(stacks["frame"], stacks["prefix"]), zip(*(funcs[c] for c in ("name", "resource", "isJS", "relevantForJS")))):
        rows = list(table)
        assert len(set(rows)) == len(rows), "a row stands there twice"
    seen = set()
    for t in p["threads"]:
        s, m = t["samples"], t["markers"]
        columns(s, "samples", ("weight",))
        columns(m, "markers")
        indices(s["stack"], stacks["length"], "sample.stack")
        indices(m["name"], strings, "marker.name")
        indices(m["category"], len(categories), "marker.category")
        assert s["time"] == sorted(s["time"]), "times go back"
        assert s["weight"] is None and isinstance(t["pid"], str)
        assert "threadCPUDelta" not in s or p["meta"]["sampleUnits"]["threadCPUDelta"] == "ns"
        assert (t["pid"], t["tid"]) not in seen or t["tid"] == 0, "a thread is there twice"
        seen.add((t["pid"], t["tid"]))
    for c in p["counters"]:
        columns(c["samples"], "counter")
        indices([c["mainThreadIndex"]], len(p["threads"]), "counter.mainThreadIndex")


def chain(shared, stack):
    """Frames from the innermost."""
    while stack is not None:
        yield shared["stackTable"]["frame"][stack]
        stack = shared["stackTable"]["prefix"][stack]


def counts(p):
    """Samples by image and symbol of the innermost function that is called; by phase and method, the outermost one; by innermost name."""
    shared, strings, categories = p["shared"], p["shared"]["stringArray"], p["meta"]["categories"]
    frames, funcs = shared["frameTable"], shared["funcTable"]
    leaves, phases, names = collections.Counter(), collections.Counter(), collections.Counter()
    for t in p["threads"]:
        for stack in t["samples"]["stack"]:
            path = list(chain(shared, stack))
            names[strings[funcs["name"][frames["func"][path[0]]]]] += 1
            # Around what the compiler inlined there: instructions are of that symbol.
            func = frames["func"][next(f for f in path if not frames["inlineDepth"][f])]
            name, resource = strings[funcs["name"][func]], funcs["resource"][func]
            image = strings[shared["resourceTable"]["name"][resource]] if resource >= 0 else "[methods]" if funcs["isJS"][func] else "?"
            leaves[image, "?" if name == image else name] += 1
            methods = [strings[funcs["name"][frames["func"][f]]] for f in path if funcs["isJS"][frames["func"][f]]]
            # A stack's category is that of its innermost frame with one.
            frame = next(f for f in path if frames["category"][f] is not None)
            category = categories[frames["category"][frame]]
            sub = category["subcategories"][frames["subcategory"][frame]]
            phase = "?" if sub == "phase not known" else "outside of phases"
            if category["name"] in CLASSES:
                phase = sub.replace(", in the kernel", "") + CLASSES[category["name"]]
                assert sub.endswith(", in the kernel") == (image == "[kernel]"), f"{sub} in {image}"
            else:
                kind = "Kernel" if image == "[kernel]" else "Method" if funcs["isJS"][func] else "Native"
                assert category["name"] == kind, f"{category['name']} in {image}"
            phases[phase, methods[-1] if methods else ""] += 1
    return leaves, phases, names


def report(lines):
    """The same two of the report's tables."""
    leaves, phases, table = collections.Counter(), collections.Counter(), ""
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("By "):
            table = line
        elif re.match(r" *\d+ +[\d.]+ ", line):
            n = int(line.split()[0])
            if table == "By image and symbol":
                image, symbol = line[17:].split(maxsplit=1)
                leaves[image, symbol] += n
            elif table.startswith("By method, phase"):
                method = line[75:]
                phases[line[53:75].strip(), "" if method in "?-" else method] += n
    return leaves, phases


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        p = json.load(f)
    rules(p)
    with open(sys.argv[2], encoding="utf-8") as f:
        wanted = report(f)
    *tables, names = counts(p)
    for mine, theirs in zip(tables, wanted):
        assert mine == theirs and mine, f"{list((mine - theirs).items())[:3]} {list((theirs - mine).items())[:3]}"
    if len(sys.argv) > 3:
        with open(sys.argv[3], encoding="utf-8") as f:
            functions = json.load(f)
        within = collections.Counter()
        for (phase, _), n in wanted[1].items():
            within[phase.split(",")[0]] += n
        assert names == {name: own for name, (own, _) in functions.items() if own}, f"{names} {functions}"
        for phase in set(within) - {"?", "outside of phases"}:
            assert functions[phase][1] == within[phase], f"{phase}: {functions[phase]} {within[phase]}"
    print(sum(wanted[0].values()), "samples")


main()
