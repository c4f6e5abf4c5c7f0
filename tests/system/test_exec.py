#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes on a simulated machine (weft exec): exact times, all operations,
what a process that breaks the rules or dies does to the others.

    test_exec.py WEFT ROOT PROGRAMS      folder of tests/attach's programs
"""
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from leftovers import Job, children
from weftlib import WEFT, run

PROGRAMS = sys.argv.pop(1)
PINGPONG, OPS, BAD, STALL = [os.path.join(PROGRAMS, p) for p in (
    "att_pingpong", "att_ops", "att_bad", "att_stall")]
MACHINES = ["extoll", "forth", "hostport", "hvia"]
# A shell in the background ignores it, and so would programs started here.
signal.signal(signal.SIGINT, signal.default_int_handler)


def weft_exec(*args, timeout=60, env=None, cwd=None):
    return subprocess.run([os.path.abspath(WEFT), "exec", *args],
                          capture_output=True,
                          text=True, timeout=timeout, cwd=cwd,
                          env=dict(os.environ, **(env or {})))


def half_rtt(text):
    return int(re.search(r"half_rtt (\d+) fs", text)[1])


def wait_for(found, seconds=10):
    end = time.time() + seconds
    while time.time() < end:
        v = found()
        if v:
            return v
        time.sleep(0.01)
    raise AssertionError("nothing came")


class Exec(unittest.TestCase):
    def good(self, p):
        self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
        return p

    def test_times_are_those_of_a_program_inside(self):
        for name, at, sizes in (("extoll", "workload", (8, 1024, 4096)),
                                ("forth", "workload", (8, 512)),
                                ("hostport", "workload.1", (8, 1024))):
            for size in sizes:
                with self.subTest(name, size=size):
                    inside = run(name + "/ep-pingpong", "sweep={}",
                                 at + ".count=20", at + ".start=1ms",
                                 "%s.size=%d" % (at, size))
                    p = self.good(weft_exec(
                        "--fabric", name + "/ep-pingpong", "-n", "2", "--",
                        PINGPONG, str(size), "20", "1000000"))
                    mean = [v for k, v in inside.metrics.items()
                            if k.endswith("half_rtt")]
                    self.assertEqual(half_rtt(p.stdout), int(mean[0] * 1e6 +
                                                             1e-3))
                    self.assertIn(" 0 causality violations (exact)", p.stderr)

    def test_every_nic_serves_every_call_of_the_endpoint(self):
        for name in MACHINES:
            for clock in ("fixed", "none"):
                with self.subTest(name, clock=clock):
                    p = self.good(weft_exec("--fabric", "exec/%s-pair" % name,
                                            "--clock", clock, "--", OPS))
                    self.assertEqual(len(p.stdout.splitlines()), 2)

    def test_processor_clock_adds_time_of_the_program(self):
        p = self.good(weft_exec("--fabric", "exec/extoll-pair", "--clock",
                                "cpu", "--", PINGPONG))
        self.assertGreater(half_rtt(p.stdout), 1219000000)

    def test_two_runs_are_the_same(self):
        args = ("--fabric", "exec/forth-eight", "-n", "4", "--format", "json")
        a, b, c = [self.good(weft_exec(*args, *more, "--", OPS))
                   for more in ((), (), ("--cores", "2"))]
        ranks = [sorted(ln for ln in x.stdout.splitlines()
                        if ln.startswith("rank ")) for x in (a, b, c)]
        self.assertEqual(len(ranks[0]), 4)
        self.assertEqual(ranks[0], ranks[1])
        self.assertEqual(ranks[0], ranks[2])
        rest = [[ln for ln in x.stdout.splitlines()
                 if not ln.startswith("rank ")] for x in (a, b)]
        self.assertEqual(rest[0], rest[1])

    def test_several_ranks_share_a_node(self):
        p = self.good(weft_exec("--fabric", "exec/hostport-pair",
                                "--per-node", "2", "--", OPS,
                                env={"WEFT_PER_NODE": "2"}))
        self.assertEqual(sorted(ln.split(":")[0] for ln in
                                p.stdout.splitlines()),
                         ["rank %d" % r for r in range(4)])

    def test_deadline_of_a_process_taken_for_waiting_comes(self):
        for how in "outside", "poll":
            with self.subTest(how):
                p = self.good(weft_exec(
                    "--fabric", "exec/extoll-pair", "--",
                    os.path.join(PROGRAMS, "att_late"), how))
                self.assertEqual(p.stdout, "wait: -110, in time\n" * 2)

    def test_calls_whose_names_become_equal_stay_apart(self):
        with tempfile.TemporaryDirectory() as d:
            out = os.path.join(d, "names.db")
            self.good(weft_exec("--fabric", "exec/extoll-pair", "--out", out,
                                "--", os.path.join(PROGRAMS, "att_names")))
            db = sqlite3.connect(out)
            rows = db.execute("SELECT rank, name, bytes FROM calls").fetchall()
            db.close()
        for rank in 0, 1:
            self.assertEqual(sorted(r[2] for r in rows if r[0] == rank),
                             [1, 2, 3, 4])

    def test_folder_of_libraries_may_have_a_space(self):
        """The loader takes a space for the end of a path."""
        with tempfile.TemporaryDirectory() as d:
            libs = os.path.join(d, "two words")
            top = os.path.dirname(os.path.dirname(PROGRAMS))
            os.symlink(os.path.join(top, "src/preload"), libs)
            p = self.good(weft_exec("--fabric", "exec/extoll-pair", "--",
                                    "sh", "-c", "echo $LD_PRELOAD; exec " +
                                    PINGPONG, env={"WEFT_LIBS": libs}))
            self.assertIn("libweft-time.so", p.stdout)
            self.assertNotIn("cannot be preloaded", p.stderr)

    def test_run_that_no_process_joins_warns(self):
        p = self.good(weft_exec("--fabric", "exec/extoll-pair", "--", "true"))
        self.assertIn("no process has joined the machine", p.stderr)

    def test_node_beyond_32_bits_is_refused(self):
        p = weft_exec("--fabric", "exec/extoll-pair", "--map", "0:4294967296",
                      "--", PINGPONG)
        self.assertEqual(p.returncode, 2)
        self.assertIn("there is no node", p.stderr)

    def test_map_places_ranks_on_nodes(self):
        p = self.good(weft_exec("--fabric", "exec/extoll-eight", "-n", "2",
                                "--map", "0:1,1:0", "--", "sh", "-c",
                                "echo rank $WEFT_RANK on $WEFT_NODE; exec " +
                                PINGPONG))
        self.assertIn("rank 0 on 1\n", p.stdout)
        self.assertIn("rank 1 on 0\n", p.stdout)
        self.assertIn("half_rtt", p.stdout)

    def test_messages_of_a_rank_that_leaves_arrive(self):
        """Two that send more than there is room for, and leave; one that
        does: what it has sent arrives."""
        for args in (("extoll",), ("hvia", "--clock", "none"),
                     ("forth", "--clock", "none", "--path", "direct")):
            for way in ("both", "last"):
                with self.subTest(args, way=way), \
                        tempfile.TemporaryDirectory() as folder:
                    p = self.good(weft_exec("--fabric", "exec/%s-pair" %
                                            args[0], *args[1:], "--", STALL,
                                            way, cwd=folder, timeout=20))
                    self.assertEqual(len(p.stdout.splitlines()), 2)

    def test_failed_rank_is_named(self):
        p = weft_exec("--fabric", "exec/extoll-pair", "--", "sh", "-c",
                      "exit $WEFT_RANK")
        self.assertEqual(p.returncode, 1)
        self.assertIn("rank 1 (sh) ended with status 1", p.stderr)
        self.assertNotIn("rank 0", p.stderr)

    def test_process_that_breaks_rules_is_detached(self):
        for way in ("tail", "kind", "message", "release", "head", "all"):
            with self.subTest(way):
                with tempfile.TemporaryDirectory() as folder:
                    out = os.path.join(folder, "x.db")
                    p = weft_exec("--fabric", "exec/extoll-pair", "--out", out,
                                  "--", BAD, way)
                    db = sqlite3.connect(out)
                    counted = db.execute(
                        "SELECT sum(value) FROM counters WHERE name GLOB "
                        "'*.broken' GROUP BY name = 'exec.broken'").fetchall()
                    db.close()
                self.assertEqual(p.returncode, 0, p.stderr)
                self.assertIn("is detached: ", p.stderr)
                told = p.stderr.count("is detached: ")
                self.assertEqual(counted, [(told,), (told,)])
        for way in ("put", "fork", "exit"):
            with self.subTest(way):
                self.good(weft_exec("--fabric", "exec/extoll-pair", "--", BAD,
                                    way))

    def killed(self, sig, clock):
        """A rank is hit in the middle; how it all ended."""
        p = subprocess.Popen(
            [WEFT, "exec", "--fabric", "exec/extoll-pair", "--clock", clock,
             "--patience", "300ms", "--", OPS, "10000"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ranks = wait_for(lambda: len(children(p.pid)) == 2 and children(p.pid))
        time.sleep(0.2)
        os.kill(ranks[1], sig)
        out, err = p.communicate(timeout=10)
        self.assertEqual(p.returncode, 1, err)
        for pid in ranks:
            self.assertFalse(os.path.exists("/proc/%d" % pid))
        self.assertIn("rank 0: error event: -32", err)
        return err

    def test_killed_rank_ends_the_run(self):
        for clock in ("fixed", "none"):
            err = self.killed(signal.SIGKILL, clock)
            self.assertIn("was ended by signal 9", err)

    def test_stopped_rank_is_ended_when_patience_expires(self):
        for clock in ("fixed", "none"):
            err = self.killed(signal.SIGSTOP, clock)
            self.assertIn("it was stopped for too long, and is ended", err)

    def test_waiting_ranks_learn_of_one_that_never_joined(self):
        for args in ((), ("--clock", "none"),
                     ("--clock", "none", "--path", "direct")):
            with self.subTest(args):
                p = weft_exec("--fabric", "exec/extoll-pair", *args, "--",
                              "sh", "-c",
                              "[ $WEFT_RANK = 1 ] && kill -9 $$; exec " + OPS,
                              timeout=20)
                self.assertEqual(p.returncode, 1, p.stderr)
                self.assertIn("has ended before it was attached", p.stderr)
                self.assertRegex(p.stderr, "rank 0: (error event|send): -32")

    def test_rank_stopped_before_it_joined_is_ended(self):
        p = weft_exec("--fabric", "exec/extoll-pair", "--patience", "200ms",
                      "--", "sh", "-c",
                      "[ $WEFT_RANK = 1 ] && kill -STOP $$; exec " + OPS,
                      timeout=20)
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertIn("(sh) was stopped for too long, and is ended", p.stderr)
        self.assertRegex(p.stderr, "rank 0: (error event|send): -32")

    def test_children_left_behind_end_with_the_run(self):
        """Children that a process leaves behind end with the run, and so does
        a run whose simulator is killed."""
        for sig in (None, signal.SIGKILL):
            with self.subTest(sig):
                j = Job([WEFT, "exec", "--fabric", "exec/extoll-pair", "--",
                         "sh", "-c", "(exec sleep 60 >&- 2>&-) & %s" %
                         (OPS + " 100000" if sig else OPS)])
                self.assertEqual(len(j.wait_named("sleep", 2)), 2)
                if sig:
                    j.wait_named("att_ops", 2)
                    j.p.send_signal(sig)
                status, _, err, left = j.end()
                self.assertEqual((status, left), (-sig if sig else 0, []), err)

    def test_ranks_end_with_a_killed_simulator(self):
        p = subprocess.Popen([WEFT, "exec", "--fabric", "exec/extoll-pair",
                              "--", OPS, "10000"], stderr=subprocess.DEVNULL)
        ranks = wait_for(lambda: len(children(p.pid)) == 2 and children(p.pid))
        p.kill()
        p.wait()
        wait_for(lambda: not any(os.path.exists("/proc/%d" % r)
                                 for r in ranks), 5)

    def test_terminated_run_returns_the_signal(self):
        p = subprocess.Popen([WEFT, "exec", "--fabric", "exec/extoll-pair",
                              "--", OPS, "10000"], stderr=subprocess.PIPE,
                             text=True)
        wait_for(lambda: len(children(p.pid)) == 2)
        p.terminate()
        _, err = p.communicate(timeout=10)
        self.assertEqual(p.returncode, 128 + signal.SIGTERM, err)

    def test_interrupt_ends_a_run_without_events(self):
        """Processes that do not join, and no event in the machine."""
        p = subprocess.Popen([WEFT, "exec", "--fabric", "exec/extoll-pair",
                              "--", "sleep", "60"], stderr=subprocess.PIPE,
                             text=True)
        time.sleep(0.3)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=10)
        self.assertEqual(p.returncode, 128 + signal.SIGINT, err)
        self.assertNotIn("still waits", err)

    def test_wrong_options_are_refused_with_a_remedy(self):
        for args, says in (
                (("--", "true"), "--fabric is missing"),
                (("--fabric", "exec/extoll-pair"), "something is missing"),
                (("--fabric", "exec/extol-pair", "true"), "did you mean"),
                (("--fabric", "exec/extoll-pair", "-n", "3", "true"),
                 "no node 2 for rank 2"),
                (("--fabric", "exec/extoll-pair", "--map", "0-1", "true"),
                 "write RANK:NODE"),
                (("--fabric", "exec/extoll-pair", "--clock", "x", "true"),
                 "give fixed, cpu or none"),
                (("--fabric", "exec/extoll-pair", "--mpi", "none", "--",
                  "/no/such"), "cannot start '/no/such'"),
                (("--fabric", "extoll/net-hops", "true"), "no nodes")):
            with self.subTest(args):
                p = weft_exec(*args)
                self.assertEqual(p.returncode, 2, p.stderr)
                self.assertIn(says, p.stderr)

    def test_results_count_messages_and_ranks(self):
        p = self.good(weft_exec("--fabric", "exec/extoll-pair", "--format",
                                "json", "--", PINGPONG, "8", "10"))
        d = json.loads(p.stdout[p.stdout.index("{"):])
        self.assertEqual(d["counters"]["n0.prog0.sends"], 10)
        self.assertEqual(d["counters"]["exec.joined"], 2)
        self.assertEqual(d["counters"]["exec.violations"], 0)


if __name__ == "__main__":
    unittest.main()
