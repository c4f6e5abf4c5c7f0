#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes new lines for golden.py: shipped runs with other parameters.

  vary.py WEFT COUNT SEED SECONDS EXPERIMENT... > varied/NAME.txt
  golden.py WEFT --write varied/NAME.txt

EXPERIMENT is the beginning of a name, e.g. forth/.  Takes the runs of
tests/golden/*.txt that begin so, turns one to six parameters of the classes
and programs in them to other values of their ranges (tests/random/tune.py), and
prints each run whose result differs from all before.  A run that needs more
than SECONDS of processor time, or that is refused, is left out.  One that ends
by a signal is reported, because it is a fault of the program.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import resource
import shlex
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "random")]

import golden
import tune

SIZES = [1, 7, 8, 9, 24, 63, 64, 65, 200, 511, 512, 513, 1000, 1472, 4088,
         4096, 5000, 20000]
# Parameters of programs that name a node, a file or a way to run.
FIXED = {"to", "dest", "partner", "file", "args", "trace", "node", "group",
         "on", "into", "until", "stack", "mem_bytes", "mem_base"}


def run(weft, args):
    """Status, digest, seconds of the processor, result."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run([weft, "run", *args, "--set", "record={}", "--format",
                        "json", "--quiet"], capture_output=True,
                       preexec_fn=lambda: golden.limit_cpu(5))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - \
        before.ru_stime
    return p.returncode, golden.digest_of(p.stdout), seconds, p.stdout


def bases(names):
    """Arguments of the committed runs, each once, without outputs."""
    seen = {}
    for f in sorted(HERE.glob("*.txt")):
        for line in golden.read(f):
            if line.runs() and line.args.startswith(tuple(names)):
                args = tuple(a for a in shlex.split(line.args)
                             if a not in golden.MACROS)
                seen.setdefault(args, None)
    return list(seen)


def classes(result):
    """Classes of a run, from its manifest: the components' and programs'."""
    d = json.loads(result)
    m = d.get("runs", [d])[0]["manifest"]
    names = {k.rpartition(".")[0] for k in m}
    return sorted({v for k, v in m.items()
                   if k in names and "." in str(v)})


def choices(weft, names):
    """Parameters that may be turned, as (class, parameter), a list for each
    class, because a host has many that belong to other systems."""
    out = []
    for name in names:
        try:
            params = tune.described(weft, name)
        except subprocess.CalledProcessError:
            continue
        some = [(name, p) for p in params
                if p["type"] not in ("string", "list") and
                p["name"] not in FIXED]
        out.append(some)
    return [s for s in out if s]


def value(rng, p):
    if p["name"] in ("size", "size_max") and rng.random() < 0.7:
        return rng.choice(SIZES)
    if p["name"] == "count" and p["default"].isdigit():
        return rng.randint(1, max(2, min(60, int(p["default"]))))
    return tune.value(rng, p)


def variant(rng, weft, args, names):
    sets = []
    groups = choices(weft, names)
    for _ in range(rng.randint(1, 6)):
        name, p = rng.choice(rng.choice(groups))
        v = value(rng, p)
        if v is not None:
            sets += ["--set", "%s.%s=%s" % (
                name, p["name"], str(v).lower() if isinstance(v, bool) else v)]
    if rng.random() < 0.3:
        sets += ["--seed", str(rng.randrange(1000))]
    return list(args) + sets


def one(task):
    weft, args, names, seed = task
    rng = random.Random(seed)
    new = variant(rng, weft, args, names)
    return new, run(weft, new)


def main():
    weft, count, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), \
        sys.argv[3]
    most, all_ = float(sys.argv[4]), bases(sys.argv[5:])
    seen, short, made = set(), [], 0
    print("# Made by vary.py; status and digest only.")
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for args, (status, digest, cpu, out) in zip(
                all_, pool.map(run, [weft] * len(all_), all_)):
            seen.add(digest)
            if status in (0, 1) and cpu < most:
                short.append((args, classes(out)))
        for turn in range(100):
            tasks = [(weft, args, names, "%s %d %s" % (seed, turn, args))
                     for args, names in short]
            for new, (status, digest, cpu, _) in pool.map(one, tasks):
                if status < 0 and status != -signal.SIGXCPU:
                    sys.stderr.write("signal %d: %s\n" % (
                        -status, shlex.join(new)))
                elif status < 2 and cpu < most and digest not in seen:
                    seen.add(digest)
                    print(shlex.join(new))
                    made += 1
                    if made == count:
                        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
