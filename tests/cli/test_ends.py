#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run whose programs have ended, or failed, or wait for one that has failed,
ends and says so, whatever serves in the background.

    test_ends.py WEFT [unittest options]
"""
import os
import subprocess
import sys
import unittest

WEFT = os.path.abspath(sys.argv[1])

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
    def test_well(self):
        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_all_fail_before_they_open(self):
        done = run("workload.1.partner=7", "workload.2.partner=7")
        self.assertEqual(done.returncode, 1, done.stderr)
        for node in "n0", "n1":
            self.assertIn(node + ".prog1: ended with -5", done.stderr)
        self.assertNotIn("still waits", done.stderr)

    def test_one_fails_and_the_other_waits_for_it(self):
        done = run("workload.1.partner=7")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("n0.prog1: ended with -5", done.stderr)
        self.assertIn("n1.prog1: still waits for", done.stderr)
        self.assertNotIn("prog0", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
