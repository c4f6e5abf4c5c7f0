#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Multipath under the eyes of an oracle (watch.c): every notification behind all
its data and not one clock later than it may be, memory as after delivery in
order, every loss found.

    test_watch.py WEFT ROOT WATCH.SO [PACKETS [SEED]]

PACKETS is 10^5 when not given; `make soak` says 10^7."""
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import ROOT, points, run

LOAD = sys.argv.pop(1)
PACKETS = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 100000
SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 else None
NODES, COUNT = 8, 1000
ROUNDS = -(-PACKETS // (NODES * COUNT))
# as many losses in the short run as can be told apart, one in 10^5 in a long one
DROP = 1e-5 if PACKETS > 10 ** 6 else 5e-4


LONG = 120 + PACKETS // 5000  # seconds
WATCH = os.path.join(os.path.abspath(ROOT), "tests", "system", "watch")


def watch(*sets, name=WATCH + ".yaml", rounds=ROUNDS, seed=SEED, **kw):
    return run(name, "workload.rounds=%d" % rounds, *sets, load=LOAD,
               seed=seed, timeout=LONG, **kw)


def total(r, end):
    return int(sum(r.all("", end)))


class Order(unittest.TestCase):
    def test_random_delays_keep_notifications_behind_data(self):
        r = watch()
        self.assertGreaterEqual(total(r, ".nic.packets_in"), PACKETS)
        self.assertGreater(total(r, ".nic.reordered"), PACKETS // 4)
        # every notification was looked at, all of them on time
        self.assertEqual(total(r, ".seen"), total(r, ".nic.remote_notify"))
        self.assertGreater(total(r, ".seen"), PACKETS // 10)
        self.assertEqual(total(r, ".failures"), 0)
        for what in ("losses", "sync_lost", "pool_full", "untracked"):
            self.assertEqual(total(r, ".nic." + what), 0)
        # the same memory as after a run over one path, without delays
        one = points("forth/multi-random", "workload.rounds=%d" % ROUNDS,
                     "fault.delay.max=0ns", seed=SEED, timeout=LONG)[1]
        self.assertEqual(total(one, ".nic.reordered"), 0)
        self.assertEqual(r.all("n", ".digest"), one.all("n", ".digest"))
        self.assertEqual(len(set(r.all("n", ".digest"))), NODES)


    def test_counting_completes_every_group(self):
        # forth.md 7.7: complete when it is said to be, all groups, the same memory
        rounds = min(ROUNDS, 125)
        r = watch("forth.nic.completion=count", "watch.bus.groups=yes",
                  "workload.notify=16", rounds=rounds)
        self.assertEqual(total(r, ".seen"), total(r, ".nic.remote_notify"))
        self.assertGreater(total(r, ".seen"), rounds * NODES * COUNT // 20)
        self.assertEqual(total(r, ".failures"), 0)
        self.assertEqual(total(r, ".open"), 0)
        order = watch("workload.notify=16", rounds=rounds)
        self.assertEqual(total(r, ".seen"), total(order, ".seen"))
        self.assertEqual(r.all("n", ".digest"), order.all("n", ".digest"))


class Loss(unittest.TestCase):
    def test_no_loss_is_silent(self):
        r = watch("fault.drop.packets=%g" % DROP, "forth.nic.resync=4096",
                  "forth.xbar.resync=4096")
        drops = int(sum(r.all("fault", ".packets")))
        self.assertGreater(drops, PACKETS * DROP)
        # the receivers found them, except what no later packet shows (7.5)
        self.assertEqual(total(r, ".nic.losses") + total(r, ".open"), drops)
        self.assertLess(total(r, ".open"), 1 + drops // 20)
        self.assertEqual(total(r, ".failures"), 0)
        self.assertEqual(total(r, ".nic.sync_lost"), 0)
        self.assertGreater(total(r, ".flagged"), drops * 9 // 10)
        # software missed each of them, and brought all back
        missed = total(r, ".missing") + total(r, ".lists_lost") + \
            total(r, ".resent") - total(r, ".recovered")
        self.assertEqual(missed, drops)
        self.assertEqual(total(r, ".missing"), total(r, ".recovered"))
        clean = watch()
        self.assertEqual(r.all("n", ".digest"), clean.all("n", ".digest"))


class Oracle(unittest.TestCase):
    """It does fail."""

    def refused(self, text, fault):
        with open(WATCH + ".yaml") as f:
            base, work = f.read().split("workload:")
        with tempfile.TemporaryDirectory() as d:
            name = os.path.join(d, "watch")
            with open(name + ".yaml", "w") as f:
                f.write(base + "  - " + fault + "\nworkload:" + work)
            r = watch(name=name + ".yaml", rounds=2, seed=1, fails=True)
        self.assertGreater(total(r, ".failures"), 0)
        self.assertTrue(any(text in f for f in r.failures), r.failures[:3])

    def test_observer_notices_a_late_engine(self):
        # the NIC's requests are held for a clock, behind the onlooker's back
        self.refused("engine free at",
                     "{ on: n3.nic.bus, type: fault.bus, hold: writes,"
                     " at: 500us, every: 1us, length: 10ns }")

    def test_observer_notices_an_early_notification(self):
        # packets vanish that the onlooker has seen come
        self.refused("before its data",
                     "{ on: s2.port5, type: fault.drop, packets: 0.01 }")

    def test_observer_notices_a_packet_that_was_never_sent(self):
        self.refused("never sent",
                     "{ on: n1.nic.link1, type: fault.drop, repeat: 0.01 }")


if __name__ == "__main__":
    unittest.main(verbosity=2)
