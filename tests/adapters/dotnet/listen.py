# SPDX-License-Identifier: MIT
"""listen.py HOW ADAPTER - a .NET runtime's diagnostic socket in TMPDIR: checks what comes, answers as HOW says."""
import os
import socket
import struct
import sys

how, adapter = sys.argv[1:]
# One that a process of our number left behind.
path = f"{os.environ['TMPDIR']}/dotnet-diagnostic-{os.getpid()}-0-socket"
dead = socket.socket(socket.AF_UNIX)
dead.bind(path)
dead.close()
server = socket.socket(socket.AF_UNIX)
server.bind(path.replace("-0-", "-1-"))
server.listen()
print("ready", flush=True)
peer, _ = server.accept()
data = peer.recv(65536)
magic, length, command, which, rest = struct.unpack_from("<14sHBBH", data)
if (magic, length, command, which, rest) != (b"DOTNET_IPC_V1\0", len(data), 3, 1, 0):
    sys.exit(f"head: {data[:20]}")
timeout, a, b, c, d, chars = struct.unpack_from("<IIHH8sI", data, 20)
if (a, b, c, d.hex()) != (0x8F2F3A2E, 0x43C1, 0x4D0B, "9a6e676368696e74") or timeout < 1000:
    sys.exit(f"profiler: {data[20:44]}")
at = 44 + 2 * chars
if data[44:at].decode("utf-16-le") != adapter + "\0":
    sys.exit(f"path: {data[44:at]}")
(size,) = struct.unpack_from("<I", data, at)
given = data[at + 4 :]
if size != len(given) or b"GCHINT_TRACE=" not in given or b"TMPDIR" in given:
    sys.exit(f"given: {given}")
answer = {
    "well": magic + struct.pack("<HBBHI", 24, 0xFF, 0, 0, 0),
    "error": magic + struct.pack("<HBBHI", 24, 0xFF, 0xFF, 0, 0x80131384),
    "gone": b"",
    "cut": magic,
    "other": b"HTTP/1.1 400 Bad Request\r\n\r\n",
}
peer.sendall(answer[how])
peer.close()
