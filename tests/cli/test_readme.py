#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README.md and the pages of docs are true: every command in them runs as it
stands, in its order, unless EXCEPTIONS has a reason; lines shown behind a
command, and the published numbers of README.md, are those that it prints.

test_howto.py runs docs/how-to.md; `scripts/docs.py --check` (test docs) runs
the blocks between `<!-- shell -->` and `<!-- end -->`.

    test_readme.py WEFT SOURCE_ROOT [unittest options]
"""
import glob
import os
import re
import subprocess
import sys
import unittest

import pages

WEFT, ROOT = (os.path.abspath(a) for a in sys.argv[1:3])
OWN_TEST = {"docs/how-to.md"}

# Page, beginning of the command, reason.
EXCEPTIONS = [
    ("README.md", "make ", "installs packages and builds everything"),
    ("docs/mpi.md", "", "LAMMPS is installed for make check only"),
    ("docs/performance.md", "build/weft bench", "measures for minutes"),
    ("docs/fabrics.md", "scripts/fabrics.py", "runs for minutes"),
    ("docs/networks.md", "weft run extoll/net-nics --set nodes.count=32768",
     "minutes and gigabytes"),
    ("docs/libfabric.md", "", "needs programs of libfabric; test_fi.py"),
    ("docs/processes.md", "weft exec --fabric exec/extoll-pair -n 2 -- ./a.out",
     "a.out stands for a program of the reader"),
    ("docs/processes.md", "weft exec --fabric exec/extoll-torus-4x4x4",
     "as above"),
    ("docs/processes.md", "weft exec --fabric extoll/pingpong", "as above"),
    ("docs/processes.md", "weft exec --clock none --path direct", "as above"),
    ("docs/testing.md", "", "campaigns of minutes to hours; they write files"),
    ("docs/user-libraries.md", "", "prog.c stands for a program of the reader"),
]

# Commands whose checks fail on purpose: another machine than the paper's.
FAILS = [
    ("docs/systems/atoll.md", "weft run hostport/atoll-deadlock --set"),
    ("docs/systems/extoll-network.md", "weft reproduce extoll --set"),
    ("docs/systems/extoll-network.md", "weft run extoll/pingpong --set"),
]


def reason(page, command):
    """Why the command is not run here, or None."""
    for its_page, begins, why in EXCEPTIONS:
        if page == its_page and command.startswith(begins):
            return why
    return None


def all_pages():
    found = ["README.md"]
    for pattern in "docs/*.md", "docs/systems/*.md":
        found += sorted(os.path.relpath(p, ROOT)
                        for p in glob.glob(os.path.join(ROOT, pattern)))
    return [p for p in found if p not in OWN_TEST]


class Commands(unittest.TestCase):
    def test_every_command_of_every_page_runs_as_it_stands(self):
        run = kept = 0
        for page in all_pages():
            blocks = [b for b in pages.blocks(ROOT, page) if not b.generated]
            folder = pages.Folder(WEFT, ROOT)
            for block in blocks:
                steps = [s for s in block.steps
                         if not reason(page, s.command)]
                run, kept = run + len(steps), kept + len(block.steps)
                for s in steps:
                    s.fails = any(page == p and s.command.startswith(c)
                                  for p, c in FAILS)
                block.steps = steps
                pages.follow(self, block, folder)
            folder.close()
        print(f"{run} of {kept} commands run", file=sys.stderr)
        self.assertGreater(run, 60)

    def test_every_exception_excepts_a_command(self):
        commands = [(page, s.command) for page in all_pages()
                    for b in pages.blocks(ROOT, page) for s in b.steps]
        for page, begins, why in EXCEPTIONS:
            self.assertTrue(any(p == page and c.startswith(begins)
                                for p, c in commands), (page, begins, why))


class Readme(unittest.TestCase):
    def test_quoted_rows_are_printed(self):
        with open(os.path.join(ROOT, "README.md")) as f:
            rows = re.findall(r"^(?:F|EX-|HP-|UL-|AT-|HV-)\d.*$", f.read(),
                              re.M)
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
