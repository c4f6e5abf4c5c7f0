# SPDX-License-Identifier: Apache-2.0
"""Which test reaches which line: each test runs once in a build with gcov's
counters, which it writes to a folder of its own.

Kept in an SQLite file, so that a stopped run goes on.  A test whose own files
have changed is run again; a source that has changed since is followed line by
line (difflib), for the map of 250 tests takes much longer than an edit.
"""
import difflib
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import time
import zlib

from graph import is_test

SCHEMA = """
create table if not exists test(name primary key, sum, wall, cpu, status);
create table if not exists reach(test, file, lines, branches,
                                 primary key(test, file));
create table if not exists source(file primary key, sum, text, lines);
"""
COUNTERS = 0x01a10000  # tag of a function's counters in a .gcda


def digest(paths):
    h = hashlib.sha1()
    for p in paths:
        with open(p, "rb") as f:
            h.update(f.read())
    return h.hexdigest()


def pack(value):
    return zlib.compress(json.dumps(value).encode())


def unpack(blob):
    return json.loads(zlib.decompress(blob))


def ran(gcda):
    """Whether any counter is not 0: a record of zeros has a negative
    length."""
    with open(gcda, "rb") as f:
        data = f.read()
    at = 16
    while at + 8 <= len(data):
        tag, size = struct.unpack_from("<Ii", data, at)
        if tag == COUNTERS and size > 0:
            return True
        at += 8 + max(size, 0)
    return False


def counts(folder, build, prefixes):
    """{file: ({line: count}, {line: [taken, ...]})} of what was written to
    `folder`, for files whose path begins so."""
    files = []
    for top, _, names in os.walk(folder):
        for n in names:
            path = os.path.join(top, n)
            if n.endswith(".gcda") and ran(path):
                note = path[:-5] + ".gcno"
                real = os.path.join(build.path, os.path.relpath(note, folder))
                if os.path.exists(real) and not os.path.exists(note):
                    os.symlink(real, note)
                files.append(path)
    out = {}
    for i in range(0, len(files), 50):
        p = subprocess.run(["gcov", "-i", "-b", "-t"] + files[i:i + 50],
                           cwd=build.path, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL)
        for line in p.stdout.splitlines():
            add(out, json.loads(line), build, prefixes)
    return out


def add(out, report, build, prefixes):
    for f in report["files"]:
        path = os.path.normpath(os.path.join(build.path, f["file"]))
        path = os.path.relpath(path, build.root)
        if not path.startswith(prefixes) or is_test(path):
            continue
        lines, branches = out.setdefault(path, ({}, {}))
        for l in f["lines"]:
            n = l["line_number"]
            lines[n] = lines.get(n, 0) + l["count"]
            if l["branches"]:
                taken = [b["count"] for b in l["branches"]
                         if not b["throw"]]
                old = branches.get(n, [0] * len(taken))
                branches[n] = [a + b for a, b in zip(old, taken)] \
                    if len(old) == len(taken) else taken


