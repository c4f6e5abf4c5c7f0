# SPDX-License-Identifier: Apache-2.0
"""Verdicts, kept in an SQLite file so that a stopped run goes on, and the
accepted equivalents."""
import hashlib
import os
import sqlite3
import threading
import time

SCHEMA = """
create table if not exists verdict(mutant primary key, sum, verdict, killer,
                                   rest, seconds, at);
create table if not exists base(test primary key, sum, wall, cpu, leak);
"""


class Sources:
    """Files of the tree, each read once."""

    def __init__(self, root):
        self.root, self.texts = root, {}

    def text(self, path):
        if path not in self.texts:
            with open(os.path.join(self.root, path)) as f:
                self.texts[path] = f.read()
        return self.texts[path]

    def sum(self, path):
        return hashlib.sha1(self.text(path).encode()).hexdigest()

    def files(self, paths):
        """C files under `paths`, sorted."""
        out = []
        for p in paths:
            full = os.path.join(self.root, p)
            if os.path.isfile(full):
                out.append(p)
            for top, _, names in os.walk(full):
                out += [os.path.relpath(os.path.join(top, n), self.root)
                        for n in names if n.endswith(".c")]
        return sorted(set(out))


class State:
    def __init__(self, path):
        self.db = sqlite3.connect(path, timeout=60, check_same_thread=False)
        self.db.executescript(SCHEMA)
        self.lock = threading.Lock()

    def get(self, mutant, sum):
        """(verdict, killer, names of tests that were left out), or None"""
        with self.lock:
            row = self.db.execute(
                "select verdict, killer, rest from verdict "
                "where mutant = ? and sum = ?", (mutant, sum)).fetchone()
        return row and (row[0], row[1], row[2].split("\n") if row[2] else [])

    def put(self, mutant, sum, result, seconds):
        with self.lock, self.db:
            self.db.execute(
                "insert or replace into verdict values(?,?,?,?,?,?,?)",
                (mutant, sum, result.verdict, result.killer,
                 "\n".join(result.rest), seconds, time.time()))

    def forget(self, mutant):
        with self.lock, self.db:
            self.db.execute("delete from verdict where mutant = ?", (mutant,))

    def baseline(self, test, sum):
        with self.lock:
            row = self.db.execute("select wall, cpu, leak from base where test = ? "
                                  "and sum = ?", (test, sum)).fetchone()
        return row

    def failing(self):
        with self.lock:
            return [r[0] for r in self.db.execute(
                "select test from base where wall is null order by test")]

    def put_baseline(self, test, sum, wall, cpu, leak):
        with self.lock, self.db:
            self.db.execute("insert or replace into base values(?,?,?,?,?)",
                            (test, sum, wall, cpu, leak))


def read_list(path):
    """Lines "mutant<TAB>word or reason"; '#' begins a remark."""
    out = {}
    if not os.path.exists(path):
        return out
    with open(path) as lines:
        for n, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            name, tab, rest = line.partition("\t")
            if not tab or not rest.strip():
                raise SystemExit("%s:%d: no second column" % (path, n))
            out[name] = rest.strip()
    return out
