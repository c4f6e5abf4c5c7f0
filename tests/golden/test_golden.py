#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golden.py notices a changed counter, file, status and order of results, and
does not notice another version or default in the manifest.  Each is the real
program behind a wrapper that changes one thing."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
WEFT = os.path.abspath(sys.argv.pop(1))
RUN = "hvia/mvia --set sweep=none +files"
OTHER = "hvia/mvia --set workload.size=4096 --set sweep=none +files"


class Golden(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "some.txt"
        self.file.write_text("# a remark\n%s\n%s\n" % (RUN, OTHER))
        self.golden(WEFT, "--write")

    def golden(self, weft, *args):
        return subprocess.run(
            [sys.executable, HERE / "golden.py", weft, *args, self.file],
            capture_output=True, text=True)

    def judged(self, after):
        """The output of golden.py for a program behind which `after` runs; its
        output is in the file out."""
        exe = self.folder / "weft"
        exe.write_text('#!/bin/sh\n[ "$1" = run ] || exec %s "$@"\n'
                       '%s "$@" > out || exit\n%s\ncat out; rm out\n'
                       % (WEFT, WEFT, after))
        exe.chmod(0o755)
        return self.golden(str(exe))

    def differs(self, after, *words):
        p = self.judged(after)
        self.assertEqual(p.returncode, 1, p.stdout)
        for w in (RUN, "make golden") + words:
            self.assertIn(w, p.stderr)

    def test_version_and_defaults_are_not_compared(self):
        for after in ("", r"sed -i 's/\"version\": \"[^\"]*/&1/' out",
                      r"sed -i 's/\"n0.nic\": /&\"x\"/' out"):
            p = self.judged(after)
            self.assertEqual((p.returncode, p.stdout), (
                0, "2 runs as committed\n"), p.stderr)
        self.assertTrue(self.file.read_text().startswith("# a remark\n"))

    def test_changed_counter_is_noticed(self):
        self.differs(r"sed -i 's/\"n0.host.loads\": /&1/' out",
                     "counters=", "changed: counters n*.host.loads\n")

    def test_changed_text_alone_is_noticed(self):
        self.differs("sed -i '$s/$/ /' out", "changed: text or files only")

    def test_changed_or_missing_file_is_noticed(self):
        for name in "c.pcapng", "t.json", "w.vcd":
            self.differs("printf x >> " + name,
                         name.partition(".")[2] + "=", "files only")
            self.differs("rm " + name, "=none, was ")
        self.differs("python3 -c 'import sqlite3\n"
                     "d = sqlite3.connect(\"r.db\")\n"
                     "d.execute(\"update counters set value = value + 1\")\n"
                     "d.commit()'", "db=")

    def test_changed_status_is_noticed(self):
        self.differs("rm out; echo why >&2; exit 3", "status 3, was 0", "why")

    def test_new_and_equal_runs_are_noticed(self):
        self.file.write_text(self.file.read_text() + "hvia/ep-loss\n")
        p = self.golden(WEFT)
        self.assertEqual(p.returncode, 1)
        self.assertIn("hvia/ep-loss: another result\n  it has no committed",
                      p.stderr)
        self.file.write_text("%s\n%s\n" % (RUN, RUN))
        self.golden(WEFT, "--write")
        self.assertIn("same result as", self.golden(WEFT).stderr)

    def test_refused_run_is_not_written(self):
        before = self.file.read_text()
        self.file.write_text(before + "hvia/mvia --set nothing=1\n")
        self.assertIn("status 2", self.golden(WEFT, "--write").stderr)
        self.assertIn(before, self.file.read_text())


if __name__ == "__main__":
    unittest.main()
