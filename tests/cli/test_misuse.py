#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Experiments with EXTOLL and the Host Port that cannot be built or cannot work:
each ends with a sentence that says what to do, and never crashes, hangs or runs
as something else.

    test_misuse.py WEFT [unittest options]
"""
import os
import subprocess
import sys
import unittest

WEFT = os.path.abspath(sys.argv[1])

NODES = """
nodes:
  count: 2
  host: {type: host.pc}
  bus: {type: bus.ht}
  nic: {type: extoll.nic}
fabric: {type: torus, dims: [2]}
workload: [{program: extoll.velo_pingpong}]
run: {until: 1ms}
"""
RATE = NODES.replace("velo_pingpong", "velo_rate")
TRAFFIC = """
traffic: {type: extoll.gen, count: 4, load: 0.1}
fabric: {type: torus, dims: [4]}
run: {until: 100us}
"""
PLAIN = TRAFFIC.replace("dims: [4]", "dims: [4], switch: {preset: plain}")
HOST = """
nodes:
  count: 2
  host: {type: host.pc}
  bus: {type: bus.pci}
  nic: {type: hostport.nic, net_clock: 312.5MHz}
fabric:
  type: mesh
  dims: [2]
  switch: {type: extoll.xbar, preset: hostport}
  link: {type: extoll.cable}
workload:
  - {program: hostport.driver, background: true}
  - {program: hostport.pingpong, count: 2}
