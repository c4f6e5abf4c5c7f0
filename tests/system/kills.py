#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes of `weft exec` are killed and stopped at random moments: one of
two that use the endpoint themselves; ranks of MPI, their daemons, mpirun, weft.

  kills.py WEFT ROOT BUILD [COUNT [SEED [Pair|Mpi]]]     COUNT of each kind

Each time the run must end soon, say what has happened, with a status that is
right, and leave nothing behind: no process, socket, file or shared memory."""
import os
import random
import signal
import sys
import time

from leftovers import Job

NICS = ("extoll", "forth", "hostport", "hvia")
WAYS = ("--clock fixed", "--clock none", "--clock none --path direct")
BOUND = 20  # s, from the signal to the end of everything


def hit(job, pids, sig, rng):
    """The one that was hit, or None: too late."""
    pid = rng.choice(pids) if pids else None
    try:
        if pid:
            os.kill(pid, sig)
        return pid
    except ProcessLookupError:
        return None


def weft_exec(weft, fabric, way, *args, env=()):
    return Job([weft, "exec", "--quiet", "--fabric", fabric, *way.split(),
                "--patience", "300ms", *args], env=env)


class Pair:
    """Two processes that do all that an endpoint can."""

    def __init__(self, weft, build):
        self.weft, self.program = weft, os.path.join(build, "attach/att_ops")

    def there(self):
        return os.path.exists(self.program)

    def random(self, rng):
        return dict(nic=rng.choice(NICS), way=rng.choice(WAYS),
                    sig=rng.choice(("KILL", "KILL", "STOP")),
                    after=round(rng.uniform(0, 0.5), 3))

    def once(self, rng, nic, way, sig, after):
        job = weft_exec(self.weft, f"exec/{nic}-pair", way, "--",
                        self.program, "10000")
        pids = job.wait_named("att_ops", 2)
        time.sleep(after)
        pid = hit(job, pids, getattr(signal, "SIG" + sig), rng)
        status, _, err, left = job.end(BOUND)
        if left or status != 1 or "check failed: rank" not in err or \
                f"(process {pid})" not in err:
            return f"{pid}: status {status}, left {left}: {err[-700:]}"
        return None


class Mpi:
    """Four ranks of Open MPI, and what starts them."""
    NAMES = {"rank": "ends", "orted": "orted", "mpirun": "mpirun"}
    SIGNALS = {"rank": ("KILL", "STOP"), "orted": ("KILL", "STOP"),
               "mpirun": ("KILL", "STOP", "TERM"),
               "weft": ("INT", "TERM", "KILL")}
    # mpirun gives ranks a second before it kills them
    ENV = {"OMPI_MCA_odls_base_sigkill_timeout": "0"}

    def __init__(self, weft, build):
        self.weft, self.program = weft, os.path.join(build, "mpi/ends")

    def there(self):
        return os.path.exists(self.program)

    def random(self, rng):
        whom = rng.choice(("rank", "rank", "rank", "orted", "mpirun", "weft"))
        return dict(whom=whom, sig=rng.choice(self.SIGNALS[whom]),
                    phase=rng.choice(("start", "init", "loop", "fini")),
                    way=rng.choice(WAYS), after=round(rng.uniform(0, 0.3), 3))

    def once(self, rng, whom, sig, phase, way, after):
        job = weft_exec(self.weft, "exec/extoll-eight", way, "-n", "4", "--",
                        self.program, "loop",
                        "10" if phase == "fini" else "1000000", env=self.ENV)
        if phase != "start":
            job.wait_named("ends-" + phase, 1)
        time.sleep(after / 30 if phase == "fini" else after)
        pids = [job.p.pid] if whom == "weft" else \
            job.wait_named(self.NAMES[whom], 1)
        pid = hit(job, pids, getattr(signal, "SIG" + sig), rng)
        status, _, err, left = job.end(BOUND)
        if left or not self.right(pid, whom, sig, status, err):
            return f"{pid}: status {status}, left {left}: {err[-1500:]}"
        return None

    @staticmethod
    def right(pid, whom, sig, status, err):
        if status == 0:  # hit when it had ended
            return "check failed" not in err
        if whom == "weft" and sig == "KILL":
            return status == -signal.SIGKILL
        if whom == "weft":  # negative: before it began
            n = getattr(signal, "SIG" + sig)
            return status in (1, 128 + n, -n)
        return status == 1 and "check failed: " in err and \
            (sig != "STOP" or str(pid) in err)


def main(weft, build, count=20, seed=1, only=""):
    bad = 0
    for kind in (Pair, Mpi):
        if only not in kind.__name__:
            continue
        k, rng = kind(weft, build), random.Random(int(seed))
        if not k.there():
            print(f"{kind.__name__}: not built")
            continue
        worst, before = 0, bad
        for i in range(int(count)):
            what = k.random(rng)
            begin = time.time()
            trouble = k.once(rng, **what)
            worst = max(worst, time.time() - begin)
            if trouble:
                bad += 1
                print("not ok:", i, what, trouble, flush=True)
        print(f"{kind.__name__}: {count} killed or stopped, {bad - before} "
              f"troubles, the longest took {worst:.1f} s, seed {seed}",
              flush=True)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *sys.argv[3:]))
