# SPDX-License-Identifier: MIT
"""tests/suites.list, and the suites that a change to the tree touches."""

import hashlib
import os
import re
import subprocess

LIST = "tests/suites.list"
LINE = re.compile(r"([a-z]+:[a-z0-9.-]+)\s+(gate|all)\s+(\d+)\s+(\S+)\s+(\S.*)")
# Named by suites that read every file.
ALL = "."


class Suite:
    """One line of the list."""

    def __init__(self, name, when, silence, paths, command):
        self.name = name
        self.group = name.split(":")[0]
        self.gate = when == "gate"
        self.silence = int(silence)
        self.paths = paths.split(",")
        self.command = command

    @property
    def run_group(self):
        """Its scheduling group. Suites of a group run side by side, and groups one after the
        other: a board uses the host's clock, and compilers would delay it; the timed
        board of the lab is judged by how late its timers are."""
        return {"lab": "alone", "fresh": "alone", "board": "board"}.get(self.group, "host")

    def depends_on(self, path):
        """Whether the suite's verdict depends on the file."""
        return any(path == p or path.startswith(p + "/") for p in self.paths)


def suites_read():
    suites = []
    with open(LIST, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            match = LINE.match(line)
            if not match:
                raise ValueError(f"{LIST}:{number}: not 'group:name gate|all seconds paths command'")
            suites.append(Suite(*match.groups()))
    return suites


def suites_chosen(suites, selectors):
    return [s for s in suites if s.name in selectors or s.group in selectors]


def git_output(*arguments):
    """git's output, or None if this is no git tree."""
    try:
        run = subprocess.run(["git", "-c", f"safe.directory={os.getcwd()}", *arguments],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return run.stdout


def tree_name():
    """The commit, followed by "+" if files have changed."""
    head = git_output("rev-parse", "--short=12", "HEAD")
    if head is None:
        return "unknown"
    return head.decode().strip() + ("+" if git_output("status", "--porcelain") else "")


def content_key(paths=()):
    """A key of the current content of these files and directories, or of all; None without git."""
    listed = git_output("ls-files", "-co", "--exclude-standard", "-z", "--", *paths)
    if listed is None:
        return None
    key = hashlib.sha256()
    for path in sorted(set(listed.split(b"\0"))):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                executable = b"x" if os.access(path, os.X_OK) else b"-"
                key.update(path + b"\0" + executable + hashlib.sha256(file.read()).digest())
    return key.hexdigest()


def changed_files(base):
    """Files that differ from BASE; "1" means the upstream branch, else the previous commit."""
    if base == "1":
        upstream = git_output("merge-base", "HEAD", "@{upstream}")
        base = upstream.decode().strip() if upstream else "HEAD~1"
    listed = [git_output("diff", "--name-only", "-z", base, "--"),
              git_output("ls-files", "-o", "--exclude-standard", "-z")]
    if None in listed:
        raise ValueError(f"git knows no {base} here: CHANGED=1, or a commit")
    return sorted({p.decode() for text in listed for p in text.split(b"\0") if p})


def suites_touched(suites, paths):
    """Suites that depend on one of the files. A file that no suite names, apart from those that
    read all files, may belong to any."""
    special = [s for s in suites if ALL not in s.paths]
    if any(not any(s.depends_on(path) for s in special) for path in paths):
        return list(suites)
    return [s for s in suites if paths and (ALL in s.paths or any(map(s.depends_on, paths)))]
