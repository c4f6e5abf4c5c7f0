#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions and structs of the program keep a size that can be read.

    check-grain.py ROOT         what is beyond a bound
    check-grain.py ROOT --list  functions per 1,000 lines, by folder
    check-grain.py --self-test

Many functions of two lines make a reader jump; one of a hundred lines, or a
struct of a hundred fields, hides what belongs together.  Counted are the .c and
.h files of src, without tests and generated tables.
"""
import collections
import os
import re
import subprocess
import sys

PER_1000 = 52  # functions per 1,000 lines of .c files
LINES = 60     # of a function
FIELDS = 60    # of a struct, those of a struct inside not counted
NOISE = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\])'", re.S)
STRUCT = re.compile(r"^(?:typedef )?struct (\w+) \{\n(.*?)^\}", re.S | re.M)
INNER = re.compile(r"\{[^{}]*\}|\([^()]*\)|\[[^][]*\]")


def plain(text):
    """Without comments and strings; lines stay where they are."""
    return NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def functions(text):
    """(line, lines of the body) of each: its braces stand at the margin."""
    lines, start = text.split("\n"), None
    for i, line in enumerate(lines, 1):
        if line.rstrip() == "{":
            start = i
        elif start and line.rstrip() == "}":
            yield start, i - start - 1
            start = None


def fields(body):
    """Number of names that a struct's own declarations declare."""
    old = None
    while old != body:
        old, body = body, INNER.sub("", body)
    return sum(d.count(",") + 1 for d in body.split(";")[:-1] if d.strip())


def sources(root):
    names = subprocess.run(["git", "-C", root, "ls-files", "src"], text=True,
                           check=True, stdout=subprocess.PIPE).stdout.split()
    return [n for n in names if n.endswith((".c", ".h")) and
            "/tests/" not in n and not n.endswith("_gen.c") and
            os.path.exists(os.path.join(root, n))]


def read(root, name):
    with open(os.path.join(root, name)) as f:
        return f.read()


def folder(name):
    parts = name.split("/")[:-1]
    return "/".join(parts[:4 if parts[1:2] == ["systems"] else 2])


def check(root, show):
    bad, count = [], collections.defaultdict(lambda: [0, 0])
    for name in sources(root):
        text = plain(read(root, name))
        found = list(functions(text))
        bad += ["%s:%d: a function of %d lines: split it where it changes the "
                "subject (%d at most)" % (name, at, n, LINES)
                for at, n in found if n > LINES]
        for m in STRUCT.finditer(text):
            if fields(m[2]) > FIELDS:
                bad.append("%s: struct %s has %d fields: parameters, or what "
                           "one file uses, into a struct of their own (%d at "
                           "most)" % (name, m[1], fields(m[2]), FIELDS))
        if name.endswith(".c"):
            for key in (folder(name), "src"):
                count[key][0] += len(found)
                count[key][1] += text.count("\n")
    if show:
        for key, (n, lines) in sorted(count.items()):
            print("%-28s %6d lines %5d functions %5.1f" %
                  (key, lines, n, 1000 * n / lines))
    n, lines = count["src"]
    if 1000 * n > PER_1000 * lines:
        bad.append("src: %.1f functions per 1,000 lines (%d at most): fold "
                   "back those of a line or two with one caller (--list)" %
                   (1000 * n / lines, PER_1000))
    print("\n".join(bad or ["%d functions, %.1f per 1,000 lines" %
                            (n, 1000 * n / lines)]))
    return 1 if bad else 0


def self_test():
    text = plain('int f(void)\n{\n\treturn 1;\n}\n/*\n{\n}\n*/\n'
                 'static int g(int a,\n\t     int b)\n{\n\ta++;\n\n'
                 '\treturn "}\\"}"[b];\n}\nstruct s {\n\tint x;\n};\n')
    assert list(functions(text)) == [(2, 1), (11, 3)], list(functions(text))
    for body, n in (("int a;", 1), ("int a, *b;\nint c[4][N];", 3),
                    ("struct { int x, y; } in; int z;", 2),
                    ("void (*f)(int a, int b);", 1), ("", 0),
                    ("union {\nstruct { int a; int b; } s;\nint c;\n} u;", 1)):
        assert fields(body) == n, (body, fields(body))
    assert STRUCT.search(text)[1] == "s"
    print("9 cases")
    return 0


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else
             check(sys.argv[1], "--list" in sys.argv))
