# SPDX-License-Identifier: MIT
"""compare.py SAMPLED REFERENCE HITS - do the functions with most time have the same order by both?

Both files have lines "NUMBER FILE:LINE". HITS: the reference's numbers are of samples, too ("hits"), or of time
("time"). Of the first two by either and of all with more than a tenth by either, each two must have the same order,
unless one of them has the two tied: closer than three standard deviations of its samples, or than a quarter, because
both means take time of their own at calls.
"""
import collections
import itertools
import sys


def read(path):
    count = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            number, at = line.rstrip("\n").split(" ", 1)
            count[at] += int(number)
    return count


def tied(count, a, b, sampled):
    more, less = max(count[a], count[b]), min(count[a], count[b])
    return more - less < more / 4 or sampled and more - less < 3 * (more + less) ** 0.5


def main():
    ours, theirs = read(sys.argv[1]), read(sys.argv[2])
    hits = sys.argv[3] == "hits"
    mine, other = sum(ours.values()), sum(theirs.values())
    first = {f for count in (ours, theirs) for f, _ in count.most_common(2)}
    most = [f for f in ours | theirs if f in first or ours[f] * 10 > mine or theirs[f] * 10 > other]
    print(f"{mine} samples in functions, reference {other} {'samples' if hits else 'us'}")
    for f in sorted(most, key=lambda f: -ours[f]):
        print(f"{100 * ours[f] / mine:5.1f} % {100 * theirs[f] / other:5.1f} %  {f}")
    good = mine > 200 and other > 200
    pairs = decided = 0
    for a, b in itertools.combinations(most, 2):
        pairs += 1
        if tied(ours, a, b, True) or tied(theirs, a, b, hits):
            continue
        decided += 1
        if (ours[a] > ours[b]) != (theirs[a] > theirs[b]):
            print(f"the order differs: {a}, {b}")
            good = False
    print(f"{decided} of {pairs} pairs are not tied")
    return 0 if good and decided else 1


sys.exit(main())
