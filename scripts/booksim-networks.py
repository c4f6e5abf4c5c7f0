#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of routers (net.router) beside BookSim2, the same in both.

    BOOKSIM=path/to/booksim scripts/booksim-networks.py WEFT [zero|load|limit|speed]
                                                        [WORD...]

zero    latency without load, its least and its greatest over the pairs of two
        patterns, must be equal to the cycle
load    mean latency within 2 % or inside both confidence intervals
limit   flits that are accepted when 1 per cycle is offered, within 2 %
speed   user time of both for the same network, load and number of cycles
        (callgrind counts, if the variable CALLGRIND is set)

Prints tables for docs/systems/router.md.  Words choose configurations whose
name has all of them.  A wrong one makes the exit status 1.
"""
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile

EXPERIMENT = """
payload: none
seed: {seed}
traffic: {{ type: net.source, count: {nodes}, flits: {flits}, load: {load},
  pattern: {pattern}, self: yes }}
fabric:
  type: routed
  topology: {topology}
  dims: {dims}
  routing: {routing}
  switch: {{ vcs: {vcs}, buf_flits: {buf}, t_route: {rd}, t_vc_alloc: {vd},
    t_sw_alloc: {sd}, t_cross: {xd}, credit_delay: {cd}, vc_alloc: {va},
    sw_alloc: {sa}, vc_iterations: {vi}, sw_iterations: {si}, arbiter: {arb},
    speculative: {spec}, hold: {hold}, wait_for_tail: {tail},
    busy_when_full: {busy}, speedup: {speedup}, pipelined: {pipe} }}
  link: {{ latency: {lat} }}
  net: {{ warmup: {warmup}, measure: {measure} }}
