#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft report` and the tables it reads, without a browser (in one:
tests/system/test_report.py).

    test_report.py WEFT [unittest options]
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1))
SMALL = ("forth/one-way", "--set", "workload.0.count=200")


def weft(*args, status=0):
    p = subprocess.run([WEFT, *args], text=True, capture_output=True,
                       timeout=120)
    if p.returncode != status:
        raise AssertionError(f"{args}: status {p.returncode}\n{p.stdout[:500]}"
                             f"{p.stderr[:2000]}")
    return p


def data_of(page):
    """The JSON in the page."""
    with open(page, encoding="utf-8") as f:
        text = f.read()
    start = text.index(">", text.index('<script id="data"')) + 1
    return text, text[start:text.index("</script>", start)]


class Report(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.db, self.page = self.at("a.db"), self.at("a.html")

    def tearDown(self):
        self.dir.cleanup()

    def at(self, name):
        return os.path.join(self.dir.name, name)

    def rows(self, text, *args):
        c = sqlite3.connect(self.db)
        got = c.execute(text, args).fetchall()
        c.close()
        return got

    def run_small(self, *more):
        weft("run", *SMALL, "--out", self.db, *more)

    def report(self):
        p = weft("report", self.db, "--out", self.page)
        self.assertEqual(p.stdout.strip(), self.page)
        return data_of(self.page)

    def test_page_holds_every_value_of_the_file(self):
        self.run_small()
        text, data = self.report()
        run = json.loads(data)["files"][0]["runs"][0]
        for table in ("metrics", "counters", "manifest"):
            names = [r[0] for r in self.rows(f"SELECT name FROM {table}")]
            self.assertEqual([r[0] for r in run[table]], names)
        for name, unit, value in run["counters"]:
            self.assertEqual([(unit, int(value))], self.rows(
                "SELECT unit, value FROM counters WHERE name = ?", name))
        self.assertEqual(len(run["ports"]),
                         self.rows("SELECT count(*) FROM ports")[0][0])
        self.assertNotIn("<", data)
        for outside in ('src="', "@import", "url("):
            self.assertNotIn(outside, text.replace(data, ""))

    def test_report_has_the_same_bytes_again(self):
        self.run_small()
        self.report()
        with open(self.page, "rb") as f, open(self.db, "rb") as g:
            first = f.read(), g.read()
        self.run_small()
        self.report()
        with open(self.page, "rb") as f, open(self.db, "rb") as g:
            self.assertEqual((f.read(), g.read()), first)

    def test_stored_run_prints_the_same_result(self):
        for name in ("forth/three-to-one", "extoll/loopback",
                     "hostport/ultra-burst"):
            with self.subTest(name):
                bare = weft("run", name, "--format", "json").stdout
                kept = weft("run", name, "--format", "json", "--out",
                            self.db).stdout
                self.assertEqual(bare, kept)

    def test_ports_agree_with_counters(self):
        """Everything a port did is in some interval; both ends know the
        cable; there are never more than 64 intervals."""
        weft("run", "forth/hotspot", "--out", self.db)
        ports = self.rows("SELECT name, peer, kind, n, busy, blocked, queued "
                          "FROM ports")
        self.assertEqual(len(ports), 16)
        peers = {name: peer for name, peer, *_ in ports}
        n = self.rows("SELECT count(*) FROM intervals")[0][0]
        self.assertTrue(32 <= n <= 64, n)
        for name, peer, kind, count, busy, blocked, queued in ports:
            self.assertEqual((peers[peer], count), (name, 1))
            self.assertEqual(kind, "switch" if name[0] == "s" else "nic")
            for values in (busy, blocked, queued):
                self.assertEqual(len(json.loads(values)), n)
            total = self.rows("SELECT value FROM counters WHERE name = ?",
                              name + ".busy")[0][0]
            self.assertAlmostEqual(sum(json.loads(busy)), total, delta=2000)
        # Seven sources wait for room at the port that all send to.
        held = [sum(json.loads(b)) for name, _, _, _, _, b, _ in ports
                if name[0] == "n"]
        self.assertGreater(min(held), 1e6)

    def queued(self, load):
        weft("run", "extoll/net-torus", "--set", "sweep=[{}]", "--set",
             f"traffic.load={load}", "--out", self.db)
        return sum(sum(json.loads(q)) for q, in self.rows(
            "SELECT queued FROM ports WHERE kind = 'switch'"))

    def test_cells_wait_when_there_are_many(self):
        self.assertGreater(self.queued(0.4), 10 * self.queued(0.05))
        self.assertEqual(self.rows(
            "SELECT count(*), count(DISTINCT queue_unit) FROM ports WHERE kind "
            "= 'switch' AND queue_unit = 'cells' AND blocked IS NULL"),
            [(64 * 7, 1)])
        self.assertEqual(self.rows("SELECT value FROM manifest WHERE name = "
                                   "'fabric.dims'"), [("4 4 4",)])

    def test_older_file_takes_new_runs(self):
        self.run_small()
        c = sqlite3.connect(self.db)
        for t in ("ports", "intervals", "reproduced", "histogram_stats"):
            c.execute("DROP TABLE " + t)
        c.execute("PRAGMA user_version = 1")
        c.commit()
        c.close()
        self.report()
        self.run_small("--append")
        self.assertEqual(self.rows("SELECT DISTINCT run FROM ports"), [(2,)])
        self.assertEqual(len(json.loads(self.report()[1])["files"][0]["runs"]),
                         2)

    def test_page_holds_rows_of_a_reproduction(self):
        p = weft("reproduce", "hostport", "--out", self.db, "--format", "json")
        held = self.rows("SELECT id, model, pass FROM reproduced "
                         "ORDER BY rowid")
        self.assertEqual([(r["id"], r["model"], int(r["pass"]))
                          for r in json.loads(p.stdout)], held)
        rows = json.loads(self.report()[1])["files"][0]["rows"]
        self.assertEqual([(r["id"], r["model"], r["pass"]) for r in rows],
                         held)

    def test_mistakes_are_named(self):
        other = self.at("other.txt")
        with open(other, "w", encoding="utf-8") as f:
            f.write("not a database")
        for args, words in (
                ((self.at("none.db"),), "cannot read"),
                ((other,), "is no results file: weft run FILE --out"),
                ((), "something is missing: weft report RESULTS...")):
            p = weft("report", *args, "--out", self.page, status=2)
            self.assertIn(words, p.stderr)
            self.assertEqual(p.stderr.count("\n"), 1)
        self.run_small()
        p = weft("report", self.db, "--out", "/nowhere/x.html", status=2)
        self.assertIn("--out /nowhere/x.html: cannot write", p.stderr)
        self.assertFalse(os.path.exists(self.page))


def without_page():
    """Built where npm's packages could not be had."""
    with tempfile.TemporaryDirectory() as d:
        p = subprocess.run([WEFT, "report", "/dev/null", "--out", d + "/x"],
                           capture_output=True, text=True)
        return "built without the page" in p.stderr


if __name__ == "__main__":
    if without_page():
        print("this program was built without the page: npm's packages could "
              "not be fetched")
        raise SystemExit(77)
    unittest.main()
