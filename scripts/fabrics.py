#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of docs/fabrics.md, out of runs of forth/clos and forth/benes.

  scripts/fabrics.py WEFT            print the tables
  scripts/fabrics.py --write WEFT    put them into docs/fabrics.md
  scripts/fabrics.py --check WEFT    exit 1 when docs/fabrics.md says otherwise
  scripts/fabrics.py --adversary ENDS PATHS GROUP
                                     a permutation whose static paths collide
  scripts/fabrics.py --pairs ENDS GROUP
                                     two destinations per source that collide
                                     when paths are taken in turn per packet

A line is one point of the sweep: over all sinks the smallest and the mean
share of the line rate that was accepted, latency (mean over all packets, worst
99 % of a sink), share of packets that were overtaken, most that overtook one,
most that a sink's resequencer would hold.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "fabrics.md"
PART = re.compile(r"(<!-- fabric (\S+) -->\n).*?(<!-- end -->)", re.S)
HEAD = ("| traffic | load | balance | accepted, least | mean | latency us "
        "| 99 % | late % | depth | held |\n"
        "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|\n")
NAMES = {"uniform": "uniform", "shuffle": "random permutation",
         "list": "adversarial permutation", None: "pairs"}


def ends(metrics, name):
    return [v for k, v in metrics.items()
            if re.fullmatch(r"t\d+\." + name, k)]


def hists(run, name):
    return [h for h in run["histograms"]
            if re.fullmatch(r"t\d+\." + name, h["name"])]


def line(run):
    point = dict(p.split("=") for p in run["point"].split())
    took = ends(run["metrics"], "accepted")
    lat = hists(run, "latency")
    n = sum(h["count"] for h in lat)
    late = sum(ends(run["counters"], "late"))
    return "| %s | %s | %s | %.3f | %.3f | %.1f | %.1f | %.1f | %d | %d |\n" % (
        NAMES[point.get("traffic.pattern")], point["traffic.load"],
        point["traffic.balance"], min(took), sum(took) / len(took),
        sum(h["mean"] * h["count"] for h in lat) / n / 1000,
        max(h["p99"] for h in lat) / 1000, 100.0 * late / n,
        max(ends(run["metrics"], "reorder_max") or [0]),
        max(ends(run["metrics"], "held_max") or [0]))


def table(weft, name):
    out = subprocess.run([weft, "run", "forth/" + name, "--format", "json",
                          "--set", "record.metrics=all",
                          "--set", "record.histograms=all"],
                         check=True, capture_output=True, text=True).stdout
    return HEAD + "".join(line(r) for r in json.loads(out)["runs"])


# ---- the adversary ----

def path(src, dst, paths):
    """As in src/systems/forth/traffic/generator_path.c."""
    z = (src << 8 | dst) * 0x9E3779B1 & 0xFFFFFFFF
    z = (z ^ z >> 15) * 0x85EBCA77 & 0xFFFFFFFF
    return (z ^ z >> 13) % paths


def match(n, fits):
    """Largest set of pairs (s, d) with fits(s, d), each s and d once."""
    of = {}

    def grow(s, seen):
        for d in range(n):
            if fits(s, d) and d not in seen:
                seen.add(d)
                if d not in of or grow(of[d], seen):
                    of[d] = s
                    return True
        return False

    for s in range(n):
        grow(s, set())
    return {s: d for d, s in of.items()}


def adversary(n, paths, group):
    """As many pairs of different groups as possible on one and the same
    path; the others fill up."""
    best = max((match(n, lambda s, d: s // group != d // group and
                      path(s, d, paths) == p) for p in range(paths)), key=len)
    left = [d for d in range(n) if d not in best.values()]
    return [best[s] if s in best else left.pop() for s in range(n)]


def pairs(n, group):
    """Each source alternates between an even and an odd group, so that every
    second path leads to the even ones; two sources share a destination."""
    even = [d for d in range(n) if d // group % 2 == 0]
    odd = [d for d in range(n) if d // group % 2]
    out = []
    for s in range(n):
        k = (s // 2 + group) % (n // 2)
        both = (even[k], odd[k])
        out.append("%d+%d" % (both[::-1] if s % 2 else both))
    return out


def main(args):
    if args[:1] == ["--pairs"]:
        print(",".join(pairs(int(args[1]), int(args[2]))))
        return 0
    if args[:1] == ["--adversary"]:
        print(",".join(map(str, adversary(*map(int, args[1:4])))))
        return 0
    mode = args.pop(0) if args and args[0].startswith("--") else None
    if mode is None:
        for name in PART.findall(PAGE.read_text()):
            print(name[1] + "\n\n" + table(args[0], name[1]))
        return 0
    old = PAGE.read_text()
    new = PART.sub(lambda m: m[1] + table(args[0], m[2]) + m[3], old)
    if mode == "--write":
        PAGE.write_text(new)
    elif new != old:
        print("docs/fabrics.md is out of date: scripts/fabrics.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
