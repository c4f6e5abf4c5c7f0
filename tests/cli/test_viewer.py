#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--trace in Chromium's own reader: the engine of its Performance panel finds
the processes, threads and slices that are in the file, none inside another.

    test_viewer.py WEFT
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1))
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../viewer")
RUNS = [
    ("forth/pingpong", ["workload.count=5", "workload.size_max=24"]),
    ("extoll/pingpong", ["workload.count=1"]),
    ("hostport/ultra-pingpong", ["workload.count=20"]),
    ("hostport/atoll-pingpong", ["workload.count=3"]),
    ("hvia/latency", ["workload.size=4", "sweep=none"]),
]


def inside(path):
    """Returns processes and names from the file itself."""
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    processes, names = {}, {}
    slices = collections.defaultdict(list)
    for e in events:
        thread = "%d/%d" % (e["pid"], e["tid"])
        if e["name"] == "process_name":
            processes[str(e["pid"])] = e["args"]["name"]
        elif e["name"] == "thread_name":
            names[thread] = e["args"]["name"]
        elif e["ph"] == "X":
            slices[thread].append([e["name"], e["ts"], e["dur"]])
    return processes, names, slices


@unittest.skipUnless(
    shutil.which("node") and os.path.isdir(HERE + "/node_modules"),
    "no viewer: scripts/deps.sh check")
class Viewer(unittest.TestCase):
    def test_chromium_finds_what_the_timeline_holds(self):
        with tempfile.TemporaryDirectory() as d:
            files = []
            for name, values in RUNS:
                files.append(os.path.join(d, name.replace("/", "-")))
                sets = [x for v in values for x in ("--set", v)]
                subprocess.run([WEFT, "run", name, *sets, "--quiet",
                                "--trace", files[-1]], check=True,
                               stdout=subprocess.DEVNULL, timeout=60)
            p = subprocess.run(["node", HERE + "/load.mjs", *files],
                               capture_output=True, text=True, timeout=60,
                               check=False)
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            seen = json.loads(p.stdout)
            self.assertEqual(len(seen), len(files))
            for path, s in zip(files, seen):
                with self.subTest(os.path.basename(path)):
                    self.check(s, *inside(path))

    def check(self, seen, processes, names, slices):
        self.assertGreater(sum(map(len, slices.values())), 50)
        self.assertEqual(seen["processes"], processes)
        threads = {t: v for t, v in seen["threads"].items() if v["slices"]}
        self.assertEqual(threads.keys(), slices.keys())
        for t, v in threads.items():
            self.assertEqual(v["name"], names[t])
            self.assertEqual(sorted(v["slices"]), sorted(slices[t]))
            self.assertLessEqual(v["depth"], 1)


if __name__ == "__main__":
    unittest.main()
