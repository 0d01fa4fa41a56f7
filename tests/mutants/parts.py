# SPDX-License-Identifier: MIT
"""Which parts of a suite run which lines, by gcov. A part that runs no line of a change cannot
notice it. Killed processes leave no counts, so that a part that could notice is sometimes not
run: rates may be too low for it, never too high."""

import bisect
import glob
import json
import os
import subprocess
import time

COVERAGE = "--coverage -fprofile-update=atomic"
# Files processed at once
FILES = 200


class Parts:
    """Known data: seconds of each part; for each line of code the parts that run it."""

    def __init__(self, known=None):
        self.known = known or {"seconds": {}, "lines": {}}

    def learn_part(self, copy, part, command, limit):
        """Run one part, in a copy that is built with COVERAGE."""
        for path in count_files(copy):
            os.unlink(path)
        before = time.monotonic()
        ended = copy.run_command(command, limit)
        self.known["seconds"][part] = time.monotonic() - before
        for path, line, count in lines_executed(copy):
            parts = self.known["lines"].setdefault(path, {}).setdefault(str(line), [])
            if count and part not in parts:
                parts.append(part)
        return ended

    def parts_of(self, path, first, last):
        """Parts that run one of these lines, the quickest first; empty if unknown. All lines of
        a statement count as its first one."""
        lines = self.known["lines"].get(path, {})
        code = sorted(map(int, lines))
        at = bisect.bisect_right(code, first) - 1
        found = set()
        for line in code[max(at, 0):bisect.bisect_right(code, last)]:
            found.update(lines[str(line)])
        return sorted(found, key=lambda part: (self.known["seconds"][part], part))


def count_files(copy):
    return glob.glob(os.path.join(copy.top, "**", "*.gcda"), recursive=True)


def lines_executed(copy):
    """(file, line, count) of all code that was compiled and run."""
    found = count_files(copy)
    for at in range(0, len(found), FILES):
        said = subprocess.run(["gcov", "--json-format", "--stdout"] + found[at:at + FILES], cwd=copy.top,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
        for text in said.splitlines():
            report = json.loads(text)
            for file in report["files"]:
                path = os.path.join(report["current_working_directory"], file["file"])
                path = os.path.relpath(os.path.normpath(path), copy.top)
                for line in file["lines"]:
                    yield path, line["line_number"], line["count"]
