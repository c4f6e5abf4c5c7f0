#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills the generated parts of docs/**/*.md from the program itself.

A page says  <!-- describe CLASS -->  ...  <!-- end -->  and what stands between
is replaced by `weft describe CLASS --format markdown`.  `<!-- options -->` gives
a table of the options of all commands, `<!-- classes -->` one of the classes,
each with the page that has its description.

A page that has  <!-- shell -->  ...  <!-- end -->  is done as a reader would do
it, top to bottom, in one folder that holds links to examples/, include/ and
build/weft.  Lines `$ COMMAND` of such a part are run (`\\` at the end: the next
line belongs to it); what they print takes the place of what stood there.
`<!-- edit FILE -->` before a ```diff block makes that change to FILE; hunks are
separated by lines `@@`.

`<!-- picture weft ARGS -->` before an image gives the command that prints it.

  scripts/docs.py WEFT          rewrite the pages and their pictures
  scripts/docs.py --check WEFT  say which pages are out of date, exit 1
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PART = re.compile(r"(<!-- describe (\S+) -->\n).*?(<!-- end -->)", re.S)
TABLE = re.compile(r"(<!-- (options|classes) -->\n).*?(<!-- end -->)", re.S)
OPTION = re.compile(r"^  (--?\S+)(?: ([A-Z]\S*))? +(\S.*)$", re.M)
PICTURE = re.compile(r"<!-- picture weft (.*?) -->\n!\[.*?\]\((\S+)\)")
STEP = re.compile(r"(<!-- shell -->\n```\n)(.*?)(```\n<!-- end -->)|"
                  r"<!-- edit (\S+) -->\n```diff\n(.*?)```\n", re.S)


def ask(weft, *args):
    return subprocess.run([weft, *args], check=True, capture_output=True,
                          text=True).stdout


def describe(weft, name):
    return ask(weft, "describe", name, "--format", "markdown")


def row(*cells):
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |\n"


def options(weft):
    """Options in the order of the alphabet, with the commands that take them."""
    found = {}
    names = re.findall(r"^  (\w+) ", ask(weft, "--help"), re.M)
    for name in names:
        for o, value, doc in OPTION.findall(ask(weft, name, "--help")):
            doc = doc if o != "--format" else doc.split(":")[0]
            found.setdefault((o, value, doc), []).append(name)
    out = row("option", "commands", "meaning") + row("---", "---", "---")
    for (o, value, doc), of in sorted(found.items(),
                                      key=lambda x: x[0][0].lstrip("-")):
        of = "all" if len(of) == len(names) else ", ".join(of)
        out += row(f"`{o} {value}`" if value else f"`{o}`", of, doc)
    return out


def classes(weft):
    """Classes and fabrics by kind, with the page that describes each."""
    pages = {}
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for name in re.findall(r"<!-- describe (\S+) -->|"
                               r"^`weft describe (\S+)` lists",
                               page.read_text(), re.M):
            pages["".join(name)] = page.relative_to(ROOT / "docs")
    out = row("class", "kind", "description", "page")
    out += row("---", "---", "---", "---")
    for kind, name, doc in re.findall(r"^(\w+) +(\S+) +(\S.*)$",
                                      ask(weft, "list"), re.M):
        if kind in ("kind", "experiments", "fabrics"):
            continue
        page = pages.get(name)
        kind = re.sub("(?<=us|ch)es$|(?<!us)s$", "", kind)
        out += row(f"`{name}`", kind, doc,
                   f"[{page.name}]({page})" if page else "")
    return out


def edit(path, diff):
    """Makes the change; each hunk must fit one place."""
    text = path.read_text()
    for hunk in re.split(r"^@@.*\n", diff, flags=re.M):
        lines = [s if s else " " for s in hunk.splitlines()]
        old = "".join(s[1:] + "\n" for s in lines if s[0] != "+")
        new = "".join(s[1:] + "\n" for s in lines if s[0] != "-")
        if not lines:
            continue
        if text.count(old) != 1:
            raise SystemExit(f"{path.name}: fits {text.count(old)} places:\n"
                             + hunk)
        text = text.replace(old, new)
    path.write_text(text)


def shell(folder, text):
    """The commands of `text`, each with what it prints."""
    out = ""
    for m in re.finditer(r"^\$ (?:.*\\\n)*.*\n", text, re.M):
        p = subprocess.run(["bash", "-c", m[0][2:]], cwd=folder, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           env={**os.environ, "LC_ALL": "C"})
        out += m[0] + p.stdout
    return out


def follow(weft, text):
    """The page after its steps have been carried out."""
    def step(m):
        if m[4]:
            edit(folder / m[4], m[5])
            return m[0]
        return m[1] + shell(folder, m[2]) + m[3]

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for d in ("examples", "include"):
            (folder / d).symlink_to(ROOT / d)
        (folder / "build").mkdir()
        (folder / "build/weft").symlink_to(pathlib.Path(weft).resolve())
        return STEP.sub(step, text)


def pictures(weft, page, text):
    """The pictures of a page, each with the text that it should have."""
    for m in PICTURE.finditer(text):
        yield page.parent / m[2], ask(weft, *shlex.split(m[1]))


def main(args):
    check = args[:1] == ["--check"]
    weft = args[1 if check else 0]
    stale = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        new = PART.sub(lambda m: m[1] + describe(weft, m[2]) + m[3],
                       page.read_text())
        new = TABLE.sub(lambda m: m[1] + globals()[m[2]](weft) + m[3], new)
        if "<!-- shell -->" in new:
            new = follow(weft, new)
        for path, text in [(page, new), *pictures(weft, page, new)]:
            if path.exists() and path.read_text() == text:
                continue
            stale.append(str(path.relative_to(ROOT)))
            if not check:
                path.write_text(text)
    if check and stale:
        print("out of date, run `make docs`:", " ".join(stale))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
