#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parts of MPI that few programs use: atomics on windows, several threads. All
of MPI on a network of routers.

    test_more.py WEFT ROOT PROGRAMS      folder of tests/mpi's programs
"""
import os
import re
import subprocess
import sys
import unittest

PROGRAMS = sys.argv.pop(3)
import mpilib  # noqa: E402
from weftlib import WEFT  # noqa: E402


def run(program, *args, ranks=2):
    argv = [WEFT, "exec", *args, "-n", str(ranks), "--",
            os.path.join(PROGRAMS, program)]
    p = subprocess.run(argv, capture_output=True, text=True, timeout=100,
                       env=mpilib.ENV)
    if p.returncode:
        raise mpilib.Failed(argv, p)
    return p.stdout


class More(unittest.TestCase):
    def test_atomics_on_windows_end_with_right_values(self):
        for args in (["--fabric", "exec/extoll-pair"],
                     ["--fabric", "exec/extoll-pair", "--clock", "none",
                      "--path", "direct"]):
            self.assertIn("24 ways are right", run("atomics", *args))

    def test_other_threads_see_time_pass(self):
        said = run("threads", "--fabric", "exec/extoll-pair")
        first, other = map(int, re.match(r"first (\d+) other (\d+)",
                                         said).groups())
        self.assertGreater(first, 1000)
        self.assertLess(abs(other - first), first / 4)

    def test_all_of_mpi_runs_on_a_dragonfly(self):
        said = run("all64", "--fabric", "exec/extoll-dragonfly", "--map",
                   "0:0,1:9,2:18,3:27,4:36,5:45,6:54,7:63", ranks=8)
        self.assertIn("all64: 8 ranks, 0 failed", said)


if __name__ == "__main__":
    unittest.main()
