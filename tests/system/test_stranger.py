#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Another user of the same machine: the name of a run's socket is not secret,
so a stranger connects, says hello, floods it, or plays the simulator.

    test_stranger.py WEFT ROOT PROGRAMS RAW    folder of tests/attach,
                                               a program for --raw
"""
import array
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import ROOT, WEFT

RAW = sys.argv.pop(2)
PROGRAMS = sys.argv.pop(1)
PINGPONG = os.path.join(PROGRAMS, "att_pingpong")
NOBODY = 65534
MANY = 700
EP, HOST = 0, 1  # enum att_role
with open(os.path.join(ROOT, "include/weft/attach.h")) as header:
    VERSION = int(re.search(r"WEFT_ATT_VERSION[ =]+(\d+)", header.read())[1])


class Stranger:
    """A process of another user that does fn, says what came of it (bytes) and
    keeps what it has until it is let go."""

    def __init__(self, fn):
        said, say = os.pipe()
        hold, self.let = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                os.close(self.let)
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                os.write(say, fn())
                os.close(say)
                os.read(hold, 1)
            finally:
                os._exit(0)
        os.close(say)
        os.close(hold)
        with os.fdopen(said, "rb") as f:
            self.said = f.read()

    def end(self):
        os.close(self.let)
        os.waitpid(self.pid, 0)
        return self.said


def connect(name):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(20)
    s.connect("\0" + name[1:])
    return s


def hello(rank, role):
    return struct.pack("<4s4I", b"WEFT", VERSION, rank, os.getpid(), role)


def join(name, role):
    """Descriptors that the simulator hands over; b"0": none."""
    try:
        s = connect(name)
        s.send(hello(0, role))
        fds = array.array("i")
        data, ancillary, _, _ = s.recvmsg(64, socket.CMSG_SPACE(64))
        for _, _, given in ancillary:
            fds.frombytes(given[:len(given) // 4 * 4])
        return b"%d" % len(fds)
    except OSError:
        return b"0"


class Held:
    """A run whose processes join when they are let go."""

    def __init__(self, *args, program=(PINGPONG, "8", "200"), prefix=()):
        self.dir = tempfile.TemporaryDirectory()
        self.go = os.path.join(self.dir.name, "go")
        wait = "until [ -e %s ]; do sleep 0.02; done; exec \"$@\"" % self.go
        self.p = subprocess.Popen(
            [*prefix, WEFT, "exec", *args, "--", "sh", "-c", wait, "sh",
             *program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        self.socket = self.name()

    def name(self):
        start = "@weft-%d-" % self.p.pid
        while self.p.poll() is None:
            with open("/proc/net/unix") as f:
                for line in f:
                    if line.split()[-1].startswith(start):
                        return line.split()[-1]
            time.sleep(0.02)
        raise AssertionError(self.p.communicate())

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.p.pid))

    def end(self):
        open(self.go, "w").close()
        out, err = self.p.communicate(timeout=60)
        self.dir.cleanup()
        return self.p.returncode, out, err


@unittest.skipUnless(os.geteuid() == 0, "only root can play another user")
class AnotherUser(unittest.TestCase):
    def test_stranger_gets_nothing_and_the_run_goes_on(self):
        ways = (([], EP, (PINGPONG, "8", "200")),
                (["--clock", "none", "--path", "direct"], EP,
                 (PINGPONG, "8", "200")),
                (["--raw"], HOST, (RAW, "velo")))
        for args, role, program in ways:
            run = Held("--fabric", "exec/extoll-pair", *args, program=program)
            handed = Stranger(lambda: join(run.socket, role)).end()
            status, out, err = run.end()
            self.assertEqual(handed, b"0", args)
            self.assertEqual(status, 0, out + err)
            self.assertIn("of user %d wants to join" % NOBODY, err)

    def test_flood_takes_no_descriptors(self):
        run = Held("--fabric", "exec/extoll-pair")
        before = run.descriptors()
        kept = []

        def flood():
            for _ in range(MANY):
                kept.append(connect(run.socket))
            return b"."
        stranger = Stranger(flood)
        used = run.descriptors()
        stranger.end()
        status, out, err = run.end()
        self.assertEqual(status, 0, out + err)
        self.assertLess(used - before, 20)

    def test_stranger_is_not_taken_for_the_simulator(self):
        name = "@weft-stranger-%d" % os.getpid()
        s = None

        def play():
            nonlocal s
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            s.bind("\0" + name[1:])
            s.listen(5)
            return b"."
        stranger = Stranger(play)
        p = subprocess.Popen([PINGPONG, "8", "1"], stderr=subprocess.PIPE,
                             env=dict(os.environ, WEFT_SOCKET=name))
        # a process that says hello waits for an answer that never comes
        time.sleep(0.3)
        waits = p.poll() is None
        p.kill()
        p.communicate()
        stranger.end()
        self.assertFalse(waits)
        self.assertNotEqual(p.returncode, 0)


class Silent(unittest.TestCase):
    def test_connections_are_limited(self):
        run = Held("--fabric", "exec/extoll-pair")
        kept = []
        for _ in range(MANY):
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            s.setblocking(False)
            try:
                s.connect("\0" + run.socket[1:])
            except BlockingIOError:
                break  # the queue is full: it takes no more
            kept.append(s)
            if len(kept) % 64 == 0:
                time.sleep(0.02)  # so that it can take them
        used = run.descriptors()
        for s in kept:
            s.close()
        status, out, err = run.end()
        self.assertEqual(status, 0, out + err)
        self.assertLess(used, 350)

    def test_run_without_descriptors_warns_and_goes_on(self):
        """Processes without a place are let in when one is free again."""
        limit = ("sh", "-c", "ulimit -Sn 40; ulimit -Hn 40; exec \"$@\"", "sh")
        run = Held("--fabric", "exec/extoll-pair", prefix=limit)
        kept = [connect(run.socket) for _ in range(60)]
        for _ in range(500):
            if run.descriptors() >= 38:
                break
            time.sleep(0.02)
        time.sleep(0.2)
        for s in kept:
            s.close()
        status, out, err = run.end()
        self.assertEqual(status, 0, out + err)
        self.assertIn("no descriptor is left", err)

    def test_run_takes_more_descriptors_than_the_soft_limit(self):
        limit = ("sh", "-c", "ulimit -Sn 40; exec \"$@\"", "sh")
        run = Held("--fabric", "exec/extoll-pair", prefix=limit)
        kept = [connect(run.socket) for _ in range(60)]
        for _ in range(500):
            if run.descriptors() >= 60:
                break
            time.sleep(0.02)
        used = run.descriptors()
        for s in kept:
            s.close()
        status, out, err = run.end()
        self.assertEqual(status, 0, out + err)
        self.assertGreaterEqual(used, 60)
        self.assertNotIn("no descriptor is left", err)

    def test_rank_that_does_not_exist_is_refused(self):
        run = Held("--fabric", "exec/extoll-pair")
        s = connect(run.socket)
        s.send(hello(2, EP))
        data = s.recv(64)
        status, out, err = run.end()
        self.assertEqual(status, 0, out + err)
        self.assertLess(struct.unpack("<i", data[8:12])[0], 0)
        self.assertIn("there are ranks 0..1; give -n 3", err)


if __name__ == "__main__":
    unittest.main()
