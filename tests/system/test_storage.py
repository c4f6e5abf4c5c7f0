#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Remote disks: rates are bounded by what network, bus, processors and drive
allow, point by point.  The bounds are written down here from the formulas of
forth.md 11 and docs/storage.md, with the parameters that the run says it had."""
import json
import os
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import MIB, execute, run

PAGE, RECORD, SEGMENT, DESCRIPTOR, LINE = 4096, 64, 24, 16, 64
RATE = "n0.prog0.bandwidth_binary"
UNITS = {"fs": 1e-6, "ps": 1e-3, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9,
         "KiB": 1024, "MiB": MIB, "MHz": 1e-3, "Gb/s": 1, "Mb/s": 1e-3,
         "b/s": 1e-9, "": 1}


def number(text):
    """In ns, GHz, Gb/s or bytes."""
    m = re.fullmatch(r"([0-9.e+-]+)([A-Za-z/]*)", text)
    return float(m[1]) * UNITS[m[2]]


class Machine:
    """Times in ns of the parts of forth/storage-sizes, two links, one packet
    for each transfer."""

    def __init__(self, manifest):
        self.m = manifest
        self.cc = 32 / self("link.rate")
        self.pc = 1 / self("n0.bus.clock")
        self.largest = self("n1.prog0.max_request")
        rate = self("n1.prog0.media_rate")
        self.media = 8 / rate if rate else 0

    def __call__(self, name):
        return number(self.m[name])

    def bus(self, name):
        return self("n0.bus." + name)

    def cpu(self, *names):
        return sum(self("n0.host." + n) for n in names)

    def chunks(self, n, name):
        return -(-n // self.bus(name))

    def read(self, n):
        """The NIC reads memory (11.4)."""
        return self.pc * (self.bus("t_arb") + self.bus("t_ph")
                          + self.bus("t_split") + n / 8
                          + (self.chunks(n, "sc_chunk") - 1)
                          * (self.bus("t_gap") + self.bus("t_ph")))

    def write(self, n):
        """The NIC writes memory (11.3)."""
        k = self.chunks(n, "wr_chunk")
        return self.pc * (self.bus("t_arb") + n / 8 + k * self.bus("t_ph")
                          + (k - 1) * self.bus("t_disc"))

    def wire(self, n):
        """A frame on two links (11.9)."""
        return (n / 8 + 4) * self.cc

    def fly(self, n):
        """From the first word on the line until the NIC writes it to memory:
        cut-through in quarters of the packet (4.11)."""
        part = max(0, 1 - 8 / self.cc / (8 / self.pc))
        quarters = -(-part * 4 // 1) / 4
        return ((self("link.t_ser") + self("n0.nic.t_l2d")) * self.cc
                + quarters * self.wire(n))

    def post(self, n):
        """Descriptors through write-combining buffers (11.5)."""
        lines, rest = divmod(n * DESCRIPTOR, LINE)
        return self.pc * (lines * (self.bus("t_piob") + LINE / 4)
                          + (self.bus("t_piob") + rest / 4 if rest else 0)
                          + self("n0.nic.t_desc"))

    def record(self, n=RECORD):
        """From a processor with a record of n bytes to the notification."""
        return (self.post(1) + self.read(n) + self.fly(n) + self.write(n)
                + self.write(8))

    def period(self, n):
        """From packet to packet: a packet is read before it leaves, while the
        one before is on the line."""
        return max(self.wire(n), self.read(n) + self.pc
                   * (self("n0.nic.t_desc") + self("n0.nic.t_upd")))

    def data(self, n, first):
        """From a processor with the data of a request and the record behind
        them to the notification; `first` descriptors start together."""
        parts = -(-n // self.largest)
        return (self.post(first) + self.read(PAGE)
                + (n / PAGE - 1) * self.period(PAGE)
                + (parts - 1) * self.wire(RECORD) + self.fly(PAGE)
                + self.write(PAGE) + self.write(RECORD) + self.write(8))

    def wait(self):
        """From the notification to the program: spinning, or the interrupt."""
        irq = self.m["n0.prog0.use_irq"] in ("true", "yes")
        return (self.cpu("irq_entry", "wake_up") if irq else 0) + self.cpu(
            "forth_storage_take", "disk_record")

    def written(self, n):
        """Least time of a write of n bytes, alone."""
        first, last = min(n, self.largest), (n - 1) % self.largest + 1
        head = self.cpu("disk_call", "disk_part")
        tail = (self.wait() + 2 * self.cpu("disk_part") + self.record()
                + self.wait() + self.cpu("disk_call"))
        d = first / PAGE + 1
        return head + tail + max(self.data(n, d) + last * self.media,
                                 self.data(first, d) + n * self.media)

    def fetched(self, n):
        """... of a read."""
        piece = min(n, self("n1.prog0.piece"))
        last = (n - 1) % piece + 1
        head = (self.cpu("disk_call", "disk_part")
                + self.record(RECORD + SEGMENT) + self.wait()
                + 2 * self.cpu("disk_part"))
        tail = self.wait() + self.cpu("disk_call")
        # the first piece leaves alone, unless all are there at once
        d = (piece if self.media else min(n, self.largest)) / PAGE
        return head + tail + max(piece * self.media + self.data(n, d),
                                 n * self.media + self.data(last, 1))

    def bound(self):
        """MiB/s of the point's requests."""
        n = self("n0.prog0.size")
        t = self.fetched(n) if self("n0.prog0.read") else self.written(n)
        return n / t * 1e9 / MIB


