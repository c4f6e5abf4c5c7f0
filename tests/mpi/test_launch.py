# SPDX-License-Identifier: Apache-2.0
"""Which MPI a program was linked with, and its launcher.  Libraries and
commands are made up here: they have the names and links of the real ones, and
a command prints how it was called.

    test_launch.py WEFT ROOT LIBWEFT-TIME COMPILER...
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PRELOAD, CC = sys.argv[3], sys.argv[4:]
del sys.argv[3:]
import mpilib  # noqa: E402
from weftlib import WEFT  # noqa: E402

SAY = """#!/bin/sh
echo "$0" "$@"
env | sed s/^/:/
test -z "$OMPI_MCA_orte_default_hostfile" ||
    echo hosts $(cat "$OMPI_MCA_orte_default_hostfile")
for r in 0 1; do PMI_RANK=$r LD_PRELOAD=$SHOWS uname -n; done
"""

# Creates a file and ends, whatever it is to load.
LOADER = r"""
static long call(long n, const void *a, long b, long c)
{
	long ret;
	__asm__ volatile("syscall" : "=a"(ret) : "a"(n), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}
void _start(void)
{
	call(2, "%s", 0101, 0600); /* open */
	call(231, 0, 0, 0); /* exit_group */
}
"""


class Fakes:
    """PREFIX/lib, PREFIX/bin and programs, in a directory of their own."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="weft-launch-")
        os.mkdir(self.path("libs"))
        self.put("libs/libweft-fi.so", "")

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def put(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as f:
            f.write(text)
        os.chmod(self.path(name), 0o755)

    def cc(self, name, text, *args, needs=()):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        flags = ["-Wl,--no-as-needed", "-nostartfiles" if "-shared" in args
                 else "-Wall"]
        for n in needs:
            flags += [self.path(n), "-Wl,-rpath," + os.path.dirname(
                self.path(n))]
        subprocess.run([*CC, "-xc", "-", "-xnone", "-o", self.path(name),
                        *flags, *args], input=text, text=True, check=True)

    def library(self, name, needs=()):
        self.cc(name, "int fake;\n", "-shared", "-fPIC",
                "-Wl,-soname," + os.path.basename(name), needs=needs)

    def program(self, name, needs=()):
        self.cc(name, "int main(void) { return 0; }\n", needs=needs)
        return self.path(name)


class Launch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = f = Fakes()
        f.library("sys/libfabric.so.1")
        f.library("sys/libucp.so.0")
        f.library("ofi/lib/libmpi.so.12", ["sys/libfabric.so.1"])
        f.library("ucx/lib/machine/libmpich.so.12", ["sys/libucp.so.0"])
        f.library("open/lib/machine/libmpi.so.40")
        f.library("sys/libsolver.so.1", ["ofi/lib/libmpi.so.12"])
        cls.ofi = f.program("a.ofi", ["ofi/lib/libmpi.so.12"])
        cls.ucx = f.program("a.ucx", ["ucx/lib/machine/libmpich.so.12"])
        cls.open = f.program("a.open", ["open/lib/machine/libmpi.so.40"])
        for name in ("ofi/bin/mpiexec.hydra", "open/bin/orterun",
                     "path/own-mpiexec"):
            f.put(name, SAY)
        os.symlink("mpiexec.hydra", f.path("ofi/bin/mpiexec"))
        os.symlink("orterun", f.path("open/bin/mpirun"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.f.dir)

    def weft(self, *args, status=0, **env):
        env = dict(mpilib.ENV, WEFT_LIBS=self.f.path("libs"), **env)
        p = subprocess.run(
            [WEFT, "exec", "--fabric", "exec/extoll-pair", *args],
            capture_output=True, text=True, timeout=60, env=env)
        self.assertEqual(p.returncode, status, p.stdout + p.stderr)
        self.env = dict(line[1:].split("=", 1) for line in
                        p.stdout.split("\n") if line[:1] == ":" and "=" in line)
        return p.stdout if status == 0 else p.stderr

    def started(self, *args, **kw):
        said = self.weft(*args, **kw).split("\n")
        return os.path.realpath(said[0].split()[0]), said[0].split()[1:]

    def test_mpich_starts_by_the_mpiexec_beside_it(self):
        self.assertEqual(self.started("-n", "2", "--", self.ofi, "x"),
                         (self.f.path("ofi/bin/mpiexec.hydra"),
                          ["-n", "2", self.ofi, "x"]))
        self.assertEqual(self.env["MPIR_CVAR_NOLOCAL"], "1")
        self.assertEqual(self.env["HYDRA_LAUNCHER"], "fork")
        self.assertEqual(self.env["FI_PROVIDER"], "weft")
        self.assertEqual(self.env["FI_PROVIDER_PATH"], self.f.path("libs"))

    def test_mpich_is_found_through_another_library(self):
        prog = self.f.program("a.solver", ["sys/libsolver.so.1"])
        self.assertEqual(self.started("-n", "2", "--", prog)[0],
                         self.f.path("ofi/bin/mpiexec.hydra"))

    def test_openmpi_starts_by_the_mpirun_beside_it(self):
        self.assertEqual(
            self.started("-n", "2", "--", self.open),
            (self.f.path("open/bin/orterun"),
             ["-n", "2", self.open]))
        self.assertEqual(self.env["OMPI_MCA_mtl"], "ofi")
        self.assertEqual(self.env["OMPI_MCA_rmaps_base_mapping_policy"], "seq")
        self.assertNotIn("MPIR_CVAR_NOLOCAL", self.env)

    def test_named_mpiexec_starts_the_program(self):
        own = self.f.path("path/own-mpiexec")
        for path in (own, "own-mpiexec"):
            self.assertEqual(self.started(
                "--mpiexec", path, "--", self.ofi,
                PATH=self.f.path("path") + ":" + os.environ["PATH"])[0], own)
        said = self.weft("--mpiexec", "./nowhere", "--", self.ofi, status=2)
        self.assertIn("--mpiexec './nowhere': no such program", said)

    def test_mpiexec_in_path_is_taken_unless_openmpis(self):
        f = self.f
        f.library("bare/lib/libmpi.so.12", ["sys/libfabric.so.1"])
        prog = f.program("a.bare", ["bare/lib/libmpi.so.12"])
        f.put("openpath/orterun", SAY)
        os.symlink("orterun", f.path("openpath/mpiexec"))
        for c in ("sed", "uname", "env"):
            os.symlink(shutil.which(c), f.path("openpath", c))
        said = self.weft("--", prog, status=2, PATH=f.path("openpath"))
        self.assertIn("no mpiexec.hydra of MPICH in bin beside", said)
        f.put("hydrapath/mpiexec", SAY)
        self.assertEqual(
            self.started("--", prog, PATH=":".join(
                [f.path("hydrapath"), f.path("openpath")]))[0],
            f.path("hydrapath/mpiexec"))

    def test_mpich_without_libfabric_is_refused(self):
        hydra = self.f.path("ofi/bin/mpiexec")
        for argv in ([self.ucx], [hydra, "-n", "2", self.ucx]):
            said = self.weft("--", *argv, status=2)
            for words in (self.ucx, "libmpich.so.12", "not built on libfabric",
                          "UCX", "--with-device=ch4:ofi"):
                self.assertIn(words, said)

    def test_missing_mpich_is_named(self):
        os.rename(self.f.path("ofi/lib"), self.f.path("ofi/away"))
        said = self.weft("--", self.ofi, status=2)
        os.rename(self.f.path("ofi/away"), self.f.path("ofi/lib"))
        self.assertIn("MPICH of '%s' is not found" % self.ofi, said)

    def test_command_line_of_mpiexec_stays_as_it_is(self):
        hydra = self.f.path("ofi/bin/mpiexec")
        self.assertEqual(
            self.started("-n", "2", "--", hydra, "-n", "1", self.ofi),
            (self.f.path("ofi/bin/mpiexec.hydra"), ["-n", "1", self.ofi]))
        self.assertEqual(self.env["MPIR_CVAR_NOLOCAL"], "1")

    def test_command_line_of_mpirun_stays_as_it_is(self):
        for name in "mpirun", "orterun":
            mpirun = self.f.path("open/bin", name)
            said = self.weft("-n", "2", "--map", "0:1,1:0", "--", mpirun,
                             "-n", "1", self.open)
            self.assertEqual(said.split("\n")[0],
                             " ".join([mpirun, "-n", "1", self.open]))
            self.assertIn("\nhosts 240.0.0.1 240.0.0.0\n", said)

    def test_mpiexec_of_another_mpi_is_refused(self):
        mpirun = self.f.path("open/bin/mpirun")
        mpiexec = self.f.path("ofi/bin/mpiexec")
        for of, other in (mpirun, self.ofi), (mpiexec, self.open):
            said = self.weft("--", of, "-n", "2", other, status=2)
            for words in (of, other, "take that one's"):
                self.assertIn(words, said)

    def test_own_settings_win(self):
        self.weft("--", self.ofi, MPIR_CVAR_NOLOCAL="0", HYDRA_IFACE="eth7")
        self.assertEqual((self.env["MPIR_CVAR_NOLOCAL"],
                          self.env["HYDRA_IFACE"]), ("0", "eth7"))

    def test_names_of_nodes_follow_the_map(self):
        said = self.weft("-n", "2", "--map", "0:1,1:0", "--", self.ofi,
                         SHOWS=PRELOAD)
        self.assertEqual(said.split()[-2:], ["n1", "n0"])

    def test_script_is_started_without_mpiexec(self):
        self.f.put("script", "#!/bin/sh\necho rank $WEFT_RANK\n")
        script = self.f.path("script")
        said = self.weft("-n", "2", "--", script)
        self.assertEqual(sorted(said.split("\n"))[1:], ["rank 0", "rank 1"])
        self.assertEqual(
            self.started("--mpi", "mpich", "--mpiexec",
                         self.f.path("path/own-mpiexec"), "-n", "2", "--",
                         script)[1], ["-n", "2", script])

    def test_inspection_does_not_run_a_program_of_musl(self):
        """musl's does not list libraries when LD_TRACE_LOADED_OBJECTS says
        so: it runs the program.  This one leaves a file."""
        ran, loader = self.f.path("ran"), self.f.path("ld-musl.so.1")
        self.f.cc("ld-musl.so.1", LOADER % ran, "-static", "-nostdlib")
        self.f.cc("a.musl", "int main(void) { return 0; }\n",
                  "-Wl,--dynamic-linker=" + loader)
        self.started("--", self.f.path("ofi/bin/mpiexec"), "-n", "2",
                     self.f.path("a.musl"))
        self.assertFalse(os.path.exists(ran))
        subprocess.run([self.f.path("a.musl")], check=True)
        self.assertTrue(os.path.exists(ran))


if __name__ == "__main__":
    unittest.main()
