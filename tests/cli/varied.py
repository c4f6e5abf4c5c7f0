#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what commands print and write with committed results.

  varied.py WEFT FILE...                    compare; ends at the first mismatch
  varied.py WEFT --write FILE...            write what WEFT prints (make expected)
  varied.py WEFT --make KIND COUNT SEED     new lines: refusals or outputs

A line of FILE is one or more commands in a fresh folder, separated by " ; ",
and their result:

  run forth/pio --set nodes.count=0 -> 2 weft: nodes.count: ...
  run forth/pio --out r.db ; explain r.db -> 0,0 DIGEST [FILE=DIGEST...]

The result of a refused command is its message.  Otherwise there are a digest of
the standard output, one of the standard error if there is any, and one for each
file that is left in the folder.  A reader of a diff sees which part changed; the
command shows how.
"""
import concurrent.futures
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "golden"), str(HERE.parent / "random")]

import golden
import machines
import tune
import vary

LIMIT_S = 10
SHORT_S = 0.05  # a new line takes no more, because make check repeats it


def content(path):
    return golden.rows(path) if path.suffix == ".db" else path.read_bytes()


def perform(weft, text):
    """The result of a line's commands, as its right side."""
    status, out, err = [], b"", b""
    with tempfile.TemporaryDirectory(prefix="weft-varied-") as folder:
        for part in text.split(" ; "):
            p = subprocess.run([weft, *shlex.split(part)], cwd=folder,
                               capture_output=True, stdin=subprocess.DEVNULL,
                               env={**os.environ, "COLUMNS": "100"},
                               preexec_fn=lambda: golden.limit_cpu(LIMIT_S))
            status.append(p.returncode)
            out += p.stdout
            err += p.stderr
        files = ["%s=%s" % (f.name, golden.sha(content(f), 8))
                 for f in sorted(pathlib.Path(folder).iterdir())]
    said = ",".join(map(str, status))
    if status == [2] and not out and not files:
        return said + " " + " / ".join(
            err.decode(errors="replace").splitlines())
    return " ".join([said, golden.sha(out, 12)] +
                    (["err=" + golden.sha(err, 8)] if err else []) + files)


# ---- files ----

def lines(path):
    """(text, commands, result) of each line; remarks have no commands."""
    for text in pathlib.Path(path).read_text().splitlines():
        left, _, right = text.partition(" -> ")
        yield text, "" if text.startswith("#") else left.strip(), right


def compare(weft, path):
    n = 0
    for _, commands, want in lines(path):
        if commands:
            now = perform(weft, commands)
            if now != want:
                sys.exit("%s: weft %s\n  now  %s\n  was  %s\nIf that is as "
                         "intended, make expected writes it: look at git diff."
                         % (path, commands, now, want))
            n += 1
    return n


def write(weft, path):
    text = ["%s -> %s" % (c, perform(weft, c)) if c else t
            for t, c, _ in lines(path)]
    pathlib.Path(path).write_text("\n".join(text) + "\n")


# ---- new lines ----

PLACES = ["nodes", "nodes.count", "nodes.host", "nodes.host.type", "nodes.bus",
          "nodes.bus.type", "nodes.nic", "nodes.nic.type", "nodes.nic.preset",
          "traffic", "traffic.count", "traffic.type", "traffic.load",
          "traffic.pattern", "traffic.sizes", "traffic.trace", "fabric",
          "fabric.type", "fabric.switch", "fabric.switch.type", "fabric.link",
          "fabric.link.type", "fabric.dims", "fabric.cut", "fabric.tie",
          "fabric.routes", "fabric.routing", "fabric.cables", "fabric.count",
          "fabric.hosts", "fabric.spines", "fabric.radix", "fabric.arity",
          "fabric.up", "fabric.switches", "fabric.net", "fabric.cycles",
          "workload", "workload.0", "workload.0.program", "workload.0.on",
          "workload.0.to", "workload.0.size", "workload.0.count",
          "workload.0.preset", "workload.1", "workload.9.size", "run",
          "run.until", "run.watchdog", "run.shuffle", "record",
          "record.counters", "record.sample", "record.headline",
          "record.parts", "sweep", "sweep.auto", "sweep.seed", "expect",
          "faults", "faults.0", "faults.0.on", "faults.0.type", "payload",
          "seed", "name", "doc", "base"]
VALUES = ["-1", "0", "''", "none", "[]", "{}", "1e400", str(1 << 70), "12qs",
          "3..4", "yes", "[1, 2]", "{type: no.such}", "{type: forth.nic}",
          "1e-30", "4294967296", "1ms", "8", "forth.xbar", "[[0, 1]]",
          "{auto: traffic.load}", "{traffic.load: [0.1, x]}", "'*'", "n0",
          "{x: 1}", "[{on: n0.nic, type: fault.cut}]", "99999", "0.5", "5MB",
          "[{program: no.such}]", "[{program: ep.pingpong, on: 7}]",
          "{n0.nic.x: 1}", "{'n*.prog0.rate': '>1'}", "[s0.lp0]", "[[0, 9]]"]
