#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changing inputs moves EXTOLL's outputs as the machine would.  The stage table
and the formulas of extoll.md section 7 are written down here again, independently
of the program, and compared with what runs under changed parameters give."""
import json
import math
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import execute, points, run

HT_NS = 5.0  # cycle of the HT core
BYTES = {"w16": 2, "w32": 4}
OVERHEAD = {"w16": 5, "w32": 2}  # flits of framing per cell
CONTROL = {"w16": 2, "w32": 1}  # flits of a control cell
REFRESH = 256  # cycles from one credit refresh to the next


def cycle_ns(mhz):
    return 1e3 / mhz


def route_flits(width, nibbles):
    k = 4 if width == "w16" else 8
    return 1 if nibbles <= k else 1 + math.ceil((nibbles - k) / (k - 1))


def ser(width, size=8, hops=1):
    """SER: routing flit, header word, payload in words."""
    words = 1 + math.ceil(size / 8)
    return route_flits(width, hops + 1) + words * 8 // BYTES[width]


def ht_ns(size, gbyte=1.6):
    """One packet: 8 bytes of request, VELO header, payload in words."""
    return (8 + 8 + math.ceil(size / 8) * 8) / gbyte


def ends_ns(t, width, size=8, hops=0):
    """Stages of 7.1 in front of and behind the cables."""
    send = 75 + ht_ns(size) + 12 * HT_NS + (3 + 4 + 13 + 3) * t
    receive = (3 + 21 + 4) * t + (3 + 6) * HT_NS + ht_ns(size) + 164
    return send + ser(width, size, hops) * t + 10 * t + receive


def hop_ns(t, metres=2.0, mgt=17, mgt_ui=140):
    """L1 to L6 and X2."""
    return (8 + 1 + mgt + mgt_ui / 40 + 5 + 10 + 10) * t + 5 * metres


def ends_slack(t):
    """Half a cycle per synchroniser: H4 into the core, H5 into the HT core; the
    processor looks every 2 ns."""
    return t / 2 + HT_NS / 2 + 1


CLOCKS = (125, 156, 156.25, 200)


def clock(mhz):
    return "extoll.*.clock=%gMHz" % mhz


class Velo(unittest.TestCase):
    def check_pingpong(self, mhz, width, metres=2, **mgt):
        sets = [clock(mhz), "extoll.*.width=" + width,
                "extoll.cable.length=%g" % metres]
        sets += ["extoll.xbar.%s=%d" % kv for kv in mgt.items()]
        t = cycle_ns(mhz)
        want = ends_ns(t, width, hops=1) + hop_ns(t, metres, **mgt)
        got = run("extoll/pingpong", *sets, fails=None)["n0.prog0.half_rtt"]
        self.assertAlmostEqual(got, want, delta=ends_slack(t) + t / 2,
                               msg=str(sets))

    def test_formula_gives_the_printed_sums(self):
        # the sums that the specification prints
        t = cycle_ns(156)
        self.assertAlmostEqual(ends_ns(t, "w32"), 797.1, delta=0.06)
        self.assertAlmostEqual(ends_ns(t, "w16"), 822.7, delta=0.06)
        self.assertAlmostEqual(hop_ns(t), 359.4, delta=0.06)

    def test_latency_follows_clock_and_width(self):
        for mhz in CLOCKS:
            for width in BYTES:
                self.check_pingpong(mhz, width)

    def test_latency_follows_the_cable(self):
        for metres in (0.5, 10, 100):
            for width in BYTES:
                self.check_pingpong(156, width, metres)
        self.check_pingpong(200, "w32", 10)

    def test_latency_follows_the_transceivers(self):
        self.check_pingpong(156, "w32", mgt=34, mgt_ui=140)
        self.check_pingpong(156, "w16", mgt=17, mgt_ui=280)

    def test_widths_differ_by_four_cycles(self):
        for mhz in CLOCKS:
            a, b = [r["n0.prog0.half_rtt"] for r in
                    points("extoll/widths", clock(mhz), fails=None)]
            # both phases move with the clock
            self.assertAlmostEqual(a - b, 4 * cycle_ns(mhz),
                                   delta=cycle_ns(mhz) / 2 + HT_NS / 2)

    def test_loopback_takes_the_time_of_both_ends(self):
        for mhz in CLOCKS:
            for width in BYTES:
                t = cycle_ns(mhz)
                r = run("extoll/loopback", clock(mhz),
                        "extoll.*.width=" + width, fails=None)
                self.assertAlmostEqual(r["n0.prog0.latency"],
                                       ends_ns(t, width), delta=ends_slack(t))

    def test_latency_follows_the_size(self):
        # 7.5: (n - 8)/4 cycles and twice (n - 8)/1.6 ns more than 8 bytes;
        # from 49 bytes on a second cell, with framing of its own
        for mhz, width in ((156, "w32"), (156, "w16"), (100, "w32"),
                           (200, "w16")):
            t = cycle_ns(mhz)
            s = run("extoll/pingpong-sizes", clock(mhz),
                    "extoll.*.width=" + width,
                    fails=None).series["n0.prog0.half_rtt"]
            for size, got in zip(s["x"], s["y"]):
                want = ends_ns(t, width, size, 1) + hop_ns(t)
                if size > 48:
                    want += OVERHEAD[width] * t
                if size > 56:
                    continue
                self.assertAlmostEqual(got, want, delta=ends_slack(t) + t / 2,
                                       msg="%d bytes, %d MHz" % (size, mhz))
            self.check_step(dict(zip(s["x"], s["y"])), t, width)

    def check_step(self, got, t, width):
        """57 bytes and the header are more than 64: a second HT packet, which
        HTAX takes 9 cycles behind the first (2.4), and 8 bytes more."""
        flits = 8 // BYTES[width]
        step = got[57] - got[56] - flits * t - 2 * 8 / 1.6
        self.assertGreater(step, 9 * t - 10 - ends_slack(t))
        self.assertLess(step, 11 * t)
        for size in range(58, 65):
            self.assertAlmostEqual(got[size], got[57], delta=1)

    def test_counted_symbols_are_those_of_cells(self):
        for width, flit in BYTES.items():
            a, b = (p.counters for p in points("extoll/saturated",
                                               "extoll.*.width=" + width))
            def gain(name):
                return b[name] - a[name]
            cells = flit * (gain("s0.lp0.words") +
                            OVERHEAD[width] * gain("s0.lp0.frames"))
            rest = gain("fault0.symbols") - cells
            cell = flit * (64 // flit + OVERHEAD[width])
            self.assertGreater(rest, -cell)  # one may be on its way
            self.assertLess(rest, 0.1 * cells)
            # the line is never idle: a flit per cycle
            self.assertAlmostEqual(gain("fault0.symbols"), flit * 156 * 256,
                                   delta=2 * cell)

    def test_each_hop_takes_the_time_of_the_formula(self):
        for mhz, metres in ((156, 2), (156, 10), (200, 2)):
            t = cycle_ns(mhz)
            r = run("extoll/hop-sweep", clock(mhz),
                    "extoll.cable.length=%g" % metres, fails=None)
            # each hop is crossed at the same phase
            self.assertAlmostEqual(r["n0.prog0.per_hop"], hop_ns(t, metres),
                                   delta=t / 2)


def put_cycles(size, width, interval=31):
    w = BYTES[width]
    flits = 1 + (size + 16) // w
    cells = -(-flits * w // 64)
    last = flits - (cells - 1) * 64 // w + OVERHEAD[width]
    line = flits + cells * OVERHEAD[width] + max(0, 4 - last)
    # every so often a control cell takes the line
    return max(interval, line * REFRESH / (REFRESH - CONTROL[width]))


class Rma(unittest.TestCase):
    def check_puts(self, r, count, size, width, mhz=156):
        us = count * size / r["n0.prog0.bandwidth"]
        line = count * put_cycles(size, width) / mhz
        # the first one has to be posted, the last one to arrive
        self.assertGreater(us, line)
        self.assertLess(us, line + 4, "%d bytes" % size)

    def test_formula_gives_the_printed_cycles(self):
        # cycles of 4 KB that the specification prints, without refresh
        for width, cycles in (("w16", 2382), ("w32", 1159)):
            self.assertAlmostEqual(
                put_cycles(4096, width) * (REFRESH - CONTROL[width]) / REFRESH,
                cycles)

    def test_put_rate_follows_clock_and_width(self):
        for mhz in CLOCKS:
            rs = points("extoll/put-widths", clock(mhz), fails=None)
            for r, width in zip(rs, ("w16", "w32")):
                self.check_puts(r, 1000, 4096, width, mhz)

    def test_cable_does_not_change_the_put_rate(self):
        rs = points("extoll/put-widths", "extoll.cable.length=10")
        for r, width in zip(rs, ("w16", "w32")):
            self.check_puts(r, 1000, 4096, width)

    def test_put_rate_follows_the_size(self):
        for width in BYTES:
            for r, size in zip(points("extoll/rma-put-curve",
                                      "workload.0.count=400",
                                      "extoll.*.width=" + width),
                               (8, 64, 256, 1024, 2048, 4096)):
                self.check_puts(r, 400, size, width)

    def test_command_rate_follows_its_interval(self):
        for mhz, interval in ((156, 31), (200, 31), (156, 40)):
            r = run("extoll/rma-rate", clock(mhz),
                    "extoll.nic.rma_interval=%d" % interval, fails=None)
            self.assertAlmostEqual(r["n0.prog0.rate"], mhz * 1e6 / interval,
                                   delta=mhz * 1e3 / interval)


class Lines(unittest.TestCase):
    def test_saturated_lines_are_always_busy(self):
        for mhz in CLOCKS:
            for width, w in BYTES.items():
                a, b = points("extoll/saturated", clock(mhz),
                              "extoll.*.width=" + width)
                us = 256
                for p in range(3):
                    name = "s0.np%d.words" % p
                    # 16 or 32 flits of a cell are counted at its start
                    self.assertAlmostEqual(b[name] - a[name], us * mhz,
                                           delta=64 // w)
                for p in range(6):
                    name = "s0.lp%d.busy" % p
                    self.assertAlmostEqual(b[name] - a[name], us * 1e3,
                                           delta=1)


class HyperTransport(unittest.TestCase):
    def test_loads_and_stores_follow_the_bus_clock(self):
        for mhz in (200, 400, 800):
            gbyte = mhz * 4 / 1e3
            r = points("extoll/pio", "bus.ht.clock=%dMHz" % mhz,
                       fails=None)[0]
            load = 35 + 8 / gbyte + 12 * HT_NS + 10 + 6 * HT_NS + 8 / gbyte + 35
            self.assertAlmostEqual(r["n0.prog0.load"], load, delta=4 / gbyte)
            self.assertAlmostEqual(r["n0.prog0.store_rate"], gbyte * 64 / 72,
                                   delta=1e-6)


class Reproduce(unittest.TestCase):
    def rows(self, *sets, status=0):
        args = [a for s in sets for a in ("--set", s)]
        p = execute("reproduce", "extoll", "--format", "json", *args)
        self.assertEqual(p.returncode, status, p.stderr)
        return {r["id"]: r for r in json.loads(p.stdout)}

    def model(self, rows, name):
        return rows[name]["model"]

    def test_every_row_passes(self):
        rows = self.rows()
        for n in range(1, 18):
            self.assertIn("EX-%02d" % n, rows)
        for r in rows.values():
            self.assertTrue(r["pass"], r)
            self.assertTrue(r["enforced"], r)
            if r["basis"] in ("calibrated", "input"):
                self.assertTrue(r["parameter"], r)

    def test_rows_move_with_the_core_clock(self):
        rows, t = self.rows(clock(200), status=1), cycle_ns(200)
        slack = ends_slack(t) + t / 2
        for name, width in (("EX-01", "w16"), ("EX-02", "w32")):
            want = ends_ns(t, width, hops=1) + hop_ns(t)
            self.assertAlmostEqual(self.model(rows, name) * 1e3, want,
                                   delta=slack)
        self.assertAlmostEqual(self.model(rows, "EX-04"), ends_ns(t, "w32"),
                               delta=ends_slack(t))
        for name, mbyte in (("EX-05", 267), ("EX-06", 552)):
            self.assertAlmostEqual(self.model(rows, name), mbyte * 200 / 156,
                                   delta=mbyte / 100)
        self.assertAlmostEqual(self.model(rows, "EX-08"), 8.0, delta=0.008)
        self.assertAlmostEqual(self.model(rows, "EX-11"), 180, delta=1)
        self.assertAlmostEqual(self.model(rows, "EX-12"), 57.6, delta=0.01)
        self.assertAlmostEqual(self.model(rows, "EX-14"), 200 / 31, delta=0.01)
        self.assertTrue(rows["EX-16"]["pass"])
        self.assertTrue(rows["EX-17"]["pass"])

    def test_longer_cable_moves_rows_of_latency_only(self):
        before, rows = self.rows(), self.rows("extoll.cable.length=10",
                                              status=1)
        t = cycle_ns(156)
        for name in ("EX-01", "EX-02"):
            more = self.model(rows, name) - self.model(before, name)
            self.assertAlmostEqual(more * 1e3, 8 * 5, delta=t)
        for name in ("EX-04", "EX-05", "EX-06", "EX-08", "EX-11", "EX-12",
                     "EX-14", "EX-16", "EX-17"):
            self.assertTrue(rows[name]["pass"], rows[name])


if __name__ == "__main__":
    unittest.main(verbosity=2)
