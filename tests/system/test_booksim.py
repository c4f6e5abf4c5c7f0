#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Latency under load as BookSim2 has it: booksim.json, made by
`scripts/booksim-curve.py --table`, against runs of the same networks.

    test_booksim.py WEFT ROOT [unittest options]

Both routers take five cycles per hop and hold a connection for a packet.  They
differ in their queues (ours: one per output), which shows where packets wait
for each other: latency there may be lower, by a tenth at the highest load of
a pattern, but not higher.
"""
import importlib.util
import json
import os
import sys
import unittest

WEFT = os.path.abspath(sys.argv[1])
ROOT = sys.argv[2]
CYCLES = 5000  # of warm-up; three times as many in the window


def load(path):
    spec = importlib.util.spec_from_file_location("curve", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.path.insert(0, os.path.join(ROOT, "scripts"))
curve = load(os.path.join(ROOT, "scripts/booksim-curve.py"))
with open(os.path.join(ROOT, "tests/system/booksim.json"),
          encoding="utf-8") as f:
    TABLE = json.load(f)


class BookSim(unittest.TestCase):
    def test_table_has_every_case(self):
        want = [(t, d, p, x) for t, d, p, loads in curve.CASES for x in loads]
        got = [(r["topology"], r["dims"], r["pattern"], r["load"])
               for r in TABLE]
        self.assertEqual(got, want)
        self.assertEqual(len(got), 24)

    def check(self, row, highest):
        case = curve.case_of(row["topology"], row["dims"], row["pattern"],
                             curve.FLITS, row["load"], CYCLES)
        latency, accepted, state = curve.weft(WEFT, case)
        off = latency / row["latency"] - 1
        self.assertEqual(state, "steady")
        # the load of few sources in a window is known to 3 %
        self.assertLess(abs(accepted / row["load"] - 1), 0.03)
        self.assertLess(off, 0.025, f"{latency:.2f}")
        self.assertGreater(off, -0.10 if highest else -0.025,
                           f"{latency:.2f}")

    def test_latency_is_that_of_booksim(self):
        for i, row in enumerate(TABLE):
            with self.subTest(**row):
                self.check(row, i % 3 == 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
