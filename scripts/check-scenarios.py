#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every behavioural scenario of three specifications has a test that names it:
those of the Host Port (hostport.md section 13), of HVIA-GE (hvia.md section 9)
and of EXTOLL (extoll.md section 9).

  check-scenarios.py ROOT          complain about scenarios without a test
  check-scenarios.py --list ROOT   print which test covers which scenario
  check-scenarios.py --self-test

A test function names its scenarios ("Q06, Q13", "T02 to T07", "T-12") in the
comment in front of it, in the heading of its section (a comment that begins
with ----), or in its docstring.  It must be used: a function that nobody calls
or registers does not count."""
import pathlib
import re
import sys


class Spec:
    """Scenarios: letters (how many), written with `dash` before the number, and
    the tests that may name them."""

    def __init__(self, dash, count, files):
        self.ids = ["%s%s%02u" % (k, dash, i) for k, n in count.items()
                    for i in range(1, n + 1)]
        self.files = files
        self.dash = dash
        self.pattern = re.compile(
            r"\b([A-Z])%s(\d\d)(?:\s+(?:\*\s+)?to\s+(?:\*\s+)?\1%s(\d\d))?\b"
            % (dash, dash))

    def ids_of(self, text):
        """Scenarios that a comment names; ranges too."""
        found = set()
        for m in self.pattern.finditer(text):
            first, last = int(m[2]), int(m[3] or m[2])
            found |= {"%s%s%02u" % (m[1], self.dash, i)
                      for i in range(first, last + 1)}
        return found


HOSTPORT = Spec("", {"T": 15, "Q": 22, "R": 23, "O": 15, "U": 15, "L": 11,
                     "X": 4, "M": 3},
                ["tests/unit/nic/test_hp_*.c", "tests/unit/nic/test_atoll.c",
                 "tests/unit/host/test_host_tag.c", "tests/system/test_hp_*.py"])
HVIA = Spec("-", {"T": 43},
            ["tests/unit/nic/test_hv_*.c", "tests/unit/ulib/test_vipl_*.c",
             "tests/unit/ulib/test_hvia_att.c", "tests/unit/link/test_mac.c",
             "tests/unit/link/test_eth_*.c", "tests/unit/switch/test_eth_*.c",
             "tests/system/test_hvia.py", "tests/system/test_ethernet.py"])

EXTOLL = Spec("-", {"T": 44},
              ["tests/unit/*/test_ex_*.c", "tests/unit/ulib/test_velo.c",
               "tests/unit/base/test_b8b10.c", "tests/unit/front/test_direct.c",
               "tests/system/test_links.py", "tests/system/test_networks.py"])

C_TEST = re.compile(r"/\*((?:(?!\*/).)*)\*/\nstatic (?:void|int) (\w+)\(",
                    re.S)
C_NAME = re.compile(r"^static void (test_\w+)\(", re.M)
SECTION = re.compile(r"^/\* ----", re.M)
PY_TEST = re.compile(r'    def (test_\w+)\(self\):\n        """(.*?)"""', re.S)


def tests_of(spec, name, text):
    """(function, scenarios) of a file."""
    if name.endswith(".py"):
        return [(m[1], spec.ids_of(m[2])) for m in PY_TEST.finditer(text)]
    found = [(m[2], spec.ids_of(m[1])) for m in C_TEST.finditer(text)]
    for part in SECTION.split(text)[1:]:
        heading, _, body = part.partition("*/")
        found += [(f, spec.ids_of(heading)) for f in C_NAME.findall(body)]
    return [(f, ids) for f, ids in found
            if len(re.findall(r"\b%s\b" % f, text)) > 1]


def covered(spec, files):
    """Scenario -> tests; files: (name, text)."""
    by_id = {i: [] for i in spec.ids}
    for name, text in files:
        for function, ids in tests_of(spec, name, text):
            for i in ids & by_id.keys():
                by_id[i].append("%s: %s" % (name, function))
    return by_id


def self_test():
    c = ("/* a (Q06, Q13). */\nstatic void test_a(void **state)\n{\n}\n"
         "/* T02 to T04,\n * U01 */\nstatic int golden(void)\n{\n}\n"
         "/* R01 */\nstatic void unused(void **state)\n{\n}\n"
         "/* R02 */\nstatic int x;\nstatic void test_b(void **state)\n{\n}\n"
         "/* ---- L01: ends ---- */\nstatic void test_c(void **state)\n{\n}\n"
         "/* ---- rest ---- */\nstatic void test_d(void **state)\n{\n}\n"
         "T(test_a) golden() T(test_b) T(test_c) T(test_d)")
    py = ('    def test_sum(self):\n        """M01: all\n        of X04"""\n'
          '    def other(self):\n        """M02"""\n')
    got = covered(HOSTPORT, [("a.c", c), ("b.py", py)])
    want = {"Q06", "Q13", "T02", "T03", "T04", "U01", "M01", "X04", "L01"}
    have = {i for i, t in got.items() if t}
    got = covered(HVIA, [("a.c", c.replace("T0", "T-0"))])
    have ^= {i for i, t in got.items() if t}
    want |= {"T-02", "T-03", "T-04"}
    if have != want or [len(s.ids) for s in (HOSTPORT, HVIA, EXTOLL)] != \
            [108, 43, 44]:
        print("self-test failed:", sorted(have ^ want))
        return 1
    return 0


def main(args):
    if args == ["--self-test"]:
        return self_test()
    root = pathlib.Path(args[-1])
    missing = []
    for spec in HOSTPORT, HVIA, EXTOLL:
        by_id = covered(spec, [(p.name, p.read_text())
                               for pattern in spec.files
                               for p in sorted(root.glob(pattern))])
        if args[0] == "--list":
            for i, tests in by_id.items():
                print("%s  %s" % (i, "; ".join(tests)))
        missing += [i for i, tests in by_id.items() if not tests]
    if missing:
        print("scenarios without a test:", " ".join(missing))
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
