#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""share/wireshark with tshark: captures of real runs of every wire format
decode without a malformed packet, fields are the model's, CRCs right; a run
with faults shows exactly those.

    test_wireshark.py WEFT ROOT [unittest options]
"""
import collections
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from weftlib import ROOT, Run, execute

SCRIPT = os.path.join(ROOT, "share", "wireshark", "weft.lua")
ERROR = str(0x800000)
ALWAYS = ["frame.number", "frame.interface_name", "_ws.malformed",
          "_ws.lua.error", "_ws.expert.severity", "_ws.expert.message"]
MASK = (1 << 64) - 1


def tshark(path, fields, *more, home=None):
    """Rows of field -> list of values.  home: our files are there already."""
    names = ALWAYS + fields
    args = ["tshark", "-r", path, "-T", "fields", "-E", "separator=|", "-E",
            "aggregator=;", *more]
    if not home:
        args += ["-X", "lua_script:" + SCRIPT]
    for n in names:
        args += ["-e", n]
    p = subprocess.run(args, capture_output=True, text=True, timeout=120,
                       env=dict(os.environ, HOME=home) if home else None)
    if p.returncode or "Lua" in p.stderr or "aren't valid" in p.stderr:
        raise AssertionError(p.stderr)
    return [{n: v.split(";") if v else [] for n, v in
             zip(names, line.split("|"))} for line in p.stdout.splitlines()]


def mix(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def pattern(src, dst, seq, n):
    """n bytes as the programs of src/programs write them."""
    base = mix(mix(src << 32 | dst) + seq + 1)
    words = [(base + i * 0x9E3779B97F4A7C15) & MASK for i in range(n // 8 + 1)]
    return b"".join(struct.pack("<Q", w) for w in words)[:n]


def value(row, name):
    return int(row[name][0], 0)


def payload(row, name):
    return bytes.fromhex(row[name][0])


@unittest.skipUnless(shutil.which("tshark"),
                     "tshark is not installed (scripts/deps.sh check)")
class Captured(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def run_(self, what, *sets):
        """An experiment by name, or its text."""
        name = what
        if "\n" in what:
            name = os.path.join(self.dir.name, "x.yaml")
            with open(name, "w") as f:
                f.write(what)
        path = os.path.join(self.dir.name, "x.pcapng")
        args = ["run", name, "--format", "json", "--quiet", "--capture", "all",
                "--capture-file", path]
        for s in sets:
            args += ["--set", s]
        p = execute(*args)
        self.assertIn(p.returncode, (0, 1), p.stderr)  # 1: a figure of a
        self.path = path                               # longer run
        return Run(json.loads(p.stdout))

    def rows(self, *fields, two_passes=False):
        rows = tshark(self.path, list(fields), *(["-2"] if two_passes else []))
        self.assertGreater(len(rows), 10)
        for r in rows:
            self.assertFalse(r["_ws.malformed"] or r["_ws.lua.error"], r)
        return rows

    def clean(self, rows):
        for r in rows:
            self.assertEqual(r["_ws.expert.severity"], [], r)

    def errors(self, rows):
        """Frames with an error, by line."""
        return collections.Counter(
            r["frame.interface_name"][0] for r in rows
            if ERROR in r["_ws.expert.severity"])


class Files(Captured):
    def test_installed_plugins_load_by_themselves(self):
        """In a folder of plugins, as make install leaves them: every file is
        loaded by itself, too."""
        plugins = pathlib.Path(self.dir.name,
                               ".local/lib/wireshark/plugins/weft")
        plugins.mkdir(parents=True)
        shutil.copy(SCRIPT, plugins)
        for build in pathlib.Path(ROOT).glob("src/systems/*/meson.build"):
            listed = re.findall(r"'(weft_\w+\.lua)': files\('(\w+\.lua)'\)",
                                build.read_text())
            self.assertEqual({file for _, file in listed},
                             {f.name for f in build.parent.glob("*.lua")})
            for name, file in listed:
                shutil.copy(build.parent / file, plugins / name)
        self.assertEqual(len(list(plugins.iterdir())), 7)
        self.run_("extoll/pingpong-16", "workload.count=2")
        rows = tshark(self.path, ["velo.length"], home=self.dir.name)
        self.assertEqual(sum(r["velo.length"] == ["8"] for r in rows), 4)


SLOW = """
name: slow
traffic: { type: eth.gen, count: 2, stations: 2, frames: 20, load: 0.01 }
fabric: { type: direct, link: { type: eth.cable } }
run: { until: 30ms }
"""


class Times(Captured):
    def test_times_beyond_18_ms_stay_exact(self):
        """Order and duration of a capture of 23 ms; a frame of each station
        every 1538 bytes' time x 100."""
        self.run_(SLOW)
        rows = self.rows("frame.time_relative", "eth.src")
        at = [float(r["frame.time_relative"][0]) for r in rows]
        self.assertEqual(len(at), 40)
        self.assertEqual(at, sorted(at))
        for i, t in enumerate(at):
            self.assertAlmostEqual(t, i // 2 * 1538 * 8e-7, delta=1e-9)


class Forth(Captured):
    def check(self, *args):
        """Packets and qwords by line are those of the NICs' counters."""
        c = self.run_(*args)
        rows = self.rows("forth.flow", "forth.size", "forth.payload",
                         "forth.outstanding", "forth.body_crc")
        self.clean(rows)
        sent = [r for r in rows if r["forth.flow"]]
        for node in 0, 1:
            mine = [r for r in sent if r["frame.interface_name"][0]
                    .startswith("n%d." % node)]
            self.assertEqual(len(mine), c["n%d.nic.packets_out" % node])
            self.assertEqual(sum(value(r, "forth.size") for r in mine),
                             c["n%d.nic.qwords_out" % node])
            self.assertTrue(all(value(r, "forth.flow") == 1 - node
                                for r in mine))
        for r in sent:
            self.assertEqual(len(payload(r, "forth.payload")),
                             8 * value(r, "forth.size"))
        for r in rows:
            self.assertTrue(all(0 <= int(x) <= 4095
                                for x in r["forth.outstanding"]))
        return sent

    def test_packets_of_two_links_are_those_counted(self):
        self.check("forth/two-links", "workload.0.count=20")

    def test_packets_of_four_links_are_those_counted(self):
        sent = self.check("forth/bundle", "sweep=none", "workload.stream=20")
        zero = [r for r in sent if value(r, "forth.size") == 512]
        self.assertEqual({r["forth.body_crc"][0] for r in zero
                          if not any(payload(r, "forth.payload"))},
                         {"0x77ffc71c"})  # forth.md 4.4

    def test_padded_packet_shows_its_own_size(self):
        """Short payloads are 24 bytes on the line, no whole beats."""
        sent = self.check("forth/multi-skew", "workload.0.count=3")
        self.assertIn(["1"], [r["forth.size"] for r in sent])

    def test_payload_is_what_the_program_sent(self):
        for layout in "word", "packed":
            self.check("forth/pingpong-direct", "sweep=none",
                       "workload.count=5", "workload.size=64",
                       "forth.nic.links=1", "forth.nic.frame=" + layout)
            sent = [r for r in self.rows("forth.payload", "forth.size")
                    if r["forth.size"] == ["8"]]
            seen = [payload(r, "forth.payload") for r in sent]
            self.assertEqual(seen, [pattern(0, 1, i // 2, 64)
                                    for i in range(10)])

    def test_packets_behind_a_switch_are_those_counted(self):
        c = self.run_("forth/one-way", "workload.count=40")
        rows = self.rows("forth.flow")
        self.clean(rows)
        for node in range(4):
            here = [r for r in rows if r["forth.flow"] and
                    r["frame.interface_name"][0].endswith("> n%d.nic.link0"
                                                          % node)]
            self.assertEqual(len(here), c["n%d.nic.packets_in" % node])
            self.assertTrue(all(r["forth.flow"] == [str(node)] for r in here))

    def test_errors_are_those_of_the_fault(self):
        """Rates for what a CRC guards; one bit of a credit is its parity
        (two, or its first one, can be missed)."""
        rate, one = ("rate=3e-3",), ("rate=0", "frame=3", "count=7", "bit=5")
        for target, how, text in (
                ("header", rate, "Header CRC is wrong"),
                ("body", rate, "Body CRC is wrong"),
                ("credit", one, "Credit with wrong parity")):
            c = self.run_("forth/fault-header", "sweep=none", "run.until=300us",
                          "traffic.packets=40", "faults.target=" + target,
                          *("faults." + x for x in how))
            rows = self.rows("weft.damaged")
            hit = c["fault0.hit"]
            self.assertGreater(hit, 3)
            line = "t1.link > s0.port1"
            self.assertEqual(self.errors(rows)[line], hit, target)
            for r in rows:
                bad = ERROR in r["_ws.expert.severity"]
                if r["frame.interface_name"] == [line]:
                    self.assertEqual(bad, r["weft.damaged"] == ["1"], r)
                if bad:
                    self.assertIn(text, r["_ws.expert.message"])
            if target != "body":  # those go on to their destination
                self.assertEqual(sum(self.errors(rows).values()), hit)


class Extoll(Captured):
    def velo(self, nodes):
        rows = self.rows("velo.check", "velo.length", "velo.payload",
                         "velo.tag", "velo.source", "extoll.route",
                         "extoll.outstanding", "extoll.unacked")
        self.clean(rows)
        last = [r for r in rows if r["extoll.route"] == ["0"]]
        for r in rows:
            for x in r["extoll.unacked"]:
                self.assertLessEqual(int(x), 32)
            for x in r["extoll.outstanding"]:
                self.assertTrue(0 <= int(x) <= 64)
        for n in range(nodes):
            self.assertEqual(sum(value(r, "velo.check") == n for r in last),
                             self.c["n%d.nic.velo_received" % n])
        return last

    def test_messages_are_what_the_programs_sent(self):
        self.c = self.run_("extoll/alltoall", "workload.count=10")
        seen = collections.Counter()
        for r in self.velo(8):
            pair = value(r, "velo.source"), value(r, "velo.check")
            self.assertEqual(payload(r, "velo.payload"),
                             pattern(*pair, seen[pair],
                                     value(r, "velo.length")))
            seen[pair] += 1
        self.assertEqual(set(seen.values()), {10})

    def test_frames_of_16_bit_links_are_dissected(self):
        self.c = self.run_("extoll/pingpong-16", "workload.count=20")
        self.assertEqual(len(self.velo(2)), 40)

    def test_gets_are_paired_with_their_answers(self):
        for width in "w16", "w32":
            c = self.run_("extoll/rma-get-bw", "workload.count=6",
                          "nodes.nic.width=" + width,
                          "fabric.switch.width=" + width)
            rows = self.rows("rma.command", "rma.request", "rma.response",
                             "rma.payload", "rma.time", "extoll.cells",
                             two_passes=True)
            self.clean(rows)
            asked = [r for r in rows if r["rma.command"] == ["1"]]
            given = [r for r in rows if r["rma.command"] == ["11"]]
            self.assertEqual(len(asked), c["n0.nic.rma_commands"])
            self.assertEqual(sum(len(payload(r, "rma.payload"))
                                 for r in given), c["n0.nic.rma_write_bytes"])
            self.assertEqual([(r["frame.number"], r["rma.response"])
                              for r in asked],
                             [(r["rma.request"], r["frame.number"])
                              for r in given])
            step = struct.unpack_from("<QQ", payload(given[0], "rma.payload"))
            self.assertEqual((step[1] - step[0]) & MASK, 0x9E3779B97F4A7C15)

    def test_answers_to_locks_name_their_requests(self):
        c = self.run_("extoll/rma-lock", "workload.count=2")
        rows = self.rows("rma.command", "rma.request", "extoll.route")
        self.clean(rows)
        at_home = [r for r in rows if r["rma.command"] == ["12"] and
                   len(r["extoll.route"][0].split()) == 1]
        answers = [r for r in rows if r["rma.command"] == ["13"]]
        self.assertLessEqual(len(at_home), c["n0.nic.rma_locks"])
        self.assertGreater(len(at_home), 50)  # node 0 asks itself
        self.assertTrue(all(r["rma.request"] for r in answers))

    def test_errors_are_those_of_the_fault(self):
        for width in "w16", "w32":
            c = self.run_(FAULTS_EXTOLL % (width, width))
            rows = self.rows("weft.damaged")
            hits = sum(v for k, v in c.counters.items()
                       if k.startswith("fault") and k.endswith(".hit"))
            self.assertGreater(hits, 20)
            self.assertEqual(sum(self.errors(rows).values()), hits)
            for r in rows:
                self.assertEqual(ERROR in r["_ws.expert.severity"],
                                 r["weft.damaged"] == ["1"], r)
            again = sum("Sent again" in r["_ws.expert.message"] for r in rows)
            self.assertGreaterEqual(again, 10)


FAULTS_EXTOLL = """
nodes:
  count: 2
  host: { type: host.pc, preset: opteron }
  bus: { type: bus.ht }
  nic: { type: extoll.nic, width: %s }
fabric:
  type: mesh
  dims: [2]
  switch: { type: extoll.xbar, width: %s }
  link: { type: extoll.cable }
workload:
  - { program: extoll.rma_put_bw, count: 10, size: 4096 }
faults:
  - { on: "s*.lp*", type: fault.bits, rate: 5e-5 }
"""


class HostPort(Captured):
    FIELDS = ("hostport.name", "hostport.dtag", "hostport.hpid",
              "hostport.payload", "hostport.request", "extoll.route",
              "hostport.cmd.ack", "hostport.size")

    def last_hop(self, c, nodes, inside=0):
        """Packets in and out of each node are those on the lines, and
        `inside`: to itself through its own crossbar."""
        rows = self.rows(*self.FIELDS)
        self.clean(rows)
        rows = [r for r in rows if r["hostport.name"]]
        last = [r for r in rows if len(r["extoll.route"][0].split()) == 1]
        for n in range(nodes):
            me = [str(n + 1)]
            self.assertEqual(sum(r["hostport.dtag"] == me for r in last),
                             c["n%d.nic.packets_in" % n] - inside)
            self.assertEqual(sum(r["hostport.hpid"] == me and
                                 r["frame.interface_name"][0]
                                 .startswith("s%d." % n) for r in rows),
                             c["n%d.nic.packets_out" % n] - inside)
        return last

    def test_ultra_packets_carry_what_the_program_sent(self):
        c = self.run_("hostport/ultra-pingpong", "workload.count=10",
                      "workload.size=16")
        last = self.last_hop(c, 2)
        self.assertEqual(len(last), 20)
        self.assertEqual({r["hostport.name"][0] for r in last}, {"ULTRA_SEND"})
        for i, r in enumerate(last):
            me = i % 2
            self.assertEqual(payload(r, "hostport.payload")[8:],
                             pattern(me, 1 - me, i // 2, 16)[8:])

    def test_each_crossbar_takes_one_hop_off(self):
        self.run_("hostport/ultra-pingpong", "nodes.count=4",
                  "fabric.dims=[4]", "workload.count=1", "workload.partner=3")
        rows = self.rows("extoll.route", "hostport.way", "hostport.name")
        ways = [r["extoll.route"][0] for r in rows if r["hostport.name"]]
        self.assertEqual(ways[:3], ["42 01", "41 01", "01"])
        self.assertEqual(ways[3:6], ["52 01", "51 01", "01"])
        self.assertEqual([r["hostport.way"][0] for r in rows
                          if r["hostport.name"]],
                         [w.replace(" ", "") for w in ways])

    def test_answers_name_their_requests(self):
        c = self.run_("hostport/ep-traffic", "workload.1.count=3",
                      "workload.1.size_max=4096", "workload.1.to=others")
        last = self.last_hop(c, 8, inside=1)
        names = collections.Counter(r["hostport.name"][0] for r in last)
        self.assertGreater(names["GET"], 0)
        self.assertEqual(names["GET"], names["GET_RESPONSE"])
        for r in last:
            if r["hostport.name"][0].endswith("_RESPONSE"):
                self.assertTrue(r["hostport.request"], r)
        # every request names the first owner, and every answer its sender's
        rows = self.rows("hostport.name", "hostport.owner", "hostport.epoch",
                         "hostport.epoch_back")
        for r in (r for r in rows if r["hostport.name"]):
            name = r["hostport.name"][0]
            answer = name == "ACK" or name.endswith("_RESPONSE")
            self.assertEqual(r["hostport.owner"],
                             [] if name == "ACK" else [str(int(not answer))])
            self.assertEqual(r["hostport.epoch_back" if name == "ACK" else
                               "hostport.epoch"], ["1"])


class Atoll(Captured):
    def test_packets_carry_what_the_program_sent(self):
        c = self.run_("hostport/atoll-pingpong", "workload.count=10")
        rows = self.rows("atoll.bytes", "atoll.payload", "atoll.source")
        self.clean(rows)
        whole = [r for r in rows if r["atoll.bytes"]]
        self.assertEqual(len(whole), c["n0.nic.sent"] + c["n1.nic.sent"])
        for i, r in enumerate(whole):
            self.assertEqual(value(r, "atoll.source") // 4, i % 2)
            self.assertEqual(payload(r, "atoll.payload"),
                             pattern(i % 2, 1 - i % 2, i // 2, 8))

    def test_errors_are_those_of_the_fault(self):
        c = self.run_(FAULTS_ATOLL)
        rows = self.rows("weft.damaged")
        hits = sum(v for k, v in c.counters.items()
                   if k.startswith("fault") and k.endswith(".hit"))
        self.assertGreater(hits, 10)
        self.assertEqual(sum(self.errors(rows).values()), hits)
        self.assertEqual(sum(r["weft.damaged"] == ["1"] for r in rows), hits)


FAULTS_ATOLL = """
nodes:
  count: 2
  host: { type: host.pc }
  bus: { type: bus.pcix }
  nic: { type: atoll.nic, timeout: 2000 }
fabric:
  type: list
  link: { type: link.cable, delay: 27.5ns }
  cables:
    - [n0.nic.link0, n1.nic.link1]
workload:
  - { program: atoll.pingpong, count: 20, size: 1024, mode: dma }
faults:
  - { on: "n*.nic.link*", type: fault.bits, target: body, rate: 1e-4 }
  - { on: "n*.nic.link*", type: fault.bits, target: credit, rate: 1e-3 }
"""


class Ethernet(Captured):
    def test_hvia_frames_form_the_messages_sent(self):
        for name, kind in ("hvia/latency", "0"), ("hvia/rdma", "1"):
            c = self.run_(name, "sweep=none", "workload.size=4096")
            rows = self.rows("hvia.type", "hvia.data", "hvia.first",
                             "hvia.last", "hvia.request", "hvia.seq",
                             "hvia.length", "hvia.whole", two_passes=True)
            self.clean(rows)
            for n in 0, 1:
                mine = [r for r in rows if r["frame.interface_name"][0]
                        .startswith("n%d." % n)]
                data = [r for r in mine if r["hvia.type"] == [kind]]
                self.assertEqual(len(data), c["n%d.nic.tx_packets" % n])
                self.assertEqual(len(mine) - len(data),
                                 c["n%d.nic.kernel_tx" % n])
                self.messages(data, n, c["n%d.nic.sent" % n])
            answers = [r for r in rows if value(r, "hvia.type") > 8]
            self.assertTrue(answers and all(r["hvia.request"]
                                            for r in answers))

    def messages(self, data, node, count):
        whole, got = [], b""
        for r in data:
            got += payload(r, "hvia.data")
            if value(r, "hvia.last"):
                self.assertEqual(r["hvia.whole"], r["frame.number"])
                whole.append(got)
                got = b""
        self.assertEqual(len(whole), count)
        for seq, m in enumerate(whole):
            want = pattern(node, 1 - node, seq, 4095)[:4095]
            self.assertEqual(m, want + bytes([seq + 1]))

    def test_pauses_are_those_that_sources_obey(self):
        c = self.run_("ethernet/hot-spot", "sweep=none",
                      "fabric.switch.full=pause", "traffic.frames=60",
                      "fabric.switch.xoff=32KiB", "fabric.switch.xon=16KiB")
        rows = self.rows("macc.opcode", "macc.pause_time", "eth_gen.source",
                         "eth_gen.number", "eth_gen.data")
        self.clean(rows)
        pauses = [r for r in rows if r["macc.opcode"]]
        self.assertGreater(len(pauses), 3)
        obeyed = sum(c.all("t", ".pauses"))
        self.assertEqual(len(pauses), obeyed)
        at_0 = [r for r in rows if r["frame.interface_name"][0]
                .endswith("> t0.link") and r["eth_gen.number"]]
        self.assertEqual(len(at_0), c["t0.received"])
        for r in at_0[:50]:
            first = value(r, "eth_gen.source") * 31 + \
                value(r, "eth_gen.number") * 7 + 30
            data = payload(r, "eth_gen.data")
            self.assertEqual(data, bytes((first + i) & 255
                                         for i in range(len(data))))

    def test_mvia_and_tcp_frames_are_dissected(self):
        self.run_("hvia/mvia", "sweep=none")
        rows = self.rows("mvia.length")
        self.clean(rows)
        self.assertTrue(all(r["mvia.length"] for r in rows))
        self.run_("hvia/tcpip", "sweep=none")
        rows = self.rows("tcp.len", "tcp.checksum.status")
        self.assertTrue(all(r["tcp.len"] for r in rows))

    def test_errors_are_those_of_the_fault(self):
        c = self.run_(FAULTS_ETHERNET)
        rows = self.rows("weft_eth.fcs")
        hit = c["fault0.hit"]
        self.assertGreater(hit, 10)
        self.assertEqual(self.errors(rows), {"t0.link > t1.link": hit})
        self.assertEqual(c["t1.bad"], hit)


FAULTS_ETHERNET = """
traffic: { count: 2, type: eth.gen, stations: 2, frames: 200, size: 300 }
fabric:
  type: direct
  link: { type: eth.cable }
faults: { on: t0.link, type: fault.bits, target: body, rate: 5e-5 }
run: { until: 10ms }
"""


if __name__ == "__main__":
    unittest.main()
