# SPDX-License-Identifier: MIT
"""publish.py PUBLISHED LIBRARY PROGRAM - put another main library into a .NET program that is alone in its file.

At the file's end stands a list of the files in it, each with its place and length (version 6);
where it begins stands before a mark in the part that is executed.
"""
import struct
import sys

MARK = bytes.fromhex("8b1202b96a612038727b930214d7a03213f5b9e6efae3318ee3b2dce24b36aae")
MAIN = "azmcp.dll"


def text(data, at):
    """A string behind its length, which has 7 bits to a byte."""
    length = shift = 0
    while True:
        byte = data[at]
        at += 1
        length |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return bytes(data[at : at + length]).decode(), at + length


def main(published, library, program):
    with open(published, "rb") as f:
        data = bytearray(f.read())
    with open(library, "rb") as f:
        code = f.read()
    (at,) = struct.unpack_from("<q", data, data.index(MARK) - 8)
    version, _, files = struct.unpack_from("<IIi", data, at)
    if version != 6:
        sys.exit(f"{published}: a list of version {version}")
    _, at = text(data, at + 12)
    at += 40
    for _ in range(files):
        entry = at
        place, length, packed = struct.unpack_from("<qqq", data, entry)
        name, at = text(data, entry + 25)
        if name == MAIN and not packed and len(code) <= length:
            data[place : place + len(code)] = code
            struct.pack_into("<q", data, entry + 8, len(code))
            with open(program, "wb") as f:
                f.write(data)
            return
    sys.exit(f"{published}: no {MAIN} that is long enough")


main(*sys.argv[1:])
