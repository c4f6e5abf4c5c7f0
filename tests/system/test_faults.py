#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults through the command line: every injected error is found in exactly one
counter, what arrives is right unless marked, and traffic goes on or stops as
forth.md 4.9, 5.4 to 5.7 say."""
import json
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import execute, points, run


def total(r, start, end):
    return sum(r.all(start, end))


def text(yaml, *args):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(yaml)
        f.flush()
        return execute("run", f.name, "--format", "json", *args)


class Leak(unittest.TestCase):
    def test_resync_returns_credits_of_bad_headers(self):
        off, on = points("forth/fault-header")
        for r in off, on:
            lost = r["fault0.header"]
            self.assertEqual(r["s0.header_crc"] + r["s0.align"], lost)
            # behind the first hop nothing is lost
            self.assertEqual(total(r, "t", ".received") + lost,
                             total(r, "t", ".sent"))
            self.assertEqual(r["t0.sent"], 2000)
        # some flows of source 1 stopped for good
        self.assertLess(off["t1.sent"], 2000)
        self.assertGreaterEqual(off["s0.credit_leak"], 4 * 132)
        self.assertEqual(off["t1.resyncs"], 0)
        self.assertEqual(on["t1.sent"], 2000)
        self.assertGreater(on["t1.resyncs"], 0)
        self.assertGreater(on["fault0.header"], 10)
        self.assertEqual(total(on, "t", ".received"),
                         8000 - on["fault0.header"])

    def test_resync_returns_credits_of_lost_packets(self):
        off, on = points("forth/fault-packets")
        self.assertLess(total(off, "t", ".sent"), 8000)
        self.assertEqual(total(on, "t", ".sent"), 8000)
        lost = total(on, "fault", ".packets")
        self.assertGreater(lost, 100)
        self.assertEqual(total(on, "t", ".received"), 8000 - lost)

    def test_nodes_with_resync_send_on_after_a_reset(self):
        off, on = points("forth/fault-reset")
        self.assertLess(off["n0.prog0.sent"], 20)
        self.assertEqual(on["n0.prog0.sent"], 200)
        self.assertEqual(on["n1.prog0.arrived"], 200 - on["fault0.packets"])
        self.assertEqual(on["fault0.packets"], 4)
        self.assertEqual(on["fault1.resets"], 1)
        # both directions of the line: one flight, looked at every 8 words
        self.assertIn(on["fault1.down_ns"], range(307, 307 + 9 * 13))
        self.assertEqual(on["s0.sync_loss"], 1)
        for r in off, on:
            self.assertEqual(r["n2.prog0.arrived"], 200)

    def test_refused_reset_loses_nothing(self):
        """Buffers that do not drain keep their credits."""
        p = text(BUS % """
faults:
  - { on: n1.nic.bus, type: fault.bus, hold: writes, length: 5ms, at: 300us }
  - { on: n1.nic.link0, type: fault.reset, at: 2ms, patience: 50us }
