#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sweep that finds saturation by itself, and results that are written as
they come.

    test_sweep.py WEFT [unittest options]
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WEFT = os.path.abspath(sys.argv[1])
# With sanitizers, which look at the code (tests/cli/meson.build).
SLOW = "WEFT_SLOW" in os.environ

RING = """
payload: none
traffic: {type: extoll.gen, preset: plain, count: 8, load: 0.1, flits: 8}
fabric:
  type: torus
  dims: [8]
  routing: table
  tie: balanced
  switch: {preset: plain}
  net: {warmup: 500, measure: 4000}
run: {until: 1ms}
record: {counters: net.*}
"""

TORUS = RING.replace("count: 8", "count: 64").replace("[8]", "[8, 8]").replace(
    "measure: 4000", "measure: 3000").replace("warmup: 500", "warmup: 1000")
# A shell in the background ignores it, and so would programs started here.
signal.signal(signal.SIGINT, signal.default_int_handler)


def weft(*args, status=0, text=RING):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(text)
        f.flush()
        p = subprocess.run([WEFT, "run", f.name, *args], text=True,
                           capture_output=True, timeout=120)
    if p.returncode != status:
        raise AssertionError(f"{args}: status {p.returncode}\n{p.stdout[:500]}"
                             f"{p.stderr[:2000]}")
    return p


class Search(unittest.TestCase):
    def check_curve(self, r):
        curve, runs = r["curve"], r["runs"]
        self.assertEqual(curve["state"], "saturated")
        self.assertLess(curve["saturated_from"] - curve["steady_to"], 0.04)
        # Uniform on a ring of 8: two hops each, four links' worth per node.
        self.assertTrue(0.7 < curve["steady_to"] < 1, curve)
        self.assertEqual(curve["offered"], sorted(curve["offered"]))
        self.assertLessEqual(curve["steady_to"], curve["accepted_most"])
        self.assertEqual(len(curve["latency"]), len(runs))
        steady = [x["metrics"]["net.latency"] for x in runs
                  if x["manifest"]["net.state"] == "steady"]
        self.assertEqual(steady, sorted(steady))
        self.assertGreater(len(steady), 7)

    def test_search_finds_saturation_of_a_ring(self):
        text = RING + "sweep: auto\n"
        r = json.loads(weft("--format", "json", text=text).stdout)
        self.check_curve(r)
        again = json.loads(weft("--format", "json", "--sweep-load").stdout)
        self.assertEqual(r["curve"], again["curve"])

    def test_table_draws_the_curve_of_the_search(self):
        out = weft("--sweep-load").stdout
        self.assertIn("saturated from a load between", out)
        self.assertRegex(out, r"(?m)^ +[0-9.]+ \+ .*\*")
        self.assertRegex(out, r"traffic.load=0.05 .* steady")

    @unittest.skipIf(SLOW, "numbers, which sanitizers do not change")
    def test_no_steady_load_is_above_what_arrives(self):
        # 64 sources and 3000 cycles: the load is known to 1 %.
        text = TORUS + "sweep: auto\n"
        r = json.loads(weft("--format", "json", text=text).stdout)
        curve = r["curve"]
        self.assertEqual(curve["state"], "saturated")
        for x in r["runs"]:
            m = x["metrics"]
            if x["manifest"]["net.state"] == "steady":
                self.assertGreater(m["net.accepted"],
                                   0.98 * m["net.offered"], x["point"])
        steady = [x["metrics"]["net.accepted"] for x in r["runs"]
                  if x["manifest"]["net.state"] == "steady"]
        self.assertLessEqual(curve["steady_to"], max(steady))
        says = weft(text=text).stdout
        self.assertIn(f"the network takes {curve['steady_to']:.4g};", says)

    def test_search_stays_within_its_bounds(self):
        text = RING + "sweep: {auto: traffic.load, from: 0.2, to: 0.4}\n"
        r = json.loads(weft("--format", "json", text=text).stdout)
        self.assertEqual([x["point"] for x in r["runs"]],
                         ["traffic.load=0.2", "traffic.load=0.3",
                          "traffic.load=0.4"])
        self.assertIn("steady at all loads", weft(text=text).stdout)

    def test_each_combination_has_its_own_search(self):
        axes = "traffic.size: [8, 64], traffic.pattern: [uniform, tornado]"
        text = RING + ("sweep: {auto: traffic.load, from: 0.1, step: 0.3, "
                       "within: 0.1, %s}\n" % axes)
        r = json.loads(weft("--format", "json", text=text).stdout)
        names = [f"traffic.size={s} traffic.pattern={p}"
                 for s in (8, 64) for p in ("uniform", "tornado")]
        self.assertEqual([c["point"] for c in r["curves"]], names)
        self.assertNotIn("curve", r)
        at = 0
        for name, curve in zip(names, r["curves"]):
            points = [x["point"] for x in r["runs"]]
            part = points[at:at + len(curve["offered"])]
            at += len(part)
            loads = [float(p.split("=")[-1]) for p in part]
            self.assertEqual(part, [f"{name} traffic.load={l:.4g}"
                                    for l in sorted(loads)])
            size, pattern = name.split()
            alone = RING + ("sweep: {auto: traffic.load, from: 0.1, step: 0.3, "
                            "within: 0.1}\n")
            same = weft("--format", "json", "--set", size, "--set", pattern,
                        text=alone).stdout
            del curve["point"]
            self.assertEqual(json.loads(same)["curve"], curve)
        self.assertEqual(at, len(r["runs"]))
        out = weft(text=text).stdout
        for letter, name in zip("abcd", names):
            self.assertRegex(out, rf"(?m)^{letter}  {name} +[0-9.]+ +0\.")
        self.assertLess(out.count("\n"), 40)
        r = json.loads(weft("--format", "json", "--set", "traffic.load=0.2",
                            text=text).stdout)
        self.assertEqual([x["point"] for x in r["runs"]], names)
        r = json.loads(weft("--format", "json", "--set", "traffic.size=8",
                            text=text).stdout)
        self.assertEqual([c["point"] for c in r["curves"]],
                         ["traffic.pattern=uniform", "traffic.pattern=tornado"])

    def test_axes_of_a_search_are_checked_before_it_begins(self):
        for axes, expected in (
                ("traffic.load: [0.1, 0.2]", "leave one out"),
                ("traffic.pattern: []", "no values to sweep"),
                ("traffic.pattern: [uniform, univorm]", "uniform"),
                ("traffic.patern: [uniform]", "did you mean 'pattern'")):
            err = weft(status=2, text=RING +
                       "sweep: {auto: traffic.load, %s}\n" % axes).stderr
            self.assertIn(expected, err)

    def test_fixed_load_needs_no_search(self):
        r = json.loads(weft("--format", "json", "--sweep-load", "--set",
                            "traffic.load=0.3").stdout)
        self.assertNotIn("curve", r)
        self.assertAlmostEqual(r["metrics"]["net.offered"], 0.3, 1)

    def test_misspelt_search_is_refused_with_a_remedy(self):
        err = weft(status=2, text=RING + "sweep: all\n").stderr
        self.assertIn("or auto", err)
        err = weft(status=2, text=RING + "sweep: {auto: x, form: 1}\n").stderr
        self.assertIn("did you mean 'from'", err)

    def test_search_without_traffic_or_network_is_refused(self):
        err = weft(status=2, text="sweep: auto\nname: x\n").stderr
        self.assertIn("there is no 'traffic' here", err)
        text = RING.replace("type: torus", "type: switch")
        self.assertNotEqual(text, RING)
        err = weft("--sweep-load", status=2, text=text).stderr
        self.assertIn("needs a direct network", err)

    def test_deadlock_ends_the_search(self):
        text = RING.replace("tie: balanced", "dateline: no").replace(
            "measure: 4000", "measure: 400000").replace("1ms", "10ms")
        p = weft("--sweep-load", "--format", "json", status=1, text=text)
        r = json.loads(p.stdout)
        self.assertEqual(r["curve"]["state"], "deadlock")
        self.assertIn("(8 inputs)", p.stderr)