"""
ULTRA = HOST.replace("hostport.pingpong", "ultra.pingpong")
STREAM = HOST.replace("hostport.pingpong", "hostport.stream")
# two programs of node 0 take a port of ULTRA each
ULTRAS = ULTRA.replace("count: 2\n  host", "count: 3\n  host") \
    .replace("[2]", "[3]") + "  - {program: ultra.pingpong, partner: 2}\n"
ISSUE = HOST.replace("hostport.pingpong", "hostport.issue")
POSTED = HOST.replace("count: 2}", "count: 2, way: posted, mtu: 64}")
CROWD = HOST.replace("hostport.pingpong, count: 2",
                     "hostport.crowd, on: 0, processes: 8, servers: 4, "
                     "instructions: 20")
NEIGHBOURS = HOST.replace("hostport.pingpong, count: 2",
                          "hostport.neighbours, on: 0, time: 50us")

# text, --set, what the message contains
WRONG = [
    (NODES, "fabric.dims=[3]", "set nodes.count or traffic.count to 3"),
    (NODES, "fabric.dims=[0]", "dims: '0' is below 1"),
    (NODES, "fabric.dims=2x2", "write a list"),
    (NODES, "fabric.routing=foo", "none of path|table"),
    (NODES, "fabric.type=torrus", "did you mean 'torus'"),
    (NODES, "fabric.switch.type=forth.xbar", "cannot stand in a direct network"),
    (NODES, "nodes.nic.type=forth.nic", "cannot stand in a direct network"),
    (NODES, "extoll.nic.width=w16", "the same kind and width"),
    (NODES, "extoll.nic.clock=200MHz", "one core clock"),
    (NODES, "s1.clock=200MHz", "one core clock"),
    (NODES, "n0.nic.ppm=100", "one core clock"),
    (TRAFFIC, "extoll.gen.clock=200MHz", "one core clock"),
    (TRAFFIC, "fabric.cut=[s9.lp0]", "'s9.lp0' is no link port"),
    (TRAFFIC, "fabric.cut=[[0,2]]", "no cable from node 0 to 2"),
    (TRAFFIC, "traffic.size_max=5", "size_max: 5 is below 64"),
    (TRAFFIC, "traffic.sizes=8:x", "SIZE:WEIGHT"),
    (TRAFFIC, "traffic.sizes=5000:1", "of at most 4096"),
    (TRAFFIC, "traffic.trace=/dev/null", "no file"),
    (TRAFFIC, "traffic.pattern=transposed", "none of"),
    (TRAFFIC, "extoll.gen.cell_flits=4", "hold the longest route"),
    (TRAFFIC, "extoll.gen.cell_flits=40",
     "s0: cells of 16 flits at most: t0 sends cells of 40; write links: "
     "plain, cell_flits: 40"),
    (PLAIN, "extoll.xbar.cell_flits=12", "t0 sends cells of 16"),
    (TRAFFIC, "extoll.xbar.cell_flits=20", "cells of framed links have 64"),
    (HOST, "fabric.switch={type: extoll.xbar, preset: hostport, links: plain, "
     "cell_flits: 31}",
     "s0: cells of 31 flits at most: n0.nic sends cells of 32"),
    (TRAFFIC, "extoll.xbar.slots=16", "slots cannot be"),
    (TRAFFIC, "traffic.type=forth.gen", "cannot stand in a direct network"),
    (PLAIN, "s0.clock=100MHz", "one core clock"),
    (HOST, "hostport.nic.n_np=3", "'3' is above 2"),
    (HOST, "hostport.nic.n_req_fu=0", "'0' is below 1"),
    (HOST, "hostport.nic.csb_depth=0", "'0' is below 1"),
    (HOST, "hostport.nic.ctx_cache=0", "'0' is below 4"),
    (HOST, "hostport.nic.f_core=0", "no clock: write e.g. 100MHz"),
    (HOST, "hostport.nic.net_clock=100MHz", "one core clock"),
    (HOST, "hostport.nic.width=w32", "the same kind and width"),
    (HOST, "nodes.nic.preset=foo", "no preset 'foo': why not 'fpga'"),
    (HOST, "nodes.bus.preset=foo", "no preset 'foo'"),
    (HOST, "nodes.bus.type=bus.pcix", "needs bus.pci or bus.ht"),
    (HOST, "nodes.bus.type=hostport.nic", "is a nic"),
    (HOST, "workload.1.size=12", "no multiple of 8"),
    (HOST, "workload.1.size=0", "is below 8"),
    (HOST, "workload.1.size=2MiB", "is above 1048576"),
    (HOST, "workload.1.mtu=4", "no multiple of 8"),
    (HOST, "workload.1.way=sent", "none of"),
    (ULTRA, "workload.1.size=400", "'400' is above 248"),
    (ULTRA, "hostport.nic.ultra_max_words=0", "'0' is below 1"),
    (ULTRA, "hostport.nic.ultra_packet_queue=32", "ultra_port_slice: 64"),
    (CROWD, "workload.1.processes=65537", "'65537' is above 65536"),
    (CROWD, "workload.1.processes=0", "'0' is below 1"),
    (CROWD, "workload.1.cpus=0", "'0' is below 1"),
    (NEIGHBOURS, "workload.1.victims=5000", "'5000' is above 4096"),
    (NEIGHBOURS, "workload.1.size=4", "no multiple of 8"),
    (NEIGHBOURS, "workload.1.time=0", "is below 1us"),
    (HOST.replace("hostport.nic, net_clock: 312.5MHz", "extoll.nic")
     .replace("bus.pci", "bus.ht").replace(", preset: hostport", ""),
     "nodes.count=2", "hostport.driver drives hostport.nic, but the NIC of n0 is "
     "extoll.nic"),
]
ATOLL = """
nodes:
  count: 2
  host: {type: host.pc}
  bus: {type: bus.pcix}
  nic: {type: atoll.nic}
fabric: {type: list, link: {type: link.cable, delay: 27.5ns},
  cables: [[n0.nic.link0, n1.nic.link1]]}
