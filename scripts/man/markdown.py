# SPDX-License-Identifier: Apache-2.0
"""Pages of man5, from pages of documentation.  Read are headings,
paragraphs, lists, fenced blocks and tables of this repository's Markdown."""
import re

from roff import bold, code, heading, inline, item, roff, see_also

# Pages of documentation that are manual pages, too.
MANUAL = {"experiments/README.md": "weft-experiment(5)",
          "docs/results.md": "weft-results(5)"}


def words(text):
    """Text without Markdown's marks; `code` stays for inline()."""
    def link(m):
        return MANUAL.get(re.sub(r"^(?:\.\./)+", "", m[2]), m[1])

    text = re.sub(r"\[([^\]]*)\]\(([^)#]*)[^)]*\)", link, text)
    text = re.sub(r"\*\*(.*?)\*\*", r"`\1`", text)
    return text.replace("\\|", "|")


def cells(line):
    return [c.strip().replace("\0", "|") for c in
            line.replace("\\|", "\0").strip().strip("|").split("|")]


def table(lines):
    """A row is an item: the first cell is its tag."""
    head, _, *rows = (cells(s) for s in lines)
    out = []
    for first, *rest in rows:
        body = [words(c) if len(rest) == 1 or not head[i + 1]
                else f"{head[i + 1]}: {words(c)}"
                for i, c in enumerate(rest) if c]
        text = []
        for i, b in enumerate(body):
            text += [".br"] if i else []
            text += [inline(b + ("" if b[-1] in ".:" else "."))]
        out += item(bold(words(first).replace("`", "")), text)
    return out


def listed(lines):
    """Items of a list, `- ` or `1. `, with the lines that belong to them."""
    out = []
    for s in lines:
        m = re.match(r"([-*]|\d+\.) +(.*)", s)
        if m:
            out.append([m[1], m[2]])
        else:
            out[-1][1] += " " + s.strip()
    return [r for mark, text in out for r in
            (".IP " + ("\\(bu" if mark in "-*" else mark) + " 4",
             inline(words(text)))]


def blocks(text):
    """(kind, lines) of the blocks of a page."""
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.S)
    lines, at = text.split("\n"), 0
    while at < len(lines):
        s = lines[at]
        end = at + 1
        if s.startswith("```"):
            while not lines[end].startswith("```"):
                end += 1
            yield "code", lines[at + 1:end]
            end += 1
        elif s.startswith("#"):
            yield "heading", [s]
        elif s:
            kind = "table" if s.startswith("|") else \
                "list" if re.match(r"[-*] |\d+\. ", s) else "text"
            while end < len(lines) and lines[end] and \
                    not lines[end].startswith(("```", "#")) and \
                    lines[end].startswith("|") == (kind == "table"):
                end += 1
            yield kind, lines[at:end]
        at = end


def page(path, name, what, top, see):
    out = heading("weft-" + name, "weft-" + name, "5", what, *top)
    out += [".SH DESCRIPTION"]
    fresh = True
    for kind, lines in blocks(path.read_text()):
        if kind == "heading":
            level, _, title = lines[0].partition(" ")
            title = roff(words(title).replace("`", ""))
            if level == "##":
                out += [".SH " + title.upper()]
            elif len(level) > 2:
                out += [".SS " + title]
            fresh = True
            continue
        if kind == "code":
            out += ([] if fresh else [".PP"]) + code(lines)
        elif kind == "table":
            out += table(lines)
        elif kind == "list":
            out += listed(lines)
        else:
            out += ([] if fresh else [".PP"]) + [inline(words(
                " ".join(lines)))]
        fresh = False
    return out + see_also(see)
