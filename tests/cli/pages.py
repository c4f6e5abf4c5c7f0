# SPDX-License-Identifier: Apache-2.0
"""Commands of the documentation: finds them in a page, runs them in a folder
that looks like the root of the repository, compares what they print.

A shell block is a fenced block whose first line, or any line behind `$ `, is a
command.  In a block with `$ ` the other lines are output; a line `...` stands
for any number of lines.  In a block without it two or more spaces, or ` # `,
begin a remark.
"""
import os
import re
import shutil
import subprocess
import tempfile

WORDS = ("build/weft", "weft", "cc", "gcc", "mpicc.openmpi", "make", "tshark",
         "python3", "unshare", "sqlite3")
COMMAND = re.compile(r"(?:%s|(?:scripts|tests)/\S+)(?= |$)"
                     % "|".join(map(re.escape, WORDS)))
# Words of commands that need a program which a machine may lack.
OPTIONAL = [("hello", "mpicc.openmpi"), ("a.out", "mpicc.openmpi"),
            ("fi_pingpong", "fi_pingpong"), ("tests/mpi/", "mpicc.openmpi"),
            ("sqlite3 ", "sqlite3"), ("tshark ", "tshark")]


class Step:
    def __init__(self, command, shown=()):
        self.command, self.shown = command, list(shown)
        self.fails = False  # checks fail on purpose

    def missing(self):
        """The program that this machine lacks, or None."""
        for word, program in OPTIONAL:
            if word in self.command and not shutil.which(program):
                return program
        return None


class Block:
    def __init__(self, page, line, text, generated=False):
        self.where, self.text = f"{page}:{line}", text
        self.generated = generated  # scripts/docs.py --check runs it
        self.steps = list(self.prompted() if re.search(r"^\$ ", text, re.M)
                          else self.plain())

    def prompted(self):
        for m in re.finditer(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)",
                             self.text, re.M):
            yield Step(m[1], m[2].splitlines())

    def plain(self):
        whole = ""
        for line in self.text.splitlines():
            if not whole and not COMMAND.match(line):
                continue
            if not whole:
                line = re.split(r" {2,}(?! *-)| # ", line)[0]
            whole += line
            if (whole.endswith("\\") or whole.count("'") % 2
                    or whole.count('"') % 2):
                whole += "\n"
                continue
            yield Step(whole)
            whole = ""


def blocks(root, page):
    """Fenced and indented blocks of a page that have commands in them."""
    with open(os.path.join(root, page)) as f:
        text = f.read()
    found = []
    for m in re.finditer(r"^(<!-- shell -->\n)?```(\w*)\n(.*?)^```|"
                         r"(?:(?<=\n\n)(?: {4}.*\n)+)", text, re.M | re.S):
        if m[2]:
            continue
        body = m[3] if m[3] is not None else re.sub(r"^ {4}", "", m[0],
                                                    flags=re.M)
        block = Block(page, text.count("\n", 0, m.start()) + 1, body,
                      bool(m[1]))
        if block.steps:
            found.append(block)
    return found


# These print and write nothing: each runs once, for all pages.
PRINTS = re.compile(r"(?:build/)?(weft (?:list|describe|check|run|reproduce)"
                    r"(?: (?!--out|--trace|--waves|--capture|\./)"
                    r"[^\s<>|;&]+)*)$")


class Folder:
    """A folder with links to what a command of a page may name."""
    printed = {}

    def __init__(self, weft, root):
        weft = os.path.realpath(weft)
        build = os.path.dirname(os.path.dirname(os.path.dirname(weft)))
        self.temporary = tempfile.TemporaryDirectory()
        self.path = self.temporary.name
        for name in "examples", "experiments", "include", "share", "scripts":
            os.symlink(os.path.join(root, name),
                       os.path.join(self.path, name))
        os.symlink(build, os.path.join(self.path, "build"))
        os.symlink(os.path.join(root, "src"), os.path.join(self.path, "src"))
        tests = os.path.join(self.path, "tests")
        os.mkdir(tests)
        os.symlink(os.path.join(build, "tests/mpi"),
                   os.path.join(tests, "mpi"))
        os.symlink(os.path.join(root, "tests/system"),
                   os.path.join(tests, "system"))
        bin_ = os.path.join(self.path, "bin")
        os.mkdir(bin_)
        os.symlink(weft, os.path.join(bin_, "weft"))
        self.env = {**os.environ, "LC_ALL": "C",
                    "PATH": bin_ + ":" + os.environ["PATH"],
                    # as where weft is installed
                    "CPATH": os.path.join(root, "include"),
                    "LIBRARY_PATH": os.path.join(build, "src/attach"),
                    "LD_LIBRARY_PATH": os.path.join(build, "src/attach")}

    def run(self, command, timeout=300):
        same = PRINTS.match(command)
        if same and same[1] in self.printed:
            return self.printed[same[1]]
        p = subprocess.run(["bash", "-c", command], cwd=self.path,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, env=self.env, check=False,
                           stdin=subprocess.DEVNULL, timeout=timeout)
        if same:
            self.printed[same[1]] = p
        return p

    def close(self):
        self.temporary.cleanup()


def status(shown):
    """The exit status that the shown output stands for."""
    if any(s.startswith("weft: check failed:") for s in shown):
        return 1
    if any(re.search(r" FAIL$", s) for s in shown):
        return 1
    return 2 if shown and re.match(r"weft: (?!warning)(--set|\S+\.yaml:)",
                                   shown[0]) else 0


def difference(shown, printed):
    """The first shown line that is not printed in its place, or None."""
    have = [s.rstrip() for s in printed.splitlines()]
    at, gap = 0, False
    for want in (s.rstrip() for s in shown):
        if want == "...":
            gap = True
            continue
        while gap and at < len(have) and have[at] != want:
            at += 1
        if at == len(have) or have[at] != want:
            return want
        at, gap = at + 1, False
    if shown and not gap and at != len(have):
        return "(end of the output)"
    return None


def follow(case, block, folder):
    """Runs a block; `case` fails where page and program differ."""
    for step in block.steps:
        if step.missing():
            continue
        with case.subTest(f"{block.where}: {step.command}"):
            p = folder.run(step.command)
            case.assertEqual(p.returncode,
                             1 if step.fails else status(step.shown), p.stdout)
            wrong = difference(step.shown, p.stdout)
            case.assertIsNone(wrong, p.stdout)
