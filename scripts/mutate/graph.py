# SPDX-License-Identifier: Apache-2.0
"""Reads a Meson build directory: compile commands of sources, targets linked
from them, tests and what they need."""
import json
import os
import re
import shlex
import subprocess

MESON = "/usr/bin/meson"
WEFT = "src/front/weft"
LEFT_OUT = {"tree", "fuzz", "models"}  # not about the program
# Speed, or a program that draws and dissects: nothing here judges a mutant.
# "docs" (suite tree) does: pages hold defaults and registers.
NO_TEST = {"system-bench", "system-report", "system-wireshark",
           "system-wireshark_cut", "mpi-mpich"}
TESTS_TOO = {"docs"}
# Processes run, wait and are killed by the clock of the machine: these may fail
# when it is busy.
REAL_TIME = ("mpi-", "raw", "monitor", "system-attached", "system-exec",
             "system-direct", "system-fi", "system-stranger", "attach-",
             "ends", "first", "expected-exec")
TEST = re.compile(r"(?:src/systems/[^/]+/)?tests/|fuzz/")
UNIT = re.compile(r"src/systems/[^/]+/tests/|tests/(unit|replay)/")
INCLUDE = re.compile(r'^#include "(.*\.c)"', re.M)
ERRORS = ["-Wformat", "-Werror=format", "-Werror=incompatible-pointer-types",
          "-Werror=int-conversion",
          "-Werror=implicit-function-declaration"]


def is_test(path):
    """Whether a file of the tree is part of a test."""
    return bool(TEST.match(path))


def folder(path):
    """The part that a file belongs to: src/host, src/systems/forth."""
    depth = 3 if path.startswith("src/systems/") else 2
    return "/".join(path.split("/")[:depth])


class Edge:
    def __init__(self, rule, inputs, implicit):
        self.rule, self.inputs, self.implicit = rule, inputs, implicit
        self.vars = {}


def words(text):
    parts = re.split(r"(?<!\$) +", text.strip())
    return [re.sub(r"\$(.)", r"\1", p) for p in parts if p]


def parse_ninja(path):
    """{output: Edge}"""
    edges, edge = {}, None
    with open(path) as lines:
        for line in lines:
            if line.startswith("build "):
                outs, _, rest = line[6:].partition(": ")
                left = rest.split(" || ")[0]
                ins, _, implicit = left.partition(" | ")
                rule, *inputs = words(ins)
                edge = Edge(rule, inputs, words(implicit))
                for out in words(outs.replace(" | ", " ")):
                    edges[out] = edge
            elif line.startswith(" ") and edge:
                key, _, value = line.strip().partition(" = ")
                edge.vars[key] = value
            elif not line.strip():
                edge = None
    return edges


class Test:
    def __init__(self, d, build):
        self.name = d["name"]
        self.suites = {s.partition(":")[2] for s in d["suite"]}
        self.cmd = [os.path.normpath(a) if a.startswith("/") else a
                    for a in d["cmd"]]
        self.env, self.build = d["env"], build
        self.timeout = d["timeout"]
        self.real_time = self.name.startswith(REAL_TIME)
        self.unit = bool(UNIT.match(os.path.relpath(self.cmd[0], build)))

    def wanted(self):
        return self.name in TESTS_TOO or not (
            self.suites & LEFT_OUT or self.name in NO_TEST)

    def command(self, root):
        """The command line in another directory than the build's."""
        move = lambda s: re.sub(re.escape(self.build) + r"(?=[/:]|$)",
                                lambda _: root, s)
        return [move(a) for a in self.cmd], \
            {k: move(v) for k, v in self.env.items()}


