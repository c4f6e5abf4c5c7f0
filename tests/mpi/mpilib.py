# SPDX-License-Identifier: Apache-2.0
"""Starts MPI programs, each in a directory of its own: natively (shared memory
of Open MPI), over libfabric's tcp;ofi_rxm, and on a simulated fabric."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "system"))
import weftlib  # noqa: E402  (takes the program and the root from argv)

MPIRUN = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
# Environment of what the tests start: one thread for each rank, nothing that a
# calling job left behind.
ENV = {k: v for k, v in os.environ.items()
       if not k.startswith(("OMPI_", "PMIX_", "FI_", "WEFT_"))}
ENV.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", LC_ALL="C")
ROOT_TOO = {"OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Failed(AssertionError):
    def __init__(self, argv, p):
        super().__init__("%s: status %d\n%s\n%s" % (
            " ".join(argv), p.returncode, p.stdout[-1500:], p.stderr[-2500:]))


def call(argv, cwd, timeout, env):
    p = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True,
                       timeout=timeout, stdin=subprocess.DEVNULL)
    if p.returncode != 0:
        raise Failed(argv, p)
    return p


class Native:
    """Open MPI by itself.  One-sided by messages: its osc/rdma over shared
    memory fails in compare-and-swap (4.1.4)."""
    name = "native"
    mca = {"osc": "pt2pt"}

    def run(self, n, argv, cwd, timeout=60, env=()):
        args = [MPIRUN, "-n", str(n), "--oversubscribe", "--bind-to", "none"]
        for k, v in self.mca.items():
            args += ["--mca", k, v]
        return call(args + argv, cwd, timeout,
                    dict(ENV, **ROOT_TOO, **dict(env)))


class Tcp(Native):
    """Open MPI over libfabric, without a simulator."""
    name = "tcp"
    mca = dict(Native.mca, pml="cm", mtl="ofi", oob_tcp_if_include="lo",
               mtl_ofi_provider_include="tcp;ofi_rxm")

    def run(self, n, argv, cwd, timeout=60, env=()):
        return super().run(n, argv, cwd, timeout,
                           dict(dict(env), FI_TCP_IFACE="lo"))


class Weft:
    """A simulated machine; `options` are those of weft exec."""
    name = "weft"

    def __init__(self, *options):
        self.options = list(options)

    def run(self, n, argv, cwd, timeout=60, env=()):
        args = [os.path.abspath(weftlib.WEFT), "exec", "-n", str(n),
                *self.options, "--", *argv]
        return call(args, cwd, timeout, dict(ENV, **dict(env)))


def have(*programs):
    """The first that is not there, or None."""
    for p in programs:
        if shutil.which(p) is None and not os.path.exists(p):
            return p
    return None


class Place:
    """A directory for one run, gone with `with`."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="weft-mpi-")
        return self

    def __exit__(self, *args):
        shutil.rmtree(self.path, ignore_errors=True)

    def put(self, name, text):
        with open(os.path.join(self.path, name), "w") as f:
            f.write(text)

    def get(self, name):
        with open(os.path.join(self.path, name), errors="replace") as f:
            return f.read()
