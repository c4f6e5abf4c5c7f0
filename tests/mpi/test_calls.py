#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Report of `weft exec` on the calls of an MPI program: counts, bytes, times,
messages from rank to rank, the timeline, two machines side by side.

    test_calls.py WEFT ROOT TIMES        tests/mpi/times
"""
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

TIMES = sys.argv.pop(3)
import mpilib  # noqa: E402
from weftlib import WEFT  # noqa: E402

ROUNDS, SIZE = 5, 8


def weft(*args, status=0):
    p = subprocess.run([WEFT, *args], capture_output=True, text=True,
                       timeout=60, env=mpilib.ENV)
    if p.returncode != status:
        raise mpilib.Failed([WEFT, *args], p)
    return p


def pingpong(*args):
    return weft("exec", *args, "-n", "2", "--", TIMES, "pingpong", str(SIZE),
                str(ROUNDS))


def fs(us):
    return int(Fraction(us) * 10**9)


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.trace, cls.db, cls.two = [
            os.path.join(cls.dir.name, f) for f in ("t.json", "a.db", "b.db")]
        p = pingpong("--fabric", "exec/extoll-pair", "--trace", cls.trace,
                     "--format", "json", "--out", cls.db)
        cls.said = p.stderr
        program, cls.json = p.stdout.split("{", 1)
        cls.halves = [Fraction(h) for h in
                      re.findall(r"half ([0-9.]+) ns", program)]
        cls.json = json.loads("{" + cls.json)
        cls.pair = pingpong("--fabric", "exec/extoll-pair", "--fabric",
                            "exec/forth-pair", "--out", cls.two)
        with open(cls.trace) as f:
            cls.events = json.load(f, parse_float=Fraction)["traceEvents"]

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    def call(self, rank, name):
        found = [c for c in self.json["calls"]
                 if c["rank"] == rank and c["call"] == name]
        self.assertEqual(len(found), 1, name)
        return found[0]

    def slices(self, rank):
        track = [e for e in self.events if e["name"] == "thread_name" and
                 e["args"]["name"] == "rank %d" % rank]
        self.assertEqual(len(track), 1)
        found = [(fs(e["ts"]), fs(e["ts"]) + fs(e["dur"]), e["name"])
                 for e in self.events if e["ph"] == "X" and
                 (e["pid"], e["tid"]) == (track[0]["pid"], track[0]["tid"])]
        with sqlite3.connect(self.db) as d:
            start, over = d.execute("SELECT start_fs,over_fs FROM ranks WHERE "
                                    "rank=?", (rank,)).fetchone()
        self.assertGreater(over, start)
        for from_, to, name in found:  # only the measured part
            self.assertTrue(start <= from_ <= to <= over, name)
        return found

    def test_calls_and_bytes_are_counted_by_rank(self):
        for rank in (0, 1):
            for name, size in (("MPI_Send", SIZE), ("fi_tsend", SIZE),
                               ("fi_trecv", SIZE), ("MPI_Recv", 0),
                               ("fi_cq_read", 0)):
                c = self.call(rank, name)
                self.assertEqual((c["calls"], c["bytes"]),
                                 (ROUNDS, ROUNDS * size), name)
        with sqlite3.connect(self.db) as d:
            rows = d.execute("SELECT rank,name,calls,bytes,time_fs,max_fs "
                             "FROM calls ORDER BY rank,name").fetchall()
        self.assertEqual(rows, [tuple(c[k] for k in (
            "rank", "call", "calls", "bytes", "time_fs", "max_fs"))
            for c in self.json["calls"]])

    def test_times_are_those_of_the_program(self):
        """Between its clock calls rank 0 is in MPI_Send and MPI_Recv."""
        inside = sum(self.call(0, c)["time_fs"]
                     for c in ("MPI_Send", "MPI_Recv"))
        seen = int(sum(self.halves) * 2 * 10**6)
        self.assertEqual(len(self.halves), ROUNDS)
        self.assertGreaterEqual(seen, inside)
        self.assertLessEqual(seen - inside, ROUNDS * 2 * 10**6)  # the clock

    def test_software_time_is_that_of_the_calls(self):
        """100 ns for each call of libfabric, 1 ns for each look at the clock;
        the barrier of MPI_Finalize is six calls more."""
        calls = sum(c["calls"] for c in self.json["calls"]
                    if c["call"].startswith("fi_"))
        self.assertEqual(calls, 2 * 3 * ROUNDS)
        self.assertAlmostEqual(self.json["metrics"]["exec.software"],
                               0.1 * (calls + 6) + 0.001 * 2 * ROUNDS,
                               places=6)
        self.assertIn("(100ns a call)", self.said)

    def test_messages_are_counted_from_rank_to_rank(self):
        flows = {(w["src"], w["dst"]): w for w in self.json["flows"]}
        self.assertEqual(sorted(flows), [(0, 1), (1, 0)])
        for w in flows.values():
            self.assertEqual(w["messages"], ROUNDS)
            self.assertGreaterEqual(w["bytes"], ROUNDS * SIZE)
        self.assertRegex(self.said, r"from rank 0 +- +%d, %d" % (
            ROUNDS, flows[0, 1]["bytes"]))

    def test_slices_are_the_calls(self):
        for rank in (0, 1):
            all_of = self.slices(rank)
            for name in ("MPI_Send", "MPI_Recv", "fi_tsend", "fi_cq_read"):
                long = [b - a for a, b, n in all_of if n == name]
                c = self.call(rank, name)
                self.assertEqual(
                    (len(long), sum(long), max(long)),
                    (c["calls"], c["time_fs"], c["max_fs"]), name)

    def test_slices_of_libfabric_lie_inside_those_of_mpi(self):
        for rank in (0, 1):
            outer = sorted(s for s in self.slices(rank)
                           if s[2].startswith("MPI_"))
            for a, b in zip(outer, outer[1:]):
                self.assertLessEqual(a[1], b[0])
            for a, b, name in self.slices(rank):
                if name.startswith("fi_"):
                    self.assertEqual(sum(x <= a and b <= y
                                         for x, y, _ in outer), 1, name)

    def test_stages_lie_under_the_call_that_waits(self):
        """Each MPI_Recv of rank 0 has a message on both nodes' NICs."""
        tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in self.events
                  if e["name"] == "thread_name"}
        stages = [(fs(e["ts"]), fs(e["ts"]) + fs(e["dur"]),
                   tracks[e["pid"], e["tid"]].split(".")[0])
                  for e in self.events if e["ph"] == "X" and
                  ".messages" in tracks[e["pid"], e["tid"]]]
        waits = [s for s in self.slices(0) if s[2] == "MPI_Recv"]
        self.assertEqual(len(waits), ROUNDS)
        for a, b, _ in waits:
            self.assertLessEqual({"n0", "n1"}, {n for x, y, n in stages
                                                if a <= x and y <= b})

    def test_second_fabric_is_compared_with_the_first(self):
        with sqlite3.connect(self.two) as d:
            rows = d.execute("SELECT run,rank,name,calls,bytes,time_fs,max_fs "
                             "FROM calls ORDER BY run,rank,name").fetchall()
            points = [p for p, in d.execute("SELECT point FROM runs")]
        self.assertEqual(points, ["fabric=exec/extoll-pair",
                                  "fabric=exec/forth-pair"])
        with sqlite3.connect(self.db) as d:
            once = d.execute("SELECT 1,rank,name,calls,bytes,time_fs,max_fs "
                             "FROM calls ORDER BY rank,name").fetchall()
        self.assertEqual([r for r in rows if r[0] == 1], once)
        a, b = [sum(r[5] for r in rows if r[0] == run and r[2] == "MPI_Recv")
                for run in (1, 2)]
        line = re.search(r"^MPI_Recv +\S+ us +\S+ us +([0-9.]+)$",
                         self.pair.stderr, re.M)
        self.assertAlmostEqual(float(line[1]), b / a, delta=0.001)
        self.assertGreater(b, a)

    def test_page_shows_ranks_flows_and_calls(self):
        page = os.path.join(self.dir.name, "p.html")
        p = subprocess.run([WEFT, "report", self.two, "--out", page],
                           capture_output=True, text=True)
        if "built without the page" in p.stderr:
            self.skipTest("no page in this build")
        with open(page) as f:
            data = re.search(r'<script[^>]*id="?data"?[^>]*>(.*?)</script>',
                             f.read(), re.S)[1]
        runs = json.loads(data)["files"][0]["runs"]
        self.assertEqual([len(r["ranks"]) for r in runs], [2, 2])
        self.assertEqual([[f[:3] for f in r["flows"]] for r in runs],
                         2 * [[[0, 1, ROUNDS], [1, 0, ROUNDS]]])
        self.assertEqual({c["name"] for c in runs[0]["calls"]},
                         {c["call"] for c in self.json["calls"]})

    def test_one_trace_is_of_one_machine(self):
        p = weft("exec", "--fabric", "exec/extoll-pair", "--fabric",
                 "exec/forth-pair", "--trace", self.trace + "x", "--", "true",
                 status=2)
        self.assertIn("one --fabric", p.stderr)


if __name__ == "__main__":
    unittest.main()
