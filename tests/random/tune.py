# SPDX-License-Identifier: Apache-2.0
"""Turns parameters of an experiment's classes, within their ranges, by what
`weft describe` says of them."""
import functools
import json
import re
import subprocess

# Settings of the question, not of the machine; names; settings that make a run
# too long; and those of a machine that cannot work: time stamps in the place of
# payload, switches and NICs that take shorter messages than are sent; a
# measurement that ends the run; other packets than are counted.
FIXED = {"node", "nodes", "count", "dests", "dest", "stations", "packets",
         "frames", "words", "until", "trace", "targets", "to", "ops", "type",
         "ports", "station", "program", "mem_bytes", "verify", "packets",
         "links", "width", "clock", "net_clock", "f_core", "into", "pollers",
         "watchdog", "patience", "size", "size_max", "pattern", "kind",
         "port", "arrivals", "load", "at", "hold", "pause", "stamps",
         "frame_max", "velo_max", "measure", "precision", "collective",
         "batch", "reply", "writes"}


@functools.lru_cache(maxsize=None)
def described(exe, name):
    p = subprocess.run([exe, "describe", name, "--format", "json"],
                       capture_output=True, text=True, check=True)
    return json.loads(p.stdout)["parameters"]


def parameters(exe):
    """Class -> its parameters."""
    p = subprocess.run([exe, "list", "--format", "json"], capture_output=True,
                       text=True, check=True)
    kinds = {"nics", "switches", "links", "hosts", "buses", "traffic"}
    return {c["name"]: described(exe, c["name"]) for c in json.loads(p.stdout)
            if c["kind"] in kinds}


def bounds(text):
    """Numbers of "2..64"; None where there is none."""
    m = re.fullmatch(r"(\d*)\.\.(\d*)", text or "")
    if not m:
        return None, None
    return (int(m[1]) if m[1] else None), (int(m[2]) if m[2] else None)


def number(rng, default, lo, hi):
    """Near the default, or at an end of the range."""
    lo = 0 if lo is None else lo
    top = hi if hi is not None else max(4 * default, lo + 4)
    how = rng.random()
    if how < 0.15:
        return lo
    if how < 0.25 and hi is not None and hi <= 4096:
        return hi
    span = [default // 2, default + 1, default * 2, default - 1, default + 3]
    return min(max(rng.choice(span), lo), top)


def value(rng, p):
    """Another value of parameter p, or None."""
    kind, default = p["type"], str(p["default"])
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "enum":
        return rng.choice(p["range"].split("|"))
    lo, hi = bounds(p["range"])
    if kind in ("u32", "u64", "bytes") and default.isdigit():
        return number(rng, int(default), lo, hi)
    m = re.fullmatch(r"([\d.]+)(fs|ps|ns|us|ms|s)", default)
    if kind == "time" and m:
        return "%g%s" % (float(m[1]) * rng.choice([0.5, 2, 3]), m[2])
    return None


def hazard(kind, name, value):
    """The model lets a user do this, and fails its own checks then: fewer
    flows than nodes, whose descriptors are refused; writes that begin before
    their data are sure to come in time; messages that expire between two
    stores of the host; headers that find no room to wait for earlier ones, so
    that notifications are lost (forth.md 7.4)."""
    return kind == "forth.nic" and (
        name == "flows" and int(value) < 8 or name == "ct_q" or
        name == "reseq_headers" and int(value) < 1024) or \
        kind == "extoll.nic" and name == "velo_partial" and int(value) < 64


def parts(e):
    """Every mapping of the experiment that has a class."""
    if isinstance(e, dict):
        if isinstance(e.get("type"), str) and "." in e["type"]:
            yield e
        for v in e.values():
            yield from parts(v)
    elif isinstance(e, list):
        for v in e:
            yield from parts(v)


def tune(rng, e, params):
    """One to three parameters of one to three parts."""
    some = [x for x in parts(e) if x["type"] in params]
    for part in rng.sample(some, min(len(some), rng.randint(1, 3))):
        free = [p for p in params[part["type"]]
                if p["name"] not in FIXED and p["type"] != "string"]
        for p in rng.sample(free, min(len(free), rng.randint(1, 3))):
            v = value(rng, p)
            if v is not None and not hazard(part["type"], p["name"], v):
                part[p["name"]] = v
    return e
