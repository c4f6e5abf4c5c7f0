#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/how-to.md is true: every command runs as it stands, and the lines shown
behind it are those that it prints.

    test_howto.py WEFT SOURCE_ROOT [unittest options]
"""
import os
import re
import sys
import unittest

import pages

WEFT, ROOT = (os.path.abspath(a) for a in sys.argv[1:3])
PAGE = "docs/how-to.md"


class HowTo(unittest.TestCase):
    def test_every_command_runs_and_prints_what_the_page_shows(self):
        folder = pages.Folder(WEFT, ROOT)
        self.addCleanup(folder.close)
        for block in pages.blocks(ROOT, PAGE):
            pages.follow(self, block, folder)

    def test_every_question_has_commands(self):
        with open(os.path.join(ROOT, PAGE)) as f:
            answers = re.split(r"^\*\*(?=.*?\?\*\*)", f.read(), flags=re.M)[1:]
        self.assertGreaterEqual(len(answers), 30)
        for answer in answers:
            self.assertRegex(answer, r"(?m)^\$ build/weft ")


class Difference(unittest.TestCase):
    def test_lines_may_be_left_out_only_where_dots_stand(self):
        self.assertIsNone(pages.difference(["a", "...", "c"], "a\nb\nc\n"))
        self.assertEqual(pages.difference(["a", "c"], "a\nb\nc\n"), "c")
        self.assertEqual(pages.difference(["...", "1.5"], "1.4\n"), "1.5")
        self.assertIsNotNone(pages.difference(["a"], "a\nb\n"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
