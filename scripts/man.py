#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page, from what the program says of its commands and options.

    scripts/man.py WEFT > weft.1

`weft --help` and `weft COMMAND --help` are printed from the tables of
src/front/cli/main.c, so the page has all of them, with the same words.
"""
import re
import subprocess
import sys

ENVIRONMENT = [
    ("NO_COLOR", "No bold and no colours on a terminal, when set and not "
     "empty."),
    ("TERM", "\"dumb\": no progress line, pictures in plain characters."),
    ("WEFT_SOCKET, WEFT_RANK, WEFT_NODE, WEFT_RANKS", "Set by weft exec for "
     "the processes that it starts: where they join, and who they are."),
    ("TMPDIR", "Where weft tour puts its folder; default /tmp."),
]
FILES = [
    ("report.html", "What weft report writes; --out chooses another name."),
    ("weft.pcapng", "What weft run --capture writes; --capture-file chooses "
     "another name."),
]


def ask(weft, *args):
    return subprocess.run([weft, *args], check=True, capture_output=True,
                          text=True).stdout


def roff(text):
    """Characters that troff would take for its own."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + s if s[:1] in (".", "'") else s
                     for s in text.split("\n"))


def entries(pairs):
    return [s for head, doc in pairs
            for s in (".TP", ".B " + roff(head), roff(doc))]


def command(weft, name):
    """The parts of `weft NAME --help`."""
    usage, doc, *rest = ask(weft, name, "--help").splitlines()
    more = [s for s in rest if s and not s.startswith("  --")]
    options = [re.match(r"  (--\S+(?: [^ ]+)?) +(.*)", s).groups()
               for s in rest if s.startswith("  --")]
    out = [".SS " + roff(usage.removeprefix("usage: ")), roff(doc)]
    if more:
        out += [".PP"] + [roff(s) for s in more]
    return out + entries(options)


def page(weft):
    head, what, *rest = ask(weft, "--help").splitlines()
    names = [s.split()[0] for s in rest if s.startswith("  ")]
    version = ask(weft, "--version").strip()
    status = next(s for s in rest if "Exit status: " in s)
    out = [f'.TH WEFT 1 "" "{version}" "User Commands"', ".SH NAME",
           "weft \\- " + roff("interconnects in software: NICs, links and "
                              "switches, cycle by cycle"),
           ".SH SYNOPSIS", ".B " + roff(head.removeprefix("usage: ")),
           ".SH DESCRIPTION", roff(what),
           roff("weft alone says what to do next; weft tour shows it."),
           ".SH COMMANDS"]
    for name in names:
        out += command(weft, name)
    out += [".SH EXIT STATUS", roff(status.split("Exit status: ")[1]),
            ".SH ENVIRONMENT", *entries(ENVIRONMENT),
            ".SH FILES", *entries(FILES)]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page(sys.argv[1]))
