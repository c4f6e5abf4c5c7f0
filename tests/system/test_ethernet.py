#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ethernet through the command line: the switch between cards and stacks
(hvia.md 4, T-38), M-VIA's spinning (T-42), frames ahead (T-40), faults."""
import os
import struct
import sys
import tempfile
import unittest
import zlib

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import execute, points

SIZES = [1, 4, 16, 64, 256, 1024, 1472, 2048, 4096, 8192, 10000, 65536,
         262144, 1048576]


def curve(name, metric, *sets):
    return [r["n0.prog0." + metric] for r in points("hvia/" + name, *sets)]


def packets(name):
    """Bytes of the enhanced packet blocks of a pcapng file."""
    with open(name, "rb") as f:
        d = f.read()
    at = 0
    while at < len(d):
        kind, length = struct.unpack_from("<II", d, at)
        if kind == 6:
            n = struct.unpack_from("<I", d, at + 20)[0]
            yield d[at + 28:at + 28 + n]
        at += length


def ones(p):
    """Sum of RFC 1071; 0xffff: it is right."""
    s = sum(struct.unpack(">%dH" % (len(p) // 2), p[:len(p) & ~1]))
    s += p[-1] << 8 if len(p) % 2 else 0
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return s


class Capture(unittest.TestCase):
    def test_capture_of_tcp_holds_valid_segments(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "x.pcapng")
            r = execute(
                "run", "hvia/tcpip", "--set", "sweep=none",
                "--set", "workload.size=3000", "--set", "workload.count=1",
                "--capture", "all", "--capture-file", name)
            self.assertEqual(r.returncode, 0, r.stderr)
            seen = list(packets(name))
        self.assertEqual(len(seen), 2 * 2 * 3)  # ways, rounds, segments
        streams = {}
        for p in seen:
            frame, fcs = p[:-4], struct.unpack("<I", p[-4:])[0]
            self.assertEqual(zlib.crc32(frame), fcs)
            self.assertEqual(frame[12:14], b"\x08\x00")
            total = struct.unpack_from(">H", frame, 16)[0]
            ip = frame[14:14 + total]
            self.assertEqual(ones(ip[:20]), 0xffff)
            pseudo = ip[12:20] + struct.pack(">HH", 6, total - 20)
            self.assertEqual(ones(pseudo + ip[20:]), 0xffff)
            seq = struct.unpack_from(">I", ip, 24)[0]
            streams.setdefault(ip[12:16], []).append((seq, total - 52))
        self.assertEqual(list(streams.values()), 2 * [
            [(0, 1448), (1448, 1448), (2896, 104),
             (3000, 1448), (4448, 1448), (5896, 104)]])


class HotSpot(unittest.TestCase):
    def test_hot_spot_drops_frames_or_pauses_sources(self):
        for r in points("ethernet/hot-spot"):
            pause = "full=pause" in r.point
            self.assertEqual(r["t0.received"] + r["s0.dropped"], 3000)
            if pause:
                self.assertEqual(r["s0.dropped"], 0)
            else:
                # 346 fit; one of three leaves as they come
                self.assertGreater(r["s0.dropped"], 1600)
            self.assertEqual(r["t0.lost"] <= r["s0.dropped"], True)
            self.assertLessEqual(r["s0.buffer_peak"], 512 * 1024)


class Tree(unittest.TestCase):
    def test_tree_learns_its_stations(self):
        r = points("ethernet/tree")[0]
        self.assertEqual(sum(r.all("t", ".received")), 6 * 500)
        self.assertLess(sum(r.all("", ".flooded")), 30)


class ThroughSwitch(unittest.TestCase):
    def test_switch_adds_the_documented_time(self):
        """T-38: the documented amount more than over a cable, by the bus
        clocks (15 ns) that an arrival may wait for."""
        through = points("ethernet/through-switch")
        direct = {r.point.split()[-1]: r for r in points("hvia/stacks")
                  if "hvia.nic" in r.point}
        self.assertEqual(len(through), 6)
        for r in through:
            mode, size = [x.split("=")[1] for x in r.point.split()]
            if size == "1472":
                continue  # not among the others
            more = r["n0.prog0.half_rtt"] - \
                direct["workload.size=" + size]["n0.prog0.half_rtt"]
            # the last frame of 64 KB has 42 + 768 bytes
            bytes_ = {"4": 60, "65536": 42 + 65536 % 1472}[size]
            frame = (8 + bytes_ + 4) * 8 if mode == "store" else 22 * 8
            if mode == "store" and size == "65536":
                # ... and waits for the full one that came 13,115 ns earlier
                frame = 12208 + 12304 - 13115
            self.assertAlmostEqual(more, frame + 1500 + 410, delta=40)
            self.assertEqual(r["s0.dropped"], 0)


class Stacks(unittest.TestCase):
    def test_fewer_polls_move_the_knee(self):
        """T-42: with a tenth of the polls the knee is at smaller sizes."""
        many = curve("mvia", "utilisation")
        few = curve("mvia", "utilisation", "mvia.pingpong.polls=5000")
        knee = [next(n for n, u in zip(SIZES, c) if u < 95)
                for c in (many, few)]
        self.assertEqual(knee[0], 4096)
        self.assertEqual(knee[1], 1)
        # saturated they are alike
        self.assertAlmostEqual(many[-1], few[-1], delta=1)

    def test_fetching_ahead_reaches_the_line_rate(self):
        """A NIC that fetches ahead is bound by the line, 119.6 MB/s."""
        r = points("hvia/mvia", "eth.nic.ahead=1",
                   "workload.size=1048576")[0]
        self.assertAlmostEqual(r["n0.prog0.bandwidth"], 119, delta=1)

    def test_short_message_is_one_frame_each_way(self):
        r = points("hvia/tcpip", "workload.size=4")[0]
        self.assertEqual(r["n0.nic.tx_frames"], 11)  # one to begin with
        self.assertEqual(r["n1.nic.rx_frames"], 11)
        self.assertEqual(r["n0.nic.missed"], 0)

    def test_tcp_repeats_lost_frames(self):
        """Frames that are lost, damaged or come twice, both ways: the program
        compares all bytes of all messages."""
        for seed in range(1, 7):
            r = points("hvia/tcpip-loss", "seed=%d" % seed)
            for p in r:
                self.assertGreater(p["n0.prog0.bandwidth"], 0)
                self.assertGreater(p["n0.nic.crc"] + p["n1.nic.crc"], 0)
                # 11 messages of 70 segments
                self.assertGreater(p["n0.nic.tx_frames"], 11 * 70)

    def test_lost_message_ends_a_run_of_mvia(self):
        for size, why in ("4", "nothing came within timeout"), \
                ("100000", "bytes are missing"):
            r = execute("run", "hvia/tcpip-loss", "--set",
                        "workload.program=mvia.pingpong", "--set",
                        "workload.count=200", "--set", "workload.size=" + size)
            self.assertEqual(r.returncode, 1, r.stderr)
            self.assertIn(why, r.stderr)
            self.assertIn("M-VIA does not repeat it", r.stderr)

    def test_cut_line_is_named_at_both_ends(self):
        r = execute("run", "hvia/tcpip-loss", "--set", "faults.0.packets=1")
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("n0.prog0: message 0: the peer does not acknowledge",
                      r.stderr)
        # no reset reaches the receiver: it asks, and nothing answers
        self.assertIn("n1.prog0: message 0: nothing came for two hours",
                      r.stderr)
        self.assertNotIn("still waits", r.stderr)

    def test_reset_reaches_the_receiver(self):
        """Acknowledgements are lost, data and the reset are not."""
        r = execute("run", "hvia/tcpip-loss", "--set", "faults.1.packets=1")
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("n0.prog0: message 0: the peer does not acknowledge",
                      r.stderr)
        self.assertIn("n1.prog0: message 1: the peer has given up and reset",
                      r.stderr)
        self.assertNotIn("still waits", r.stderr)


if __name__ == "__main__":
    unittest.main()
