#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands and exactly what they print: expected/*.txt.

    test_expected.py WEFT PLUG_SO FILE...           compares
    test_expected.py WEFT PLUG_SO --write FILE...   writes what is printed now

`make expected` writes all files; the difference is then reviewed like any
other.  A file is a session:

    # A remark.
    $ weft check - <<END
    > nodez: 1
    > END
      ! weft: standard input:1: experiments have no key 'nodez': did ...
      = 2

A command is for bash, `>` continues it.  Indented lines are its standard
output (4 columns), its standard error (`!`) and its exit status when that is
not 0 (`=`).  `\\` stands for itself, `\\s` for a blank at the end of a line,
`\\t` for a tab, `\\e` for an empty line at the end, `\\c` for an end without a
newline.  All commands of a file run in one folder, which is empty but for
plug.so and build; machine, time and path are filtered in the command that
prints them.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile

WEFT, PLUG = (os.path.abspath(a) for a in sys.argv[1:3])
BUILD = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(WEFT))))
# Variables that change the output of a program that is not at a terminal.
# WEFT_ASAN and WEFT_CLANG are other builds, for tests that compare them.
UNSET = ("NO_COLOR", "COLUMNS", "TERM", "PYTHONPATH", "WEFT_ASAN",
         "WEFT_CLANG")
SKIPPED = 77


def escaped(line):
    line = line.replace("\\", "\\\\").replace("\t", "\\t")
    line = re.sub(r"[^\x20-\x7e]", lambda m: "\\x%02x" % ord(m[0]), line)
    return re.sub(" $", r"\\s", line)


def indented(data, mark):
    """The lines of a result, as they stand in the file."""
    lines = data.decode("latin-1").split("\n")
    last = lines.pop()
    out = [mark + escaped(l) if l else "" for l in lines]
    if out and not out[-1]:
        out[-1] = mark + "\\e"
    return out + ([mark + escaped(last) + "\\c"] if last else [])


class Session:
    def __init__(self, folder):
        self.folder = folder
        self.home = os.path.join(folder, "home")
        tools = os.path.join(folder, "tools")
        os.makedirs(self.home)
        os.makedirs(tools)
        os.symlink(WEFT, os.path.join(tools, "weft"))
        os.symlink(PLUG, os.path.join(self.home, "plug.so"))
        os.symlink(BUILD, os.path.join(self.home, "build"))
        self.env = {k: v for k, v in os.environ.items() if k not in UNSET}
        self.env.update(PATH=tools + ":" + os.environ["PATH"], LC_ALL="C",
                        TMPDIR=folder)

    def run(self, command):
        """The lines that follow the command."""
        p = subprocess.run(["bash", "-o", "pipefail", "-c", command],
                           cwd=self.home, env=self.env, timeout=120,
                           stdin=subprocess.DEVNULL, capture_output=True)
        return indented(p.stdout, "    ") + indented(p.stderr, "  ! ") + \
            (["  = %d" % p.returncode] if p.returncode else [])


def again(text, session):
    """The file, with what its commands print now."""
    out, command, blank = [], [], []
    for line in text.splitlines() + ["#"]:
        if line.startswith("  "):
            blank = []  # was of the result
        elif not line:
            blank.append(line)
        elif command and line.startswith(">"):
            command.append(line[2:])
            out.append(line)
        else:
            if command:
                out += session.run("\n".join(command))
            command = [line[2:]] if line.startswith("$ ") else []
            out += blank + [line]
            blank = []
    return "\n".join(out[:-1]) + "\n"


def has_page():
    p = subprocess.run([WEFT, "report", "/dev/null"], capture_output=True,
                       text=True)
    return "without the page" not in p.stderr


# "# needs: WORD" in a file: what a build may be without.
NEEDS = {
    "page": has_page,
    "provider": lambda: os.path.exists(BUILD + "/src/provider/libweft-fi.so"),
}


def session_of(path, write):
    with open(path) as f:
        text = f.read()
    for word in re.findall(r"(?m)^# needs: (\w+)$", text):
        if not NEEDS[word]():
            print("%s: not compared: built without the %s" % (path, word))
            return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        now = again(text, Session(folder))
    if write:
        with open(path, "w") as f:
            f.write(now)
    elif now != text:
        sys.stdout.writelines(difflib.unified_diff(
            text.splitlines(True), now.splitlines(True), path, "now"))
        return 1
    return 0


def main():
    write = sys.argv[3:4] == ["--write"]
    status = [session_of(p, write) for p in sys.argv[3 + write:]]
    return max(status, key=lambda s: (s == 1, s), default=0)


if __name__ == "__main__":
    sys.exit(main())
