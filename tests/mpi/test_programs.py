# SPDX-License-Identifier: Apache-2.0
"""Unmodified MPI programs of Debian give on a simulated fabric what they give
natively.

    test_programs.py WEFT ROOT BUILD [native|tcp|weft] [test...]

BUILD holds winfix.so.  A program that is not installed is skipped."""
import os
import sys
import unittest

import mpilib
import programs

BUILD = sys.argv.pop(1)
LAUNCHERS = {"native": mpilib.Native, "tcp": mpilib.Tcp,
             "weft": mpilib.Weft}
KIND = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] in LAUNCHERS \
    else "weft"
NATIVE = mpilib.Native()


def fabric(*options):
    """The launcher under test; options are for a simulated machine."""
    return mpilib.Weft(*options) if KIND == "weft" else LAUNCHERS[KIND]()


FABRIC = fabric("--fabric", "exec/extoll-eight")
PAIR = fabric("--fabric", "exec/extoll-pair")
# For 3.4 GB in messages of 2 MB (LatencyBandwidth of hpcc): long packets.
BULK = fabric("--fabric", os.environ.get("WEFT_BULK", "exec/forth-eight"))


class Programs(unittest.TestCase):
    def place(self):
        p = mpilib.Place()
        self.enterContext(p)
        return p

    def need(self, program):
        missing = mpilib.have(mpilib.MPIRUN or "mpirun", *program.needs)
        if missing:
            self.skipTest(missing + " is not installed")

    def run_one(self, program, launcher, place=None, **kw):
        self.need(program)
        place = place or self.place()
        argv = program.prepare(place)
        p = launcher.run(program.ranks, argv, place.path, **kw)
        return place, p.stdout + p.stderr

    def judge(self, program, launcher, **kw):
        """Runs it; what it says of itself is as it must be."""
        place, out = self.run_one(program, launcher, **kw)
        r = program.result(place, out)
        for k, v in program.wanted.items():
            self.assertEqual(r.get(k), v, k + "\n" + out[-2000:])
        return r

    def test_hpcc_passes_its_own_checks(self):
        self.judge(programs.Hpcc(), BULK, timeout=1200)

    def test_lammps_prints_the_table_of_a_native_run(self):
        program = programs.Lammps()
        want = self.judge(program, NATIVE)
        self.assertIn("Step", want["table"])
        self.assertEqual(self.judge(program, FABRIC), want)

    def test_gromacs_computes_what_a_native_run_does(self):
        program = programs.Gromacs()
        a, _ = self.run_one(program, NATIVE)
        b, _ = self.run_one(program, FABRIC)
        self.assertEqual(program.compare(a, b), "")

    def test_xdlu_passes_its_own_checks(self):
        r = self.judge(programs.Xdlu(), FABRIC)
        self.assertGreaterEqual(r["passed"], 6)

    def test_netpipe_passes_its_own_checks(self):
        r = self.judge(programs.Netpipe(), PAIR)
        self.assertGreater(r["passed"], 15)

    def test_netpipe_passes_its_one_sided_checks(self):
        fix = os.path.join(BUILD, "winfix.so")
        r = self.judge(programs.NetpipeOneSided(), PAIR,
                       env={"LD_PRELOAD": fix})
        self.assertGreater(r["passed"], 15)


if __name__ == "__main__":
    unittest.main()
