#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NICs on routed networks (docs/systems/router.md): each system's programs over
a mesh of routers, times by the formula of framing and routers, windows, loss,
faults on the NIC's line, mistakes in the experiment."""
import json
import os
import sys
import tempfile
import unittest
import warnings

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import execute, points, run


class Text:
    """An experiment in a file."""

    def __init__(self, yaml):
        self.dir = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.path = os.path.join(self.dir.name, "a.yaml")
        with open(self.path, "w") as f:
            f.write(yaml)

    def run(self, *sets, **kw):
        return run(self.path, *sets, **kw)

    def fails(self, *sets):
        args = [a for s in sets for a in ("--set", s)]
        p = execute("run", self.path, *args)
        assert p.returncode == 2, (p.returncode, p.stdout, p.stderr)
        return p.stderr

    def explain(self, *sets):
        """Stages of the fastest message: (place, what, ns)."""
        out = os.path.join(self.dir.name, "r.db")
        args = [a for s in sets for a in ("--set", s)]
        p = execute("run", self.path, "--out", out, *args)
        assert p.returncode == 0, p.stderr
        p = execute("explain", out, "--format", "json")
        os.remove(out)
        assert p.returncode == 0, p.stderr
        return json.loads(p.stdout)


NODES = {
    "extoll": """
nodes:
  count: %d
  host: { type: host.pc, preset: opteron }
  bus: { type: bus.ht }
  nic: { type: extoll.nic }
""",
    "forth": """
nodes:
  count: %d
  host: { type: host.pc }
  bus: { type: bus.pcix }
  nic: { type: forth.nic, preset: plat-switch }
""",
    "hostport": """
nodes:
  count: %d
  host: { type: host.pc, preset: opteron }
  bus: { type: bus.ht }
  nic: { type: hostport.nic, net_clock: 312.5MHz }
""",
    "hvia": """
nodes:
  count: %d
  host: { type: host.pc, preset: hvia }
  bus: { type: bus.pci, preset: pci64-66 }
  nic: { type: hvia.nic }
""",
}
MESH = """
fabric:
  type: routed
  topology: mesh
  dims: %s
  switch: { vcs: 4, buf_flits: 64 }
"""


def machine(system, dims, program):
    count = 1
    for d in dims:
        count *= d
    more = "  nic_switch: { preset: hostport }\n" \
        if system == "hostport" else ""
    # programs are called prog0, behind them is the driver
    driver = "  - { program: hostport.driver }\n" \
        if system == "hostport" else ""
    return Text(NODES[system] % count + MESH % (list(dims),) + more +
                "workload:\n  - { %s }\n" % program + driver)


def quiet(r):
    """Nothing was dropped."""
    for end in ("unknown", "unrouted", "dropped", "overflow"):
        assert not sum(r.all("g", "." + end)), end


class Programs(unittest.TestCase):
    """Programs check the bytes that they receive."""

    def each(self, program, dims, *sets):
        for system in NODES:
            with self.subTest(system):
                r = machine(system, dims, program).run(*sets)
                quiet(r)
                yield r

    def test_conformance_holds_over_a_mesh(self):
        for r in self.each("program: ep.conformance, messages: 12, puts: 8, "
                           "gets: 8, atomics: 8", (2, 2)):
            self.assertEqual(r["n3.prog0.tests"], 11)
            self.assertGreater(r["net.received"], 100)

    def test_conformance_holds_with_frames_in_many_packets(self):
        for r in self.each("program: ep.conformance, messages: 6, puts: 4, "
                           "gets: 4, atomics: 4", (3,),
                           "fabric.gateway.flit_bytes=4",
                           "fabric.gateway.packet_bytes=40",
                           "fabric.switch.buf_flits=3",
                           "fabric.gateway.window=1",
                           "fabric.gateway.places=1"):
            self.assertEqual(r["n2.prog0.tests"], 11)

    def test_pingpong_returns_the_same_bytes(self):
        for r in self.each("program: ep.pingpong, partner: 3, count: 5, "
                           "size: 8, size_max: 5000, step: 1248", (2, 2)):
            self.assertEqual(r["n0.prog0.rounds"], 25)


