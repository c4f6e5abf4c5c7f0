# SPDX-License-Identifier: Apache-2.0
"""Several ranks of MPI on a node, ranks on nodes of one's choice; programs in
Fortran see the machine's time.

    test_where.py WEFT ROOT WHERE [test...]     WHERE: tests/mpi/where, built"""
import os
import re
import shutil
import subprocess
import sys
import unittest

from mpilib import Place, Weft

WHERE = os.path.abspath(sys.argv.pop(1))
F08 = """program f
  use mpi_f08
  double precision :: t
  call MPI_Init()
  t = MPI_Wtime()
  call MPI_Barrier(MPI_COMM_WORLD)
  print '(f12.3)', (MPI_Wtime() - t) * 1d9
  call MPI_Finalize()
end program
"""
F77 = (F08.replace("use mpi_f08", "include 'mpif.h'\n  integer :: e")
       .replace("Init()", "Init(e)").replace("Finalize()", "Finalize(e)")
       .replace("MPI_COMM_WORLD)", "MPI_COMM_WORLD, e)"))


class Where(unittest.TestCase):
    def where(self, n, *options):
        """Distances from rank 0; node of each rank."""
        with Place() as at:
            out = Weft(*options).run(n, [WHERE], at.path).stdout
        said = dict(re.findall(r"rank (\d+): (.*)", out))
        self.assertEqual(len(said), n, out)
        nodes = [said[str(i)].split(",")[0] for i in range(n)]
        for i, node in enumerate(nodes):
            self.assertEqual(said[str(i)], "%s, %d there, %d added" % (
                node, nodes.count(node), n * (n + 1) // 2))
        far = {int(k): int(v) for k, v in
               re.findall(r"to (\d+): (\d+) ns", out)}
        return far, nodes

    def test_neighbours_on_a_node_talk_through_memory(self):
        """Neighbours reach each other through memory; one that waits for a
        lock of its neighbour does not block the holder."""
        far, nodes = self.where(4, "--per-node", "2", "--fabric",
                                "exec/extoll-pair")
        self.assertEqual(nodes, ["n0", "n0", "n1", "n1"])
        self.assertLess(far[1], 500)
        self.assertGreater(min(far[2], far[3]), 1000)

    def test_map_places_ranks_on_nodes(self):
        """Also as osc/rdma cannot count them."""
        far, nodes = self.where(4, "--map", "0:3,1:3,2:0,3:1", "--fabric",
                                "exec/extoll-eight")
        self.assertEqual(nodes, ["n3", "n3", "n0", "n1"])
        self.assertLess(far[1], 500)

    def test_fortran_programs_see_the_same_time(self):
        """mpi_f08 and mpif.h, whose clock is another function."""
        if not shutil.which("mpif90"):
            self.skipTest("no mpif90")
        times = set()
        with Place() as at:
            for name, text in ("a", F08), ("b", F77):
                at.put(name + ".f90", text)
                subprocess.run(["mpif90", name + ".f90", "-o", name],
                               cwd=at.path, check=True)
                out = Weft("--fabric", "exec/extoll-pair").run(
                    2, ["./" + name], at.path).stdout
                times.update(map(float, out.split()))
        self.assertEqual(len(times), 1, times)
        self.assertLess(times.pop(), 3000)


if __name__ == "__main__":
    unittest.main()
