#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README.md, CONTRIBUTING.md and the other pages are true: every command in
them runs as it stands, in its order, unless EXCEPTIONS has a reason; lines
shown behind a command, and the published numbers of README.md, are those that
it prints.  Commands inside sentences exist, with their options.

test_howto.py runs docs/how-to.md; `scripts/docs.py --check` (test docs) runs
the blocks between `<!-- shell -->` and `<!-- end -->`, and draws the pictures.

    test_readme.py WEFT SOURCE_ROOT [unittest options]
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
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
    ("docs/networks.md", "weft import dumpi",
     "files of a traced program; test import-mpi"),
    ("docs/libfabric.md", "unshare", "runs fabtests for minutes"),
    ("docs/libfabric.md", "weft exec --clock none --fabric exec/extoll-pair",
     "runs fi_ubertest of fabtests for minutes"),
    ("docs/processes.md", "weft exec --fabric exec/extoll-torus-4x4x4",
     "starts 64 MPI processes; test mpi-all64"),
    ("docs/storage.md", "weft disk", "serves until it is ended; test system-disk"),
    ("docs/storage.md", "python3 tests/nbd", "test disk-suite; make soak"),
    ("docs/storage.md", "weft report r.db", "results of the disk above"),
    ("docs/testing.md", "make ", "campaigns of minutes to hours"),
    ("docs/testing.md", "tests/golden/golden.py", "needs another build, OLD"),
    ("docs/testing.md", "tests/random/campaign.py", "runs for minutes"),
    ("models/README.md", "scripts/spin.sh", "needs Spin; tests spin-*"),
]

# Programs of the reader, that commands of a page name.
PREPARE = {
    "docs/systems/router-booksim2.md": "printf 'topology = mesh; k = 4;"
                                       " n = 2; routing_function = dor;\\n'"
                                       " >mesh.cfg",
    "docs/processes.md": "mpicc.openmpi examples/mpi/hello.c -o a.out",
    "docs/user-libraries.md": "printf '#include <weft/host.h>\\nint main(void)"
                              "{return !weft_host_self();}' > prog.c",
}

# Commands whose checks fail on purpose: another machine than the paper's.
FAILS = [
    ("README.md", "build/weft reproduce forth --set"),
    ("README.md", "build/weft reproduce extoll --set"),
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
    found = ["README.md", "CONTRIBUTING.md"]
    for pattern in ("docs/**/*.md", "experiments/*.md", "examples/**/*.md",
                    "models/*.md", "src/**/*.md"):
        found += sorted(os.path.relpath(p, ROOT)
                        for p in glob.glob(os.path.join(ROOT, pattern),
                                           recursive=True))
    return [p for p in found if p not in OWN_TEST]


class Commands(unittest.TestCase):
    def test_every_command_of_every_page_runs_as_it_stands(self):
        run = kept = 0
        for page in all_pages():
            blocks = [b for b in pages.blocks(ROOT, page) if not b.generated]
            folder = pages.Folder(WEFT, ROOT)
            if page in PREPARE:
                folder.run(PREPARE[page])
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


class Sentences(unittest.TestCase):
    """Commands in a sentence: `weft run FILE`, `make check`."""
    INTERNAL = {"--keep", "--rsh"}  # weft exec starts itself with these
    CODE = re.compile(r"(?<!`)`((?:build/)?weft|make|man|scripts/[\w.-]+)"
                      r"(?: ([^`]+))?`(?!`)")

    def commands(self):
        for page in all_pages() + sorted(OWN_TEST):
            with open(os.path.join(ROOT, page)) as f:
                text = re.sub(r"^```.*?^```", "", f.read(), flags=re.M | re.S)
            for m in self.CODE.finditer(text):
                words = (m[2] or "").split(" -- ")[0].split()
                yield page, m[1].removeprefix("build/"), words

    def test_commands_in_sentences_exist_with_their_options(self):
        help_of = {}
        with open(os.path.join(ROOT, "Makefile")) as f:
            targets = set(re.findall(r"^([a-z-]+):", f.read(), re.M))
        found = set()
        for page, program, words in self.commands():
            with self.subTest(f"{page}: {program} {' '.join(words)}"):
                found.add(program)
                if program == "make":
                    self.assertLessEqual(
                        {w for w in words if "=" not in w}, targets)
                elif program != "weft":
                    self.assertTrue(program == "man" or os.path.exists(
                        os.path.join(ROOT, program)))
                elif words and not words[0].startswith("-"):
                    if words[0] not in help_of:
                        p = subprocess.run([WEFT, "help", words[0]],
                                           capture_output=True, text=True,
                                           timeout=60, check=False)
                        self.assertEqual(p.returncode, 0, p.stderr)
                        help_of[words[0]] = p.stdout
                    for w in words:
                        if w.startswith("--") and w not in self.INTERNAL:
                            self.assertRegex(help_of[words[0]],
                                             r"(?m)^  %s\b" % w.split("=")[0])
        self.assertGreater(len(found), 4)


class Readme(unittest.TestCase):
    def yaml(self, page):
        with open(os.path.join(ROOT, page)) as f:
            return re.search(r"^```yaml\n(.*?)^```", f.read(),
                             re.M | re.S)[1]

    def weft(self, text, *args):
        """Runs weft beside a my.yaml with this text."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "my.yaml"), "w") as f:
                f.write(text)
            return subprocess.run([WEFT, *args], cwd=folder, text=True,
                                  capture_output=True, timeout=60,
                                  check=False)

    def test_shown_machine_is_that_of_the_named_experiment(self):
        with open(os.path.join(ROOT, "README.md")) as f:
            named = re.search(r"`(src/systems/\S+\.yaml)`:\n\n```yaml",
                              f.read())[1]
        with open(os.path.join(ROOT, named)) as f:
            self.assertIn(self.yaml("README.md"), f.read())

    def test_shown_message_is_that_of_the_shown_machine(self):
        with open(os.path.join(ROOT, "README.md")) as f:
            shown = re.search(r"^weft: my\.yaml:.*\n", f.read(), re.M)[0]
        p = self.weft(self.yaml("README.md").replace(
            "forth.xbar, preset: tr-switch", "forth.xbar, port: 8"),
            "check", "my.yaml")
        self.assertEqual((p.returncode, p.stderr), (2, shown))

    def test_shown_experiment_runs_and_meets_its_checks(self):
        p = self.weft(self.yaml("experiments/README.md"), "run", "my.yaml")
        self.assertEqual((p.returncode, p.stderr), (0, ""))

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
