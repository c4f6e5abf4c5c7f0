#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The storage suite of the FORTH papers (forth.md 13, S02-S06) over any block
device that speaks NBD: a file system of the kernel, mounted through nbdfuse and
a loop device with direct I/O, so that its requests reach the device.

    suite.py URI --fs ext4|xfs --tar FILE [OPTION...]
    suite.py --missing          what this machine lacks; status 77 if anything

Each step ends with sync and with a device that has been quiet for a moment.
Data are read back after the file system has been mounted anew, so they come
from the device.  The table counts requests of the file system, as its loop
device does.
"""
import argparse
import collections
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOOLS = {"nbdfuse": "libnbd-bin", "fusermount3": "fuse3",
         "losetup": "mount", "mount": "mount", "mkfs.ext4": "e2fsprogs",
         "e2fsck": "e2fsprogs", "mkfs.xfs": "xfsprogs",
         "xfs_repair": "xfsprogs", "postmark": "postmark", "bzip2": "bzip2",
         "tar": "tar"}
FS = {
    # 4 KB blocks, as the papers' ReiserFS, which Linux has no more since 6.13
    # all of it is written at once, so that nothing moves later
    "ext4": ("mkfs.ext4 -q -F -b 4096 "
             "-E lazy_itable_init=0,lazy_journal_init=0 {dev}", "e2fsck -f -n {dev}"),
    "xfs": ("mkfs.xfs -q -f -b size=4096 {dev}", "xfs_repair -n {dev}"),
}
QUIET_S = 0.3  # without requests: a step is over
SECTOR = 512

Stat = collections.namedtuple(
    "Stat", "reads read_bytes writes written_bytes flushes in_flight")


def missing():
    """Reasons for which file systems cannot be mounted here."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    out = ["no %s: install the package %s" % (t, p)
           for t, p in TOOLS.items() if not shutil.which(t)]
    if os.geteuid():
        out.append("not root, whom mount needs")
    if not os.path.exists("/dev/fuse"):
        out.append("no /dev/fuse")
    if not os.path.exists("/dev/loop-control"):
        out.append("no loop devices")
    else:
        p = subprocess.run(["losetup", "-f"], capture_output=True, text=True)
        if p.returncode:
            out.append("no free loop device: " + p.stderr.strip())
    with open("/proc/filesystems") as f:
        known = f.read().split()
    return out + ["the kernel has no " + f for f in FS if f not in known]


def sh(line, **words):
    """Runs a line of the shell.  Returns what it prints; it must succeed."""
    line = line.format(**{k: shlex.quote(v) for k, v in words.items()})
    p = subprocess.run(["bash", "-c", "set -o pipefail; " + line],
                       stdin=subprocess.DEVNULL, capture_output=True,
                       text=True)
    if p.returncode:
        raise SystemExit("suite: %s: status %d\n%s%s" % (
            line, p.returncode, p.stdout, p.stderr))
    return p.stdout


def until(true, what, seconds=30):
    end = time.time() + seconds
    while not true():
        if time.time() > end:
            raise SystemExit("suite: %s: not within %d s" % (what, seconds))
        time.sleep(0.02)


class Device:
    """The export as a block device."""

    def __init__(self, uri, folder):
        self.fuse = os.path.join(folder, "fuse")
        self.file = os.path.join(self.fuse, "nbd")
        self.uri = uri
        self.loop = None

    def __enter__(self):
        os.mkdir(self.fuse)
        self.p = subprocess.Popen(["nbdfuse", self.fuse, self.uri])
        try:
            until(lambda: self.p.poll() is not None or
                  os.path.exists(self.file), "nbdfuse")
            if self.p.poll() is not None:
                raise SystemExit("suite: nbdfuse has ended with status %d" %
                                 self.p.returncode)
            self.loop = sh("losetup -f --show --direct-io=on {f}",
                           f=self.file).strip()
        except BaseException:
            self.__exit__()
            raise
        self.name = os.path.basename(self.loop)
        return self

    def stat(self):
        with open("/sys/block/%s/stat" % self.name) as f:
            n = [int(x) for x in f.read().split()]
        return Stat(n[0], n[2] * SECTOR, n[4], n[6] * SECTOR, n[15], n[8])

    def settle(self):
        """Waits until the device has been quiet."""
        old, at = self.stat(), time.time()
        until_ = at + 30
        while time.time() < at + QUIET_S:
            time.sleep(0.02)
            new = self.stat()
            if new != old or new.in_flight:
                old, at = new, time.time()
            if time.time() > until_:
                raise SystemExit("suite: the device does not come to rest")

    def __exit__(self, *_):
        if self.loop:
            subprocess.run(["losetup", "-d", self.loop])
            # it is busy while the loop device lets go
            for _ in range(100):
                if not os.path.exists("/sys/block/%s/loop" % self.name):
                    break
                time.sleep(0.05)
        for _ in range(100):
            if self.p.poll() is not None:
                break
            subprocess.run(["fusermount3", "-u", self.fuse],
                           stderr=subprocess.DEVNULL)
            try:
                self.p.wait(0.2)
            except subprocess.TimeoutExpired:
                pass
        self.p.poll() is None and self.p.kill()
        self.p.wait()
        os.rmdir(self.fuse)


