# SPDX-License-Identifier: MIT
"""counted.py OUTPUT MODULE ARGUMENT...: "MICROSECONDS FILE:LINE" of each function, its own time by cProfile.

Native code counts for the function that called it. The raw entries, because the statistics keep one of
several functions that have the same place.
"""
import cProfile
import runpy
import sys

output = sys.argv[1]
sys.argv[:] = sys.argv[2:]
profiler = cProfile.Profile(builtins=False)
profiler.enable()
try:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
except SystemExit:
    pass
profiler.disable()
with open(output, "w", encoding="utf-8") as file:
    for entry in profiler.getstats():
        if not isinstance(entry.code, str):
            print(round(entry.inlinetime * 1e6), f"{entry.code.co_filename}:{entry.code.co_firstlineno}", file=file)
