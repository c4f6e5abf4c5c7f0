# SPDX-License-Identifier: Apache-2.0
"""Published rows that no parameter moves: each fails with a change of the
source (tests/mutants/rows.txt)."""
import json
import os
import shutil
import subprocess

from graph import Build
from state import Sources
from trial import Broken, Worker

WEFT = "src/front/weft"


def read(path):
    """(rows, file, old text, new text) of each line."""
    with open(path) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                rows, file, old, new = line.rstrip("\n").split("\t")
                yield rows.split(), file, old, new


def verdicts(root, rows):
    """Row -> whether it passes, and its value, in the program as linked."""
    p = subprocess.run([os.path.join(root, WEFT), "reproduce", *rows,
                        "--quiet", "--format", "json"], capture_output=True,
                       text=True, timeout=600, cwd=root)
    if not p.stdout.startswith("["):
        return {r: (False, None) for r in rows}  # it does not even run
    return {r["id"]: (r["pass"], r["model"]) for r in json.loads(p.stdout)}


def say(row, built, now):
    text = "no value" if now is None else "%.6g" % now
    print("%-14s %s instead of %.6g" % (row, text, built), flush=True)


def try_one(worker, sources, built, rows, file, old, new):
    """Errors of an entry, as texts."""
    text = sources.text(file)
    if text.count(old) != 1:
        return ["%s: '%s' stands there %d times" % (file, old,
                                                    text.count(old))]
    try:
        objects = worker.compile(file, text.replace(old, new), worker.obj)
    except Broken as why:
        return ["%s: %s" % (file, str(why)[:300])]
    worker.link(WEFT, objects)
    now = verdicts(worker.root, rows)
    worker.restore()
    for r in rows:
        say(r, built[r][1], now[r][1])
    return ["%s passes with '%s' instead of '%s' in %s" % (r, new, old, file)
            for r in rows if now[r][0]]


def main(o):
    sources, build = Sources(o.root), Build(o.build)
    work = os.path.join(o.work, "rows-%d" % os.getpid())
    worker = Worker(build, sources, work, None)
    entries = list(read(os.path.join(o.lists, "rows.txt")))
    every = sorted({r for rows, *_ in entries for r in rows})
    built = verdicts(worker.root, every)
    bad = ["%s fails as it is" % r for r, (ok, _) in built.items() if not ok]
    for entry in entries:
        bad += try_one(worker, sources, built, *entry)
    shutil.rmtree(work, ignore_errors=True)
    print("\n".join(bad + ["%d rows fail with a changed source, %d do not" % (
        len(every) - len(bad), len(bad))]))
    return 1 if bad else 0
