#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages.

    scripts/man WEFT OUT

Folders man1, man3 and man5 below OUT are made anew:

  man1  weft(1) and a page for each command: what the program says of its
        commands and options, examples of docs/how-to.md (commands.py)
  man3  headers of include/weft: declarations and comments (header.py,
        contracts.py); each function's name leads to the page of its header
  man5  pages of documentation that describe a format (markdown.py)
"""
import datetime
import os
import pathlib
import shutil
import subprocess
import sys

import commands
import contracts
import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADERS = {
    "component": [("weft", "1"), ("weft-describe", "1"), ("weft-host", "3")],
    "ep": [("weft", "1"), ("weft-host", "3"), ("weft-exec", "1")],
    "host": [("weft", "1"), ("weft-ep", "3"), ("weft-component", "3")],
}
# Name, source, line of apropos(1), SEE ALSO.
FORMATS = [
    ("experiment", "experiments/README.md", "YAML file of an experiment",
     [("weft-run", "1"), ("weft-check", "1"), ("weft-describe", "1"),
      ("weft-list", "1"), ("weft-results", "5")]),
    ("results", "docs/results.md", "files of results",
     [("weft-run", "1"), ("weft-report", "1"), ("weft-explain", "1"),
      ("weft-experiment", "5")]),
]


def date():
    """Day of the last commit, or of SOURCE_DATE_EPOCH, or of this file."""
    p = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%cs"],
                       capture_output=True, text=True, check=False)
    if p.returncode == 0 and p.stdout.strip():
        return p.stdout.strip()
    at = os.environ.get("SOURCE_DATE_EPOCH") or os.path.getmtime(__file__)
    return datetime.datetime.fromtimestamp(
        int(at), datetime.timezone.utc).strftime("%Y-%m-%d")


def main(weft, out):
    out = pathlib.Path(out)
    for section in "135":
        shutil.rmtree(out / f"man{section}", ignore_errors=True)
        (out / f"man{section}").mkdir(parents=True)

    def write(name, section, lines):
        text = "\n".join(lines) + "\n"
        (out / f"man{section}" / f"{name}.{section}").write_text(text)

    top = (commands.ask(weft, "--version").strip(), date())
    made = commands.pages(weft, ROOT / "docs/how-to.md", top)
    for name, lines in made.items():
        write(name, 1, lines)
    for header, see in HEADERS.items():
        lines, names = contracts.page(ROOT / f"include/weft/{header}.h",
                                      header, top, see)
        write("weft-" + header, 3, lines)
        for n in names:
            write(n, 3, [f".so man3/weft-{header}.3"])
    for name, source, what, see in FORMATS:
        write("weft-" + name, 5,
              markdown.page(ROOT / source, name, what, top, see))


if __name__ == "__main__":
    main(*sys.argv[1:])
