#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Multipath, external memory and bundles in whole systems (V22 to V25)."""
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import points, run


class Multipath(unittest.TestCase):
    def test_paths_of_random_delay_keep_notifications_behind_data(self):
        # V23, about 10^5 packets: forth.traffic compares every byte, and at
        # every notification all that was announced must be complete
        r = run("forth/multi-delays", "workload.count=9000")
        self.assertGreater(sum(r.all("n", ".nic.packets_in")), 100000)
        self.assertGreater(sum(r.all("n", ".nic.reordered")), 1000)
        for what in ("losses", "sync_lost", "pool_full", "untracked"):
            self.assertEqual(sum(r.all("n", ".nic." + what)), 0)

    def test_lost_packet_is_flagged_once(self):
        # V24: found once, said once, the rest of the stream arrives
        r = run("forth/multi-loss", fails=True)
        self.assertEqual(r["n1.nic.losses"], 1)
        self.assertEqual(r["n1.nic.sync_lost"], 0)
        self.assertEqual(r["n0.nic.packets_out"],
                         r["n1.nic.packets_in"] + 1)
        flagged = [f for f in r.failures if "notification word" in str(f)]
        self.assertEqual(len(flagged), 1)

    def test_endpoint_keeps_order_over_several_paths(self):
        # messages, puts, gets and atomics in order over paths of random
        # length, also with a ring so short that credits return by puts
        for more in ((), ("workload.rx_slots=2",), ("workload.use_irq=yes",)):
            r = run("forth/ep-multi", *more)
            self.assertEqual(r.all("n", "prog0.tests"), [11] * 4)
            self.assertGreater(sum(r.all("n", ".nic.reordered")), 100)
        # without delays the paths differ by the load of the switches alone
        paths = ("nodes.nic.preset=plat-multi", "fabric.count=4")
        run("forth/ep-traffic", "workload.count=150", *paths)
        # notifications by counting are in no order: refused
        r = run("forth/ep-multi", "nodes.nic.completion=count", fails=True)
        self.assertIn("Operation not supported", str(r.failures))

    def test_counting_completes_the_same_notifications(self):
        # forth.md 7.7 in a whole system: the same notifications, the same memory; no
        # header is kept, the announcing packets come on top
        reseq, count = points("forth/multi-count")
        self.assertEqual(reseq.all("n", "prog0.digest"),
                         count.all("n", "prog0.digest"))
        self.assertEqual(reseq.all("n", "prog0.notifications"),
                         count.all("n", "prog0.notifications"))
        notes = sum(count.all("n", "prog0.notifications"))
        self.assertGreater(notes, 2500)
        self.assertEqual(sum(count.all("n", ".nic.packets_in")),
                         sum(reseq.all("n", ".nic.packets_in")) + notes)
        self.assertGreater(max(reseq.all("n", ".nic.pool_max")), 16)
        self.assertEqual(max(count.all("n", ".nic.pool_max")), 0)
        self.assertGreater(sum(reseq.all("n", ".nic.reordered")), 5000)

    def test_rounds_recover_every_loss(self):
        # losses on all lines; forth.rounds brings everything back
        r = run("forth/multi-drop")
        clean = run("forth/multi-drop", "fault.drop.packets=0")
        drops = sum(r.all("fault", ".packets"))
        self.assertGreater(drops, 10)
        self.assertEqual(sum(r.all("n", ".nic.losses")), drops)
        self.assertEqual(sum(r.all("n", "prog0.missing")), drops)
        self.assertEqual(r.all("n", "prog0.digest"),
                         clean.all("n", "prog0.digest"))


class Buffers(unittest.TestCase):
    def test_buffers_move_to_external_blocks(self):
        # V22; forth.nic checks its blocks at the end
        r = run("forth/multi-ext")
        self.assertGreater(sum(r.all("n", ".nic.ext_blocks")), 1000)

    def test_skew_of_links_costs_no_rate(self):
        # V25: rate and data do not depend on the skew, and the rate is that
        # of one link times their number, up to the bus
        one = run("forth/two-links", "forth.nic.links=1")
        one = one["n1.prog0.bandwidth_in"]
        for name, links, limit in (("two", 2, 1e9), ("", 4, 655)):
            name = "forth/multi-skew" + (name and "-" + name)
            r = run(name)
            self.assertEqual(sum(r.all("n", "prog0.errors")), 0)
            skewed = r["n1.prog0.bandwidth_in"]
            even = run(name, "forth.link.cable=0ns")["n1.prog0.bandwidth_in"]
            self.assertAlmostEqual(skewed / even, 1, delta=0.01)
            self.assertAlmostEqual(skewed / min(links * one, limit), 1,
                                   delta=0.01)

    def test_skew_beyond_the_fifo_loses_packets(self):
        # 16 words are 204.8 ns; with 210 the FIFO of the fast link overflows
        for cable, lost in (("204ns", 0), ("210ns", 20)):
            r = run("forth/multi-skew-two", "workload.0.count=20",
                    "fabric.cables.1.2.cable=" + cable, fails=bool(lost))
            self.assertEqual(r["n1.nic.skew_full"], lost)
            # the final word is short enough
            self.assertEqual(r["n1.nic.packets_in"], 21 - lost)


class State(unittest.TestCase):
    def test_state_follows_the_number_of_sources(self):
        r = points("forth/multi-state")
        # 4 + 1 + 4 * (3 + 20) + 2 bits a source; 1024 * 76 bits of pool
        for p, n in zip(r, (8, 128, 4096)):
            self.assertEqual(p["n0.prog0.reseq"], (99 * n + 1024 * 76) / 8)
            self.assertEqual(p["n0.prog0.count"], 64 * 68 * n / 8)


if __name__ == "__main__":
    unittest.main()
