# SPDX-License-Identifier: Apache-2.0
"""Programs of an MPICH that is built on libfabric (device ch4:ofi), where there
is one: WEFT_MPICH is its prefix, or its mpichversion is in PATH.

    test_mpich.py WEFT ROOT [all] [test...]

all: on every NIC, timed and untimed."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ALL = "all" in sys.argv
sys.argv = [a for a in sys.argv if a != "all"]
import mpilib  # noqa: E402
from weftlib import ROOT  # noqa: E402

NICS = ("extoll", "forth", "hostport", "hvia")

def mpich():
    """Its prefix, or None and why not."""
    prefix = os.environ.get("WEFT_MPICH")
    version = shutil.which(os.path.join(prefix, "bin/mpichversion")
                           if prefix else "mpichversion")
    if version is None:
        return None, "no MPICH: WEFT_MPICH=PREFIX names one"
    p = subprocess.run([version], capture_output=True, text=True)
    if "ch4:ofi" not in p.stdout:
        return None, version + ": not built on libfabric (ch4:ofi)"
    return os.path.dirname(os.path.dirname(os.path.realpath(version))), ""


PREFIX, WHY = mpich()


def build(folder):
    here = os.path.join(ROOT, "tests/mpi")
    mpicc = os.path.join(PREFIX, "bin/mpicc")
    for name, files in (("all64", glob.glob(here + "/all64*.c")),
                        ("times", [here + "/times.c"]),
                        ("where", [here + "/where.c"])):
        subprocess.run([mpicc, "-w", "-O1", "-o", os.path.join(folder, name),
                        *files], check=True)


class Mpich(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="weft-mpich-")
        build(cls.dir)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def run_on(self, machine, n, program, *args, options=()):
        weft = mpilib.Weft("--fabric", machine, *options)
        return weft.run(n, [os.path.join(self.dir, program), *args], self.dir,
                        timeout=250)

    def test_mpi_takes_equal_times_on_one_core_and_two(self):
        said = []
        for cores in "1", "2":
            p = self.run_on("exec/extoll-eight", 4, "all64", "-t",
                            options=["--cores", cores])
            self.assertIn("all64: 4 ranks, 0 failed", p.stdout)
            self.assertIn("(exact)", p.stderr)
            said.append(p.stdout)
        self.assertGreater(said[0].count(" us\n"), 50)
        self.assertEqual(said[0], said[1])

    def test_dynamic_windows_take_atomics_and_puts(self):
        p = self.run_on("exec/extoll-eight", 4, "all64", "dynamic")
        self.assertIn("all64: 4 ranks, 0 failed", p.stdout)
        self.assertIn("(exact)", p.stderr)

    @unittest.skipUnless(ALL, "all")
    def test_every_nic_passes_all_of_mpi(self):
        for nic in NICS:
            for clock in "fixed", "none":
                with self.subTest(nic=nic, clock=clock):
                    p = [self.run_on("exec/%s-eight" % nic, 4, "all64", "-t",
                                     options=["--clock", clock])
                         for _ in range(2)]
                    for one in p:
                        self.assertIn("all64: 4 ranks, 0 failed", one.stdout)
                    if clock == "fixed":
                        self.assertIn("(exact)", p[0].stderr)
                        self.assertEqual(p[0].stdout, p[1].stdout)

    @unittest.skipUnless(ALL, "all")
    def test_64_ranks_pass_all_of_mpi(self):
        p = self.run_on("exec/extoll-torus-4x4x4", 64, "all64")
        self.assertIn("all64: 64 ranks, 0 failed", p.stdout)
        self.assertIn("(exact)", p.stderr)

    def calls(self, *args, **kw):
        p = self.run_on("exec/extoll-pair", 2, "times", *args, options=[
            "--format", "json"], **kw)
        program, result = p.stdout.split("{", 1)
        d = json.loads("{" + result)
        return program, {(c["rank"], c["call"]): c for c in d["calls"]}

    def test_each_message_is_one_call_of_libfabric(self):
        program, calls = self.calls("pingpong", "8", "5")
        halves = re.findall(r"^half (\S+) ns$", program, re.M)
        self.assertEqual(len(halves), 5)
        for rank in 0, 1:
            c = calls[rank, "MPI_Send"]
            self.assertEqual((c["calls"], c["bytes"]), (5, 40))
            c = calls[rank, "fi_tsend"]
            self.assertEqual((c["calls"], c["bytes"]), (5, 40))
            self.assertEqual(calls[rank, "MPI_Recv"]["calls"], 5)
        again, _ = self.calls("pingpong", "8", "5")
        self.assertEqual(program, again)

    def test_puts_are_those_of_the_fabric(self):
        program, calls = self.calls("put", "4096", "20")
        self.assertRegex(program, r"put \S+ ns, \S+ MB/s")
        self.assertGreaterEqual(calls[0, "fi_write"]["calls"], 20)
        self.assertEqual(program, self.calls("put", "4096", "20")[0])

    def where(self, *options):
        """Nodes of the ranks; distances from the first."""
        p = self.run_on("exec/extoll-eight", 4, "where", options=options)
        said = dict(re.findall(r"rank (\d): (n\d), 1 there, 10 added\n",
                               p.stdout))
        self.assertEqual(len(said), 4, p.stdout)
        self.assertIn("(exact)", p.stderr)
        return ([said[r] for r in "0123"],
                [int(t) for t in re.findall(r"to \d: (\d+) ns", p.stdout)])

    def test_ranks_are_on_the_nodes_of_the_map(self):
        """No rank shares memory with another behind libfabric's back."""
        self.assertEqual(self.where()[0], ["n0", "n1", "n2", "n3"])
        nodes, far = self.where("--per-node", "2")
        self.assertEqual(nodes, ["n0", "n0", "n1", "n1"])
        self.assertLess(far[0], 500)
        self.assertGreater(min(far[1:]), 1000)
        nodes, _ = self.where("--map", "0:7,1:1,2:5,3:0")
        self.assertEqual(nodes, ["n7", "n1", "n5", "n0"])

    def test_command_line_of_mpiexec_attaches_all_ranks(self):
        hydra = os.path.join(PREFIX, "bin/mpiexec")
        with mpilib.Place() as place:
            p = mpilib.Weft("--fabric", "exec/extoll-pair").run(
                2, [hydra, "-n", "2", os.path.join(self.dir, "times"),
                    "pingpong", "8", "3"], place.path)
        self.assertEqual(p.stdout.count("half"), 3)
        self.assertIn("2 of 2 processes attached", p.stderr)


if __name__ == "__main__":
    if PREFIX is None:
        print(WHY)
        sys.exit(77)
    unittest.main()