def manifests(name, *sets):
    """(manifest, Run) of all points."""
    args = ["run", name, "--format", "json"]
    for s in sets:
        args += ["--set", s]
    p = execute(*args)
    if p.returncode:
        raise AssertionError(p.stderr[:2000])
    d = json.loads(p.stdout)
    return [(r["manifest"], r["metrics"]) for r in d.get("runs", [d])]


class Bound(unittest.TestCase):
    """S01: the curve is bounded by what rows F and the model of the disk allow,
    point by point."""
    def check(self, *sets):
        rates = []
        for manifest, metrics in manifests("forth/storage-sizes", *sets):
            bound, got = Machine(manifest).bound(), metrics[RATE]
            self.assertLessEqual(got, bound, manifest["point"])
            self.assertGreaterEqual(got, 0.95 * bound, manifest["point"])
            self.assertEqual(metrics["n0.prog0.retries"], 0)
            rates.append(got)
        return rates

    def test_curve_lies_close_below_its_bound(self):
        """S01: within 5 %, and rising."""
        rates = self.check()
        self.assertEqual(len(rates), 18)
        for direction in (rates[:9], rates[9:]):
            self.assertEqual(direction, sorted(direction))
            self.assertLess(direction[-1], 591.4)

    def test_bound_follows_the_parameters(self):
        for change in ("link.rate=1.25Gb/s", "host.pc.disk_record=2us",
                       "bus.pcix.t_split=200", "workload.use_irq=yes",
                       "workload.1.max_request=16384",
                       "workload.1.media_rate=200MB/s",
                       "workload.1.media_rate=1GB/s"):
            with self.subTest(change):
                self.check("workload.0.bytes=2MiB", change)

    def test_disk_bounds_reads_and_writes_beyond_its_cache(self):
        """S01: 60 MB/s; a write ends in the cache, which has room for a
        quarter of the 32 MiB at the end of the run."""
        media, cache, volume = 60e6 / MIB, 8, 32
        for m, got in manifests("forth/storage-disk"):
            read = m["n0.prog0.read"] == "100"
            bound = media if read else media * volume / (volume - cache)
            large = number(m["n0.prog0.size"]) >= 65536
            self.assertLessEqual(got[RATE], bound * 1.001, m["point"])
            self.assertGreaterEqual(got[RATE], bound * (0.95 if large else 0.8),
                                    m["point"])
            self.assertEqual(got["n0.prog0.retries"], 0)


