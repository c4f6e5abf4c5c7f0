#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Watching changes nothing: a run with --sample, --out, --capture, --trace,
--waves, or with all of them, has the results of the run without, with and
without faults, cuts and resynchronisation.

    test_watching.py WEFT [unittest options]      a sample, in seconds
    test_watching.py WEFT --all [PATTERN...]      all shipped experiments

Shipped experiments are run at their first point, shortened as in tests/golden.  A
simulated run is the same run to the byte, so that "the same" means: all
metrics, counters, histograms and failures, and the series that are not samples.
"""
import fnmatch
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))

import golden

WEFT = os.path.abspath(sys.argv[1])
WAYS = {
    "sample": ["--sample", "7us"],
    "sample often": ["--sample", "130ns"],
    "out": ["--out", "x.db"],
    "capture": ["--capture", "all", "--capture-file", "x.pcapng"],
    "trace": ["--trace", "x.json"],
    "waves": ["--waves", "x.vcd"],
}
# The short form: each of them alone is for --all.
FEW = ("sample often", "all")
WAYS["all"] = [x for w in WAYS if w != "sample often" for x in WAYS[w]]
NO_LINE = "can be written down"  # a run without a line: nothing to capture

FORTH = """
traffic: { count: 4, type: forth.gen, dests: 4, load: 0.5, packets: 100,
  size: 24, size_max: 512, resync: 4096, frame: packed }
fabric:
  type: switch
  switch: { type: forth.xbar, ports: 4, resync: 4096, frame: packed }
  link: { type: forth.link }
faults:
  - { on: "t*.link", type: fault.bits, rate: 1e-5 }
  - { on: "s0.port*", type: fault.drop, packets: 0.01, credits: 0.05 }
  - { on: "t2.link", type: fault.cut, at: 50us, length: 10us }
run: { until: 2ms }
"""
EXTOLL = """
traffic: { type: extoll.gen, count: 8, load: 0.4, packets: 60, verify: yes,
  sizes: "8:60,64:30,256:8,4096:2" }
fabric: { type: torus, dims: [2, 2, 2] }
faults:
  - { on: "s*.lp*", type: fault.bits, rate: 1e-5 }
  - { on: s0.lp0, type: fault.cut, at: 5us, length: 2us }
run: { until: 10ms }
"""
# Links that are brought up at the start, without a fault on them.
TRAINED = """
traffic: { type: extoll.gen, count: 3, load: 0.2, packets: 40 }
fabric: { type: torus, dims: [3], switch: { train: yes } }
run: { until: 1ms }
"""
PC = """
nodes:
  count: 2
  host: { type: host.pc, preset: %s }
  bus: { type: %s }
  nic: { type: %s }
"""
ATOLL_FAULTS = PC % ("opteron", "bus.pcix", "atoll.nic, timeout: 2000") + """
fabric: { type: list, link: { type: link.cable, delay: 27.5ns },
  cables: [[n0.nic.link0, n1.nic.link1]] }
workload: { program: atoll.pingpong, count: 40, size: 512, mode: dma }
faults:
  - { on: "n*.nic.link*", type: fault.bits, target: body, rate: 1e-4 }
  - { on: n0.nic.link0, type: fault.cut, at: 50us, length: 5us }
"""
HVIA = PC % ("hvia", "bus.pci, preset: pci64-66", "hvia.nic") + """
fabric: { type: direct, link: { type: eth.cable } }
faults:
  - { type: fault.bits, on: "n*.nic.link", rate: 1e-6 }
  - { type: fault.bus, on: n0.nic.bus, at: 300us, length: 77123ps, every: 300us,
      hold: all }
workload: { program: ep.conformance, messages: 10, puts: 5, gets: 5,
  atomics: 5, use_irq: true }
record: { metrics: "n0.prog0.*" }
"""
# Held for times that are not a whole number of nanoseconds.
HELD = PC % ("opteron", "bus.pcix, clock: 133MHz", "forth.nic") + """
fabric: { type: direct, link: { type: forth.link } }
workload: { program: forth.pingpong, count: 300 }
faults: { on: "n*.nic.bus", type: fault.bus, at: 10123ps, length: 3333333ps,
  every: 20us, hold: all }
