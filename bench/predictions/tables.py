# SPDX-License-Identifier: MIT
# tables.py ROWS: reads rows into dictionaries, which all stay, as a program that loads a file does.
import sys

rows = []
for n in range(int(sys.argv[1])):
    rows.append({"number": n, "name": str(n), "values": [n, n + 1], "next": {"of": n}})
print(len(rows))
