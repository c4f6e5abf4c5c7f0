#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bytes cross the line in every system: traffic that checks what it receives,
on lines with bit errors.  Each of these runs ends with wrong bytes when the
receiver of its line does not compare the CRC (or FCS).

    test_bytes.py WEFT ROOT [unittest options]
"""
import json
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from weftlib import Run, execute

PC = """
nodes:
  count: %s
  host: { type: host.pc, preset: %s }
  bus: { type: %s }
  nic: { type: %s }
"""
TORUS = """
fabric: { type: torus, dims: [2, 2, 2], %sswitch: { type: extoll.xbar%s },
  link: { type: extoll.cable } }
faults: { on: "s*.lp*", type: fault.bits, rate: 3e-5 }
workload:
  %s- { program: ep.traffic, count: 40, size: 8, size_max: 16384 }
"""
RUNS = {
    "extoll": """
traffic: { type: extoll.gen, count: 27, load: 0.3, packets: 300, verify: yes,
  sizes: "8:60,64:30,256:8,4096:2" }
fabric: { type: torus, dims: [3, 3, 3] }
faults: { on: "s*.lp*", type: fault.bits, rate: 3e-4 }
run: { until: 100s }
""",
    "extoll 16": """
traffic: { type: extoll.gen, count: 8, load: 0.3, packets: 400, verify: yes,
  sizes: "8:60,64:30,256:8,4096:2", width: w16 }
fabric: { type: torus, dims: [2, 2, 2], routing: path,
  switch: { type: extoll.xbar, width: w16 } }
faults: { on: "s*.lp*", type: fault.bits, rate: 3e-4 }
run: { until: 100s }
""",
    "extoll NIC": PC % (8, "opteron", "bus.ht", "extoll.nic")
    + TORUS % ("", "", ""),
    "hostport": PC % (8, "opteron", "bus.ht",
                      "hostport.nic, net_clock: 312.5MHz")
    + TORUS % ("", ", preset: hostport", "- { program: hostport.driver }\n  "),
    "forth": """
traffic: { count: 4, type: forth.gen, dests: 4, load: 0.5, packets: 1500,
  size: 24, size_max: 512, resync: 4096 }
fabric:
  type: switch
  switch: { type: forth.xbar, ports: 4, resync: 4096 }
  link: { type: forth.link }
faults: { on: "t*.link", type: fault.bits, target: body, rate: 1e-6 }
run: { until: 12ms }
expect: { "t*.corrupt": 0 }
""",
    "atoll": PC % (2, "opteron", "bus.pcix", "atoll.nic, timeout: 2000") + """
fabric: { type: list, link: { type: link.cable, delay: 27.5ns },
  cables: [[n0.nic.link0, n1.nic.link1]] }
workload: { program: atoll.pingpong, count: 100, size: 1024, mode: dma }
faults: { on: "n*.nic.link*", type: fault.bits, target: body, rate: 1e-4 }
""",
    "ethernet": """
traffic: { type: eth.gen, count: 4, stations: 4, size: 300, frames: 300,
  load: 0.3 }
fabric: { type: switch, switch: { type: eth.switch, ports: 4 },
  link: { type: eth.cable } }
faults:
  - { on: "t*.link", type: fault.bits, rate: 1e-5 }
  - { on: "s0.port*", type: fault.bits, rate: 1e-5 }
run: { until: 5ms }
expect: { "t*.wrong": 0 }
""",
    "hvia": PC % (2, "hvia", "bus.pci, preset: pci64-66", "hvia.nic") + """
fabric: { type: direct, link: { type: eth.cable } }
faults: { type: fault.bits, on: "n*.nic.link", target: payload, rate: 1e-5 }
workload: { program: ep.conformance, messages: 30, puts: 20, gets: 20,
  atomics: 20, use_irq: true }
""",
}
# Counters of the receivers that found something.
FOUND = {
    "extoll": ("s", ".crc_errors"), "extoll 16": ("s", ".crc_errors"),
    "extoll NIC": ("s", ".crc_errors"), "hostport": ("s", ".crc_errors"),
    "forth": ("s0", ".body_crc"), "atoll": ("n", ".bad_flits"),
    "ethernet": ("t", ".bad"), "hvia": ("n", ".bad_fcs"),
}


class Bytes(unittest.TestCase):
    def check(self, name):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.yaml")
            with open(path, "w") as f:
                f.write("name: bytes/x\n" + RUNS[name])
            p = execute("run", path, "--format", "json")
        self.assertEqual(p.returncode, 0, p.stderr)
        r = Run(json.loads(p.stdout))
        self.assertGreater(sum(r.all("fault", ".hit")), 10)
        self.assertGreater(sum(r.all(*FOUND[name])), 5)


for n in RUNS:
    setattr(Bytes, "test_%s_delivers_what_was_sent_or_nothing"
            % n.lower().replace(" ", "_"),
            lambda self, n=n: self.check(n))

if __name__ == "__main__":
    unittest.main()
