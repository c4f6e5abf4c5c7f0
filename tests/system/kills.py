#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes of `weft exec` are killed and stopped at random moments.

  kills.py WEFT ROOT ATTACH [COUNT [SEED]]

Each time the run must end soon, with a status that is right, and leave no
process and no socket behind."""
import os
import random
import signal
import subprocess
import sys
import time

NICS = ("extoll", "forth", "hostport", "hvia")


def called(pid):
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read().strip()
    except OSError:
        return ""


def ranks_of(pid):
    """Those of the children that have become programs."""
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(x) for x in f.read().split() if called(x) == "att_ops"]


def sockets():
    with open("/proc/net/unix") as f:
        return sum("weft" in line for line in f)


def once(weft, ops, rng):
    sig = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP))
    what = (rng.choice(NICS), rng.choice(("fixed", "none")), sig.name,
            round(rng.uniform(0, 0.5), 3))
    p = subprocess.Popen([weft, "exec", "--quiet", "--fabric",
                          f"exec/{what[0]}-pair", "--clock", what[1],
                          "--patience", "300ms", "--", ops, "10000"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         text=True)
    ranks = []
    while len(ranks) < 2 and p.poll() is None:
        ranks = ranks_of(p.pid)
    time.sleep(what[3])
    os.kill(rng.choice(ranks), sig)
    try:
        err = p.communicate(timeout=20)[1]
    except subprocess.TimeoutExpired:
        p.kill()
        return what, "does not end"
    left = [r for r in ranks if os.path.exists(f"/proc/{r}")]
    if left or p.returncode != 1 or "check failed: rank" not in err:
        return what, f"status {p.returncode}, left {left}: {err[-500:]}"
    return what, None


def main(weft, attach, count=20, seed=1):
    rng = random.Random(int(seed))
    before, bad = sockets(), 0
    for i in range(int(count)):
        what, trouble = once(weft, os.path.join(attach, "att_ops"), rng)
        if trouble:
            bad += 1
            print("not ok:", i, *what, trouble, flush=True)
    bad += sockets() != before
    print(f"{count} processes killed or stopped, {bad} troubles, "
          f"{sockets() - before} sockets left, seed {seed}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *sys.argv[3:]))