workload: [{program: atoll.pingpong, count: 2, size: 512}]
"""
WRONG += [
    (ATOLL, "workload.0.size=1000", "by PIO has 512 at most; mode: dma takes"),
    (ATOLL, "workload.0.size=12", "no multiple of 8"),
]
# found out while it runs: text, --set, what a message contains
FAILS = [
    (RATE, "workload.0.partner=0", "n0.prog0: partner: one of 1..1"),
    (HOST, "workload.1.partner=7", "partner: one of 1..1"),
    (STREAM, "workload.1.partner=0", "n1.prog1: partner: one of 1..1"),
    (ISSUE, "workload.1.partner=7", "n1.prog1: partner: one of 1..1"),
    (HOST, "host.pc.mem_bytes=1MiB", "no memory left on the node: give it more"),
    (CROWD, "host.pc.mem_bytes=1MiB", "no memory left on the node: give it more"),
    (POSTED, "workload.1.size=1928", "messages of up to 30 segments"),
    (ULTRAS, "hostport.nic.ultra_ports=1",
     "n2.prog2: no path: taken already: another program of the node has it"),
    (ULTRA, "hostport.nic.ultra_max_words=1", "takes tag and 0 bytes"),
    (HOST.replace("  - {program: hostport.driver, background: true}\n", "")
     .replace("count: 2}\n", "count: 2, way: put, size: 256KiB}\n"),
     "hostport.nic.tlb=16", "does the node run hostport.driver?"),
]
# fault on a line: on, type, message
FAULTS = [
    (NODES, "s0.np0", "fault.delay", "nothing can sit on a channel inside"),
    (NODES, "n0.nic.np0", "fault.bits", "n0.nic.np0"),
    (NODES, "net", "fault.bits", "no port 'net'"),
    (PLAIN, "s0.lp0", "fault.bits", "need framed links"),
]


def refused(text, *args):
    p = subprocess.run([WEFT, "run", "-", *args], input=text, text=True,
                       capture_output=True, timeout=60)
    return p.returncode, p.stderr


class Misuse(unittest.TestCase):
    def check(self, message, text, *args):
        status, err = refused(text, *args)
        self.assertEqual(status, 2, err)
        self.assertIn(message, err)
        self.assertEqual(err.count("\n"), 1, err)

    def test_wrong_setting_is_refused_in_one_line(self):
        for text, value, message in WRONG:
            with self.subTest(value=value):
                self.check(message, text, "--set", value)

    def test_failure_during_a_run_names_its_reason(self):
        for text, value, message in FAILS:
            with self.subTest(value=value):
                status, err = refused(text, "--set", value)
                self.assertEqual(status, 1, err)
                self.assertIn(message, err)
                self.assertNotIn("lost inside the models", err)

    def test_misplaced_fault_is_refused_in_one_line(self):
        for text, on, kind, message in FAULTS:
            with self.subTest(on=on, kind=kind):
                self.check(message,
                           text + f"faults: {{on: {on}, type: {kind}}}\n")

    def test_source_needs_the_clock_of_all_crossbars(self):
        self.check("that of all crossbars", TRAFFIC, "--set",
                   "s1.clock=200MHz", "--set", "t1.clock=200MHz")

    def test_network_without_ends_is_refused(self):
        self.check("here are 0 ends", "fabric: {type: torus, dims: [2, 2]}")

    # Right settings must be accepted, with another crystal in one node, too.
    def test_right_settings_run(self):
        for text, args in (
                (NODES, ()), (TRAFFIC, ()), (PLAIN, ()), (HOST, ()),
                (ULTRA, ()), (ULTRAS, ()), (ISSUE, ()), (CROWD, ()),
                (NEIGHBOURS, ()), (ATOLL, ()),
                (ATOLL, ("--set", "workload.0.size=65536", "--set",
                         "workload.0.mode=dma")),
                (HOST, ("--set", "workload.1.mtu=0")),
                (POSTED, ("--set", "workload.1.size=1920")),
                (HOST, ("--set", "bus.pci.clock=2ns",
                        "--set", "hostport.nic.f_core=500MHz")),
                (NODES, ("--set", "n0.nic.ppm=100", "--set", "s0.ppm=100")),
                (NODES, ("--set", "extoll.*.clock=200MHz"))):
            with self.subTest(args=args):
                self.assertEqual(refused(text, *args)[0], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[1:])
