#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients of a remote disk that misbehave, and lines and targets that do: the
disk goes on, every byte is right, and nothing is left behind.

    test_clients.py WEFT ROOT [TEST...]
    test_clients.py WEFT ROOT --soak MIB [PART...]
                        MIB bytes of fio with --verify on all four NICs, as many
                        under faults, and an 8 GiB disk read as a whole
"""
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True

WEFT, ROOT = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
sys.path.append(os.path.join(ROOT, "tests/system"))

from leftovers import Job  # noqa: E402
from rawnbd import (EINVAL, FLUSH, READ, TRIM, WRITE, ZERO, Raw)  # noqa: E402

TOOLS = ("nbdkit", "fio", "qemu-io", "nbdinfo", "nbdcopy")
MiB, GiB = 1 << 20, 1 << 30
NATIVE = ("--fabric", "forth/storage-pair", "--disk", "link=native")
# MB/s differ by a hundred: MiB of 256 for each
NICS = {
    "forth": (132, NATIVE),
    "forth-ep": (8, ("--fabric", "forth/storage-pair", "--disk", "link=ep",
                     "--disk", "check=crc32c")),
    "extoll": (56, ("--fabric", "extoll/storage-pair")),
    "hostport": (56, ("--fabric", "hostport/storage-pair")),
    "hvia": (4, ("--fabric", "hvia/storage-pair", "--disk", "irq=true")),
}

# Some clients do not survive what the tests of weft do to new memory.
os.environ.pop("MALLOC_PERTURB_", None)

MACHINE = """
# SPDX-License-Identifier: Apache-2.0
name: own/faults
nodes:
  count: 2
  host: { type: host.pc }
  bus: { type: bus.pcix }
  nic: { type: forth.nic, preset: plat-direct4, resync: 4096 }
