#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares results of shipped experiments with those that are committed.

  golden.py WEFT FILE...           compare, up to the first that differs
  golden.py WEFT --write FILE...   write what WEFT gives (make golden)
  golden.py WEFT --other WEFT ARGUMENT...
                                   values in which two programs differ

The model is deterministic: each compiler and each machine gives the same bytes.
So any change of a time, a counter or a byte shows.  A line of FILE is a run:

  ARGUMENTS -> STATUS DIGEST VALUES... MARKS

ARGUMENTS are those of `weft run`.  DIGEST is that of the JSON without the
manifest, which holds versions and defaults.  The VALUES are sums, for a reader
of a diff.  Files that the run writes have digests of their own.  Among the
ARGUMENTS +db asks for a database and what weft explain says of it, +files also
for a timeline, waves and a capture (+nocapture: where no line has a format).
MARKS are one letter for each kind of value, so that a mismatch has a name:
instances of a component are one kind.  A new line needs ARGUMENTS only.  Lines
of a file that begins with SHORT have neither VALUES nor MARKS, but "-".
"""
import hashlib
import json
import math
import pathlib
import re
import resource
import shlex
import sqlite3
import string
import subprocess
import sys
import tempfile

LETTERS = string.ascii_letters + string.digits + "-_"
MANIFEST = re.compile(rb'"manifest": \{.*?\n *\},?', re.S)
FILES = ["--out", "r.db", "--trace", "t.json", "--waves", "w.vcd"]
MACROS = {"+db": FILES[:2], "+nocapture": FILES,
          "+files": FILES + ["--capture", "all", "--capture-file", "c.pcapng"]}
LIMIT_S = 20  # of processor time; the longest takes 1, with sanitizers 4
SUMS = "metrics", "counters", "histograms", "series"
SHORT = "# Made by vary.py"
SHOWN = 12  # names of values that changed
ADVICE = """
A change of a model is a decision: name it in the commit.  "make golden" writes
what the program gives now; git diff shows all runs that changed."""


def sha(data, digits):
    return hashlib.sha256(data).hexdigest()[:digits]


def digest_of(out):
    """Of a result without its manifest."""
    return sha(MANIFEST.sub(b"", out), 16)


# ---- one run ----

class Outcome:
    def __init__(self, status, out, err, files):
        self.status, self.out, self.err, self.files = status, out, err, files
        self.digest = digest_of(out)

    def key(self):
        """Status and digests: two runs with equal ones are equal."""
        return [str(self.status), self.digest] + [
            "%s=%s" % f for f in sorted(self.files.items())]

    def values(self):
        """{name: number} of all points."""
        d, flat = json.loads(self.out), {}
        for i, r in enumerate(d.get("runs", [d])):
            flat.update(("%d metrics %s" % (i, k), v)
                        for k, v in r["metrics"].items())
            flat.update(("%d counters %s" % (i, k), v)
                        for k, v in r["counters"].items())
            for h in r["histograms"]:
                flat.update(histogram("%d histograms %s" % (i, h["name"]), h))
            for s in r["series"]:
                name = "%d series %s" % (i, s["name"])
                flat[name + " x"] = total(s["x"])
                flat[name + " y"] = total(s["y"])
            flat["%d failures" % i] = len(r["failures"])
        return flat


def total(numbers):
    if all(isinstance(n, int) for n in numbers):
        return sum(numbers)
    return math.fsum(n for n in numbers if n is not None)


def histogram(name, h):
    yield name + " count", h["count"]
    yield name + " mean", h["mean"]
    yield name + " bins", sum(a * n for a, n in h["bins"])


def rows(path):
    """Rows of a database, without versions and texts of the experiment."""
    db = sqlite3.connect(path)
    out = [line for line in db.iterdump() if line.startswith("INSERT") and
           not line.startswith(('INSERT INTO "manifest"',
                                'INSERT INTO "runs"'))]
    db.close()
    return "\n".join(out).encode()


def explained(weft, db):
    """Stages of two messages; nothing where they are not told."""
    return b"".join(subprocess.run(
        [weft, "explain", str(db), "--message", which],
        capture_output=True).stdout for which in ("fastest", "slowest"))


def digests(weft, folder):
    """{file: digest}, and of what is said about a database."""
    out = {}
    for f in pathlib.Path(folder).iterdir():
        if f.suffix == ".db":
            text = explained(weft, f)
            out.update({"explain": sha(text, 8)} if text else {})
            out["db"] = sha(rows(f), 8)
        else:
            out[f.suffix[1:]] = sha(f.read_bytes(), 8)
    return out


def limit_cpu(seconds):
    """Ends the process by a signal; a lower limit that it has stays."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard != resource.RLIM_INFINITY:
        seconds = min(seconds, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))


def execute(weft, args):
    """Runs with all counters, whatever the experiment records."""
    args = [b for a in args for b in MACROS.get(a, [a])]
    with tempfile.TemporaryDirectory(prefix="weft-golden-") as folder:
        p = subprocess.run(
            [weft, "run", *args, "--set", "record={}", "--format", "json",
             "--quiet"], cwd=folder, capture_output=True,
            preexec_fn=lambda: limit_cpu(LIMIT_S))
        files = digests(weft, folder) if p.returncode in (0, 1) else {}
        return Outcome(p.returncode, p.stdout, p.stderr, files)


