#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports of programs: each metric and series follows from the program's
parameters, from other metrics and from what the specification says about the
machine, calculated here once more.  Short runs.

    test_programs.py WEFT ROOT
"""
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import MIB, run

SIZES = (8, 64, 256, 496, 1024, 1536, 2048, 4096)
PC_NS = 10  # of PCI-X at 100 MHz


class Metrics(unittest.TestCase):
    def near(self, a, b, rel=1e-9):
        self.assertLessEqual(abs(a - b), rel * abs(b), "%g, %g" % (a, b))

    def curve(self, r, name, xs, ys):
        s = r.series[name]
        self.assertEqual(s["x"], list(xs))
        self.assertEqual(len(s["y"]), len(ys))
        for a, b in zip(s["y"], ys):
            self.near(a, b)


class Extoll(Metrics):
    def test_rate_and_bandwidth_of_a_stream_agree(self):
        for name in "extoll/rma-put-bw", "extoll/rma-get-bw":
            for size, count in (4096, 100), (512, 40):
                r = run(name, "workload.0.size=%d" % size,
                        "workload.0.count=%d" % count, fails=None)
                mb = r["n0.prog0.bandwidth"]
                self.near(r["n0.prog0.rate"] * size / 1e6, mb)
                self.curve(r, "n0.prog0.bandwidth", [size], [mb])
                if size == 4096:  # EX-06
                    self.near(mb, 552, 0.02)

    def test_stream_of_single_bytes_has_places(self):
        """A place holds whole pages, at least one."""
        for name in "extoll/rma-put-bw", "extoll/rma-get-bw":
            r = run(name, "workload.0.size=1", "workload.0.bytes=yes",
                    "workload.0.count=9", fails=None)
            self.near(r["n0.prog0.rate"] / 1e6, r["n0.prog0.bandwidth"])

    def test_streamed_put_takes_the_time_of_its_flits(self):
        a, b = [run("extoll/rma-put-bw", "workload.0.count=%d" % n,
                    fails=None)["n0.prog0.rate"] for n in (60, 120)]
        self.near(1 / b * 120 - 1 / a * 60, 60 * 4096 / 552e6, 0.01)

    def test_store_rate_is_a_line_over_its_time(self):
        r = run("extoll/pio", "sweep=none")
        self.near(r["n0.prog0.store_rate"] * r["n0.prog0.line"], 64)
        half = run("extoll/pio", "sweep=none", "workload.0.lines=32",
                   fails=None)
        self.near(half["n0.prog0.line"], r["n0.prog0.line"], 0.02)
        self.near(half["n0.prog0.load"], r["n0.prog0.load"], 0.02)

    def test_pingpong_reports_rounds_and_curve(self):
        r = run("extoll/pingpong", "workload.0.count=7", fails=None)
        self.assertEqual(r["n0.prog0.rounds"], 7)
        self.curve(r, "n0.prog0.half_rtt", [8], [r["n0.prog0.half_rtt"]])

    def test_message_rate_is_that_of_seven_flits(self):
        """extoll.md 7.4: 7 flits of 6.4 ns; the sender is ahead by what queues hold."""
        r = run("extoll/velo-rate", "sweep=none", "workload.0.count=500",
                fails=None)
        self.near(r["n1.prog0.rate"], 22.3e6, 0.02)
        self.assertGreater(r["n0.prog0.send_rate"], r["n1.prog0.rate"])
        self.near(r["n0.prog0.send_rate"], 22.3e6, 0.3)


class Forth(Metrics):
    def test_pingpong_reports_every_size_and_its_spread(self):
        r = run("forth/pingpong-direct", "sweep=none", "workload.0.size=16",
                "workload.0.size_max=40", "workload.0.step=8",
                "workload.0.count=5")
        n0 = "n0.prog0."
        self.assertEqual(r[n0 + "rounds"], 4 * 5)
        h, y = r.hists[n0 + "half_rtt"], r.series[n0 + "half_rtt"]["y"]
        self.assertEqual(h["count"], 4 * 5)
        self.assertEqual(r.series[n0 + "half_rtt"]["x"], [16, 24, 32, 40])
        self.near(y[3], r[n0 + "half_rtt"])
        self.near(sum(y) / 4, h["mean"])
        s = r.series[n0 + "half_rtt_spread"]
        self.assertEqual(s["x"], [16, 24, 32, 40])
        low, high = r[n0 + "half_rtt_min"], r[n0 + "half_rtt_max"]
        self.near(s["y"][3], high - low)
        self.assertLessEqual(low, r[n0 + "half_rtt"])
        self.assertLessEqual(r[n0 + "half_rtt"], high)
        self.assertLessEqual(high, h["max"])
        self.assertEqual((r[n0 + "nic_errors"], r["n1.prog0.nic_errors"]),
                         (0, 0))

    def test_pingpong_refuses_a_range_without_sizes(self):
        for sets, says in ((["size=64", "size_max=56"], "size_max: not below"),
                           (["size=12"], "sizes are multiples of 8"),
                           (["step=12"], "sizes are multiples of 8"),
                           (["partner=2"], "partner: one of 1..1")):
            r = run("forth/pingpong-direct", "sweep=none",
                    *["workload.0." + s for s in sets], fails=True)
            self.assertIn(says, r.failures[0])

    def test_time_stamps_measure_nic_and_switch(self):
        """16 pc of the NIC (F11), 8 cc of a switch between its clock
        domains (forth.md 8.5, F23)."""
        r = run("forth/nic-latency", "sweep=none", "workload.0.bursts=3",
                "workload.0.packets=4", "workload.0.stream=40")
        n4 = "n4.prog0."
        for name, value in ("nic", 16), ("switch", 8):
            for end in "", "_min", "_max":
                self.assertEqual(r[n4 + name + end], value)
        self.assertEqual(r[n4 + "pc_ns"], PC_NS)
        self.near(r[n4 + "span_ns"], r[n4 + "span"] * PC_NS)
        self.assertLessEqual(r[n4 + "span_min"], r[n4 + "span"])
        self.assertLessEqual(r[n4 + "span"], r[n4 + "span_max"])
        ns = r[n4 + "stream"] * PC_NS
        self.near(r[n4 + "stream_packets"], 40 / ns * 1e3)
        self.near(r[n4 + "stream_rate"], 40 * 24 / (ns / 1e9) / MIB)

    def test_one_packet_has_no_span(self):
        r = run("forth/nic-latency", "sweep=none", "workload.0.bursts=2")
        self.assertNotIn("n4.prog0.span", r.metrics)
        self.assertNotIn("n4.prog0.stream", r.metrics)
        self.assertEqual(r["n4.prog0.nic"], 16)

    def test_dma_reports_rates_of_its_clocks(self):
        r = run("forth/dma")
        for prog, way in ("n0.prog0.", "read"), ("n1.prog0.", "write"):
            for size in SIZES:
                pc = r["%s%s_%d" % (prog, way, size)]
                rate = size / (pc * PC_NS / 1e9) / MIB
                self.near(r["%s%s_rate_%d" % (prog, way, size)], rate)
                self.near(r["%s%s_use_%d" % (prog, way, size)],
                          100 * size / 8 / pc)
                self.assertEqual(
                    r["%s%s_disconnects_%d" % (prog, way, size)], 0)
            # 8 bytes per clock
            self.near(r[prog + "peak"], 8 / PC_NS * 1e9 / MIB)
            self.near(r[prog + "peak_gbit"], 8 * 8 / PC_NS)
            self.assertEqual(r[prog + "pc_ns"], PC_NS)
        for size in SIZES:
            self.assertEqual(r["n0.prog0.splits_%d" % size], 1)
            self.assertEqual(r["n0.prog0.split_%d" % size], 50)
            self.assertEqual(r["n0.prog0.read_requests_%d" % size], 1)

    def test_dma_measures_each_size_alone(self):
        """Without a gap transfers of a size run on while the next sizes are
        measured, and no rate may follow from clocks of other transfers."""
        most = 8 / PC_NS * 1e9 / MIB
        for count, split in (300, 50), (64, 1000), (1, 100000):
            r = run("forth/dma", "workload.gap=0",
                    "workload.count=%d" % count,
                    "bus.pcix.t_split=%d" % split, fails=True)
            self.assertIn("a longer gap would do", str(r.failures))
            for name, v in r.metrics.items():
                if "_rate_" in name or name.endswith("peak"):
                    self.assertLessEqual(v, most * (1 + 1e-9), name)

    def test_descriptor_takes_four_stores(self):
        """forth.md 11.5: four stores of 10 pc, two of 10 pc, a line of 64
        bytes."""
        r = run("forth/pio")
        self.assertEqual(r["n0.prog0.store"], 10)
        self.assertEqual(r["n0.prog0.descriptor"], 4 * 10)
        self.assertEqual(r["n0.prog0.descriptor_ns"], 4 * 10 * PC_NS)
        self.assertEqual(r["n0.prog0.descriptor64"], 2 * 10)
        self.near(r["n0.prog0.gain"], 4 * 40 / r["n0.prog0.cluster"])

    def test_rounds_deliver_every_packet(self):
        r = run("forth/multi-count", "sweep=none", "workload.0.rounds=2",
                "workload.0.count=50", "workload.0.size_max=4096")
        n = len(r.all("n", ".sent"))
        self.assertEqual(r.all("n", ".sent"), [2 * 50] * n)
        self.assertEqual(sum(r.all("n", ".received")), 2 * 50 * n)
        for name in ("late", "lists", "lists_lost", "missing", "recovered",
                     "reported", "resent"):
            self.assertEqual(r.all("n", "." + name), [0] * n, name)
        # two rounds, of which each waits 200 us before it looks
        for us in r.all("n", ".elapsed"):
            self.assertGreater(us, 2 * 200)
            self.assertLess(us, 2 * 1000)

    def test_rounds_refuse_wrong_sizes(self):
        for sets in ["size=12"], ["size_max=20"], ["size=64", "size_max=32"]:
            r = run("forth/multi-count", "sweep=none",
                    *["workload.0." + s for s in sets], fails=True)
            self.assertIn("sizes are multiples of 8", r.failures[0])

    def test_monitor_counts_packets_by_source(self):
        r = run("forth/monitor-light", "workload.0.count=20")
        n0 = "n0.prog0."
        self.assertEqual(r[n0 + "received"], 7 * 20)
        self.assertEqual(r[n0 + "sent"], 0)
        for part in "nic", "switch", "total":
            self.assertEqual(r.hists[n0 + part]["count"], 7 * 20)
            means = [r.hists["%s%s_from%d" % (n0, part, s)]["mean"]
                     for s in range(1, 8)]
            self.near(sum(means) / 7, r.hists[n0 + part]["mean"])
        self.assertEqual(r.hists[n0 + "nic"]["mean"], 16 * PC_NS)
        for s in range(1, 8):
            self.assertEqual(r["%sfrom%d" % (n0, s)], 20)
            self.assertEqual(r["n%d.prog0.sent" % s], 20)
            self.assertEqual(r["n%d.prog0.received" % s], 0)
            # 0.002 of 10 bytes per 64 ns, drawn at random
            self.near(r["%srate_from%d" % (n0, s)], 0.33, 0.5)
        self.near(r[n0 + "rate_in"],
                  sum(r["%srate_from%d" % (n0, s)] for s in range(1, 8)), 0.3)

    def test_traffic_counts_packets_and_bytes(self):
        r = run("forth/one-way", "workload.0.count=500")
        self.assertEqual(r["n0.prog0.sent"], 500)
        self.assertEqual(r["n1.prog0.received"], 500)
        self.assertEqual(r["n1.prog0.from0"], 500)
        self.assertEqual(r["n1.prog0.received_bytes"], 500 * 496)
        # three more of the barrier at the end
        self.assertEqual(r["n0.prog0.packets_out"], 500 + 3)
        self.assertEqual(r["n1.prog0.packets_in"], 500 + 3)
        self.near(r["n1.prog0.bandwidth_in"], r["n0.prog0.bandwidth_out"],
                  0.05)


class HostPort(Metrics):
    def test_crowd_completes_every_kind_of_instruction(self):
        r = run("hostport/processes", "workload.1.instructions=300",
                "workload.1.processes=4")
        p = "n0.prog1."
        kinds = ("cas", "faa", "fast_get", "fast_put", "fast_send", "get",
                 "put", "put_bytes", "send")
        self.assertEqual(sum(r[p + k] for k in kinds), 300)
        for k in kinds:
            self.assertGreater(r[p + k], 10)
        self.assertEqual(r[p + "completed"], 300)
        self.assertEqual(r[p + "executed"], 300)
        self.near(r[p + "rate"], 300 / r[p + "time"])

    def test_every_process_of_a_crowd_has_a_line_at_its_server(self):
        """The 65th line of a server lies on its window's second page."""
        r = run("hostport/processes", "workload.1.servers=1",
                "workload.1.processes=65", "workload.1.instructions=650")
        self.assertEqual(r["n0.prog1.completed"], 650)

    def test_limits_are_those_of_any_node(self):
        """Five words fit behind the header of a send, three behind that of a
        put."""
        for n in 0, 1:
            r = run("hostport/limits", "workload.0.on=%d" % n,
                    "workload.1.on=%d" % n, "workload.1.pages=no")
            self.assertEqual(r["n%d.prog1.fast_send" % n], 5)
            self.assertEqual(r["n%d.prog1.fast_put" % n], 3)

    def test_trigger_is_the_slope_through_the_points(self):
        r = run("hostport/trigger")
        s = r.series["n0.prog0.operations"]
        x, y = s["x"], s["y"]
        self.assertEqual(x, [2 ** i for i in range(10)])
        mx, my = sum(x) / 10, sum(y) / 10
        slope = sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum(
            (a - mx) ** 2 for a in x)
        self.near(r["n0.prog0.slope"], slope, 1e-6)
        self.assertAlmostEqual(r["n0.prog0.begin"], my - slope * mx, 3)
        self.near(r["n0.prog0.trigger"], slope, 1e-3)

    def test_ultra_latency_is_from_sent_to_got(self):
        r = run("hostport/ultra-pingpong", "workload.0.count=20", fails=None)
        for a, b in (0, 1), (1, 0):
            n = "n%d.prog0." % a
            self.assertAlmostEqual(
                r[n + "latency"],
                r[n + "got_at"] - r["n%d.prog0.sent_at" % b], 3)
            self.assertLessEqual(r[n + "latency_min"], r[n + "latency"])
            self.assertLessEqual(r[n + "latency"], r[n + "latency_max"])
        self.assertGreaterEqual(
            r["n0.prog0.half_rtt"],
            (r["n0.prog0.latency"] + r["n1.prog0.latency"]) / 2)

    def test_shares_of_victims_are_those_of_their_rates(self):
        r = run("hostport/isolation", "sweep=none", "workload.1.victims=4",
                "workload.1.time=50us", "workload.1.neighbours=2",
                "workload.1.kind=nq_full")
        p = "n0.prog1."
        s = r.series[p + "done"]
        self.assertEqual(s["x"], [0, 1, 2, 3])
        self.near(sum(s["y"]), r[p + "rate"])
        mean = sum(s["y"]) / 4
        self.near(r[p + "share_min"], 100 * min(s["y"]) / mean)
        self.near(r[p + "share_max"], 100 * max(s["y"]) / mean)
        self.assertLessEqual(r[p + "latency"], r[p + "latency_max"])
        self.assertGreater(r[p + "time"], 50e3)


