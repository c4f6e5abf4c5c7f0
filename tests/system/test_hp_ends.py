#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Host Port from end to end through the command line: the common endpoint
over it, and ULTRA's latency as the sum of its parts (hostport.md 11.5, 13.5
U13, 13.7 M01 and M02).

    test_hp_ends.py WEFT ROOT
"""
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import points, run


class Triggers(unittest.TestCase):
    """CSB9: a trigger takes no longer than the load of a register."""

    def both(self, bus, *sets):
        r = run("hostport/trigger", "nodes.bus={%s}" % bus,
                "workload.0.count=100", *sets)
        return r["n0.prog0.register"], r["n0.prog0.trigger"]

    def test_trigger_takes_as_long_as_a_register(self):
        for bus, ns in (("type: bus.pci, preset: pci33", 630),
                        ("type: bus.pci, preset: pci66", 405),
                        ("type: bus.ht, preset: htx100", 320),
                        ("type: bus.ht, preset: htx100_wire", 330),
                        ("type: bus.ht, preset: htx200", 182.5)):
            register, trigger = self.both(bus)
            self.assertAlmostEqual(register, ns, delta=0.1)
            self.assertAlmostEqual(trigger, ns, delta=0.1)

    def test_slow_decision_delays_the_trigger(self):
        for bus in ("type: bus.pci, preset: pci33",
                    "type: bus.ht, preset: htx100"):
            register, trigger = self.both(bus, "nodes.nic.t_trigger=19")
            self.assertGreater(trigger, register + 25)

    def test_threads_trigger_beside_each_other(self):
        """CSB6: threads of a node trigger beside each other, as many as the
        bus has loads on the way; in the end the target's 60 ns are left."""
        def rate(loads, cpus):
            r = run("hostport/threads",
                    "nodes.bus={type: bus.ht, preset: htx100, loads: %u}"
                    % loads, "sweep.workload.threads=[8]",
                    "workload.0.cpus=%u" % cpus, "workload.0.ops=50",
                    "workload.0.rounds=2", "workload.0.os_c0=0",
                    "workload.0.os_c1=0")
            return r["n0.prog0.per_operation"] / 8 * 1000
        one = rate(1, 8)
        self.assertAlmostEqual(one, 320, delta=1)
        for loads in (2, 3, 4):
            self.assertAlmostEqual(rate(loads, 8), one / loads, delta=8)
        # more processors than loads on the way, and the other way round
        self.assertAlmostEqual(rate(2, 2), rate(2, 8), delta=8)
        self.assertAlmostEqual(rate(8, 2), rate(2, 8), delta=8)
        self.assertGreater(rate(8, 8), 59)
        self.assertLess(rate(8, 8), 75)

    def test_load_begins_at_the_next_edge(self):
        """A load begins at the first edge of the bus clock, at any clock: whole
        clocks, the formula (11.2) and less than one more."""
        for mhz, width in ((25, 4), (40, 4), (47, 4), (50, 8), (90, 8)):
            clk = 1000 / mhz
            want = 210 + (14 if width == 4 else 13) * clk
            t = self.both("type: bus.pci, clock: %uMHz, width: %u"
                          % (mhz, width))[0]
            self.assertLess(abs(t / clk - round(t / clk)), 0.01)
            self.assertGreater(t, want - 0.1)
            self.assertLess(t, want + clk)


class Hops(unittest.TestCase):
    def test_each_hop_adds_30_cycles_and_a_cable(self):
        """Each hop beyond the first adds 30 cycles of 330 MHz and its cable of
        27.5 ns (11.5); what is fitted is at the ends of a path."""
        for hops in (1, 2, 3, 5, 9):
            r = run("hostport/ultra-pingpong", "nodes.count=%u" % (hops + 1),
                    "fabric.dims=[%u]" % (hops + 1), "workload.0.count=300",
                    "workload.0.partner=%u" % hops)
            want = 1198 + (hops - 1) * (30 / 0.33 + 27.5)
            self.assertAlmostEqual(r["n0.prog0.latency"] / want, 1, delta=0.01)


