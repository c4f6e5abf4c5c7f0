#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Comments, messages and pages use words that need not be read twice.

    check-words.py ROOT            folders that use more of them than
                                   tests/words.txt allows
    check-words.py ROOT --list [PATH...]   where
    check-words.py ROOT --write    writes what there is; it may only fall
    check-words.py ROOT --sample N SEED    random comments of C files for a
                                   reader who does not know the code
    check-words.py --self-test

who        a sender, a driver, a capture: not who, whoever, somebody, nobody
same       a sentence that begins with "The same" needs the line above it
headless   a sentence whose subject is what, who or where hides its noun
no         "is not a", not "is no" (but "there is no"); "inside", not
           "inside of"
"""
import collections
import importlib.util
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BUDGET = "tests/words.txt"
NOT_READ = ("docs/spec/", "scripts/check-words.py", "tests/words.txt")
START = r"(?:\A|(?<=[.:;!?]\s)|(?<=\n\n)|(?<=\|\s))\W*"
KINDS = {
    "who": re.compile(r"\b(?:who|whoever|(?:some|no|any|every)body)"
                      r"\b", re.I),
    "same": re.compile(START + r"The same\b"),
    "headless": re.compile(START + r"(?:What|Who|Where|Whatever|Wherever)\b"
                           r"(?![^.;|]*\?)|\A\W*(?:what|who|where)\b"
                           r"(?![^.;|]*\?)"),
    "no": re.compile(r"(?<!there )\b(?:is|are|was|were|be) no\b(?! (?:longer|"
                     r"more than|later|fewer|less|one|other))|\binside of\b",
                     re.I),
}


def reader():
    spec = importlib.util.spec_from_file_location(
        "check_refs", os.path.join(HERE, "check-refs.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def folder(path):
    parts = path.split("/")[:-1]
    deep = {"src": 3 if parts[1:2] == ["systems"] else 2, "tests": 2}
    return "/".join(parts[:deep.get(parts[0] if parts else "", 1)]) or "."


def found(text):
    """(kind, place) of each word in a piece."""
    return [(k, m) for k, r in KINDS.items() for m in r.finditer(text)]


def scan(root, paths):
    refs = reader()
    names = subprocess.run(["git", "-C", root, "ls-files", "--", *paths],
                           check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split("\n")
    for name in names:
        if not name.endswith((".c", ".h", ".py", ".md", ".def", ".sh")) or \
           name.startswith(NOT_READ):
            continue
        full = os.path.join(root, name)
        if os.path.exists(full):
            with open(full) as f:
                for piece in refs.pieces(name, f.read()):
                    for kind, m in found(piece.text):
                        yield name, piece, kind, m


def counts(root):
    n = collections.Counter((folder(name), kind)
                            for name, _, kind, _ in scan(root, []))
    return n


def budget(root):
    out = collections.Counter()
    path = os.path.join(root, BUDGET)
    if os.path.exists(path):
        for line in open(path):
            if not line.startswith("#"):
                where, *n = line.split()
                out.update({(where, k): int(x) for k, x in zip(KINDS, n)})
    return out


def write(root, n):
    with open(os.path.join(root, BUDGET), "w") as f:
        f.write("# Words of scripts/check-words.py by folder; may only "
                "fall.\n# folder %s\n" % " ".join(KINDS))
        for where in sorted({w for w, _ in n}):
            f.write("%s %s\n" % (where, " ".join(str(n[where, k])
                                                 for k in KINDS)))


def check(root):
    now, allowed = counts(root), budget(root)
    bad = ["%s: %d of kind '%s', %d allowed: check-words.py . --list %s" %
           (w, now[w, k], k, allowed[w, k], w if w != "." else "")
           for w, k in sorted(now) if now[w, k] > allowed[w, k]]
    less = [x for x in allowed if now[x] < allowed[x]]
    if less and not bad:
        bad.append("fewer than %s says in %s: check-words.py . --write" %
                   (BUDGET, ", ".join(sorted({w for w, _ in less}))))
    print("\n".join(bad or ["%d words" % sum(now.values())]))
    return 1 if bad else 0


def show(root, paths):
    for name, piece, kind, m in scan(root, paths):
        line = piece.line + piece.text.count("\n", 0, m.start())
        around = piece.text[max(0, m.start() - 20):m.end() + 50]
        print("%s:%d: %s: %s" % (name, line, kind,
                                 re.sub(r"\s+", " ", around).strip()))


COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
SAMPLED = 45  # characters that a comment of a sample has at least


def comments(root):
    """(file, text, match) of each comment that is long enough."""
    names = subprocess.run(["git", "-C", root, "ls-files", "*.[ch]"],
                           check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    for name in sorted(names):
        with open(os.path.join(root, name)) as f:
            text = f.read()
        for m in COMMENT.finditer(text):
            words = re.sub(r"[\s*/]+", " ", m[0]).strip()
            if m[0][0] == "/" and len(words) >= SAMPLED and \
                    "SPDX" not in words:
                yield name, text, m


def sample(root, count, seed):
    """Prints comments with the line that they share or the lines below."""
    every = list(comments(root))
    random.Random(seed).shuffle(every)
    for i, (name, text, m) in enumerate(every[:count]):
        before = text[text.rfind("\n", 0, m.start()) + 1:m.start()].strip()
        after = [] if before else text[m.end():].split("\n")[1:4]
        print("#%d %s:%d\n%s%s\n%s" % (
            i + 1, name, text.count("\n", 0, m.start()) + 1,
            before + "  " if before else "", m[0],
            "".join("| %s\n" % line for line in after)))
    print("of %d comments" % len(every))


def self_test():
    cases = {"who": ("the process who waits", "Somebody writes."),
             "same": ("The same, backwards.", "Takes it. The same later."),
             "headless": ("What is left.", "what a frame holds",
                          "Goes on. Where it ends, it stops."),
             "no": ("is no number", "inside of a call")}
    for kind, texts in cases.items():
        for text in texts:
            assert {k for k, _ in found(text)} == {kind}, (kind, text)
    for text in ("The driver says what is left.", "Where is it?", "is no "
                 "longer used", "there is no port", "on the same line", "inside a call"):
        assert not found(text), text
    print("%d texts" % (6 + sum(map(len, cases.values()))))
    return 0


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    if "--list" in sys.argv:
        return show(sys.argv[1], sys.argv[3:])
    if "--sample" in sys.argv:
        return sample(sys.argv[1], int(sys.argv[3]), sys.argv[4])
    if "--write" in sys.argv:
        return write(sys.argv[1], counts(sys.argv[1]))
    return check(sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
