# SPDX-License-Identifier: Apache-2.0
"""Results of a campaign: counts by folder, survivors, edits."""
import difflib
import os
import sys

import campaign
import operators
from graph import folder
from state import Sources

COUNTED = ("caught", "alive", "unreached")
COLUMNS = COUNTED + ("accepted", "equal", "broken")


def say(text):
    print(text, file=sys.stderr, flush=True)


def score(row):
    n = sum(row[v] for v in COUNTED)
    return 100.0 * row["caught"] / n if n else 100.0


def table(judged):
    """{folder: {verdict: n}}, with a row for all."""
    rows = {}
    for path, _, r in judged:
        for key in (folder(path), "all"):
            row = rows.setdefault(key, dict.fromkeys(COLUMNS, 0))
            row[r.verdict] += 1
    return rows


def summary(c):
    rows = table(c.judged)
    print("%-20s %7s %s" % ("", "caught", " ".join("%9s" % v
                                                   for v in COLUMNS)))
    for key in sorted(rows, key=lambda k: (k == "all", k)):
        print("%-20s %5.1f %% %s" % (key, score(rows[key]), " ".join(
            "%9d" % rows[key][v] for v in COLUMNS)))
    lost = [j for j in c.judged if j[2].verdict in ("alive", "unreached")]
    if lost:
        print("\nsurvivors, as a work list (--show MUTANT shows the edit):")
        work_list(lost)
    for name in c.state.failing():
        print("not used, for it fails without a mutant: %s" % name)
    for line in campaign.stale(c.sources, c.o):
        print(line)
    return 1 if "all" in rows and score(rows["all"]) < c.o.least else 0


def work_list(lost):
    for path, m, r in sorted(lost, key=lambda j: (j[0], j[1].line)):
        print("%s:%d: %s: %s%s" % (
            path, m.line, r.verdict, m.name.partition(":")[2],
            " (%d dearer tests left)" % len(r.rest) if r.rest else ""))


def survivors(c):
    """Of all runs, not only of one sample."""
    lost = []
    for path in c.sources.files(c.o.path):
        for m in operators.mutants(path, c.sources.text(path)):
            r = c.known(m)
            if r and r.verdict in ("alive", "unreached"):
                lost.append((path, m, r))
    work_list(lost)
    return 0


def edit(sources, path, m):
    old = sources.text(path)
    new = operators.apply(old, m)
    return "".join(difflib.unified_diff(
        old.splitlines(True), new.splitlines(True), path, path, n=2))


def show(o, name):
    sources = Sources(o.root)
    try:
        path, m = campaign.find(sources, name)
    except KeyError:
        say("no such mutant: %s" % name)
        return 1
    print(edit(sources, path, m), end="")
    return 0


HEAD = """\
# Mutants and the test that catches each; `make check` tries the first twenty
# that exist.  Written by scripts/mutate --write-check.
"""


def write_check(c, n):
    """The first `n` of the sample that a unit test has caught: cheap enough
    for `make check`."""
    lines = []
    for path, m in c.sample():
        r = c.known(m)
        if r and r.verdict == "caught" and r.killer in c.build.tests and \
                c.build.tests[r.killer].unit:
            lines.append("%s\t%s\n" % (m.name, r.killer))
        if len(lines) == n:
            break
    os.makedirs(c.o.lists, exist_ok=True)
    with open(os.path.join(c.o.lists, "caught.txt"), "w") as f:
        f.write(HEAD + "".join(lines))
    print("%d mutants" % len(lines))
    return 0
