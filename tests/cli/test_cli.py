#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line as users and scripts see it.

    test_cli.py WEFT PLUG_SO SOURCE_ROOT [unittest options]
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

WEFT, PLUG, ROOT = (os.path.abspath(a) for a in sys.argv[1:4])
# With sanitizers, which look at the code: no larger models, not everything in
# every form (tests/cli/meson.build).
SLOW = "WEFT_SLOW" in os.environ

TALKERS = """\
name: talkers
doc: |
  Talkers around a hub.
  Second line.
traffic: {count: 4, type: test.talker, packets: 20}
fabric:
  type: switch
  switch: {type: test.hub, ports: 8}
  link: {type: link.cable, delay: 20ns}
run: {until: 1ms}
"""

PROGRAMS = """\
name: programs
nodes:
  count: 2
  host: {type: host.pc}
  bus: {type: bus.pcix}
  nic: {type: test.nic, links: 2}
fabric: {type: direct, link: {type: link.cable}}
workload: {program: test.prog, on: all, size: 64}
"""


class Base(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def file(self, text, name="e.yaml"):
        with open(self.path(name), "w") as f:
            f.write(text)
        return name

    def weft(self, *args, status=0, stdin=None):
        p = subprocess.run([WEFT, *args], cwd=self.dir.name, text=True,
                           input=stdin, capture_output=True, timeout=60)
        self.assertEqual(p.returncode, status, p.stdout + p.stderr)
        return p

    def run_exp(self, text, *args, status=0):
        return self.weft("run", self.file(text), "--load", PLUG, *args,
                         status=status)

    def json(self, text, *args, status=0):
        return json.loads(self.run_exp(text, *args, "--format", "json",
                                       status=status).stdout)

    def refused(self, text, message, *args):
        """Exit 2, one line on standard error, nothing on standard output."""
        p = self.run_exp(text, "--out", "out.db", *args, status=2)
        self.assertEqual(p.stdout, "")
        self.assertEqual(p.stderr, f"weft: {message}\n")
        self.assertFalse(os.path.exists(self.path("out.db")))
        self.assertEqual([f for f in os.listdir(self.dir.name)
                          if "part" in f], [])


class Usage(Base):
    COMMANDS = ["run", "exec", "reproduce", "list", "describe", "check",
                "bench"]

    def test_help_lists_the_commands(self):
        out = self.weft("--help").stdout
        for c in self.COMMANDS:
            self.assertIn(f"  {c} ", out)
        self.assertIn("weft list experiments", out)
        self.assertEqual(out, self.weft("-h").stdout)

    def test_every_command_explains_its_usage(self):
        for c in self.COMMANDS:
            out = self.weft(c, "--help").stdout
            self.assertTrue(out.startswith(f"usage: weft {c}"), out)
            self.assertEqual(out, self.weft(c, "-h").stdout)

    def test_report_and_exec_need_an_argument(self):
        for c in ["report", "exec"]:
            self.assertIn("something is missing: weft " + c, self.err(c))

    def test_version_has_two_numbers(self):
        self.assertRegex(self.weft("--version").stdout, r"^weft \d+\.\d+")

    def err(self, *args):
        p = self.weft(*args, status=2)
        self.assertEqual(p.stdout, "")
        self.assertEqual(p.stderr.count("\n"), 1)
        return p.stderr

    def test_mistakes_are_answered_in_one_line(self):
        self.assertIn("did you mean 'run'?", self.err("rum"))
        self.assertIn("did you mean '--seed'?", self.err("run", "x", "--seeed"))
        self.assertIn("--set needs a value", self.err("run", "x", "--set"))
        self.assertIn("--quiet takes no value",
                      self.err("run", "x", "--quiet=1"))
        self.assertIn("something is missing", self.err("run"))
        self.assertIn("'b' is one too many", self.err("check", "a", "b"))
        self.assertIn("give table|json|csv",
                      self.err("run", "x", "--format", "xml"))
        self.assertIn("no option '--jobs'", self.err("check", "--jobs", "2"))
        self.assertIn("--jobs", self.err("run", "x", "--jobs", "0"))
        self.assertIn("did you mean 'switches'",
                      self.err("list", "switchs"))
        self.assertIn("did you mean 'host.pc'?",
                      self.err("describe", "host.pcc"))
        self.assertIn("did you mean 'forth'", self.err("reproduce", "fort"))
        self.assertIn("did you mean 'events'?", self.err("bench", "event"))
        self.assertIn("did you mean 'exec/extoll-pair'?",
                      self.err("exec", "--fabric", "extoll-pair", "true"))
        self.assertIn("cannot load", self.err("list", "--load", "no.so"))

    def test_fabrics_are_described(self):
        for line in self.weft("list", "fabrics").stdout.splitlines()[1:]:
            name = line.split()[1]
            self.assertIn(f"{name} (fabric): ",
                          self.weft("describe", name).stdout)
        keys = json.loads(self.weft("describe", "torus", "--format",
                                    "json").stdout)["keys"]
        self.assertIn("dims", keys)

    def test_the_example_of_the_manual_runs(self):
        with open(ROOT + "/experiments/README.md") as f:
            text = f.read().split("```yaml\n")[1].split("```")[0]
        self.weft("run", self.file(text), "--quiet")

    def test_both_values_are_named_where_two_ends_differ(self):
        self.assertIn("min_payload is 0 in n0.nic and 24 in s0",
                      self.err("check", "forth/one-way", "--set",
                               "fabric.switch.preset=plat-switch"))

    def test_program_of_another_nic_is_refused(self):
        self.assertIn("forth.dma drives forth.nic, but the NIC of n0 is "
                      "extoll.nic", self.err(
                          "check", "extoll/pingpong", "--set",
                          "workload={program: forth.dma, on: 0}"))

    @unittest.skipIf(SLOW, "sanitizers reserve more")
    def test_machine_too_large_for_memory_is_refused(self):
        done = subprocess.run(
            ["bash", "-c", f"ulimit -v 200000; {WEFT} check extoll/net-torus "
             "--set fabric.dims=[32,32,32] --set traffic.count=32768 "
             "--set traffic.verify=no"],
            capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("weft: out of memory: fewer nodes", done.stderr)

    def test_full_disk_is_reported(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            p = subprocess.run([WEFT, "list"], stdout=full,
                               stderr=subprocess.PIPE, text=True)
        self.assertEqual(p.returncode, 2)
        self.assertIn("cannot write", p.stderr)


class Tables(Base):
    def test_list_shows_components_by_kind(self):
        out = self.weft("list", "--load", PLUG).stdout
        for name in ["host.pc", "bus.pcix", "test.talker", "test.hub"]:
            self.assertIn(name, out)
        kinds = json.loads(self.weft("list", "--format", "json",
                                     "--load", PLUG).stdout)
        self.assertIn({"kind": "switches", "name": "test.hub",
                       "doc": "forwards packets by number"}, kinds)
        only = self.weft("list", "hosts").stdout
        self.assertIn("host.pc", only)
        self.assertNotIn("bus.pcix", only)

    def test_shipped_experiments_are_the_files(self):
        rows = json.loads(self.weft("list", "experiments", "--format",
                                    "json").stdout)
        root, other = pathlib.Path(ROOT), {"coherent": "coh",
                                           "atoll": "hostport"}
        names = [f"{f.parent.name}/{f.stem}"
                 for f in root.glob("experiments/*/*.yaml")]
        for f in root.glob("src/systems/*/experiments/*.yaml"):
            system = f.parts[-3]
            names.append(f"{other.get(system, system)}/{f.stem}")
        self.assertEqual(sorted(r["name"] for r in rows), sorted(names))
        for r in rows:
            self.assertNotEqual(r["doc"], "", r["name"])

    def test_shipped_experiments_are_good(self):
        rows = json.loads(self.weft("list", "experiments", "--format",
                                    "json").stdout)
        for r in rows[::8] if SLOW else rows:
            with self.subTest(r["name"]):
                self.weft("check", r["name"])

    def test_every_class_is_described(self):
        rows = json.loads(self.weft("list", "--format", "json", "--load",
                                    PLUG).stdout)
        forms = ["table", "json", "markdown"]
        for i, r in enumerate(rows):
            if r["kind"] in ("experiments", "fabrics"):
                continue
            for form in forms[i % 3:i % 3 + 1] if SLOW else forms:
                out = self.weft("describe", r["name"], "--load", PLUG,
                                "--format", form).stdout
                self.assertIn(r["name"], out)


class Runs(Base):
    def test_json_result_holds_every_kind_of_value(self):
        r = self.json(TALKERS)
        self.assertEqual(set(r), {"manifest", "metrics", "units", "series",
                                  "histograms", "counters", "failures"})
        self.assertEqual(r["manifest"]["t0.packets"], "20")
        self.assertEqual(r["manifest"]["t3.node"], "3")
        self.assertEqual(r["manifest"]["t3.nodes"], "4")
        self.assertEqual(r["manifest"]["link.delay"], "20ns")
        self.assertEqual(r["manifest"]["seed"], "1")
        self.assertEqual(r["manifest"]["run.until"], "1ms")
        self.assertEqual(r["counters"]["t0.sent"], 20)
        # 20 ns there, 10 ns through the hub, 20 ns on
        self.assertEqual(r["metrics"]["t0.last_latency"], 50)
        self.assertEqual(r["units"]["t0.last_latency"], "ns")
        h = [h for h in r["histograms"] if h["name"] == "t0.latency"][0]
        self.assertEqual((h["count"], h["mean"], h["min"], h["max"],
                          h["bins"]), (20, 50, 50, 50, [[50, 20]]))
        s = [s for s in r["series"] if s["name"] == "t0.arrivals"][0]
        self.assertEqual(len(s["x"]), 20)
        self.assertEqual(s["y"], [50] * 20)

    def test_results_follow_from_the_seed(self):
        for form in ["table", "json", "csv"]:
            a = self.run_exp(TALKERS, "--format", form).stdout
            self.assertEqual(a, self.run_exp(TALKERS, "--format",
                                             form).stdout)
        self.assertNotEqual(self.json(TALKERS)["series"],
                            self.json(TALKERS, "--seed", "2")["series"])

    def test_order_of_the_file_does_not_matter(self):
        top, rest = TALKERS.split("traffic:")
        one, fabric = rest.split("\n", 1)
        turned = top + fabric + "traffic:" + one + "\n"
        a, b = self.json(TALKERS), self.json(turned)
        a["manifest"].pop("text_crc32")
        b["manifest"].pop("text_crc32")
        self.assertEqual(a, b)

    def test_csv_has_a_line_for_each_value(self):
        lines = self.run_exp(TALKERS, "--format", "csv").stdout.splitlines()
        self.assertEqual(lines[0], "point,kind,name,unit,x,value")
        self.assertIn(",metric,t0.last_latency,ns,,50", lines)
        self.assertIn(",counter,t0.sent,packets,,20", lines)
        self.assertIn(",histogram,t0.latency,ns,50,20", lines)

    def test_table_shows_description_and_metrics(self):
        out = self.run_exp(TALKERS).stdout
        self.assertTrue(out.startswith("talkers: Talkers around a hub.\n"))
        self.assertRegex(out, r"t0\.last_latency +50  ns")

    def test_dash_reads_standard_input(self):
        p = self.weft("run", "-", "--load", PLUG, "--format", "json",
                      stdin=TALKERS)
        self.assertEqual(json.loads(p.stdout)["counters"]["t1.sent"], 20)
        p = self.weft("check", "-", stdin="nodez: 1\n", status=2)
        self.assertIn("standard input:1:", p.stderr)

    def test_programs_end_the_run(self):
        r = self.json(PROGRAMS)
        self.assertEqual(r["metrics"]["n1.prog0.bytes"], 640)
        self.assertEqual(r["manifest"]["run.until"], "end of programs")
        self.assertEqual(r["manifest"]["n1.prog0.node"], "1")

    def test_until_stops_sources_and_drain_delivers(self):
        r = self.json(TALKERS, "--set", "run.until=1us")
        self.assertLess(r["counters"]["t0.sent"], 20)
        self.assertEqual(r["counters"]["sim.time"], 10 ** 9)
        r = self.json(TALKERS, "--set", "run.until=1us", "--set",
                      "run.drain=1ms")
        self.assertEqual(r["counters"]["t0.taken"], 20)

    def test_groups_of_nodes_have_their_own_parameters(self):
        text = PROGRAMS.replace("nodes:\n  count: 2\n", "nodes:\n - count: 1\n")
        text = text.replace("links: 2}", "links: 2}\n"
                            " - {host: {type: host.pc, poll_period: 90ns},"
                            " nic: [{type: test.nic, links: 2}]}")
        text = text.replace("  host:", "   host:").replace("  bus:", "   bus:")
        text = text.replace("  nic:", "   nic:")
        m = self.json(text)["manifest"]
        self.assertEqual(m["n0.host.poll_period"], "20ns")
        self.assertEqual(m["n1.host.poll_period"], "90ns")
        self.assertEqual(m["n1.nic0.links"], "2")

    def test_fault_on_a_listed_cable_drops_frames(self):
        text = """\
traffic: {count: 2, type: test.talker, packets: 20}
fabric:
  type: list
  switches: {hub: {type: test.hub, delay: 5ns}}
  link: {type: link.cable, delay: 20ns}
  cables:
    - [t0.link, hub.port0]
    - [hub.port1, t1.link, {delay: 30ns}]
faults: {on: t1.link, type: test.drop, every: 5}
run: {until: 1ms}
"""
        r = self.json(text)
        self.assertEqual(r["metrics"]["t0.last_latency"], 55)
        self.assertEqual(r["counters"]["fault0.dropped"], 4)
        self.assertEqual(r["counters"]["t0.taken"], 16)
        self.assertEqual(r["counters"]["t1.taken"], 20)
        many = text.replace("on: t1.link", 'on: "t*.link"')
        r = self.json(many)
        self.assertEqual(r["counters"]["fault1.dropped"], 4)

    def test_parallel_switches_have_ports_of_their_own(self):
        text = """\
nodes: {count: 3, host: {type: host.pc}, nic: {type: test.nic, links: 2}}
fabric: {type: switch, count: 2, ports: [4, 5, 7],
         switch: {type: test.hub}, link: {type: link.cable}}
workload: {program: test.prog, on: 0..1}
"""
        r = self.json(text)
        self.assertIn("s1.ports", r["manifest"])
        self.assertIn("s1.port7.frames", r["counters"])
        self.assertNotIn("n2.prog0.bytes", r["metrics"])

    def test_record_chooses_what_results_hold(self):
        r = self.json(TALKERS + "record: {metrics: [t0.*], counters: none, "
                      "series: [], histograms: '*'}\n")
        self.assertEqual(list(r["metrics"]), ["t0.last_latency"])
        self.assertEqual(r["counters"], {})
        self.assertEqual(r["series"], [])
        self.assertEqual(len(r["histograms"]), 4)

    def test_unmet_expectation_is_named_with_its_line(self):
        good = ("expect: {t0.sent: 20, 't*.last_latency': {min: 49, max: 51},"
                " t1.taken: {equals: 19, tolerance: 6%}}\n")
        self.run_exp(TALKERS + good)
        p = self.run_exp(TALKERS + "expect: {t0.sent: {max: 3}, no.such: 1}\n",
                         status=1)
        self.assertIn("weft: check failed: e.yaml:11: t0.sent is 20: expected "
                      "at most 3\n", p.stderr)
        self.assertIn("e.yaml:11: no metric or counter is called no.such",
                      p.stderr)
        self.assertIn("t0.last_latency", p.stdout)

    def test_failed_check_of_a_program_is_reported(self):
        p = self.run_exp(PROGRAMS, "--set", "workload.fail=true", status=1)
        self.assertEqual(p.stderr.count("was told to fail"), 2)
        r = self.json(PROGRAMS, "--set", "workload.fail=true", status=1)
        self.assertEqual(len(r["failures"]), 2)


class Set(Base):
    def packets(self, *sets, text=TALKERS):
        args = [x for s in sets for x in ("--set", s)]
        m = self.json(text, *args)["manifest"]
        return [m[f"t{i}.packets"] for i in range(4)]

    def test_set_reaches_place_class_and_component(self):
        self.assertEqual(self.packets("traffic.packets=7"), ["7"] * 4)
        self.assertEqual(self.packets("test.talker.packets=8"), ["8"] * 4)
        self.assertEqual(self.packets("t2.packets=9"),
                         ["20", "20", "9", "20"])
        self.assertEqual(self.packets("t[01].packets=9"),
                         ["9", "9", "20", "20"])

    def test_later_and_nearer_settings_win(self):
        self.assertEqual(self.packets("t0.packets=3", "t0.packets=4")[0],
                         "4")
        self.assertEqual(self.packets("test.talker.packets=8",
                                      "traffic.packets=7"), ["8"] * 4)

    def test_set_of_the_command_overrides_the_file(self):
        text = TALKERS + "set: {test.talker.packets: 5}\n"
        self.assertEqual(self.packets(text=text), ["5"] * 4)
        self.assertEqual(self.packets("test.talker.packets=6", text=text),
                         ["6"] * 4)

    def test_preset_can_be_set_from_outside(self):
        m = self.json(TALKERS, "--set", "traffic.preset=fast", "--set",
                      "t1.words=9")["manifest"]
        self.assertEqual((m["t0.period"], m["t0.words"], m["t1.words"]),
                         ("50ns", "4", "9"))
        m = self.json(TALKERS, "--set", "test.talker.preset=fast")["manifest"]
        self.assertEqual(m["t3.period"], "50ns")

    def test_set_reaches_every_entry_of_a_list(self):
        text = PROGRAMS.replace("workload: {program: test.prog, on: all, "
                                "size: 64}",
                                "workload:\n  - {program: test.prog, on: 0}\n"
                                "  - {program: test.prog, on: 1}")
        m = self.json(text, "--set", "workload.size=80")["manifest"]
        self.assertEqual((m["n0.prog0.size"], m["n1.prog0.size"]),
                         ("80", "80"))
        m = self.json(text, "--set", "workload.1.size=88")["manifest"]
        self.assertEqual((m["n0.prog0.size"], m["n1.prog0.size"]),
                         ("64", "88"))
        self.refused(text, "--set workload.sise=1: test.prog has no parameter "
                     "'sise'", "--set", "workload.sise=1")

    def test_wrong_setting_is_refused_with_a_remedy(self):
        for s, why in [
                ("traffic.packet=1", "test.talker has no parameter 'packet': "
                 "did you mean 'packets'?"),
                ("test.talker.packet=1", "test.talker has no parameter "
                 "'packet': did you mean 'packets'?"),
                ("trafic.packets=1", "nothing here is called 'trafic': did "
                 "you mean 'traffic'?"),
                ("t7.packets=1", "nothing here is called 't7': did you mean "
                 "'t0'?"),
                ("run.until=5qs", "until: '5qs' is no time: write e.g. "
                 "12.8ns"),
                ("fabric.switch.ports=65", "ports: '65' is above 64"),
                ("fabric.link.delay=0", "delay: '0fs' is below 1fs"),
                ("packets=1", "no key 'packets' in experiments: there are "
                 "name, doc, seed, payload, set, nodes, traffic, fabric, "
                 "faults, workload, run, sweep, record, expect"),
                ("traffic.packets", "write it as PATH=VALUE"),
                ("traffic.packets=", "no value after '=': write it as "
                 "PATH=VALUE"),
                ("test.nic.links=2", "no component here is of class "
                 "test.nic: 'type' in the file chooses it")]:
            with self.subTest(s):
                self.refused(TALKERS, f"--set {s}: {why}", "--set", s)


class Sweeps(Base):
    TEXT = PROGRAMS + """\
sweep:
  workload.size: [24, 128]
  host.pc.poll_period: [10ns, 20ns]
record: {metrics: ["*.bytes"]}
"""

    def test_axes_of_a_sweep_are_multiplied(self):
        runs = self.json(self.TEXT)["runs"]
        self.assertEqual([r["point"] for r in runs], [
            "workload.size=24 host.pc.poll_period=10ns",
            "workload.size=24 host.pc.poll_period=20ns",
            "workload.size=128 host.pc.poll_period=10ns",
            "workload.size=128 host.pc.poll_period=20ns"])
        self.assertEqual([r["metrics"]["n0.prog0.bytes"] for r in runs],
                         [240, 240, 1280, 1280])
        self.assertEqual(runs[3]["manifest"]["n1.host.poll_period"], "20ns")

    def test_jobs_change_nothing(self):
        one = self.run_exp(self.TEXT, "--format", "json").stdout
        for n in ["2", "3", "16"]:
            self.assertEqual(one, self.run_exp(self.TEXT, "--format", "json",
                                               "--jobs", n).stdout)

    def test_sweep_prints_a_row_for_each_point(self):
        out = self.run_exp(self.TEXT).stdout
        self.assertRegex(out, r"point +n0\.prog0\.bytes \[B\]")
        self.assertRegex(out, r"size=128 \S+=20ns +1280 +1280")

    def test_set_removes_an_axis_of_a_sweep(self):
        runs = self.json(self.TEXT, "--set", "workload.size=64")["runs"]
        self.assertEqual([r["point"] for r in runs],
                         ["host.pc.poll_period=10ns",
                          "host.pc.poll_period=20ns"])

    def test_listed_points_run_in_their_order(self):
        text = PROGRAMS + ("sweep:\n  - {workload.size: 24, seed: 3}\n"
                           "  - {workload.rounds: 2}\n")
        runs = self.json(text)["runs"]
        self.assertEqual([(r["manifest"]["seed"],
                           r["metrics"]["n0.prog0.bytes"]) for r in runs],
                         [("3", 240), ("1", 128)])

    def test_bad_point_is_found_before_running(self):
        text = PROGRAMS + "sweep:\n  workload.size: [24, 5]\n"
        self.refused(text, "e.yaml:10: size: '5' is below 8")
        self.refused(PROGRAMS + "sweep: {workload.size: []}\n",
                     "e.yaml:9: no values to sweep 'workload.size' over: "
                     "write [VALUE, VALUE...]")
        self.refused(PROGRAMS + "sweep: {workload.size: 5}\n",
                     "e.yaml:9: sweep: workload.size is a value: write PATH: "
                     "[VALUE, VALUE...], the whole path as one key")

    def test_failed_point_is_named(self):
        p = self.run_exp(PROGRAMS + "sweep: {workload.fail: [no, yes]}\n",
                         "--jobs", "2", status=1)
        self.assertIn("n0.prog0: was told to fail (workload.fail=yes)",
                      p.stderr)


    ONE_AXIS = PROGRAMS.replace(
        "workload: {", "workload:\n  - {program: test.prog, on: all}\n  - {"
    ) + "sweep: {workload.1.size: [8, 16, 32, 64]}\n"

    def test_one_axis_is_drawn(self):
        for args in (["--show", "n0.prog1.bytes"],
                     ["--set", "record.show=n0.prog1.bytes"]):
            p = self.run_exp(self.ONE_AXIS, *args)
            self.assertIn("n0.prog1.bytes [B] over size", p.stdout)
            self.assertRegex(p.stdout, r"\n +16 +160\n")
            self.assertIn("+--------", p.stdout)
            self.assertEqual(p.stderr, "")

    def test_a_picture_is_as_wide_as_its_names(self):
        text = PROGRAMS.replace("name: programs", "name: p") + \
            "sweep: {seed: [123456789012345, 9], workload.size: [8, 16]}\n"
        p = self.run_exp(text, "--set", "record.show=n0.prog0.bytes",
                         "--format", "svg")
        width = int(re.search(r'<svg [^>]*width="(\d+)"', p.stdout)[1])
        for x, label in re.findall(r'<text x="([0-9.]+)"[^>]*>([^<]*)</text>',
                                   p.stdout):
            if float(x) > 700:
                self.assertLess(float(x) + 6.5 * len(label), width)
        # 8 and 16 are no decade apart
        self.assertIn(">16</text>", p.stdout)

    def test_pattern_that_fits_nothing_is_named(self):
        for key in "metrics", "counters":
            p = self.run_exp(self.ONE_AXIS, "--set", f"record.{key}=zz*",
                             status=1)
            self.assertIn(f"record.{key}: 'zz*' fits none of", p.stderr)
        self.run_exp(self.ONE_AXIS, "--set", "record.metrics=[]")
        p = self.run_exp(self.ONE_AXIS, "--set", "record.metrics=*x",
                         status=2)
        self.assertIn("stands in quotes", p.stderr)


class Database(Base):
    def rows(self, sql):
        with sqlite3.connect(self.path("out.db")) as db:
            return db.execute(sql).fetchall()

    def test_tables_hold_every_kind_of_value(self):
        self.run_exp(TALKERS, "--out", "out.db")
        self.assertEqual(self.rows("select experiment, point, failures "
                                   "from runs"), [("talkers", "", 0)])
        self.assertEqual(self.rows("select unit, value from metrics where "
                                   "name = 't0.last_latency'"), [("ns", 50)])
        self.assertEqual(self.rows("select value from counters where "
                                   "name = 't0.sent'"), [(20,)])
        self.assertEqual(self.rows("select lo, count from histograms where "
                                   "name = 't0.latency'"), [(50, 20)])
        self.assertEqual(self.rows("select count(*), max(y) from series where"
                                   " name = 't0.arrivals'"), [(20, 50)])
        self.assertEqual(self.rows("select value from manifest where "
                                   "name = 't0.packets'"), [("20",)])

    def test_jobs_change_no_byte_of_the_database(self):
        self.run_exp(Sweeps.TEXT, "--out", "out.db")
        with open(self.path("out.db"), "rb") as f:
            one = f.read()
        self.run_exp(Sweeps.TEXT, "--out", "out.db", "--jobs", "2")
        with open(self.path("out.db"), "rb") as f:
            self.assertEqual(one, f.read())
        self.assertNotIn(os.uname().nodename.encode() + b"\0", one)

    def test_append_adds_a_run(self):
        self.run_exp(TALKERS, "--out", "out.db")
        self.run_exp(PROGRAMS, "--out", "out.db", "--append")
        self.assertEqual(self.rows("select id, experiment from runs"),
                         [(1, "talkers"), (2, "programs")])

    def test_other_files_are_safe(self):
        with open(self.path("mine.txt"), "w") as f:
            f.write("precious")
        p = self.run_exp(TALKERS, "--out", "mine.txt", status=2)
        self.assertIn("no result file of weft", p.stderr)
        with open(self.path("mine.txt")) as f:
            self.assertEqual(f.read(), "precious")
        p = self.run_exp(TALKERS, "--out", "no/dir.db", status=2)
        self.assertIn("cannot write there", p.stderr)

    def test_failures_are_kept(self):
        self.run_exp(PROGRAMS, "--set", "workload.fail=yes", "--out",
                     "out.db", status=1)
        self.assertEqual(self.rows("select failures from runs"), [(2,)])
        self.assertEqual(len(self.rows("select * from failures")), 2)


class BadInput(Base):
    def test_missing_or_unreadable_file_is_refused(self):
        p = self.weft("run", "no.yaml", status=2)
        self.assertEqual(p.stderr.count("\n"), 1)
        self.assertIn("no.yaml: neither a file nor an experiment", p.stderr)
        p = self.weft("run", ".", status=2)
        self.assertIn(".: is a directory: name a YAML file", p.stderr)
        name = self.file(TALKERS)
        os.chmod(self.path(name), 0)
        if os.geteuid():
            p = self.weft("run", name, status=2)
            self.assertIn("cannot open: Permission denied", p.stderr)

    def test_garbage_is_refused_fast(self):
        big = self.path("big.yaml")
        with open(big, "wb") as f:
            for _ in range(100):
                f.write(os.urandom(1 << 20))
        t = time.monotonic()
        p = self.weft("run", "big.yaml", status=2)
        self.assertLess(time.monotonic() - t, 5)
        self.assertEqual(p.stderr, "weft: big.yaml: larger than 16 MiB: that "
                         "is no experiment\n")
        with open(big) as f:
            p = subprocess.run([WEFT, "check", "-"], stdin=f, text=True,
                               capture_output=True)
        self.assertEqual(p.returncode, 2)
        os.truncate(big, 10 << 20)
        p = self.weft("run", "big.yaml", status=2)
        self.assertIn("not YAML", p.stderr)
        self.file("[" * (8 << 20))
        p = self.weft("run", "e.yaml", status=2)
        self.assertIn("nested deeper than 64 levels", p.stderr)

    def test_expanded_aliases_are_limited(self):
        lines = ["a0: &a0 [1,1,1,1,1,1,1,1,1]"]
        for i in range(1, 12):
            lines.append(f"a{i}: &a{i} [" + ",".join([f"*a{i-1}"] * 9) + "]")
        t = time.monotonic()
        self.refused("\n".join(lines), "e.yaml:6: more than 500000 values "
                     "(aliases expanded): write less, or use a topology "
                     "generator")
        self.refused("a: [" + "{}," * 600000 + "]", "e.yaml:1: more than "
                     "500000 values (aliases expanded): write less, or use "
                     "a topology generator")
        self.assertLess(time.monotonic() - t, 20)

    def test_file_may_have_anchors(self):
        m = self.json(TALKERS.replace("{type: link.cable, delay: 20ns}",
                                      "&l {type: link.cable, delay: 20ns}"))
        self.assertEqual(m["manifest"]["link.delay"], "20ns")


class Plugin(Base):
    def build(self, body):
        src, so = self.path("p.c"), self.path("p.so")
        with open(src, "w") as f:
            f.write('#include "weft/component.h"\n' + body)
        subprocess.run(["cc", "-shared", "-fPIC", "-I", ROOT + "/include",
                        src, "-o", so], check=True)
        return so

    def test_foreign_plugin_is_refused_with_its_reason(self):
        for body, why in [
                ("int x;", "exports no weft_plugin_classes"),
                ("static struct weft_class c = {.api_version = 99};"
                 "WEFT_PLUGIN(&c);", "built for interface 99"),
                ('WEFT_COMPONENT(a, .name = "host.pc");'
                 "WEFT_PLUGIN(&weft_class_a);",
                 "class 'host.pc' exists already"),
                ("WEFT_COMPONENT(a, .doc = 0);WEFT_PLUGIN(&weft_class_a);",
                 "a class without name or kind")]:
            with self.subTest(why):
                p = self.weft("list", "--load", self.build(body), status=2)
                self.assertIn(why, p.stderr)

    def test_damaged_plugin_is_refused_in_words(self):
        with open(PLUG, "rb") as f:
            whole = f.read()
        for n in 0, 20, 64, 500, len(whole) // 3, len(whole) // 2:
            with open(self.path("cut.so"), "wb") as f:
                f.write(whole[:n])
            self.assertRegex(self.weft("list", "--load", "cut.so",
                                       status=2).stderr,
                             "cut.so: (cannot load: (not a shared object|"
                             "cut off or damaged)|damaged: loading it ends)")
        for at in range(64, len(whole) // 2, len(whole) // 40):
            with open(self.path("bad.so"), "wb") as f:
                f.write(whole[:at] + b"\xa5" * 16 + whole[at + 16:])
            p = subprocess.run([WEFT, "list", "--load", "bad.so"],
                               cwd=self.dir.name, capture_output=True)
            self.assertIn(p.returncode, (0, 2), (at, p.stderr))

    def test_crash_names_component_and_time(self):
        so = self.build("""
#include "weft/sim.h"
static void die(struct weft_comp *c, uint32_t tag) { *(volatile int *)16 = 1; }
static int go(struct weft_comp *c, struct weft_err *err)
{ weft_wake(c, 0, 3 * WEFT_US); return 0; }
static WEFT_COMPONENT(bomb, .name = "my.bomb", .kind = WEFT_KIND_TRAFFIC,
    .state_size = 8, .ops = { .start = go, .event = die });
WEFT_PLUGIN(&weft_class_bomb);
""")
        p = subprocess.run([WEFT, "run", "-", "--load", so], text=True,
                           input="traffic: {type: my.bomb, count: 2}\n"
                           "run: {until: 1ms}\n", capture_output=True)
        self.assertIn("Segmentation fault in t0 (my.bomb) at 3us of simulated "
                      "time, address 0x10", p.stderr)

    @unittest.skipUnless(shutil.which("clang++"), "no clang++")
    def test_headers_compile_as_cplusplus(self):
        src, so = self.path("p.cc"), self.path("p.so")
        heads = sorted(os.listdir(ROOT + "/include/weft"))
        with open(src, "w") as f:
            f.writelines(f'#include "weft/{h}"\n' for h in heads)
            f.write('WEFT_COMPONENT(a, .name = "my.own", '
                    '.kind = WEFT_KIND_NIC, .doc = "in C++");\n'
                    "WEFT_PLUGIN(&weft_class_a);\n")
        subprocess.run(["clang++", "-std=c++20", "-shared", "-fPIC",
                        "-nostdlib++", "-I", ROOT + "/include", src, "-o",
                        so], check=True)
        self.assertIn("in C++", self.weft("list", "--load", so).stdout)

    def test_check_runs_no_code_of_a_program(self):
        so = self.build("#include <stdio.h>\n__attribute__((constructor)) "
                        "static void go(void) { fclose(fopen(\"ran\", "
                        "\"w\")); }\nint main(void) { return 0; }\n")
        text = PROGRAMS.replace("test.prog, on: all, size: 64",
                                "host.main, on: all, out: said, file: " + so)
        with open(self.path("said"), "w") as f:
            f.write("before")
        self.weft("check", self.file(text), "--load", PLUG)
        self.assertFalse(os.path.exists(self.path("ran")))
        with open(self.path("said")) as f:
            self.assertEqual(f.read(), "before")
        self.weft("run", self.file(text), "--load", PLUG)
        self.assertTrue(os.path.exists(self.path("ran")))


class Terminal(Base):
    LONG = TALKERS.replace("packets: 20", "packets: %d" % (
        60000 if SLOW else 300000)).replace("until: 1ms", "until: 1s") + \
        "record: {series: [], histograms: []}\n"

    def on_terminal(self, *args, term="xterm", columns=120):
        """Standard error of a run whose standard error is a terminal."""
        try:
            master, slave = pty.openpty()
        except OSError as e:  # a chroot without /dev/pts
            self.skipTest(str(e))
        fcntl.ioctl(slave, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 24, columns, 0, 0))
        p = subprocess.Popen([WEFT, "run", self.file(self.LONG), "--load",
                              PLUG, "--format", "json", *args],
                             cwd=self.dir.name, stdout=subprocess.PIPE,
                             stderr=slave, env={**os.environ, "TERM": term})
        os.close(slave)
        out = p.stdout.read()
        self.assertEqual(p.wait(), 0)
        p.stdout.close()
        err = b""
        try:
            while chunk := os.read(master, 65536):
                err += chunk
        except OSError:
            pass
        os.close(master)
        return out, err.decode()

    def test_progress_line_fits_the_terminal(self):
        for columns in 40, 80:
            _, err = self.on_terminal(columns=columns)
            lines = err.split("\r\x1b[K")
            self.assertTrue(any("us sim" in x or "left" in x for x in lines))
            self.assertLess(max(len(x) for x in lines), columns)

    def test_progress_line_is_for_terminals_only(self):
        out, err = self.on_terminal()
        self.assertIn("us simulated", err)
        self.assertIn("left", err)
        self.assertTrue(err.endswith("\r\x1b[K"), err[-20:])
        quiet_out, quiet_err = self.on_terminal("--quiet")
        self.assertEqual(quiet_err, "")
        self.assertEqual(self.on_terminal(term="dumb"), (out, ""))
        self.assertEqual(out, quiet_out)
        piped = self.run_exp(self.LONG, "--format", "json")
        self.assertEqual(piped.stderr, "")
        self.assertEqual(piped.stdout.encode(), out)


class Bench(Base):
    def test_bench_measures_three_lengths_of_the_queue(self):
        r = json.loads(self.weft("bench", "events", "--quick", "--format",
                                 "json").stdout)
        self.assertEqual([(x["bench"], x["name"], x["unit"]) for x in r],
                         [("events", n, "ns/event") for n in
                          ["pending_100", "pending_10k", "pending_1m"]])
        self.assertTrue(all(x["value"] > 0 for x in r))


class Reproduce(Base):
    KEYS = ["id", "system", "scenario", "unit", "paper", "model", "error_pct",
            "tolerance_pct", "within", "experiment", "set", "basis",
            "parameter", "derived", "reason", "enforced", "pass", "note"]
    BASES = {"structural", "predicted", "calibrated", "input"}

    @classmethod
    def setUpClass(cls):
        p = subprocess.run([WEFT, "reproduce", "forth", "--format", "json",
                            "--jobs", "2"], capture_output=True, text=True)
        cls.status, cls.rows = p.returncode, json.loads(p.stdout)

    def test_rows_have_every_key_and_a_known_basis(self):
        for r in self.rows:
            self.assertEqual(list(r), self.KEYS)
            self.assertIn(r["basis"], self.BASES)
            if not r["enforced"]:
                self.assertTrue(r["note"], r["id"])

    def test_row_passes_within_its_tolerance(self):
        """pass means |error| <= tolerance; the status follows from them."""
        self.assertGreater(len(self.rows), 30)
        for r in self.rows:
            held = (r["error_pct"] is not None and
                    abs(r["error_pct"]) <= r["tolerance_pct"] + 1e-6)
            self.assertEqual(r["pass"], held, r["id"])
        bad = [r["id"] for r in self.rows if r["enforced"] and not r["pass"]]
        self.assertEqual(self.status, 1 if bad else 0)

    def test_row_alone_is_as_among_all(self):
        rows = json.loads(self.weft("reproduce", "F15", "--format",
                                    "json").stdout)
        self.assertEqual(rows, [r for r in self.rows if r["id"] == "F15"])

    def test_unknown_row_or_setting_is_refused(self):
        p = self.weft("reproduce", "nosuch", status=2)
        self.assertIn("no system or row 'nosuch'", p.stderr)
        p = self.weft("reproduce", "forth", "--set", "no.such=1",
                      "--out", "out.db", status=2)
        self.assertIn("none of the experiments has such a thing", p.stderr)
        self.assertFalse(os.path.exists(self.path("out.db")))


class Sensitivity(Base):
    """Rows of one small experiment of two points."""

    @classmethod
    def setUpClass(cls):
        p = subprocess.run([WEFT, "reproduce", "HV-04", "HV-05", "--jobs", "2",
                            "--sensitivity", "--format", "json"],
                           capture_output=True, text=True)
        cls.status = p.returncode
        cls.rows = {r["id"]: r for r in json.loads(p.stdout)}

    def parameters(self, row):
        return {f"{p['class']}.{p['parameter']}": p
                for p in self.rows[row]["parameters"]}

    def test_row_fails_at_half_and_twice_the_clock(self):
        """Half the clock is twice the time."""
        self.assertEqual(self.status, 0)
        clock = self.parameters("HV-04")["hvia.nic.clock"]
        built = self.rows["HV-04"]["model"]
        for side, scale in (("halved", 0.5), ("doubled", 2)):
            s = clock[side]
            self.assertEqual((s["end"], s["scale"], s["pass"], s["last"]),
                             ("ran", scale, False, clock["built"]))
            self.assertAlmostEqual(s["model"], built / scale, 2)

    def test_parameters_that_move_a_row_most_come_first(self):
        """The first three have last values."""
        for name, r in self.rows.items():
            self.assertTrue(r["breaks"])
            most = [max(abs(p[s]["model"] / r["model"] - 1)
                        for s in ("halved", "doubled")
                        if p[s]["end"] == "ran") for p in r["parameters"]]
            self.assertEqual(most, sorted(most, reverse=True), name)
            for i, p in enumerate(r["parameters"]):
                for s in ("halved", "doubled"):
                    fails = p[s]["end"] == "ran" and not p[s]["pass"]
                    self.assertEqual(p[s]["last"] is not None,
                                     fails and i < 3, name)

    def test_last_value_passes_and_the_next_fails(self):
        memory = self.parameters("HV-05")["bus.pci.t_mem"]
        self.assertEqual(memory["halved"]["last"], "281.25ns")
        for value, passes in (("281.25ns", True), ("270ns", False)):
            p = self.weft("reproduce", "HV-05", "--set",
                          f"bus.pci.t_mem={value}", "--format", "json",
                          status=0 if passes else 1)
            self.assertEqual(json.loads(p.stdout)[0]["pass"], passes, value)

    def test_memory_of_the_host_moves_no_card(self):
        self.assertNotIn("bus.pci.t_mem", self.parameters("HV-04"))


if __name__ == "__main__":
    del sys.argv[1:4]
    unittest.main()
