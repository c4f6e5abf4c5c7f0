#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Latency over load of direct networks, Weft beside BookSim2.

    BOOKSIM=path/to/booksim scripts/booksim-curve.py WEFT [K [FLITS...]]
    BOOKSIM=path/to/booksim scripts/booksim-curve.py --table

K x K x K nodes (4), dimension order, uniform traffic, one crossbar of five
cycles per hop (preset `plain`) against BookSim2's input-queued router of five
cycles with four virtual channels of 32 flits.  BookSim2 runs twice: as it is,
and with connections held for a packet, which is what a crossbar of whole cells
does.  Prints a table of packet latency in cycles / accepted flits per cycle.

With --table BookSim2 runs alone, packets held, over the networks, patterns and
loads of CASES: the output is tests/system/booksim.json, which
tests/system/test_booksim.py compares Weft with.
"""
import json
import os
import sys

import booksim_peer
from booksim_peer import BASE, result_of, run

LOADS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
FLITS = 8

# network, pattern, loads: the last one is where queues show
CASES = [
    ("torus", [4, 4, 4], "uniform", [0.2, 0.45, 0.65]),
    ("torus", [4, 4, 4], "transpose", [0.1, 0.2, 0.28]),
    ("torus", [4, 4, 4], "tornado", [0.2, 0.45, 0.7]),
    ("torus", [7], "uniform", [0.2, 0.45, 0.6]),
    ("torus", [7], "tornado", [0.05, 0.1, 0.2]),
    ("mesh", [4, 4], "uniform", [0.2, 0.45, 0.6]),
    ("mesh", [4, 4], "transpose", [0.1, 0.2, 0.28]),
    ("mesh", [4, 4], "tornado", [0.1, 0.3, 0.45]),
]

EXPERIMENT = """
payload: none
traffic: {{ type: extoll.gen, preset: plain, count: {nodes}, flits: {flits},
  load: {load}, pattern: {pattern} }}
fabric:
  type: {topology}
  dims: {dims}
  {tie}
  routing: {routing}
  switch: {{ type: extoll.xbar, preset: plain }}
  link: {{ type: extoll.cable, length: 0.0001 }}
  net: {{ warmup: {period}, measure: {measure} }}
run: {{ until: 100ms }}
record: {{ counters: none }}
"""


def case_of(topology, dims, pattern, flits, load, period, tie="random"):
    nodes = 1
    for k in dims:
        nodes *= k
    return {"topology": topology, "dims": dims, "nodes": nodes, "k": dims[0],
            "n": len(dims), "pattern": pattern, "flits": flits, "load": load,
            "period": period, "measure": 3 * period,
            "tie": f"tie: {tie}" if topology == "torus" else "",
            "routing": "path" if tie == "random" else "table"}


def weft(program, case):
    out, _ = run(EXPERIMENT.format(**case),
                 [program, "run", "FILE", "--format", "json"], "c.yaml")
    result = result_of(out)
    return result["mean"], result["accepted"], result["state"]


def booksim(program, case, hold):
    result = booksim_peer.booksim(program, {
        **BASE, "topology": case["topology"], "k": case["k"], "n": case["n"],
        "routing_function": "dim_order", "vc_buf_size": 32,
        "traffic": case["pattern"], "packet_size": case["flits"],
        "injection_rate": case["load"], "hold_switch_for_packet": hold,
        "sample_period": case["period"]})
    return result["mean"], result["accepted"]


def table(peer):
    """All of CASES by BookSim2, as JSON."""
    rows = []
    for topology, dims, pattern, loads in CASES:
        for load in loads:
            case = case_of(topology, dims, pattern, FLITS, load, 10000)
            latency, accepted = booksim(peer, case, 1)
            rows.append({"topology": topology, "dims": dims,
                         "pattern": pattern, "load": load,
                         "latency": round(latency, 2),
                         "accepted": round(accepted, 4)})
    print("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]")


def curve(program, peer, k, flits):
    """One size of packets, all of LOADS."""
    period = {1: 1250, 8: 2500}.get(flits, 5000)
    print(f"\n{k}x{k}x{k}, {flits} flits: packet latency / accepted\n")
    print("| load | Weft | BookSim2 | BookSim2, packet held |")
    print("|---|---|---|---|")
    for load in LOADS:
        case = case_of("torus", [k, k, k], "uniform", flits, load, period,
                       "balanced")
        cells = [weft(program, case)[:2]]
        cells += [booksim(peer, case, h) for h in (0, 1)] if peer else []
        print(f"| {load} | " + " | ".join(
            f"{a:.1f} / {b:.3f}" for a, b in cells) + " |", flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    peer = os.environ.get("BOOKSIM")
    if sys.argv[1] == "--table":
        if not peer:
            sys.exit("name BookSim2's binary in BOOKSIM")
        table(peer)
        return
    k = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    for flits in [int(a) for a in sys.argv[3:]] or [1, 8, 32]:
        curve(sys.argv[1], peer, k, flits)
    if not peer:
        print("\nwithout BookSim2: name its binary in BOOKSIM")


if __name__ == "__main__":
    main()
