# SPDX-License-Identifier: Apache-2.0
"""Tokens of a C file, and the functions and tables they belong to.

Sources are laid out by clang-format, therefore an operator with blanks on both
sides is binary.  Preprocessor lines and comments are not tokens.
"""
import re
from collections import namedtuple

Token = namedtuple("Token", "kind text start end line")
# [first, last) are tokens; name: of the function, or of the table
Scope = namedtuple("Scope", "name kind first last")

LEX = re.compile(r"""
    (?P<skip>\s+ | //[^\n]* | /\*.*?\*/ |
             (?<![^\n])[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<str>[LuU]?"(?:[^"\\\n]|\\.)*")
  | (?P<chr>'(?:[^'\\\n]|\\.)+')
  | (?P<num>(?:0[xX][0-9a-fA-F.]+(?:[pP][-+]?\d+)?|\d+\.?\d*(?:[eE][-+]?\d+)?)[uUlLfF]*)
  | (?P<id>[A-Za-z_]\w*)
  | (?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S)

PAIRS = {"(": ")", "[": "]", "{": "}"}


def tokenize(text):
    out, line = [], 1
    for m in LEX.finditer(text):
        if m.lastgroup != "skip":
            out.append(Token(m.lastgroup, m.group(), m.start(), m.end(), line))
        line += m.group().count("\n")
    return out


def match(tokens):
    """Index of the bracket that belongs to each bracket."""
    other, stack = {}, []
    for i, t in enumerate(tokens):
        if t.kind != "op":
            continue
        if t.text in PAIRS:
            stack.append(i)
        elif t.text in PAIRS.values() and stack:
            j = stack.pop()
            other[i], other[j] = j, i
    return other


def body(tokens, other, i):
    """The scope whose brace opens at i."""
    prev = i - 1
    last = other.get(i, len(tokens))
    if tokens[prev].text == ")" and prev in other:
        return Scope(tokens[other[prev] - 1].text, "function", i, last)
    while prev > 0 and tokens[prev].text not in (";", "}"):
        if tokens[prev].text in ("struct", "union", "enum"):
            break
        prev -= 1
    if tokens[i - 1].text == "=":
        j = i - 2
        while tokens[j].text == "]":
            j = other[j] - 1
        return Scope(tokens[j].text, "table", i, last)
    if tokens[prev].text == "enum":
        name = tokens[prev + 1].text
        return Scope("enum" if name == "{" else name, "table", i, last)
    return Scope("", "type", i, last)


def scopes(tokens, other):
    """Functions and tables, in order; types are left out."""
    out, i = [], 0
    while i < len(tokens):
        t = tokens[i]
        if t.text == "{" and t.kind == "op" and i:
            s = body(tokens, other, i)
            if s.kind != "type":
                out.append(s)
            i = s.last
        elif t.text == "(" and t.kind == "op":
            end = other.get(i, i)
            # a macro that declares: NAME(id, .field = ...)
            if i and any(x.text == "=" for x in tokens[i:end]):
                name = tokens[i - 1].text
                out.append(Scope(name, "table", i, end))
            i = end
        i += 1
    return out
