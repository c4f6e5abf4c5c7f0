#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times of libraries, programs and agents are parameters.

    check-times.py ROOT         what stands in the code as a number
    check-times.py --self-test

A constant that moves results and that `weft describe` does not list cannot be
changed and has no source.  Times of drivers and libraries are HOST_TIME entries
(src/host/times.h), those of a program are in its table.
"""
import glob
import os
import re
import sys

FOLDERS = ("src/systems/*/lib", "src/systems/*/programs", "src/programs",
           "src/endpoint", "src/storage", "src/attach", "src/preload", "src/provider")
UNIT = r"WEFT_(?:PS|NS|US|MS|SEC)\b"
NUMBER = re.compile(
    r"\b\d+(?:u?l*)\s*\*\s*%s|"            # 5 * WEFT_US
    r"\b[A-Z_]+_(?:NS|US|MS)\s*\*\s*%s|"   # PAUSE_NS * WEFT_NS
    r"(?:[-+<]|<<|return|,|#define\s+\w+)\s+%s(?!\s*[*/])" %  # + WEFT_MS
    (UNIT, UNIT, UNIT))
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)
# Bounds of a protocol, which no result depends on.
LIMITS = {("src/attach/proto.h", "ATT_BUSY_MAX"),
          ("src/attach/proto.h", "ATT_TIME_MAX")}


def constants(text):
    """(line, code) of each number."""
    text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    return [(i, line.strip()) for i, line in enumerate(text.split("\n"), 1)
            if NUMBER.search(line)]


def check(root):
    bad = []
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(root, folder, "*.[ch]"))):
            name = os.path.relpath(path, root)
            with open(path) as f:
                found = constants(f.read())
            bad += ["%s:%d: %s" % (name, i, line) for i, line in found
                    if not any(n == name and w in line for n, w in LIMITS)]
    for line in bad:
        print(line)
    if bad:
        print("make it a parameter: HOST_TIME in a system.def or in "
              "src/host/times.def, or a line of the program's table")
    return 1 if bad else 0


def self_test():
    good = ("x = t / WEFT_NS;", "/* 5 * WEFT_US */", 's = "2 * WEFT_MS";',
            "sleep_for(s * WEFT_SEC + n * WEFT_NS);",
            "return now + ms * WEFT_MS;", "(double)WEFT_SEC / load")
    bad = ("weft_host_cpu(h, 100 * WEFT_NS);", "#define X (20 * WEFT_MS)",
           "#define X WEFT_MS", "until = now + WEFT_US;",
           "weft_host_cpu(h, WEFT_US);", "PAUSE_NS * WEFT_NS")
    for line in good:
        assert not constants(line), line
    for line in bad:
        assert constants(line), line
    print("%d lines" % len(good + bad))
    return 0


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else
             check(sys.argv[1]))
