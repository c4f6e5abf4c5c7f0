#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft disk with clients that are not ours: fio, qemu-io, nbdinfo, nbdcopy.

    test_disk.py WEFT
"""
import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True

WEFT = os.path.abspath(sys.argv.pop(1))
NATIVE = ("--fabric", "forth/storage-pair", "--disk", "link=native")
TOOLS = ("nbdkit", "fio", "qemu-io", "nbdinfo", "nbdcopy")


# some clients do not survive what the tests of weft do to new memory
os.environ.pop("MALLOC_PERTURB_", None)


def disk(*args, env=None, timeout=100, quiet=True):
    return subprocess.run([WEFT, "disk", *(["--quiet"] if quiet else []),
                           *args], capture_output=True, text=True,
                          timeout=timeout, env=dict(os.environ, **(env or {})))


def fio(uri="$uri", **jobs):
    """A line of the shell; fio is one process."""
    words = ["fio", "--name=j", "--ioengine=nbd", "--thread",
             "--verify_state_save=0", "--uri='%s'" % uri]
    words = [w.replace("'$uri'", "$uri") for w in words]
    return " ".join(words + ["--%s=%s" % i for i in jobs.items()])


VERIFY = {"rw": "randwrite", "bsrange": "512-1M", "blockalign": "512",
          "iodepth": 16, "verify": "crc32c", "do_verify": 1}


class Disk(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def good(self, *args, **kw):
        p = disk(*args, **kw)
        self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
        return p

    def bad(self, word, *args, status=2, **kw):
        p = disk(*args, **kw)
        self.assertEqual(p.returncode, status, p.stderr)
        self.assertIn(word, p.stderr)
        return p

    def start(self, *args):
        """A disk until a signal, with its socket."""
        path = self.path("socket")
        p = subprocess.Popen([WEFT, "disk", "--socket", path, *NATIVE, *args],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
        self.addCleanup(lambda: p.poll() is None and p.kill())
        while "nbdfuse" not in p.stdout.readline():
            self.assertIsNone(p.poll(), p.stderr)
        return p, "nbd+unix:///?socket=" + path

    def end(self, p, sig=signal.SIGINT):
        p.send_signal(sig)
        out, err = p.communicate(timeout=30)
        self.assertEqual(p.returncode, 0, out + err)
        return err

    # ---- the command line ----

    def test_mistakes_name_the_remedy(self):
        self.bad("--fabric is missing")
        self.bad("give one --fabric", *NATIVE, *NATIVE)
        self.bad("fixed or none", *NATIVE, "--clock", "cpu")
        self.bad("give 4096B", *NATIVE, "--size", "1B")
        self.bad("give 65536B", *NATIVE, "--size", "65535B")
        self.bad("--size", *NATIVE, "--size", "many")
        with open(self.path("s"), "w"):
            self.bad("remove the file", *NATIVE, "--socket", self.path("s"))
        self.bad("at most 107 bytes", *NATIVE, "--socket", "x" * 200)
        self.bad("install the package nbdkit", *NATIVE,
                 env={"PATH": "/nowhere"})
        self.bad("leave one for the programs", *NATIVE, "--set",
                 "workload.0.on=all")
        self.bad("did you mean 'size'", *NATIVE, "--set",
                 "disk.target.siz=1GiB")
        p = self.bad("no parameter 'nothing'", *NATIVE, "--disk", "nothing=1", "true",
                     status=1)
        self.assertIn("was not closed in order", p.stderr)

    def test_status_is_that_of_the_command(self):
        self.bad("ended with status 7", *NATIVE, "exit 7", status=7)
        self.bad("cannot start", *NATIVE, "/nowhere/x", "y", status=127)
        p = self.good(*NATIVE, "--size", "1GiB", "nbdinfo --size $uri")
        self.assertEqual(p.stdout.strip(), str(1 << 30))

    def test_machine_without_target_gets_one(self):
        p = self.good("--fabric", "exec/hostport-pair", "--size", "8MiB",
                      "nbdinfo --size $uri; %s >%s" % (
                          fio(size="2M", **VERIFY), self.path("o")))
        self.assertEqual(p.stdout.strip(), str(8 << 20))

    # ---- bytes ----

    def test_targets_that_restart_lose_nothing_acknowledged(self):
        """Two striped targets die three times each.  With the caches of
        their drives the last flush says so."""
        args = ("--fabric", "extoll/storage-restart", "--clock", "none",
                "--disk", "check=crc32c", "--size", "64MiB")
        self.good(*args, "--set", "disk.target.restart_power=no",
                  fio(size="32M", **VERIFY) + " >" + self.path("fio"))
        self.bad("the last flush failed", *args, "--set",
                 "disk.target.restart_at=1ms", fio(
                     size="16M", rw="write", bs="64k", iodepth=16) +
                 " >" + self.path("fio"), status=1)

    def test_two_clients_and_a_copy(self):
        data = os.urandom(4 << 20)
        with open(self.path("in"), "wb") as f:
            f.write(data)
        p, uri = self.start("--clock", "none", "--size", "4MiB")
        subprocess.run(["nbdcopy", self.path("in"), uri], check=True,
                       timeout=60)
        subprocess.run(["nbdcopy", uri, self.path("out")], check=True,
                       timeout=60)
        with open(self.path("out"), "rb") as f:
            self.assertEqual(f.read(), data)
        two = [subprocess.Popen(
            fio(uri, rw="randwrite", bs="4k", size="2M", iodepth=8,
                offset="%dM" % (2 * i), verify="crc32c"), shell=True,
            stdout=subprocess.DEVNULL) for i in range(2)]
        self.assertEqual([t.wait(60) for t in two], [0, 0])
        self.end(p)

    def test_file_of_the_drive_outlives_the_run(self):
        keep = ("--set", "disk.target.file=" + self.path("drive"), "--size",
                "8MiB")
        io = "qemu-io -f raw -c '%s -P 0x77 1M 2M' $uri"
        self.good(*NATIVE, *keep, io % "write")
        self.good(*NATIVE, *keep, io % "read")
        self.assertEqual(os.path.getsize(self.path("drive")), 8 << 20)

    # ---- ends ----

    def test_client_that_is_killed_leaves_the_disk(self):
        p, uri = self.start("--clock", "none", "--size", "64MiB")
        for i in range(3):
            c = subprocess.Popen(["exec " + fio(
                uri, rw="randrw", bs="64k", size="64M", iodepth=32,
                thread=1)],  # a job of its own would outlive fio
                shell=True, stdout=subprocess.DEVNULL)
            time.sleep(0.3)
            c.kill()
            c.wait()
        run = subprocess.run(["qemu-io", "-f", "raw", "-c", "write -P 1 0 64k",
                              "-c", "read -P 1 0 64k", uri], timeout=60,
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.end(p)

    def test_signal_ends_in_order_with_results(self):
        out = self.path("r.db")
        p, uri = self.start("--size", "64MiB", "--out", out)
        with socket.socket(socket.AF_UNIX) as s:  # stays connected
            s.connect(self.path("socket"))
            self.assertEqual(s.recv(8), b"NBDMAGIC")
            subprocess.run(["qemu-io", "-f", "raw", "-c", "write 0 1M", "-c",
                            "read 0 4k", uri], check=True, timeout=60,
                           stdout=subprocess.DEVNULL)
            err = self.end(p, signal.SIGTERM)
        self.assertIn("cut off", err)
        self.assertFalse(os.path.exists(self.path("socket")))
        with sqlite3.connect(out) as db:
            text = "\n".join(db.iterdump())
        for name in ("disk.write.1MiB.latency", "disk.read.4KiB.latency",
                     "disk.write.rate", "disk.flush.requests"):
            self.assertIn(name, text)

    def test_nobody_asks_and_nothing_moves(self):
        """One run with a second of idleness and one without simulate the
        same time; the processors rest."""
        said = []
        for idle in ("", "sleep 2;"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            p = self.good(*NATIVE, "qemu-io -f raw -c 'write 0 4k' $uri;" +
                          idle + "qemu-io -f raw -c 'read 0 4k' $uri",
                          quiet=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            said.append([x for x in p.stderr.split("\n") if "simulated" in x])
            used = (after.ru_utime + after.ru_stime - before.ru_utime -
                    before.ru_stime)
        self.assertIn(" 0 causality violations", said[0][0])
        self.assertEqual(said[0], said[1])
        self.assertLess(used, 1)

    def test_nbdkit_that_dies_ends_the_run(self):
        p = self.bad("nbdkit has ended with status 137", *NATIVE,
                     "--patience", "200ms", "--socket", self.path("s"),
                     "for p in $(pgrep -x nbdkit); do "
                     "grep -q unix=%s /proc/$p/cmdline && kill -9 $p; done; "
                     "sleep 10" % self.path("s"),
                     status=143)
        self.assertIn("was not closed in order", p.stderr)


if __name__ == "__main__":
    missing = [t for t in TOOLS if not shutil.which(t)]
    if missing:
        print("not tested: no %s" % ", ".join(missing))
        sys.exit(77)
    unittest.main()