""")
        self.assertEqual(p.returncode, 0, p.stderr)
        d = json.loads(p.stdout)
        self.assertEqual(d["counters"]["fault1.refused"], 1)
        self.assertEqual(d["counters"]["fault1.resets"], 0)
        self.assertGreaterEqual(d["counters"]["fault1.down_ns"], 50000)
        self.assertEqual(sum(d["metrics"]["n%d.prog0.received" % i]
                             for i in range(3)), 600)

    def test_resync_must_agree_at_both_ends(self):
        r = text(TWO % "resync: 100", "--set", "t0.resync=0")
        self.assertEqual(r.returncode, 2)
        self.assertIn("resync (0 = off) is 0 in t0", r.stderr)


TWO = """
traffic: { count: 2, type: forth.gen, dests: 2, packets: 10, %s }
fabric: { type: direct, link: { type: forth.link } }
run: { until: 1ms }
"""


class Bits(unittest.TestCase):
    def test_damage_is_counted_by_the_part_it_hits(self):
        control, credit, header, body, anything = points("forth/fault-bits")
        for r in control, credit, header, body, anything:
            hit = total(r, "fault", ".hit")
            self.assertGreater(hit, 0)
            self.assertEqual(total(r, "t", ".sent"), 6000)
        lost = 6000 - total(header, "t", ".received")
        self.assertEqual(lost, total(header, "fault", ".header"))
        self.assertEqual(lost, total(header, "t", ".header_crc") +
                         header["s0.header_crc"] +
                         total(header, "t", ".align") + header["s0.align"])
        self.assertEqual(total(body, "t", ".received"), 6000)
        self.assertEqual(total(body, "t", ".bad_body"),
                         total(body, "fault", ".body"))
        self.assertEqual(total(credit, "t", ".received"), 6000)
        # a credit whose first bit is hit is none any more and not counted
        parity = total(credit, "t", ".credit_parity") + \
            credit["s0.credit_parity"]
        self.assertGreater(parity, 0)
        self.assertLessEqual(parity, total(credit, "fault", ".credit"))


class Credits(unittest.TestCase):
    def test_few_lost_credits_cost_no_rate(self):
        rates = []
        for r in points("forth/fault-credits", "record.metrics=all"):
            self.assertEqual(total(r, "n", ".prog0.received"), 2000)
            self.assertEqual(r["s0.overflow"], 0)
            rates.append(total(r, "n", ".prog0.bandwidth_in"))
        # 10 % are not felt, 95 % are
        self.assertGreater(rates[2], 0.99 * rates[0])
        self.assertLess(rates[4], 0.2 * rates[0])


class Cut(unittest.TestCase):
    def test_cut_packets_are_all_accounted_for(self):
        r = run("forth/fault-cut")
        self.assertEqual(total(r, "t", ".sent"), 8000)
        # cut behind the header they arrive (body_crc, bad_body), before not
        short = r["s0.align"] - r["s0.body_crc"] + \
            total(r, "t", ".align") - total(r, "t", ".bad_body")
        self.assertEqual(total(r, "t", ".received")
                         + total(r, "fault", ".packets") + short
                         + total(r, "t", ".unsync") + r["s0.unsync"], 8000)
        self.assertGreater(total(r, "fault", ".truncated"), 10)

    def test_one_way_cut_needs_resync(self):
        off, on = points("forth/fault-cut-one-way")
        self.assertLess(off["t1.sent"], 1000)
        self.assertEqual(on["t1.sent"], 2000)
        for r in off, on:
            self.assertEqual(r["t0.sent"], 2000)
            lost = r["fault0.packets"] + r["s0.unsync"]
            # less than what fits into four crosspoints
            self.assertLess(lost, 4 * 512 / 132 + 1)
            self.assertEqual(total(r, "t", ".received") -
                             total(r, "t", ".bad_body") + lost +
                             r["fault0.truncated"], total(r, "t", ".sent"))


BUS = """
nodes:
  count: 3
  host: { type: host.pc }
  bus: { type: bus.pcix }
  nic: { type: forth.nic, preset: plat-switch }