class Times(unittest.TestCase):
    def test_network_takes_what_framing_and_routers_say(self):
        """7 cycles, 5 for each further router, 1 for each further flit."""
        for routers in 2, 5:
            for flit, header in (16, 16), (8, 16), (5, 24):
                # a message of 8 bytes: command words of VELO and endpoint
                t = machine("extoll", (routers,),
                            "program: ep.pingpong, partner: %d, count: 3, "
                            "size: 8" % (routers - 1))
                sets = ["fabric.gateway.flit_bytes=%d" % flit,
                        "fabric.gateway.header_bytes=%d" % header]
                r = t.run(*sets)
                d = t.explain(*sets)
                bytes_ = r["g0.bytes_out"] / r["g0.frames_out"]
                flits = -(-(header + bytes_) // flit)
                want = 7 + 5 * (routers - 1) + flits - 1
                got = [s["fs"] / 1e6 for s in d["stages"]
                       if s["stage"] == "network"]
                self.assertEqual(got, [want])


def extoll_stream(*more):
    return Text("""
traffic: { type: extoll.gen, count: 9, load: 0.4, size: 8, size_max: 600, packets: 60, verify: yes }
fabric:
  type: routed
  topology: mesh
  dims: [3, 3]
  routing: minimal_adaptive
  switch: { vcs: 3, buf_flits: 16 }
run: { until: 10ms }
""" + "\n".join(more))


class Streams(unittest.TestCase):
    """`verify` checks bytes, order and loss of each pair."""

    def test_streams_keep_bytes_and_order_on_adaptive_routes(self):
        r = extoll_stream().run()
        quiet(r)
        self.assertEqual(sum(r.all("t", ".received")), 9 * 60)

    def test_many_senders_lose_nothing_and_wait_for_their_window(self):
        r = run("extoll/routed-many-to-one")
        self.assertEqual(r["t5.received"], 1600)
        self.assertGreater(sum(r.all("g", ".window_waits")), 1000)

    def test_damage_on_the_nic_line_is_repaired_there(self):
        r = extoll_stream(
            "faults:",
            "  - { type: fault.bits, on: x3.lp0, rate: 2e-5 }",
            "  - { type: fault.bits, on: g3.nic, rate: 2e-5 }").run()
        quiet(r)
        self.assertEqual(sum(r.all("t", ".received")), 9 * 60)
        self.assertGreater(r["fault0.hit"], 0)
        self.assertGreater(r["fault1.hit"], 0)
        self.assertGreater(r["g3.replays"] + r["x3.retries"], 0)

    def test_address_of_no_node_is_dropped_by_the_crossbar(self):
        r = extoll_stream().run("traffic.pattern=fixed", "traffic.dest=11",
                                "traffic.nodes=12", "traffic.verify=no")
        self.assertEqual(sum(r.all("x", ".illegal")), 9 * 60)
        self.assertEqual(r["net.sent"], 0)


class Forth(unittest.TestCase):
    def test_receiver_that_stops_holds_senders_back_and_recovers(self):
        r = run("forth/routed-many-to-one")
        sent = sum(r.all("t", ".sent"))
        self.assertEqual(sent, 9 * 200)
        self.assertEqual(sum(r.all("t", ".received")), sent)
        self.assertGreater(sum(r.all("g", ".window_waits")), 1000)
        self.assertGreater(sum(r.all("t", ".backpressure")), 10000)
        self.assertEqual(sum(r.all("g", ".overflow")), 0)

    def test_damage_is_found_where_a_switch_leaves_it(self):
        t = Text("""
traffic: { type: forth.gen, count: 4, dests: 4, load: 0.3, size: 64, size_max: 512, packets: 300, resync: 20000 }
fabric: { type: routed, topology: mesh, dims: [4], gateway: { resync: 20000 } }
faults:
  - { type: fault.bits, on: t0.link, target: body, rate: 3e-5 }
run: { until: 5ms }
""")
        r = t.run(fails=None)
        self.assertGreater(r["g0.body_crc"], 3)
        self.assertEqual(sum(r.all("t", ".bad_body")), r["g0.body_crc"])
        self.assertEqual(sum(r.all("t", ".received")) +
                         r["g0.header_crc"], 1200)

    def test_flow_of_no_end_is_counted_and_dropped(self):
        t = Text("""
traffic: { type: forth.gen, count: 4, dests: 9, load: 0.3, size: 64, packets: 90 }
fabric: { type: routed, topology: mesh, dims: [4] }
run: { until: 5ms }
""")
        r = t.run()
        unknown = sum(r.all("g", ".unknown"))
        self.assertGreater(unknown, 100)
        self.assertEqual(sum(r.all("t", ".received")) + unknown, 360)


class Ethernet(unittest.TestCase):
    def test_each_frame_arrives_or_is_counted(self):
        drop, pause = points("ethernet/routed-hot-spot")
        self.assertGreater(drop["g0.dropped"], 1000)
        self.assertEqual(drop["t0.received"] + drop["g0.dropped"], 3000)
        self.assertEqual(pause["t0.received"], 3000)
        self.assertEqual(sum(pause.all("g", ".dropped")), 0)

    def test_damaged_frames_are_dropped_as_by_a_switch(self):
        t = Text("""
traffic: { type: eth.gen, count: 4, stations: 4, frames: 400, load: 0.3, gaps: random, size: 500 }
fabric: { type: routed, topology: torus, dims: [2, 2], gateway: { flit_bytes: 8 } }
faults:
  - { type: fault.bits, on: t1.link, rate: 1e-5 }
run: { until: 50ms }
""")
        r = t.run()
        bad = r["g1.bad"]
        self.assertGreater(bad, 5)
        self.assertEqual(sum(r.all("t", ".bad")), 0)
        self.assertEqual(sum(r.all("t", ".sent")), 1600)
        self.assertEqual(sum(r.all("t", ".received")), 1600 - bad)
        self.assertEqual(sum(r.all("t", ".late")), 0)

    def test_tcp_runs_over_routers(self):
        t = Text(NODES["hvia"].replace("hvia.nic", "eth.nic") % 2 +
                 MESH % [2] + "workload:\n"
                 "  - { program: tcpip.pingpong, count: 3 }\n")
        r = t.run()
        self.assertGreater(r["n0.prog0.half_rtt"], 0)
        self.assertEqual(sum(r.all("g", ".dropped")), 0)


class Mistakes(unittest.TestCase):
    def test_gateway_of_a_source_that_needs_none(self):
        err = Text("""
traffic: { type: net.source, count: 4 }
fabric: { type: routed, topology: mesh, dims: [4], gateway: { window: 2 } }
""").fails()
        self.assertIn("leave out 'gateway'", err)

    def test_packets_that_no_queue_holds(self):
        err = extoll_stream().fails("fabric.switch.flow=cut_through",
                                    "fabric.switch.buf_flits=8")
        self.assertIn("gateway.packet_bytes to 128", err)

    def test_header_without_content(self):
        err = extoll_stream().fails("fabric.gateway.packet_bytes=32",
                                    "fabric.gateway.header_bytes=32")
        self.assertIn("set 33 or more", err)

    def test_another_class_than_a_gateway(self):
        err = extoll_stream().fails("fabric.gateway.type=extoll.xbar")
        self.assertIn("is not a gateway", err)

    def test_bare_links_beside_framed_ones(self):
        err = extoll_stream().fails("fabric.nic_switch.links=plain")
        self.assertIn("leave out 'links'", err)

    def test_ends_of_two_kinds(self):
        err = Text("""
nodes: { count: 2, host: { type: host.pc }, bus: { type: bus.ht }, nic: { type: extoll.nic } }
traffic: { type: net.source, count: 2 }
fabric: { type: routed, topology: mesh, dims: [4] }
""").fails()
        self.assertIn("ends of one kind", err)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ResourceWarning)
    unittest.main(warnings="ignore")
