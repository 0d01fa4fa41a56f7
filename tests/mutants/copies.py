# SPDX-License-Identifier: MIT
"""A copy of the tree, and a suite run in it."""

import os
import re
import shutil
import subprocess

from judge import stream, watch

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPILERS = ("cc", "gcc", "clang", "c++", "g++", "clang++", "arm-linux-gnueabihf-gcc")
# How often a running suite is checked, in seconds at the machine's pace.
LOOK = .5


def read_log(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def tap_read(path):
    """The output of a suite so far."""
    said = stream.Stream()
    for line in read_log(path):
        said.feed_line(line)
    return said


class Copy:
    """A copy of the tree for one worker. @gcc: more options for each call of gcc"""

    def __init__(self, work, name, gcc=""):
        self.had, self.late = 0, False
        self.top = os.path.join(work, name)
        self.log = os.path.join(work, name + ".log")
        self.notes = os.path.join(work, name + ".notes")
        os.makedirs(self.top)
        files = subprocess.run(["git", "-C", TOP, "ls-files", "-co", "--exclude-standard", "-z"],
                               stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["rsync", "-a", "--from0", "--files-from=-", "--ignore-missing-args",
                        TOP + "/", self.top + "/"], input=files, check=True)
        bin_ = os.path.join(work, name + ".bin")
        os.makedirs(bin_)
        for compiler in COMPILERS:
            real = shutil.which(compiler)
            if not real:
                continue
            # Warnings caused by a change are no errors; some tests want to see others.
            more = "-Wno-error " + (gcc if compiler in ("cc", "gcc", "c++", "g++") else "")
            wrapper = os.path.join(bin_, compiler)
            with open(wrapper, "w", encoding="utf-8") as file:
                # Partial links get the compiler's own library once, at the end.
                file.write(f'#!/bin/sh\ncase " $* " in\n*" -r "*) exec {real} "$@" ;;\nesac\n'
                           f'exec {real} "$@" {more}\n')
            os.chmod(wrapper, 0o755)
        self.prefix = f"cd '{self.top}' && PATH='{bin_}':$PATH && export PATH && "

    def _run_command(self, command, limit, until):
        """Wait until it ends, its time is over or until() is true: (reason, status)."""
        running = watch.Command(self.prefix + command, self.log, self.notes, "mutant")
        what, status, self.had = "begun", None, 0
        try:
            while what and self.had <= limit and not until():
                what, status = running.wait_end(limit, LOOK)
                self.had += LOOK
                if watch.stopping.is_set():
                    raise InterruptedError
        finally:
            running.end_all()
        return what, status

    def run_command(self, command, limit):
        """Whether it ended in time. Its output is not judged."""
        return not self._run_command(command, limit, lambda: False)[0]

    def test_suite(self, command, limit):
        """Run a suite: (verdict, note); green, red, or not compiling."""
        self.late = False
        # The first failing test is enough.
        what, status = self._run_command(command, limit, lambda: tap_read(self.log).failed)
        said = tap_read(self.log)
        if said.failed:
            return "red", next(line for line in read_log(self.log) if line.startswith("not ok"))
        if what:
            self.late = True
            return "red", f"not over after {limit:.0f} s"
        if status and self.has_compile_error():
            return "not compiling", ""
        if status:
            return "red", f"exit {status}"
        if said.end_stream().faults:
            return "red", said.faults[0]
        return ("green", "") if said.passed else ("red", "ran no test")

    def has_compile_error(self):
        return any(re.match(r"\S+\.[ch]:\d+:\d+: (fatal )?error:", line) or "linker command failed" in line
                   or "ld returned" in line for line in read_log(self.log))

    def write_file(self, path, text):
        with open(os.path.join(self.top, path), "w", encoding="utf-8") as file:
            file.write(text)