OPTIONS = ["--sample", "--sample x", "--sample 0s", "--sample 1us,q*",
           "--format", "--format xml", "--capture q0", "--capture-file",
           "--jobs 0", "--jobs -1", "--jobs x", "--seed -1", "--seed x",
           "--load /none.so", "--show", "--file-limit 0", "--file-limit 1x",
           "--no-such", "-q", "--set", "--set x", "--set =1", "--set a.b.c=1",
           "--append", "--sweep-load", "--message 1", "extra",
           "--out /none/r.db", "--trace /none/t.json", "--waves /none/w.vcd",
           "--follow /none/f", "--quiet=1", "--format=", "--out"]
COMMANDS = ["run", "check", "run", "run", "describe", "list", "explain",
            "report", "reproduce", "exec", "disk", "bench", "show", "capture"]
LOOKS = ["--format table --show '*'", "--format csv", "--format svg",
         "--format table --sample 2us --show '*'", "--format json",
         "--trace t.json", "--waves w.vcd", "--follow f.jsonl",
         "--capture all --capture-file c.pcapng",
         "--capture all --capture-file c.pcapng --file-limit 3KB",
         "--trace t.json --file-limit 3KB",
         "--waves w.vcd --sample 1us --file-limit 5KB",
         "--out r.db ; report r.db --out r.html",
         "--out r.db ; explain r.db", "--out r.db ; explain r.db --format json",
         "--out r.db ; explain r.db --message slowest",
         "--out r.db ; explain r.db --message first",
         "--out r.db ; explain r.db --message 2 --format json",
         "--sample 1us --out r.db ; report r.db --quiet --out r.html",
         "--jobs 2 --format table", "--seed 5 --format csv"]
SWEEPS = ["{seed: [1, 2, 3]}", "{workload.0.size: [8, 64, 200]}",
          "{workload.0.size: [8, 64], seed: [1, 2]}",
          "{workload.0.count: [2, 3, 5, 7]}", "{traffic.load: [0.1, 0.3, 0.5]}",
          "{traffic.load: [0.1, 0.4], traffic.size: [8, 64]}",
          "{run.until: [10us, 20us]}"]


def quiet_bases(weft):
    """Short committed runs, with the classes in them."""
    out = []
    for args in vary.bases([""]):
        status, _, cpu, text = vary.run(weft, args)
        if status == 0 and cpu < 0.06 and "faults=" not in str(args):
            out.append((args, vary.classes(text)))
    return out


def refusal(rng, weft, base):
    """A command with one mistake."""
    args, names = base
    how = rng.random()
    command = "check" if rng.random() < 0.2 else "run"
    if how < 0.5:
        return [command, *args, "--set", "%s=%s" % (
            rng.choice(PLACES), rng.choice(VALUES))]
    if how < 0.8:
        name, p = rng.choice(rng.choice(vary.choices(weft, names)))
        lo, hi = tune.bounds(p["range"])
        wrong = rng.choice([
            str(lo - 1) if lo else "-1", str(hi + 1) if hi else "1e30",
            rng.choice(VALUES), str(rng.choice(machines.WRONG)),
            str(lo or 0), str(hi or 1)])
        return [command, *args, "--set", "%s.%s=%s" % (
            name, rng.choice([p["name"], p["name"], p["name"][:-1] + "x"]),
            wrong)]
    if how < 0.95:
        return [command, args[0], *shlex.split(rng.choice(OPTIONS))]
    return [rng.choice(COMMANDS), rng.choice([
        args[0], names[0] if names else "x", "no-such", "/", "--help-me", ""]),
        *shlex.split(rng.choice(OPTIONS + [""]))]


def output(rng, weft, base):
    args, _ = base
    sweep = ["--set", "sweep=" + rng.choice(SWEEPS)] \
        if rng.random() < 0.35 else []
    return ["run", *args, *sweep], rng.choice(LOOKS)


def made(task):
    kind, weft, base, seed = task
    rng = random.Random(seed)
    if kind == "refusals":
        text = shlex.join(refusal(rng, weft, base))
    else:
        words, look = output(rng, weft, base)
        text = shlex.join(words) + " " + look
    before = spent()
    result = perform(weft, text)
    return text, result, spent() - before


def spent():
    """Processor time of all children so far."""
    t = os.times()
    return t.children_user + t.children_system


def plain(message):
    """The beginning of a message without numbers and names, which two messages
    of one kind share."""
    return re.sub(r"'[^']*'|[\w./*-]*\d[\w./*-]*", "#", message)[:70]


def make(weft, kind, count, seed):
    bases, seen, n = quiet_bases(weft), set(), 0
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for turn in range(60):
            for text, result, cpu in pool.map(made, [
                    (kind, weft, b, "%s %d %d" % (seed, turn, i))
                    for i, b in enumerate(bases)], chunksize=4):
                status, _, rest = result.partition(" ")
                key = plain(rest) if kind == "refusals" else rest
                wanted = "2" if kind == "refusals" else "0"
                if status.startswith("-"):
                    sys.stderr.write("signal: %s\n" % text)
                if set(status.split(",")) != {wanted} or key in seen or \
                        cpu > SHORT_S or len(text) + len(rest) > 600 or "/" + "tmp/" in rest:
                    continue
                seen.add(key)
                print(text)
                n += 1
                if n == count:
                    return


def main(weft, *rest):
    weft = os.path.abspath(weft)
    if rest[0] == "--make":
        make(weft, rest[1], int(rest[2]), rest[3])
    elif rest[0] == "--write":
        for path in rest[1:]:
            write(weft, path)
    else:
        print(sum(compare(weft, path) for path in rest), "lines as committed")


if __name__ == "__main__":
    main(*sys.argv[1:])
