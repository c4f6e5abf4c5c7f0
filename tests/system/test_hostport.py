#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Host Port and ATOLL as whole systems, through the command line.

    test_hostport.py WEFT ROOT
"""
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import run

QUIET = ("fault.bits.rate=0", "fault.drop.packets=0", "fault.drop.controls=0",
         "fault.drop.repeat=0", "fault.cut.at=1s")


class AtollFaults(unittest.TestCase):
    """hostport.md 2.5: what a line does wrong is sent again."""

    def one(self, *sets):
        """Only these faults; all messages arrive in any case."""
        keep = [s.split("=")[0] for s in sets]
        r = run("hostport/atoll-faults",
                *[s for s in QUIET if s.split("=")[0] not in keep], *sets,
                fails=None)
        for f in r.failures:  # that there were enough of all kinds
            self.assertIn(" 50", f)
        return r

    def noticed(self, r):
        return sum(r.all("n", ".nic.bad_flits"))

    def test_all(self):
        run("hostport/atoll-faults")

    def test_none(self):
        r = self.one()
        self.assertEqual(self.noticed(r), 0)
        self.assertEqual(sum(r.all("n", ".nic.resent")), 0)

    def test_bits(self):
        r = self.one("fault.bits.rate=3e-4")
        hit = sum(r.all("fault", ".payload")) + sum(r.all("fault", ".crc"))
        self.assertGreater(hit, 50)
        self.assertGreaterEqual(self.noticed(r), hit / 2)
        self.assertGreaterEqual(sum(r.all("n", ".nic.resent")), hit / 2)

    def test_lost(self):
        r = self.one("fault.drop.packets=0.02")
        lost = sum(r.all("fault", ".packets"))
        self.assertGreater(lost, 20)
        self.assertGreaterEqual(sum(r.all("n", ".nic.resent")), lost)

    def test_state(self):
        """Acknowledges alone: a later one says the same."""
        r = self.one("fault.drop.controls=0.2")
        self.assertGreater(sum(r.all("fault", ".controls")), 100)

    def test_repeated(self):
        r = self.one("fault.drop.repeat=0.1")
        self.assertGreater(sum(r.all("fault", ".repeats")), 100)
        self.assertEqual(self.noticed(r), 0)

    def test_cut(self):
        r = self.one("fault.cut.at=300us", "fault.cut.length=100us")
        self.assertEqual(sum(r.all("fault", ".cuts")), 1)
        self.assertGreater(r["n0.prog0.half_rtt"],
                           self.one()["n0.prog0.half_rtt"] + 400)

    def test_route(self):
        """Parity of the routing string: the packet does not arrive, and the
        management process is told."""
        r = run("hostport/atoll-faults", *QUIET[1:], "faults.0.target=route",
                "faults.0.rate=0", "faults.0.frame=20",
                "fault.bits.bit=1", fails=True)
        self.assertEqual(sum(r.all("n", ".nic.parity")), 1)


if __name__ == "__main__":
    unittest.main()
