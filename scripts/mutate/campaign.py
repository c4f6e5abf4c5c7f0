# SPDX-License-Identifier: Apache-2.0
"""A sample of mutants and their verdicts.

The order of a sample is that of a hash of seed and name: a run that goes on,
or a source that has changed elsewhere, meets the same mutants.  Those that do
not compile, and those that compile to the code of the original, do not count:
the next one is taken.
"""
import hashlib
import os
import queue
import shutil
import threading
import time

import operators
import report
from graph import Build, folder, is_test
from reach import Map
from state import Sources, State, read_list
from trial import Result, Worker

NOT_COUNTED = ("broken", "equal")
# Run by the build; what they print is compiled into the tests' programs.
GENERATORS = ("src/base/b8b10_gen.c", "src/base/crc_gen.c")


class Campaign:
    def __init__(self, o):
        self.o = o
        os.makedirs(o.work, exist_ok=True)
        self.sources = Sources(o.root)
        self.build = Build(o.build)
        self.map = Map(os.path.join(o.work, "map.db"), Build(o.counted),
                       self.sources)
        self.state = State(os.path.join(o.work, "state.db"))
        self.accepted = read_list(os.path.join(o.lists, "equivalent.txt"))
        self.caught = read_list(os.path.join(o.lists, "caught.txt"))
        self.costs = self.map.cost()
        self.sums = {}
        self.lock = threading.Lock()
        self.judged = []  # (path, mutant, verdict, killer)

    # ---- which ----------------------------------------------------------

    def sample(self):
        """(path, mutant) of all under --path, in the order of the seed."""
        all_ = [(path, m) for path in self.sources.files(self.o.path)
                if path in self.build.compiles and not is_test(path)
                and path not in GENERATORS
                for m in operators.mutants(path, self.sources.text(path))]
        return sorted(all_, key=lambda pm: self.rank(pm[1].name))

    def rank(self, name):
        return hashlib.sha1(("%s %s" % (self.o.seed, name)).encode()).digest()

    def tests(self, path, mutant):
        """Those that reach it, cheapest first, unit tests of its folder before
        others, the one that is known to catch it before all; and those that
        the budget does not pay for."""
        names = [n for n in self.map.reaching(path, mutant)
                 if n in self.build.tests]
        known = self.caught.get(mutant.name)
        near = os.path.basename(folder(path))
        names.sort(key=lambda n: (n != known, not n.startswith(near),
                                  self.costs.get(n, 0), n))
        spent, paid = 0.0, []
        for n in names:
            spent += self.costs.get(n, 0)
            if paid and spent > self.o.budget:
                break
            paid.append(self.build.tests[n])
        return paid, names[len(paid):]

    # ---- verdicts -------------------------------------------------------

    def baseline(self, worker, test):
        """Returns the result of Worker.measure()."""
        with self.lock:
            if test.name not in self.sums:
                self.sums[test.name] = self.map.sum(test)
        row = self.state.baseline(test.name, self.sums[test.name])
        if not row:
            row = worker.measure(test)
            self.state.put_baseline(test.name, self.sums[test.name], *row)
        return row

    def known(self, mutant):
        """The verdict of an earlier run, or None: to be judged."""
        if mutant.name in self.accepted:
            return Result("accepted", self.accepted[mutant.name])
        row = self.state.get(mutant.name, mutant.sum)
        if not row or (self.o.again and row[0] in ("alive", "unreached")):
            return None
        return Result(*row)

    def judge(self, worker, path, mutant):
        r = self.known(mutant)
        if r:
            return r
        start = time.time()
        tests, rest = self.tests(path, mutant)
        r = worker.judge(path, mutant, tests)
        if r.verdict == "alive":
            r.rest = rest
        self.state.put(mutant.name, mutant.sum, r, time.time() - start)
        if r.verdict not in NOT_COUNTED:
            report.say("%-9s %s  %s" % (r.verdict, mutant.name, r.killer))
        return r

    def worker(self, i):
        return Worker(self.build, self.sources,
                      os.path.join(self.o.work, "w%d" % i), self.baseline)

    def run(self):
        todo = queue.Queue()
        for pm in self.sample():
            todo.put(pm)
        workers = [self.worker(i) for i in range(self.o.jobs)]
        self.left = self.o.sample
        threads = [threading.Thread(target=self.loop, args=(w, todo))
                   for w in workers]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    def loop(self, worker, todo):
        while True:
            with self.lock:
                if self.left <= 0 or todo.empty():
                    return
                self.left -= 1
            path, mutant = todo.get()
            r = self.judge(worker, path, mutant)
            with self.lock:
                if r.verdict in NOT_COUNTED:
                    self.left += 1
                self.judged.append((path, mutant, r))

    def one(self, name):
        path, mutant = find(self.sources, name)
        self.state.forget(name)
        r = self.judge(self.worker(0), path, mutant)
        print(r.verdict, r.killer)
        return 0


def find(sources, name):
    path = name.partition(":")[0]
    if os.path.exists(os.path.join(sources.root, path)):
        for m in operators.mutants(path, sources.text(path)):
            if m.name == name:
                return path, m
    raise KeyError(name)


# ---- the committed lists ---------------------------------------------------


def check(o):
    """The first --sample of the committed mutants that still exist are caught
    by the test that is named with each; accepted ones exist."""
    sources, build = Sources(o.root), Build(o.build)
    bad = stale(sources, o)
    work = os.path.join(o.work, "check-%d" % os.getpid())
    worker = Worker(build, sources, work,
                    lambda w, t: (t.timeout, t.timeout, False))
    ran = 0
    for name, test in read_list(os.path.join(o.lists,
                                             "caught.txt")).items():
        try:
            path, mutant = find(sources, name)
        except KeyError:
            continue
        if ran == o.sample or test not in build.tests:
            continue
        ran += 1
        r = worker.judge(path, mutant, [build.tests[test]])
        if r.verdict != "caught":
            bad.append("%s: %s does not notice: %s %s" % (
                name, test, r.verdict, r.killer))
    if ran < o.sample:
        bad.append("%d mutants of caught.txt exist, not %d: run "
                   "scripts/mutate --write-check 60" % (ran, o.sample))
    shutil.rmtree(work, ignore_errors=True)
    print("\n".join(bad + ["%d mutants" % ran]))
    return 1 if bad else 0


def stale(sources, o):
    out = []
    for name in read_list(os.path.join(o.lists, "equivalent.txt")):
        try:
            find(sources, name)
        except KeyError:
            out.append("equivalent.txt: %s is no mutant any more" % name)
    return out
