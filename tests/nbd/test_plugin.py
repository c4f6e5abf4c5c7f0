#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plug-in of nbdkit over a disk in memory (fake_disk.c), as its clients see
it: sizes, bytes, errors, two clients, ends.

    test_plugin.py PLUGIN [NAME...]
"""
import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from rawnbd import (EINVAL, EIO, ENOSPC, ESHUTDOWN, FLUSH, READ, TRIM, WRITE,
                    ZERO, Raw)  # noqa: E402

PLUGIN = os.path.abspath(sys.argv[1])
MiB = 1 << 20
SIZE = 32 * MiB


@contextlib.contextmanager
def served(*params, filters=(), status=0, env=None):
    """A running nbdkit: its URI and its process."""
    with tempfile.TemporaryDirectory() as d:
        path, pid = os.path.join(d, "s"), os.path.join(d, "pid")
        p = subprocess.Popen(
            ["nbdkit", "-f", "-t", "16", "-U", path, "-P", pid, *filters,
             PLUGIN, *params],
            env=dict(os.environ, **(env or {})), stderr=subprocess.PIPE,
            text=True)
        while not os.path.exists(pid) and p.poll() is None:
            time.sleep(0.01)
        p.path = path
        try:
            yield "nbd+unix:///?socket=" + path, p
        finally:
            # nbdkit ends when its clients have gone
            while Raw.open:
                Raw.open.pop().close()
            p.terminate()
            try:
                _, p.said = p.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                p.kill()
                raise
        assert p.returncode == status, (p.returncode, p.said)


@contextlib.contextmanager
def alive():
    """An nbdkit as weft disk starts and ends it."""
    with served(env={"LD_PRELOAD": PLUGIN}) as (uri, p):
        yield uri, p
        assert p.poll() is None
        p.send_signal(signal.SIGUSR1)
        p.wait(20)


def run(*argv, status=0):
    r = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, timeout=60)
    assert r.returncode == status, (argv, r.returncode, r.stdout)
    return r.stdout


def qemu_io(uri, *commands, status=0):
    argv = ["qemu-io", "-f", "raw", "-t", "none", uri]
    for c in commands:
        argv += ["-c", c]
    return run(*argv, status=status)


def test_export():
    with served() as (uri, _):
        e = json.loads(run("nbdinfo", "--json", uri))["exports"][0]
        assert e["export-size"] == SIZE
        assert e["block_size_minimum"] == 512
        assert e["block_size_preferred"] == 4096
        for can in ("flush", "fua", "multi_conn", "trim", "zero",
                    "fast_zero"):
            assert e["can_" + can], can
        assert not e["is_read_only"]


def test_bytes():
    with served() as (uri, _):
        qemu_io(uri, "write -P 0x5a 0 1M", "write -P 0x11 512 512",
                "aio_write -P 1 4M 4M", "aio_write -P 2 8M 7M", "aio_flush",
                "read -P 0x5a 0 512", "read -P 0x11 512 512",
                "read -P 0x5a 1k 1023k", "read -P 1 4M 4M",
                "read -P 2 8M 7M", "write -z 4M 1M", "discard 8M 1M",
                "write -f -P 9 9M 4k", "flush", "read -P 0 4M 1M",
                "read -P 0 8M 1M", "read -P 9 9M 4k", "read -P 1 5M 3M")


def test_unaligned_through_the_filter():
    with served(filters=["--filter=blocksize"]) as (uri, _):
        qemu_io(uri, "write -P 3 1M 1000", "write -P 4 1049000 77",
                "read -P 3 1M 424", "read -P 4 1049000 77",
                "read -P 3 1049077 499")


def test_copy():
    with served() as (_, p):
        data = os.urandom(16 * MiB)
        r = Raw(p.path)
        for at in range(0, 16 * MiB, MiB):
            assert r.ask(WRITE, at, MiB, data[at:at + MiB]) == 0
        for at in range(0, 16 * MiB, 4 * MiB):
            assert r.ask(READ, at, 4 * MiB) == 0
            assert r.get(4 * MiB) == data[at:at + 4 * MiB]


def test_errors():
    with served() as (_, p):
        r = Raw(p.path)
        for i, error in enumerate((EIO, ESHUTDOWN, EIO, EIO, EIO, ENOSPC)):
            at = 16 * MiB + 1024 * i
            assert r.ask(READ, at, 512) == error, i
            assert r.ask(WRITE, at, 512, bytes(512)) == error, i
            assert r.ask(ZERO, at, 512) == error, i
            assert r.ask(READ, at + 512, 512) == 0
            r.get(512)
        # the first error of a long request
        assert r.ask(READ, 12 * MiB, 8 * MiB) == EIO
        assert r.ask(READ, 1, 512) == EINVAL
        assert r.ask(READ, 0, 100) == EINVAL
        assert r.ask(WRITE, SIZE - 512, 1024, bytes(1024)) == ENOSPC
        assert r.ask(READ, SIZE, 512) == EINVAL
        assert r.ask(TRIM, SIZE - 512, 1024) == EINVAL
        assert r.ask(FLUSH, 0, 0) == 0
    assert "Input/output error" in p.said


def test_no_room():
    with served() as (_, p):
        r = Raw(p.path)
        for _ in range(3):
            assert r.ask(WRITE, 17 * MiB, 512, b"x" * 512) == 0
        assert r.ask(READ, 17 * MiB, 4 * MiB) == 0
        assert r.get(4 * MiB)[:513] == b"x" * 512 + b"\0"


def test_many_in_flight():
    with served("gather=100") as (_, p):
        r = [Raw(p.path) for _ in range(3)]
        for i in range(200):
            r[i % 3].send(WRITE, i * 4096, 4096, bytes([i]) * 4096, handle=i)
        for i in range(200):
            assert r[i % 3].reply() == 0
        for i in range(200):
            assert r[0].ask(READ, i * 4096, 4096) == 0
            assert r[0].get(4096) == bytes([i]) * 4096


def test_disconnect_in_the_middle():
    with alive() as (uri, p):
        for cut in (3, 28, 100, 28 + 70000):
            r = Raw(p.path)
            for i in range(20):
                r.send(READ, i * MiB // 2, MiB // 2)
            r.s.sendall(struct.pack(">IHHQQI", 0x25609513, 0, WRITE, 1, 0,
                                    MiB)[:cut])
            if cut > 28:
                r.s.sendall(bytes(cut - 28))
            r.s.close()
        with socket.socket(socket.AF_UNIX) as s:  # garbage
            s.connect(p.path)
            s.sendall(b"GET / HTTP/1.0\r\n\r\n" * 100)
        qemu_io(uri, "write -P 1 0 4k", "read -P 1 0 4k")


def processor_time(pid):
    with open("/proc/%d/stat" % pid) as f:
        user, system = f.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def becomes_idle(pid):
    """Whether the process uses no processor for a while, within 10 s."""
    until = time.time() + 10
    while time.time() < until:
        used = processor_time(pid)
        time.sleep(0.3)
        if processor_time(pid) - used < 0.03:
            return True
    return False


def test_hang_up_with_answers_due():
    """nbdkit 1.32.5 alone does not survive it (src/nbd/hangup.c). Threads with
    answers for clients that are gone sleep."""
    with alive() as (uri, p):
        for _ in range(40):
            r = Raw(p.path)
            for i in range(100):
                r.send(READ, i * 4096, 4096)
            r.reply()
            r.s.close()
        qemu_io(uri, "write -P 1 0 4k", "read -P 1 0 4k")
        assert becomes_idle(p.pid)


def test_two_clients():
    with served() as (uri, _):
        argv = ["qemu-io", "-f", "raw", uri]
        two = [subprocess.Popen(
            argv + sum((["-c", "write -P %d %dk 64k" % (k + 1, at),
                         "-c", "read -P %d %dk 64k" % (k + 1, at)]
                        for at in range(k * 8192, k * 8192 + 2048, 64)), []),
            stdout=subprocess.DEVNULL) for k in range(2)]
        assert [p.wait(60) for p in two] == [0, 0]


def test_cut():
    """SIGUSR1: the disk is flushed and closed, though clients are connected,
    with SIGTERM before it or with requests in flight."""
    for reads in (0, 10):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "report")
            with served("report=" + path) as (_, p):
                r = Raw(p.path)
                assert r.ask(WRITE, 0, 512, bytes(512)) == 0
                for i in range(reads):
                    r.send(READ, 0, MiB, handle=i)
                if not reads:
                    p.send_signal(signal.SIGTERM)
                    time.sleep(0.3)
                    assert p.poll() is None
                p.send_signal(signal.SIGUSR1)
                assert p.wait(20) == 0
            assert os.path.getsize(path)


def test_cut_while_nbdkit_ends():
    """SIGTERM during the last flush after SIGUSR1: nbdkit does not end before
    the disk is closed."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "report")
        with served("report=" + path, env={"FAKE_SLOW": "1"}) as (_, p):
            Raw(p.path).ask(WRITE, 0, 512, bytes(512))
            Raw.open.pop().close()
            p.send_signal(signal.SIGUSR1)
            time.sleep(0.2)  # the flush takes a second
            p.send_signal(signal.SIGTERM)
            assert p.wait(20) == 0
        assert os.path.getsize(path)


