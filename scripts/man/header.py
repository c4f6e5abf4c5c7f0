# SPDX-License-Identifier: Apache-2.0
"""Declarations of a header of include/weft, with their comments.  The layout is
that of clang-format and of scripts/check-contracts.py."""
import re

COMMENT = re.compile(r"/\*.*?\*/", re.S)
GROUP = re.compile(r"/\* ---- (.*?) -+\s*(.*)", re.S)
SKIPPED = re.compile(r"WEFT_C_(?:BEGIN|END)\b|;")


class Item:
    """A declaration with its comments.  `kind`: group, function, struct, enum,
    constant, macro or type; `code`: the declaration without comments."""

    def __init__(self, kind, code_, comment):
        self.kind, self.code, self.comment = kind, [code_], comment
        self.members = []

    def names(self):
        if self.kind in ("struct", "enum"):
            return [" ".join(self.code[0].split()[:2]).rstrip("{ ")]
        return [name_of(c) for c in self.code]


def name_of(declaration):
    """The name that a declaration gives."""
    m = re.match(r"(?:#define )?(\w+)(?: =|\(|$)", declaration) or \
        re.match(r"#define (\w+)", declaration) or \
        re.match(r"[^(]*\(\*(\w+)\)\(", declaration) or \
        re.search(r"(\w+)\(", declaration) or \
        re.search(r"(\w+)(?:\[\w*\])*\s*(?:=.*)?;?$", declaration)
    return m[1]


def arguments(declaration):
    """Names of a function's arguments."""
    if declaration.startswith("#define"):
        return re.findall(r"\w+|\.\.\.", re.search(r"\((.*?)\)",
                                                   declaration)[1])
    text = declaration[re.match(r"[^(]*(?:\(\*\w+\))?\(", declaration).end():]
    depth, out, part = 0, [], ""
    for ch in text:
        depth += (ch == "(") - (ch == ")")
        if depth < 0 or (ch == "," and not depth):
            out.append(part)
            part = ""
            if depth < 0:
                break
        else:
            part += ch
    pointers = (re.search(r"\(\*(\w+)\)", p) for p in out)
    found = [m[1] if m else re.search(r"(\w+|\.\.\.)\W*$", p)[1]
             for m, p in zip(pointers, out)]
    return [] if found == ["void"] else found


def close(text, at, end):
    """Place behind the character `end` outside brackets and comments."""
    depth = 0
    while at < len(text):
        if text.startswith("/*", at):
            at = text.index("*/", at) + 2
            continue
        ch = text[at]
        depth += (ch in "({") - (ch in ")}")
        at += 1
        if depth <= 0 and ch in end:
            return at
    raise SystemExit("a declaration does not end: " + text[at - 60:at])


def kind_of(text):
    if re.match(r"struct \w+ \{", text):
        return "struct"
    if re.match(r"enum(?: \w+)? \{", text):
        return "enum" if re.match(r"enum \w", text) else "constant"
    return "type" if text.startswith("typedef") else "function"


def plain(text):
    """A declaration without comments, macros and bodies."""
    return re.sub(r"[ \t]*$", "", COMMENT.sub("", text), flags=re.M)


def members(body, mark):
    """(declaration, comment) of each member of a struct (mark `;`), or of each
    constant of an enum (`,`)."""
    out, comment, at = [], "", 0
    while at < len(body):
        gap = re.compile(r"\s*").match(body, at)
        if "\n\n" in gap[0]:
            comment = ""
        at = gap.end()
        if body.startswith("/*", at):
            end = body.index("*/", at) + 2
            last = out[-1] if out else None
            if last and "\n" not in body[last[2]:at]:
                last[1] = (last[1] + "\n" + body[at:end]).strip()
            else:
                comment = body[at:end]
            at = end
        elif at < len(body):
            try:
                end = close(body, at, mark)
            except SystemExit:  # the last constant of an enum
                end = len(body)
            out.append([plain(body[at:end]).rstrip(",; \n"), comment, end])
            comment, at = "", end
    return [(d, c) for d, c, _ in out if d]


def items(text):
    """Items of a header, in order; the first comment is that of the file."""
    start = text.index("#define WEFT_")
    found, comment, at = [], "", text.index("\n", start)
    while at < len(text):
        gap = re.compile(r"\s*").match(text, at)
        blank = "\n\n" in gap[0]
        at = gap.end()
        if blank and not text.startswith("/*", at) and comment:
            comment = ""
        if text.startswith("/*", at):
            end = text.index("*/", at) + 2
            group = GROUP.match(text[at:end])
            if group:
                found.append(Item("group", group[1], group[2]))
            else:
                comment = text[at:end]
            at = end
            continue
        if at >= len(text):
            break
        if text[at] == "#":
            end = re.compile(r"(?:.*\\\n)*.*\n?").match(text, at).end()
            if re.match(r"#define \w+\(", text[at:end]):
                whole = text[at:end].split(")")[0] + ")"
                take(found, Item("macro", whole, comment), blank)
                comment = ""
            at = end
            continue
        skipped = SKIPPED.match(text, at)
        if skipped:
            at = skipped.end()
            continue
        at, comment = declaration(text, at, found, comment, blank)
    return found


def declaration(text, at, found, comment, blank):
    """Takes the declaration at a place; returns the place behind it."""
    head = text[at:close(text, at, ";}")]
    end = at + len(head)
    kind = kind_of(head)
    if kind == "function" and head.endswith("}"):  # inline
        head = head[:head.index("\n{")] + ";"
    elif kind in ("struct", "enum", "constant"):
        end = close(text, end, ";")
    trailing = re.compile(r"[ \t]*(/\*.*?\*/)", re.S).match(text, end)
    if trailing:
        comment, end = (comment + "\n" + trailing[1]).strip(), trailing.end()
    if re.fullmatch(r"struct \w+;", head):
        return end, ""
    head = re.sub(r"^static inline |^__attribute__\(\([^)]*\)+ ", "", head)
    it = Item(kind, plain(re.sub(r"\s*__attribute__\(\(.*?\)\)\)", "", head)),
              comment)
    if kind in ("struct", "enum"):
        it.members = members(head[head.index("{") + 1:head.rindex("}")],
                             ";" if kind == "struct" else ",")
    take(found, it, blank)
    return end, ""


def take(found, it, blank):
    """Adds an item, or joins it with those above that share a comment."""
    last = found[-1] if found else None
    if last and not blank and not it.comment and it.kind == last.kind and \
            it.kind in ("function", "macro"):
        last.code += it.code
    else:
        found.append(it)
