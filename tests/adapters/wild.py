# SPDX-License-Identifier: MIT
# A ring as <gchint-stream.h> has it, with one good phase and then whatever a broken or
# hostile program may write.
import fcntl, mmap, os, random, socket, struct

EVENTS, EVENT = 8192, 64
HEAD = 128
size = HEAD + EVENTS * EVENT
fd = os.memfd_create("gchint", os.MFD_ALLOW_SEALING)
os.ftruncate(fd, size)
fcntl.fcntl(fd, 1033, 7)
ring = mmap.mmap(fd, size)
ring[0:16] = struct.pack("=IIIi", 0x74736367, 1, EVENTS, os.getpid())


def put(n, ticket, tid, time, cpu, slot, type, phase, flags, cause, role, done, total, stall):
    ring[HEAD + n * EVENT:HEAD + (n + 1) * EVENT] = struct.pack(
        "=IiQIIBBBBIQQQ8x", ticket, tid, time, cpu, slot, type, phase, flags, cause, role, done, total, stall)


put(0, 1, os.getpid(), 1, 0, 0, 1, 4, 1, 0, 0, 0, 0, 0)
put(1, 2, os.getpid(), 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0)
random.seed(1)
for n in range(2, EVENTS):
    put(n, n + 1, random.getrandbits(31) - 2**30, random.getrandbits(64), random.getrandbits(32),
        random.choice([0, 1, 511, 512, random.getrandbits(32)]), random.randrange(9), random.getrandbits(8),
        random.getrandbits(8), random.getrandbits(8), random.getrandbits(32), random.getrandbits(64),
        random.getrandbits(64), random.getrandbits(64))
ring[64:72] = struct.pack("=II", random.getrandbits(32), random.getrandbits(32))
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect(os.environ["GCHINT_STREAM"])
socket.send_fds(s, [b"G"], [fd])
