#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""EXTOLL links with errors, through the command line.  Bit errors on every
line of a torus: packets arrive once, in order per pair, bytes intact (checked
by the traffic components), every injected error is in exactly one counter, and
every retry has its cause.  Cables pulled under VELO.

    test_links.py WEFT ROOT [PACKETS [SEED]]
"""
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import run

PACKETS = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 100000
SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 1


class Sums:
    """Counters of all crossbars and of all faults."""

    def __init__(self, r):
        self.r = r

    def xbars(self, *names):
        return sum(sum(v for k, v in self.r.counters.items()
                       if k[0] == "s" and k.endswith("." + n) and
                       k.count(".") == 1) for n in names)

    def faults(self, name):
        return sum(self.r.all("fault", "." + name))


class Errors(unittest.TestCase):
    def errors(self, packets, *sets, rate=1e-5):
        each = (packets + 26) // 27
        r = run("extoll/soak-errors", "traffic.packets=%d" % each,
                "fault.bits.rate=%g" % rate, *sets, seed=SEED, fails=None,
                timeout=7200)
        for f in r.failures:  # that it expects another number of packets
            self.assertIn("net.received is %d:" % (27 * each), f)
        self.assertEqual(r["net.received"], 27 * each)
        self.assertEqual(r["net.sent"], 27 * each)
        return r

    def accounts(self, r):
        n = Sums(r)
        self.assertEqual(n.xbars("downs", "lost"), 0)
        # every transmission that was hit is noticed, once
        self.assertEqual(
            n.faults("hit"),
            n.xbars("code_errors", "crc_errors", "control_errors",
                    "idle_errors") - n.xbars("pieces"))
        # a cell that is refused is answered by a NACK, or one is out already
        self.assertEqual(
            n.xbars("code_errors", "crc_errors", "seq_errors"),
            n.xbars("nacks", "ignored"))
        # a NACK arrives, or was hit itself
        self.assertEqual(n.xbars("nacks"),
                         n.xbars("nacks_in") + n.faults("nack"))
        # a retry has a NACK or a timeout behind it
        self.assertEqual(
            n.xbars("retries"),
            n.xbars("timeouts", "nacks_in") - n.xbars("nacks_stale"))
        self.assertGreaterEqual(n.xbars("resent"), n.xbars("retries"))
        return n

    def test_errors_on_32_bit_links_are_accounted_for(self):
        n = self.accounts(self.errors(PACKETS))
        self.assertGreater(n.faults("hit"), PACKETS / 50)
        self.assertGreater(n.xbars("voids_in"), PACKETS / 50)

    def test_errors_on_16_bit_links_are_accounted_for(self):
        n = self.accounts(self.errors(PACKETS // 2, "extoll.xbar.width=w16",
                                      "extoll.gen.width=w16"))
        self.assertGreater(n.faults("hit"), PACKETS / 100)

    def test_both_levels_of_errors_give_the_same_run(self):
        """T-40"""
        a = self.errors(PACKETS // 5)
        b = self.errors(PACKETS // 5, "fault.bits.level=symbol")
        self.assertEqual(a.counters, b.counters)

    def test_store_and_forward_sends_no_void_cells(self):
        """extoll.md 5.6"""
        n = self.accounts(self.errors(PACKETS // 5,
                                      "extoll.xbar.store_forward=yes"))
        self.assertEqual(n.xbars("voids_in"), 0)

    def test_errors_with_table_routing_are_accounted_for(self):
        self.accounts(self.errors(PACKETS // 5, "fabric.routing=table"))

    def test_errors_in_a_tenth_of_cells_are_accounted_for(self):
        """One bit in 10^4 is hit."""
        self.accounts(self.errors(PACKETS // 10, "traffic.load=0.1",
                                  rate=1e-4))

    def test_more_errors_raise_retries_and_latency(self):
        """T-25"""
        was = None
        for rate in (0, 1e-7, 1e-6, 1e-5, 1e-4):
            r = self.errors(PACKETS // 10, "traffic.load=0.1", rate=rate)
            now = (Sums(r).xbars("retries"), r["net.latency"])
            if was:
                self.assertGreater(now[0], was[0])
                self.assertGreater(now[1], was[1])
            else:
                self.assertEqual(now[0], 0)
            was = now
        self.assertGreater(was[0], 1000)


class Cut(unittest.TestCase):
    def test_replugged_cable_loses_nothing(self):
        r = run("extoll/cut")
        self.assertEqual(r.all("n", ".nic.velo_received"), [6000] * 4)
        # lost and up, told at both ends and nowhere else
        self.assertEqual(r.all("n", ".nic.events"), [2, 2, 0, 0])

    def test_long_cut_takes_the_link_down_and_up(self):
        """Longer than 15 attempts of 1024 cycles."""
        r = run("extoll/cut", "fault.cut.length=200us", fails=True)
        self.assertTrue(all("downs" in f for f in r.failures), r.failures)
        self.assertEqual(r.all("n", ".nic.velo_received"), [6000] * 4)
        self.assertEqual(r.all("n", ".nic.events"), [3, 3, 0, 0])
        self.assertEqual(Sums(r).xbars("downs"), 2)


if __name__ == "__main__":
    unittest.main()
