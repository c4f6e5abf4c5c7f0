# SPDX-License-Identifier: Apache-2.0
"""Pages of man3, from the declarations and comments of a header of
include/weft."""
import re

from header import COMMENT, arguments, items, name_of
from roff import bold, code, heading, inline, italic, item, roff, see_also

LISTED = re.compile(r"^ {2}(\S(?:.*?\S)?) {2,}(\S.*)$")
TAGGED = re.compile(r"^([A-Z]\w*): +(\S.*)$")


# ---- comments ----

def lines_of(comment):
    """Lines of a comment without its marks."""
    out = []
    for c in COMMENT.findall(comment) or [comment]:
        body = re.sub(r"^/\*\s?|\s*\*/$", "", c)
        out += [re.sub(r"^[ \t]*\*(?: |$)", "", s).rstrip()
                if i or not c.startswith("/*") else s.strip()
                for i, s in enumerate(body.split("\n"))]
    return out


def parts(comment, tags=False):
    """Paragraphs of a comment: text, or a list of (head, text).  With `tags`,
    lines `UC: text` are a list, too."""
    out, fresh = [], True
    for s in lines_of(comment):
        listed = LISTED.match(s) or (tags and TAGGED.match(s))
        if not s:
            fresh = True
        elif listed:
            if fresh or not out or isinstance(out[-1], str):
                out.append([])
            out[-1].append((listed[1], listed[2]))
            fresh = False
        elif s.startswith("   ") and out and isinstance(out[-1], list):
            head, text = out[-1][-1]
            out[-1][-1] = (head, text + " " + s.strip())
        else:
            if fresh or not out or isinstance(out[-1], list):
                out.append("")
            out[-1] = (out[-1] + " " + s.strip()).strip()
            fresh = False
    return out


def ended(text):
    """A text of several sentences ends with a stop."""
    text = text.strip()
    return text + "." if ". " in text and text[-1] not in ".:?" else text


def flow(found, indent=False):
    """Paragraphs and lists as roff."""
    out = []
    for i, p in enumerate(found):
        if isinstance(p, str):
            lead = re.match(r"([A-Z]\w+)\. (?=\s*\S)", p)
            out += [".PP"] if i and not indent else [".IP"] if i else []
            if lead and not indent:
                out += [bold(lead[1] + ".")]
                p = p[lead.end():]
            out += [inline(ended(p))]
        else:
            out += [".RS"] if indent else []
            for head, text in p:
                out += item(bold(head), [inline(ended(text))])
            out += [".RE"] if indent else []
    return out


class Contract:
    """A function's comment: what it does, what it returns, its errors."""

    def __init__(self, comment):
        does, self.returns, self.results, self.errors = [], [], [], []
        begins = re.match(r"(?:/\*\s*)?(?:Each )?[Rr]eturns\b", comment)
        after = False
        for p in parts(comment):
            if isinstance(p, list) and after:
                for head, text in p:
                    error = re.match(r"-?E[A-Z]+", head)
                    (self.errors if error else self.results).append(
                        (re.sub(r"-(?=E[A-Z])", "", head), text))
                continue
            if isinstance(p, list):
                does.append(p)
                continue
            left = []
            for s in re.split(r"(?<=\.)\s+(?=[A-Z*])", p):
                if re.match(r"(?:Each )?[Rr]eturns\b", s):
                    self.returns.append(s)
                    after = True
                else:
                    left.append(s)
            if left:
                does.append(" ".join(left))
        if begins and not self.results:  # its result is what it does
            does, self.returns = parts(comment), []
        self.does = does
        text = " ".join(self.returns + [d for d in does
                                        if isinstance(d, str)])
        for code_, why in re.findall(r"-(E[A-Z]+) ((?!and\b)[^,.;:]+)", text):
            self.errors.append((code_, why))


# ---- pages ----

def call(declaration):
    """name(arguments) of a function or macro."""
    args = ", ".join(italic(a) for a in arguments(declaration))
    return bold(name_of(declaration)) + "(" + args + ")"


def prototype(text):
    """A declaration in lines of a synopsis, names of arguments in italics."""
    text = re.sub(r"\s+", " ", text)
    at = re.search(r"\w\(", text).end()
    lines, indent = [text[:at]], " " * min(at, 32)
    words = re.split(r"(?<=,) ", text[at:])
    for w in words:
        if len(lines[-1]) + len(w) > 70 and lines[-1].strip():
            lines.append(indent + w)
        else:
            lines[-1] += ("" if lines[-1].endswith("(") else " ") + w
    names = "|".join(map(re.escape, arguments(text))) or "$^"
    out = []
    for i, s in enumerate(lines):
        s = roff(s.rstrip())
        head, body = (s[:at], s[at:]) if not i else ("", s)
        body = re.sub(r"(?<![\w\\])(%s)(?=[,)\[])" % names,
                      lambda m: "\\fI" + m[1] + "\\fB", body)
        out.append("\\fB" + head + body + "\\fR")
    return out


def declared(it):
    """A struct or enum as it stands, without comments."""
    text = it.code[0]
    out = [s.replace("\t", "    ") for s in text.split("\n") if s.strip()]
    out[-1] += "" if out[-1].endswith(";") else ";"
    out = [re.sub(r"(\S) {2,}(?=\S)", r"\1 ", s) for s in out]
    return code(line for s in out for line in narrow(s))


