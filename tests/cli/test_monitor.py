#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looking at a run: samples of counters, pictures, runs that are ended by a
signal, the distribution of packet latencies (forth.md 10).

    test_monitor.py WEFT [unittest options]
"""
import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

WEFT = os.path.abspath(sys.argv[1])
# A shell in the background ignores it, and so would programs started here.
signal.signal(signal.SIGINT, signal.default_int_handler)


def weft(*args, status=0, cwd=None):
    p = subprocess.run([WEFT, *args], text=True, capture_output=True,
                       timeout=120, cwd=cwd)
    if p.returncode != status:
        raise AssertionError(f"{args}: status {p.returncode}\n{p.stdout[:500]}"
                             f"{p.stderr[:2000]}")
    return p


def result(*args):
    return json.loads(weft("run", *args, "--format", "json").stdout)


def samples(r):
    return {s["name"][7:]: s for s in r["series"]
            if s["name"].startswith("sample.")}


def on_terminal(*args, **env):
    """Standard output of a run that has a terminal there."""
    try:
        master, slave = pty.openpty()
    except OSError as e:  # a chroot without /dev/pts
        raise unittest.SkipTest(str(e))
    p = subprocess.Popen([WEFT, *args], stdout=slave, stderr=subprocess.DEVNULL,
                         env=dict(os.environ, TERM="xterm", **env))
    os.close(slave)
    out = b""
    try:
        while chunk := os.read(master, 65536):
            out += chunk
    except OSError:
        pass
    os.close(master)
    assert p.wait() == 0
    return out.decode()


class Samples(unittest.TestCase):
    RUNS = [
        ["forth/uniform", "--set", "workload.count=100"],
        ["forth/multi-uniform", "--set", "workload.count=100"],
        ["forth/pingpong", "--set", "workload.count=10"],
        ["forth/rtt-direct"],
        ["forth/clock-offset"],
        ["forth/monitor-latency", "--set", "workload.count=300"],
        ["generic/crossbar-load", "--set", "run.until=100us"],
        ["forth/clos", "--set", "run.until=30us"],
        ["coh/delivery"],
    ]

    def test_samples_change_no_result(self):
        for args in self.RUNS:
            plain = result(*args)
            for every in ("173ns", "10us"):
                r = result(*args, "--sample", every)
                for a, b in zip(plain.get("runs", [plain]),
                                r.get("runs", [r])):
                    self.assertTrue(samples(b), args)
                    b["series"] = [s for s in b["series"]
                                   if not s["name"].startswith("sample.")]
                    self.assertEqual(a, b, args)

    def test_series_rise_to_the_counters_at_the_end(self):
        r = result("forth/uniform", "--set", "workload.count=200", "--sample",
                   "20us,n*.nic.packets_*", "--sample=20us,s0.port0.words")
        s = samples(r)
        self.assertEqual(len(s), 2 * 8 + 1)
        end = r["counters"]["sim.time"] / 1e9
        for name, c in s.items():
            steps = [20 * (i + 1) for i in range(len(c["x"]) - 1)]
            self.assertEqual(c["x"], steps + [end])
            self.assertEqual(c["y"], sorted(c["y"]))
            self.assertEqual(c["y"][-1], r["counters"][name])
            self.assertEqual(c["x_unit"], "us")
        self.assertEqual(s["n0.nic.packets_in"]["y_unit"], "packets")
        # Live, not only at the end: packets moved in many intervals.
        y = s["n0.nic.packets_in"]["y"]
        self.assertGreater(len(set(y)), 20)

    def test_counters_taken_only_at_the_end_are_live(self):
        r = result("forth/uniform", "--set", "workload.count=200", "--sample",
                   "20us,s0.*")
        s = samples(r)
        for name in ("s0.packets", "s0.backpressure", "s0.idle"):
            self.assertGreater(len(set(s[name]["y"])), 10, name)
        # Between two samples of 20 us eight ports have 8 x 1562.5 cycles.
        for k in (50, 60):
            d = sum(s[n]["y"][k] - s[n]["y"][k - 1]
                    for n in ("s0.idle", "s0.words"))
            self.assertAlmostEqual(d, 8 * 1562.5, delta=800)

    def test_samples_hold_what_changes_or_is_named(self):
        r = result("forth/pingpong", "--sample", "100us")
        s = samples(r)
        self.assertEqual(set(s), {n for n, v in r["counters"].items()
                                  if v and n != "sim.time"})
        named = samples(result("forth/pingpong", "--sample",
                               "100us,n0.nic.irqs"))
        self.assertEqual(set(named["n0.nic.irqs"]["y"]), {0})

    def test_long_series_lengthen_their_interval(self):
        fine = samples(result("forth/uniform", "--set", "workload.count=300",
                              "--sample", "100ns,n0.nic.packets_in"))
        c = fine["n0.nic.packets_in"]
        self.assertLessEqual(len(c["x"]), 2049)
        self.assertGreater(len(c["x"]), 1000)
        step = c["x"][0]
        self.assertIn(step, [0.1 * 2 ** k for k in range(1, 12)])
        for a, b in zip(c["x"][:-2], c["x"][1:-1]):
            self.assertAlmostEqual(b - a, step, places=6)
        # The remaining samples are those of the longer interval.
        same = samples(result("forth/uniform", "--set", "workload.count=300",
                              "--sample",
                              "%dns,n0.nic.packets_in" % round(step * 1000)))
        self.assertEqual(c["y"], same["n0.nic.packets_in"]["y"])

    def test_workers_sample_what_the_experiment_names(self):
        args = ["forth/load", "--set", "workload.count=50", "--set",
                "record={sample: 50us, of: 'n?.nic.packets_in'}", "--format",
                "json"]
        one = weft("run", *args).stdout
        self.assertEqual(one, weft("run", *args, "--jobs", "3").stdout)
        for r in json.loads(one)["runs"]:
            self.assertEqual(len(samples(r)), 8)

    def test_database_and_csv_hold_the_same_series(self):
        with tempfile.TemporaryDirectory() as d:
            db = os.path.join(d, "x.db")
            out = weft("run", "forth/pingpong", "--sample",
                       "1ms,n0.nic.packets_in", "--format", "csv", "--out",
                       db).stdout
            rows = sqlite3.connect(db).execute(
                "select x, y from series where name="
                "'sample.n0.nic.packets_in' order by i").fetchall()
        csv = [tuple(map(float, line.split(",")[-2:]))
               for line in out.splitlines()
               if ",sample.n0.nic.packets_in," in line]
        self.assertEqual(rows, csv)
        self.assertGreater(len(rows), 5)

    def test_wrong_sample_is_refused_in_one_line(self):
        for args, text in [
            (["--sample", "12q"], "run: --sample: '12q' is no time"),
            (["--sample", "1us,n9.nic.x"], "no counter is called n9.nic.x"),
            (["--sample", "10fs"], "record.sample: '10fs' is below 1ns"),
            (["--set", "record.of=x"], "add e.g. sample: 10us"),
        ]:
            p = weft("run", "forth/pingpong", *args, status=2)
            self.assertEqual(p.stdout, "")
            self.assertEqual(p.stderr.count("\n"), 1)
            self.assertIn(text, p.stderr)
        weft("check", "forth/load", "--set",
             "record={sample: 1us, of: nobody}", status=2)


class Pictures(unittest.TestCase):
    ARGS = ["run", "forth/monitor-light", "--show", "n0.prog0.total_from1",
            "--show", "n*.nic.packets_in", "--sample",
            "1ms,n0.nic.packets_in"]

    def test_piped_pictures_are_ascii(self):
        out = weft(*self.ARGS).stdout
        self.assertTrue(out.isascii())
        self.assertIn("n0.prog0.total_from1 [ns], 100 values\n", out)
        self.assertRegex(out, r"\n +8\d\d \.\. +8\d\d +9\d +9\d\.0 %  #{48}\n")
        self.assertIn("n0.nic.packets_in [packets/us]", out)
        self.assertNotIn("total_from2", out)

    def test_terminal_shows_blocks_where_its_locale_allows(self):
        out = on_terminal(*self.ARGS, LC_ALL="C.UTF-8")
        self.assertIn("\u2588" * 48, out)
        self.assertNotIn("#", out)
        self.assertTrue(on_terminal(*self.ARGS, LC_ALL="C").isascii())

    def test_too_many_samples_are_counted_without_pictures(self):
        out = weft("run", "forth/monitor-light", "--set", "record.show=[]",
                   "--sample", "1ms").stdout
        self.assertRegex(out, r"\d+ counters were sampled: see --format json, "
                              r"or choose with --show PATTERN\n")


class Signals(unittest.TestCase):
    """An endless run, ended."""

    def ended(self, sig, *args):
        with tempfile.TemporaryDirectory() as d:
            p = subprocess.Popen(
                [WEFT, "run", "forth/soak-uniform", "--out", "x.db", *args],
                cwd=d, text=True, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
            self.addCleanup(p.kill)
            time.sleep(1)
            p.send_signal(sig)
            out, err = p.communicate(timeout=60)
            self.assertEqual(p.returncode, 128 + sig)
            self.assertEqual(err, f"weft: ended by signal {int(sig)}: results "
                             "are partial\n")
            self.assertEqual(os.listdir(d), ["x.db"])
            sql = sqlite3.connect(os.path.join(d, "x.db"))
            ok = sql.execute("pragma integrity_check").fetchone()[0]
            marks = sql.execute("select value from manifest where "
                                "name='partial'").fetchall()
        self.assertEqual(ok, "ok")
        return out, marks

    def test_interrupted_run_keeps_partial_results(self):
        out, marks = self.ended(signal.SIGINT, "--format", "json", "--sample",
                                "1ms,n0.nic.packets_in")
        r = json.loads(out)
        self.assertIs(r["partial"], True)
        self.assertRegex(r["manifest"]["partial"], r"^ended at [\d.]+\w+$")
        self.assertEqual(marks, [(r["manifest"]["partial"],)])
        self.assertEqual(r["failures"], [])
        s = samples(r)["n0.nic.packets_in"]
        self.assertEqual(s["y"][-1], r["counters"]["n0.nic.packets_in"])
        self.assertGreater(s["y"][-1], 0)

    def test_terminated_run_prints_that_it_is_partial(self):
        out, _ = self.ended(signal.SIGTERM)
        self.assertIn("PARTIAL: ended by a signal\n", out)
        out, _ = self.ended(signal.SIGTERM, "--format", "csv")
        self.assertRegex(out.splitlines()[1], r"^,partial,,,,ended at ")

    def test_interrupted_sweep_keeps_points_that_ended(self):
        sweep = "sweep={workload.count: [2, 200000000, 200000001]}"
        for jobs in ("1", "2"):
            out, marks = self.ended(signal.SIGINT, "--format", "json",
                                    "--set", sweep, "--jobs", jobs)
            r = json.loads(out)
            self.assertIs(r["partial"], True)
            self.assertEqual(["partial" in x["manifest"] for x in r["runs"]],
                             [False] + [True] * int(jobs))
            self.assertEqual(len(marks), int(jobs))


class Latencies(unittest.TestCase):
    def test_unloaded_packets_take_the_published_times(self):
        # F11, F12, F23: 16 pc, 6 or 8 cc, two links of 24 cc.
        r = result("forth/monitor-light")
        h = {x["name"]: x for x in r["histograms"]}
        for s in range(1, 8):
            cut = (6 if s < 4 else 8) * 12.8
            at = f"n0.prog0.%s_from{s}"
            self.assertEqual((h[at % "nic"]["min"], h[at % "nic"]["max"]),
                             (160, 160))
            self.assertAlmostEqual(h[at % "switch"]["min"], cut)
            self.assertAlmostEqual(h[at % "total"]["min"],
                                   160 + cut + 48 * 12.8)
            self.assertEqual(h[at % "total"]["count"], 100)
        # and the picture of them all
        self.assertIn("\nn0.prog0.total [ns], 700 values\n",
                      weft("run", "forth/monitor-light").stdout)

    def check(self, r):
        h = {x["name"]: x for x in r["histograms"]}
        for n in range(8):
            at = f"n{n}.prog0."
            self.assertAlmostEqual(
                h[at + "total"]["mean"], h[at + "nic"]["mean"] +
                h[at + "switch"]["mean"] + 614.4, places=3)
            for part in ("nic", "switch", "total"):
                self.assertEqual(sum(h[f"{at}{part}_from{s}"]["count"]
                                     for s in range(8) if s != n),
                                 h[at + part]["count"])
            self.assertEqual(h[at + "total"]["count"],
                             r["metrics"][at + "received"])
            self.assertGreaterEqual(h[at + "nic"]["min"], 160)
            self.assertGreaterEqual(h[at + "switch"]["min"], 76.8)
        self.assertEqual(sum(r["metrics"][f"n{n}.prog0.sent"]
                             for n in range(8)),
                         sum(r["metrics"][f"n{n}.prog0.received"]
                             for n in range(8)))

    def test_rate_under_load_is_that_offered(self):
        rates = []
        for load in ("0.3", "0.6"):
            r = result("forth/monitor-latency", "--set",
                       "workload.load=" + load)
            self.check(r)
            rates.append(sum(r["metrics"][f"n{n}.prog0.rate_in"]
                             for n in range(8)))
            # 512 of 532 bytes are payload.
            offered = float(load) * 8 * 2.5e9 / 8 / 2**20 * 512 / 532
            self.assertAlmostEqual(rates[-1] / offered, 1, delta=0.08)

    def test_four_switches_share_the_load_of_eight_nodes(self):
        r = result("forth/plat-8x4")
        self.check(r)
        m = r["metrics"]
        for n in range(8):
            # 95 % of one port (F15: 2.4 Gb/s)
            self.assertGreater(m[f"n{n}.prog0.rate_in"],
                               0.95 * 2.4e9 / 8 / 2**20)
            parts = [m[f"n{n}.prog0.rate_from{s}"] for s in range(8) if s != n]
            self.assertLess(max(parts) - min(parts), 0.05 * max(parts))
        c = r["counters"]
        used = [c[f"s{k}.packets"] for k in range(4)]
        self.assertLess(max(used) - min(used), 0.01 * max(used))

    def test_distribution_per_source_is_printed(self):
        out = weft("run", "forth/plat-8x4").stdout
        for s in range(1, 8):
            head = f"n0.prog0.total_from{s} [ns], 1000 values\n"
            self.assertIn(head, out)
            rows = [line.split() for line in
                    out.split(head)[1].split("\n\n")[0].splitlines()]
            self.assertGreater(len(rows), 10)
            # from .. to, count, share, bar
            self.assertEqual(sum(int(r[3]) for r in rows), 1000)
            self.assertIn(f"n0.prog0.rate_from{s} ", out)

    def test_packets_of_other_sizes_are_refused(self):
        for size in ("20", "516", "4096"):
            p = weft("run", "forth/monitor-light", "--set",
                     "workload.size=" + size, status=2 if size == "20" else 1)
            self.assertIn("24", p.stderr)


if __name__ == "__main__":
    del sys.argv[1]
    unittest.main()
