# SPDX-License-Identifier: Apache-2.0
"""Programs of Debian's packages in versions of a second or two: what they
need, how they are called, and what of their output must be the same wherever
they run."""
import os
import re
import subprocess

import mpilib

SCALAPACK = "/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests"
HPCC_SAMPLE = "/usr/share/doc/hpcc/examples/_hpccinf.txt"


class Hpcc:
    """HPC Challenge: HPL, PTRANS, RandomAccess, FFT, STREAM, latency and
    bandwidth; judges itself."""
    needs = ["hpcc", HPCC_SAMPLE]
    ranks = 4

    def __init__(self, size=100, block=16):
        self.size, self.block = size, block

    def prepare(self, place):
        with open(HPCC_SAMPLE) as f:
            lines = f.read().split("\n")
        lines[5] = "%d Ns" % self.size
        lines[7] = "%d NBs" % self.block
        place.put("hpccinf.txt", "\n".join(lines))
        return ["hpcc"]

    def result(self, place, out):
        text = place.get("hpccoutf.txt")
        keep = dict(re.findall(r"^(Success|CommWorldProcs|HPL_N)=(\d+)$", text,
                               re.M))
        # checks of its own results
        keep["failed"] = len(re.findall(r"FAILED", text))
        keep["updates"] = re.findall(r"Found (\d+) errors", text)
        return keep

    wanted = {"Success": "1", "CommWorldProcs": "4", "failed": 0,
              "updates": ["0"] * 4}


MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 %(n)d 0 %(n)d 0 %(n)d
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 10
run %(steps)d
"""


class Lammps:
    """The melt of a Lennard-Jones crystal; the thermo table."""
    needs = ["lmp"]
    ranks = 4
    wanted = {}

    def __init__(self, cells=5, steps=50):
        self.cells, self.steps = cells, steps

    def prepare(self, place):
        place.put("in.melt", MELT % {"n": self.cells, "steps": self.steps})
        return ["lmp", "-in", "in.melt"]

    def result(self, place, out):
        m = re.search(r"^Step .*?(?=^Loop time)", out, re.S | re.M)
        return {"table": m.group(0) if m else None, "atoms": re.findall(
            r"with (\d+) atoms", out)}

    def loop_time(self, out):
        return re.search(r"^Loop time of (\S+) ", out, re.M).group(1)


WATER = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
water
[ molecules ]
"""
MDP = """integrator = md
dt = 0.002
nsteps = %d
nstenergy = 5
nstcalcenergy = 5
nstxout = 20
nstlist = 10
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.8
rvdw = 0.8
fourierspacing = 0.16
constraints = none
gen-vel = yes
gen-temp = 300
gen-seed = 4711
tcoupl = no
"""


class Gromacs:
    """A box of water with PME; `gmx check` of energies and positions."""
    needs = ["gmx", "gmx_mpi"]
    ranks = 4

    def __init__(self, box=2.2, steps=20):
        self.box, self.steps = str(box), steps

    @staticmethod
    def gmx(place, *args):
        p = subprocess.run(["gmx", *args, "-quiet"], cwd=place.path,
                           capture_output=True, text=True, env=mpilib.ENV,
                           timeout=60)
        if p.returncode != 0:
            raise mpilib.Failed(["gmx", *args], p)
        return p.stdout + p.stderr

    def prepare(self, place):
        place.put("topol.top", WATER)
        place.put("run.mdp", MDP % self.steps)
        self.gmx(place, "solvate", "-cs", "spc216", "-box", self.box, self.box,
                 self.box, "-o", "conf.gro", "-p", "topol.top")
        self.gmx(place, "grompp", "-f", "run.mdp", "-c", "conf.gro", "-p",
                 "topol.top", "-o", "run.tpr", "-maxwarn", "5")
        return ["gmx_mpi", "mdrun", "-s", "run.tpr", "-ntomp", "1", "-reprod",
                "-deffnm", "md", "-quiet"]

    def compare(self, a, b):
        """Returns differences that gmx check finds between two places."""
        found = ""
        for what, end in (("-e", "edr"), ("-f", "trr")):
            said = self.gmx(a, "check", what, "md." + end, what + "2",
                            os.path.join(b.path, "md." + end))
            if not re.search(r"[Rr]ead (successfully|correctly)", said):
                found += said
            found += "".join(line + "\n" for line in re.split("[\n\r]", said)
                             if re.search(r"step|time .* - |differ", line)
                             and "frame" not in line)
        return found


class Xdlu:
    """ScaLAPACK's LU test with the package's input, fewer cases of it;
    residuals judged by itself."""
    needs = [SCALAPACK + "/xdlu"]
    ranks = 4
    wanted = {"failed": 0, "skipped": 0}
    # lines of LU.dat with the number of cases: sizes, blocks, right-hand sides
    fewer = {4: 2, 7: 1, 9: 1, 11: 1}

    def prepare(self, place):
        with open(SCALAPACK + "/LU.dat") as f:
            lines = f.read().split("\n")
        for k, n in self.fewer.items():
            lines[k] = str(n) + " " + lines[k]
        place.put("LU.dat", "\n".join(lines))
        return [SCALAPACK + "/xdlu"]

    def result(self, place, out):
        return {k: int(v) for v, k in re.findall(
            r"^ *(\d+) tests (?:completed and )?(passed|failed|skipped)", out,
            re.M)}


class Netpipe:
    """NetPIPE between two ranks, with its integrity check, or its curve."""
    needs = ["NPopenmpi"]
    ranks = 2
    program = "NPopenmpi"
    wanted = {"failed": 0}

    def __init__(self, last=8192, check=True, repeat=5):
        self.args = ["-u", str(last), "-n", str(repeat), "-o", "np.out"]
        self.args += ["-i"] if check else []

    def prepare(self, place):
        return [self.program, *self.args]

    def result(self, place, out):
        return {"passed": out.count("Integrity check passed"),
                "failed": len(re.findall(r"[Ii]ntegrity check failed", out))}

    def curve(self, place):
        """Rows of its file: bytes, Mb/s, seconds."""
        return [tuple(float(x) for x in line.split())
                for line in place.get("np.out").splitlines()]


class NetpipeOneSided(Netpipe):
    """Netpipe with MPI_Put (or MPI_Get) and fences.  Debian's program gives
    NULL for MPI_INFO_NULL, which Open MPI refuses wherever it runs: `fix`, a
    library that is loaded before, puts it right."""
    needs = ["NPopenmpi2"]
    program = "NPopenmpi2"
