# SPDX-License-Identifier: Apache-2.0
"""Text in the language of manual pages (man(7)), for groff and mandoc."""
import re
import textwrap

SENTENCE = re.compile(r"(?<=[.:?!])\s+(?=[A-Z*(\0\[])")
# Names of the program, and `code` of a comment, stand in bold.
NAMED = re.compile(r"`([^`]+)`|\b((?:weft_\w+|WEFT_[A-Z]\w*)(?:\.\w+)?)"
                   r"(\(\))?|\b(weft(?:-\w+)?)\(([135])\)")


def roff(text):
    """Characters that troff would take for its own."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return "\n".join("\\&" + s if s[:1] in (".", "'") else s
                     for s in text.split("\n"))


def bold(text):
    return "\\fB" + roff(text) + "\\fR"


def italic(text):
    return "\\fI" + roff(text) + "\\fR"


def inline(text):
    """One paragraph: a sentence to a line, names in bold."""
    def named(m):
        if m[4]:
            return f"\0B{m[4]}\0R({m[5]})"
        return "\0B" + (m[1] or m[2]) + "\0R" + (m[3] or "")

    text = NAMED.sub(named, " ".join(text.split()))
    lines = [line for s in SENTENCE.split(text)
             for line in textwrap.wrap(s, 72,
                                       break_long_words=False,
                                       break_on_hyphens=False)]
    return "\n".join(roff(s).replace("\0", "\\f") for s in lines)


def item(head, body):
    """A paragraph with a tag; `head` is roff already, `body` a list."""
    return [".TP", head, *body]


def code(lines):
    """Lines as they stand, indented if they are short enough."""
    lines = list(lines)
    text = [".nf", *(roff(s) for s in lines), ".fi"]
    return text if max(map(len, lines)) > 66 else [".RS 4", *text, ".RE"]


def heading(name, text, section, what, version, date):
    """Top of a page up to the line that apropos(1) shows."""
    title = {"1": "User Commands", "3": "Library Functions",
             "5": "File Formats"}[section]
    return [f'.TH {name.upper()} {section} {date} "{version}" "{title}"',
            ".SH NAME", *(roff(s).replace(" \\-\\- ", " \\- ") for s in
                          textwrap.wrap(f"{text} -- {what}", 76,
                                        break_on_hyphens=False))]


def see_also(names):
    """Pages as (name, section)."""
    rows = [f".BR {roff(n)} ({s})" for n, s in names]
    return [".SH SEE ALSO", *(r + " ," for r in rows[:-1]), *rows[-1:]]
