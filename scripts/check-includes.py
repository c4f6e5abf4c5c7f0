#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the direction of dependencies between the folders of src/.

    base <- measure <- sim <- host, link, coh    switch -> link
    nic -> host, link                         work -> ulib, measure
    attach -> host (prog.h, far.h)
    ulib -> include/weft and nic/*_regs.h     front -> all; nothing -> front

A NIC never includes another NIC; switch and nic never include each other.

    check-includes.py [ROOT]       prints violations, exit 1 when there are any
    check-includes.py --self-test  proves that violations are found
"""
import os
import re
import sys
import tempfile

# What a folder may include, besides itself and include/weft.
MAY = {
    "base": set(),
    "measure": {"base"},
    "sim": {"base", "measure"},
    "host": {"base", "measure", "sim"},
    "link": {"base", "measure", "sim"},
    "coh": {"base", "measure", "sim"},
    "switch": {"base", "measure", "sim", "link"},
    "nic": {"base", "measure", "sim", "host", "link"},
    "ulib": {"base"},
    "work": {"base", "measure", "ulib", "host", "sim"},
    "attach": {"base", "host"},
    "fi": set(),
    "preload": set(),
    "front": {"base", "measure", "sim", "host", "link", "coh",
              "switch", "nic", "ulib", "work", "attach"},
}
# Single files that a folder may include although its folder is closed to it.
ALSO = {
    "ulib": re.compile(r"^nic/[a-z0-9_/]+_regs\.h$"),
    # A program gets its handle from the host: struct weft_host of a weft_comp.
    "work": re.compile(r"^nic/[a-z0-9_/]+_regs\.h$"),
}
# Files of a folder that only these may be taken from.
ONLY = {
    ("nic", "host"): re.compile(r"^host/bus\.h$"),
    ("work", "host"): re.compile(r"^host/(prog|far)\.h$"),
    ("work", "sim"): re.compile(r"^$"),
    ("attach", "host"): re.compile(r"^host/(prog|far)\.h$"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def nic_of(path):
    """The NIC a file of src/nic belongs to: forth_regs.h -> forth."""
    parts = path.split("/")
    if len(parts) > 2:
        return parts[1]
    return re.split(r"[_.]", parts[1])[0]


def resolve(root, path, name, quote):
    """An include as a path below src/ or include/, or None (system)."""
    here = os.path.dirname(path)
    places = ["src", "include"]
    if quote == '"':
        places.insert(0, here)
    for place in places:
        full = os.path.normpath(os.path.join(place, name))
        if os.path.exists(os.path.join(root, full)):
            return full
    return None


def verdict(path, target):
    """Why file `path` may not include `target`; None when it may.  Both are
    relative to the root."""
    if not path.startswith("src/"):
        if target.startswith("src/"):
            return "public headers stand alone"
        return None
    parts = path.split("/")
    if len(parts) < 3 or not target.startswith("src/"):
        return None  # src/components.c sees everything
    inner, outer = path[4:], target[4:]
    src, dst = inner.split("/")[0], outer.split("/")[0]
    if outer == "systems.def" or src == "systems":
        return None  # lists of names
    if src not in MAY:
        return "folder src/%s is not in the order" % src
    if "/" not in outer:
        return None if src == "front" else "only front knows the list"
    if src == dst:
        if src == "nic" and nic_of(inner) != nic_of(outer):
            return "a NIC never includes another NIC"
        return None
    if src in ALSO and ALSO[src].match(outer):
        return None
    if dst not in MAY[src]:
        return "src/%s may not include src/%s" % (src, dst)
    only = ONLY.get((src, dst))
    if only and not only.match(outer):
        return "src/%s may include only %s of src/%s" % (
            src, only.pattern.strip("^$").replace("\\", "") or "nothing", dst)
    return None


def files(root):
    for top in ("src", "include"):
        for where, dirs, names in os.walk(os.path.join(root, top)):
            dirs.sort()
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def", ".inc")):
                    yield os.path.relpath(os.path.join(where, name), root)


def violations(root):
    for path in files(root):
        with open(os.path.join(root, path), errors="replace") as text:
            for number, line in enumerate(text, 1):
                m = INCLUDE.match(line)
                target = m and resolve(root, path, m.group(2), m.group(1))
                why = target and verdict(path, target)
                if why:
                    yield "%s:%d: %s (%s)" % (path, number, why, m.group(2))


def self_test():
    bad = {
        "src/base/a.c": "sim/s.h",
        "src/measure/a.c": "front/f.h",
        "src/sim/a.c": "host/bus.h",
        "src/link/a.c": "switch/x.h",
        "src/coh/a.c": "link/l.h",
        "src/switch/a.c": "nic/forth_regs.h",
        "src/nic/forth.c": "nic/extoll/velo.h",
        "src/nic/forth_dma.c": "host/mem.h",
        "src/nic/extoll/rma.c": "nic/forth_regs.h",
        "src/ulib/forth.c": "nic/forth.h",
        "src/ulib/ep.c": "host/prog.h",
        "src/work/pingpong.c": "nic/forth.h",
        "src/work/stream.c": "sim/s.h",
        "src/other/a.c": "base/b.h",
        "include/weft/z.h": "base/b.h",
        "src/base/up.c": "../sim/s.h",
    }
    good = {
        "src/nic/forth_rx.c": "nic/forth.h",
        "src/nic/forth_tx.c": "host/bus.h",
        "src/nic/extoll/atu.c": "velo.h",
        "src/ulib/forth2.c": "nic/forth_regs.h",
        "src/work/barrier.c": "host/prog.h",
        "src/front/cli/main.c": "components.h",
        "src/switch/arb.c": "link/l.h",
        "src/sim/b.c": "weft/sim.h",
    }
    empty = ["src/base/b.h", "src/sim/s.h", "src/front/f.h", "src/host/bus.h",
             "src/host/mem.h", "src/host/prog.h", "src/switch/x.h",
             "src/link/l.h", "src/nic/forth_regs.h", "src/nic/forth.h",
             "src/nic/extoll/velo.h", "src/components.h",
             "include/weft/sim.h"]
    with tempfile.TemporaryDirectory() as root:
        for path, inc in [(p, None) for p in empty] + sorted(
                {**bad, **good}.items()):
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as out:
                out.write('#include "%s"\n' % inc if inc else "")
        found = {v.split(":")[0] for v in violations(root)}
    missed, false = set(bad) - found, found - set(bad)
    for path in sorted(missed):
        print("not found: %s includes %s" % (path, bad[path]))
    for path in sorted(false):
        print("wrongly refused: %s includes %s" % (path, good[path]))
    return 1 if missed or false else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = list(violations(sys.argv[1] if len(sys.argv) > 1 else "."))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