fabric: { type: switch, switch: { type: forth.xbar, preset: plat-switch }, link: { type: forth.link } }
workload: { program: ep.traffic, count: 200, size: 8, size_max: 2000 }
%s
"""


class Bus(unittest.TestCase):
    def test_idle_bus_fault_changes_nothing(self):
        runs = []
        for faults in ("", 'faults: { on: "n*.nic.bus", type: fault.bus }',
                       'faults: { on: n1.bus.dev0, type: fault.bus, '
                       'length: 2us, every: 9us, random: yes }'):
            p = text(BUS % faults)
            self.assertEqual(p.returncode, 0, p.stderr)
            d = json.loads(p.stdout)
            for k in [k for k in d["counters"] if k.startswith("fault")]:
                self.assertEqual(d["counters"].pop(k), 0)
            runs.append((d["metrics"], d["counters"], d["series"],
                         d["histograms"], d.get("end"), d.get("events")))
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(runs[0], runs[2])

    def test_held_receiver_stops_its_senders(self):
        free, held = points("forth/fault-receiver")
        self.assertGreater(held["fault0.held"], 0)
        self.assertAlmostEqual(held["fault0.held_ns"], 1e6, delta=2e4)
        for i in (1, 2, 3):
            self.assertGreater(held["n%d.prog0.backpressure" % i],
                               free["n%d.prog0.backpressure" % i] + 50000)
            self.assertEqual(held["n%d.prog0.sent" % i], 400)
        self.assertEqual(held["n0.prog0.errors"], 0)

    def test_parity_error_costs_its_transfer_only(self):
        """Every error costs its transfer, or nothing when a completion comes
        twice; the NIC reports what it saw, the other one nothing."""
        bits = (0, 1 << 5 | 1 << 0, 1 << 2, 1 << 3, 1 << 8, 1 << 7)
        for r, seen in zip(points("forth/fault-parity"), bits):
            errors = r["fault0.errors"]
            lost = 0 if seen in (0, 1 << 7) else errors
            self.assertEqual(errors > 0, seen != 0)
            self.assertEqual(r["n0.prog0.bus_errors"], seen)
            self.assertEqual(r["n0.prog0.desc_errors"], lost)
            self.assertEqual(r["n1.prog0.arrived"], 500 - lost)
            self.assertEqual(r["n1.prog0.bus_errors"], 0)
            self.assertEqual(r["n0.prog0.arrived"], 500)
            self.assertEqual(r["fault0.perr"], errors if seen & 1 else 0)
            self.assertEqual(r["fault0.serr"], 0)

    def test_impossible_parity_error_is_refused(self):
        for fault, why in (
                ("on: n0.nic.bus, error: message, access: writes",
                 "message and repeat with reads"),
                ("on: n0.host.bus, error: data",
                 "only for a device on bus.pcix")):
            p = text(BUS % ("faults: { type: fault.bus, %s }" % fault))
            self.assertEqual(p.returncode, 2)
            self.assertIn(why, p.stderr)

    def test_slow_bridge_sets_the_rate(self):
        # a packet is read in T_ARB + T_PH + T_SPLIT + 62 + DESC + UPD clocks
        rates = [r["n1.prog0.bandwidth_in"] for r in points("forth/fault-bridge")]
        self.assertAlmostEqual(rates[0], 286.5, delta=1)
        # the last two: T_SPLIT twice and five times as long
        for rate, more in zip(rates[1:], (50, 200, 1000, 50, 200)):
            clocks = 6 + 4 + 50 + more + 62 + 3 + 1
            want = 496 / (clocks * 10e-9) / 1048576
            # from the first packet to the last: one read less than packets
            self.assertLess(rate, 1.002 * want)
            self.assertGreater(rate, 0.96 * want)

    def test_held_stores_slow_the_host(self):
        # on the host's port: stores or loads of the processor
        none, writes, reads, both = points("forth/fault-host")
        self.assertEqual(none["fault0.held"], 0)
        # this workload loads no registers while it runs
        self.assertEqual(reads["n1.prog0.elapsed"], none["n1.prog0.elapsed"])
        self.assertEqual(both["n1.prog0.elapsed"], writes["n1.prog0.elapsed"])
        self.assertGreater(writes["fault0.held"], 20)
        # 7.6 ms of work, of which every second one stands still
        self.assertGreater(writes["n0.prog0.elapsed"],
                           none["n0.prog0.elapsed"] + 4000)
        self.assertGreater(writes["n0.host.store_stalls"],
                           none["n0.host.store_stalls"])

    def test_misplaced_fault_is_refused(self):
        for fault, words in (
                ("{ on: n0.host.bus, type: fault.bus, factor: 2 }",
                 "on its port"),
                ("{ on: n0.nic.link0, type: fault.bus }", "sits on a bus"),
                ("{ on: n0.nic.bus, type: fault.bits }", "sits on a link"),
                ('{ on: "n*.nic.link*", type: fault.bus }', "no bus port"),
                ("{ on: n0.nic.link0, type: fault.cut, every: 1us }",
                 "must be longer")):
            p = text(BUS % ("faults: " + fault))
            self.assertEqual(p.returncode, 2, fault)
            self.assertIn(words, p.stderr)


PULLED = """
nodes:
  count: %d
  host: { type: host.pc }
  bus: { type: bus.pcix }
  nic: { type: forth.nic, preset: %s, resync: 4096 }