run: {{ until: 100ms }}
record: {{ counters: none }}
"""

BOOKSIM = """
topology = {topology};
k = {k};
n = {n};
routing_function = {b_routing};
num_vcs = {vcs};
vc_buf_size = {buf};
wait_for_tail_credit = {b_tail};
vc_busy_when_full = {b_busy};
use_noc_latency = {b_lat};
vc_allocator = {b_va};
sw_allocator = {b_sa};
routing_delay = {rd};
vc_alloc_delay = {vd};
sw_alloc_delay = {sd};
st_final_delay = {xd};
credit_delay = {cd};
speculative = {b_spec};
hold_switch_for_packet = {b_hold};
internal_speedup = {speedup}.0;
priority = {b_pri};
traffic = {b_pattern};
injection_process = bernoulli;
injection_rate_uses_flits = 1;
packet_size = {flits};
injection_rate = {load};
sim_type = latency;
warmup_periods = {b_warmup};
sample_period = {period};
max_samples = {samples};
stopping_thres = -1.0;
acc_stopping_thres = -1.0;
latency_thres = -1.0;
deadlock_warn_timeout = 1000000;
seed = {seed};
"""

DEFAULT = {"topology": "mesh", "dims": [8, 8], "routing": "dimension_order",
           "vcs": 4, "buf": 16, "rd": 1, "vd": 1, "sd": 1, "xd": 1, "cd": 0,
           "va": "islip", "sa": "islip", "vi": 1, "si": 1,
           "arb": "round_robin", "spec": "no", "hold": "no", "tail": "no",
           "busy": "no", "speedup": 1, "lat": 1, "flits": 8,
           "pattern": "uniform", "seed": 1, "loads": [0.15, 0.3]}
ROUTINGS = {"dimension_order": "dim_order", "valiant": "valiant",
            "romm": "romm", "o1turn": "xy_yx", "destination_tag": "dest_tag",
            "minimal_adaptive": "min_adapt"}
PATTERNS = {"uniform": "uniform", "tornado": "tornado",
            "transpose": "transpose", "neighbour": "neighbor",
            "bit_complement": "bitcomp", "bit_reverse": "bitrev",
            "shuffle": "shuffle"}
ALLOCATORS = {"input_first": "separable_input_first",
              "output_first": "separable_output_first",
              "islip": "islip", "wavefront": "wavefront",
              "maximum": "max_size"}

T4 = {"topology": "torus", "dims": [4, 4, 4], "loads": [0.25, 0.5]}
T8 = {"topology": "torus", "dims": [8, 8], "loads": [0.2, 0.4]}
FLY = {"topology": "fly", "dims": [4, 4, 4], "routing": "destination_tag",
       "loads": [0.2, 0.4]}
XBAR = {"topology": "fly", "dims": [8], "routing": "destination_tag",
        "loads": [0.3, 0.5]}
SHORT = {"flits": 1}
LONG = {"flits": 32}


def confs():
    """Name, settings."""
    base = [("mesh 8x8", {}), ("torus 4x4x4", T4), ("torus 8x8", T8),
            ("fly 4x4x4", FLY), ("crossbar 8", XBAR),
            ("torus ring 7", {"topology": "torus", "dims": [7],
                              "loads": [0.15, 0.3]}),
            ("mesh row 8", {"dims": [8], "loads": [0.15, 0.3]})]
    for name, s in base:
        yield name, s
        yield name + ", 1 flit", {**s, **SHORT}
        yield name + ", 32 flits", {**s, **LONG, "buf": 32}
        yield name + ", hold", {**s, "hold": "yes"}
    variants = [
        ("routing 0", {"rd": 0}),
        ("routing 3", {"rd": 3}),
        ("VC allocation 2", {"vd": 2}),
        ("switch allocation 2, hold", {"sd": 2, "hold": "yes"}),
        ("switch allocation 3, hold", {"sd": 3, "hold": "yes"}),
        ("crossbar 3", {"xd": 3}),
        ("all 2, credits 2, hold", {"rd": 2, "vd": 2, "sd": 2, "xd": 2,
                                    "cd": 2, "hold": "yes"}),
        ("speculative", {"spec": "yes", "va": "input_first",
                         "sa": "input_first"}),
        ("speculative, routing 0", {"spec": "yes", "rd": 0,
                                    "va": "input_first",
                                    "sa": "input_first"}),
        ("input first", {"va": "input_first", "sa": "input_first"}),
        ("input first, matrix", {"va": "input_first", "sa": "input_first",
                                 "arb": "matrix"}),
        ("output first", {"va": "output_first", "sa": "output_first"}),
        ("output first, matrix", {"va": "output_first",
                                  "sa": "output_first", "arb": "matrix"}),
        ("islip 3", {"vi": 3, "si": 3}),
        ("wavefront", {"va": "wavefront", "sa": "wavefront"}),
        ("maximum", {"va": "maximum", "sa": "maximum"}),
        ("oldest first", {"va": "input_first", "sa": "input_first",
                          "arb": "age"}),
        ("wait for tail", {"tail": "yes"}),
        ("busy when full", {"busy": "yes", "buf": 4}),
        ("2 VCs of 4", {"vcs": 2, "buf": 4}),
        ("8 VCs", {"vcs": 8}),
        ("speedup 2", {"speedup": 2}),
        ("credit delay 4", {"cd": 4, "buf": 8}),
    ]
    for name, s in variants:
        yield "mesh 8x8, " + name, s
        yield "torus 4x4x4, " + name, {**T4, **s}
    yield "torus 8x8, cables of 2", {**T8, "lat": 2}
    for routing in ["valiant", "romm", "o1turn", "minimal_adaptive"]:
        s = {"routing": routing, "loads": [0.1, 0.2]}
        yield f"mesh 8x8, {routing}", s
        yield f"mesh 8x8, {routing}, transpose", {**s,
                                                  "pattern": "transpose"}
    yield "torus 8x8, valiant", {**T8, "routing": "valiant",
                                 "loads": [0.1, 0.2]}
    for pattern in ["transpose", "tornado", "bit_complement", "shuffle"]:
        yield f"mesh 8x8, {pattern}", {"pattern": pattern,
                                       "loads": [0.08, 0.15]}
        yield f"torus 4x4x4, {pattern}", {**T4, "pattern": pattern,
                                          "loads": [0.1, 0.2]}


def filled(settings):
    c = {**DEFAULT, **settings}
    c["k"], c["n"] = c["dims"][0], len(c["dims"])
    c["nodes"] = math.prod(c["dims"])
    c["b_routing"] = ROUTINGS[c["routing"]]
    c["b_pattern"] = PATTERNS[c["pattern"]]
    arb = "matrix" if c["arb"] == "matrix" else ""
    for key, n in (("va", c["vi"]), ("sa", c["si"])):
        name = ALLOCATORS[c[key]]
        c["b_" + key] = (f"islip({n})" if name == "islip" else
                         f"{name}({arb})" if arb else name)
    for key in ("spec", "hold", "tail", "busy"):
        c["b_" + key] = int(c[key] == "yes")
    # BookSim2 does not pipeline stages of several cycles.
    c["pipe"] = "no" if max(c[k] for k in ("rd", "vd", "sd", "xd")) > 1 else (
        "yes")
    c["b_pri"] = "age" if c["arb"] == "age" else "none"
    c["b_lat"] = int(c["lat"] == 2)
    return c


def run(text, suffix, command):
    with tempfile.NamedTemporaryFile("w", suffix=suffix) as f:
        f.write(text)
        f.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([a.replace("FILE", f.name) for a in command],
                              stdout=subprocess.PIPE, check=False, text=True,
                              stderr=subprocess.STDOUT)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return done.stdout, spent


def weft(program, c, load, warmup, measure):
    text = EXPERIMENT.format(**c, load=load, warmup=warmup, measure=measure)
    out, spent = run(text, ".yaml", [program, "run", "FILE", "--format",
                                     "json"])
    try:
        r = json.loads(out)
    except ValueError:
        sys.exit(text + out[-2000:])
    m = r["metrics"]
    h = next(h for h in r["histograms"] if h["name"] == "net.latency")
    return {"mean": m.get("net.latency", 0), "ci": m.get("net.latency_ci", 0),
            "accepted": m["net.accepted"], "min": h["min"], "max": h["max"],
            "spent": spent}


def booksim(program, c, load, warmup, measure, periods=1):
    """Without thresholds it measures three periods behind the warm-up."""
    period = max(warmup, measure // 3)
    text = BOOKSIM.format(**c, load=f"{load:.6f}", b_warmup=periods,
                          period=period,
                          samples=4)
    out, spent = run(text, ".cfg", [program, "FILE"])
    tail = out[out.find("====== Overall Traffic Statistics"):]

    def at(key, what):
        found = re.search(re.escape(key) + r" average = [^\n]*((?:\n\t[^\n]*)*)",
                          tail)
        if what == "average":
            found = re.search(re.escape(key) + r" average = ([0-9.e+-]+)",
                              tail)
            return float(found[1]) if found else float("nan")
        found = found and re.search(what + r" = ([0-9.e+-]+)", found[1])
        return float(found[1]) if found else float("nan")
    return {"mean": at("Packet latency", "average"),
            "min": at("Packet latency", "minimum"),
            "max": at("Packet latency", "maximum"),
            "accepted": at("Accepted flit rate", "average"), "spent": spent}


def ranges(program, peer, c, load, cycles):
    """Least and greatest latency in two patterns, by both: the least of three
    seeds, so that packets that met do not count."""
    both = []
    for call, path in ((booksim, peer), (weft, program)):
        got = []
        for pattern in ("neighbour", "bit_complement"):
            if pattern == "bit_complement" and c["nodes"] & (c["nodes"] - 1):
                pattern = "tornado"
            runs = [call(path, {**filled({**c, "pattern": pattern}),
                                "seed": s}, load, 100, cycles)
                    for s in (1, 2, 3)]
            got += [min(r["min"] for r in runs), min(r["max"] for r in runs)]
        both.append(got)
    return both


def zero(program, peer, name, c):
    """At a load so low that packets hardly meet, lower if they did."""
    them, us = ranges(program, peer, c, 0.0001 * c["flits"], 40000)
    if them != us:
        them, us = ranges(program, peer, c, 0.00001 * c["flits"], 120000)
    text = ["{:.0f} to {:.0f}, {:.0f} to {:.0f}".format(*v)
            for v in (them, us)]
    print(f"| {name} | {text[0]} | {text[1]} |"
          f" {'' if them == us else 'differs'} |", flush=True)
    return them == us


def interval(values):
    n = len(values)
    mean = sum(values) / n
    dev = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    return mean, {2: 12.7, 5: 2.78}[n] * dev / math.sqrt(n)  # Student's t


def means(program, peer, c, load, seeds):
    ours = [weft(program, {**c, "seed": s}, load, 1500, 4500)["mean"]
            for s in seeds]
    theirs = [booksim(peer, {**c, "seed": s}, load, 1500, 4500)["mean"]
              for s in seeds]
    return interval(theirs), interval(ours)


def load_of(program, peer, name, c):
    """More seeds if two are further apart than 2 %."""
    load = c["loads"][1]
    (theirs, t_ci), (ours, o_ci) = means(program, peer, c, load, (1, 2))
    if not abs(ours / theirs - 1) <= 0.02:
        (theirs, t_ci), (ours, o_ci) = means(program, peer, c, load,
                                             (1, 2, 3, 4, 5))
    fine = abs(ours / theirs - 1) <= 0.02 or abs(ours - theirs) <= t_ci + o_ci
    print(f"| {name} | {load} | {theirs:.1f} | {ours:.1f} |"
          f" {100 * (ours / theirs - 1):+.1f} %{'' if fine else ' !'} |",
          flush=True)
    return fine


def limit(program, peer, name, c):
    """Weft measures a second window, twice as long behind the first, because
    queues grow in that. BookSim2 measures the same cycles."""
    us = weft(program, c, 1.0, 2000, 2000)["accepted"]
    them = booksim(peer, c, 1.0, 1333, 4000, periods=3)["accepted"]
    off = us / them - 1
    print(f"| {name} | {them:.3f} | {us:.3f} | {100 * off:+.1f} % |",
          flush=True)
    return abs(off) <= 0.02


def speed(program, peer, name, c):
    load, warmup, measure = c["loads"][0], 2000, 18000
    ours = weft(program, c, load, warmup, measure)
    theirs = booksim(peer, c, load, warmup, measure)
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
    for name, settings in confs():
        if not all(w in name for w in argv[3:]):
            continue
        n += 1
        bad += not step(argv[1], peer, name, filled(settings))
    print(f"\n{n} configurations, {bad} differ")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
