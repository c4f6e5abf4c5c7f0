#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs random machines and checks what must hold of every one of them.

  campaign.py WEFT [--from N] [--count N] [--seconds S] [--jobs N] [--other WEFT]
              [--keep FOLDER] [--family NAME] [--stats FILE]
              [--golden FILE [--once] | --write FILE]

Machine number i follows from i alone.  It is run twice, the second time in
another way (watched, under another malloc, built in another order, by a build
of another compiler): both must print the same bytes.  A run ends with status 0;
or 1 where faults on the lines make a check of the program fail, but never an
expectation of the experiment; or 2 with a message where the machine is refused;
never by a signal, never beyond its time: one that needs more than a minute of
processor time gets ten, and is counted as slow, too.  A machine that fails is
shrunk to a small file in FOLDER.  Exit status 1 when one failed.

--golden FILE compares results with those of FILE, up to the first that differs;
with --once, machines of FILE only, and each runs once.  --write FILE writes the
results, a line for each machine: number, family, digest of the experiment,
status, digest of the result.  Behind the first 180, which run twice in make
check, machines that are refused or spoilt have no line.
"""
import argparse
import collections
import concurrent.futures
import copy
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "golden")]

import golden
import machines
import tune

LIMIT_S = 60  # of processor time
SLOW_S = 600  # of a second try: the machine is slow, or it has no end
WALLS = 15  # seconds of the clock for each of these: a machine that waits
SHRUNK = 5  # of those that fail
TWICE = 180  # machines that make check runs twice
WATCHED = ("sample", "capture", "trace", "waves", "out")
WAYS = WATCHED + ("perturb", "mmap", "shuffle", "other", "jobs")
# An expectation of the experiment that does not hold, in contrast to a check
# of the program itself.
EXPECTED = re.compile(r"machine\.yaml:\d+: .* is .*: expected")


class Verdict:
    def __init__(self, end, why="", cpu=0.0, slow=False):
        self.end, self.why, self.cpu, self.slow = end, why, cpu, slow

    @property
    def bad(self):
        return self.end == "bad"


def text_of(e):
    return json.dumps(e, indent=1) + "\n"


def run(exe, folder, e, args=(), env=None, limit=LIMIT_S):
    """Status, standard output and error; status None: it ran too long."""
    path = pathlib.Path(folder) / "machine.yaml"
    path.write_text(text_of(e))
    try:
        p = subprocess.run([exe, "run", "machine.yaml", "--quiet", "--format",
                            "json", *args], cwd=folder, capture_output=True,
                           timeout=WALLS * limit,
                           env={**os.environ, **(env or {})},
                           text=True, errors="replace",
                           preexec_fn=lambda: golden.limit_cpu(limit))
    except subprocess.TimeoutExpired:
        return None, "", "beyond %d s" % (WALLS * limit)
    if p.returncode == -signal.SIGXCPU:
        return None, "", "beyond %d s of processor time" % limit
    return p.returncode, p.stdout, p.stderr


def run_slow(exe, folder, e, args=(), env=None):
    """As run(), and whether LIMIT_S was not enough.  A spoilt machine may poll
    a register in vain for all of its watchdog."""
    out = run(exe, folder, e, args, env)
    if out[0] is not None:
        return out, False
    return run(exe, folder, e, args, env, SLOW_S), True


def another(way, e, exe, other):
    """Program, experiment, arguments, environment of the second run."""
    if way in WATCHED:
        args = {"sample": ["--sample", "1us"],
                "capture": ["--capture", "all", "--capture-file", "c.pcapng"],
                "trace": ["--trace", "t.json"], "waves": ["--waves", "w.vcd"],
                "out": ["--out", "r.db"]}[way]
        return exe, e, args, {}
    if way == "shuffle":
        e = copy.deepcopy(e)
        if isinstance(e.setdefault("run", {}), dict):
            e["run"]["shuffle"] = 7
    args = ["--jobs", "3"] if way == "jobs" else []
    env = {"perturb": {"MALLOC_PERTURB_": "165"},
           "mmap": {"MALLOC_MMAP_THRESHOLD_": "4096"}}.get(way, {})
    return (other if way == "other" and other else exe), e, args, env


def comparable(out):
    """A result without what the second way adds to it."""
    d = json.loads(out)
    for r in d.get("runs", [d]):
        r.pop("series", None)
        r["manifest"] = {k: v for k, v in r["manifest"].items()
                         if not re.search(r"shuffle|sample|crc|~capture", k)}
    return d


def lost(out):
    """Generators on lines that lose nothing: all that was sent has come, unless
    a link gave up after its last attempt."""
    d = json.loads(out)
    c = d.get("runs", [d])[0]["counters"]
    if any(v for k, v in c.items() if k.endswith(".downs")):
        return ""
    n = [sum(v for k, v in c.items() if re.fullmatch(r"t\d+\." + x, k))
         for x in ("sent", "received")]
    return "" if n[0] == n[1] else "%d sent, %d received" % tuple(n)


def judge_one(e, status, out, err, spoilt):
    """Rules for a single run."""
    if status is None:
        return "hangs: " + err
    if status < 0 or status > 2:
        return "ends by signal or unknown status %d: %s" % (status, err[-400:])
    if "ERROR: AddressSanitizer" in err or "runtime error" in err:
        return "sanitizer: " + err[-800:]
    if status == 2:
        return "" if re.search(r"machine\.yaml(:\d+)?: |weft: ", err) else \
            "refused without a reason: " + err[-200:]
    if not out.startswith("{"):
        return "no result: " + out[:80]
    if spoilt:
        return ""
    if status == 1 and "groups: raise notify" in err:
        return ""  # forth.rounds refuses what it was given
    if status == 1 and (not e.get("faults") or EXPECTED.search(err)):
        return "a check failed: " + err[:400]
    if {"t*.missing", "t*.backlog"} & set(e.get("expect") or ()):
        return lost(out)
    return ""


def compare(way, status, first, second):
    if second[0] is None or second[0] < 0:
        return "%s: %s" % (way, second)
    if "no line here has a format" in second[2]:
        return ""  # nothing to capture
    if "the file ends early" in second[2]:
        return ""  # a program that polls to the end of a long watchdog
    if second[0] != status:
        return "%s: status %s instead of %d: %s" % (way, second[0], status,
                                                    second[2][-300:])
    if status == 2 or comparable(first) == comparable(second[1]):
        return ""
    return way + ": another result"


# ---- committed results ----

def result_of(e, status, out):
    """Digests of experiment and result.  A refusal has none: its message may
    change."""
    return "%s %s %s" % (golden.sha(text_of(e).encode(), 8), status,
                         golden.digest_of(out.encode()) if status in (0, 1)
                         else "-")


def read_golden(path):
    """{number: result}"""
    out = {}
    for line in pathlib.Path(path).read_text().splitlines():
        number, _, rest = line.split(maxsplit=2)
        out[int(number)] = rest
    return out


def write_golden(args):
    params, lines = tune.parameters(args.weft), []
    with tempfile.TemporaryDirectory() as folder:
        for n in range(args.count):
            name, e, _ = build(n, params)
            if n >= TWICE and "spoilt" in name:
                continue
            status, text, _ = run(args.weft, folder, e)
            if n < TWICE or status in (0, 1):
                lines.append("%d %s %s\n" % (n, name.replace(" ", "-"),
                                             result_of(e, status, text)))
    pathlib.Path(args.write).write_text("".join(lines))


def differs(want, now):
    """Why a machine is not the committed one; "" when it is."""
    if want is None or want == now:
        return ""
    a, b = want.split(), now.split()
    return ("another experiment (a parameter or machines.py has changed)"
            if a[0] != b[0] else
            "status %s instead of %s" % (b[1], a[1]) if a[1] != b[1] else
            "another result than the committed one") + golden.ADVICE


def check(exe, other, name, e, way, want=None):
    """`way`: that of the second run, if any; `want`: the committed result."""
    with tempfile.TemporaryDirectory(prefix="weft-random-") as folder:
        began = time.monotonic()
        (status, out, err), slow = run_slow(exe, folder, e)
        why = judge_one(e, status, out, err, "spoilt" in name) or \
            differs(want, result_of(e, status, out))
        if not why and way:
            exe2, e2, args, env = another(way, e, exe, other)
            again, slow2 = run_slow(exe2, folder, e2, args, env)
            why, slow = compare(way, status, out, again), slow or slow2
        end = "bad" if why else {0: "ran", 1: "damaged", 2: "refused"}[status]
        return Verdict(end, why, time.monotonic() - began, slow)


# ---- one machine by its number ----

def build(number, params, family=None):
    rng = random.Random("weft %d" % number)
    name, e = machines.machine(rng)
    if family and name != family:
        return None
    how = rng.random()
    if how < 0.45:
        tune.tune(rng, e, params)
    elif how < 0.65:
        machines.spoil(rng, e)
        name += " spoilt"
    if isinstance(e.setdefault("run", {}), dict):
        # A register that is polled in vain takes a minute for the 30 s of
        # simulated time after which the default ends a run; five nodes without
        # a network take ten minutes for one second.
        e["run"].setdefault("watchdog", "20ms" if "spoilt" in name else "1s")
    way = rng.choice(WAYS)
    if way == "jobs" and "seed" in e:
        e["sweep"] = {"seed": [rng.randrange(1 << 32) for _ in range(3)]}
    return name, e, way


def smaller(e):
    """The experiment with one thing less, or one number halved."""
    for path in sorted(machines.places(e), key=len):
        parent, key = machines.at(e, path[:-1]), path[-1]
        old = parent[key]
        cut = copy.deepcopy(e)
        del machines.at(cut, path[:-1])[key]
        yield cut
        if isinstance(old, int) and not isinstance(old, bool) and old > 1:
            cut = copy.deepcopy(e)
            machines.at(cut, path[:-1])[key] = old // 2
            yield cut


def kind_of(why):
    return re.sub(r"\d+|0x[0-9a-f]+", "#", why)[:60]


def shrink(exe, other, name, e, way, why, seconds=60):
    """Greedily, as long as it fails in the same manner."""
    until, kind = time.monotonic() + seconds, kind_of(why)
    again = True
    while again and time.monotonic() < until:
        again = False
        for cut in smaller(e):
            v = check(exe, other, name, cut, way)
            if v.bad and kind_of(v.why) == kind:
                e, again = cut, True
                break
            if time.monotonic() > until:
                break
    return e


def one(task):
    exe, other, number, params, family, want, once = task
    made = build(number, params, family)
    if not made:
        return number, None, None, None, None
    name, e, way = made
    way = None if once else way
    return number, name, e, way, check(exe, other, name, e, way, want)


def keep(args, number, name, e, way, v):
    small = shrink(args.weft, args.other, name, copy.deepcopy(e), way, v.why)
    folder = pathlib.Path(args.keep)
    folder.mkdir(parents=True, exist_ok=True)
    for label, x in (("", small), ("-whole", e)):
        (folder / f"{number}{label}.yaml").write_text(
            "# %s\n" % v.why.splitlines()[0][:200] + text_of(x))


def campaign(args):
    params = tune.parameters(args.weft)
    stats, bad = collections.Counter(), []
    until = time.monotonic() + args.seconds if args.seconds else None
    want = read_golden(args.golden) if args.golden else {}
    if args.once:
        args.count = max(want) + 1 - args.first
    numbers = range(args.first, args.first + args.count)
    tasks = ((args.weft, args.other, n, params, args.family, want.get(n),
              args.once) for n in numbers if n in want or not args.once)
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        pending = set()
        last = args.first
        for t in tasks:
            pending.add(pool.submit(one, t))
            last = t[2] + 1
            if len(pending) >= 2 * args.jobs:
                take(pending, stats, bad)
            if until and time.monotonic() > until or args.golden and bad:
                break
        while pending:
            take(pending, stats, bad)
    for number, name, _, way, v in bad:
        print(f"machine {number} ({name}): {v.why}")
    for number, name, e, way, v in bad[:SHRUNK] if args.keep else ():
        keep(args, number, name, e, way, v)
    return stats, bad, last


def take(pending, stats, bad):
    done, _ = concurrent.futures.wait(
        pending, return_when=concurrent.futures.FIRST_COMPLETED)
    for f in done:
        pending.discard(f)
        number, name, e, way, v = f.result()
        if name is None:
            continue
        stats[name, v.end] += 1
        stats["all", v.end] += 1
        if v.slow:
            stats[name, "slow"] += 1
            stats["all", "slow"] += 1
        if v.bad:
            bad.append((number, name, e, way, v))


def report(stats):
    ends = ("ran", "damaged", "refused", "bad", "slow")
    print("%-24s" % "family" + "".join("%9s" % x for x in ends))
    for name in sorted({n for n, _ in stats if n != "all"}) + ["all"]:
        print("%-24s" % name + "".join("%9d" % stats[name, x] for x in ends))


def record(args, stats, last):
    """A line for each campaign: what it covered, what came of it."""
    line = {"from": args.first, "to": last - 1,
            "ends": {e: n for (f, e), n in stats.items() if f == "all"},
            "families": {f"{f}: {e}": n for (f, e), n in sorted(stats.items())
                         if f != "all"}}
    with open(args.stats, "a") as f:
        f.write(json.dumps(line) + "\n")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("weft")
    p.add_argument("--from", dest="first", type=int, default=0)
    p.add_argument("--count", type=int, default=1 << 40)
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    p.add_argument("--other", default=os.environ.get("WEFT_CLANG"))
    p.add_argument("--keep")
    p.add_argument("--family")
    p.add_argument("--stats")
    p.add_argument("--golden")
    p.add_argument("--once", action="store_true")
    p.add_argument("--write")
    args = p.parse_args()
    if not args.seconds and args.count == 1 << 40:
        args.count = 1000
    args.weft = os.path.abspath(args.weft)
    args.other = os.path.abspath(args.other) \
        if args.other and os.path.exists(args.other) else None
    if args.write:
        return write_golden(args)
    stats, bad, last = campaign(args)
    report(stats)
    if args.stats:
        record(args, stats, last)
    print(f"machines {args.first} to {last - 1}: {len(bad)} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
