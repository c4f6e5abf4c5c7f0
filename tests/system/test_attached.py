#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attached processes, in simulated time, do the same in every run: what came of
these runs is what is stored in attached.json, to the femtosecond.  Numbers of
processes vary from run to run, and so does what happens in real time:
everything beside times and counts of untimed runs, counters of MPI's start.

    test_attached.py WEFT ROOT BUILD
    test_attached.py WEFT ROOT BUILD --write     stores what is there now
    test_attached.py WEFT ROOT BUILD --show RUN  all of one run, to compare
"""
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

WEFT, ROOT, BUILD = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
STORE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "attached.json")
ENV = {k: v for k, v in os.environ.items()
       if k != "LD_PRELOAD" and not k.startswith(("OMPI_", "PMIX_", "FI_",
                                                  "WEFT_"))}
SYSTEMS = "extoll", "forth", "hostport", "hvia"
UNTIMED = "--clock", "none"
TABLES = "calls", "flows", "ranks", "failures"
# Real time decides which of two that leave at once polls last.
VARIES = {"raw-ep-hostport": ("n0.host.busy", "n1.host.busy")}


def runs():
    """{name: (options, program, its arguments)}"""
    out = {}
    for s in SYSTEMS:
        machine = ("--fabric", "exec/%s-pair" % s)
        out["story-" + s] = machine, "attach/att_story"
        out["ops-" + s] = machine, "attach/att_ops"
        out["wild-" + s] = ("--raw", "-n", "1", *machine), "raw/raw_wild", "1"
    out.update(more())
    out.update(raw())
    return out


def more():
    extoll, forth = (("--fabric", "exec/%s-pair" % s)
                     for s in ("extoll", "forth"))
    out = {
        "story-untimed": ((*extoll, *UNTIMED), "attach/att_story"),
        "story-direct": ((*extoll, *UNTIMED, "--path", "direct"),
                         "attach/att_story"),
        "pingpong": (forth, "attach/att_pingpong", "700", "5", "30000",
                     "quick"),
        "names": (forth, "attach/att_names"),
        "ops-two-on-a-node": (("--fabric", "exec/hostport-pair",
                               "--per-node", "2"), "attach/att_ops"),
    }
    for key, value in (("batch", "1"), ("max_msg", "3000"), ("rx_slots", "2"),
                       ("eager_max", "100"), ("use_irq", "yes"),
                       ("cost_call", "1us")):
        out["ops-" + key] = ((*forth, "--set", "host.agent.%s=%s" %
                              (key, value)), "attach/att_ops")
    return out


def raw():
    out = {}
    for lib, s in (("rma", "extoll"), ("hostport", "hostport"),
                   ("ep", "hostport"), ("ep", "extoll"), ("ep", "forth")):
        out["raw-%s-%s" % (lib, s)] = (
            ("--raw", "--fabric", "exec/%s-pair" % s), "raw/raw_libs", lib)
    for post in "none", "all":
        out["raw-post-" + post] = (
            ("--raw", "--fabric", "exec/extoll-pair", "--set",
             "host.agent.post=" + post), "raw/raw_libs", "ep")
    for way in "play", "dies", "attack":
        out["raw-ports-" + way] = (
            ("--raw", "--per-node", "2", "-n", "4", "--fabric",
             "exec/hostport-pair"), "raw/raw_ports", way)
    return out


def mpi():
    return {
        "mpi-swap": (("--fabric", "exec/hostport-pair"), "mpi/times", "swap",
                     "9000", "3"),
        "mpi-put": (("--fabric", "exec/extoll-pair"), "mpi/times", "put",
                    "20000", "4"),
        "mpi-all": (("--fabric", "exec/forth-eight", "-n", "4"), "mpi/all64"),
    }


# ---- a run, as text ---------------------------------------------------------


def plain(text):
    return re.sub(r"process \d+|, \d+ messages/s", "N",
                  text.replace(BUILD, "BUILD"))


def is_kept(name, counter):
    """Counters of other components are theirs to test."""
    return re.match(r"exec\.|n\d+\.(prog\d+|host)\.", counter) and \
        counter not in VARIES.get(name, ())


def tables(name, db, timed):
    """Lines of a results file."""
    for t in TABLES:
        for row in db.execute("SELECT * FROM %s" % t):
            if timed or t in ("calls", "flows"):
                yield t, plain(" ".join(map(str, row)))
    what = "name, value FROM %s WHERE value != 0 ORDER BY name"
    for key, value in db.execute("SELECT " + what % "metrics"):
        if timed and key.startswith("exec."):
            yield "metrics", "%s %r" % (key, value)
    for key, value in db.execute("SELECT " + what % "counters"):
        if timed and not name.startswith("mpi-") and is_kept(name, key):
            yield "counters", "%s %r" % (key, value)


def played(name, options, program, *args):
    """(part, line)... of what came of it."""
    timed = "none" not in options
    env = dict(ENV, WEFT_PER_NODE="2") if "--per-node" in options else ENV
    with tempfile.TemporaryDirectory() as d:
        file = os.path.join(d, "run.db")
        p = subprocess.run([WEFT, "exec", "--quiet", "--out", file, *options,
                            "--", os.path.join(BUILD, "tests", program),
                            *args], capture_output=True, text=True,
                           timeout=100, env=env, cwd=d)
        out = [("status", str(p.returncode))]
        db = sqlite3.connect(file)
        out += tables(name, db, timed)
        db.close()
    # lines of several ranks come in any order, untimed also those of one
    lines = p.stdout.splitlines()
    lines.sort(key=lambda line: line[:2] if timed and line[1:2] == ":"
               else line)
    out += [("stdout", plain(line)) for line in lines]
    if name.startswith("raw-") or name.startswith("wild-"):
        out += [("stderr", plain(line)) for line in p.stderr.splitlines()]
    return out


def digest(lines):
    return "%d lines, %s" % (len(lines), hashlib.sha1(
        "\n".join(lines).encode()).hexdigest()[:16])


def summary(out):
    """The stored form: counters and metrics by name, a digest of the rest."""
    d = {"status": int(out[0][1])}
    for part in TABLES + ("stdout", "stderr"):
        lines = [line for p, line in out if p == part]
        if lines:
            d[part] = digest(lines)
    for part in "counters", "metrics":
        d.update((line.split()[0], float(line.split()[1]))
                 for p, line in out if p == part)
    return {k: int(v) if isinstance(v, float) and v == int(v) else v
            for k, v in d.items()}


# ---- tests -------------------------------------------------------------------


def stored():
    with open(STORE) as f:
        return json.load(f)


def has_mpi():
    """Returns true with the version whose internal calls are expected."""
    p = subprocess.run(["sh", "-c", "mpirun --version"], capture_output=True,
                       text=True)
    return os.path.exists(os.path.join(BUILD, "tests/mpi/all64")) and \
        "Open MPI) 4.1.4" in p.stdout


class Same(unittest.TestCase):
    def check(self, table):
        self.maxDiff = None
        for name, what in table.items():
            with self.subTest(name):
                self.assertEqual(summary(played(name, *what)), stored()[name])

    def test_attached_runs_are_the_stored_ones(self):
        self.check(runs())

    def test_mpi_runs_are_the_stored_ones(self):
        if not has_mpi():
            self.skipTest("Open MPI 4.1.4 is not there")
        self.check(mpi())

    def test_nothing_else_is_stored(self):
        self.assertEqual(set(stored()), set(runs()) | set(mpi()))


def main():
    if "--show" in sys.argv:
        name = sys.argv[-1]
        for part, line in played(name, *dict(runs(), **mpi())[name]):
            print(part, line)
    elif "--write" in sys.argv:
        every = dict(runs(), **mpi())
        with open(STORE, "w") as f:
            json.dump({n: summary(played(n, *w)) for n, w in every.items()},
                      f, indent=0)
            f.write("\n")
    else:
        unittest.main()


if __name__ == "__main__":
    main()