# ---- content of a line ----

def kinds(values):
    """{kind: its values}: names without numbers of points and instances."""
    out = {}
    for name, v in values.items():
        kind = re.sub(r"\d+", "*", name.split(" ", 1)[1])
        out.setdefault(kind, []).append(v)
    return dict(sorted(out.items()))


def marks(values):
    return "".join(LETTERS[hashlib.sha256(repr(v).encode()).digest()[0] % 64]
                   for v in kinds(values).values())


def sums(values):
    for part in SUMS:
        some = [v for k, v in values.items() if k.split(" ")[1] == part]
        yield "%s=%d/%.12g" % (part, len(some), total(some))


def described(o, short=False):
    if short:
        return o.key() + ["-"]
    values = o.values()
    return o.key() + list(sums(values)) + [marks(values)]


class Line:
    def __init__(self, text):
        args, _, rest = text.partition(" -> ")
        self.text, self.args, self.want = text, args.strip(), rest.split()

    def key(self):
        """As that of an Outcome: all that stands before the sums."""
        return [w for w in self.want[:-1] if not w.startswith(SUMS)]

    def runs(self):
        return self.args and not self.args.startswith("#")


def read(path):
    return [Line(t) for t in pathlib.Path(path).read_text().splitlines()]


def shipped_runs():
    """Arguments of a run of each shipped experiment, shortened as in the
    files; of the soak ones the first 100 us."""
    here, seen = pathlib.Path(__file__).resolve().parent, set()
    for path in sorted(here.glob("*.txt")):
        for l in read(path):
            args = [a for a in shlex.split(l.args) if a not in MACROS]
            if l.runs() and tuple(args) not in seen:
                seen.add(tuple(args))
                yield args
    for name in sorted("%s/%s" % (p.parts[-3], p.stem) for p in here.glob(
            "../../src/systems/*/experiments/soak-*.yaml")):
        yield [name, "--set", "run={until: 100us}"]


# ---- differences ----

def changed_kinds(o, old):
    """Kinds of values whose mark is another."""
    values = o.values()
    names, now = list(kinds(values)), marks(values)
    if len(old) != len(now):
        return ["%d kinds of values, were %d" % (len(now), len(old))]
    return [n for n, a, b in zip(names, old, now) if a != b]


def why(line, o):
    """The differences, as far as can be told."""
    if not line.want:
        return ["it has no committed result"]
    if str(o.status) != line.want[0]:
        return ["status %d, was %s" % (o.status, line.want[0]),
                o.err.decode(errors="replace")[-400:]]
    if line.want[-1] == "-":
        return ["--other names the values, given the program before"]
    was, now = (dict(w.split("=") for w in words[2:-1])
                for words in (line.want, described(o)))
    out = ["%s=%s, was %s" % (k, now.get(k, "none"), was.get(k, "none"))
           for k in {**was, **now} if was.get(k) != now.get(k)]
    names = changed_kinds(o, line.want[-1])
    if len(names) > SHOWN:
        names[SHOWN:] = ["and %d more" % (len(names) - SHOWN)]
    return out + ["changed: " + (", ".join(names) or "text or files only")]


def compare(weft, path):
    """The number of runs; stops at the first that differs."""
    lines = [l for l in read(path) if l.runs()]
    for l in lines:
        o = execute(weft, shlex.split(l.args))
        if l.key() != o.key():
            sys.exit("%s: %s: another result\n  %s\n%s" % (
                path, l.args, "\n  ".join(why(l, o)), ADVICE))
    seen = {}
    for l in lines:
        if l.want[1] in seen:
            sys.exit("%s: %s: same result as %s" % (path, l.args,
                                                   seen[l.want[1]]))
        seen[l.want[1]] = l.args
    return len(lines)


def written(weft, line, short):
    if not line.runs():
        return line.text
    o = execute(weft, shlex.split(line.args))
    if o.status not in (0, 1):
        sys.exit("%s: status %d: %s" % (line.args, o.status, o.err.decode()))
    return "%s -> %s" % (line.args, " ".join(described(o, short)))


def write(weft, path):
    lines = read(path)
    short = lines[0].text.startswith(SHORT)
    text = [written(weft, l, short) for l in lines]
    pathlib.Path(path).write_text("\n".join(text) + "\n")


def differ(weft, other, args):
    """Each value in which two programs differ."""
    a, b = (execute(w, args).values() for w in (other, weft))
    for name in sorted(a.keys() | b.keys()):
        if a.get(name) != b.get(name):
            print(name, a.get(name), "->", b.get(name))


def main(weft, *rest):
    weft = str(pathlib.Path(weft).resolve())
    if rest[:1] == ("--other",):
        differ(weft, str(pathlib.Path(rest[1]).resolve()), list(rest[2:]))
    elif rest[:1] == ("--write",):
        for path in rest[1:]:
            write(weft, path)
    else:
        print(sum(compare(weft, path) for path in rest), "runs as committed")


if __name__ == "__main__":
    main(*sys.argv[1:])
