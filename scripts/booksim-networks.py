#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of routers (net.router) beside BookSim2: one configuration drives
both (booksim_peer.py).

    BOOKSIM=path/to/booksim scripts/booksim-networks.py WEFT [zero|load|limit|speed]
                                                        [WORD...]

zero    latency without load, its least and its greatest over the pairs of two
        patterns, must be equal to the cycle
load    mean latency within 2 % or inside both confidence intervals
limit   flits that are accepted when 1 per cycle is offered, within 2 %
speed   user time of both for the same network, load and number of cycles

Prints tables for docs/systems/router-booksim2.md.  Words choose configurations
whose name has all of them.  A wrong one makes the exit status 1.
"""
import math
import os
import sys

from booksim_peer import BASE, booksim, weft

MESH = {"topology": "mesh", "k": 4, "n": 2, "routing_function": "dor",
        "loads": [0.2, 0.4]}
TORUS = {"topology": "torus", "k": 4, "n": 2, "routing_function": "dim_order",
         "loads": [0.25, 0.5]}
BALANCED = {**TORUS, "routing_function": "dim_order_bal"}
FLY = {"topology": "fly", "k": 4, "n": 2, "routing_function": "dest_tag",
       "loads": [0.2, 0.4]}
XBAR = {**FLY, "k": 8, "n": 1, "loads": [0.3, 0.5]}
TREE = {"topology": "fattree", "k": 4, "n": 2, "routing_function": "nca",
        "loads": [0.25, 0.5]}
TREE2 = {**TREE, "k": 2, "n": 4, "loads": [0.2, 0.4]}
QTREE = {**TREE, "topology": "qtree", "n": 3, "loads": [0.03, 0.05]}
CMESH = {"topology": "cmesh", "k": 4, "n": 2, "c": 4, "x": 4, "y": 4, "xr": 2,
         "yr": 2, "routing_function": "dor_no_express", "loads": [0.05, 0.08],
         "patterns": ("uniform", "bitcomp")}
FLAT = {**CMESH, "topology": "flatfly", "c": 1, "xr": 1, "yr": 1,
        "routing_function": "ran_min", "loads": [0.3, 0.6],
        "patterns": ("neighbor", "bitcomp")}
FLAT4 = {**CMESH, "topology": "flatfly", "routing_function": "ran_min",
         "loads": [0.2, 0.4]}
DRAGON = {"topology": "dragonflynew", "k": 2, "n": 1, "num_vcs": 2,
          "routing_function": "min", "vc_buf_size": 256, "loads": [0.2, 0.4],
          "patterns": ("uniform", "asymmetric")}
UGAL = {**DRAGON, "routing_function": "ugal", "num_vcs": 3}
SHORT = {"packet_size": 1}
LONG = {"packet_size": 32, "vc_buf_size": 32}
HOLD = {"hold_switch_for_packet": 1}


def alloc(name):
    return {"vc_allocator": name, "sw_allocator": name}


INPUT_FIRST = alloc("separable_input_first")
# Variants of the router: name, settings.
ROUTERS = [
    ("routing 0", {"routing_delay": 0}),
    ("routing 3", {"routing_delay": 3}),
    ("VC allocation 2", {"vc_alloc_delay": 2}),
    ("switch allocation 2, hold", {"sw_alloc_delay": 2, **HOLD}),
    ("crossbar 3", {"st_prepare_delay": 1, "st_final_delay": 2}),
    ("speculative", {"speculative": 1, **INPUT_FIRST}),
    ("speculative, routing 0", {"speculative": 1, "routing_delay": 0,
                                **INPUT_FIRST}),
    ("input first", INPUT_FIRST),
    ("input first, matrix", alloc("separable_input_first(matrix)")),
    ("output first", alloc("separable_output_first")),
    ("output first, matrix", alloc("separable_output_first(matrix)")),
    ("islip 3", alloc("islip(3)")),
    ("wavefront", alloc("wavefront")),
    ("maximum", alloc("max_size")),
    ("oldest first", {**INPUT_FIRST, "priority": "age"}),
    ("wait for tail", {"wait_for_tail_credit": 1}),
    ("busy when full", {"vc_busy_when_full": 1, "vc_buf_size": 4}),
    ("2 VCs of 8", {"num_vcs": 2, "vc_buf_size": 8}),
    ("8 VCs", {"num_vcs": 8}),
    ("speedup 2", {"internal_speedup": 2.0}),
    ("input speedup 2", {"input_speedup": 2}),
    ("output speedup 2", {"output_speedup": 2}),
    ("input and output speedup 2, hold", {
        "input_speedup": 2, "output_speedup": 2, **HOLD}),
    ("credit delay 4", {"credit_delay": 4, "vc_buf_size": 8}),
]
# BookSim2 ends with an assertion as soon as packets meet.
FAILS = ("VC allocation 2", "switch allocation 2")
# Replies do not saturate, and classes have rates of their own.
MEANS_ONLY = {"use_read_write", "rates"}


def sizes(name, settings):
    """A network with packets of three sizes, and with the switch held."""
    yield name, settings
    # A VC passes a packet in three cycles.
    yield name + ", 1 flit", {**settings, **SHORT, "loads": [
        x / max(1, 4 / settings.get("num_vcs", 4)) for x in settings["loads"]]}
    yield name + ", 32 flits", {**LONG, **settings, "packet_size": 32}
    yield name + ", hold", {**settings, **HOLD}


def classes():
    """Requests with replies, and classes of packets: name, settings."""
    reads = {**MESH, "num_vcs": 8, "vc_buf_size": 8, "use_read_write": 1,
             "write_fraction": 0.3, "read_request_size": 1,
             "read_reply_size": 5, "write_request_size": 5,
             "write_reply_size": 1}
    for of in ("read_request", "read_reply", "write_request", "write_reply"):
        reads.update({of + "_begin_vc": -1, of + "_end_vc": -1})
    yield "mesh 4x4, reads and writes", reads
    yield "torus 4x4, reads and writes", {
        **reads, "topology": "torus", "routing_function": "dim_order"}
    two = {**MESH, "classes": 2, "packet_size": "{1,8}",
           "traffic": "{transpose,uniform}", **INPUT_FIRST}
    for c in 0, 1:
        yield f"mesh 4x4, class {c} of 2", {
            **two, "rates": (0.05, 0.3), "compared": c}
        yield f"mesh 4x4, class {c} of 2, priorities", {
            **two, "rates": (0.05, 0.3), "compared": c, "priority": "class",
            "class_priority": "{1,0}"}


def confs():
    """Name, settings."""
    for name, s in [("mesh 4x4", MESH), ("torus 4x4", TORUS),
                    ("fly 4x4", FLY), ("crossbar 8", XBAR),
                    ("fat tree 4x4", TREE), ("flatfly 4x4", FLAT),
                    ("dragonfly 72", DRAGON)]:
        yield from sizes(name, s)
    yield "mesh 8x8", {**MESH, "k": 8, "loads": [0.15, 0.3]}
    yield "torus 4x4x4", {**TORUS, "n": 3}
    yield "torus ring 7", {**TORUS, "k": 7, "n": 1, "loads": [0.15, 0.3]}
    yield "mesh row 8", {**MESH, "k": 8, "n": 1, "loads": [0.15, 0.3]}
    yield from classes()
    yield from sizes("torus 4x4, balanced", BALANCED)
    yield "torus 4x4x4, balanced", {**BALANCED, "n": 3}
    yield "torus ring 7, balanced", {**BALANCED, "k": 7, "n": 1,
                                     "loads": [0.15, 0.3]}
    yield "torus 8x8, balanced, tornado", {
        **BALANCED, "k": 8, "traffic": "tornado", "loads": [0.1, 0.2]}
    yield "torus 4x4, cables of 2", {**TORUS, "use_noc_latency": 1}
    for name, s in ROUTERS:
        yield "mesh 4x4, " + name, {**MESH, **s}
    for name, s in ROUTERS[::3]:
        yield "torus 4x4, " + name, {**TORUS, **s}
    for routing in ["valiant", "romm", "xy_yx", "adaptive_xy_yx", "min_adapt"]:
        yield f"mesh 4x4, {routing}", {
            **MESH, "routing_function": routing, "loads": [0.15, 0.25]}
    yield "mesh 4x4, planar_adapt", {
        **MESH, "routing_function": "planar_adapt", "num_vcs": 6}
    yield "torus 4x4, valiant", {**TORUS, "routing_function": "valiant",
                                 "loads": [0.15, 0.25]}
    yield "cmesh 4x4, 4 ends", CMESH
    yield "cmesh 4x4, 4 ends, dor", {**CMESH, "routing_function": "dor"}
    yield "cmesh 4x4, 4 ends, dor, cables of 2 and 4", {
        **CMESH, "routing_function": "dor", "use_noc_latency": 1}
    yield "tree4", {**TREE, "topology": "tree4", "n": 3,
                    "loads": [0.15, 0.3]}
    yield "fat tree 4x4, adaptive", {**TREE, "routing_function": "anca"}
    yield "fat tree 2x2x2x2", TREE2
    yield "fat tree 2x2x2x2, adaptive", {**TREE2, "routing_function": "anca"}
    yield "tree of 64, one cable up", QTREE
    for routing, load in [("ran_min", 0.4), ("xyyx", 0.4),
                          ("adaptive_xyyx", 0.4), ("valiant", 0.2),
                          ("ugal", 0.4)]:
        yield f"flatfly 4x4, 4 ends, {routing}", {
            **FLAT4, "routing_function": routing, "loads": [load / 2, load]}
    yield "dragonfly 72, ugal", UGAL
    yield "dragonfly 72, ugal, next group", {
        **UGAL, "traffic": "bad_dragon", "loads": [0.08, 0.15]}
    yield "dragonfly 72, next group", {
        **DRAGON, "traffic": "bad_dragon", "loads": [0.04, 0.08]}
    yield "dragonfly 72, speedup 2", {
        **DRAGON, "internal_speedup": 2.0, "routing_delay": 0}
    for pattern in ["transpose", "tornado", "bitcomp", "shuffle"]:
        yield f"mesh 4x4, {pattern}", {**MESH, "traffic": pattern,
                                       "loads": [0.1, 0.2]}
        yield f"torus 4x4, {pattern}", {**TORUS, "traffic": pattern,
                                        "loads": [0.1, 0.2]}


# ---- comparisons: each prints a row, and returns whether both are equal ----

def of(c, load, period, **more):
    """Settings of a run."""
    settings = {**BASE, **c, "injection_rate": float(load),
                "sample_period": period, **more}
    if "rates" in c:
        settings["injection_rate"] = "{%s,%s}" % c["rates"]
    for key in ("loads", "patterns", "rates"):
        settings.pop(key, None)
    return settings


def ends_of(c):
    k, n = c["k"], c["n"]
    return k ** n


def ranges(program, peer, c, load, period, seeds):
    """Least and greatest latency in two patterns, by both: the least of the
    seeds, so that packets that met do not count."""
    both = []
    for call, path in ((booksim, peer), (weft, program)):
        got = []
        for pattern in c.get("patterns", ("neighbor", "bitcomp")):
            if pattern == "bitcomp" and ends_of(c) & (ends_of(c) - 1):
                pattern = "tornado"
            runs = [call(path, of(c, load, period, traffic=pattern, seed=s))
                    for s in seeds]
            got += [min(r["min"] for r in runs), min(r["max"] for r in runs)]
        both.append(got)
    return both


def zero(program, peer, name, c):
    """At a load so low that packets hardly meet. If the programs differ, at a
    lower one where packets met, and for long where a seed of random traffic may
    lack the pair that is furthest apart."""
    load = 0.0001 * c.get("packet_size", BASE["packet_size"])
    for share, period, seeds in ((1, 13333, (1,)), (5, 80000, (1, 2, 3)),
                                 (20, 1600000, (1, 2))):
        them, us = ranges(program, peer, c, load / share, period, seeds)
        if them == us:
            break
    text = ["{:.0f} to {:.0f}, {:.0f} to {:.0f}".format(*v)
            for v in (them, us)]
    print(f"| {name} | {text[0]} | {text[1]} |"
          f" {'' if them == us else 'differs !'} |", flush=True)
    return them == us


def interval(values):
    n = len(values)
    mean = sum(values) / n
    dev = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    return mean, {2: 12.7, 5: 2.78}[n] * dev / math.sqrt(n)  # Student's t


def means(program, peer, c, load, seeds):
    ours = [weft(program, of(c, load, 1500, seed=s))["mean"] for s in seeds]
    theirs = [booksim(peer, of(c, load, 1500, seed=s))["mean"] for s in seeds]
    return interval(theirs), interval(ours)


def load_of(program, peer, name, c):
    """More seeds if two are further apart than 2 %."""
    if any(w in name for w in FAILS):
        return True
    load = c["loads"][1]
    (theirs, t_ci), (ours, o_ci) = means(program, peer, c, load, (1, 2))
    if not abs(ours / theirs - 1) <= 0.02:
        (theirs, t_ci), (ours, o_ci) = means(program, peer, c, load,
                                             (1, 2, 3, 4, 5))
    off = ours / theirs - 1
    fine = abs(off) <= 0.02 or abs(ours - theirs) <= t_ci + o_ci
    print(f"| {name} | {load} | {theirs:.1f} +- {t_ci:.1f} |"
          f" {ours:.1f} +- {o_ci:.1f} | {100 * off:+.1f} %"
          f"{'' if fine else ' !'} |", flush=True)
    return fine


def limit(program, peer, name, c, period=1000):
    """The mean of three seeds if one is further off.  Weft measures a second window, twice as long behind the first, because
    queues grow in that.  BookSim2 measures the same cycles."""
    if any(w in name for w in FAILS):
        return True
    us = them = off = 0
    for n, seed in enumerate((1, 2, 3), 1):
        us += weft(program, of(c, 1.0, period, seed=seed))["accepted"]
        them += booksim(peer, of(c, 1.0, 2 * period, warmup_periods=2,
                                 max_samples=5, seed=seed))["accepted"]
        off = us / them - 1
        if abs(off) <= 0.02:
            break
    us, them = us / n, them / n
    fine = abs(off) <= 0.02
    print(f"| {name} | {them:.3f} | {us:.3f} | {100 * off:+.1f} %"
          f"{'' if fine else ' !'} |", flush=True)
    return fine


def speeds():
    """Name, settings: packets of three lengths, long ones also with the switch
    held."""
    for name, s in [("torus 4x4x4", {**TORUS, "n": 3}),
                    ("fat tree 4x4x4", {**TREE, "n": 3}),
                    ("dragonfly 72", {**DRAGON, "vc_buf_size": 16})]:
        yield name + ", 1 flit", {**s, **SHORT}
        for hold, how in [(HOLD, ", hold"), ({}, "")]:
            yield f"{name}, 8 flits{how}", {**s, **hold, "packet_size": 8}
            yield f"{name}, 32 flits{how}", {**s, **LONG, **hold}


def speed(program, peer, name, c):
    load, period = c["loads"][0], 5000
    ours = weft(program, of(c, load, period))
    theirs = booksim(peer, of(c, load, period))
    print(f"| {name} | {theirs['spent']:.2f} | {ours['spent']:.3f} |"
          f" {theirs['spent'] / ours['spent']:.0f} |", flush=True)
    return True


HEADS = {
    "zero": "| network | BookSim2 | Weft | |\n|---|---|---|---|",
    "load": "| network | load | BookSim2 | Weft | |\n|---|---|---|---|---|",
    "limit": "| network | BookSim2 | Weft | |\n|---|---|---|---|",
    "speed": "| network | BookSim2, s | Weft, s | times |\n|---|---|---|---|",
}


def main(argv):
    peer = os.environ.get("BOOKSIM")
    if len(argv) < 2 or not peer:
        sys.exit(__doc__)
    what = argv[2] if len(argv) > 2 else "zero"
    step = {"zero": zero, "load": load_of, "limit": limit,
            "speed": speed}[what]
    print(HEADS[what])
    bad = n = 0
    for name, settings in speeds() if what == "speed" else confs():
        if not all(w in name for w in argv[3:]):
            continue
        if what != "load" and MEANS_ONLY & settings.keys():
            continue
        n += 1
        bad += not step(argv[1], peer, name, settings)
    print(f"\n{n} configurations, {bad} differ")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
