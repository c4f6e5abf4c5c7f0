#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""VIPL from end to end through the command line: the common endpoint over VIs,
with and without losses, and unmodified programs that are none.

    test_vipl.py WEFT ROOT
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import ROOT, execute, run


class Endpoint(unittest.TestCase):
    def test_conformance(self):
        run("hvia/ep-conformance")

    def test_few_slots(self):
        run("hvia/ep-conformance", "workload.0.rx_slots=1",
            "workload.1.rx_slots=2", "workload.1.max_msg=600")

    def test_loss(self):
        """1 % of all frames: everything is there all the same."""
        for seed in (1, 2):
            r = run("hvia/ep-loss", seed=seed)
            self.assertEqual(r["n0.prog0.tests"], 9)


class Programs(unittest.TestCase):
    """host.main says what is wrong with a file."""

    def refused(self, file):
        p = execute("run", os.path.join(ROOT, "examples", "vipl", "two.yaml"),
                    "--set", "host.main.file=" + file)
        self.assertNotEqual(p.returncode, 0)
        return p.stderr

    def test_nothing_there(self):
        self.assertIn("No such file", self.refused("/nowhere/prog.so"))

    def test_no_program(self):
        self.assertIn("n0.prog0", self.refused(os.path.abspath(__file__)))


if __name__ == "__main__":
    unittest.main()
