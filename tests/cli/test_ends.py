#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run whose programs have ended, or failed, or wait for one that has failed,
ends and says so, whatever serves in the background.

    test_ends.py WEFT PLUGIN [unittest options]
"""
import os
import subprocess
import sys
import unittest

WEFT, PLUG = (os.path.abspath(a) for a in sys.argv[1:3])

TEXT = """
nodes:
  count: 2
  host: {type: host.pc}
  bus: {type: bus.ht}
  nic: {type: hostport.nic, net_clock: 312.5MHz}
fabric:
  type: mesh
  dims: [2]
  switch: {type: extoll.xbar, preset: hostport}
  link: {type: extoll.cable}
workload:
  - {program: hostport.driver}
  - {program: hostport.pingpong, count: 2, on: 0}
  - {program: hostport.pingpong, count: 2, on: 1}
"""


def run(*sets):
    args = [WEFT, "run", "-", "--quiet"]
    for s in sets:
        args += ["--set", s]
    return subprocess.run(args, input=TEXT, capture_output=True, text=True,
                          timeout=20)


class Ends(unittest.TestCase):
    def test_programs_that_end_well_end_the_run(self):
        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_programs_that_cannot_open_end_the_run(self):
        done = run("workload.1.partner=7", "workload.2.partner=7")
        self.assertEqual(done.returncode, 1, done.stderr)
        for node in "n0", "n1":
            self.assertIn(node + ".prog1: ended with -22", done.stderr)
        self.assertNotIn("still waits", done.stderr)

    def test_program_that_waits_for_a_failed_one_is_named(self):
        done = run("workload.1.partner=7")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("n0.prog1: ended with -22", done.stderr)
        self.assertIn("n1.prog1: still waits for", done.stderr)
        self.assertNotIn("simulated time ends", done.stderr)
        self.assertNotIn("prog0", done.stderr)


WAITERS = """
nodes:
  count: 2
  host: {type: host.pc}
  bus: {type: bus.pcix}
  nic: {type: test.nic}
fabric: {type: direct, link: {type: link.cable}}
workload:
  - {program: test.waiter, way: tick, on: 0, background: yes}
  - {program: test.waiter, way: %s, time: %s, on: 0}
"""


def wait(way, time="1ms", *sets):
    args = [WEFT, "run", "-", "--quiet", "--load", PLUG]
    for s in sets:
        args += ["--set", s]
    return subprocess.run(args, input=WAITERS % (way, time), text=True,
                          capture_output=True, timeout=60)


class Watchdog(unittest.TestCase):
    def barks(self, done, what):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("nothing but time passed for 1s (run.watchdog)",
                      done.stderr)
        self.assertIn("n0.prog1: still waits for " + what, done.stderr)

    def test_program_that_waits_for_ever_is_named(self):
        for way, what in (("key", "the out-of-band key 'never put'"),
                          ("word", "another thread to wake it"),
                          ("patience", "a store to its memory"),
                          ("tick", "its alarm"),
                          ("spin", "its processor")):
            with self.subTest(way):
                self.barks(wait(way, "1ms", "run.watchdog=1s"), what)

    def test_watchdog_waits_ten_seconds_by_default(self):
        self.assertIn("nothing but time passed for 10s", wait("key").stderr)

    def test_long_sleep_is_not_a_hang(self):
        done = wait("sleep", "7s", "run.watchdog=1s")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_clock_ends_before_it_wraps(self):
        done = wait("key", "1ms", "run.watchdog=0", "workload.0.time=1s")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("simulated time ends at 9000 s", done.stderr)
        self.assertIn("the out-of-band key 'never put'", done.stderr)

    def test_run_without_events_ends_at_its_last_one(self):
        done = wait("word", "1ms", "workload.0.way=sleep",
                    "workload.0.time=3ms")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn("watchdog", done.stderr)
        self.assertNotIn("simulated time ends", done.stderr)

    def test_run_that_ends_in_time_is_not_watched(self):
        done = wait("key", "1ms", "run.until=9s")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the out-of-band key 'never put'", done.stderr)
        self.assertNotIn("watchdog", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
