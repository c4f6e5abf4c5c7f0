#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Host Port and ATOLL as whole systems, through the command line.

    test_hostport.py WEFT ROOT [INSTRUCTIONS]
"""
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import points, run

INSTRUCTIONS = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 100000

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


class Processes(unittest.TestCase):
    def run_all(self, processes, instructions, *sets):
        """The program checks each instruction and its effect."""
        r = run("hostport/processes", "workload.1.processes=%d" % processes,
                "workload.1.instructions=%d" % instructions, *sets,
                timeout=1800)
        n = instructions
        self.assertEqual(r["n0.prog1.completed"], n)
        self.assertEqual(r["n0.prog1.executed"], n)
        # as many as were accepted, and nothing else, were carried out
        self.assertEqual(r["n0.nic.vcis"], n)
        self.assertEqual(r["n0.nic.accepted"], n + r["n0.nic.status"])
        self.assertEqual(r["n0.nic.bad_vcis"], 0)
        for kind in ("fast_send", "send", "fast_put", "put", "put_bytes",
                     "fast_get", "get", "faa", "cas"):
            self.assertGreater(r["n0.prog1." + kind], 0)
        return r

    def test_65536(self):
        r = self.run_all(65536, INSTRUCTIONS)
        # some found the CSB full, were told so and came again
        self.assertGreater(r["n0.prog1.rejected"], 0)
        self.assertGreaterEqual(r["n0.nic.rejected"],
                                r["n0.prog1.rejected"])

    def test_small_device(self):
        """One unit of each kind, caches of four, a CSB of two."""
        r = self.run_all(3000, 9000, "hostport.nic.csb_depth=2",
                         "hostport.nic.ctx_cache=4",
                         "hostport.nic.win_cache=4", "hostport.nic.tlb=4",
                         "hostport.nic.n_req_fu=1", "hostport.nic.n_rsp_fu=1",
                         "hostport.nic.miss_places=0", "hostport.nic.t_ctx=32")
        self.assertGreater(r["n0.nic.rejected"], 100)


class Shares(unittest.TestCase):
    def test_even(self):
        """SB12: within 5 %, however much each has under way."""
        for r in points("hostport/shares"):
            self.assertGreater(r["n0.prog1.share_min"], 95)
            self.assertLess(r["n0.prog1.share_max"], 105)

    def test_alone(self):
        """One process has all that many have together."""
        alone = points("hostport/shares", "workload.1.victims=1",
                       "sweep.workload.1.victims=[1]")[0]
        many = points("hostport/shares")[0]
        self.assertGreater(alone["n0.prog1.rate"],
                           0.99 * many["n0.prog1.rate"])


class Isolation(unittest.TestCase):
    """What a bad neighbour costs: the bus, as a good one would.

    ACCESS is the time of a load on the bus with what the processor does; the
    host's bridge takes one at a time, so whoever loads waits for at most one of
    each other processor.
    """
    ACCESS = 200  # ns

    def table(self, *sets):
        t = {r.point.split("=")[-1]: r
             for r in points("hostport/isolation", *sets)}
        self.assertEqual(len(t), 8)
        return t

    def latency(self, r):
        return r["n0.prog1.latency"]

    def others(self, r):
        """Loads of everybody else for each instruction of the victim."""
        done = r["n0.prog1.rate"] * 1000
        return (r["n0.host.loads"] / 1.2 - 1.3 * done) / done

    def check(self, *sets):
        t = self.table(*sets)
        none = t["none"]
        for kind in ("nq_full", "bad_context", "forged_page", "locked_window",
                     "tlb_miss"):
            r = t[kind]
            bound = self.latency(none) + self.ACCESS * max(0, self.others(r))
            worst = max(bound, self.latency(t["good"]))
            self.assertLess(self.latency(r), 1.05 * worst, kind)
        # it never gets further than the memory management unit
        self.assertEqual(t["forged_page"].metrics["n0.prog1.latency_max"],
                         none.metrics["n0.prog1.latency_max"])
        self.assertGreater(t["forged_page"]["n0.host.page_faults"], 1000)
        # a load is a load
        self.assertLess(abs(self.latency(t["nq_full"]) /
                            self.latency(t["triggers"]) - 1), 0.01)
        self.assertGreater(t["nq_full"]["n0.nic.parked"], 1000)
        self.assertGreater(t["bad_context"]["n0.nic.err_logs"], 1000)
        self.assertGreater(t["locked_window"]["n0.prog1.neighbour_failed"],
                           1000)
        return t

    def test_one(self):
        self.check("workload.1.depth=1")

    def test_few(self):
        self.check("workload.1.depth=4")

    def test_many(self):
        self.check("workload.1.depth=15")

    def test_miss_without_places(self):
        """The unit waits (8.8): that is what places are for."""
        sets = ("workload.1.depth=15", "sweep.workload.1.kind=[tlb_miss]")
        good = points("hostport/isolation", *sets)[0]
        bad = points("hostport/isolation", "hostport.nic.miss_places=0",
                     *sets)[0]
        self.assertGreater(self.latency(bad), 3 * self.latency(good))


if __name__ == "__main__":
    unittest.main()
