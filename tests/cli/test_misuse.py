#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Experiments with EXTOLL that cannot be built: each is refused with a sentence
that says what to do, and never crashes or runs as something else.

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
TRAFFIC = """
traffic: {type: extoll.gen, count: 4, load: 0.1}
fabric: {type: torus, dims: [4]}
run: {until: 100us}
"""
PLAIN = TRAFFIC.replace("dims: [4]", "dims: [4], switch: {preset: plain}")

# text, --set, what the message contains
WRONG = [
    (NODES, "fabric.dims=[3]", "set nodes.count or traffic.count to 3"),
    (NODES, "fabric.dims=[0]", "dims: '0' is below 1"),
    (NODES, "fabric.dims=2x2", "write a list"),
    (NODES, "fabric.routing=foo", "none of path|table"),
    (NODES, "fabric.type=torrus", "did you mean 'torus'"),
    (NODES, "fabric.switch.type=forth.xbar", "cannot stand in a network"),
    (NODES, "nodes.nic.type=forth.nic", "cannot stand in a network"),
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
    (TRAFFIC, "extoll.xbar.slots=16", "slots cannot be"),
    (TRAFFIC, "traffic.type=forth.gen", "cannot stand in a network"),
    (PLAIN, "s0.clock=100MHz", "one core clock"),
]
# what sits on a line: on, type, message
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

    def test_settings(self):
        for text, value, message in WRONG:
            with self.subTest(value=value):
                self.check(message, text, "--set", value)

    def test_faults(self):
        for text, on, kind, message in FAULTS:
            with self.subTest(on=on, kind=kind):
                self.check(message,
                           text + f"faults: {{on: {on}, type: {kind}}}\n")

    def test_clocks_of_sources(self):
        self.check("that of all crossbars", TRAFFIC, "--set",
                   "s1.clock=200MHz", "--set", "t1.clock=200MHz")

    def test_no_ends(self):
        self.check("here are 0 ends", "fabric: {type: torus, dims: [2, 2]}")

    # What is right must stay so: a node with another crystal, and all well.
    def test_right(self):
        for text, args in (
                (NODES, ()), (TRAFFIC, ()), (PLAIN, ()),
                (NODES, ("--set", "n0.nic.ppm=100", "--set", "s0.ppm=100")),
                (NODES, ("--set", "extoll.*.clock=200MHz"))):
            with self.subTest(args=args):
                self.assertEqual(refused(text, *args)[0], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[1:])