def test_report():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "report")
        with served("report=" + path) as (_, p):
            r = Raw(p.path)
            for _ in range(5):
                r.ask(WRITE, 0, 4096, bytes(4096))
            r.ask(WRITE, 0, 4 * MiB, bytes(4 * MiB))
            r.ask(FLUSH, 0, 0)
            r.ask(READ, 16 * MiB, 512)
        with open(path) as f:
            lines = f.read().splitlines()
        hists = {x.split()[1]: x.split()[2:] for x in lines
                 if x.startswith("hist")}
        assert hists["disk.write.4KiB.latency"][:3] == ["us", "5", "50"], hists
        assert hists["disk.write.more.latency"][:3] == ["us", "1", "40"]
        assert hists["disk.flush.latency"][:2] == ["us", "1"]
        assert "counter disk.read.errors requests 1" in lines
        assert "counter disk.write.bytes B %d" % (4 * MiB + 20480) in lines
        rate = [x for x in lines if x.startswith("metric disk.write.rate")]
        assert abs(float(rate[0].split()[3]) -
                   (4 * MiB + 20480) / 90) < 0.01, rate


def test_live():
    """A report follows requests after a moment without any."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "live")
        with served("live=" + path) as (_, p):
            r = Raw(p.path)
            for n in (1, 2):
                r.ask(WRITE, 0, 4096, bytes(4096))
                until = time.time() + 10
                said = "counter disk.write.requests requests %d\n" % n
                while (not os.path.exists(path) or
                       said not in open(path).read()):
                    assert time.time() < until, said
                    time.sleep(0.01)
            at = os.stat(path).st_mtime_ns
            time.sleep(0.3)
            assert os.stat(path).st_mtime_ns == at
        assert os.listdir(d) == ["live"]


def test_bad_parameters():
    for params, word in ((["targets=1,x"], "1,2,5"), (["check=md5"], "crc32c"),
                         (["nothing=1"], "nothing"), (["depth=-1"], "depth"),
                         (["link=" + 20 * "x"], "too long"),
                         (["targets=1,2"], "does not answer")):
        with served(*params, status=1) as (_, p):
            p.wait(20)
        assert word in p.said, p.said
    with served(status=1, env={"FAKE_NONE": "1"}) as (_, p):
        p.wait(20)
    assert "weft disk" in p.said, p.said
    with served(env={"FAKE_STALE": "1"}) as (_, p):
        pass
    assert "flush" in p.said, p.said


def main():
    for tool in ("nbdkit", "nbdinfo", "qemu-io"):
        if not shutil.which(tool):
            print("no %s: not tested" % tool)
            sys.exit(77)
    wanted = sys.argv[2:]
    for name, fn in list(globals().items()):
        if name.startswith("test_") and (not wanted or name in wanted):
            print(name, flush=True)
            fn()


main()
