#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Published rows can fail.  rows.json (written by `make truth`) holds what the
model gave for each row, and a setting with which the row fails: half the rate
that rates.txt names, where the row is a rate or a time."""
import collections
import functools
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import execute

ROOT = pathlib.Path(__file__).resolve().parents[2]
STORED = json.loads((ROOT / "tests" / "system" / "rows.json").read_text())
sys.path.insert(0, str(ROOT / "scripts"))

import truth


def reproduce(*args):
    p = execute("reproduce", *args, "--quiet", "--format", "json")
    if p.returncode not in (0, 1):
        raise AssertionError(p.stderr)
    return {r["id"]: r for r in json.loads(p.stdout)}


@functools.cache
def built():
    """All rows of the machines as they are."""
    return reproduce()


class Rows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = built()

    def test_rows_have_their_stored_values(self):
        """The machine is deterministic: what moves is a change of the model,
        and a change of the model says so (make truth)."""
        self.assertEqual(list(self.rows), list(STORED))
        for name, r in self.rows.items():
            want = STORED[name]["model"]
            self.assertLessEqual(abs(r["model"] - want), 1e-9 * abs(want),
                                 f"{name}: {r['model']}, was {want}")

    def test_page_shows_rows_as_they_are(self):
        self.assertEqual(truth.stale(self.rows.values()), [])


class Rates(unittest.TestCase):
    """Rows that are rates or times: half the rate that a row follows is the
    setting with which Broken shows that it fails."""

    @classmethod
    def setUpClass(cls):
        cls.rates = truth.rates()

    def test_every_rate_names_what_it_follows(self):
        rows = built()
        self.assertEqual([i for i in self.rates if i not in rows], [])
        self.assertEqual([i for i, r in rows.items()
                          if r["unit"] in truth.UNITS and r["enforced"]
                          and i not in self.rates], [])

    def test_stored_setting_is_what_the_row_follows(self):
        for name, rate in self.rates.items():
            if isinstance(rate, tuple):
                self.assertTrue(STORED[name]["fails"], name)
                self.assertEqual(STORED[name]["fails"].partition("=")[0],
                                 rate[0], name)


class Broken(unittest.TestCase):
    def test_each_row_fails_with_its_setting(self):
        groups = collections.defaultdict(list)
        for name, r in STORED.items():
            if r["fails"]:
                groups[r["fails"]].append(name)
        self.assertTrue(groups)
        for setting, names in groups.items():
            rows = reproduce(*names, "--set", setting)
            for name in names:
                self.assertFalse(rows[name]["pass"], f"{name}: {setting}")


if __name__ == "__main__":
    unittest.main()