def narrow(line, width=66):
    """A line of code in lines of this width, cut behind commas."""
    indent = re.match(" *", line)[0] + " " * 8
    out = [""]
    for word in re.split(r"(?<=,) ", line):
        if out[-1] and len(out[-1]) + len(word) >= width:
            out.append(indent + word)
        else:
            out[-1] += (" " if out[-1] else "") + word
    return out


def member(d, comment):
    head = re.sub(r"\s+", " ", d)
    if "(*" in head:
        body = Contract(comment)
        return item(call(head), flow(body.does, True) if comment else [])
    name = re.search(r"(?:^|[\s*])(\w+(?:\[\w*\])?(?:, \*?\w+)*)(?: =.*)?$",
                     head)
    return item(bold(name[1]), flow(parts(comment), True))


def struct_text(it):
    """Declaration of a struct or enum, and members that have a comment."""
    out = [".PP", bold(it.names()[0])]
    if it.comment:
        found = parts(it.comment)
        out += [".br"] if isinstance(found[0], str) else []
        out += flow(found)
    functions_only = all("(*" in d for d, _ in it.members)
    commented = [(d, c) for d, c in it.members if c]
    if not (functions_only or
            (it.kind == "enum" and len(commented) == len(it.members))):
        out += ([".sp"] if it.comment else []) + declared(it)
    for d, c in commented:
        out += member(d, c)
    return out


def functions(it):
    """(name, declaration, comment) of an item and of its members."""
    if it.kind == "function":
        for c in it.code:
            yield name_of(c), c, it.comment
    if it.kind == "struct":
        for d, c in it.members:
            if "(*" in d:
                yield f"{it.names()[0].split()[1]}.{name_of(d)}", d, c


def described(found):
    """The declarations, by group."""
    out = []
    for it in found:
        if it.kind == "group":
            title = it.code[0]
            out += [".SS " + roff(title[0].upper() + title[1:])]
            if it.comment.strip("/* \n"):
                out += flow(parts(it.comment, tags=True))
        elif it.kind in ("struct", "enum"):
            out += skip_first(out, struct_text(it))
        elif it.kind in ("constant", "type"):
            if it.comment:
                out += skip_first(out, [".PP", *flow(parts(it.comment))])
            out += skip_first(out, [".PP"]) + declared(it)
        else:
            heads = [call(c) for c in it.code]
            out += [".TP", heads[0]]
            for h in heads[1:]:
                out += [".TQ", h]
            out += flow(Contract(it.comment).does, True)
    return out


def skip_first(before, lines):
    """A heading is followed by text, not by a new paragraph."""
    return lines[1:] if before and before[-1].startswith(".SS") else lines


def outcome(found):
    """The sections RETURN VALUE, by function, and ERRORS, by code."""
    returns, errors = {}, {}
    for it in found:
        rows = list(functions(it))
        if it.kind == "function":
            rows = [([n for n, _, _ in rows], it.comment)]
        else:
            rows = [([n], comment) for n, _, comment in rows]
        for names, comment in rows:
            c = Contract(comment)
            text = [s for s in c.returns if s != "Returns"]
            text += [f"`{h}`: {t.rstrip('.')}." for h, t in c.results]
            if text:
                if c.errors and c.results:
                    text.append("Otherwise one of the errors below.")
                returns.setdefault(" ".join(text), []).extend(names)
            for code_, why in c.errors:
                for e in code_.split(", "):
                    errors.setdefault(e, []).append(
                        inline(f"`{names[0]}`(): " + why.rstrip(".") + "."))
    returns = [r for text, names in returns.items() for r in item(
        ", ".join(bold(n) + "()" for n in names), [inline(ended(text))])]
    out = [".SH RETURN VALUE", *returns] if returns else []
    if errors:
        out += [".SH ERRORS"]
        for e in sorted(errors):
            body = [r for t in errors[e] for r in (t, ".br")][:-1]
            out += item(bold(e), body)
    return out


def synopsis(header, found):
    out = [".SH SYNOPSIS", ".nf", bold(f"#include <weft/{header}.h>")]
    for it in found:
        if it.kind == "group" and any(
                k.kind in ("function", "macro") for k in found):
            out += [""] if out[-1] else []
        if it.kind in ("function", "macro"):
            for c in it.code:
                out += prototype(c)
    out = out[:-1] if not out[-1] else out
    return [s or ".sp" for s in out] + [".fi"]


def page(path, header, top, see):
    """(lines of the page, names of its functions and macros)."""
    with open(path) as f:
        text = f.read()
    about = parts(COMMENT.findall(text)[1])
    first, _, more = about[0].partition(". ")
    about = ([more] if more.strip() else []) + about[1:]
    found = items(text)
    what = first.rstrip(".")
    out = heading("weft-" + header, "weft-" + header, "3",
                  what[0].lower() + what[1:], *top)
    out += synopsis(header, found)
    out += [".SH DESCRIPTION", *flow(about), *described(found)]
    out += outcome(found) + see_also(see)
    names = [n for it in found if it.kind in ("function", "macro")
             for n in it.names()]
    return out, names
