#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every behavioural scenario of three specifications has a test that names it:
those of the Host Port (hostport.md section 13), of HVIA-GE (hvia.md section 9)
and of EXTOLL (extoll.md section 9).

  check-scenarios.py ROOT          complain about scenarios without a test
  check-scenarios.py --list ROOT   print which test covers which scenario
  check-scenarios.py --counted BUILD ROOT
  check-scenarios.py --self-test

A test function names its scenarios ("Q06, Q13", "T02 to T07", "T-12") in the
comment in front of it, in the heading of its section (a comment that begins
with ----), or in its docstring.  It must be used: a function without a caller or
registration does not count.  And it must assert: itself, or in a function of the
tests that it calls.  With --counted BUILD (gcov's counters, make coverage) one
of these assertions must have been reached when the tests ran."""
import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile


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
                ["src/systems/hostport/tests/test_*.c",
                 "src/systems/atoll/tests/test_*.c",
                 "tests/unit/host/test_host_tag.c", "tests/system/test_hp_*.py"])
HVIA = Spec("-", {"T": 43},
            ["src/systems/hvia/tests/test_*.c",
             "src/systems/ethernet/tests/test_*.c",
             "tests/system/test_hvia.py", "tests/system/test_ethernet.py"])

EXTOLL = Spec("-", {"T": 44},
              ["src/systems/extoll/tests/test_*.c",
               "tests/unit/net/test_topology.c",
               "tests/unit/base/test_b8b10.c", "tests/unit/front/test_direct.c",
               "tests/system/test_links.py", "tests/system/test_networks.py"])

C_TEST = re.compile(r"/\*((?:(?!\*/).)*)\*/\nstatic (?:void|int) (\w+)\(",
                    re.S)
C_NAME = re.compile(r"^static void (\w+)\(void \*\*", re.M)
SECTION = re.compile(r"^/\* ----", re.M)
PY_TEST = re.compile(r'    def (test_\w+)\(self\):\n        """(.*?)"""', re.S)


# ---- assertions ----

HEAD = re.compile(r"^(?:static |inline )*[\w ]*?\*?(\w+)\(")
PY_HEAD = re.compile(r"^( *)def (\w+)\(")
ASSERTS = re.compile(r"\b(?:assert_\w+|fail_msg|self\.assert\w+)\(|"
                     r"\bweft_check_failed\(|\bassert\(|\breplay_differ\(")
WORD = re.compile(r"\w+")


def c_functions(text):
    """(name, line of the body, lines) of the functions of a C file: a body is
    what stands between braces in the first column."""
    head, begin, lines = None, 0, text.split("\n")
    for i, line in enumerate(lines):
        if line == "{":
            begin = i + 1
        elif line == "}" and head:
            yield head, begin + 1, lines[begin:i]
            head = None
        elif line[:1].isalpha():
            m = HEAD.match(line)
            head = m[1] if m else head


def py_functions(text):
    """Likewise of a Python file: a body is what is indented further."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        m = PY_HEAD.match(line)
        if not m:
            continue
        end = i + 1
        while end < len(lines) and (not lines[end].strip() or
                                    lines[end].startswith(m[1] + " ")):
            end += 1
        yield m[2], i + 2, lines[i + 1:end]


class Functions:
    """Functions of the tests: which assert, directly or by what they call or
    hand on."""

    def __init__(self, files):
        self.own = collections.defaultdict(dict)  # name -> file -> asserts
        self.words = {}
        for name, text in files:
            of = py_functions if name.endswith(".py") else c_functions
            for f, at, lines in of(text):
                self.own[f][name] = {(name, at + i) for i, line
                                     in enumerate(lines)
                                     if ASSERTS.search(line)}
                self.words[f, name] = set(WORD.findall("\n".join(lines)))

    def asserts(self, name, file, ran=None):
        """Whether a function may reach an assertion, and one of them `ran`
        (None: never mind).  A name is looked for in its own file first."""
        seen, todo = set(), [(name, file)]
        while todo:
            f, file = todo.pop()
            places = self.own.get(f, {})
            for where in [file] if file in places else list(places):
                if (f, where) in seen or \
                        where.endswith(".py") != file.endswith(".py"):
                    continue
                seen.add((f, where))
                if places[where] and (ran is None or where.endswith(".py") or
                                      places[where] & ran):
                    return True
                todo += [(w, where) for w in self.words[f, where]
                         if w in self.own]
        return False


UNIT = "tests/unit", "src/systems/*/tests"


def counted_lines(build, root):
    """(file, line) that ran, of the tests in a build with counters."""
    ran, root = set(), root.resolve()
    with tempfile.TemporaryDirectory() as folder:
        for gcda in sorted(g for top in UNIT
                           for g in build.glob(top + "/**/*.gcda")):
            subprocess.run(["gcov", "--json-format", str(gcda.resolve())],
                           cwd=folder, capture_output=True, check=False)
        for z in pathlib.Path(folder).glob("*.gz"):
            report = json.loads(gzip.open(z).read())
            for f in report["files"]:
                path = pathlib.Path(report["current_working_directory"],
                                    f["file"]).resolve()
                if path.is_relative_to(root):
                    ran |= {(str(path.relative_to(root)), x["line_number"])
                            for x in f["lines"] if x["count"]}
    return ran


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


def covered(spec, files, functions, ran=None):
    """Scenario -> tests; files: (name, text).  Tests that assert nothing, or
    whose assertions did not run, do not count."""
    by_id = {i: [] for i in spec.ids}
    for name, text in files:
        for function, ids in tests_of(spec, name, text):
            if ids and functions.asserts(function, name, ran):
                for i in ids & by_id.keys():
                    by_id[i].append("%s: %s" % (name, function))
    return by_id


def self_test():
    body = "{\n\tassert_true(1);\n}\n"
    c = ("/* a (Q06, Q13). */\nstatic void test_a(void **state)\n" + body +
         "static void helper(int x)\n" + body +
         "/* T02 to T04,\n * U01 */\nstatic int golden(void)\n{\n\thelper(1);\n"
         "}\n/* R01 */\nstatic void unused(void **state)\n" + body +
         "/* R02 */\nstatic int x;\nstatic void test_b(void **state)\n" + body +
         "/* R03: asserts nothing */\nstatic void test_e(void **state)\n"
         "{\n\tx = 1;\n}\n"
         "/* ---- L01: ends ---- */\nstatic void test_c(void **state)\n" + body +
         "/* ---- rest ---- */\nstatic void test_d(void **state)\n" + body +
         "T(test_a) golden() T(test_b) T(test_c) T(test_d) T(test_e)")
    py = ('    def test_sum(self):\n        """M01: all\n        of X04"""\n'
          '        self.assertTrue(1)\n'
          '    def test_none(self):\n        """M03"""\n'
          '    def other(self):\n        """M02"""\n')
    files = [("a.c", c), ("b.py", py)]
    functions = Functions(files)
    some = covered(HOSTPORT, files, functions,
                   functions.own["helper"]["a.c"])
    if sorted(i for i, t in some.items() if t) != ["M01", "T02", "T03", "T04",
                                                   "U01", "X04"]:
        print("self-test failed: assertions that did not run", some)
        return 1
    got = covered(HOSTPORT, files, functions)
    want = {"Q06", "Q13", "T02", "T03", "T04", "U01", "M01", "X04", "L01"}
    have = {i for i, t in got.items() if t}
    got = covered(HVIA, [("a.c", c.replace("T0", "T-0"))], functions)
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
    ran = None
    if args[0] == "--counted":
        ran = counted_lines(pathlib.Path(args[1]), root)
    everything = [(str(p.relative_to(root)), p.read_text())
                  for top in ("tests", "src/systems/*/tests")
                  for kind in ("c", "h", "py")
                  for p in sorted(root.glob(top + "/**/*." + kind))]
    functions = Functions(everything)
    missing = []
    for spec in HOSTPORT, HVIA, EXTOLL:
        by_id = covered(spec, [(str(p.relative_to(root)), p.read_text())
                               for pattern in spec.files
                               for p in sorted(root.glob(pattern))],
                        functions, ran)
        if args[0] == "--list":
            for i, tests in by_id.items():
                print("%s  %s" % (i, "; ".join(tests)))
        missing += [i for i, tests in by_id.items() if not tests]
    if missing:
        print("scenarios without a test that asserts:", " ".join(missing))
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
