#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public function has a comment, and says what it returns.

    check-contracts.py ROOT
    check-contracts.py --self-test

Read are prototypes, inline functions and pointers to functions in the headers
of include/weft.  The comment stands above the declaration, or at its end.  The
comment above a group (declarations without a blank line between them) counts
for those without one of their own when it says "Each" or "They".  A result is
explained by a sentence with "Returns" (or "Return", "returns").
"""
import glob
import os
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
# A declaration at the margin, or a pointer to a function in a struct.
PROTO = re.compile(
    r"^(?P<type>(?!typedef|struct \w+ \{|enum|#|return|static const|\})"
    r"[\w][\w \t\n*]*?[ *])(?P<name>\w+)\((?P<args>[^;{}]*?)\)"
    r"(?=\s*(?:[;{]|__attribute__|WEFT_))"
    r"|^\t(?P<ptype>[\w][\w *]*?)\(\*(?P<pname>\w+)\)\([^;]*?\);", re.M)


def declared(text):
    """(line, name, returns something, comment) of each function."""
    blank = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    blank = blank.replace("WEFT_C_BEGIN", " " * 12)
    comments = [(m.start(), m.end(), m[0]) for m in COMMENT.finditer(text)]
    group = (0, "")
    for m in PROTO.finditer(blank):
        kind = m["type"] or m["ptype"]
        name = m["name"] or m["pname"]
        own = ""
        for start, end, c in comments:
            between = blank[end:m.start()] if end <= m.start() else None
            # lines of the preprocessor and forward declarations may follow
            if between is not None and not re.sub(
                    r"^(?:#.*|(?:struct|typedef)\b.*;)?\n", "", between,
                    flags=re.M).strip() and "\n\n" not in between:
                own = c
            stop = blank.find(";", m.end())
            if start >= m.end() - 1 and stop >= 0 and start > stop and \
               not blank[stop + 1:start].count("\n"):
                own += c
        if own:
            group = (m.end(), own)
        elif "\n\n" in blank[group[0]:m.start()]:
            group = (m.end(), "")
        else:
            group = (m.end(), group[1])
        shared = re.search(r"\b(?:Each|They|All)\b", group[1])
        text_of = own or (group[1] if shared else "")
        void = re.fullmatch(r"(?:static |inline |WEFT_\w+ )*void\s*", kind)
        yield (text.count("\n", 0, m.start()) + 1, name, not void, text_of)


def faults(text):
    for line, name, returns, comment in declared(text):
        if not comment:
            yield line, "%s has no comment" % name
        elif returns and not re.search(r"\breturns?\b", comment, re.I):
            yield line, "%s does not say what it returns" % name


def check(root):
    bad = n = 0
    for path in sorted(glob.glob(os.path.join(root, "include/weft/*.h"))):
        with open(path) as f:
            text = f.read()
        n += len(list(declared(text)))
        for line, why in faults(text):
            print("%s:%d: %s" % (os.path.relpath(path, root), line, why))
            bad += 1
    print("%d functions, %d without" % (n, bad))
    return 1 if bad else 0


def self_test():
    text = ("/* Takes it.  Returns 0. */\nint a(int x);\nint b(void);\n\n"
            "/* Goes. */\nvoid c(void);\nvoid d(void);\n\n"
            "/* Each returns a number. */\nint e(void);\nint f(int x,\n"
            "      int y);\nbool g(void); /* returns true */\n"
            "/* Sum. */\nstatic inline int h(int x)\n{\n\treturn x;\n}\n"
            "struct s {\n\t/* Returns 1. */\n\tint (*i)(int x);\n"
            "\tint (*j)(int x);\n};\n")
    assert [w.split()[0] for _, w in faults(text)] == ["b", "d", "h", "j"], \
        list(faults(text))
    print("10 functions")
    return 0


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else
             check(sys.argv[1]))
