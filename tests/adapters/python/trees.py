# SPDX-License-Identifier: MIT
# Cycles that come and go, in as many threads as asked for. Between two lines "== begin" and
# "== end", here and in the trace, is what the collector's own count and the trace are to
# agree on.
import gc
import os
import sys
import threading
import time

threads = int(sys.argv[1]) if len(sys.argv) > 1 else 0
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 20000


class Node:
    def __init__(self):
        self.other = self


def work(count):
    os.write(1, f"thread={threading.get_native_id()}\n".encode())
    for _ in range(count):
        Node()


# A line of each goes at once, but with what stands in the buffers before.
def mark(what):
    print(f"== {what}", flush=True)
    sys.stderr.flush()
    if "GCHINT_TRACE" in os.environ:
        with open(os.environ["GCHINT_TRACE"], "a") as f:
            f.write(f"== {what}\n")


def stats():
    return [(s["collections"], s["collected"]) for s in gc.get_stats()]


kept = [[n] for n in range(400000)]
gc.disable()
mark("begin")
before = stats()
gc.enable()
work(rounds)
asked = time.monotonic_ns()
for _ in range(10):
    Node()
    gc.collect()
asked = time.monotonic_ns() - asked
gc.disable()
after = stats()
mark("end")
gc.enable()
for n in range(3):
    print(f"generation{n}={after[n][0] - before[n][0]} freed{n}={after[n][1] - before[n][1]}")
print(f"asked_us={asked // 1000}", flush=True)
started = [threading.Thread(target=work, args=(rounds // 10 + 1000,)) for _ in range(threads)]
for t in started:
    t.start()
for t in started:
    t.join()
if len(sys.argv) > 3:
    child = os.fork()
    if not child:
        for _ in range(3):
            gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    print(f"child={child}")
sys.exit(7)
