# SPDX-License-Identifier: Apache-2.0
"""MPI programs that end in other ways than by MPI_Finalize, programs that fork,
ranks, mpirun and weft that are killed: everything ends, nothing is left.

    test_ends.py WEFT ROOT BUILD [test...]     BUILD holds tests/mpi/ends"""
import os
import random
import sys
import unittest

import mpilib  # noqa: F401  (finds the modules of tests/system)
import kills
from leftovers import Job
from weftlib import WEFT

BUILD = sys.argv.pop(1)
ENDS = os.path.join(BUILD, "mpi/ends")
TIMED = ("--fabric", "exec/extoll-eight")
DIRECT = (*TIMED, "--clock", "none", "--path", "direct")


class Ends(unittest.TestCase):
    def run_ends(self, *args):
        job = Job([WEFT, "exec", *args], env=kills.Mpi.ENV)
        status, out, err, left = job.end(30)
        self.assertEqual(left, [], err)
        return status, out, err

    def forks(self, *args):
        status, out, err = self.run_ends(
            *args, "--", ENDS,
            "fork,fork-exit,fork-exec,fork-beside,fork-use,system", "3")
        self.assertEqual((status, out), (0, "all is well\n"), err)
        self.assertNotIn("without leaving", err)

    def test_children_of_ranks_disturb_no_run(self):
        """Children that leave at once, through exit, by exec, later, or take
        themselves for ranks; system and popen."""
        self.forks(*TIMED, "-n", "3")

    def test_abort_is_reported_with_its_status(self):
        status, out, err = self.run_ends(*TIMED, "-n", "3", "--", ENDS, "abort",
                                         "3")
        self.assertEqual(status, 1, err)
        self.assertIn("ends ended with status 7", err)
        self.assertRegex(err, r"rank 1 on n1 \(process \d+\) has gone without")

    def test_exit_without_finalize_is_reported(self):
        status, out, err = self.run_ends(*DIRECT, "-n", "2", "--", ENDS, "exit",
                                         "3")
        self.assertEqual(status, 1, err)
        self.assertRegex(err, r"rank 1 on n1 \(process \d+\) has gone without")

    def test_two_jobs_share_a_machine(self):
        """At the same time, and beside a second simulator."""
        two = "mpirun -n 2 {0} loop 3 & mpirun -n 3 {0} loop 9 && wait $!"
        beside = Job([WEFT, "exec", *DIRECT, "-n", "2", "--", ENDS, "loop"])
        status, out, err = self.run_ends(*TIMED, "-n", "4", "--mpi", "script",
                                         "--", "sh", "-c", two.format(ENDS))
        self.assertEqual((status, out), (0, 2 * "all is well\n"), err)
        self.assertIn("weft: 5 of 4 processes attached", err)
        status, out, err, left = beside.end(30)
        self.assertEqual((status, out, left), (0, "all is well\n", []), err)

    def test_killed_process_leaves_no_other_behind(self):
        """Four of those of kills.py."""
        k = kills.Mpi(WEFT, BUILD)
        for whom, sig, phase, way in (("rank", "KILL", "init", 0),
                                      ("rank", "STOP", "loop", 2),
                                      ("mpirun", "KILL", "fini", 1),
                                      ("weft", "KILL", "loop", 0)):
            with self.subTest(whom=whom, sig=sig, phase=phase):
                self.assertIsNone(k.once(random.Random(1), whom, sig, phase,
                                         kills.WAYS[way], 0.05))


class Long(unittest.TestCase):
    """For `make soak`: python3 test_ends.py ... Long"""
    run_ends, forks = Ends.run_ends, Ends.forks

    def test_children_of_ranks_disturb_no_way_of_running(self):
        for way in kills.WAYS:
            self.forks("--fabric", "exec/hvia-eight", *way.split(), "-n", "4")

    def test_several_jobs_run_in_turn_and_at_once(self):
        for way in kills.WAYS:
            status, out, err = self.run_ends(
                "--fabric", "exec/hostport-eight", "-n", "4", *way.split(),
                "--mpi", "script", "--", "sh", "-c",
                "mpirun -n 4 {0} loop 3 && mpirun -n 2 {0} loop 9 & "
                "mpirun -n 3 {0} loop 9 && wait $!".format(ENDS))
            self.assertEqual((status, out), (0, 3 * "all is well\n"), err)

    def test_every_bad_end_is_reported_on_every_fabric(self):
        for fabric in ("extoll", "forth", "hostport", "hvia"):
            for way in kills.WAYS:
                for end, says in (("abort", "ended with status 7"),
                                  ("exit", ""), ("exit-all", ""),
                                  ("fail", "ended with status"), ("segv", "")):
                    with self.subTest(fabric, way=way, end=end):
                        status, _, err = self.run_ends(
                            "--fabric", "exec/%s-eight" % fabric, "-n", "4",
                            *way.split(), "--", ENDS, end, "4")
                        self.assertEqual(status, 1, err)
                        self.assertIn("has gone without leaving", err)
                        self.assertIn(says, err)


if __name__ == "__main__":
    unittest.main(defaultTest=None if len(sys.argv) > 1 else "Ends")