class Notify(unittest.TestCase):
    """F35: the gain of clustering and selective notification."""
    SIZES = [4, 16, 64, 256, 1024]

    def rates(self, *sets):
        """{(bytes of a packet, preset): [MiB/s by size]}, and a manifest for
        each size of packets"""
        found, of = {}, {}
        for m, got in manifests("forth/storage-notify", *sets):
            packet = int(number(m["n0.nic.max_payload"]))
            preset = re.search(r"preset=(\S+)", m["point"])[1]
            found.setdefault((packet, preset), []).append(got[RATE])
            of[packet] = m
        return found, of

    def gains(self, rates, packet, of="clustered-irq"):
        return [a / b for a, b in zip(rates[packet, of],
                                      rates[packet, "packet-irq"])]

    def test_gain_is_3_to_4_for_packets_of_512_bytes(self):
        rates, _ = self.rates()
        self.assertEqual([len(r) for r in rates.values()], [5] * 6)
        inside = [n for n, g in zip(self.SIZES, self.gains(rates, 512))
                  if 3 <= g <= 4]
        self.assertEqual(inside, [16, 64, 256, 1024])
        for g in self.gains(rates, 512, "clustered"):
            self.assertTrue(3 <= g <= 4, g)
        # a page takes the line longer than an interrupt the processor
        for g in self.gains(rates, 4096):
            self.assertTrue(1 <= g < 1.25, g)

    def test_gain_is_time_of_an_interrupt_over_that_of_a_packet(self):
        """The processor limits one way to a packet in 5 us, the bus the
        other."""
        rates, of = self.rates("sweep={workload.preset: [clustered, packet-irq]}",
                               "workload.0.size=1MiB",
                               "forth.nic.max_payload=512")
        machine = Machine(of[512])
        interrupt = machine.cpu("forth_storage_single")
        self.assertEqual(interrupt, machine.cpu("irq_entry", "wake_up"))
        for preset, ns in (("packet-irq", interrupt),
                           ("clustered", machine.period(512))):
            bound = 512 / ns * 1e9 / MIB
            self.assertLessEqual(rates[512, preset][0], bound)
            self.assertGreaterEqual(rates[512, preset][0], 0.95 * bound)

    def test_gain_follows_the_cost_of_an_interrupt(self):
        few = ["sweep={workload.preset: [clustered-irq, packet-irq]}",
               "workload.0.size=64KiB", "forth.nic.max_payload=512"]
        gain = [self.gains(self.rates(*few, "host.pc.forth_storage_single="
                                      + t)[0], 512)[0]
                for t in ("0", "2500ns", "5us", "10us")]
        self.assertLess(gain[0], 1.05)
        self.assertTrue(1.6 < gain[1] < 2, gain)
        self.assertAlmostEqual(gain[2], 3.53, delta=0.01)
        self.assertGreater(gain[3], 6)


class Stripe(unittest.TestCase):
    def test_rate_grows_with_targets_until_the_link_is_full(self):
        drive, link = 100e6 / MIB, 286.5  # forth.md 11.8
        found = manifests("forth/storage-stripe")
        for read in "0", "100":
            rates = [got[RATE] for m, got in found
                     if m["n0.prog0.read"] == read]
            self.assertEqual(len(rates), 4)
            for n, rate in enumerate(rates, 1):
                bound = min(n * drive, link)
                self.assertLessEqual(rate, bound)
                self.assertGreaterEqual(rate, 0.94 * bound)
            self.assertLess(rates[3], 1.03 * rates[2])

    def test_stripes_are_verified_on_all_nics(self):
        for system in "forth", "extoll", "hostport", "hvia":
            r = run(system + "/storage-mixed", "record={}",
                    *(["workload.0.count=30"] if system == "hvia" else []))
            of = {k: v for k, v in r.metrics.items()
                  if k.endswith((".retries", ".parts"))}
            self.assertEqual([v for v in of.values() if not v], [0, 0])
            self.assertEqual(len(of), 4)