fabric: %s
faults:
  - { on: "n*.nic.link*", type: fault.cut, at: 100us, length: 50us, every: 400us, random: yes }
%s
workload: { program: forth.loss, count: 300 }
"""

SWITCH = "{ type: switch, count: %d, switch: { type: forth.xbar, " \
    "preset: plat-switch, resync: 4096 }, link: { type: forth.link } }"

LINE = """
nodes:
  count: 2
  host: { type: host.pc }
  bus: { type: bus.pcix }
  nic: { type: forth.nic, preset: tr-switch }
fabric: { type: direct, link: { type: forth.link } }
faults: { on: n0.nic.link0, type: fault.bits, %s }
workload:
  - { program: forth.loss, on: 0, size: 64 }
  - { program: forth.loss, on: 1, size: 64, to: none }
"""


LOSSY = """
nodes:
  count: 3
  host: { type: host.pc }
  bus: { type: bus.pcix }
  nic: { type: forth.nic, preset: plat-switch, resync: %d }
fabric: { type: switch, switch: { type: forth.xbar, preset: plat-switch, resync: %d }, link: { type: forth.link } }
faults:
  - { on: n1.nic.link0, type: fault.drop, packets: %g }
workload:
  - { program: forth.traffic, count: %d, size: 64, patience: 200us }
