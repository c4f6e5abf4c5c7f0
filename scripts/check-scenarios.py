#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every behavioural scenario of the Host Port's specification (hostport.md
section 13) has a test that names it.

  check-scenarios.py ROOT          complain about scenarios without a test
  check-scenarios.py --list ROOT   print which test covers which scenario
  check-scenarios.py --self-test

A test function names its scenarios ("Q06, Q13", "T02 to T07") in the comment
in front of it, or in its docstring.  It must be used: a function that nobody
calls or registers does not count."""
import pathlib
import re
import sys

COUNT = {"T": 15, "Q": 22, "R": 23, "O": 15, "U": 15, "L": 11, "X": 4, "M": 3}
IDS = ["%s%02u" % (k, i) for k, n in COUNT.items() for i in range(1, n + 1)]
FILES = ["tests/unit/nic/test_hp_*.c", "tests/unit/nic/test_atoll.c",
         "tests/unit/host/test_host_tag.c", "tests/system/test_hp_*.py"]

C_TEST = re.compile(r"/\*((?:(?!\*/).)*)\*/\nstatic (?:void|int) (\w+)\(",
                    re.S)
PY_TEST = re.compile(r'    def (test_\w+)\(self\):\n        """(.*?)"""', re.S)


def ids_of(text):
    """Scenarios that a comment names; ranges too."""
    found = set()
    for m in re.finditer(r"\b([A-Z])(\d\d)(?:\s+(?:\*\s+)?to\s+(?:\*\s+)?"
                         r"\1(\d\d))?\b", text):
        first, last = int(m[2]), int(m[3] or m[2])
        found |= {"%s%02u" % (m[1], i) for i in range(first, last + 1)}
    return found


def tests_of(name, text):
    """(function, scenarios) of a file."""
    if name.endswith(".py"):
        return [(m[1], ids_of(m[2])) for m in PY_TEST.finditer(text)]
    return [(m[2], ids_of(m[1])) for m in C_TEST.finditer(text)
            if len(re.findall(r"\b%s\b" % m[2], text)) > 1]


def covered(files):
    """Scenario -> tests; files: (name, text)."""
    by_id = {i: [] for i in IDS}
    for name, text in files:
        for function, ids in tests_of(name, text):
            for i in ids & by_id.keys():
                by_id[i].append("%s: %s" % (name, function))
    return by_id


def self_test():
    c = ("/* a (Q06, Q13). */\nstatic void test_a(void **state)\n{\n}\n"
         "/* T02 to T04,\n * U01 */\nstatic int golden(void)\n{\n}\n"
         "/* R01 */\nstatic void unused(void **state)\n{\n}\n"
         "/* R02 */\nstatic int x;\nstatic void test_b(void **state)\n{\n}\n"
         "T(test_a) golden() T(test_b)")
    py = ('    def test_sum(self):\n        """M01: all\n        of X04"""\n'
          '    def other(self):\n        """M02"""\n')
    got = covered([("a.c", c), ("b.py", py)])
    want = {"Q06", "Q13", "T02", "T03", "T04", "U01", "M01", "X04"}
    have = {i for i, t in got.items() if t}
    if have != want or len(IDS) != 108:
        print("self-test failed:", sorted(have ^ want), len(IDS))
        return 1
    return 0


def main(args):
    if args == ["--self-test"]:
        return self_test()
    root = pathlib.Path(args[-1])
    by_id = covered([(p.name, p.read_text()) for pattern in FILES
                     for p in sorted(root.glob(pattern))])
    if args[0] == "--list":
        for i, tests in by_id.items():
            print("%s  %s" % (i, "; ".join(tests)))
    missing = [i for i, tests in by_id.items() if not tests]
    if missing:
        print("scenarios without a test:", " ".join(missing))
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