class Suite:
    def __init__(self, dev, args, folder):
        self.dev, self.a, self.folder = dev, args, folder
        self.mnt = os.path.join(folder, "mnt")
        self.rows = []
        self.words = {"dev": dev.loop, "mnt": self.mnt, "tar": args.tar,
                      "trace": os.path.join(folder, "trace"),
                      "copy": os.path.join(self.mnt, "copy.tar"),
                      "tree": os.path.join(self.mnt, "tree"),
                      "again": os.path.join(self.mnt, "again.tar"),
                      "text": os.path.join(self.mnt, "trace"),
                      "files": os.path.join(self.mnt, "files"),
                      "pm": os.path.join(folder, "postmark")}

    def sh(self, line, **more):
        return sh(line, **dict(self.words, **more))

    def counters(self):
        """Of the device so far; it writes them when it has been quiet."""
        if not self.a.counters or not os.path.exists(self.a.counters):
            return {}
        with open(self.a.counters) as f:
            words = [line.split() for line in f]
        return {w[1]: float(w[3]) for w in words
                if w[0] in ("counter", "metric")}

    def step(self, row, name, line, **more):
        """Runs a line of the shell and syncs.  Returns what it prints."""
        before, seen, at = self.dev.stat(), self.counters(), time.time()
        out = self.sh(line, **more)
        if os.path.ismount(self.mnt):
            self.sh("sync -f {mnt}")
        seconds = time.time() - at
        self.dev.settle()
        after = self.dev.stat()
        r = {"row": row, "step": name, "seconds": seconds}
        for k in Stat._fields[:5]:
            r[k] = getattr(after, k) - getattr(before, k)
        r["device"] = {k: v - seen.get(k, 0)
                       for k, v in self.counters().items()}
        self.rows.append(r)
        if self.a.verbose:
            print("%s %-28s %7.2f s" % (row, name, seconds), flush=True)
        return out

    def same(self, what, a, b):
        if a != b:
            raise SystemExit("suite: %s: %s, expected %s" % (what, a, b))

    def remount(self):
        """Mounts anew, so that later reads come from the device."""
        self.sh("umount {mnt} && mount {dev} {mnt}")
        self.dev.settle()

    # ---- steps ----

    def s02(self):
        make = FS[self.a.fs][0]
        self.step("S02", "mkfs", make)
        os.makedirs(self.mnt)
        self.step("S02", "mount", "mount {dev} {mnt}")

    def s03(self):
        self.step("S03", "copy of the tar", "cp {tar} {copy}")
        self.remount()
        self.step("S03", "compare", "cmp {tar} {copy}")

    def s04(self):
        self.step("S04", "untar", "mkdir {tree} && tar xf {copy} -C {tree}")
        self.remount()
        # sizes, owners, times, links and all bytes
        self.step("S04", "compare with the tar", "tar df {tar} -C {tree}")
        self.remount()
        pack = "tar cf - -C {tree} . | tee {again} | sha256sum"
        want = self.step("S04", "tar", pack)
        self.remount()
        got = self.step("S04", "bzip2", "bzip2 -k {again} && "
                        "sha256sum <{again}")
        self.same("tar read back", got, want)
        self.remount()
        got = self.step("S04", "bunzip2", "bzip2 -dc {again}.bz2 | sha256sum")
        self.same("bzip2 of the tar", got, want)
        self.step("S04", "rm -r", "rm -r {tree} {copy} {again} {again}.bz2")
        self.step("S04", "umount", "umount {mnt}")
        self.step("S04", "check", FS[self.a.fs][1])
        self.step("S04", "mount", "mount {dev} {mnt}")
        left = [f for f in os.listdir(self.mnt) if f != "lost+found"]
        self.same("files after rm -r", left, [])

    def s05(self):
        counts = make_trace(self.words["trace"], self.a.trace)
        self.sh("bzip2 {trace}")
        self.step("S05", "copy of the trace", "cp {trace}.bz2 {text}.bz2")
        self.remount()
        self.step("S05", "bunzip2", "bunzip2 {text}.bz2")
        self.remount()
        got = self.step("S05", "wc", "wc <{text}").split()
        self.same("wc", [int(n) for n in got], counts)
        self.remount()
        self.step("S05", "bzip2", "bzip2 {text}")
        self.remount()
        self.step("S05", "compare", "cmp {trace}.bz2 {text}.bz2")
        self.step("S05", "rm", "rm {text}.bz2")
        os.remove(self.words["trace"] + ".bz2")

    def s06(self):
        n, low, high, count = self.a.postmark
        if self.a.sync:
            self.sh("mount -o remount,sync {mnt}")
        os.mkdir(self.words["files"])
        with open(self.words["pm"], "w") as f:
            f.write("set location %s\nset number %d\nset size %d %d\n"
                    "set transactions %d\nset read 4096\nset write 4096\n"
                    "run\nquit\n" % (self.words["files"], n, low, high,
                                     count))
        self.dev.settle()
        said = self.step("S06", "postmark", "postmark {pm}")
        unit = {"": 1, "kilo": 1 << 10, "mega": 1 << 20, "giga": 1 << 30}
        for what, number, k in re.findall(
                r"([\d.]+) (\w*)bytes (read|written)(?= \()", said):
            self.rows[-1]["program_" + k] = float(what) * unit[number]
        self.same("files after postmark", os.listdir(self.words["files"]), [])

    def end(self):
        self.step("", "umount", "umount {mnt}")
        self.step("", "check", FS[self.a.fs][1])
        self.dev.settle()

    def run(self):
        try:
            for s in (self.s02, self.s03, self.s04, self.s05, self.s06,
                      self.end):
                s()
        finally:
            if os.path.ismount(self.mnt):
                subprocess.run(["umount", self.mnt])


