#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples change nothing: a FORTH link brought up to date at any moment ends as
one that is left alone, with cut lines, lost and repeated packets,
resynchronisation and loopback.

    test_sampled.py WEFT ROOT"""
import json
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import execute

# every line is cut at random moments, alone or with `resync`, which lets both
# directions send real frames
CUTS = """
nodes:
  count: %d
  host: { type: host.pc }
  bus: { type: bus.pcix }
  nic: { type: forth.nic, preset: %s, resync: %d }
fabric: { type: switch, count: %d, switch: { type: forth.xbar, preset: plat-switch, resync: %d }, link: { type: forth.link } }
faults:
  - { on: "%s", type: fault.cut, at: 20us, length: 5us, every: 60us, random: yes }
workload: { program: forth.loss, count: 150, patience: 200us }
"""


def numbers(*args):
    """Metrics and counters of all points."""
    p = execute("run", *args, "--format", "json")
    assert p.returncode in (0, 1), p.stderr
    d = json.loads(p.stdout)
    return [(r["metrics"], r["counters"]) for r in d.get("runs", [d])]


class Sampled(unittest.TestCase):
    def same(self, *args):
        alone = numbers(*args)
        with tempfile.TemporaryDirectory() as d:
            for watch in (("--sample", "3us"), ("--sample", "777ns"),
                          ("--out", os.path.join(d, "out.db"))):
                self.assertEqual(numbers(*args, *watch), alone,
                                 " ".join(args + watch))

    def shipped(self, name, *sets):
        args = [name]
        for s in sets:
            args += ["--set", s]
        self.same(*args)

    def test_samples_do_not_disturb_repeated_packets(self):
        self.shipped("forth/fault-repeat", "workload.count=500")

    def test_samples_do_not_disturb_lost_packets(self):
        self.shipped("forth/fault-packets", "traffic.resync=4096",
                     "fabric.switch.resync=4096")

    def test_samples_do_not_disturb_credits_in_flight(self):
        self.shipped("forth/clos-pairs", "traffic.load=0.8",
                     "traffic.balance=static", "record.metrics=none")

    def test_samples_do_not_disturb_an_end_between_edges(self):
        self.shipped("forth/clos", "run.until=30us")

    def test_samples_do_not_disturb_loopback(self):
        self.shipped("forth/selftest-tr")

    def test_samples_do_not_disturb_random_cuts(self):
        with tempfile.TemporaryDirectory() as d:
            name = os.path.join(d, "cuts.yaml")
            for case in ((4, "plat-switch", 0, 1, 0, "n*.nic.link0"),
                         (4, "plat-switch", 0, 1, 0, "s0.port*"),
                         (4, "plat-switch", 4096, 1, 4096, "s0.port*"),
                         (4, "plat-multi", 4096, 4, 4096, "n*.nic.link*")):
                with open(name, "w", encoding="utf-8") as f:
                    f.write(CUTS % case)
                for seed in (1, 2, 3):
                    self.same(name, "--seed", str(seed))


if __name__ == "__main__":
    unittest.main(verbosity=2)
