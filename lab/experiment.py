# SPDX-License-Identifier: MIT
"""Experiment files and board files, as lab/run explains them."""

import os
import re
import sys


def error_exit(text):
    sys.exit(f"lab/{os.path.basename(sys.argv[0])}: {text}")


def read_lines(path, e):
    """The lines of an experiment file, and of those that it includes, into @e."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split(None, 1)
            if not words:
                continue
            if len(words) < 2 or words[0] not in ("board", "workload", "governors", "traced",
                                                  "repetitions", "include"):
                error_exit(f"{path}:{number}: want board, workload, governors, traced, repetitions or include")
            key, value = words[0], words[1].strip()
            if key == "include":
                read_lines(os.path.join(os.path.dirname(path), value), e)
            elif key in ("governors", "traced"):
                e[key] += value.split()
            elif key == "repetitions":
                e[key] = int(value)
            elif key == "workload":
                m = re.fullmatch(r"([\w.-]+)(?: +warm=(\d+)M)?: *(\S.*)", value)
                if not m:
                    error_exit(f"{path}:{number}: want 'workload LABEL [warm=NM]: ARGUMENTS'")
                e["workloads"][m.group(1)] = m.group(3)
                e["warm"][m.group(1)] = int(m.group(2) or 0) << 20
            else:
                e[key] = value


def read_experiment(path):
    e = {"governors": [], "traced": [], "workloads": {}, "warm": {}, "repetitions": 5}
    read_lines(path, e)
    for key in ("board", "workloads"):
        if not e.get(key):
            error_exit(f"{path}: '{key}' is missing")
    if not e["governors"]:
        error_exit(f"{path}: no governors")
    return e


def board_lines(board):
    with open(board, encoding="utf-8") as file:
        return [words for words in (line.split("#")[0].split() for line in file) if words]


def board_opps(board):
    """Of all clusters, ascending."""
    return sorted({int(words[1]) for words in board_lines(board) if words[0] == "opp"})


def board_clusters(board):
    """How many cores each cluster has, in the order of their cores."""
    return [int(words[1]) for words in board_lines(board) if words[0] == "cores"]


def board_number(board, key):
    """Of all clusters together."""
    found = [float(words[1]) for words in board_lines(board) if words[0] == key]
    return sum(found) if found else error_exit(f"{board}: no {key}")


def governors_expand(governors, board):
    """Expands fixed-all and oracle-all to each OPP, or pair of OPPs; -every-N instead of
    -all to the highest OPP and each Nth one below it. A floor or a cap at the lowest or the
    highest OPP is left out, since it limits nothing."""
    every_opp = board_opps(board)
    out = []
    for g in governors:
        bound = re.fullmatch(r"(.+\+(?:floor|cap))-every-([1-9]\d*)", g)
        if bound:
            step = int(bound.group(2))
            out += [f"{bound.group(1)}={khz}" for khz in every_opp[step - 1:-1:step]]
            continue
        levels = re.fullmatch(r"(.+\+(?:gc|mutator|all)-(?:max|min))-levels", g)
        if levels:
            out += [f"{levels.group(1)}={round(1024 * n / 9)}" for n in range(1, 9)]
            continue
        m = re.fullmatch(r"(fixed|oracle)-(all|every-([1-9]\d*))", g)
        if not m:
            out.append(g)
            continue
        opps = every_opp[::-int(m.group(3) or 1)][::-1]
        if m.group(1) == "fixed":
            out += [f"fixed-{khz}" for khz in opps]
        else:
            out += [f"oracle-{mutator}-{gc}" for mutator in opps for gc in opps]
    return out