class Endpoint(unittest.TestCase):
    NAME = "hostport/ep-conformance"

    def test_endpoint_passes_conformance(self):
        for seed in (1, 2):
            self.assertEqual(run(self.NAME, seed=seed).all("n", ".tests"),
                             [11] * 8)

    def test_libraries_touch_user_data_through_host_h(self):
        """Libraries touch the user's data only through host.h, because all of
        it is memory of a process that cannot be reached otherwise."""
        for nic in ("forth", "extoll", "hostport", "hvia"):
            r = run(nic + "/ep-conformance", "ep.conformance.far=yes",
                    "ep.conformance.messages=30", "ep.conformance.puts=30",
                    "ep.conformance.gets=30", "ep.conformance.atomics=10")
            self.assertEqual(set(r.all("n", ".tests")), {11}, nic)

    def test_endpoint_passes_with_other_limits(self):
        """Everything long; everything short; few slots, few translations."""
        for sets in (
                ("workload.1.eager_max=40", "workload.2.eager_max=40"),
                ("workload.1.eager_max=16384", "nodes.bus.type=bus.pci",
                 "workload.2.eager_max=16384"),
                ("workload.1.rx_slots=2", "workload.1.max_msg=600",
                 "workload.2.rx_slots=1", "nodes.nic.tlb=16",
                 "nodes.nic.n_np=1")):
            self.assertEqual(run(self.NAME, *sets).all("n", ".tests"),
                             [11] * 8, sets)

    def test_endpoint_delivers_random_traffic(self):
        r = run("hostport/ep-traffic", "workload.1.count=500")
        self.assertEqual(sum(r.all("n", "prog1.received")), 4000)

    def test_longer_messages_take_longer(self):
        """A message of 40 bytes needs no SEND."""
        t = [r["n0.prog1.half_rtt"]
             for r in points("hostport/ep-pingpong")]
        self.assertEqual(t, sorted(t))
        self.assertGreater(t[3] - t[2], 500)

    def test_both_ways_cost_the_same_near_the_switch_over(self):
        one, other = (
            [r["n0.prog1.half_rtt"]
             for r in points("hostport/ep-pingpong", "workload.1.eager_max=%u"
                             % m, "sweep.workload.1.size=[1024, 3072, 8192]")]
            for m in (40, 65536))
        self.assertGreater(one[0], other[0])
        self.assertAlmostEqual(one[1] / other[1], 1, delta=0.1)
        self.assertLess(one[2], other[2])


class Ultra(unittest.TestCase):
    """All clocks of 2 ns, and stores that begin with them: no time is lost
    between them."""
    BUS, NET = 2, 2
    WR, DW = 388, 155
    SEEN = 1  # the reader looks once per ns

    def latency(self, *sets, metres=6, core=500):
        r = run("hostport/ultra-parts", "workload.0.count=20",
                "workload.0.grid=20ns", "nodes.bus.clock=%uns" % self.BUS,
                "nodes.bus.h_wr_in=0", "nodes.bus.h_wr_out=%uns" % self.WR,
                "nodes.bus.h_dw=%uns" % self.DW, "nodes.nic.net_clock=500MHz",
                "fabric.switch.clock=500MHz", "nodes.nic.f_core=%uMHz" % core,
                "fabric.link.length=%g" % metres,
                # no cell that refreshes credits in front of a packet
                "fabric.switch.refresh=1000000", *sets)
        self.assertEqual(r["n0.prog0.latency_min"],
                         r["n0.prog0.latency_max"])
        return r["n0.prog0.latency_min"]

    def parts(self, metres=6, core=500, req=13, cpl=12, route=2, out=5, dw=DW):
        """Store of tag and word; requester; two crossbars and a cable; 56
        bytes in flits of two; completer; write of three words."""
        # network ports out and in (extoll.md 7.1, N3 and N4), the flit that
        # starts a cell on the link (L2)
        cell = 3 + 3 + 1
        network = 2 * (route + 1) + out + 5 + 1 + 56 / 2 + cell
        return (self.WR + 6 * self.BUS + (req + cpl) * 1000 / core +
                network * self.NET + 5 * metres + dw + 7 * self.BUS +
                self.SEEN)

    def test_latency_is_the_sum_of_its_parts(self):
        """U13: to the nanosecond."""
        self.assertEqual(self.latency(), self.parts())
        self.assertEqual(self.latency(metres=10), self.parts(metres=10))
        for what, par, val in (("req", "nodes.nic.ultra_req_latency", 44),
                               ("cpl", "nodes.nic.ultra_cpl_latency", 21),
                               ("route", "fabric.switch.t_route", 24),
                               ("out", "fabric.switch.t_lp_out", 17)):
            with self.subTest(what=what):
                self.assertEqual(self.latency("%s=%u" % (par, val)),
                                 self.parts(**{what: val}))
        self.assertEqual(self.latency("nodes.nic.ultra_cpl_occupancy=90"),
                         self.parts())

    def test_faster_core_saves_25_cycles(self):
        """M01: 25 cycles of 10 ns less 25 of 2 ns, where the packet comes at an
        edge of the slow clock; later otherwise, up to a cycle."""
        saved = [self.latency(metres=6 + 0.4 * i, core=100) -
                 self.latency(metres=6 + 0.4 * i) for i in range(5)]
        self.assertEqual(min(saved), 200)
        self.assertLess(max(saved), 210)

    def test_cable_adds_5_ns_per_metre(self):
        """M02"""
        t = [self.latency(metres=6 + 2 * i) for i in range(3)]
        self.assertEqual([b - a for a, b in zip(t, t[1:])], [10, 10])


if __name__ == "__main__":
    unittest.main()
