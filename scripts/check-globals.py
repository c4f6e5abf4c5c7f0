#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No mutable globals below the front ends: no object of a library lies in a
writable section.  Constants that hold addresses (.data.rel.ro) are fine.

    check-globals.py LIB.a...
    check-globals.py --self-test CC
"""
import os
import re
import subprocess
import sys
import tempfile

# objdump -t: value, 7 flag characters (the last: O = object), section, size.
SYMBOL = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\s+([0-9a-f]+) (?:\.hidden )?(\S+)")
MEMBER = re.compile(r"^(\S+):\s+file format")
# The only exceptions: (member, object).
ALLOWED = {("host_kernel.c.o", "host_self_"),  # weft_host_self
           ("client.c.o", "the")}  # a process is attached once
WRITABLE = re.compile(r"^(\.data(?!\.rel\.ro)|\.bss|\.tdata|\.tbss|\*COM\*)")


def is_object(flags, section):
    """Thread-local objects carry no type; sections and files are 'd'."""
    if section in (".tdata", ".tbss"):
        return flags[5] != "d"
    return flags[6] == "O"


def mutable(lib):
    out = subprocess.run(["objdump", "-t", lib], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    if " F .text" not in out:
        yield "%s: no functions found: not read?" % os.path.basename(lib)
    member = "?"
    for line in out.splitlines():
        m = MEMBER.match(line)
        if m:
            member = m.group(1)
        m = SYMBOL.match(line)
        if m and (os.path.basename(member), m.group(4)) in ALLOWED:
            continue
        if m and is_object(*m.group(1, 2)) and WRITABLE.match(m.group(2)):
            yield "%s(%s): %s is writable (%s)" % (
                os.path.basename(lib), member, m.group(4), m.group(2))


GOOD = """
static const int tab[] = { 1, 2 };
const char *const names[] = { "a", "b" };
int f(int i) { return tab[i] + names[i][0]; }
"""
BAD = {
    "zeroed": "static int zeroed; int f(void) { return zeroed++; }",
    "set": "int set = 4;",
    "hidden": "int f(void) { static int hidden = 7; return hidden++; }",
    "pointer": 'const char *pointer = "x";',
    "thread": "_Thread_local int thread = 3;",
}


def self_test(cc):
    with tempfile.TemporaryDirectory() as where:
        def build(name, text):
            src = os.path.join(where, name + ".c")
            with open(src, "w") as out:
                out.write(text)
            obj, lib = src[:-1] + "o", src[:-1] + "a"
            subprocess.run([cc, "-fPIC", "-O2", "-c", src, "-o", obj],
                           check=True)
            subprocess.run(["ar", "rcs", lib, obj], check=True)
            return lib
        if list(mutable(build("good", GOOD))):
            print("constants are refused")
            return 1
        for name, text in BAD.items():
            want = re.compile(r"\): (f\.)?%s\b" % name)
            if not any(map(want.search, mutable(build(name, text)))):
                print("not found: " + text)
                return 1
    return 0


def main():
    if sys.argv[1] == "--self-test":
        return self_test(sys.argv[2])
    found = [v for lib in sys.argv[1:] for v in mutable(lib)]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
