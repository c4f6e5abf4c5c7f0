#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""VIPL from end to end through the command line: the common endpoint over VIs,
with and without losses, and unmodified programs that are none.

    test_vipl.py WEFT ROOT
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
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
            self.assertEqual(r["n0.prog0.tests"], 11)


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
        said = self.refused(os.path.abspath(__file__))
        self.assertIn("n0.prog0", said)
        self.assertIn("cc -shared -fPIC", said)


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class Ends(unittest.TestCase):
    """How a program may end."""
    SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	printf("%d words\n", argc - 1);
	if (!strcmp(argv[1], "exit"))
		exit(3);
	if (!strcmp(argv[1], "abort"))
		abort();
	if (!strcmp(argv[1], "crash"))
		*(volatile int *)16 = 1;
	return 0;
}
"""

    @classmethod
    def setUpClass(cls):
        cls.tmp = tempfile.TemporaryDirectory()
        cls.file = os.path.join(cls.tmp.name, "ends.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", cls.file],
                       input=cls.SOURCE, text=True, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.tmp.cleanup()

    def ends(self, args):
        return execute("run",
                       os.path.join(ROOT, "examples", "vipl", "two.yaml"),
                       "--set", "host.main.file=" + self.file,
                       "--set", "host.main.args=" + args)

    def test_well(self):
        p = self.ends("well " * 50)
        self.assertEqual(p.returncode, 0)
        self.assertIn("n1.prog0: 50 words", p.stderr)

    def test_status(self):
        p = self.ends("exit")
        self.assertEqual(p.returncode, 1)
        self.assertIn("n0.prog0: ended with 3", p.stderr)

    def test_abort(self):
        p = self.ends("abort")
        self.assertEqual(p.returncode, 1)
        self.assertIn("n0.prog0: aborted", p.stderr)

    def test_crash(self):
        """It takes the simulator with it, but not without a word."""
        p = self.ends("crash")
        self.assertEqual(p.returncode, -signal.SIGSEGV)
        self.assertIn("n0.prog0: the program has crashed", p.stderr)
        self.assertIn("address 0x10\n", p.stderr)


if __name__ == "__main__":
    unittest.main()
