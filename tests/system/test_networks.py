#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Direct networks through the command line (extoll.md 9: T-35 to T-38).  The
traffic components check loss, order and bytes of every pair by themselves: a
run in which something is wrong has exit status 1."""
import contextlib
import json
import os
import re
import sqlite3
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import Run, execute, points, run

CYCLE = 1e3 / 156  # ns


FAR = """
traffic:
  - { type: extoll.gen, packets: 1, pattern: fixed, dest: 42, verify: yes }
  - { type: extoll.gen, count: 63, pattern: none, verify: yes }
fabric: { type: torus, dims: [4, 4, 4], routing: %s }
run: { until: 1ms }
"""


def hops(r):
    """Cables per packet, on average."""
    return r["net.hops"] / r["net.received"] - 1


RING = """
payload: none
seed: 1
traffic: { type: net.source, count: 64, load: 0.3, pattern: tornado }
fabric:
  type: routed
  topology: torus
  dims: [8, 8]
  routing: minimal_adaptive
  switch: { vcs: 8, t_route: 0, speculative: yes }
  net: { warmup: 500, measure: 1000 }
run: { until: 1ms }
"""


class Routers(unittest.TestCase):
    def test_packet_that_holds_a_full_vc_blocks_no_escape(self):
        """64 packets in the eight queues of a ring waited for each other."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
            f.write(RING)
            f.flush()
            p = execute("run", f.name)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIn("net.accepted", p.stdout)


class Torus(unittest.TestCase):
    def test_torus_delivers_every_pattern(self):
        """T-35, 10^5 packets each; `make soak` has 10^6."""
        # mean distance in a ring of four is 1; not to oneself; 1 in each
        # dimension; 1 in the first
        want = {"uniform": 3 * 64 / 63, "tornado": 3, "neighbour": None}
        for p in points("extoll/soak-patterns", "traffic.packets=1563",
                        fails=True):
            name = p.point.split("=")[-1]
            self.assertEqual(p["net.received"], 64 * 1563)
            self.assertEqual(len(p.failures), 1)  # fewer than it expects
            self.assertNotIn("deadlock", p.failures[0])
            self.assertLessEqual(hops(p), 6)
            if want[name]:
                self.assertAlmostEqual(hops(p), want[name], delta=0.02)
            else:
                self.assertEqual(hops(p), round(hops(p)))

    def test_use_of_links_counts_no_idle_tail(self):
        """Pages draw up to the last event, not up to a check of the
        watchdog: the busiest link is as busy as in the window."""
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "r.db")
            p = execute("run", "extoll/net-torus", "--out", path)
            self.assertEqual(p.returncode, 0, p.stderr)
            with contextlib.closing(sqlite3.connect(path)) as db:
                ends = db.execute("SELECT run, max(end_us) FROM intervals "
                                  "GROUP BY run").fetchall()
                self.assertEqual(len(ends), 4)
                for r, end in ends:
                    self.check_use(db, r, end)

    def check_use(self, db, r, end):
        self.assertLess(end, 23500 * CYCLE / 1e3)  # 22000 and the last few
        use = max(sum(json.loads(busy)) for busy, in db.execute(
            "SELECT busy FROM ports WHERE run = ? AND name LIKE '%.lp%'",
            (r,))) / (end * 1e3)
        (most,), = db.execute("SELECT value FROM metrics WHERE run = ? AND "
                              "name = 'net.link_busy_max'", (r,))
        self.assertAlmostEqual(use / most, 1, delta=0.05)

    def test_longest_route_has_six_hops(self):
        """To (2, 2, 2)."""
        for routing in "path", "table":
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
                f.write(FAR % routing)
                f.flush()
                p = execute("run", f.name, "--format", "json")
            self.assertEqual(p.returncode, 0, p.stderr)
            self.assertEqual(hops(Run(json.loads(p.stdout))), 6)

    def test_deadlock_names_its_ring(self):
        """T-36"""
        r = run("extoll/net-deadlock", fails=True)
        said = r.failures[0]
        self.assertIn("deadlock", said)
        way = [(int(n), int(p), int(vc)) for n, p, vc in
               re.findall(r"s(\d+)\.lp(\d)/vc(\d)", said)]
        self.assertEqual(way[0], way[-1])
        self.assertIn("(%d inputs)" % (len(way) - 1), said)
        ring = way[:-1]
        # once round one ring of four, always in by the same port
        self.assertEqual(len(set(n for n, _, _ in ring)), 4)
        self.assertEqual(set(p for _, p, _ in ring), {ring[0][1]})
        self.assertEqual(set(vc for _, _, vc in ring), {0})
        dim = ring[0][1] // 2
        for n, _, _ in ring:
            self.assertEqual((n - ring[0][0]) % 4 ** dim, 0)
            self.assertEqual(n // 4 ** (dim + 1),
                             ring[0][0] // 4 ** (dim + 1))

    def test_dateline_prevents_the_deadlock(self):
        r = run("extoll/net-deadlock", "fabric.dateline=yes")
        self.assertEqual(r["net.received"], 128000)


class Cube(unittest.TestCase):
    def test_uniform_traffic_crosses_half_the_dimensions(self):
        """T-37; every pair, with its hops, is in tests/unit/front."""
        r = run("extoll/net-cube")
        self.assertEqual(r["net.received"], 64000)
        # mean of popcount(XOR) of different nodes
        self.assertAlmostEqual(hops(r), 6 * 32 / 63, delta=0.02)

    def test_complement_crosses_all_six_dimensions(self):
        r = run("extoll/net-cube", "traffic.pattern=bit_complement")
        self.assertEqual(hops(r), 6)


class Hops(unittest.TestCase):
    def slopes(self, *sets):
        lat = [p["net.latency"] * CYCLE
               for p in points("extoll/net-hops", *sets)]
        self.assertEqual(len(lat), 6)
        return [b - a for a, b in zip(lat, lat[1:])]

    def test_each_hop_takes_359_ns(self):
        """T-38, with 32 bit and with 16 bit."""
        for s in self.slopes():
            self.assertAlmostEqual(s, 359.4, delta=1)
        for s in self.slopes("extoll.xbar.width=w16", "extoll.gen.width=w16"):
            self.assertAlmostEqual(s, 359.4, delta=1)

    def test_longer_cable_adds_its_delay_to_each_hop(self):
        """10 m instead of 2 m: 40 ns more, to the cycle."""
        for s in self.slopes("extoll.cable.length=10"):
            self.assertAlmostEqual(s, 399.4, delta=CYCLE)


if __name__ == "__main__":
    unittest.main()