class Build:
    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.root = os.path.dirname(self.path)
        self.edges = parse_ninja(os.path.join(self.path, "build.ninja"))
        self.compiles = self.read_compiles()
        self.includers = self.read_includers()
        self.tests = self.read_tests()
        self.cache = {}

    def read_compiles(self):
        """{source, from the root: [(object, command)]}"""
        out = {}
        with open(os.path.join(self.path, "compile_commands.json")) as f:
            for c in json.load(f):
                src = os.path.normpath(os.path.join(self.path, c["file"]))
                src = os.path.relpath(src, self.root)
                # each object is compiled once: no use for ccache
                command = re.sub(r"^\S*ccache ", "", c["command"])
                out.setdefault(src, []).append((c["output"], command))
        return out

    def read_includers(self):
        """{source: [(object, command, test that includes the source)]}"""
        out = {}
        for path, compiles in self.compiles.items():
            if not is_test(path):
                continue
            with open(os.path.join(self.root, path)) as f:
                for name in INCLUDE.findall(f.read()):
                    out.setdefault("src/" + name, []).extend(
                        (o, c, path) for o, c in compiles)
        return out

    def read_tests(self):
        p = subprocess.run([MESON, "introspect", "--tests", self.path],
                           check=True, capture_output=True, text=True)
        tests = [Test(d, self.path) for d in json.loads(p.stdout)]
        return {t.name: t for t in tests if t.wanted()}

    def compiler(self):
        """E.g. ["ccache", "gcc"]."""
        command = next(iter(self.compiles.values()))[0][1]
        return shlex.split(command.partition(" -")[0])

    def closure(self, target):
        """Everything that `target` is made from."""
        if target not in self.cache:
            self.cache[target] = seen = set()
            stack = [target]
            while stack:
                e = self.edges.get(stack.pop())
                for i in (e.inputs + e.implicit) if e else ():
                    if i not in seen:
                        seen.add(i)
                        stack.append(i)
        return self.cache[target]

    def linked(self):
        """Programs and shared objects."""
        return [o for o, e in self.edges.items() if e.rule == "c_LINKER"]

    def members(self, archive):
        e = self.edges.get(archive)
        return e.inputs if e and e.rule == "STATIC_LINKER" else []

    def holds(self, target, obj):
        """Whether the target itself, not a shared object that it uses, is
        linked from `obj`."""
        e = self.edges[target]
        return obj in e.inputs or any(
            obj in self.members(i) for i in e.inputs + e.implicit)

    def program(self, test):
        return os.path.relpath(test.cmd[0], self.path)

    def watched(self, test):
        """The program of a test in which leaks are looked for, or None: its
        own, and weft where each exit status is compared."""
        if test.unit:
            return self.program(test)
        return WEFT if test.name.startswith("expected-") else None

    def needs(self, test):
        """Linked targets of a test.  A script may start any program."""
        if not test.unit:
            return {o for o in self.linked()
                    if not (UNIT.match(o) or o.startswith("fuzz"))}
        exe = self.program(test)
        return {exe} | {o for o in self.closure(exe) if o in self.edges and
                        self.edges[o].rule == "c_LINKER"}

    def sources(self, test):
        """Files that make the test itself: after a change it reaches other
        lines."""
        if test.unit:
            objs = self.closure(self.program(test))
            return sorted(s for s, cs in self.compiles.items()
                          if is_test(s) and
                          any(o in objs for o, _ in cs))
        return sorted(os.path.relpath(a, self.root) for a in test.cmd[1:]
                      if a.startswith(self.root) and os.path.isfile(a) and
                      not a.startswith(self.path))

    def compile_command(self, src, command, c_file, out):
        """Optimised, so that equal behaviour becomes equal code, and without
        debug data, which would differ."""
        args, skip = [], False
        for a in shlex.split(command):
            if skip or a in ("-MD", "-c") or a.startswith(("-W", "-g", "-O")):
                skip = False
            elif a in ("-MQ", "-MF", "-o"):
                skip = True
            elif os.path.normpath(os.path.join(self.path, a)) != \
                    os.path.join(self.root, src):
                args.append(a)
        near = os.path.relpath(os.path.join(self.root, os.path.dirname(src)),
                               self.path)
        return args + ERRORS + ["-O2", "-g0", "-iquote", near, "-c", c_file,
                                "-o", out]

    def link_command(self, target, changed, out, more=()):
        """`changed`: {object: the mutated one}.  An object that stands before
        the archives is taken in place of their member; an archive that is
        linked whole is replaced by its objects."""
        e = self.edges[target]
        first = [changed.get(i, i) for i in e.inputs]
        own = first != e.inputs  # has the source in itself
        whole, args = False, []
        for a in shlex.split(e.vars.get("LINK_ARGS", "")):
            if a in ("-Wl,--whole-archive", "-Wl,--no-whole-archive"):
                whole = a == "-Wl,--whole-archive"
            members = self.members(a)
            if whole and any(m in changed for m in members):
                args += [changed.get(m, m) for m in members]
                continue
            if not own:
                first += [changed[m] for m in members if m in changed]
            args.append(a)
        return self.compiler() + ["-fuse-ld=gold", "-Wl,-s"] + \
            list(more) + shlex.split(e.vars.get("ARGS", "")) + \
            ["-o", out] + first + args
