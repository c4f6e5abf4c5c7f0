#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that a run writes: a refused run leaves what was there, one output that
fails costs the others nothing, runs share a results file, and a results file
that is damaged or foreign is refused in words.

    test_files.py WEFT [unittest options]
"""
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

WEFT = os.path.abspath(sys.argv[1])
EXP = "extoll/pingpong"
SHORT = ["--set", "workload.0.count=4"]
BAD = ["--set", "nodes.nic.type=nosuch"]


class Folder(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def weft(self, *args, **more):
        return subprocess.run([WEFT, *args], cwd=self.dir.name, text=True,
                              capture_output=True, timeout=60, **more)

    def run_short(self, *args):
        return self.weft("run", EXP, *SHORT, "--quiet", *args)

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def write(self, name, text="precious\n"):
        with open(self.path(name), "w") as f:
            f.write(text)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def names(self):
        return sorted(os.listdir(self.dir.name))


class Refused(Folder):
    def test_a_refused_run_leaves_every_file_as_it_was(self):
        for option in "--trace", "--waves", "--follow":
            with self.subTest(option):
                self.write("file")
                done = self.run_short(*BAD, option, "file")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(self.read("file"), "precious\n")
        for name, more in (("file", ["--capture-file", "file"]),
                           ("weft.pcapng", [])):
            self.write(name)
            done = self.run_short(*BAD, "--capture", "all", *more)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(self.read(name), "precious\n")
        self.assertEqual(self.names(), ["file", "weft.pcapng"])

    def test_the_experiment_is_not_overwritten(self):
        text = "name: x\ntraffic: {type: forth.gen}\n"
        for option in "--trace", "--waves", "--follow", "--out":
            self.write("my.yaml", text)
            done = self.weft("run", "my.yaml", option, "./my.yaml")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("that file is also the experiment", done.stderr)
            self.assertEqual(self.read("my.yaml"), text)

    def test_two_outputs_do_not_share_a_name(self):
        for a, b in (("--trace", "--waves"), ("--out", "--trace"),
                     ("--follow", "--waves")):
            done = self.run_short(a, "file", b, "file")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"that file is also {a}", done.stderr)
            self.assertEqual(self.names(), [])


@unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
class Full(Folder):
    def test_a_full_disk_costs_only_its_own_file(self):
        plain = self.run_short("--format", "json")
        for option in "--trace", "--waves", "--follow":
            with self.subTest(option):
                done = self.run_short("--format", "json", option, "/dev/full",
                                      "--out", "good.db")
                self.assertEqual(done.returncode, 2)
                self.assertIn(option + " /dev/full: cannot write",
                              done.stderr)
                self.assertEqual(done.stdout, plain.stdout)
                with sqlite3.connect(self.path("good.db")) as db:
                    self.assertTrue(
                        db.execute("SELECT * FROM counters").fetchall())
                os.unlink(self.path("good.db"))

    def test_results_are_printed_when_they_cannot_be_stored(self):
        plain = self.run_short("--format", "json")
        limit = ("ulimit -f 8; trap '' XFSZ; exec " + WEFT + " run " + EXP
                 + " " + " ".join(SHORT) + " --quiet --format json --out o.db"
                 " --trace t.json | cat; exit ${PIPESTATUS[0]}")
        done = subprocess.run(["bash", "-c", limit], cwd=self.dir.name,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--out o.db: cannot write", done.stderr)
        self.assertEqual(done.stdout, plain.stdout)
        self.assertNotIn("o.db", self.names())
        self.assertFalse([n for n in self.names() if n.startswith("o.db")])


class Shared(Folder):
    def several(self, n, *args):
        procs = [subprocess.Popen(
            [WEFT, "run", EXP, *SHORT, "--quiet", "--seed", str(i + 1),
             "--out", "all.db", *args], cwd=self.dir.name,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for i in range(n)]
        for p in procs:
            _, err = p.communicate(timeout=120)
            self.assertEqual(p.returncode, 0, err)

    def test_runs_that_append_at_one_time_all_arrive(self):
        self.several(6, "--append")
        with sqlite3.connect(self.path("all.db")) as db:
            seeds = db.execute("SELECT value FROM manifest WHERE name='seed'")
            self.assertEqual(sorted(int(s) for s, in seeds),
                             list(range(1, 7)))
        self.assertEqual(self.names(), ["all.db"])

    def test_runs_that_write_one_name_leave_one_of_them(self):
        self.several(4)
        with sqlite3.connect(self.path("all.db")) as db:
            runs = db.execute("SELECT count(*) FROM runs").fetchone()
        self.assertEqual(runs, (1,))
        self.assertEqual(self.names(), ["all.db"])

    def test_a_file_whose_writer_was_killed_is_repaired(self):
        """A writer that dies between its pages and its commit leaves a hot
        journal; whatever opens the file next rolls it back."""
        self.run_short("--out", "all.db")
        child = os.fork()
        if not child:
            db = sqlite3.connect(self.path("all.db"), isolation_level=None)
            db.execute("PRAGMA cache_size=1")
            db.execute("BEGIN IMMEDIATE")
            for i in range(3000):
                db.execute("INSERT INTO failures VALUES(1, ?, ?)",
                           (i, "x" * 400))
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        self.assertIn("all.db-journal", self.names())
        done = self.weft("explain", "all.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("all.db-journal", self.names())
        done = self.run_short("--out", "all.db", "--append")
        self.assertEqual(done.returncode, 0, done.stderr)


class Damaged(Folder):
    def setUp(self):
        super().setUp()
        self.run_short("--out", "all.db")

    def refused(self, word):
        for args in (("explain", "all.db"),
                     ("report", "all.db", "--out", "page.html")):
            done = self.weft(*args)
            self.assertEqual(done.returncode, 2, (args, done.stderr))
            self.assertIn(word, done.stderr)
        done = self.run_short("--out", "all.db", "--append")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertNotIn("page.html", self.names())

    def test_damaged_pages_are_not_passed_over(self):
        size = os.path.getsize(self.path("all.db"))
        for at in range(8192, size - 4096, max(4096, size // 12 & ~4095)):
            with self.subTest(at):
                with open(self.path("all.db"), "r+b") as f:
                    f.seek(at)
                    old = f.read(4096)
                    f.seek(at)
                    f.write(b"\xff" * 4096)
                self.refused("is damaged")
                with open(self.path("all.db"), "r+b") as f:
                    f.seek(at)
                    f.write(old)

    def test_a_cut_file_is_refused(self):
        os.truncate(self.path("all.db"),
                    os.path.getsize(self.path("all.db")) // 2)
        self.refused("is damaged")

    def test_a_view_without_end_is_refused(self):
        with sqlite3.connect(self.path("all.db")) as db:
            db.execute("DROP TABLE metrics")
            db.execute("CREATE VIEW metrics AS WITH RECURSIVE t(run) AS "
                       "(SELECT 1 UNION ALL SELECT run FROM t) SELECT run, "
                       "'n' AS name, 'ns' AS unit, 1.0 AS value FROM t")
        self.refused("holds other tables than weft writes")

    def test_a_constraint_that_takes_long_is_refused(self):
        with sqlite3.connect(self.path("all.db")) as db:
            db.execute("CREATE TABLE more(a)")
            db.executemany("INSERT INTO more VALUES(?)",
                           ((i,) for i in range(2000)))
            db.execute("PRAGMA writable_schema=ON")
            db.execute("UPDATE sqlite_master SET sql='CREATE TABLE more(a "
                       "CHECK(length(hex(zeroblob(100000000+a)))>a))' "
                       "WHERE name='more'")
        self.refused("holds other tables than weft writes")

    def test_a_series_of_many_units_is_written_once(self):
        with sqlite3.connect(self.path("all.db")) as db:
            db.execute("DELETE FROM series")
            db.execute("DELETE FROM histograms")
            for i in range(1000):
                db.execute("INSERT INTO series VALUES(1,'s',?,?,'y',1,2)",
                           (i, "u%d" % i))
                db.execute("INSERT INTO histograms VALUES(1,'h',?,?,1)",
                           ("u%d" % i, i))
        done = self.weft("report", "all.db", "--out", "page.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(os.path.getsize(self.path("page.html")), 1 << 20)

    def test_a_name_does_not_steer_the_terminal(self):
        with sqlite3.connect(self.path("all.db")) as db:
            db.execute("UPDATE runs SET experiment = ?",
                       ("a\x1b[31mred\x07\x7f\u009b2J",))
        done = self.weft("explain", "all.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a?[31mred???2J", done.stdout)


class Signals(Folder):
    def setUp(self):
        super().setUp()
        # under nohup the program would be right to ignore it
        self.addCleanup(signal.signal, signal.SIGHUP,
                        signal.signal(signal.SIGHUP, signal.SIG_DFL))

    @staticmethod
    def catches(pid, sig):
        with open(f"/proc/{pid}/status") as f:
            mask = [x.split()[1] for x in f if x.startswith("SigCgt")][0]
        return int(mask, 16) >> (sig - 1) & 1

    def begin(self, prefix=()):
        p = subprocess.Popen(
            [*prefix, WEFT, "run", "extoll/net-load", "--set", "sweep=none",
             "--set", "fabric.net.measure=100000000", "--quiet", "--format",
             "json", "--follow", "follow"],
            cwd=self.dir.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        self.addCleanup(p.kill)
        return p

    def test_a_closed_terminal_leaves_the_results_so_far(self):
        p = self.begin()
        while not self.catches(p.pid, signal.SIGHUP):
            time.sleep(0.02)
        p.send_signal(signal.SIGHUP)
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 128 + signal.SIGHUP, err)
        self.assertIn("ended by signal 1: results are partial", err)
        self.assertIn('"partial"', out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
