# SPDX-License-Identifier: MIT
# functions.py [all]: functions of known parts, in one loop of the interpreter to the processor: 60,
# 30 and 10 of 100. "all": and in a thread, in a forked child, in C, and deeper than a stack is.
# Rounds differ in length: a sampler in step with them would see some parts and never others.
import os
import sys
import threading


def heavy(n=1000):
    x = 0
    for i in range(n * 120):
        x += i % 7


def middle(n):
    for _ in range(60):
        x = 0
        for i in range(n):
            x += i % 7
        yield x


def light(n):
    x = 0
    for i in range(n * 20):
        x += i % 7
    raise ValueError(x)


class Native:
    def sort(self):
        sorted(numbers)


def threaded():
    for _ in range(30):
        heavy()
    x = 0
    for i in range(1200000):
        x += i % 7


def deep(n):
    return deep(n - 1) + 1 if n else 0


for turn in range(40):
    length = 500 + turn * 618 % 1000
    heavy(length)
    for _ in middle(length):
        pass
    try:
        light(length)
    except ValueError:
        pass
if len(sys.argv) > 1:
    numbers = [i * 7919 % 500009 for i in range(500000)]
    for _ in range(3):
        Native().sort()
    started = threading.Thread(target=threaded)
    started.start()
    started.join()
    child = os.fork()
    if not child:
        for _ in range(30):
            heavy()
        os._exit(0)
    print(f"child={child} {os.waitpid(child, 0)[1]}")
    sys.setrecursionlimit(1000000)
    print(f"deep={deep(100000)}")
    sys.exit(7)
