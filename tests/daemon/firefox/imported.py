# SPDX-License-Identifier: MIT
"""Functions of a profile as the Firefox Profiler itself reads them: {"NAME": [SELF, TOTAL]}, in samples of all threads.

usage: imported.py PROFILER-CLI FILE.json FOLDER    (FOLDER: its own, for what it leaves)
"""
import collections
import json
import os
import subprocess
import sys
import time

cli, profile, folder = sys.argv[1:]
# Directory of its socket: a socket's path is limited.
environment = {**os.environ, "HOME": folder}


def ask(*what):
    return subprocess.run(["node", cli, *what, "--session", "s"], env=environment, capture_output=True, check=False, timeout=300)


def wait_for(log, server):
    """Until it says that it has the profile. Who asks while it comes up may take it for one that is gone, and removes its socket."""
    end = time.monotonic() + 120
    text = ""
    while "Profile loaded successfully" not in text:
        if "Failed to load profile" in text or server.poll() is not None or time.monotonic() > end:
            sys.exit(f"it did not come up:\n{text}")
        time.sleep(0.1)
        if os.path.exists(log):
            with open(log, encoding="utf-8") as file:
                text = file.read()


server = subprocess.Popen(["node", cli, "--daemon", profile, "--session", "s"], env=environment, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
try:
    wait_for(os.path.join(folder, ".profiler-cli", "s.log"), server)
    info = ask("profile", "info", "--all", "--json")
    if info.returncode:
        sys.exit(info.stderr.decode())
    functions = collections.defaultdict(lambda: [0, 0])
    for process in json.loads(info.stdout)["processes"]:
        for thread in process["threads"]:
            answer = ask("thread", "functions", "--thread", thread["threadHandle"], "--limit", "0", "--include-idle", "--json")
            if answer.returncode:
                sys.exit(answer.stderr.decode())
            for f in json.loads(answer.stdout)["functions"]:
                functions[f["name"]][0] += f["selfSamples"]
                functions[f["name"]][1] += f["totalSamples"]
    print(json.dumps(functions))
finally:
    server.kill()
    server.wait()
