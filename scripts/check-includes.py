#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the direction of dependencies between the folders of src/.

    base <- measure <- sim <- host, net      endpoint -> base
    storage -> base, measure, host/times.h
    programs -> base, measure, endpoint, storage, host/prog.h,
                net/pattern.h
    attach -> base, host/prog.h, host/process_memory.h
    nbd -> measure/hist.h
    front -> all shared folders; nothing -> front

A system lies in src/systems/<name>:

    link, network, switch, traffic, nic -> base, measure, sim, net, each other
    lib       -> base, endpoint, nic/*regs_map.h and link/*_regs.h of its own
    programs  -> base, measure, programs, host/prog.h, net/pattern.h, its lib and
                 its maps of registers
    published*.c -> base, measure, front/repro
    import    -> base, front/import
    bench_*.c    -> base, measure, front/bench, front/exp, front/import,
                    its link

Shared code never includes a system, nor names one.  A system includes a folder of another
only if its system.def says so: USES("NAME/FOLDER").

    check-includes.py [ROOT]       prints violations, exit 1 when there are any
    check-includes.py --self-test  proves that violations are found
"""
import os
import re
import sys
import tempfile

# Folders that a shared folder may include, besides itself and include/weft.
SHARED = {
    "base": set(),
    "measure": {"base"},
    "sim": {"base", "measure"},
    "host": {"base", "measure", "sim"},
    "net": {"base", "measure", "sim"},
    "endpoint": {"base", "host"},
    "storage": {"base", "measure", "host"},
    "programs": {"base", "measure", "endpoint", "host", "net", "storage"},
    "attach": {"base", "host"},
    "provider": {"base"},
    "preload": {"base", "host"},
    "nbd": {"measure"},
    "front": {"base", "measure", "sim", "host", "net", "endpoint",
              "programs", "attach"},
}
# Files of a folder that only these may be taken from.
ONLY = {
    ("programs", "host"): r"(prog|process_memory|times)\.h",
    ("programs", "net"): r"pattern\.h",
    ("attach", "host"): r"(prog|process_memory|times)\.h",
    ("endpoint", "host"): r"times\.h",
    ("storage", "host"): r"times\.h",
    ("preload", "host"): r"times\.h",
    ("nbd", "measure"): r"hist\.h",
    # Both are loaded into foreign processes without our libraries.
    ("preload", "base"): r"minmax\.h",
    ("provider", "base"): r"minmax\.h",
}
# Parts of a system: what each may include of shared folders and of its own
# system; a folder stands for all of it.
MODEL = ["link/", "network/", "switch/", "traffic/", "nic/"]
MAPS = [r"nic/\w*regs_map\.h", r"link/\w+_regs\.h"]
PARTS = {
    "model": (["base/", "measure/", "sim/", "net/"], MODEL),
    "lib": (["base/", "endpoint/", "storage/", r"host/times\.h"],
            ["lib/"] + MAPS),
    "programs": (["base/", "measure/", "programs/", r"host/prog\.h",
                  r"host/process_memory\.h", r"host/times\.h",
                  r"net/pattern\.h"],
                 ["programs/", "lib/"] + MAPS),
    "import": (["base/", "front/import/"], ["import/"]),
    "published": (["base/", "measure/", "front/repro/"], [r"published\w*\."]),
    "bench": (["base/", "measure/", "front/bench/", "front/exp/",
               "front/import/"], ["link/"]),
}
# Lists of systems that shared code reads.
LISTS = ("systems.def", "systems/tour.def", "systems/examples.def")
# Words of systems that code outside of them may not use, but for the section
# of a specification that is cited.  They are the names of their folders,
# unless those are ordinary words, and these.
ORDINARY = ("ethernet", "coherent", "router")
WORDS = (r"\b(velo|vipl)\b|\bHost Port\b|\b(eth|coh)\.[a-z]\w*|"
         r"\bnet\.(router|channel|source|meter)\b|"
         r"\b(ex|hp|hv|velo|vipl)_\w+")
CITES = re.compile(r"\b(forth|extoll|hostport|hvia|Host Port)(\.md| "
                   r"specification)?\s+(T-)?[0-9]", re.I)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
USES = re.compile(r'^USES\("([^"]+)"\)$', re.M)


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


def allowed(patterns, path):
    return any(re.match(p, path) for p in patterns)


def part_of(inner):
    """Of a file in its system's folder."""
    first = inner.split("/")[0]
    if first in ("lib", "programs", "import"):
        return first
    if first.startswith("published"):
        return "published"
    if first.startswith("bench_"):
        return "bench"
    return "model"


def uses(root, system):
    path = os.path.join(root, "src/systems", system, "system.def")
    if not os.path.exists(path):
        return set()
    with open(path) as f:
        return set(USES.findall(f.read()))


def system_verdict(root, path, target):
    """Both below src/, path in a system."""
    _, system, inner = path.split("/", 2)
    part = part_of(inner)
    shared, own = PARTS[part]
    if not target.startswith("systems/"):
        if allowed(shared, target):
            return None
        return "%s of a system may not include src/%s" % (part, target)
    other, theirs = target.split("/", 2)[1:]
    if other != system:
        folder = "%s/%s" % (other, theirs.split("/")[0])
        if folder not in uses(root, system):
            return "%s does not say that it uses %s" % (system, folder)
    if "/" not in theirs and part == "model":
        return None  # a system of one folder
    if allowed(own, theirs):
        return None
    return "%s of a system may not include %s" % (part, theirs)


def verdict(root, path, target):
    """Why file `path` may not include `target`; None when it may.  Both are
    relative to the root."""
    if not path.startswith("src/"):
        if target.startswith("src/"):
            return "public headers stand alone"
        return None
    if "/tests/" in path or path.count("/") < 2 or \
            path.endswith(".def") or not target.startswith("src/"):
        return None  # src/components.c sees everything
    inner, outer = path[4:], target[4:]
    src, dst = inner.split("/")[0], outer.split("/")[0]
    if src == "systems":
        return system_verdict(root, inner, outer)
    if src not in SHARED:
        return "folder src/%s is not in the order" % src
    if outer in LISTS:
        return None
    if dst == "systems":
        return "shared code includes no system"
    if "/" not in outer:
        return None if src == "front" else "only front knows the list"
    if src == dst:
        return None
    if dst not in SHARED[src]:
        return "src/%s may not include src/%s" % (src, dst)
    only = ONLY.get((src, dst))
    if only and not re.fullmatch(only, outer.split("/", 1)[1]):
        return "src/%s may include only %s of src/%s" % (src, only, dst)
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
                why = target and verdict(root, path, target)
                if why:
                    yield "%s:%d: %s (%s)" % (path, number, why, m.group(2))


def shared(path):
    """Is this a source of no system?"""
    top = path.split("/")
    return top[0] == "src" and len(top) > 2 and top[1] != "systems"


def names(root):
    """Pattern of words of systems."""
    place = os.path.join(root, "src/systems")
    own = "|".join(d for d in sorted(os.listdir(place)) if d not in ORDINARY
                   and os.path.isdir(os.path.join(place, d)))
    return re.compile(r"\b(%s)(_\w+)?\b|%s" % (own, WORDS), re.I)


def named(root):
    """Words of systems in shared code."""
    words = names(root)
    for path in files(root):
        if not shared(path):
            continue
        with open(os.path.join(root, path), errors="replace") as f:
            text = f.read()
        for number, line in enumerate(CITES.sub("", text).split("\n"), 1):
            m = None if INCLUDE.match(line) else words.search(line)
            if m:
                yield "%s:%d: shared code names a system (%s)" % (
                    path, number, m.group())


BAD = {
    "src/base/a.c": "sim/s.h",
    "src/measure/a.c": "front/f.h",
    "src/sim/a.c": "host/bus.h",
    "src/net/a.c": "host/bus.h",
    "src/net/b.c": "systems/forth/link/l.h",
    "src/endpoint/a.c": "systems/forth/lib/l.h",
    "src/endpoint/b.c": "host/prog.h",
    "src/front/cli/a.c": "systems/forth/nic/regs_map.h",
    "src/storage/a.c": "host/prog.h",
    "src/storage/b.c": "endpoint/e.h",
    "src/programs/a.c": "host/mem.h",
    "src/programs/b.c": "net/n.h",
    "src/attach/a.c": "sim/s.h",
    "src/other/a.c": "base/b.h",
    "include/weft/z.h": "base/b.h",
    "src/base/up.c": "../sim/s.h",
    "src/systems/forth/link/a.c": "host/mem.h",
    "src/systems/forth/nic/a.c": "systems/forth/lib/l.h",
    "src/systems/forth/nic/b.c": "systems/extoll/network/n.h",
    "src/systems/forth/lib/a.c": "systems/forth/nic/n.h",
    "src/systems/forth/lib/b.c": "sim/s.h",
    "src/systems/forth/programs/a.c": "systems/forth/nic/n.h",
    "src/systems/forth/programs/b.c": "sim/s.h",
    "src/systems/forth/published.c": "sim/s.h",
    "src/systems/forth/import/a.c": "sim/s.h",
    "src/systems/hostport/nic/b.c": "systems/extoll/nic/n.h",
}
GOOD = {
    "src/systems/forth/nic/d.c": "systems/forth/link/l.h",
    "src/systems/forth/nic/e.c": "n.h",
    "src/systems/forth/lib/c.c": "systems/forth/nic/regs_map.h",
    "src/systems/forth/lib/d.c": "endpoint/e.h",
    "src/systems/forth/programs/c.c": "systems/forth/lib/l.h",
    "src/systems/forth/programs/d.c": "host/prog.h",
    "src/systems/forth/programs/e.c": "net/pattern.h",
    "src/programs/c.c": "net/pattern.h",
    "src/systems/forth/published_eval.c": "front/repro/r.h",
    "src/systems/forth/import/b.c": "front/import/i.h",
    "src/systems/hostport/nic/c.c": "systems/extoll/network/n.h",
    "src/front/cli/main.c": "components.h",
    "src/net/arb.c": "sim/s.h",
    "src/sim/b.c": "weft/sim.h",
}
NAMED = {
    "src/net/n1.c": 'x = find("extoll.xbar");\n',
    "src/front/cli/n2.c": "/* a */ struct ex_meta m;\n",
    "src/sim/n4.c": "/* as in EXTOLL */\n",
    "src/host/n3.c": '/* one\n * two */ "the Host Port"\n',
    "src/sim/n4.c": "int n = sixth_nodes;\n",
}
CITED = {
    "src/host/c1.c": '.source = "FORTH specification 2.1", /* HVIA 2.1 */\n',
    "src/net/c2.c": '.source = "forth.md 4.9, extoll.md T-28"\n',
    "src/systems/extoll/nic/c3.c": 'find("extoll.xbar");\n',
}
EMPTY = ["src/base/b.h", "src/sim/s.h", "src/front/f.h", "src/host/bus.h",
         "src/host/mem.h", "src/host/prog.h", "src/endpoint/e.h",
         "src/net/n.h", "src/net/pattern.h",
         "src/systems/forth/link/l.h", "src/systems/forth/lib/l.h",
         "src/systems/forth/nic/n.h", "src/systems/forth/nic/regs_map.h",
         "src/systems/extoll/network/n.h", "src/systems/extoll/nic/n.h",
         "src/systems/sixth/system.def",
         "src/front/repro/r.h", "src/front/import/i.h", "src/components.h", "include/weft/sim.h"]


def self_test():
    with tempfile.TemporaryDirectory() as root:
        def write(path, text):
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as out:
                out.write(text)
        for path in EMPTY:
            write(path, "")
        write("src/systems/hostport/system.def", 'USES("extoll/network")\n')
        for path, inc in {**BAD, **GOOD}.items():
            write(path, '#include "%s"\n' % inc)
        found = {v.split(":")[0] for v in violations(root)}
        for path, text in {**NAMED, **CITED}.items():
            write(path, text)
        words = {v.split(":")[0] for v in named(root)}
    missed, false = set(BAD) - found, found - set(BAD)
    for path in sorted(missed):
        print("not found: %s includes %s" % (path, BAD[path]))
    for path in sorted(false):
        print("wrongly refused: %s includes %s" % (path, GOOD[path]))
    for path in sorted(words ^ set(NAMED)):
        print("names of systems, found or not: %s" % path)
    return 1 if missed or false or words != set(NAMED) else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    found = list(violations(root)) + list(named(root))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
