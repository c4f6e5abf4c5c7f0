#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An experiment gives equal bytes with any allocator, any order of construction,
any number of worker processes, and after any earlier run of the process.

    test_same.py WEFT [unittest options]      a sample, in seconds
    test_same.py WEFT --all [PATTERN...]      all shipped experiments

Shipped experiments are shortened as in tests/golden."""
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))

import golden

WEFT = os.path.abspath(sys.argv[1])

# Ways to run that must not be told from the plain one: environment, options.
WAYS = {
    "perturb": ({"GLIBC_TUNABLES": "glibc.malloc.perturb=165"}, []),
    "mmap": ({"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=16384"}, []),
    "no cache": ({"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}, []),
    "top pad": ({"MALLOC_TOP_PAD_": "1234567"}, []),
    "long environment": ({"WEFT_UNUSED": "x" * 5000}, []),
    "shuffled": ({}, ["--set", "run.shuffle=1299709"]),
    "shuffled again": ({}, ["--set", "run.shuffle=7"]),
}
# Several at once, for the short form.
FEW = {
    "allocator": ({"GLIBC_TUNABLES": "glibc.malloc.perturb=165:"
                   "glibc.malloc.tcache_count=0", "WEFT_UNUSED": "x" * 5000},
                  []),
    "mmap": ({"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=16384:"
              "glibc.malloc.top_pad=1234567"}, ["--set", "run.shuffle=7"]),
}
JOBS = {"jobs 2": ({}, ["--jobs", "2"]), "jobs 4": ({}, ["--jobs", "4"])}

# Not in random machines (tests/random): other programs, faults below nodes.
SAMPLE = [
    "forth/multi-drop", "forth/fault-nodes", "hostport/ep-conformance",
    "hvia/ep-conformance", "hvia/ep-loss",
]
# Eight endpoints: where memory lay once decided whether all of them met.
CROWD = """
nodes:
  count: 8
  host: { type: host.pc, preset: hvia }
  bus: { type: bus.pci, preset: pci64-66 }
  nic: { type: hvia.nic }
fabric: { type: switch, switch: { type: eth.switch, ports: 8 },
  link: { type: eth.cable } }
workload: { program: ep.traffic, count: 12 }
run: { until: 5s }
"""


def run(args, env, text=None):
    p = subprocess.run([WEFT, "run", *args, "--format", "json", "--quiet"],
                       env={**os.environ, **env}, capture_output=True,
                       input=text, text=True, timeout=3600, check=False)
    return p.returncode, p.stdout, p.stderr


def compare(args, text=None, ways=FEW):
    """Names of the ways in which the bytes differ."""
    want = run(args, {}, text)
    ways = dict(ways)
    if '"runs": [' in want[1]:
        ways.update(JOBS)
    return [w for w, (env, more) in ways.items()
            if run(args + more, env, text) != want], want[0]


def shipped(name, *sets):
    return [name] + [x for s in sets for x in ("--set", s)]


class Same(unittest.TestCase):
    def test_allocator_and_order_change_no_shipped_result(self):
        for name in SAMPLE:
            with self.subTest(name):
                differ, status = compare(shipped(name, "sweep=none"))
                self.assertEqual((differ, status), ([], 0))

    def test_allocator_and_order_change_no_crowd(self):
        differ, status = compare(["-"], CROWD)
        self.assertEqual((differ, status), ([], 0))

    def test_equal_points_of_a_sweep_are_equal(self):
        """The point before must leave nothing in the process."""
        for name, key, value in (
                ("hvia/ep-conformance", "workload.0.messages", 6),
                ("forth/ep-conformance", "workload.0.messages", 6),
                ("hostport/ep-conformance", "workload.1.messages", 6),
                ("extoll/ep-traffic", "workload.0.count", 6)):
            with self.subTest(name):
                code, out, err = run(
                    [name, "--set", f"sweep={{{key}: [{value}, {value}, "
                     f"{value}]}}"], {})
                self.assertEqual(code, 0, err)
                runs = json.loads(out)["runs"]
                self.assertEqual(len(runs), 3)
                self.assertEqual(runs[0], runs[1])
                self.assertEqual(runs[1], runs[2])

    def test_worker_processes_change_no_result(self):
        args = shipped("forth/one-way-sizes", "workload.0.count=200")
        want = run(args, {})
        for jobs in "2", "4":
            self.assertEqual(run(args + ["--jobs", jobs], {}), want)


def main_all(patterns):
    bad = done = 0
    for args in golden.shipped_runs():
        if patterns and not any(fnmatch.fnmatch(args[0], p)
                                for p in patterns):
            continue
        differ, _ = compare(args, ways=WAYS)
        done += 1
        bad += bool(differ)
        if differ:
            print(*args, "differs:", ", ".join(differ), flush=True)
    print(f"{done} runs, {bad} differ")
    return bad != 0


if __name__ == "__main__":
    if sys.argv[2:3] == ["--all"]:
        sys.exit(main_all(sys.argv[3:]))
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
