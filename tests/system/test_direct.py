#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that talk to each other directly (weft exec --path direct): all
operations, what is left when one of them dies, what the options say.

    test_direct.py WEFT ROOT PROGRAMS    folder of tests/attach's programs
"""
import os
import random
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from leftovers import children
from weftlib import WEFT

PROGRAMS = sys.argv.pop(1)
PINGPONG, OPS = [os.path.join(PROGRAMS, p) for p in ("att_pingpong",
                                                     "att_ops")]
DIRECT = ["exec", "--clock", "none", "--path", "direct"]


def weft(*args, env=None):
    return subprocess.run([WEFT, *args], capture_output=True, text=True,
                          timeout=60, env=dict(os.environ, **(env or {})))


def traces():
    """Returns names that a run may have left behind."""
    with open("/proc/net/unix") as f:
        names = [ln.split()[-1] for ln in f if "weft-direct-" in ln]
    return names + [n for n in os.listdir("/dev/shm") if "weft" in n]


class Memory(unittest.TestCase):
    def test_copies_without_the_kernel_change_no_time(self):
        """If no process may read another, each copies its memory itself:
        results and times do not change."""
        for name in ("extoll", "hvia"):
            p = [weft("exec", "--fabric", "exec/%s-pair" % name, "--", OPS,
                      env=env) for env in ({}, {"WEFT_NO_CMA": "1"})]
            for q in p:
                self.assertEqual(q.returncode, 0, q.stdout + q.stderr)
            self.assertEqual(*[sorted(q.stdout.splitlines()) for q in p])


class Direct(unittest.TestCase):
    def test_direct_path_serves_every_call_of_the_endpoint(self):
        p = weft(*DIRECT, "--fabric", "exec/extoll-pair", "--", OPS)
        self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
        self.assertEqual(len(p.stdout.splitlines()), 2)

    def test_direct_path_follows_the_map(self):
        p = weft(*DIRECT, "--fabric", "exec/forth-pair", "-n", "2", "--map",
                 "0:1,1:0", "--", PINGPONG, "100", "2000")
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIn("messages/s", p.stdout)

    def test_wrong_path_is_refused(self):
        for args, text in (
                (["--path", "direct"], "give --clock none, too"),
                (["--clock", "none", "--path", "air"],
                 "'air': give nic or direct")):
            p = weft("exec", "--fabric", "exec/extoll-pair", *args, "true")
            self.assertEqual(p.returncode, 2)
            self.assertIn(text, p.stderr)

    def test_killed_process_leaves_nothing_behind(self):
        """At any moment: it is said, the other gets an error, all ends and
        nothing is left."""
        for i in range(int(os.environ.get("WEFT_KILLS", "5"))):
            p = subprocess.Popen(
                [WEFT, *DIRECT, "--fabric", "exec/extoll-pair", "--",
                 PINGPONG, "8", "100000000"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(0.05 + random.random() * 0.2)
            ranks = children(p.pid)
            if ranks:
                os.kill(random.choice(ranks), signal.SIGKILL)
            else:
                p.kill()
            out, err = p.communicate(timeout=20)
            for pid in ranks:
                self.assertFalse(os.path.exists("/proc/%d" % pid), err)
            if ranks:
                self.assertEqual(p.returncode, 1, out + err)
        self.assertEqual(traces(), [])


if __name__ == "__main__":
    unittest.main()