fabric: { type: direct, link: { type: forth.link } }
faults: [%s]
workload: [{ program: disk.target, on: 1, link: native %s }]
"""
RESTART = ", restart_at: 3ms, restart_every: 23ms, restarts: 100000, " \
    "restart_down: 2ms"
# name: faults, parameters of the target, counters of which one must have moved
FAULTS = {
    "bits": ('{ on: "n*.nic.link*", type: fault.bits, rate: 2e-7 }', "",
             ("disk.protocol.damaged", "n1.prog0.damaged")),
    "drops": ('{ on: "n*.nic.link*", type: fault.drop, packets: 0.002 }', "",
              ("disk.protocol.damaged", "disk.protocol.retries",
               "n1.prog0.repeats")),
    "cut": ('{ on: "n*.nic.link*", type: fault.cut, at: 5ms, length: 10ms, '
            'every: 25ms }', "", ("fault0.cuts",)),
    "receiver": ('{ on: n1.nic.bus, type: fault.bus, at: 10ms, length: 10ms, '
                 'every: 40ms, hold: writes }', "", ("fault0.held",)),
    "restarts": ("", RESTART, ("disk.protocol.sessions",
                               "n1.prog0.sessions")),
    "all": ('{ on: "n*.nic.link*", type: fault.bits, rate: 1e-7 }, '
            '{ on: "n*.nic.link*", type: fault.drop, packets: 0.001 }, '
            '{ on: "n*.nic.link*", type: fault.cut, at: 30ms, length: 10ms, '
            'every: 70ms }', RESTART,
            ("disk.protocol.damaged", "disk.protocol.retries",
             "disk.protocol.sessions")),
}


def fio(size, uri="$uri", **more):
    """A line of the shell: writes at random places, then reads and verifies
    them.  fio is one process: a killed one leaves no other."""
    jobs = dict({"rw": "randwrite", "bsrange": "512-1M", "blockalign": "512",
                 "iodepth": 16, "verify": "crc32c", "do_verify": 1,
                 "verify_state_save": 0, "size": "%dM" % size}, **more)
    return "fio --name=j --ioengine=nbd --thread --uri=%s %s --output=/dev/stderr" % (
        uri, " ".join("--%s=%s" % i for i in jobs.items()))


def disk(*args, timeout=100):
    """A whole run, with its results."""
    p = subprocess.run([WEFT, "disk", "--quiet", "--format", "json", *args],
                       capture_output=True, text=True, timeout=timeout)
    if p.returncode:
        raise AssertionError("%s: status %d\n%s" % (
            " ".join(args), p.returncode, p.stderr[-3000:]))
    d = json.loads(p.stdout)
    return dict(d["counters"], **d["metrics"])


def qemu_io(uri, *commands):
    argv = ["qemu-io", "-f", "raw", "-t", "none", uri]
    for c in commands:
        argv += ["-c", c]
    p = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    if p.returncode:
        raise AssertionError(p.stdout + p.stderr)
    return p.stdout


def verify(machine, size, clock="none", timeout=100, **more):
    """fio on a machine: no error, all bytes have arrived."""
    c = disk(*machine, "--clock", clock, "--size", "%dMiB" % max(64, size),
             fio(size, **more), timeout=timeout)
    c = {k: v for k, v in c.items()
         if k.startswith(("disk.", "n1.prog0.", "fault"))}
    assert not [k for k in c if re.match(r"disk\..*\.errors", k)], c
    assert c["disk.write.bytes"] >= size * MiB, c
    assert c["disk.read.bytes"] >= size * MiB, c
    return c


def faulty(folder, name, size, timeout=100):
    """fio over a line or to a target with faults.  Returns counts."""
    faults, target, counts = FAULTS[name]
    path = os.path.join(folder, name + ".yaml")
    with open(path, "w") as f:
        f.write(MACHINE % (faults, target))
    c = verify(("--fabric", path, "--disk", "check=crc32c"), size,
               clock="fixed", timeout=timeout)
    assert sum(c[k] for k in counts), "%s: nothing has happened" % name
    return {k: c[k] for k in counts}


class Clients(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def start(self, *args, size="64MiB"):
        """Returns a job and the URI of its disk."""
        path = self.path("s")
        j = Job([WEFT, "disk", "--quiet", "--clock", "none", "--size", size,
                 "--socket", path, *NATIVE, *args])
        self.addCleanup(lambda: j.p.poll() is None and j.end(0))
        until = time.time() + 30
        with socket.socket(socket.AF_UNIX) as s:
            while s.connect_ex(path):
                self.assertIsNone(j.p.poll())
                self.assertLess(time.time(), until)
                time.sleep(0.01)
        return j, "nbd+unix:///?socket=" + path

    def end(self, j, sig=signal.SIGINT, status=0):
        """Returns what it has said."""
        if sig:
            j.p.send_signal(sig)
        got, out, err, left = j.end()
        self.assertEqual((got, left), (status, []), out + err)
        self.assertFalse(os.path.exists(self.path("s")))
        return err

    def works(self, uri):
        qemu_io(uri, "write -P 0x3c 8M 1M", "read -P 0x3c 8M 1M", "flush")

    # ---- bytes ----

    def test_fio_verifies_256_mb_on_four_nics(self):
        for size, machine in NICS.values():
            verify(machine, size)

    def test_patterns_of_qemu_io(self):
        j, uri = self.start()
        qemu_io(uri, "write -P 1 0 64M", "aio_write -P 2 512 512",
                "aio_write -P 3 1M 3M", "aio_write -P 4 63M 1M", "aio_flush",
                "write -z 2M 4k", "discard 8M 1M", "write -f -P 5 9M 512",
                "writev -P 6 10M 512 1024 64k 512", "flush",
                "read -P 1 0 512", "read -P 2 512 512", "read -P 1 1k 1023k",
                "read -P 3 1M 1M", "read -P 0 2M 4k", "read -P 3 2052k 2044k",
                "read -P 0 8M 1M", "read -P 5 9M 512", "read -P 6 10M 67072",
                "read -P 4 63M 1M", "readv -P 1 20M 512 64k 1M")
        e = json.loads(subprocess.run(
            ["nbdinfo", "--json", uri], check=True, capture_output=True,
            text=True, timeout=60).stdout)["exports"][0]
        self.assertEqual((e["export-size"], e["can_multi_conn"],
                          e["can_fua"], e["can_trim"]),
                         (64 * MiB, True, True, True))
        self.end(j)

    def test_places_beyond_4_gib(self):
        j, uri = self.start(size="8GiB")
        qemu_io(uri, "write -P 1 %d 1M" % (4 * GiB - MiB // 2),
                "write -P 2 %d 64k" % (8 * GiB - 65536),
                "read -P 1 %d 1M" % (4 * GiB - MiB // 2),
                "read -P 0 %d 1M" % (2 * GiB), "read -P 0 0 1M",
                "read -P 2 %d 64k" % (8 * GiB - 65536))
        self.end(j)

    def test_file_outlives_a_machine_that_is_killed(self):
        keep = ("--set", "disk.target.file=" + self.path("drive"))
        j, uri = self.start(*keep)
        qemu_io(uri, "write -P 0x77 1M 2M", "flush")
        # another machine may not have it, too
        p = subprocess.run([WEFT, "disk", "--quiet", *NATIVE, *keep, "--size",
                            "64MiB", "true"], capture_output=True, text=True,
                           timeout=60)
        self.assertNotEqual(p.returncode, 0)
        self.assertIn("drive", p.stderr)
        j.p.kill()
        status, _, _, left = j.end()
        self.assertEqual(status, -signal.SIGKILL)
        # its folder stays; the processes do not
        self.assertFalse([x for x in left if not x.startswith(j.tmp)], left)
        os.remove(self.path("s"))
        j, uri = self.start(*keep)
        qemu_io(uri, "read -P 0x77 1M 2M", "read -P 0 3M 1M")
        self.end(j)

    # ---- clients that misbehave ----

    def test_requests_that_are_not_possible(self):
        j, uri = self.start()
        r, end = Raw(self.path("s")), 64 * MiB
        self.assertEqual(r.size, end)
        for kind, at, n in ((READ, end, 512), (READ, end - 512, 1024),
                            (TRIM, end - 512, 1024), (ZERO, end, 4096),
                            (READ, 1 << 63, 512), (READ, 0, 0xffffffff)):
            self.assertNotEqual(r.ask(kind, at, n), 0, (kind, at, n))
        self.assertNotEqual(r.ask(WRITE, end, 512, bytes(512)), 0)
        self.assertEqual(r.ask(99, 0, 512), EINVAL)
        self.assertEqual(r.ask(READ, 0, 512), 0)
        r.get(512)
        self.assertEqual(r.ask(FLUSH, 0, 0), 0)
        self.works(uri)
        r.s.close()
        self.end(j)

    def test_garbage_and_disconnects(self):
        j, uri = self.start()
        head = struct.pack(">IHHQQI", 0x25609513, 0, WRITE, 1, 0, MiB)
        for text in (b"GET / HTTP/1.0\r\n\r\n" * 50, bytes(4096), b"\0",
                     os.urandom(4096)):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(self.path("s"))
                s.sendall(text)
        for cut in (0, 5, 28, 1000, 28 + MiB - 1):
            r = Raw(self.path("s"))
            for i in range(30):
                r.send(READ, i * MiB, MiB)
            r.s.sendall((head + bytes(MiB))[:cut])
            r.s.close()
        r = Raw(self.path("s"))
        r.s.sendall(bytes(28))  # no request
        r.s.close()
        self.works(uri)
        self.end(j)

    def test_client_that_stops_holds_up_no_other(self):
        j, uri = self.start()
        c = subprocess.Popen(
            "exec " + fio(8, uri, rw="randrw", time_based=1, runtime=20,
                          verify=0, do_verify=0), shell=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        c.send_signal(signal.SIGSTOP)
        self.works(uri)
        c.send_signal(signal.SIGCONT)
        time.sleep(0.2)
        self.assertIsNone(c.poll())
        self.works(uri)
        c.kill()
        c.wait()
        self.works(uri)
        self.end(j)

    def test_many_clients_at_once(self):
        j, uri = self.start()
        all_ = [subprocess.Popen(
            ["qemu-io", "-f", "raw", uri] + sum(
                (["-c", "write -P %d %dk 32k" % (k + 1, at),
                  "-c", "read -P %d %dk 32k" % (k + 1, at)]
                 for at in range(k * 4096, k * 4096 + 1024, 128)), []),
            stdout=subprocess.DEVNULL) for k in range(12)]
        self.assertEqual([p.wait(60) for p in all_], [0] * 12)
        self.end(j, signal.SIGTERM)

    # ---- ends ----

    def test_ctrl_c_while_a_client_works(self):
        j, uri = self.start()
        c = subprocess.Popen(
            "exec " + fio(8, uri, rw="randrw", time_based=1, runtime=60,
                          verify=0, do_verify=0), shell=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        self.end(j)
        self.assertNotEqual(c.wait(20), 0)

    def test_nbdkit_that_is_killed_leaves_nothing(self):
        j, _ = self.start()
        for pid in j.named("nbdkit"):
            os.kill(pid, signal.SIGKILL)
        err = self.end(j, None, status=137)
        self.assertIn("nbdkit has ended with status 137", err)

    # ---- faults ----

    def test_fio_verifies_through_faults(self):
        for name in FAULTS:
            with self.subTest(name):
                faulty(self.dir.name, name, 16)


# ---- the long test ----

def soak(mib, parts):
    """Prints a line for each part; parts: forth, bits, ..., whole."""
    with tempfile.TemporaryDirectory() as d:
        for name, (share, machine) in NICS.items():
            if not parts or name in parts:
                n = max(1, mib * share // 256)
                at = time.time()
                verify(machine, n, timeout=None)
                print("%-9s %6d MiB verified in %.0f s" % (
                    name, n, time.time() - at), flush=True)
        for name in FAULTS:
            if not parts or name in parts:
                n = max(16, mib // len(FAULTS) // 4)
                at = time.time()
                c = faulty(d, name, n, timeout=None)
                print("%-9s %6d MiB verified in %.0f s: %s" % (
                    name, n, time.time() - at, ", ".join(
                        "%s %d" % i for i in c.items())), flush=True)
        if not parts or "whole" in parts:
            at = time.time()
            c = disk(*NATIVE, "--clock", "none", "--size", "8GiB",
                     "nbdcopy $uri null: && nbdcopy --connections=4 $uri "
                     "null:", timeout=None)
            assert c["disk.read.bytes"] == 16 * GiB, c["disk.read.bytes"]
            print("whole     an 8 GiB disk read twice in %.0f s" % (
                time.time() - at))


if __name__ == "__main__":
    missing = [t for t in TOOLS if not shutil.which(t)]
    if missing:
        print("not tested: no %s" % ", ".join(missing))
        sys.exit(77)
    if sys.argv[1:2] == ["--soak"]:
        soak(int(sys.argv[2]), sys.argv[3:])
    else:
        unittest.main()