class Curves(unittest.TestCase):
    """Which line is best depends on what is measured."""
    AXES = ("sweep: {traffic.flits: [4, 8], traffic.load: [0.1, 0.2, 0.4]}\n")

    def show(self, metric):
        text = RING.replace("record: {", f"record: {{show: {metric}, ")
        return weft(text=text + self.AXES).stdout

    def test_more_that_arrives_is_better(self):
        out = self.show("net.accepted")
        self.assertRegex(out, r"(?m) best$")
        rows = re.findall(r"(?m)^ *0\.[124] +([0-9.]+) +([0-9.]+) +(.*)$", out)
        self.assertEqual(len(rows), 3, out)
        for row in rows:
            better = max((0, 1), key=lambda k: float(row[k]))
            self.assertIn("48"[better], row[2], out)

    def test_less_time_is_better(self):
        out = self.show("net.latency")
        self.assertRegex(out, r"best: .*4")
        self.assertNotIn("crossing", out)

    def test_share_of_time_has_no_best(self):
        out = self.show("net.link_busy")
        self.assertNotIn("best", out)
        self.assertNotIn("better", out)
        self.assertNotIn("crossing", out)


class Follow(unittest.TestCase):
    def lines(self, path):
        with open(path, encoding="utf-8") as f:
            return [json.loads(x) for x in f]

    def test_followed_points_are_those_of_the_result(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "f")
            text = RING + "sweep: {traffic.load: [0.1, 0.2, 0.3]}\n"
            for jobs in "1", "2":
                p = weft("--format", "json", "--follow", path, "--jobs", jobs,
                         text=text)
                want = json.loads(p.stdout)["runs"]
                got = sorted(self.lines(path), key=lambda x: x["point"])
                self.assertEqual(got, want)

    def test_ended_sweep_leaves_a_partial_last_point(self):
        with tempfile.TemporaryDirectory() as d:
            path, exp = os.path.join(d, "f"), os.path.join(d, "x.yaml")
            with open(exp, "w", encoding="utf-8") as f:
                f.write(RING.replace("measure: 4000", "measure: 0").replace(
                    "1ms", "1s") + "sweep: {traffic.load: [0, 0.2]}\n")
            p = subprocess.Popen([WEFT, "run", exp, "--follow", path],
                                 stdout=subprocess.PIPE, text=True)
            while not os.path.exists(path) or not os.path.getsize(path):
                time.sleep(0.05)
            time.sleep(0.3)
            p.send_signal(signal.SIGINT)
            out, _ = p.communicate(timeout=60)
            self.assertEqual(p.returncode, 128 + signal.SIGINT)
            self.assertIn("PARTIAL", out)
            got = self.lines(path)
            self.assertEqual([x["point"] for x in got],
                             ["traffic.load=0", "traffic.load=0.2"])
            self.assertIn("partial", got[1]["manifest"])

    def test_unwritable_file_is_named(self):
        self.assertIn("/nonexistent/f: cannot write",
                      weft("--follow", "/nonexistent/f", status=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
