#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills the generated parts of docs/*.md from the program's own tables.

A page says  <!-- describe CLASS -->  ...  <!-- end -->  and what stands between
is replaced by `weft describe CLASS --format markdown`.

  scripts/docs.py WEFT          rewrite the pages
  scripts/docs.py --check WEFT  say which pages are out of date, exit 1
"""
import pathlib
import re
import subprocess
import sys

PART = re.compile(r"(<!-- describe (\S+) -->\n).*?(<!-- end -->)", re.S)


def describe(weft, name):
    out = subprocess.run([weft, "describe", name, "--format", "markdown"],
                         check=True, capture_output=True, text=True)
    return out.stdout


def main(args):
    check = args[:1] == ["--check"]
    weft = args[1 if check else 0]
    docs = pathlib.Path(__file__).resolve().parent.parent / "docs"
    stale = []
    for page in sorted(docs.glob("*.md")):
        old = page.read_text()
        new = PART.sub(lambda m: m[1] + describe(weft, m[2]) + m[3], old)
        if new != old:
            stale.append(page.name)
            if not check:
                page.write_text(new)
    if check and stale:
        print("out of date, run `make docs`:", " ".join(stale))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
