#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every reference in comments, messages and pages leads somewhere.

  check-refs.py ROOT          complain about references that lead nowhere
  check-refs.py --count ROOT  and print how many there are of each kind
  check-refs.py --list ROOT   print sections cited, with their titles
  check-refs.py --self-test   prove that each kind of error is found

  section   `forth.md 5.3`, "EXTOLL specification 7.6", (5.3): a heading of
            docs/spec/.  A number alone means the specification that its
            comment, or the section of its page, names; else the one that the
            file names first.  A file that names none has no such numbers.
  id        rows (EX-04, F19), scenarios (T-12, Q06), points (R-27, O-4), rules
            (CSB9): first in a row of a table of docs/spec/.  T-12 and O-4 are
            those of the file's specification.  Rows with a further part
            (HV-18-up) are in tests/system/rows.json.
  file      name.c, folder/name.py, test_*.c: tracked, or next to the file
  link      [text](page.md#heading) of pages
  run       `weft run forth/self`: an experiment (src/front/embed.py)
  index     each page of docs/ is in docs/README.md, or in the README.md of its
            folder
  unit      a page that gives a time in pc or cc says what these are
"""
import collections
import fnmatch
import io
import json
import os
import re
import sys
import tempfile
import tokenize

PLACES = ("src", "include", "tests", "docs", "scripts", "examples",
          "experiments", "models", "fuzz", "share", "bench", "README.md",
          "CONTRIBUTING.md")
UNREAD = ("node_modules", "__pycache__", "corpus")
SPECS = sorted(os.path.splitext(name)[0] for name in os.listdir(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "../docs/spec"))
    if name != "README.md")
INDEX = "docs/README.md"
NAMES = {"FORTH": "forth", "EXTOLL": "extoll", "Host Port": "hostport",
         "HVIA": "hvia", "HVIA-GE": "hvia"}
Piece = collections.namedtuple("Piece", "line text scope")
Message = collections.namedtuple("Message", "line text scope")  # of the program

# ---- pieces of text: comments, strings, paragraphs ----

C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|(?:"(?:\\.|[^"\\\n])*"[\s\\]*)+|'
                     r"'(?:\\.|[^'\\\n])+'", re.S)
C_KINDS = (".c", ".h", ".def", ".inc", ".pml", ".js")
HASH_KINDS = (".sh", ".build", ".txt", "runs")
FENCE = re.compile(r"^\s*```.*?^\s*```", re.S | re.M)
MARKUP = re.compile(r"\n[ \t]*(?:\*|#|--)+ ?")


def lines_to(text, end):
    return text.count("\n", 0, end)


def spaces(m):
    return "\n" + " " * (len(m[0]) - 1)


def c_pieces(text):
    for m in C_TOKEN.finditer(text):
        line, t = lines_to(text, m.start()) + 1, m[0]
        if t[0] == '"':
            yield Message(line, re.sub(r'(?<!\\)"|\\\n|\\n', "", t), None)
        elif t[0] == "/":
            yield Piece(line, MARKUP.sub(spaces, t.strip("/* ")), None)


def python_pieces(text):
    """Comments, those of following lines together, and docstrings."""
    start, gathered, before = 0, "", tokenize.NEWLINE
    for t in tokenize.generate_tokens(io.StringIO(text).readline):
        if t.type == tokenize.COMMENT:
            start = start or t.start[0]
            gathered += t.string.lstrip("# ") + "\n"
        elif t.type != tokenize.NL:
            if gathered:
                yield Piece(start, gathered, None)
            start, gathered = 0, ""
            if t.type == tokenize.STRING and before in (
                    tokenize.NEWLINE, tokenize.INDENT):
                yield Piece(t.start[0], t.string.strip('"'), None)
            before = t.type


def page_pieces(text):
    """Paragraphs and rows of tables; the scope is the specification that a
    paragraph below the heading, or a heading above it, names first."""
    scopes, level, at = {}, 0, 1
    text = FENCE.sub(lambda m: "\n" * m[0].count("\n"), text)
    for block in re.split(r"(\n\s*\n|(?<=\n)(?=[|#]))", text):
        head = re.match(r"#+(?= )", block)
        if head:
            scopes = {k: s for k, s in scopes.items() if k < len(head[0])}
            level = len(head[0])
        elif not block.startswith("|"):
            for _, s in spec_names(block):
                scopes.setdefault(level, s)
        yield Piece(at, block, scopes[max(scopes)] if scopes else None)
        at += block.count("\n")


def pieces(path, text):
    if path.endswith(".md"):
        return page_pieces(text)
    if path.endswith(C_KINDS):
        return c_pieces(text)
    if path.endswith(".py"):
        return python_pieces(text)
    if path.endswith(".lua"):
        return [Piece(lines_to(text, m.start()) + 1,
                      MARKUP.sub(spaces, m[0].lstrip("- ")), None)
                for m in re.finditer(r"(?:^[ \t]*--[^\n]*\n)+", text, re.M)]
    if path.endswith(HASH_KINDS):
        return [Piece(lines_to(text, m.start()) + 1,
                      MARKUP.sub(spaces, m[0].lstrip("# ")), None)
                for m in re.finditer(r"(?:^[ \t]*#[^\n]*\n)+", text, re.M)]
    if path.endswith(".yaml"):
        return [Message(0, MARKUP.sub(spaces, "\n" + text), None)]
    return []


# ---- sections ----

SPEC = re.compile(r"\b(%s)\.md\b`?(?:\]\([^)]*\))?|"
                  r"\b(FORTH|EXTOLL|Host\s+Port|HVIA(?:-GE)?)\s+specification"
                  % "|".join(SPECS))
# Units: they follow a measured value, and not the number of a section.
UNIT = (r"(?!\w|\.\d|\s+-\s|\s*(?:%|[+*/x]\s*\d|=|us\b|ns\b|ms\b|[kKMG]i?[Bb]|"
        r"x\b|pc\b|cc\b|s\b|M\b|B\b|T\b|MHz|GHz|times|hours|cycles|clocks|"
        r"points|words|per\b|of\s+the\s+thesis))")
SECTION = r"(?:1[0-4]|[1-9])\.(?:1[0-5]|[1-9])" + UNIT
WHOLE = r"\d{1,2}(?:\.\d{1,2})?" + UNIT
# Numbers of others: "thesis, section 4.4", "Linux (5.1)".
OTHER = re.compile(r"(?:paper|thesis|source|report|Networks|[tT]ables?|fig\.|"
                   r"figures?|Linux|MPI|PCI|clauses?|[PT]|version|"
                   r"chapters?)\W*$")
# Between two sections of a list: "3.4 (states), 3.6", "8.2 step 8, 8.10".
JOIN = re.compile(r"\s*(?:\([^()]*\)\s*|\w+(?:\s\w+)?(?=[,;]))?"
                  r"(?:,\s*and\b|[,;–-]|and\b|to\b|or\b)"
                  r"\s*(?:(?:steps?|rules?|rows?|stages?)\s*)?")
AN_ID = re.compile(r"[A-Z]{1,4}-?\d+(?:-\w+)?(?:\s+to\s+[A-Z]+-?\d+)?")
BEFORE = re.compile(r"(?:\b(?:sections?|spec|specification)\s+|"
                    r"\b(?:of|in|as|see|rule|by)\s+|\()(?=\d)")
FIRST = re.compile(r"\A\W*(?=\d)")


def spec_names(text):
    """(end of the name, specification) of those that a text names."""
    for m in SPEC.finditer(text):
        yield m.end(), m[1] or NAMES[re.sub(r"\s+", " ", m[2])]


def listed(text, at, item):
    """(place, number) of the list of sections at a place of the text."""
    item = re.compile(item)
    while True:
        m = item.match(text, at)
        if m:
            yield at, m[0]
        else:
            m = AN_ID.match(text, at)
        joint = m and JOIN.match(text, m.end())
        if not joint:
            return
        at = joint.end()


def cited(piece):
    """(place, section, specification or None) of the sections in a piece."""
    found, lists, name, text = {}, [], None, piece.text
    for end, spec in spec_names(text):
        m = re.match(r"(?:'s)?[,:]?\s*(?:sections?|chapter)?\s*", text[end:])
        lists.append((end + m.end(), WHOLE, spec))
    starts = list(BEFORE.finditer(text))
    if isinstance(piece, Piece):
        starts += FIRST.finditer(text)
    for m in starts:
        if not OTHER.search(text, max(0, m.start() - 24), m.start()):
            whole = m[0].startswith("s") and m[0][:3] != "see"
            lists.append((m.end(), WHOLE if whole else SECTION, None))
    for at, item, spec in sorted(lists, key=lambda x: x[0]):
        name = spec or name
        for place, number in listed(text, at, item):
            found.setdefault(place, (number, spec or name))
    return [(place, *found[place]) for place in sorted(found)]


# ---- ids, files, links ----

IDS = re.compile(r"(?<![\w/.-])(?:(EX|HV|HP|UL|AT|NW|XI|T|O|R)-(\d{1,2})"
                 r"(-[a-z0-9]\w*)?|(CSB|CB|SB|FU|PR)(\d{1,2})|"
                 r"([FVSTQROLXM])(\d\d)|(U)(0\d|1[0-5]))\b(?![./]\d)")
SHARED = ("T-", "O-")  # two specifications have these
FILES = re.compile(r"(?<![\w<>$%{@:/.*-])((?:[\w.*-]+/)*[\w*-][\w.*-]*\."
                   r"(?:c|h|py|md|pml|lua|sh|def))\b(?![\w(./<-]|:\d)")
# Names of others' files, and of those that a reader or a build makes.
FOREIGN = {"mpi.h", "mpif.h", "prog.c", "mine.c", "a.py", "a.b.c", "pan.c",
           "shipped.c", "OUT.c", "runfabtests.sh"}
LINK = re.compile(r"\[[^\]\n]*(?:\n[^\]\n]*)?\]\(([^)\s#]*)(#[^)\s]*)?\)")
RUN = re.compile(r"\bweft (?:run|check) ([a-z]+/[a-z0-9-]+)(?![\w./])")


def slug(heading):
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Tree:
    """Sections, ids and files that a reference can lead to."""

    def __init__(self, root, files):
        self.root, self.files = root, set(files)
        self.names = collections.defaultdict(list)
        for f in files:
            self.names[os.path.basename(f)].append(f)
        self.sections, self.ids = {}, {}
        for s in SPECS:
            text = self.read("docs/spec/%s.md" % s)
            self.sections[s] = dict(re.findall(
                r"^#+ (\d+(?:\.\d+)?)\.? (.*)$", text, re.M))
            self.ids[s] = set(re.findall(
                r"^\| *([A-Z]+-?\d+) *\|", text, re.M))
        self.experiments = {self.experiment(f) for f in files
                            if f.endswith(".yaml")}
        rows = self.read("tests/system/rows.json") or "{}"
        self.rows = set(json.loads(rows))

    def read(self, path):
        try:
            with open(os.path.join(self.root, path)) as f:
                return f.read()
        except (OSError, UnicodeDecodeError):
            return ""

    def experiment(self, path):
        """Its name, if a file is one."""
        m = re.fullmatch(r"experiments/(\w+/[\w-]+)\.yaml", path)
        if m:
            return m[1]
        m = re.fullmatch(r"src/systems/(\w+)/experiments/([\w-]+)\.yaml", path)
        if not m:
            return None
        other = re.search(r'^EXPERIMENTS\("(\w+)"\)$', self.read(
            "src/systems/%s/system.def" % m[1]), re.M)
        return "%s/%s" % (other[1] if other else m[1], m[2])

    def has_id(self, name, part, spec):
        if part:
            return name + part in self.rows
        if name.startswith(SHARED) and spec:
            return name in self.ids[spec]
        return any(name in ids for ids in self.ids.values())

    def has_file(self, name, near):
        base = os.path.basename(name)
        if base in FOREIGN or "**" in name:
            return True
        if os.path.normpath(os.path.join(os.path.dirname(near), name)) in \
                self.files:
            return True
        known = self.files if "*" in base else self.names[base]
        if "*" in name:
            return any(fnmatch.fnmatch("/" + f, "*/" + name) for f in known)
        return any(("/" + f).endswith("/" + name) for f in known)

    def has_link(self, target, anchor, near):
        full = os.path.normpath(os.path.join(os.path.dirname(near), target)) \
            if target else near
        if not os.path.exists(os.path.join(self.root, full)):
            return False
        heads = re.findall(r"^#+ (.*)$", self.read(full), re.M)
        return not anchor or anchor[1:] in map(slug, heads)


# ---- the check ----

def check_piece(tree, path, piece, own, say):
    spec = piece.scope or own
    for place, number, named in cited(piece):
        s = named or spec
        say("section", piece, place, "%s %s" % (s, number),
            s and number in tree.sections[s],
            "" if s else ": of which specification?")
    for m in IDS.finditer(piece.text):
        group = [g for g in m.groups() if g]
        dash = "-" if m[1] else ""
        name = group[0] + dash + group[1]
        named = {s for _, s in spec_names(piece.text)} or {spec}
        say("id", piece, m.start(), name + (m[3] or ""),
            any(tree.has_id(name, m[3], s) for s in named))
    for m in FILES.finditer(re.sub(r"\]\([^)\s]*\)", "", piece.text)):
        if m[1] not in [s + ".md" for s in SPECS] and (
                isinstance(piece, Piece) or m[1].endswith(".md")):
            say("file", piece, m.start(), m[1], tree.has_file(m[1], path))


def check_page(tree, path, text, say):
    page = Piece(1, text, None)
    plain = FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    for m in LINK.finditer(plain):
        if "://" not in m[1]:
            say("link", page, m.start(), m[1] + (m[2] or ""),
                tree.has_link(m[1], m[2], path))
    for m in RUN.finditer(text):
        say("run", page, m.start(), m[1],
            m[1] in tree.experiments)
    for fence in FENCE.finditer(text):
        for m in FILES.finditer(fence[0]):
            if m[1].split("/")[0] in PLACES and "/" in m[1]:
                say("file", page, fence.start() + m.start(), m[1],
                    tree.has_file(m[1], path))
    for unit in ("pc", "cc"):
        m = re.search(r"\d %s\b|\| %s \|" % (unit, unit), text)
        if m:
            say("unit", page, m.start(), unit,
                re.search(r"\b%s\b[^.;|]{0,40}\bclock" % unit, text))
    if path.startswith("docs/") and path != INDEX:
        folder, name = os.path.split(path)
        own = os.path.join(folder, "README.md")
        say("index", page, 0, path, "(%s)" % path[5:] in tree.read(INDEX) or
            (own != path and "(%s)" % name in tree.read(own)))


def check(root, files, tell=None):
    """(errors, how many of each kind)."""
    tree = Tree(root, files)
    errors, counts = [], collections.Counter()

    for path in files:
        if path.split("/")[0] not in PLACES or path.endswith("check-refs.py"):
            continue
        text = tree.read(path)

        def say(kind, piece, at, what, good, why=""):
            counts[kind] += 1
            line = piece.line + lines_to(piece.text, at)
            if not good:
                errors.append("%s:%d: %s %s%s" % (path, line, kind, what, why))
            elif tell and kind == "section":
                spec, number = what.split()
                tell(path, line, what, tree.sections[spec][number],
                     piece.text[max(0, at - 60):at + 50])

        here = list(pieces(path, text))
        named = [s for p in here for _, s in spec_names(p.text)]
        own = named[0] if named else None
        if path.startswith("docs/spec/") and not path.endswith("README.md"):
            own = os.path.basename(path)[:-3]
        for piece in here:
            check_piece(tree, path, piece, own, say)
        if path.endswith(".md"):
            check_page(tree, path, text, say)
    return errors, counts


def files_of(root):
    for place in PLACES + ("web",):
        if place.endswith(".md"):
            yield place
        for where, dirs, names in os.walk(os.path.join(root, place)):
            dirs[:] = sorted(d for d in dirs if d not in UNREAD)
            for name in sorted(names):
                yield os.path.relpath(os.path.join(where, name), root)


GOOD = {
    "docs/spec/forth.md": "## 5. Credits\n\n### 5.2 Rule\n\n### 5.3 Sending\n\n"
    "| R-27 | gap |\n| F19 | shares |\n| V06 | blocks |\n",
    "docs/spec/extoll.md": "## 4 Switch\n\n### 4.7 Link\n\n| T-12 | put |\n"
    "| O-4 | rate |\n| EX-04 | itself |\n",
    "docs/spec/hostport.md": "### 7.5 Buffer\n\n| CSB9 | time |\n"
    "| Q06 | full |\n",
    "docs/spec/hvia.md": "## 9 Tests\n\n| T-43 | storm |\n| HV-18 | rises |\n",
    "docs/page.md": "# A page\n\n## Two words\n\n[forth.md](spec/forth.md) "
    "5.2, 5.3; [here](#two-words) (5.3)\n\n`weft run forth/self`, (EXTOLL\n"
    "specification 4.7)\n\n`weft run forth/a`, `weft run exec/pair`\n",
    "docs/spec/README.md": "".join("[%s](%s)" % (p, p) for p in (
        "forth.md", "extoll.md", "hostport.md", "hvia.md")),
    "docs/README.md": "".join("[%s](%s)" % (p, p) for p in (
        "spec/README.md", "page.md", "o.md", "p.md", "q.md", "r.md", "t.md", "u.md")),
    "tests/system/rows.json": '{"HV-18-up": 1}',
    "src/systems/forth/experiments/self.yaml": "doc: > (forth.md 5.3, F19)\n",
    "src/systems/old/experiments/a.yaml": "doc: > F19\n",
    "src/systems/old/system.def": 'EXPERIMENTS("forth")\n',
    "experiments/exec/pair.yaml": "doc: > F19\n",
    "src/good.h": "/* See good.c, R-27, CSB9 and Q06; V06; HV-18-up. */\n",
    "src/good.c": "/* Credits (forth.md 5, 5.2): 4.2 us. */\nint a; /* 5.3 */\n"
    "char *b = \"sum (5.2)\"; /* as extoll.md 4.7 and T-12 say */\n",
    "tests/good.py": '"""Link (extoll.md 4.7, O-4): 9.9 ns."""\n'
    "# T-12, test_*.py\n",
    "tests/test_a.py": "# hvia.md section 9: T-43\n",
}
BAD = {
    "src/a.c": ("section forth 5.93", "/* forth.md 5.93 */"),
    "src/b.c": ("section extoll 4.9", "/* extoll.md 4.7 to 4.9 */"),
    "src/c.c": ("section None 5.3", "/* (5.3) */"),
    "src/d.c": ("section forth 4.7", "/* forth.md 5.2 */\n/* (4.7) */"),
    "src/e.c": ("section hvia 5.2", 'char *s = "hvia.md 9", *t = "as (5.2)";'),
    "src/f.c": ("section forth 7", "/* forth.md: sections 5 and 7 */"),
    "src/g.c": ("id F20", "/* F20 */"),
    "src/h.c": ("id EX-05", "/* EX-05 of R-27 */"),
    "src/i.c": ("id HV-18-down", "/* HV-18-down */"),
    "src/j.c": ("id T-12", "/* hvia.md 9: T-12 */"),
    "src/k.c": ("id CSB15", "/* CSB15 */"),
    "src/l.c": ("file nowhere.c", "/* is in nowhere.c */"),
    "src/m.c": ("file src/good.py", "/* see src/good.py */"),
    "tests/n.py": ("section forth 6.2", '"""Sums of forth.md 5.2, 6.2."""'),
    "docs/o.md": ("link none.md", "[page](none.md)"),
    "docs/p.md": ("link page.md#three-words", "[words](page.md#three-words)"),
    "docs/q.md": ("run forth/none", "`weft run forth/none`"),
    "docs/r.md": ("section hostport 5.2",
                  "# R\n\nHost Port specification 7.5\n\n| (5.2) |\n"),
    "experiments/forth/s.yaml": ("id V07", "doc: > V07\n"),
    "docs/t.md": ("unit cc", "40 pc (clocks of a bus), 3 cc\n"),
    "docs/u.md": ("file src/none.c", "```\nsrc/none.c below\n```\n"),
    "docs/v.md": ("index docs/v.md", "A page without a link to it.\n"),
}


def self_test():
    with tempfile.TemporaryDirectory() as root:
        texts = {**GOOD, **{path: text for path, (_, text) in BAD.items()}}
        for path, text in texts.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as out:
                out.write(text)
        errors, _ = check(root, list(files_of(root)))
    want = {path + ": " + what for path, (what, _) in BAD.items()}
    have = {re.sub(r":\d+: ([^:]*).*", r": \1", e) for e in errors}
    for e in sorted(want ^ have):
        print("not found:" if e in want else "wrongly found:", e)
    return 1 if want != have else 0


def main(args):
    if args == ["--self-test"]:
        return self_test()
    root = args[-1]

    def tell(path, line, what, title, context):
        print("%s:%d: %s %s | %s" % (path, line, what, title,
                                     re.sub(r"\s+", " ", context)))

    files = list(files_of(root))
    errors, counts = check(root, files, tell if args[0] == "--list" else None)
    if args[0] == "--count":
        print(", ".join("%s %d" % (k, n) for k, n in sorted(counts.items())))
    for e in errors:
        print(e)
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
