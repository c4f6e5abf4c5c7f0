#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first hour: what `weft` alone says, the tour, completion.

    test_first.py WEFT COMPLETION [unittest options]

COMPLETION is the file that is installed.
"""
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

WEFT, COMPLETION = (os.path.abspath(a) for a in sys.argv[1:3])
BOLD = "\x1b["


def run(*args, status=0, **more):
    p = subprocess.run(args, capture_output=True, text=True, timeout=120,
                       **more)
    if p.returncode != status:
        raise AssertionError(f"{args}: {p.returncode}\n{p.stdout}{p.stderr}")
    return p


def commands():
    return re.findall(r"^  (\w+) ", run(WEFT, "--help").stdout, re.M)


class Folder(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)

    def env(self, **more):
        e = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        return {**e, "TMPDIR": self.dir, "TERM": "xterm", **more}

    def terminal(self, *args, answers=(), **env):
        """Returns the text on a terminal. Each answer is typed when the
        program asks for it."""
        try:
            pid, fd = pty.fork()
        except OSError as e:  # a chroot without /dev/pts
            self.skipTest(str(e))
        if pid == 0:
            os.execve(WEFT, [WEFT, *args], self.env(**env))
        out, answers, end = "", list(answers), time.monotonic() + 60
        try:
            while time.monotonic() < end:
                if not select.select([fd], [], [], 1)[0]:
                    continue
                out += os.read(fd, 65536).decode()
                if out.endswith("q: end] ") and answers:
                    os.write(fd, answers.pop(0).encode())
        except OSError:  # the other side is closed
            pass
        os.close(fd)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out


class Start(Folder):
    def test_weft_alone_offers_three_commands_that_work(self):
        out = run(WEFT).stdout
        offers = re.findall(r"^  (weft .*?)  ", out, re.M)
        self.assertEqual(len(offers), 3)
        self.assertLess(out.count("\n"), 12)
        self.assertEqual(offers.pop(0), "weft tour")  # see below
        for line in offers:
            p = run(WEFT, *line.split()[1:], cwd=self.dir, env=self.env())
            self.assertTrue(p.stdout)
            self.assertEqual(p.stderr, "")

    def test_colours_are_for_terminals_that_want_them(self):
        self.assertNotIn(BOLD, run(WEFT).stdout)
        for shown, env in ((True, {}), (True, {"NO_COLOR": ""}),
                           (False, {"NO_COLOR": "1"}),
                           (False, {"TERM": "dumb"})):
            with self.subTest(env):
                self.assertEqual(BOLD in self.terminal(**env)[1], shown)


class Tour(Folder):
    @classmethod
    def setUpClass(cls):
        """Its last step needs the page, which a build without network has
        not."""
        p = subprocess.run([WEFT, "report", "/dev/null"], capture_output=True,
                           text=True)
        if "without the page" in p.stderr:
            raise unittest.SkipTest(p.stderr.strip())

    def folder(self):
        d, = [d for d in os.listdir(self.dir) if d.startswith("weft-tour.")]
        return os.path.join(self.dir, d)

    def test_tour_shows_five_steps_and_their_files(self):
        t = time.monotonic()
        p = run(WEFT, "tour", env=self.env())
        self.assertLess(time.monotonic() - t, 100)
        self.assertEqual(p.stderr, "")
        steps = re.findall(r"^(\d) of (\d): ", p.stdout, re.M)
        self.assertEqual(steps, [(str(i + 1), "5") for i in range(5)])
        for seen in ("predicted  pass", "n2.nic.packets_in",
                     "saturated from a load between", "half round trip",
                     "report.html"):
            self.assertIn(seen, p.stdout)
        d = self.folder()
        self.assertIn(d, p.stdout)
        with open(os.path.join(d, "report.html")) as f:
            self.assertIn("<html", f.read())
        self.check_commands(p.stdout)

    def check_commands(self, out):
        """The commands print the shown text when typed."""
        typed = re.findall(r"^  \$ weft (.*)$", out, re.M)
        self.assertEqual(len(typed), 6)
        mine = tempfile.mkdtemp(dir=self.dir)
        for line in typed:
            shown = run(WEFT, *shlex.split(line), cwd=mine).stdout
            self.assertIn(shown, out)

    def test_tour_waits_on_a_terminal(self):
        status, out = self.terminal("tour", answers=["\n", "q\n"])
        self.assertEqual(status, 0)
        self.assertIn("2 of 5: ", out)
        self.assertNotIn("3 of 5: ", out)
        self.assertIn("The files are in", out)
        status, out = self.terminal("tour", "--quiet")
        self.assertEqual(status, 0)
        self.assertIn("5 of 5: ", out)
        self.assertNotIn("q: end]", out)

    def test_tour_without_a_folder_names_the_remedy(self):
        p = run(WEFT, "tour", env=self.env(TMPDIR="/no/such"), status=2)
        self.assertIn("set TMPDIR to where you may write", p.stderr)


class Completion(Folder):
    def words(self, *words, cwd=None):
        """Returns the completions of bash for the last word."""
        line = " ".join(shlex.quote(w) for w in (WEFT, *words))
        p = run("bash", "--norc", "-uc", f"source {shlex.quote(COMPLETION)}\n"
                f"COMP_WORDS=({line}) COMP_CWORD={len(words)}\n_weft\n"
                "printf '%s\\n' \"${COMPREPLY[@]-}\"", cwd=cwd or self.dir)
        self.assertEqual(p.stderr, "")
        return p.stdout.split()

    def test_installed_file_is_what_weft_prints(self):
        with open(COMPLETION) as f:
            self.assertEqual(f.read(), run(WEFT, "completion", "bash").stdout)
        p = run("bash", "--norc", "-c",
                f"source {shlex.quote(COMPLETION)}; complete -p weft")
        self.assertEqual(p.stdout, "complete -F _weft weft\n")

    def test_commands_complete_by_their_beginning(self):
        self.assertEqual(self.words(""), commands())
        self.assertEqual(self.words("rep"), ["reproduce", "report"])
        self.assertEqual(self.words("nosuch", ""), [])

    def test_completed_options_are_those_of_the_help(self):
        for c in commands():
            if c == "completion":
                continue
            with self.subTest(c):
                told = re.findall(r"^  (--\S+)",
                                  run(WEFT, c, "--help").stdout, re.M)
                self.assertEqual(self.words(c, "--"), told)

    def test_names_of_every_kind_complete(self):
        names = [s.split()[1] for s in
                 run(WEFT, "list", "experiments").stdout.splitlines()[1:]]
        self.assertEqual(sorted(self.words("run", "")), sorted(names))
        self.assertEqual(self.words("check", "forth/head"),
                         ["forth/head-of-line"])
        self.assertIn("forth.nic", self.words("describe", "forth."))
        self.assertEqual(self.words("list", "exp"), ["experiments"])
        self.assertEqual(self.words("reproduce", "hos"), ["hostport"])
        self.assertEqual(self.words("reproduce", "forth", "F15"), ["F15"])
        self.assertIn("events", self.words("bench", ""))

    def test_values_of_options_complete(self):
        self.assertEqual(self.words("describe", "host.pc", "--format", ""),
                         ["table", "json", "markdown"])
        self.assertEqual(self.words("run", "x", "--format", "=", "j"),
                         ["json"])
        self.assertEqual(self.words("run", "--set", "forth.n"),
                         ["forth.nic."])
        self.assertEqual(self.words("run", "--set", "bus.pcix.clo"),
                         ["bus.pcix.clock="])
        self.assertEqual(self.words("explain", "a", "--message", "s"),
                         ["slowest"])

    def test_names_of_files_complete(self):
        for name in ("mine.yaml", "mine.db"):
            with open(os.path.join(self.dir, name), "w"):
                pass
        self.assertEqual(self.words("run", "mi"), ["mine.db", "mine.yaml"])
        self.assertEqual(self.words("report", "a.db", "mine.d"), ["mine.db"])
        self.assertEqual(self.words("run", "x", "--out", "mine.d"),
                         ["mine.db"])

    def test_completion_refuses_another_shell(self):
        p = run(WEFT, "completion", "zsh", status=2)
        self.assertIn("completion: 'zsh': give bash", p.stderr)


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main()