class Hvia(Metrics):
    def pingpong(self, r, size):
        n0 = "n0.prog0."
        mean = r[n0 + "half_rtt"]
        self.near(r[n0 + "bandwidth"], size / mean * 1e3)
        self.curve(r, n0 + "half_rtt", [size], [mean])
        self.curve(r, n0 + "utilisation", [size], [r[n0 + "utilisation"]])

    def test_vipl_pingpong_reports_rate_and_curve(self):
        for size in 4, 3000:
            r = run("hvia/latency", "sweep=none", "workload.0.count=5",
                    "workload.0.size=%d" % size)
            self.pingpong(r, size)
            h = r.hists["n0.prog0.half_rtt"]
            self.assertEqual(h["count"], 5)
            self.near(h["min"], r["n0.prog0.half_rtt_min"])
            self.assertEqual(r["n0.prog0.utilisation"], 100)  # polls

    def test_stacks_report_rate_and_use(self):
        for program in "mvia", "tcpip":
            for size in 4, 3000:
                r = run("hvia/stacks", "sweep=none", "workload.0.size=%d" % size,
                        "workload.0.program=%s.pingpong" % program)
                self.pingpong(r, size)
                self.assertLessEqual(r["n0.prog0.utilisation_all"], 100)


if __name__ == "__main__":
    unittest.main()