class Map:
    prefixes = "src/", "include/"

    def __init__(self, path, build, sources):
        self.db = sqlite3.connect(path, timeout=60, check_same_thread=False)
        self.db.executescript(SCHEMA)
        self.build, self.sources = build, sources
        self.moved, self.tests_of = {}, {}
        self.known = {r[0] for r in
                      self.db.execute("select file from source")}
        self.work = os.path.join(os.path.dirname(path), "gcda")

    # ---- made -----------------------------------------------------------

    def sum(self, test):
        paths = [os.path.join(self.build.root, p)
                 for p in self.build.sources(test)]
        return digest(paths)

    def stale(self):
        """Tests to run, cheapest first."""
        known = {n: (s, w) for n, s, w in
                 self.db.execute("select name, sum, cpu from test")}
        out = [t for t in self.build.tests.values()
               if known.get(t.name, (None,))[0] != self.sum(t)]
        return sorted(out, key=lambda t: (not t.unit,
                                          known.get(t.name, (0, 0))[1],
                                          "slow" in t.suites, t.name))

    def make(self, say):
        tests = self.stale()
        for i, t in enumerate(tests):
            say("map %d/%d: %s" % (i + 1, len(tests), t.name))
            self.run(t, say)
        shutil.rmtree(self.work, ignore_errors=True)

    def run(self, test, say):
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        args, env = test.command(self.build.path)
        env = dict(os.environ, **env, GCOV_PREFIX=self.work,
                   GCOV_PREFIX_STRIP=str(self.build.path.count("/")))
        start, before = time.time(), os.times()
        # A session of its own, because a test that is given up leaves
        # simulators that would run on beside all later tests.
        p = subprocess.Popen(args, cwd=self.build.path, env=env,
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            status = p.wait(test.timeout * 6)
        except subprocess.TimeoutExpired:
            status = 124
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        wall, after = time.time() - start, os.times()
        cpu = sum(after[2:4]) - sum(before[2:4])
        if status:
            say("  status %d; its lines count all the same" % status)
        found = counts(self.work, self.build, self.prefixes)
        self.store(test, found, wall, cpu, status)

    def store(self, test, found, wall, cpu, status):
        with self.db:
            self.db.execute("delete from reach where test = ?", (test.name,))
            for path, (lines, branches) in found.items():
                self.note_source(path, lines)
                hit = sorted({self.old_line(path, n)
                              for n, c in lines.items() if c})
                taken = {self.old_line(path, n): [int(c > 0) for c in b]
                         for n, b in branches.items()}
                if hit:
                    self.db.execute("insert into reach values(?,?,?,?)", (
                        test.name, path, pack(hit), pack(taken)))
            self.db.execute("insert or replace into test values(?,?,?,?,?)", (
                test.name, self.sum(test), wall, cpu, status))

    def note_source(self, path, lines):
        """All lines of a source have the numbers of the text that the first
        test met."""
        full = os.path.join(self.build.root, path)
        if path in self.known:
            return
        with open(full) as f:
            text = f.read()
        self.db.execute("insert or replace into source values(?,?,?,?)", (
            path, digest([full]), zlib.compress(text.encode()),
            pack(sorted(lines))))
        self.known.add(path)

    # ---- asked ----------------------------------------------------------

    def old_line(self, path, line):
        """The number that `line` of today had when the map was made; a new
        line is as its neighbour above."""
        if path not in self.moved:
            row = self.db.execute("select text from source where file = ?",
                                  (path,)).fetchone()
            now = self.sources.text(path).splitlines()
            table = {}
            if row:
                old = zlib.decompress(row[0]).decode().splitlines()
                for a, b, n in difflib.SequenceMatcher(
                        None, old, now, False).get_matching_blocks():
                    table.update((b + i + 1, a + i + 1) for i in range(n))
            self.moved[path] = table
        table = self.moved[path]
        while line > 1 and line not in table:
            line -= 1
        return table.get(line, 1)

    def file(self, path):
        """({test: set of lines}, sorted lines that gcov counts)"""
        if path not in self.tests_of:
            rows = self.db.execute(
                "select test, lines from reach where file = ?", (path,))
            tests = {t: set(unpack(b)) for t, b in rows.fetchall()
                     if t in self.build.tests}
            row = self.db.execute("select lines from source where file = ?",
                                  (path,)).fetchone()
            counted = set(unpack(row[0])) if row else set()
            # a test that was mapped again may hold lines that gcov did not
            # count in the text that the first test met
            self.tests_of[path] = tests, counted.union(*tests.values())
        return self.tests_of[path]

    def readers(self, path):
        """Names of the tests that run anything in a file.  One of tables
        alone has no lines that run: those that do so in its folder."""
        tests, counted = self.file(path)
        if counted:
            return set(tests)
        folder = os.path.dirname(path)
        return {t for p in self.known if os.path.dirname(p) == folder
                for t in self.file(p)[0]}

    def reaching(self, path, mutant):
        """Names of the tests that run the mutated line; of a table, those
        that run anything in its file."""
        tests, counted = self.file(path)
        if mutant.in_table:
            return self.readers(path)
        line = self.old_line(path, mutant.line)
        while line > 1 and line not in counted:
            line -= 1
        return {t for t, lines in tests.items() if line in lines}

    def cost(self):
        """Processor seconds of each test, with counters."""
        return dict(self.db.execute("select name, cpu from test"))
