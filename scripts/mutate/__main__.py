#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes the program in small ways and looks whether a test notices.

    scripts/mutate [--sample N] [--seed S] [--path src/host]... [--jobs N]
    scripts/mutate --survivors       what no test noticed, as a work list
    scripts/mutate --show MUTANT     the edit
    scripts/mutate --mutant MUTANT   judges one, again
    scripts/mutate --again           judges survivors once more
    scripts/mutate --check           the committed mutants, each with the test
                                     that must catch it
    scripts/mutate --write-check N   writes that list from what was caught
    scripts/mutate --rows            published rows that no parameter moves
                                     fail with a change of the source
    scripts/mutate --coverage        lines and error paths that no test takes
    scripts/mutate --self-test

docs/testing.md says how it works.
"""
import argparse
import os
import sys

sys.dont_write_bytecode = True

import cover
import report
import rows
import selftest
from campaign import Campaign, check

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def options():
    p = argparse.ArgumentParser(prog="mutate", description=__doc__,
                                formatter_class=argparse.
                                RawDescriptionHelpFormatter)
    p.add_argument("--build", default=os.path.join(ROOT, "build"))
    p.add_argument("--counted", default=os.path.join(ROOT, "build-coverage"),
                   help="build directory with gcov's counters")
    p.add_argument("--work", default=os.path.join(ROOT, "build-mutate"))
    p.add_argument("--lists", default=os.path.join(ROOT, "tests", "mutants"))
    p.add_argument("--path", action="append", metavar="PATH")
    p.add_argument("--sample", type=int, default=100)
    p.add_argument("--seed", default="1")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--budget", type=float, default=60,
                   help="processor seconds of tests for one mutant")
    p.add_argument("--least", type=float, default=0,
                   help="per cent that must be caught")
    p.add_argument("--no-map", action="store_true",
                   help="use the map as it is")
    p.add_argument("--again", action="store_true")
    p.add_argument("--mutant")
    for name in ("--survivors", "--check", "--coverage", "--rows",
                 "--self-test"):
        p.add_argument(name, action="store_true")
    p.add_argument("--show", metavar="MUTANT")
    p.add_argument("--write-check", type=int, metavar="N")
    o = p.parse_args()
    o.path = o.path or ["src"]
    for name in ("build", "counted", "work", "lists"):
        setattr(o, name, os.path.abspath(getattr(o, name)))
    o.root = ROOT
    return o


def main():
    o = options()
    if o.self_test:
        return selftest.main()
    if o.check:
        return check(o)
    if o.rows:
        return rows.main(o)
    if o.show:
        return report.show(o, o.show)
    if o.coverage:
        return cover.main(o)
    c = Campaign(o)
    if o.survivors:
        return report.survivors(c)
    if o.write_check:
        return report.write_check(c, o.write_check)
    if o.mutant:
        return c.one(o.mutant)
    if not o.no_map:
        c.map.make(report.say)
    c.run()
    return report.summary(c)


if __name__ == "__main__":
    sys.exit(main())
