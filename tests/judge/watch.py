# SPDX-License-Identifier: MIT
"""A command under a watchdog: it may be slow, but not silent."""

import itertools
import os
import signal
import subprocess
import threading
import time

# For a suite that never ends but keeps printing.
BOUND = 4 * 3600
# How long a command may clean up after SIGTERM.
GRACE = 20
TICK = 0.2
# Upper bound of the slowdown by other load.
PACE_LIMIT = 10
MARK = "GCHINT_SUITE"

# Set when no command is waited for any longer.
stopping = threading.Event()
number = itertools.count(1)


def machine_pace():
    """The slowdown compared with an idle machine, by its load."""
    return min(max(os.getloadavg()[0] / (os.cpu_count() or 1), 1), PACE_LIMIT)


def file_size(path):
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def session_of(pid):
    """The last ")" ends the program's name, which may hold anything."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[3])


def command_line(pid):
    """Its command line, for a person: of a process that may have ended."""
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            words = file.read().rstrip("\0").replace("\0", " ")
        return " ".join(words.split())[:120] or "a process that has ended"
    except OSError:
        return "a process that has ended"


def command_members(mark, leader):
    """Processes of a command, by their session or by their environment: neither a
    session of their own nor an empty environment alone hides them."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                environment = file.read().split(b"\0")
            if session_of(name) == leader or any(word.startswith(mark) for word in environment):
                found.append(int(name))
        except OSError:
            continue
    return found


class Command:
    """One command: its output goes to a file; ends it and all of its children."""

    def __init__(self, command, log, notes, name):
        own = f"{os.environ.get(MARK, '')}{name}.{os.getpid()}.{next(number)}/"
        self.mark = f"{MARK}={own}".encode()
        self.files = (log, notes)
        # CPU seconds of it and its children, once it has ended.
        self.cpu = 0.0
        environment = dict(os.environ, GCHINT_NOTES=os.path.abspath(notes))
        environment[MARK] = own
        for path in self.files:
            with open(path, "wb"):
                pass
        with open(log, "wb") as output:
            # pylint: disable=consider-using-with # waited for below
            self.process = subprocess.Popen(
                ["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, env=environment, start_new_session=True)

    def wait_end(self, silence, bound=BOUND):
        """Wait until it ends: ("", status); or until it was silent or ran for too long, scaled
        by the machine's load, or the run was interrupted: (reason, None)."""
        before, seen = time.monotonic(), None
        quiet = whole = 0.0
        while not stopping.is_set():
            if self._has_ended():
                return "", self.process.returncode
            time.sleep(TICK)
            now = time.monotonic()
            step, before = (now - before) / machine_pace(), now
            sizes = [file_size(path) for path in self.files]
            quiet, whole = (quiet + step if sizes == seen else 0), whole + step
            seen = sizes
            if quiet > silence:
                return f"silent for {silence} s", None
            if whole > bound:
                return f"not over after {bound} s", None
        return "interrupted", None

    def end_all(self):
        """End what is left of it. Returns the command lines of those processes."""
        left = self._kill_left(signal.SIGTERM)
        end = time.monotonic() + GRACE
        while self._find_left() and time.monotonic() < end:
            time.sleep(TICK)
        self._kill_left(signal.SIGKILL)
        while not self._has_ended():
            time.sleep(TICK)
        return left

    def _has_ended(self):
        """Whether its leader has ended. Not by Popen.poll(), which drops the CPU time."""
        if self.process.returncode is None:
            pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.cpu = used.ru_utime + used.ru_stime
        return self.process.returncode is not None

    def _find_left(self):
        self._has_ended()
        return command_members(self.mark, self.process.pid)

    def _kill_left(self, which):
        left = self._find_left()
        commands = [command_line(pid) for pid in left]
        for pid in left:
            try:
                os.kill(pid, which)
            except ProcessLookupError:
                pass
        return commands
