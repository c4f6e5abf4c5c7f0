#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures: the file is what pcapng says, records are in order and hold what
was on the line, and the run is the one without a capture.

    test_capture.py WEFT [unittest options]
"""
import collections
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv[1])


def run(*args, status=0):
    p = subprocess.run([WEFT, "run", *args, "--format", "json", "--quiet"],
                       capture_output=True, text=True, timeout=120)
    if p.returncode != status:
        raise AssertionError(f"{args}: status {p.returncode}\n{p.stderr}")
    return p


def options(body):
    out, at = {}, 0
    while at < len(body):
        code, n = struct.unpack_from("<HH", body, at)
        if not code:
            break
        out[code] = body[at + 4:at + 4 + n]
        at += 4 + (n + 3) // 4 * 4
    return out


def blocks(data):
    at = 0
    while at < len(data):
        kind, n = struct.unpack_from("<II", data, at)
        assert n % 4 == 0 and struct.unpack_from("<I", data, at + n - 4)[0] == n
        yield kind, data[at + 8:at + n - 4]
        at += n
    assert at == len(data)


class Record:
    """One transmission; docs/captures.md."""

    def __init__(self, data):
        (self.version, self.wire, self.flags, self.more, self.n, self.words,
         self.word_ps, self.line) = struct.unpack_from("<BBBBIIII", data)
        self.cut = self.flags & 4
        if self.cut:
            self.sym = data[20:]
            assert not self.flags & 3 and 0 < len(self.sym) < self.n
            return
        self.sym = data[20:20 + self.n]
        maps = (self.n + 7) // 8
        self.control = data[20 + self.n:20 + self.n + maps]
        size = 20 + self.n + maps * (2 if self.flags & 2 else 1)
        assert size == len(data), (size, len(data))

    def controls(self, n):
        """The first n symbols are of the control kind, and no others."""
        return self.control == bytes([(1 << n) - 1]) + bytes(
            len(self.control) - 1)


class Capture:
    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        self.ifaces, self.records, self.times = [], [], []
        self.lengths = []  # on the line
        for i, (kind, body) in enumerate(blocks(data)):
            assert (kind == 0x0a0d0d0a) == (i == 0)
            if kind == 1:
                opt = options(body[8:])
                self.digits = opt[9][0]  # of a second's fraction
                self.ifaces.append((struct.unpack_from("<H", body)[0],
                                    opt[2].decode(), opt[3].decode()))
            elif kind == 6:
                iface, hi, lo, n, orig = struct.unpack_from("<IIIII", body)
                assert n <= orig and iface < len(self.ifaces)
                self.lengths.append(orig)
                self.times.append(hi << 32 | lo)
                self.records.append((iface, body[20:20 + n]))


def captured(*args, what=("all",)):
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "x.pcapng")
        opts = [x for w in what for x in ("--capture", w)]
        p = run(*args, *opts, "--capture-file", path)
        return p, Capture(path)


def without_taps(p):
    r = json.loads(p.stdout)
    r["manifest"] = {k: v for k, v in r["manifest"].items()
                     if not k.startswith("~capture")}
    return r


SLOW = """
name: slow
traffic: { type: eth.gen, count: 2, stations: 2, frames: 20, load: 0.01 }
fabric: { type: direct, link: { type: eth.cable } }
run: { until: 30ms }
"""


class Files(unittest.TestCase):
    def check(self, name, wire, *args):
        p, cap = captured(name, *args)
        self.assertEqual(without_taps(p), without_taps(run(name, *args)))
        self.assertEqual(cap.times, sorted(cap.times))
        self.assertGreater(len(cap.records), 50)
        for (iface, data), orig in zip(cap.records, cap.lengths):
            self.assertEqual(cap.ifaces[iface][0], 147)
            self.assertEqual(Record(data).cut != 0, len(data) < orig)
            self.assertEqual(Record(data).wire, wire)
            self.assertEqual(Record(data).line, iface)
        for i, (_, name, _) in enumerate(cap.ifaces):
            self.assertEqual(cap.ifaces[i ^ 1][1],
                             " > ".join(reversed(name.split(" > "))))
        return p, cap

    def test_forth_records_begin_with_two_control_symbols(self):
        _, cap = self.check("forth/one-way", 1)
        names = [i[1] for i in cap.ifaces]
        self.assertEqual(len(names), len(set(names)))
        ends = {tuple(n.split(" > ")) for n in names}
        self.assertEqual(ends, {(b, a) for a, b in ends})
        # K28.5 and one more begin whatever comes.
        self.assertTrue(all(Record(d).controls(2) for _, d in cap.records))
        # A packet: K28.5 .. SOP, a header of 64 bits, CRCs; most are full.
        long = [Record(d) for _, d in cap.records if len(d) > 400]
        self.assertGreater(len(long), 50)
        self.assertTrue(all(r.flags == 0 for r in long))

    def test_capture_changes_no_result_of_a_network(self):
        """Nothing but lines and switches, cut off in the middle."""
        self.check("forth/benes", 1, "--set", "sweep=none", "--set",
                   "traffic.size=24", "--set", "traffic.warmup=1us", "--set",
                   "run.until=20us")

    def test_capture_changes_no_result_of_a_torus(self):
        self.check("extoll/net-torus", 2, "--set", "sweep=none", "--set",
                   "fabric.net.measure=300")

    def cut(self, *args):
        """Without payload: records whole in times and lengths, cut behind
        the headers; what is there is what was there with it."""
        seen = []
        for payload in "none", "carried":
            _, cap = self.check(*args, "--set", "payload=" + payload)
            seen.append(sorted(((t, i, n, Record(d)) for t, n, (i, d) in
                                zip(cap.times, cap.lengths, cap.records)),
                               key=lambda r: r[:2]))
        none, carried = seen
        self.assertEqual([r[:3] for r in none], [r[:3] for r in carried])
        heads = collections.Counter()
        for a, b in zip(none, carried):
            a, b = a[3], b[3]
            self.assertFalse(b.cut)
            self.assertEqual(a.n, b.n)
            self.assertEqual(a.sym, b.sym[:len(a.sym)])
            if a.cut:
                heads[len(a.sym), a.n] += 1
        return heads

    def test_forth_records_without_payload_end_behind_headers(self):
        heads = self.cut("forth/benes", 1, "--set", "sweep=none", "--set",
                         "traffic.warmup=1us", "--set", "run.until=20us")
        # delimiter and slot, header, its CRC; 512 bytes and their CRC
        self.assertGreater(heads[16, 16 + 516], 50)
        self.assertTrue(all(n - k == 516 for k, n in heads))

    def test_extoll_records_without_payload_end_behind_headers(self):
        heads = self.cut("extoll/net-torus", 2, "--set", "sweep=none", "--set",
                         "fabric.net.measure=100", "--set", "traffic.verify=no")
        # start, CTL, SEQ and LEN, route, H0; 64 bytes in two cells, CRCs
        self.assertEqual(set(heads), {(16, 16 + 52 + 4), (4, 4 + 12 + 4)})

    def test_extoll_records_begin_with_one_control_symbol(self):
        _, cap = self.check("extoll/alltoall", 2)
        starts = set()
        for _, data in cap.records:
            r = Record(data)
            self.assertTrue(r.controls(1))
            starts.add(r.sym[0])
            self.assertEqual(r.more & 15, 1)
        self.assertEqual(starts, {0xfb, 0x3c})  # cells and control cells

    def test_idle_fault_changes_no_record(self):
        """A listener records the frames that a line carries when a fault that
        never acts sits on it, except refreshes of EXTOLL's credits."""
        here = os.path.dirname(os.path.abspath(__file__))
        systems = f"{here}/../../src/systems"
        for file, ports, sets in (
                ("forth/experiments/three-to-one", "s*.port*",
                 ["workload.count=20"]),
                ("extoll/experiments/alltoall", "s*.lp*",
                 ["workload.count=5"])):
            with open(f"{systems}/{file}.yaml") as f:
                text = f.read().split("\nexpect:")[0]
            args = [x for s in sets for x in ("--set", s)]
            seen = []
            for fault in ("", f"faults: {{on: '{ports}', type: fault.delay}}"):
                with tempfile.TemporaryDirectory() as d:
                    path = os.path.join(d, "x.yaml")
                    with open(path, "w") as f:
                        f.write(text + "\n" + fault)
                    _, cap = captured(path, *args)
                seen.append(sorted(
                    (t, cap.ifaces[i][1], d)
                    for t, (i, d) in zip(cap.times, cap.records)
                    if not (Record(d).sym[0] == 0x3c
                            and 0x18 <= Record(d).sym[1] < 0x1c)))
            self.assertGreater(len(seen[0]), 500)
            self.assertEqual(seen[0], seen[1])

    def test_damaged_records_are_those_of_the_fault(self):
        p, cap = captured("forth/fault-header", "--set", "sweep=none")
        hit = json.loads(p.stdout)["counters"]["fault0.hit"]
        seen = sum(Record(d).flags & 1 for _, d in cap.records)
        self.assertGreater(hit, 0)
        self.assertEqual(seen, hit)

    def test_times_beyond_18_ms_stay_exact(self):
        """Wireshark multiplies the fraction of a second by 10^9 in 64 bits
        and divides by the unit: what it makes of a time is the time."""
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.yaml")
            with open(path, "w") as f:
                f.write(SLOW)
            _, cap = captured(path)
        unit = 10 ** cap.digits
        seen = [t // unit * 10 ** 9
                + t % unit * 10 ** 9 % 2 ** 64 // unit for t in cap.times]
        self.assertEqual(seen, sorted(seen))
        # 20 frames of 1526 bytes and gap, at a hundredth of the line
        step = (8 + 1514 + 4 + 12) * 8 * 100
        self.assertEqual(seen[-1] - seen[0], 19 * step)
        self.assertGreater(seen[-1], 20 * 10 ** 6)

    def test_capture_holds_the_chosen_lines_only(self):
        _, cap = captured("extoll/alltoall", what=["s0.lp0", "s3.lp*"])
        self.assertEqual(len(cap.ifaces), 8)
        self.assertTrue(all("s0.lp0" in n or "s3.lp" in n
                            for _, n, _ in cap.ifaces))


class Limit(unittest.TestCase):
    """A file ends near its limit, whole; the run does not."""
    ARGS = ("forth/uniform", "--set", "workload.count=30")
    LIMIT = 300000

    def limited(self, option, path, *more):
        p = run(*self.ARGS, option, path, *more, status=2)
        self.assertIn(f"{path}: more than {self.LIMIT} bytes: the file ends "
                      "early: --file-limit SIZE allows more", p.stderr)
        return p

    def test_capture_ends_whole_near_its_limit(self):
        with tempfile.TemporaryDirectory() as d:
            whole, part = (os.path.join(d, n) for n in "ab")
            p = run(*self.ARGS, "--capture", "all", "--capture-file", whole)
            q = self.limited("--capture-file", part, "--capture", "all",
                             "--file-limit", str(self.LIMIT))
            self.assertEqual(without_taps(p), without_taps(q))
            self.assertEqual(p.stderr, "")
            a, b = Capture(whole), Capture(part)
            n = len(b.records)
            self.assertGreater(len(a.records), n + 1000)
            self.assertEqual((a.records[:n], a.times[:n]),
                             (b.records, b.times))
            self.assertTrue(self.LIMIT <= os.path.getsize(part) < 1 << 20)

    def test_timeline_ends_whole_near_its_limit(self):
        with tempfile.TemporaryDirectory() as d:
            part = os.path.join(d, "a")
            p = run(*self.ARGS)
            q = self.limited("--trace", part, "--file-limit", str(self.LIMIT))
            self.assertEqual(p.stdout, q.stdout)
            with open(part) as f:
                self.assertGreater(len(json.load(f)["traceEvents"]), 1000)
            self.assertTrue(self.LIMIT <= os.path.getsize(part) < 1 << 20)


class Misuse(unittest.TestCase):
    def message(self, *args):
        with tempfile.TemporaryDirectory() as d:
            return run(*args, "--capture-file", os.path.join(d, "x"),
                       status=2).stderr

    def test_unknown_line_is_refused_with_an_example(self):
        self.assertRegex(self.message("forth/one-way", "--capture", "n9.*"),
                         r"no line ends there: .*'[a-z0-9]+\.[a-z0-9.]+'")

    def test_capture_file_needs_a_capture(self):
        self.assertIn("needs --capture", self.message("forth/one-way"))

    def test_capture_of_several_runs_is_refused(self):
        self.assertIn("several", self.message("forth/load", "--capture",
                                              "all"))

    def test_missing_folder_is_named(self):
        p = run("forth/one-way", "--capture", "all", "--capture-file",
                "/no/such/folder/x", status=2)
        self.assertIn("/no/such/folder/x", p.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
