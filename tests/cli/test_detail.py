#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a network of routers with `detail: yes`: they follow from the
traffic where that can be calculated, and a run without them is the same.

    test_detail.py WEFT [unittest options]
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv[1])
RING = """
traffic: { type: net.source, count: 8, load: 0.25, flits: 4, %s }
fabric: { type: routed, topology: torus, dims: [8], net: { %s } }
run: { until: 1ms }
"""
WINDOW = "warmup: 400, measure: 800, detail: yes"
NAMES = ["path", "link_busy", "end_busy", "share_least", "share_most",
         "fairness"]


def run(text, *args):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(text)
        f.flush()
        done = subprocess.run([WEFT, "run", f.name, "--quiet", "--format",
                               "json", *args], text=True, capture_output=True,
                              timeout=60)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class Detail(unittest.TestCase):
    def check(self, text, **expected):
        m = run(text)["metrics"]
        for name, value in expected.items():
            self.assertAlmostEqual(m["net." + name], value, 2, name)

    def test_even_traffic_to_the_next_router(self):
        # one cable of the two directions at each router, two routers a packet
        self.check(RING % ("pattern: neighbour, arrivals: periodic", WINDOW),
                   path=2, link_busy=0.125, end_busy=0.25, share_least=1,
                   share_most=1, fairness=1)

    def test_packets_to_the_own_router_use_no_cable(self):
        text = RING % ("pattern: neighbour, arrivals: periodic", WINDOW)
        self.check(text.replace("dims: [8]", "dims: [4], ends: 2")
                   .replace("neighbour", "fixed, dest: 7"), end_busy=0.125)

    def test_a_second_window_begins_anew(self):
        text = RING % ("pattern: fixed, dest: 0", WINDOW)
        r = run(text, "--set", "traffic.load=0.2")
        self.assertIn("net.window", r["manifest"])
        m = r["metrics"]
        self.assertAlmostEqual(m["net.end_busy"], 1 / 8, 2)
        self.assertAlmostEqual(m["net.accepted"], m["net.end_busy"] * 8 / 8, 2)
        self.assertLess(m["net.share_least"], m["net.share_most"])
        self.assertLess(m["net.fairness"], 1)

    def test_detail_changes_nothing_else(self):
        text = RING % ("pattern: uniform", WINDOW)
        much, less = run(text), run(text.replace("yes", "no"))
        for name in NAMES:
            self.assertNotIn("net." + name, less["metrics"])
            del much["metrics"]["net." + name]
        for part in ("metrics", "counters", "histograms"):
            self.assertEqual(much[part], less[part])


if __name__ == "__main__":
    del sys.argv[1]
    unittest.main()
