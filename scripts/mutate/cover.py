# SPDX-License-Identifier: Apache-2.0
"""Coverage of all tests together, from the map of reach.py: by folder; the
error paths that no test takes; what else never runs."""
import os
import re
import sys
import zlib

from graph import Build, folder, is_test
from reach import Map, unpack
from state import Sources

# A line that tells of an error, or leaves because of one.
ERROR = re.compile(r"weft_fail|_fail\(|err|return -|return false|return NULL|"
                   r"goto |bad|refuse|abort\(|exit\(|warn|perror")


class File:
    """Lines and branches of one file, over all tests."""

    def __init__(self, text, counted):
        self.text, self.counted = text.splitlines(), counted
        self.hit, self.branches = set(), {}

    def add(self, lines, branches):
        self.hit.update(lines)
        for line, taken in branches.items():
            old = self.branches.get(int(line), taken)
            if len(old) == len(taken):
                taken = [int(a or b) for a, b in zip(old, taken)]
            self.branches[int(line)] = taken

    def runs(self):
        """Lines that never ran, as (first, last); what stands between two of
        them counts nothing."""
        out, missed = [], sorted(self.counted - self.hit)
        for n in missed:
            if out and not any(k in self.hit
                               for k in range(out[-1][1] + 1, n)):
                out[-1][1] = n
            else:
                out.append([n, n])
        return out

    def is_error(self, first, last):
        return any(ERROR.search(t) for t in self.text[first - 1:last])

    def one_sided(self):
        """Lines that ran, with a branch that was never taken."""
        return [(n, len(t) - sum(t), len(t))
                for n, t in sorted(self.branches.items())
                if n in self.hit and not all(t)]


def load(map_):
    files = {}
    for path, text, counted in map_.db.execute(
            "select file, text, lines from source"):
        files[path] = File(zlib.decompress(text).decode(),
                           set(unpack(counted)))
    for path, lines, branches in map_.db.execute(
            "select file, lines, branches from reach"):
        files[path].add(unpack(lines), unpack(branches))
    return {p: f for p, f in files.items() if f.counted}


def percent(a, b):
    return "%5.1f %%" % (100.0 * a / b if b else 100.0)


def by_folder(files):
    rows = {}
    for path, f in files.items():
        for key in (folder(path), "all"):
            r = rows.setdefault(key, [0, 0, 0, 0])
            taken = [b for n, t in f.branches.items() for b in t]
            for i, n in enumerate((len(f.hit & f.counted), len(f.counted),
                                   sum(taken), len(taken))):
                r[i] += n
    for key in sorted(rows, key=lambda k: (k == "all", k)):
        a, b, c, d = rows[key]
        yield "%-20s lines %s of %6d   branches %s of %6d" % (
            key, percent(a, b), b, percent(c, d), d)


def write(files, never, out):
    for line in by_folder(files):
        out.write(line + "\n")
    if never:
        out.write("\nFiles that no test runs\n%s\n" % "\n".join(never))
    for error, title in ((True, "Error paths that no test takes"),
                         (False, "Other lines that no test runs")):
        out.write("\n%s\n" % title)
        for path, f in sorted(files.items()):
            for first, last in f.runs():
                if f.is_error(first, last) == error:
                    out.write("%s:%d-%d: %s\n" % (
                        path, first, last, f.text[first - 1].strip()))
    out.write("\nBranches never taken, in lines that run\n")
    for path, f in sorted(files.items()):
        for line, missed, all_ in f.one_sided():
            out.write("%s:%d: %d of %d: %s\n" % (
                path, line, missed, all_, f.text[line - 1].strip()))


def main(o):
    os.makedirs(o.work, exist_ok=True)
    m = Map(os.path.join(o.work, "map.db"), Build(o.counted),
            Sources(o.root))
    if not o.no_map:
        m.make(lambda s: print(s, file=sys.stderr, flush=True))
    files = load(m)
    never = sorted(p for p in m.build.compiles
                   if p.startswith("src/") and not is_test(p) and
                   p not in files)
    page = os.path.join(o.counted, "coverage.txt")
    with open(page, "w") as f:
        write(files, never, f)
    print("\n".join(by_folder(files)))
    print("the lists: %s" % page)
    return 0
