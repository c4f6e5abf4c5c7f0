#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is said of mistakes: each message names what is wrong and what would be
right.  The mistakes stand in messages.txt.

    test_messages.py WEFT [unittest options]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv[1])
# Each says where: the line of a file, or the option.
PLACE = r"^([^:]+:\d+: |(run: )?--[a-z])"
TABLE = pathlib.Path(__file__).resolve().parent / "messages.txt"
WORDS = {
    "TRAFFIC ": "traffic: {type: extoll.gen, count: 4, load: 0.1}\n"
                "run: {until: 100us}\n",
    "PAIR ": "traffic: {count: 2, type: forth.gen}\nrun: {until: 1us}\n",
    "DIRECT ": "NODES PROGRAM fabric: {type: direct, LINK}\n",
    "NODES ": "nodes: {count: 2, host: {type: host.pc}, bus: {type: "
              "bus.pcix}, nic: {type: forth.nic}}\n",
    "PROGRAM ": "workload: {program: forth.pingpong}\n",
    "LINK": "link: {type: forth.link}",
    " // ": "\n",
}


def cases():
    lines = [s for s in TABLE.read_text().splitlines()
             if not s.startswith("#")]
    for mistake, message in zip(lines[::2], lines[1::2]):
        text, _, args = mistake.partition(" | ")
        text += " "
        for word, meaning in WORDS.items():
            text = text.replace(word, meaning)
        yield mistake, text, args.split(), message


class Messages(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        with open(os.path.join(self.dir.name, "bad.txt"), "w") as f:
            f.write("0 1\n2\n")

    def weft(self, *args, stdin=""):
        p = subprocess.run([WEFT, *args], input=stdin, text=True,
                           capture_output=True, timeout=60,
                           cwd=self.dir.name)
        self.assertEqual((p.returncode, p.stdout), (2, ""), p.stderr)
        self.assertRegex(p.stderr, r"\Aweft: [^\n]*\n\Z")
        return p.stderr[len("weft: "):-1]

    def test_mistakes(self):
        n = 0
        for mistake, text, args, message in cases():
            n += 1
            with self.subTest(mistake):
                said = self.weft("run", "-", *args, stdin=text)
                self.assertRegex(said, PLACE)
                said = re.sub(r"^standard input:\d+: ", "", said)
                self.assertEqual("    " + said, message)
        self.assertGreater(n, 80)

    def test_programs(self):
        """What a library of a program says has words, too."""
        for args, why in (
                (("extoll/pingpong", "--set", "host.pc.mem_bytes=64KiB"),
                 "cannot open VELO: no memory left on the node: give it more"),
                (("forth/ep-traffic", "--set", "host.pc.mem_bytes=64KiB"),
                 "cannot start: no memory left on the node: give it more")):
            p = subprocess.run([WEFT, "run", *args, "--quiet"], text=True,
                               capture_output=True, timeout=60, check=False)
            self.assertEqual(p.returncode, 1, p.stderr)
            self.assertIn("check failed: n0.prog0: ", p.stderr)
            self.assertIn(why, p.stderr)
            self.assertNotRegex(p.stderr, r"error -?\d")

    def test_larger(self):
        many = ", ".join(f"p{i}: [1, 2, 3, 4, 5, 6, 7, 8, 9]"
                         for i in range(8))
        said = self.weft("check", "-", stdin="sweep: {" + many + "}\n"
                         + WORDS["NODES "] + WORDS["PROGRAM "])
        self.assertIn("more than 100000 points: sweep over less", said)
        self.assertIn("a zero byte", self.weft("check", "-",
                                               stdin='a: "\\0"'))

    def test_found_out_while_it_runs(self):
        text = "NODES PROGRAM fabric: {type: direct, LINK}\n"
        for word, meaning in WORDS.items():
            text = text.replace(word, meaning)
        for args, status, message in [
                (["--set", "workload.program=extoll.velo_pingpong"], 2,
                 "extoll.velo_pingpong drives extoll.nic, but the NIC of n0 "
                 "is forth.nic"),
                (["--show", "zz*"], 0, "--sample TIME records counters"),
                (["--show", "*.half_rtt"], 0, "")]:
            with self.subTest(args):
                p = subprocess.run([WEFT, "run", "-", *args], input=text,
                                   text=True, capture_output=True,
                                   timeout=60)
                self.assertEqual(p.returncode, status)
                self.assertIn(message, p.stderr)
                self.assertEqual(not message, not p.stderr)

    def test_command_line(self):
        for args, message in [
                (["list", "zzz"], "list: no kind 'zzz': weft list --help "
                 "names them"),
                (["describe", "zzzzzzz"], "describe: no component 'zzzzzzz': "
                 "weft list names them"),
                (["reproduce", "zzz"], "reproduce: no system or row 'zzz': "
                 "give a system, e.g. 'forth', or the id of a row, e.g. "
                 "'F15'"),
                (["zzz"], "no command 'zzz': weft --help lists them"),
                (["run", "x", "-x"], "run: no option '-x': they are words "
                 "with --, see weft run --help"),
                (["run", "x", "--zzzz"], "run: no option '--zzzz': see weft "
                 "run --help"),
                (["explain", "x.db"], "x.db: cannot read: No such file or "
                 "directory"),
                (["explain", "bad.txt"], "bad.txt: is no results file: weft "
                 "run FILE --out writes one"),
                (["report", "bad.txt"], "bad.txt: is no results file: weft "
                 "run FILE --out writes one")]:
            with self.subTest(args):
                said = self.weft(*args)
                if "without the page" not in said:
                    self.assertEqual(said, message)


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
