#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The papers' storage suite (suite.py) on a disk of `weft disk`, with times of
the modelled machine for each step.

    test_suite.py WEFT ROOT              a small tree, a trace of a few MB
    test_suite.py WEFT ROOT large [FS]   sizes as printed; ten minutes for a
                        file system, 20 GB of disk in $WEFT_WORK or $TMPDIR

Replacements of things that the papers used (forth.md 13, S02 to S06):

    ReiserFS, which Linux has no more         ext4 and xfs, 4 KB blocks
    Linux 2.4.30, 184.9 MB, tar of 29.7 MB    folders of Debian's kernel source
    trace of an experiment, 515.4 MB          generated text, as many lines
    xdd (S01)                                 disk.load
"""
import glob
import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.abspath(__file__))
SUITE = os.path.join(HERE, "suite.py")
KINDS = ("read", "write", "flush", "trim", "zero")
# S06: bytes that PostMark reads and writes; it draws sizes at random
PRINTED = {"program_read": 15.2e9, "program_written": 21.6e9}

# Folders of Linux 6.1 that have together the size of Linux 2.4.30.
FOLDERS = ("arch/x86", "block", "crypto", "drivers/scsi", "fs", "include",
           "init", "ipc", "kernel", "lib", "mm", "net")


def device(row):
    """Requests, bytes of data, bytes of zeros and busy time in ms, as the
    disk saw them in a step."""
    d = row["device"]

    def of(what, kinds):
        return sum(d.get("disk.%s.%s" % (k, what), 0) for k in kinds)
    return (of("requests", KINDS), of("bytes", ("read", "write")),
            of("bytes", ("zero",)), d.get("disk.busy", 0))


def small_tar(root, folder):
    path = os.path.join(folder, "tree.tar.gz")
    with tarfile.open(path, "w:gz", compresslevel=1) as t:
        for name in ("src/systems/forth", "include"):
            t.add(os.path.join(root, name), name)
    return path


def kernel_tar(work):
    """A bzip2 tar of as many bytes as Linux 2.4.30, made once."""
    path = os.path.join(work, "linux.tar.bz2")
    if os.path.exists(path):
        return path
    source = sorted(glob.glob("/usr/src/linux-source-6*.tar.xz"))
    if not source:
        print("no kernel source: install the package linux-source")
        sys.exit(77)
    with tempfile.TemporaryDirectory(dir=work) as d:
        top = os.path.basename(source[0])[:-len(".tar.xz")]
        subprocess.run(["tar", "xf", source[0], "-C", d] +
                       ["%s/%s" % (top, f) for f in FOLDERS], check=True)
        subprocess.run(["tar", "cjf", path + ".new", "-C", d, top],
                       check=True)
    os.rename(path + ".new", path)
    return path


def run(weft, work, fs, machine, suite):
    """Returns rows of the suite and results of the machine."""
    rows, live = os.path.join(work, "rows"), os.path.join(work, "live")
    if os.path.exists(live):
        os.remove(live)
    line = shlex.join([sys.executable, SUITE, "--fs", fs, "--json", rows,
                       "--counters", live, "--work", work, *suite])
    p = subprocess.run(
        [weft, "disk", "--format", "json", "--quiet", *machine,
         "--disk", "live=" + live, "exec %s $uri >&2" % line],
        stdout=subprocess.PIPE, text=True, env=dict(os.environ, TMPDIR=work))
    if p.returncode:
        raise SystemExit("%s: status %d" % (fs, p.returncode))
    with open(rows) as f:
        return json.load(f), json.loads(p.stdout)


# Basis of the columns of the table, in the words of docs/truth.md.
BASIS = """\
basis: s               time of this machine, not modelled
       requests, MB    input: file system and program choose them, and the loop
                       device counts the same bytes
       modelled s, MB/s  predicted: parameters of NIC, bus, line and drive; none
                       was chosen for this suite"""


def table(fs, rows):
    print("\n%s\n%-4s %-21s %8s %8s %9s %9s %10s %8s" % (
        fs, "row", "step", "s", "requests", "MB read", "MB writ.",
        "modelled s", "MB/s"))
    for r in rows:
        n, size, _, ms = device(r)
        print("%-4s %-21s %8.2f %8d %9.3f %9.3f %10.4f %8s" % (
            r["row"], r["step"], r["seconds"], n, r["read_bytes"] / 1e6,
            r["written_bytes"] / 1e6, ms / 1e3,
            "%.1f" % (size / 1e3 / ms) if ms else "-"))
    print(BASIS)


def totals(d):
    c, m = d["counters"], d["metrics"]
    for k in KINDS:
        if "disk.%s.requests" % k in c:
            print("%-6s %8d requests %11.3f MB %9s MB/s modelled" % (
                k, c["disk.%s.requests" % k],
                c.get("disk.%s.bytes" % k, 0) / 1e6,
                "%.1f" % m["disk.%s.rate" % k]
                if k in ("read", "write") else "-"))


def check(rows, d):
    """Nothing failed, nothing was repeated, nothing is left."""
    bad = [f for f in d["failures"]]
    for k, v in d["counters"].items():
        if k.endswith(".errors") or k in (
                "disk.protocol.retries", "disk.protocol.damaged",
                "disk.protocol.sessions"):
            bad += ["%s is %d" % (k, v)] if v else []
    sent = d["counters"]["disk.protocol.requests"]
    served = sum(v for k, v in d["metrics"].items()
                 if k.startswith("n1.") and k.endswith(".requests"))
    if served != sent:
        bad.append("%d requests sent, %d served" % (sent, served))
    for r in rows:
        # the file system's bytes are those of the disk
        want = r["read_bytes"] + r["written_bytes"]
        _, size, zeros, _ = device(r)
        if size + zeros != want:
            bad.append("%s: %d bytes for the file system, %d of the disk" % (
                r["step"], want, size + zeros))
    return bad


def check_postmark(rows):
    bad = []
    r = next(r for r in rows if r["step"] == "postmark")
    for k, printed in PRINTED.items():
        print("postmark: %s %.2f GB, printed %.1f" % (
            k.replace("program_", ""), r[k] / 1e9, printed / 1e9))
        if abs(r[k] / printed - 1) > 0.05:
            bad.append("postmark's %s differ by more than 5 %%" % k)
    return bad


def clients_alone(weft):
    """Without a file system: a file goes there and back, and a pattern."""
    with tempfile.TemporaryDirectory() as d:
        lines = ("head -c 4M /dev/urandom >{0}/a; nbdcopy {0}/a $uri; "
                 "nbdcopy $uri {0}/b; cmp -n 4194304 {0}/a {0}/b; "
                 "qemu-io -f raw -c 'write -P 7 1M 1M' -c 'read -P 7 1M 1M' "
                 "$uri").format(d)
        p = subprocess.run([weft, "disk", "--quiet", "--fabric",
                            "forth/storage-pair", "--disk", "link=native",
                            "--size", "4MiB", "set -e; " + lines],
                           capture_output=True, text=True)
        if p.returncode:
            raise SystemExit(p.stdout + p.stderr)


def skip(weft):
    """Says why the suite cannot run here."""
    p = subprocess.run([sys.executable, SUITE, "--missing"],
                       stdout=subprocess.PIPE, text=True)
    lacks = p.stdout.splitlines() if p.returncode else []
    if not shutil.which("nbdkit"):
        lacks.append("no nbdkit: install the package nbdkit")
    elif lacks and shutil.which("nbdcopy") and shutil.which("qemu-io"):
        clients_alone(weft)
        lacks.append("clients of NBD alone have run")
    if lacks:
        print("no file systems: " + "; ".join(lacks))
        sys.exit(77)


def main():
    weft, root = os.path.abspath(sys.argv[1]), sys.argv[2]
    large = sys.argv[3:4] == ["large"]
    skip(weft)
    bad = []
    with tempfile.TemporaryDirectory(
            prefix="weft-suite-", dir=os.environ.get("WEFT_WORK")) as work:
        if large:
            keep = os.environ.get("WEFT_WORK", work)
            suite = ["--tar", kernel_tar(keep), "--verbose"]
            machine = ["--size", "16GiB", "--set",
                       "disk.target.file=" + os.path.join(work, "drive")]
        else:
            suite = ["--tar", small_tar(root, work), "--trace", "12000",
                     "--postmark", "20,1000,50000,30", "--sync"]
            machine = ["--size", "512MiB"]
        machine += ["--fabric", "forth/storage-pair", "--disk", "link=native"]
        for fs in sys.argv[4:] or ("ext4", "xfs"):
            rows, d = run(weft, work, fs, machine, suite)
            table(fs, rows)
            totals(d)
            bad += check(rows, d)
            if large:
                bad += check_postmark(rows)
    print("\n".join("FAILED: " + b for b in bad))
    sys.exit(1 if bad else 0)


main()
