#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looking inside a run: `weft explain`, --trace, --waves.

    test_looking.py WEFT [unittest options]

Stages add up to what the programs measured, files are what their formats say
and what is in them fits together, and the run is the one without them.
"""
import collections
import fnmatch
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv[1])
# With sanitizers, which look at the code (tests/cli/meson.build).
SLOW = "WEFT_SLOW" in os.environ
# Programs that scripts/deps.sh unpacks there.
TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../build/tools/usr/bin")
# Stages without which the story of a message is not whole.
VELO = ["access on the bus", "synchroniser in", "HTAX", "crossbar",
        "network port, whole cell", "into memory"]
REQUEST = ["requester: lookups, check", "network port", "crossbar",
           "network port, whole cell", "completer: lookups, check",
           "DMA write: data", "into memory"]
TRIGGER = ["access on the bus", "Triggerpage", "CSB, context",
           "DMA read: data", "context", "decode", *REQUEST]
TAGGED = ["tagged store: context", "decode", *REQUEST]
# Time that an instruction of the Host Port adds, for any phases of the clocks.
WAYS = [
    ("fast_send", 8, ["requester: frame", "notification unit"]),
    ("send", 8, ["notification unit"]),
    ("send", 64, ["completer: place", "notification unit"]),
    ("posted", 64, ["completer: place", "notification unit"]),
    ("fast_put", 8, ["requester: frame", "completer: place"]),
    ("put", 8, ["completer: place"]),
    ("put_bytes", 8, ["requester: frame"]),
    *[(w, 8, ["responder: lookups, check", "notification unit"])
      for w in ("get", "fast_get", "faa", "cas")],
]


def hostport(name, way, size, issue):
    return (name, ["sweep=none", "workload.1.count=1",
                   f"workload.1.way={way}", f"workload.1.size={size}",
                   f"workload.1.issue={issue}"], "n0.prog1.latency")


# Shortest messages of each system, the measurement that they must be, stages.
FASTEST = [
    ("forth/pingpong", ["workload.count=5", "workload.size_max=24"],
     "n0.prog0.half_rtt_min",
     ["access on the bus", "reads the descriptor", "DMA read: data",
      "VOQ to link", "cable", "through the switch", "receives enough of it",
      "DMA write: data", "program looks"]),
    ("extoll/pingpong", ["workload.count=1"], "n0.prog0.half_rtt", VELO),
    ("extoll/pingpong-16", ["workload.count=1"], "n0.prog0.half_rtt", VELO),
    ("extoll/rma-latency", ["workload.count=1", "sweep=none"],
     "n0.prog0.half_rtt", VELO),
    ("hostport/ultra-pingpong", ["workload.count=20"], "*.latency_min",
     ["ULTRA requester: schedule, route, header", "crossbar",
      "ULTRA completer", "into memory"]),
    ("hostport/tagged-ultra", ["sweep=none", "workload.count=20",
                               "workload.conditional=yes",
                               "record.metrics=all"],
     "*.latency_min",
     ["ULTRA requester: schedule, route, header", "crossbar",
      "ULTRA completer", "into memory"]),
    *[(*hostport("hostport/ways", w, n, "trigger"), TRIGGER + more)
      for w, n, more in WAYS],
    *[(*hostport("hostport/tagged-ways", w, n, "tagged"), TAGGED + more)
      for w, n, more in WAYS],
    ("hostport/atoll-pingpong", ["workload.count=1", "workload.pause=0"],
     "n0.prog0.half_rtt",
     ["access on the bus", "further stores", "host port", "crossbar",
      "link port out", "cable", "link port in", "load: status",
      "load: header", "load: data"]),
    ("hostport/atoll-pingpong", ["workload.count=1", "workload.pause=0",
                                 "workload.mode=dma"], "n0.prog0.half_rtt",
     ["access on the bus", "DMA read: data", "host port", "crossbar",
      "link port out", "cable", "link port in", "DMA write: data"]),
    ("hvia/latency", ["workload.size=4", "sweep=none"],
     "n0.prog0.half_rtt_min",
     ["finds the doorbell", "translates the data's address", "MAC: start",
      "frame on the line", "MAC: receive", "visible, bookkeeping",
      "completes", "program looks"]),
]
# Runs for all tools: machines (patterns), and states that they must have been
# in.
FILES = [
    ("forth/pingpong", ["workload.count=5", "workload.size_max=24"],
     {"n0.nic.engine": {"RdD0", "RdData"}, "s0.output1": {"idle", "port0"},
      "s0.chosen1": {"port0"}}),
    ("extoll/pingpong", ["workload.count=1"],
     {"n0.nic.velo_requester": {"SEND", "IDLE"},
      "s0.output3": {"np0", "idle"}}),
    ("extoll/rma-latency", ["workload.count=1", "sweep=none"],
     {"n0.nic.rma_requester*": {"cmd", "xlate", "read", "free"},
      "n1.nic.rma_completer*": {"check", "xlate", "wait"},
      "s0.output3": {"np1", "idle"}}),
    ("hostport/ultra-pingpong", ["workload.count=20"],
     {"s0.output3": {"np0", "idle"}}),
    ("hostport/ways", ["sweep=none", "workload.1.count=2",
                       "workload.1.way=send", "workload.1.size=64"],
     {"n0.nic.requester_lookup*": {"SEND", "idle"},
      "n1.nic.completer_place*": {"SEND", "idle"},
      "n1.nic.notification": {"LOOKUP", "WRITE", "IDLE"}}),
    ("hostport/ways", ["sweep=none", "workload.1.count=2",
                       "workload.1.way=get"],
     {"n0.nic.requester_output*": {"GET", "idle"},
      "n1.nic.responder_frame*": {"GET", "idle"},
      "n0.nic.completer_store*": {"GET_RSP", "idle"}}),
    ("hostport/atoll-pingpong", ["workload.count=2"],
     {"n0.nic.send1": {"STORE", "IDLE"}, "n0.nic.inport1": {"to4", "idle"},
      "n1.nic.outport1": {"granted", "idle"}}),
    ("hostport/atoll-pingpong", ["workload.count=2", "workload.mode=dma"],
     {"n0.nic.send1": {"DESC", "DATA", "IDLE"},
      "n1.nic.receive1": {"HEAD", "IDLE"}}),
    ("hvia/latency", ["workload.size=4", "sweep=none"],
     {"n0.nic.send": {"SCAN", "XD", "DR"}, "n1.nic.receive": {"CHK"}}),
    ("ethernet/through-switch", ["sweep=none"],
     {"s0.output1": {"sends", "waits", "idle"}}),
]
STREAMS = [
    ("forth/one-way", [], "link", "n0.nic.link0"),
    ("forth/one-way", ["bus.pcix.clock=50MHz"], "dma", "n0.nic.dma_read"),
    ("forth/three-to-one", [], "switch", "s0.port0"),
]


def weft(*args, status=0):
    p = subprocess.run([WEFT, *args], capture_output=True, text=True,
                       timeout=120)
    if p.returncode != status:
        raise AssertionError(f"{args}: status {p.returncode}\n{p.stderr}")
    return p


def sets(values):
    return [x for v in values for x in ("--set", v)]


class Looking(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def run_json(self, name, values, *more):
        return json.loads(weft("run", name, *sets(values), *more, "--quiet",
                               "--format", "json").stdout)


class Explain(Looking):
    def story(self, name, values, *more):
        db = self.path("x.db")
        d = self.run_json(name, values, "--out", db)
        return d, json.loads(weft("explain", db, *more, "--format",
                                  "json").stdout)

    def test_stages_of_a_message_add_up_to_its_time(self):
        for name, values, metric, want in FASTEST:
            with self.subTest(name, values=values):
                d, e = self.story(name, values)
                # of several nodes: the least
                measured, metric = min(
                    (v, k) for k, v in d["metrics"].items()
                    if fnmatch.fnmatch(k, metric))
                self.check_stages(e, measured, want)
                self.check_table(metric, measured)

    def check_stages(self, e, measured, want):
        """In femtoseconds."""
        self.assertEqual(sum(s["fs"] for s in e["stages"]), e["fs"])
        half = e["fs"] / (2 if e["round_trip"] else 1)
        self.assertEqual(half / 1e6, measured)
        self.assertTrue(all(s["fs"] > 0 for s in e["stages"]))
        stages = {s["stage"] for s in e["stages"]}
        self.assertEqual(set(want) - stages, set())
        self.assertNotIn("not known", stages)

    def check_table(self, metric, measured):
        """As printed, in hundredths of a nanosecond or less."""
        lines = weft("explain", self.path("x.db")).stdout.splitlines()
        self.assertNotIn("(run ", lines[0])  # there is no other
        at = next(i for i, s in enumerate(lines) if s.startswith("where"))
        end = next(i for i, s in enumerate(lines) if s.startswith("sum "))
        trip = "mean [ns]" in lines[at]
        for c in range(-5, -2) if trip else [-3]:
            shown = [round(float(s.split()[c]) * 100)
                     for s in lines[at + 1:end + 1]]
            self.assertEqual(sum(shown[:-1]), shown[-1])
        self.assertEqual(shown[-1], round(measured * 100))
        self.assertIn(f"measured: {metric} = ", lines[end + 1])

    def test_recorded_parts_add_up_to_the_half_round_trip(self):
        """record.parts: what an experiment calls the parts of a message."""
        d = self.run_json("hvia/breakdown", [])
        parts = {k: v for k, v in d["metrics"].items() if k[:5] == "part."}
        self.assertEqual(len(parts), 5)
        self.assertAlmostEqual(
            sum(parts.values()) * 1000,
            next(h["mean"] for h in d["histograms"]
                 if h["name"] == "n0.prog0.half_rtt"), 6)
        d = self.run_json("hvia/breakdown",
                          ["record.parts={a: cable, b: no such stage}"])
        self.assertFalse([k for k in d["metrics"] if k[:5] == "part."])
        for value in "x", "{a: [b]}":
            weft("run", "hvia/breakdown", "--set", "record.parts=" + value,
                 status=2)

    def test_message_is_chosen_by_time_or_number(self):
        db = self.path("x.db")
        self.run_json("hostport/ultra-pingpong", ["workload.count=30"],
                      "--out", db)
        fs = {}
        for w in ("fastest", "slowest", "first", "1"):
            e = json.loads(weft("explain", db, "--message", w, "--format",
                                "json").stdout)
            fs[w] = e["fs"]
        self.assertLess(fs["fastest"], fs["slowest"])
        self.assertEqual(fs["first"], fs["1"])
        p = weft("explain", db, "--message", "lost", status=2)
        self.assertIn("fastest, slowest", p.stderr)
        p = weft("explain", db, "--run", "7", status=2)
        self.assertIn("run 7 has no messages", p.stderr)
        p = weft("explain", __file__, status=2)
        self.assertIn("is no results file", p.stderr)

    @unittest.skipIf(SLOW, "numbers, which sanitizers do not change")
    def test_bottleneck_is_the_part_in_use_most(self):
        for name, values, kind, part in STREAMS:
            with self.subTest(name):
                _, e = self.story(name, values)
                self.assertEqual((e["bottleneck"], e["bottleneck_part"]),
                                 (kind, part))
                shares = {u["part"]: u["share"] for u in e["in_use"]}
                self.assertGreater(shares[part], 0.9)
                self.assertLess(max(shares.values()), 1.001)

    def test_workers_bring_messages_of_their_points(self):
        a, b = self.path("a.db"), self.path("b.db")
        for db, jobs in ((a, "1"), (b, "2")):
            weft("run", "extoll/rma-latency", "--jobs", jobs, "--out", db,
                 "--quiet", "--set", "workload.count=3")
        with open(a, "rb") as f, open(b, "rb") as g:
            self.assertEqual(f.read(), g.read())
        with sqlite3.connect(a) as db:
            (runs,), = db.execute("SELECT count(*) FROM runs")
        for n in "12":
            text = weft("explain", a, "--run", n).stdout
            self.assertIn(f" (run {n} of {runs}: --run N)\n", text)
            self.assertEqual(text, weft("explain", b, "--run", n).stdout)


class Files(Looking):
    def look(self, name, values):
        t, w = self.path("t.json"), self.path("w.vcd")
        d = self.run_json(name, values, "--trace", t, "--waves", w, "--out",
                          self.path("with.db"))
        if SLOW:
            return t, w
        plain = self.run_json(name, values)
        self.assertEqual(d, plain)
        self.run_json(name, values, "--out", self.path("without.db"))
        with open(self.path("with.db"), "rb") as f, \
                open(self.path("without.db"), "rb") as g:
            self.assertEqual(f.read(), g.read())
        return t, w

    def test_timeline_and_waves_show_states_of_machines(self):
        for name, values, machines in FILES:
            with self.subTest(name, values=values):
                t, w = self.look(name, values)
                self.check_trace(t)
                states = self.check_waves(w)
                for m, want in machines.items():
                    seen = {s for k in fnmatch.filter(states, m)
                            for s in states[k]}
                    self.assertEqual(want - seen, set(), m)

    def check_trace(self, path):
        """The format: docs of Chrome's Trace Event Format, JSON object."""
        with open(path) as f:
            events = json.load(f)["traceEvents"]
        need = {"X": {"ts", "dur"}, "M": {"args"}, "C": {"ts", "args"},
                "i": {"ts", "s"}, "s": {"ts", "id", "cat"},
                "f": {"ts", "id", "cat", "bp"}}
        slices, flows = collections.defaultdict(list), {}
        names = set()
        for e in events:
            self.assertIn(e["ph"], need)
            self.assertTrue(need[e["ph"]] <= e.keys(), e)
            self.assertIsInstance(e["pid"], int)
            self.assertIsInstance(e["tid"], int)
            self.assertTrue(e["name"])
            if "ts" in e:
                self.assertGreaterEqual(e["ts"], 0)
            if e["ph"] == "X":
                slices[e["pid"], e["tid"]].append(
                    (round(e["ts"] * 1e9), round(e["dur"] * 1e9), e["name"]))
            elif e["ph"] == "M":
                names.add((e["name"], e["args"]["name"]))
            elif e["ph"] in "sf":
                flows.setdefault(e["id"], []).append(e)
        for n in ("n0", "n1"):
            self.assertIn(("process_name", n), names)
            self.assertIn(("thread_name", n + ".nic.messages"), names)
            self.assertIn(("thread_name", n + ".prog0.thread"), names)
        for thread in slices.values():
            thread.sort()
            for (a, da, _), (b, _, _) in zip(thread, thread[1:]):
                self.assertLessEqual(a + da, b)
        self.assertTrue(flows)
        for f in flows.values():
            self.assertEqual([e["ph"] for e in f], ["s", "f"])
            self.assertNotEqual(f[0]["pid"], f[1]["pid"])
            self.assertLess(f[0]["ts"], f[1]["ts"])
            for e in f:
                self.assertTrue(any(a <= round(e["ts"] * 1e9) <= a + d
                                    for a, d, _ in slices[e["pid"],
                                                          e["tid"]]))

    def check_waves(self, path):
        with open(path) as f:
            lines = f.read().splitlines()
        end = lines.index("$enddefinitions $end")
        kinds, scopes, names = {}, [], {}
        states = collections.defaultdict(set)
        for s in lines[:end]:
            w = s.split()
            if w[0] == "$scope":
                scopes.append(w[2])
            elif w[0] == "$upscope":
                scopes.pop()
            if w[0] == "$var":
                self.assertNotIn(w[3], kinds)
                kinds[w[3]] = w[1]
                names[w[3]] = ".".join([*scopes, w[4]])
        self.assertEqual(scopes, [])
        parts = [n.rpartition(".")[0] for n in names.values()]
        self.assertEqual(parts, sorted(parts))
        self.assertEqual(set(kinds.values()), {"string", "integer"})
        now, value = -1, {}
        for s in lines[end + 1:]:
            if s[0] == "#":
                self.assertGreater(int(s[1:]), now)
                now = int(s[1:])
            elif s[0] != "$":
                v, code = s.split()
                self.assertEqual(v[0], "s" if kinds[code] == "string" else "b")
                value[code] = v[1:]
                states[names[code]].add(v[1:])
        self.assertEqual(value.keys(), kinds.keys())
        self.assertTrue({"polls", "computes", "bridge"} &
                        states["n0.prog0.thread"])
        self.check_reader(path, [s.split()[0] for s in lines[end + 1:]])
        return states

    def check_reader(self, path, values):
        """GTKWave's own reader has nothing to say, and the states come back.
        """
        there = os.environ["PATH"] + ":" + TOOLS
        to, back = (shutil.which(t, path=there) for t in ("vcd2fst", "fst2vcd"))
        if not to:
            self.skipTest("no vcd2fst: scripts/deps.sh check")
        p = subprocess.run([to, path, self.path("w.fst")],
                           capture_output=True, text=True, timeout=60)
        self.assertEqual((p.returncode, p.stdout, p.stderr), (0, "", ""))
        p = subprocess.run([back, self.path("w.fst")], capture_output=True,
                           text=True, timeout=60)
        self.assertEqual({s.split()[0] for s in p.stdout.splitlines()
                          if s[:1] == "s"},
                         {s for s in values if s[0] == "s"})

    def test_sweep_or_missing_folder_is_refused(self):
        for opt in ("--trace", "--waves"):
            p = weft("run", "extoll/rma-latency", opt, self.path("x"),
                     status=2)
            self.assertIn(f"{opt} writes one run down", p.stderr)
            p = weft("run", "extoll/pingpong", opt, "/no/such/place",
                     status=2)
            self.assertIn("cannot write", p.stderr)


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