class Replay(unittest.TestCase):
    """Traces in files; their lines are tested in
    tests/unit/programs/test_block_trace.c."""
    CSV = "".join("%.6f,%s,%d,%d\n" % (i / 1e4, "WR"[i % 2],
                                       (i - i % 2 * 15) % 60 * 65536,
                                       1024 << i % 5) for i in range(60))

    FAST = "workload.1.preset=memory"

    def replay(self, text, *sets, fails=False, name="forth/storage-replay"):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "t.csv")
            with open(path, "w") as f:
                f.write(text)
            return run(name, "workload.0.lines=''", "record={}",
                       "workload.0.trace=" + path, *sets, fails=fails)

    def says(self, text, message, *sets):
        r = self.replay(text, *sets, fails=True)
        self.assertTrue(any(message in f for f in r.failures), r.failures)

    def test_requests_start_at_their_recorded_times(self):
        took = {}
        for speed in 1, 4, 1000:
            r = self.replay(self.CSV, self.FAST,
                            "workload.0.speed=%d" % speed)
            self.assertAlmostEqual(r["n0.prog0.recorded"], 5900 / speed,
                                   delta=0.001)
            self.assertEqual(r["n0.prog0.reads"], 30)
            took[speed] = r["n0.prog0.took"]
        self.assertAlmostEqual(took[1], 5900, delta=500)
        self.assertAlmostEqual(took[4], 5900 / 4, delta=500)
        closed = self.replay(self.CSV, self.FAST, "workload.0.pace=closed")
        self.assertAlmostEqual(closed["n0.prog0.took"], took[1000], delta=20)
        alone = self.replay(self.CSV, self.FAST, "workload.0.pace=closed",
                            "workload.0.depth=1")
        self.assertGreater(alone["n0.prog0.took"],
                           1.5 * closed["n0.prog0.took"])

    def test_requests_to_equal_bytes_keep_their_order(self):
        text = "".join("0,%s,0,4096\n" % "WR"[i % 2] for i in range(20))
        r = self.replay(text)
        self.assertEqual(r["n0.prog0.overlaps"], 19)

    def test_places_behind_the_disk_are_refused_or_wrapped(self):
        text = "0,W,0,512\n1e0,W,0,512\n"
        self.says(text, "t.csv:2: time '1e0' is not a number of seconds")
        text = "0,W,0,512\n0.001,R,17179869184,4096\n"
        self.says(text, "t.csv:2: 4096 bytes at 17179869184 end behind the "
                        "disk's 268435456")
        r = self.replay(text, "workload.0.wrap=yes")
        self.assertEqual(r["n0.prog0.reads"], 1)
        self.says("0,W,512,512\n", "t.csv:1: 512 bytes at 512 are not whole "
                  "sectors of the disk, which has 4096", "workload.1.sector=4096")

    def test_requests_reach_to_the_last_sector(self):
        small = [self.FAST, "workload.1.size=65536"]
        r = self.replay("0,W,0,65536\n1,R,65024,512\n", *small)
        self.assertEqual((r["n0.prog0.writes"], r["n0.prog0.reads"]), (1, 1))
        for at in 0, 1, 127, 128, 129:
            for sectors in 1, 2, 128:
                text = "0,R,%d,%d\n" % (at * 512, sectors * 512)
                if at + sectors > 128:
                    self.says(text, "end behind the disk's 65536", *small)
                r = self.replay(text, "workload.0.wrap=yes", *small)
                self.assertEqual(r["n0.prog0.reads"], 1)
        self.says("0,R,0,66048\n", "66048 bytes at 0 end behind the disk's "
                  "65536", "workload.0.wrap=yes", *small)

    def test_missing_trace_is_named(self):
        for sets, message in (
                (["workload.0.trace=/nonexistent/t"],
                 "/nonexistent/t: No such file"),
                ([], "name a file in `trace`")):
            r = run("forth/storage-replay", "workload.0.lines=''", *sets,
                    fails=True)
            self.assertTrue(any(message in f for f in r.failures), r.failures)

    def test_every_byte_is_compared(self):
        """A bit that flips on the line reaches the disk; the CRC of the data
        asks for them again."""
        fault = ["faults=[{on: n0.nic.link0, type: fault.bits, target: body, "
                 "frame: 5, bit: 5000}]"]
        text = "0,W,0,65536\n"
        self.says(text, "has none of its 1 values", *fault)
        r = self.replay(text, *fault, "workload.check=crc32c")
        self.assertEqual(r["n0.prog0.damaged"], 1)

    def test_trace_of_a_striped_disk_is_replayed_on_extoll(self):
        r = self.replay(self.CSV, name="extoll/storage-replay")
        self.assertEqual(r["n0.prog0.writes"], 30)


if __name__ == "__main__":
    unittest.main()
