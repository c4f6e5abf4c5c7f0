#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole fabrics through the command line: what docs/fabrics.md claims, NICs on a
Clos network, lost credits between switches."""
import json
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import execute, points, run

ALL = "record.metrics=all"


def accepted(r):
    return r.all("t", ".accepted")


def one(name, pattern, load, balance, *more):
    return run(name, "traffic.pattern=" + pattern, "traffic.load=%g" % load,
               "traffic.balance=" + balance, ALL, *more)


class Permutations(unittest.TestCase):
    def test_paths_in_turn_carry_permutations(self):
        for name, depth in (("forth/clos", 4), ("forth/benes", 24)):
            for pattern in ("shuffle", "list"):
                r = one(name, pattern, 0.8, "destination")
                self.assertGreater(min(accepted(r)), 0.76)
                self.assertGreater(max(r.all("t", ".reorder_max")), 1)
                self.assertLess(max(r.all("t", ".reorder_max")), depth)

    def test_static_paths_collide(self):
        # four hosts of each leaf over one spine: 132 of 133 + 2 cycles shared
        # by four
        r = one("forth/clos", "list", 0.8, "static")
        self.assertLess(max(accepted(r)), 0.25)
        self.assertGreater(min(accepted(r)), 0.24)
        self.assertEqual(sum(r.all("t", ".late")), 0)
        r = one("forth/benes", "list", 0.8, "static")
        self.assertLess(min(accepted(r)), 1 / 16)

    def test_paths_in_turn_carry_every_shuffle(self):
        for k in (2, 3, 4):
            r = one("forth/clos", "shuffle", 0.9, "destination",
                    "traffic.shuffle=%d" % k, "run.until=2ms")
            self.assertGreater(min(accepted(r)), 0.84)


class PerDestination(unittest.TestCase):
    def test_pairs_need_turns_per_destination(self):
        # forth.md 7.1: spread per destination, or half of the paths idle
        sets = ("traffic.load=0.8", ALL)
        for name in ("forth/clos-pairs", "forth/benes-pairs"):
            p = run(name, "traffic.balance=packet", *sets)
            d = run(name, "traffic.balance=destination", *sets)
            self.assertLess(sum(accepted(p)) / 32, 0.5)
            self.assertGreater(min(accepted(d)), 0.77)


class Sizes(unittest.TestCase):
    def test_switch_of_twelve_carries_full_load(self):
        r = points("forth/twelve", ALL)[-1]
        self.assertGreater(min(accepted(r)), 0.975)

    def test_clos_of_twelve_needs_paths_in_turn(self):
        p, d, s = points("forth/clos-twelve", ALL)
        for r in (p, d):
            self.assertGreater(min(accepted(r)), 0.75)
        self.assertLess(min(accepted(s)), 0.5)

    def test_slim_fat_tree_carries_its_share(self):
        # 4 hosts over 2, then 1 parents: half, a quarter of the line and less
        for up, most in ((2, 0.55), (1, 0.28)):
            r = run("forth/fat-tree", "fabric.up=%d" % up, "traffic.load=2",
                    "traffic.balance=fabric", ALL)
            self.assertLess(sum(accepted(r)) / 64, most)


class Nodes(unittest.TestCase):
    def test_clos_delivers_packets_of_nodes(self):
        r = run("forth/clos-nodes")
        self.assertEqual(sum(r.all("n", ".prog0.received")), 8000)
        self.assertEqual(sum(r.all("n", ".prog0.errors")), 0)
        self.assertGreater(min(r.all("s2", ".packets")), 1000)


FAULTY = """
traffic: { count: 16, type: forth.gen, dests: 16, load: 5, packets: 300, size: 8, size_max: 512 }
fabric: { type: %s, switch: { type: forth.xbar }, link: { type: forth.link } }
faults: { on: "s*.port*", type: fault.drop, credits: 0.1 }
run: { until: 60ms }
expect: { "t*.received": { min: 1 }, "t*.corrupt": 0, "t*.duplicate": 0, "s*.overflow": 0 }
"""


class LostCredits(unittest.TestCase):
    def test_credits_lost_between_switches_return(self):
        for kind in ("clos", "benes"):
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
                f.write(FAULTY % kind)
                f.flush()
                p = execute("run", f.name, "--format", "json")
            self.assertEqual(p.returncode, 0, p.stderr)
            c = json.loads(p.stdout)["counters"]
            self.assertEqual(sum(v for k, v in c.items()
                                 if k.endswith(".received")), 16 * 300)


if __name__ == "__main__":
    unittest.main()
