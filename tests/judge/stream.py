# SPDX-License-Identifier: MIT
"""What a producer of TAP said, and whether it said all of it."""

import re

PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*(skip\b.*))?$", re.I)
TEST = re.compile(r"(not )?ok\b(?! *[:=])(?: +(\d+)\b)?(.*)$")
SKIP = re.compile(r"#\s*skip\b", re.I)


class Stream:
    """Documents of TAP, one behind the other, as several producers print them.

    A document is tests numbered from 1 and one plan, before or behind them. Its
    end is seen by what comes next: the number 1, another plan, or the end of the
    stream. One without a plan, or with other tests than its plan has, was not
    told to its end, whatever its producer's exit status became on the way here.
    """

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.faults = []
        self.skips = []
        self._begin()

    def _begin(self):
        self.count = 0
        self.plan = None
        self.last = ""

    def _end(self):
        """The document is over: hold what it had to its plan."""
        behind = f", the last '{self.last}'" if self.last else ""
        if self.plan is None and self.count:
            self.faults.append(f"{self.count} tests and no plan{behind}")
        elif self.plan is not None and self.plan != self.count:
            self.faults.append(f"{self.count} of {self.plan} planned tests{behind}")
        self._begin()

    def line(self, line):
        """One line, without its end; what is no TAP is passed over."""
        plan = PLAN.match(line)
        if plan:
            self._plan(int(plan.group(1)), plan.group(2))
            return
        if line.startswith("Bail out!"):
            self.faults.append(line)
            return
        test = TEST.match(line)
        if test:
            self._test(test.group(1) is None, test.group(2), line)

    def _plan(self, tests, skip):
        if self.plan is not None:
            self._end()
        self.plan = tests
        if skip and not tests:
            self.skipped += 1
            self.skips.append(skip)
        if self.count:
            self._end()

    def _test(self, good, number, line):
        if number == "1" and self.count:
            self._end()
        self.count += 1
        if number is not None and int(number) != self.count:
            self.faults.append(f"test {number} where {self.count} is due: '{line}'")
            self.count = int(number)
        self.last = line
        if not good:
            self.failed += 1
        elif SKIP.search(line):
            self.skipped += 1
            self.skips.append(line)
        else:
            self.passed += 1

    def end(self):
        """The stream is over."""
        self._end()
        return self
