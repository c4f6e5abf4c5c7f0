#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Host Port's ways to send as curves: what is printed follows from the
points; parameters move the results as sections 3.5, 8, 9 and 11 of hostport.md
say; an ATOLL mesh in deadlock."""
import json
import math
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True  # the source tree stays clean

WEFT = sys.argv[1]
LATENCY = "n0.prog1.latency"


def weft(*args, code=0):
    p = subprocess.run([WEFT, "run", *args], capture_output=True, text=True,
                       timeout=60)
    if p.returncode != code:
        raise AssertionError(f"{args}: exit {p.returncode}\n{p.stderr}")
    return p


def sets(values):
    return [a for k, v in values.items() for a in ("--set", f"{k}={v}")]


def latency(experiment="hostport/ways", way="put", size=8, **more):
    values = {"workload.1.way": way, "workload.1.size": size}
    values.update({k.replace("__", "."): v for k, v in more.items()})
    out = weft(experiment, "--format", "json", *sets(values)).stdout
    return json.loads(out)["metrics"][LATENCY]


class Curves(unittest.TestCase):
    def test_printed_crossings_are_those_of_the_lines(self):
        """Each printed crossing lies where the straight lines of the
        logarithmic picture cross; none is missing."""
        runs = json.loads(weft("hostport/ways", "--format", "json").stdout)
        y = {}
        for r in runs["runs"]:
            way, size = re.findall(r"=(\S+)", r["point"])
            y.setdefault(way, {})[int(size)] = r["metrics"][LATENCY]
        want, ways = set(), list(y)
        for i, a in enumerate(ways):
            for b in ways[i + 1:]:
                sizes = sorted(y[a])
                for s, t in zip(sizes, sizes[1:]):
                    g = [math.log(y[a][k] / y[b][k]) for k in (s, t)]
                    if (g[0] > 0) == (g[1] > 0):
                        continue
                    x = s * (t / s) ** (g[0] / (g[0] - g[1]))
                    best, other = (b, a) if g[1] > 0 else (a, b)
                    want.add((best, other, f"{x:.3g}", str(s), str(t)))
        text = weft("hostport/ways").stdout
        got = set(re.findall(r"^(\S+) better than (\S+) +(\S+) +(\d+) +(\d+)$",
                             text, re.M))
        self.assertEqual(got, want)
        self.assertTrue(want)
        self.assertRegex(text, r"\nbest: ultra, from size \S+ put\n")

    def test_svg_draws_a_line_for_each_way(self):
        root = xml.fromstring(weft("hostport/ways-htx", "--format",
                                   "svg").stdout)
        lines = root.findall("{http://www.w3.org/2000/svg}polyline")
        self.assertEqual(len(lines), 2 * 7)
        for line in lines:
            self.assertEqual(len(line.get("points").split()), 16)


class Moves(unittest.TestCase):
    def test_tagged_store_saves_a_read(self):
        """10.2: at least the 320 ns of a read round trip."""
        for size in (8, 40):
            a, b = (latency("hostport/tagged-ways", "fast_send", size,
                            nodes__bus__preset="htx100",
                            workload__1__issue=i)
                    for i in ("trigger", "tagged"))
            self.assertGreater(a - b, 320)

    def test_segments_cost_time_and_lose_nothing(self):
        """3.5: segments of the library; all bytes arrive, at a price."""
        for way, mtu in (("send", 64), ("put", 64), ("get", 64),
                         ("posted", 512)):
            whole = latency(way=way, size=8192)
            many = latency(way=way, size=8192, workload__1__mtu=mtu)
            self.assertGreater(many, whole)
            self.assertEqual(latency(way=way, size=8192,
                                     workload__1__mtu=8192), whole)
        latency(way="send", size=8192, workload__1__mtu=64,
                workload__1__ordered="no")

    def test_replies_share_the_port_of_requests(self):
        """8.5: with n_np = 1."""
        for n, of in ((1, "np0"), (2, "np1")):
            for way in ("put", "get", "fast_send"):
                latency(way=way, size=4096, **{"hostport.nic.n_np": n})
            out = weft("hostport/ways", "--format", "json", *sets({
                "sweep": "none", "workload.1.way": "get",
                "workload.1.size": 4096, "hostport.nic.n_np": n,
                "record.counters": "all"})).stdout
            counters = json.loads(out)["counters"]
            for port in "np0", "np1":
                self.assertEqual(counters[f"n1.nic.{port}.frames"] > 0,
                                 port == of)

    def test_one_process_needs_one_issue(self):
        """SB7"""
        a = latency(way="fast_send", size=40)
        b = latency(way="fast_send", size=40,
                    **{"hostport.nic.issue_width": 1})
        self.assertEqual(a, b)

    def test_slower_completer_adds_nine_cycles(self):
        """11.5: ultra_cpl_latency 21 instead of 12, 9 cycles of 10 ns."""
        a = latency(way="ultra")
        b = latency(way="ultra", **{"hostport.nic.ultra_cpl_latency": 21})
        self.assertAlmostEqual(b - a, 90, delta=10)


class Deadlock(unittest.TestCase):
    def test_deadlock_ends_by_sending_again(self):
        out = weft("hostport/atoll-deadlock").stdout
        self.assertRegex(out, r"n0.prog0.sent_again +1 ")

    def test_deadlock_names_every_port(self):
        p = weft("hostport/atoll-deadlock", "--set", "workload.0.recover=no",
                 code=1)
        for node, out, waits in ((0, 4, 6), (1, 6, 5), (2, 7, 4), (3, 5, 7)):
            self.assertIn(f"n{node}.prog0: deadlock: OutPort {out} is granted "
                          f"to InPort 1 and stopped, InPort {waits} waits",
                          p.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