def make_trace(path, lines):
    """A trace of a bus, about 250 characters a line, which bzip2 makes as
    small as the papers' (4.5 %).  Returns what wc says."""
    kinds = ("memory write block", "memory read block", "split completion",
             "configuration read")
    at = words = size = 0
    with open(path, "w") as f:
        for i in range(lines):
            x = int.from_bytes(hashlib.blake2b(
                b"%d" % i, digest_size=8).digest(), "little")
            at += 7 + (x >> (i % 16)) % 5
            kind = kinds[(x >> i % 13) % 16 % 4]
            line = (
                "cycle %012d  bus 0 command %-18s  address 0x%08x%08x  "
                "attribute 0x%08x  data 0x00000000%08x  enable 0xff  "
                "FRAME# 0  IRDY# 0  TRDY# %d  DEVSEL# 0  STOP# 1  REQ64# 0  "
                "ACK64# 0  PAR 0  PAR64 0  PERR# 1  SERR# 1 GNT 0\n" % (
                    at, kind, x % 3, x & 0xfffff000, i % 16 << 8,
                    x >> 40, i % 2))
            f.write(line)
            words += len(line.split())
            size += len(line)
    return [lines, words, size]


def table(rows):
    print("%-4s %-21s %8s %7s %9s %7s %9s %6s" % (
        "row", "step", "s", "reads", "MB", "writes", "MB", "flush"))
    for r in rows:
        print("%-4s %-21s %8.2f %7d %9.3f %7d %9.3f %6d" % (
            r["row"], r["step"], r["seconds"], r["reads"],
            r["read_bytes"] / 1e6, r["writes"], r["written_bytes"] / 1e6,
            r["flushes"]))


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("uri")
    p.add_argument("--fs", choices=FS, required=True)
    p.add_argument("--tar", required=True, help="compressed, of a tree")
    p.add_argument("--trace", type=int, default=2169400, help="lines")
    p.add_argument("--postmark", default="1000,10000,10000000,5000",
                   help="files, smallest, largest, transactions")
    p.add_argument("--sync", action="store_true", help="postmark writes to "
                   "the device at once, as memory would keep a small one")
    p.add_argument("--work", help="folder for what comes from elsewhere")
    p.add_argument("--counters", help="file of the device: lines `counter "
                   "NAME UNIT VALUE`; rows get their differences")
    p.add_argument("--json", help="file for the rows, instead of a table")
    p.add_argument("--verbose", action="store_true")
    a = p.parse_args()
    a.postmark = [int(n) for n in a.postmark.split(",")]
    a.tar = os.path.abspath(a.tar)
    return a


def main():
    lacks = missing()
    if sys.argv[1:] == ["--missing"] or lacks:
        print("\n".join(lacks))
        sys.exit(77 if lacks else 0)
    a = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(dir=a.work) as folder:
        with Device(a.uri, folder) as dev:
            s = Suite(dev, a, folder)
            s.run()
    if a.json:
        with open(a.json, "w") as f:
            json.dump(s.rows, f)
    else:
        table(s.rows)


main()
