#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HVIA-GE through the command line: the sums of hvia.md 7.1 to 7.5 against runs
with the parameters of the specification and with others, and all published
numbers of section 8."""
import json
import sys
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import execute, points

SIZES = [4, 1024, 1472, 4096, 65536]
T = 1000 / 66  # ns
EDGES = 4 * T  # waits for edges of the bus clock, a turn of the poll


def latency(n, cycles=0, ns=0, start=266, gap=True):
    """7.2: cycles and ns more than in 7.1, all on the path of a frame."""
    frames = -(-n // 1472)
    last = n - (frames - 1) * 1472
    first = min(n, 1472)

    def beats(k):
        return -(-k // 8) - 1

    def wire(k):
        return (8 + max(60, 42 + k) + 4) * 8

    g = 36 * T + start
    interval = wire(1472) + 96 + (g if gap else 0)
    return (900 + 157 * T + beats(first) * T + g + (frames - 1) * interval +
            wire(last) + 1078 + 34 * T + 65 * T + beats(last) * T + 63 * T +
            cycles * T + ns)


def run(name, n, *sets):
    return points("hvia/" + name, "sweep=none", "workload.count=2",
                  "workload.size=%u" % n, *sets)[0]


class Sums(unittest.TestCase):
    def near(self, sets, name="latency", **more):
        for n in SIZES:
            r = run(name, n, *sets)
            want = latency(n, **more)
            self.assertGreaterEqual(r["n0.prog0.half_rtt"], want - 10, n)
            self.assertLess(r["n0.prog0.half_rtt"], want + EDGES, n)

    def test_latency_is_the_specified_sum(self):
        """7.2"""
        self.near([])

    def test_missing_prefetch_adds_67_cycles(self):
        """7.4, T-23: at any size"""
        self.near(["hvia.nic.prefetch=0"], cycles=67)

    def test_table_in_the_host_adds_two_translations(self):
        """7.3, T-41: 58 cycles each"""
        self.near(["hvia.nic.att_host=yes"], cycles=2 * 58)

    def test_fetching_ahead_closes_the_gap(self):
        """T-40"""
        self.near(["hvia.nic.tx_outstanding=2"], gap=False)

    def test_rdma_saves_the_completion(self):
        """7.4: no completion, but a translation; and the poll of a byte"""
        self.near([], name="rdma", cycles=30 - 63)

    def test_blocking_adds_5500_ns(self):
        """7.5"""
        self.near([], name="blocking", ns=5500)

    def test_sums_follow_other_parameters(self):
        self.near(["hvia.nic.t_scan=11", "hvia.nic.t_check=9",
                   "hvia.nic.t_l2=20", "hvia.nic.t_rxcheck=40",
                   "hvia.nic.mac_receive=1us", "eth.cable.length=90"],
                  cycles=7 + 5 + 2 * 13 + 28, ns=332 + 440)

    def test_card_and_bus_have_clocks_of_their_own(self):
        """The card's clock and the bus's are two things (1): 213 cycles of a
        message of 4 bytes are the card's, tenures are the bus's."""
        def at(*sets):
            return run("latency", 4, *sets)["n0.prog0.half_rtt"]
        both = at()
        slow = at("hvia.nic.clock=33MHz")
        self.assertAlmostEqual(slow - both, 213 * T, delta=EDGES)
        fast = at("hvia.nic.clock=132MHz")
        self.assertAlmostEqual(both - fast, 213 * T / 2, delta=EDGES)
        # two reads (request, retries, data) and two writes at 33 MHz
        bus = at("bus.pci.clock=33MHz")
        self.assertGreater(bus - both, (16 + 15 + 8 + 8) * T)
        self.assertLess(bus - both, (43 + 36 + 8 + 8) * T + EDGES)

    def test_start_of_the_mac_lies_between_all_frames(self):
        """7.2"""
        self.near(["hvia.nic.mac_start=700ns"], start=700)

    def test_long_frames_run_at_their_interval(self):
        """MTU 9000"""
        r = run("latency", 1048576, "hvia.nic.mtu=9014")
        frame = (8 + 9014 + 4 + 12) * 8 + 36 * T + 266
        self.assertAlmostEqual(r["n0.prog0.bandwidth"],
                               (9014 - 42) * 1000 / frame, delta=0.7)


class Pictures(unittest.TestCase):
    """Experiments that are curves draw them."""
    SVG = "{http://www.w3.org/2000/svg}"

    def lines(self, name, *args):
        r = execute("run", "hvia/" + name, "--format", "svg", *args)
        self.assertEqual(r.returncode, 0, r.stderr)
        root = xml.etree.ElementTree.fromstring(r.stdout)
        curves = [len(e.get("points").split())
                  for e in root.findall(self.SVG + "polyline")]
        names = [e.text for e in root.findall(self.SVG + "text")]
        return curves, names

    def test_one_axis_draws_each_shown_metric(self):
        self.assertEqual(self.lines("latency")[0], [14])
        curves, names = self.lines("parts")
        self.assertEqual(curves, [8] * 5)
        for part in "post", "sender", "wire", "receiver", "completion":
            self.assertIn(part, names)

    def test_list_of_points_draws_each_stack(self):
        for name, n, *args in (["stacks", 9],
                               ["stacks", 9, "--show", "n0.prog0.bandwidth"],
                               ["utilisation", 10]):
            curves, names = self.lines(name, *args)
            self.assertEqual(curves, [n] * 3)
            for stack in "vipl", "mvia", "tcpip":
                self.assertIn(stack + ".pingpong", names)

    def test_terminal_shows_numbers_before_the_picture(self):
        out = execute("run", "hvia/latency").stdout
        self.assertLess(out.index("workload.size=1048576"),
                        out.index("n0.prog0.half_rtt [ns] over size"))
        self.assertIn("a half_rtt\n", out)


class Published(unittest.TestCase):
    def test_every_published_row_holds(self):
        """Section 8: every row is there, every enforced one holds."""
        r = execute("reproduce", "hvia", "--format", "json")
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        rows = json.loads(r.stdout)
        rows = rows["rows"] if isinstance(rows, dict) else rows
        ids = {row["id"][:5] for row in rows}
        self.assertEqual(ids, {"HV-%02u" % i for i in range(1, 22)})


if __name__ == "__main__":
    unittest.main()
