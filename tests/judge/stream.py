# SPDX-License-Identifier: MIT
"""Parses TAP and checks that it is complete."""

import re

PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*(skip\b.*))?$", re.I)
TEST = re.compile(r"(not )?ok\b(?! *[:=])(?: +(\d+)\b)?(.*)$")
SKIP = re.compile(r"#\s*skip\b", re.I)


class Stream:
    """Consecutive TAP documents, as several producers print them. A document is tests numbered
    from 1 and one plan, before or after them. It ends at the next number 1, at another
    plan, or at the end of the stream. A document without a plan, or with other tests than
    planned, is incomplete, whatever exit status its producer had."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.faults = []
        self.skips = []
        self._begin_document()

    def _begin_document(self):
        self.count = 0
        self.plan = None
        self.last = ""

    def _end_document(self):
        """The document ends: compare its tests with its plan."""
        behind = f", the last '{self.last}'" if self.last else ""
        if self.plan is None and self.count:
            self.faults.append(f"{self.count} tests and no plan{behind}")
        elif self.plan is not None and self.plan != self.count:
            self.faults.append(f"{self.count} of {self.plan} planned tests{behind}")
        self._begin_document()

    def feed_line(self, line):
        """One line, without its end; other output than TAP is ignored."""
        plan = PLAN.match(line)
        if plan:
            self._take_plan(int(plan.group(1)), plan.group(2))
            return
        if line.startswith("Bail out!"):
            self.faults.append(line)
            return
        test = TEST.match(line)
        if test:
            self._take_test(test.group(1) is None, test.group(2), line)

    def _take_plan(self, tests, skip):
        if self.plan is not None:
            self._end_document()
        self.plan = tests
        if skip and not tests:
            self.skipped += 1
            self.skips.append(skip)
        if self.count:
            self._end_document()

    def _take_test(self, good, number, line):
        if number == "1" and self.count:
            self._end_document()
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

    def end_stream(self):
        """The stream ends."""
        self._end_document()
        return self