"""
TEXTS = {
    "forth faults": FORTH,
    "extoll faults": EXTOLL,
    "extoll training": TRAINED,
    "atoll faults": ATOLL_FAULTS,
    "hvia faults": HVIA,
    "bus faults": HELD,
}
# Shipped ones that are short, or can be made short, and that random machines
# (tests/random) do not resemble.
SHIPPED = [
    ["forth/credit-sync"], ["forth/multi-drop", "workload.0.rounds=1"],
    ["forth/fault-cut", "run.until=400us"],
    ["extoll/net-nics", "nodes.count=8", "fabric.dims=[2, 2, 2]"],
    ["hostport/atoll-deadlock"], ["hostport/trigger"], ["hvia/ep-loss"],
    ["coh/delivery"],
]


def run(folder, args):
    return subprocess.run([WEFT, "run", *args, "--format", "json", "--quiet"],
                          capture_output=True, text=True, timeout=3600,
                          cwd=folder)


def results(p):
    """All but what is there because of the watching."""
    d = json.loads(p.stdout)
    d["manifest"] = {k: v for k, v in d["manifest"].items()
                     if not k.startswith(("~capture", "record."))}
    d["series"] = [s for s in d["series"]
                   if not s["name"].startswith("sample.")]
    return p.returncode, d


def differences(a, b, path=""):
    if not isinstance(a, dict) or not isinstance(b, dict):
        return [] if a == b else [f"{path}: {str(a)[:60]} and {str(b)[:60]}"]
    return [x for k in sorted(a.keys() | b.keys())
            for x in differences(a.get(k), b.get(k), f"{path} {k}")]


def compare(args, ways):
    """Returns the differences, one line for each."""
    out = []
    with tempfile.TemporaryDirectory() as d:
        p = run(d, args)
        if p.returncode not in (0, 1):
            return [f"{args}: {p.stderr}"]
        want = results(p)
        for w in ways:
            p = run(d, args + WAYS[w])
            if p.returncode == 2 and NO_LINE in p.stderr:
                continue
            if p.returncode not in (0, 1):
                out.append(f"{args} {w}: {p.returncode} {p.stderr}")
                continue
            got = results(p)
            if got != want:
                more = differences(want[1], got[1])
                out.append(f"{args} {w}: {want[0]} and {got[0]}, "
                           f"{len(more)} differ: " + "; ".join(more[:3]))
    return out


def shipped(name, *sets):
    sets = ["sweep=none", *sets]
    return [name] + [x for s in sets for x in ("--set", s)]


class Watching(unittest.TestCase):
    def check(self, args):
        differ = compare(args, FEW)
        if differ:
            self.fail("\n".join(differ))

    def text(self, name):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.yaml")
            with open(path, "w") as f:
                f.write("name: watched\n" + TEXTS[name])
            self.check([path])


def name_of(what):
    return "test_" + what.replace("/", "_").replace(" ", "_").replace(",", "")


for t in TEXTS:
    setattr(Watching, name_of(t) + "_is_the_run_that_is_not_watched",
            lambda self, t=t: self.text(t))
for s in SHIPPED:
    setattr(Watching, name_of(s[0]) + "_is_the_run_that_is_not_watched",
            lambda self, s=s: self.check(shipped(*s)))


JUMBO = """
name: jumbo
traffic: { type: eth.gen, count: 2, stations: 2, frames: 4, size: 9014,
  load: 0.5, at: 300ns }
fabric: { type: direct, link: { type: eth.cable } }
run: { until: 1ms }
"""


class Pictures(unittest.TestCase):
    """Lines and buses over time: a transfer is seen while it lasts."""

    def series(self, args, sample, *names):
        with tempfile.TemporaryDirectory() as d:
            p = run(d, args + ["--sample", sample])
        self.assertEqual(p.returncode, 0, p.stderr)
        r = json.loads(p.stdout)
        found = {s["name"]: s for s in r["series"]}
        for n in names:
            s = found["sample." + n]
            self.assertEqual(s["y"][-1], r["counters"][n])
            yield list(zip(s["x"], s["y"]))

    def test_a_line_is_in_use_as_long_as_its_frames_last(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.yaml")
            with open(path, "w") as f:
                f.write(JUMBO)
            busy, words = self.series([path], "1us", "t0.link.busy",
                                      "t0.link.words")
        frame, gap = (8 + 9014 + 4) * 8, 12 * 8
        for x, y in busy:
            t, want = x * 1000 - 300, 0
            for i in range(4):
                from_ = 2 * i * (frame + gap)
                want += min(max(t - from_, 0), frame)
            self.assertAlmostEqual(y, want, delta=1)
        for (_, y), (_, w) in zip(busy, words):
            self.assertAlmostEqual(y, w * 8, delta=8)

    def test_a_stored_run_shows_frames_while_they_last(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.yaml")
            with open(path, "w") as f:
                f.write(JUMBO)
            p = run(d, [path, "--out", "x.db"])
            self.assertEqual(p.returncode, 0, p.stderr)
            db = sqlite3.connect(os.path.join(d, "x.db"))
            ends = [x for x, in db.execute("SELECT end_us FROM intervals "
                                           "ORDER BY i")]
            busy, = db.execute("SELECT busy FROM ports "
                               "WHERE name = 't0.link'").fetchone()
            db.close()
        busy = json.loads(busy)
        for a, b, n in zip([0] + ends, ends, busy):
            self.assertLessEqual(n, (b - a) * 1000 + 1)
        self.assertEqual(sum(busy), 4 * (8 + 9014 + 4) * 8)

    def test_a_bus_moves_no_more_than_it_can(self):
        """66 MHz, 8 bytes a clock."""
        reads, writes, clocks = self.series(
            shipped("hvia/latency", "workload.0.size=16384",
                    "workload.0.count=2"), "500ns",
            "n0.bus.read_bytes", "n1.bus.write_bytes", "n0.bus.busy")
        for of, most in (reads, 528), (writes, 528), (clocks, 66):
            rates = [(b[1] - a[1]) / (b[0] - a[0])
                     for a, b in zip(of, of[1:-1])]
            self.assertLessEqual(max(rates), most + 2)  # rounded
            self.assertGreater(max(rates), most / 2)


def main_all(patterns):
    bad = n = 0
    for args in golden.shipped_runs():
        if not any(fnmatch.fnmatch(args[0], x) for x in patterns or ["*"]):
            continue
        n += 1
        args = args + ["--set", "sweep=none"]
        for line in compare(args, [w for w in WAYS if w != "sample often"]):
            bad += 1
            print(line, flush=True)
    print(f"{n} runs, {bad} differences")
    sys.exit(bad > 0)


if __name__ == "__main__":
    if sys.argv[2:3] == ["--all"]:
        main_all(sys.argv[3:])
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