"""


class Nodes(unittest.TestCase):
    def test_notification_that_never_comes_ends_the_run(self):
        # refresh and resynchronisation keep the clock going for ever
        p = text(LOSSY % (4096, 4096, 0.2, 40))
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertIn("the final notification of node 1 never came",
                      p.stdout + p.stderr)
        # without resynchronisation the charge of lost packets is gone
        p = text((LOSSY % (0, 0, 1, 30)).replace("size: 64", "size: 512"))
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertIn("n1.prog0: no credits on flow", p.stderr)

    def test_node_on_a_direct_cable_cannot_send_to_itself(self):
        p = text(LINE.replace("faults: { on: n0.nic.link0, type: fault.bits, "
                              "%s }\n", "").replace(
            "forth.loss, on: 0, size: 64", "forth.traffic, to: all").replace(
            "  - { program: forth.loss, on: 1, size: 64, to: none }\n", ""))
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertIn("sends to itself, but its cable leads to another NIC",
                      p.stdout + p.stderr)

    def test_nodes_with_resync_send_on_after_losses(self):
        # hosts, NICs, links, switch; every line loses packets
        off, on = points("forth/fault-nodes")
        self.assertLess(total(off, "n", ".prog0.sent"), 3000)
        self.assertEqual(total(off, "n", ".prog0.resyncs"), 0)
        lost = total(off, "fault", ".packets")
        self.assertEqual(total(off, "n", ".nic.packets_in") + lost,
                         total(off, "n", ".nic.packets_out"))
        lost = total(on, "fault", ".packets")
        self.assertGreater(lost, 100)
        self.assertEqual(total(on, "n", ".prog0.sent"), 6000)
        self.assertEqual(total(on, "n", ".prog0.arrived"), 6000 - lost)
        for i in range(4):  # register 0x150 and the counter of the run
            self.assertGreater(on["n%d.prog0.resyncs" % i], 2)
            self.assertEqual(on["n%d.prog0.resyncs" % i],
                             on["n%d.nic.resyncs" % i])

    def test_nodes_without_losses_never_resync(self):
        for r in points("forth/fault-nodes", "fault.drop.packets=0"):
            self.assertEqual(total(r, "n", ".prog0.arrived"), 6000)
            self.assertEqual(total(r, "n", ".prog0.resyncs"), 0)

    def test_nic_returns_words_of_a_bad_header(self):
        # 5.7: a NIC gives the words of a bad header back, nothing leaks, no
        # resynchronisation is needed; a bad body is delivered
        for target, found in (("header", "header_crc"), ("body", "body_crc")):
            p = text(LINE % ("target: %s, frame: 20, count: 500, bit: 9"
                             % target))
            self.assertEqual(p.returncode, 0, p.stderr)
            m = json.loads(p.stdout)["metrics"]
            self.assertEqual(m["n0.prog0.sent"], 1000)
            self.assertEqual(m["n1.prog0." + found], 500)
            self.assertEqual(m["n1.prog0.arrived"], 500)
            self.assertEqual(m["n1.prog0.damaged"],
                             500 if target == "body" else 0)
            self.assertEqual(m["n1.prog0.credit_leaked"], 0)

    def test_complemented_crc_finds_the_same_errors(self):
        # found and passed on as without; both sides must agree
        bits = LINE % "target: body, frame: 20, count: 50, bit: 9"
        cpl = bits.replace("tr-switch", "tr-switch, crc32_complement: yes")
        a, b = (json.loads(text(t).stdout)["metrics"] for t in (bits, cpl))
        self.assertEqual(a, b)
        self.assertEqual(b["n1.prog0.body_crc"], 50)
        p = execute("run", "forth/one-way", "--set",
                    "forth.nic.crc32_complement=yes")
        self.assertEqual(p.returncode, 2)
        self.assertIn("crc32_complement is", p.stderr)

    def test_nodes_survive_pulled_cables(self):
        # all cables of NICs, also each of a bundle, and ports that are open
        ports = '  - { on: "s*.port*", type: fault.cut, length: 50us, ' \
            'every: 400us, random: yes }'
        direct = "{ type: direct, link: { type: forth.link } }"
        for nodes, preset, fabric, more in (
                (2, "tr-direct", direct, ""), (2, "plat-direct4", direct, ""),
                (4, "plat-switch", SWITCH % 1, ports),
                (4, "plat-multi", SWITCH % 4, ports)):
            for seed in range(1, 6):
                p = text(PULLED % (nodes, preset, fabric, more),
                         "--seed", str(seed))
                self.assertEqual(p.returncode, 0, preset + p.stderr)
                d = json.loads(p.stdout)
                m = d["metrics"]
                sent = sum(m["n%d.prog0.sent" % i] for i in range(nodes))
                self.assertEqual(sent, 300 * nodes)
                there = sum(m["n%d.prog0.arrived" % i] for i in range(nodes))
                self.assertGreater(there, 0.7 * sent)
                self.assertLess(there, sent)

    def test_nodes_with_resync_send_on_after_repeats(self):
        off, on = points("forth/fault-repeat")
        self.assertLess(total(off, "n", ".prog0.sent"), 1000)
        self.assertEqual(total(on, "n", ".prog0.sent"), 6000)
        self.assertGreater(total(on, "fault", ".repeats"), 100)
        # frames without room are counted
        cut = total(on, "n", ".prog0.damaged")
        lost = 6000 - total(on, "n", ".prog0.arrived") - cut
        self.assertLessEqual(lost, on["s0.overflow"] / 132)
        self.assertLessEqual(cut, total(on, "n", ".nic.rx_lost"))
        self.assertLess(lost + cut, 100)

    def test_resync_without_faults_changes_nothing(self):
        # without faults it changes nothing that a program can see
        a = run("forth/uniform", "workload.count=300")
        b = run("forth/uniform", "workload.count=300",
                "forth.nic.resync=50000", "forth.xbar.resync=50000")
        self.assertEqual(a.metrics, b.metrics)


if __name__ == "__main__":
    unittest.main(verbosity=2)
