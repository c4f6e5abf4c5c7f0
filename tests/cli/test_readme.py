#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README.md is true: every command in it runs as it stands, in its order, and
the published numbers it quotes are those that the program prints.

    test_readme.py WEFT SOURCE_ROOT [unittest options]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT, ROOT = (os.path.abspath(a) for a in sys.argv[1:3])
BUILD = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(WEFT))))


def blocks():
    with open(os.path.join(ROOT, "README.md")) as f:
        return re.findall(r"```\n(.*?)```", f.read(), re.S)


def commands():
    """Lines of blocks, without the remark behind two or more spaces."""
    for block in blocks():
        for line in block.splitlines():
            if re.match(r"(build/weft|cc|mpicc)", line):
                yield re.split(r" {2,}", line)[0]


class Readme(unittest.TestCase):
    def test_every_command_runs_as_it_stands(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in "examples", "experiments", "include":
                os.symlink(os.path.join(ROOT, name),
                           os.path.join(folder, name))
            os.symlink(BUILD, os.path.join(folder, "build"))
            done = 0
            for command in commands():
                if "hello" in command and not shutil.which("mpicc.openmpi"):
                    continue
                with self.subTest(command):
                    p = subprocess.run(["bash", "-c", command], cwd=folder,
                                       capture_output=True, text=True,
                                       timeout=300, check=False,
                                       stdin=subprocess.DEVNULL)
                    self.assertEqual(p.returncode, 0, p.stderr)
                done += 1
            self.assertGreater(done, 17)

    def test_quoted_rows_are_printed(self):
        rows = [line for b in blocks() for line in b.splitlines()
                if re.match(r"(F|EX-|HP-|UL-|AT-|HV-)\d", line)]
        self.assertGreater(len(rows), 8)
        ids = [r.split()[0] for r in rows]
        p = subprocess.run([WEFT, "reproduce", *ids], capture_output=True,
                           text=True, timeout=120, check=False)
        printed = {}
        for line in p.stdout.splitlines():
            if line.split() and line.split()[0] in ids:
                printed[line.split()[0]] = re.split(r" {2,}", line.strip())
        for row in rows:
            quoted = re.split(r" {2,}", row.strip())
            shown = printed[quoted[0]]
            for cell in quoted[2:4]:  # paper, model
                self.assertIn(cell, shown, row)
            self.assertIn(quoted[6].split(" cal")[0].split(" input")[0],
                          shown, row)  # within
            basis = quoted[-1].split()[-1 if ":" not in row else 0]
            self.assertIn(basis.rstrip(":"), " ".join(shown), row)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
