# SPDX-License-Identifier: MIT
"""bomb.py FILE - a recording of some KiB whose table samples never ends.

Its interior pages are led to one another: each has as many children as fit, and
all of them are the next page. SQLite sees nothing wrong with that.
"""
import sqlite3
import struct
import sys

path = sys.argv[1]
db = sqlite3.connect(path)
db.execute("PRAGMA page_size=512")
db.execute("VACUUM")
db.executemany("INSERT INTO samples VALUES(?,1,?,1)", ((10**12 + i, 10**9 + i) for i in range(60000)))
db.commit()
root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'samples'").fetchone()[0]
db.close()

with open(path, "rb") as f:
    data = bytearray(f.read())
size = 512


def interior(n):
    at = (n - 1) * size
    return data[at] == 5


def children(n):
    """Offsets of the pointers to the children of an interior page."""
    at = (n - 1) * size
    count = struct.unpack(">H", data[at + 3:at + 5])[0]
    cells = [at + struct.unpack(">H", data[at + 12 + 2 * i:at + 14 + 2 * i])[0] for i in range(count)]
    return cells + [at + 8]


def child(offset):
    return struct.unpack(">I", data[offset:offset + 4])[0]


found = [root]
for n in found:
    found += [child(o) for o in children(n) if interior(child(o))]
chain = sorted((n for n in found if n != root), key=lambda n: -len(children(n)))[:6]
leaf = next(child(o) for n in found for o in children(n) if not interior(child(o)))
for n, then in zip([root] + chain, chain + [leaf]):
    for o in children(n):
        data[o:o + 4] = struct.pack(">I", then)
with open(path, "wb") as f:
    f.write(data)
