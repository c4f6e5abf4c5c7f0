# SPDX-License-Identifier: Apache-2.0
"""The mutants of one file.

A mutant is one edit.  Its name holds no line number, so that it stays when
lines move:

    src/systems/ethernet/switch/output_queues.c:pause_below:rel:0:>:>=

file, function (or table), operator, how often this edit was possible before in
this function, old text, new text.
"""
import hashlib
import re
from collections import namedtuple

from tokens import match, scopes, tokenize

# sum: of the text of the function; in_table: not in a function
Mutant = namedtuple("Mutant", "name op line start end new sum in_table")

REL = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="),
       ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
LOGIC = {"&&": ("||",), "||": ("&&",)}
ARITH = {"+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",),
         "<<": (">>",), ">>": ("<<",), "&": ("|",), "|": ("&",),
         "^": ("|",), "+=": ("-=",), "-=": ("+=",), "|=": ("&=",),
         "&=": ("|=",)}
SWAPS = (("rel", REL), ("logic", LOGIC), ("arith", ARITH))

UNSEEN = {"assert", "_Static_assert", "static_assert", "__builtin_prefetch"}
# Not calls whose arguments could change places.
NO_CALL = {"if", "while", "for", "switch", "return", "sizeof", "assert",
           "static_assert", "_Static_assert", "offsetof", "defined",
           "__attribute__", "va_arg", "case", "do", "else", "_Alignof"}
# Either order of two arguments is as good: always, or where the result is asked
# for equality alone.
SYMMETRIC = {"calloc", "weft_host_calloc", "fmin", "fmax"}
SYMMETRIC_EQUAL = {"strcmp", "strcasecmp", "strncmp", "memcmp"}
# Statements that begin with these are declarations, or are more than one line
# to take away.
NO_DROP = {"if", "else", "while", "for", "switch", "return", "do", "case",
           "default", "const", "static", "struct", "union", "enum", "unsigned",
           "signed", "int", "char", "long", "short", "float", "double", "bool",
           "void", "volatile", "extern", "typedef", "register", "assert",
           "_Static_assert", "static_assert", "va_list", "FILE",
           "abort"}  # of a program without memory


def squeeze(text):
    return re.sub(r"\s+", " ", text)


def keep_lines(text):
    """As many lines as before: asserts and messages keep their numbers."""
    return "\n" * text.count("\n")


class File:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = tokenize(text)
        self.other = match(self.tokens)
        self.out, self.seen = [], {}
        for s in scopes(self.tokens, self.other):
            self.scope = s
            self.sum = self.digest(s)
            self.asserts = self.find_asserts()
            if s.kind == "function":
                self.function()
            else:
                self.constants()

    # ---- helpers --------------------------------------------------------

    def digest(self, s):
        last = min(s.last, len(self.tokens) - 1)
        text = self.text[self.tokens[s.first].start:self.tokens[last].end]
        return hashlib.sha1(text.encode()).hexdigest()

    def add(self, op, first, last, new, shown=None):
        """Tokens first..last become `new`."""
        if any(a <= first < b for a, b in self.asserts):
            return
        a, b = self.tokens[first], self.tokens[last]
        old = self.text[a.start:b.end]
        key = (self.scope.name, op, squeeze(old), squeeze(shown or new))
        nth = self.seen.get(key, 0)
        self.seen[key] = nth + 1
        name = "%s:%s:%s:%d:%s:%s" % (self.path, key[0], op, nth, key[2],
                                      key[3])
        self.out.append(Mutant(name, op, a.line, a.start, b.end, new,
                               self.sum, self.scope.kind == "table"))

    def find_asserts(self):
        """Finds asserts and prefetches, to leave them out: an assert checks
        for our own bug and a prefetch is a hint, so no test can miss them."""
        return [(i, self.other.get(i + 1, i))
                for i in range(self.scope.first, self.scope.last)
                if self.tokens[i].text in UNSEEN]

    def binary(self, i):
        t = self.tokens[i]
        return (self.text[t.start - 1:t.start].isspace() and
                self.text[t.end:t.end + 1].isspace())

    # ---- operators ------------------------------------------------------

    def function(self):
        for i in range(self.scope.first, self.scope.last):
            t = self.tokens[i]
            if t.kind == "op" and self.binary(i):
                for op, table in SWAPS:
                    for new in table.get(t.text, ()):
                        self.add(op, i, i, new)
            elif t.kind == "id":
                self.invert(i)
                self.swap(i)
        self.constants()
        self.drops()

    def constants(self):
        for i in range(self.scope.first, self.scope.last):
            t = self.tokens[i]
            if t.kind == "num" and not self.is_size(i):
                for new in self.near(t.text):
                    self.add("const", i, i, new)

    def is_size(self, i):
        """Size of an array: one more is as good."""
        return (self.tokens[i - 1].text == "[" and
                self.tokens[i + 1].text == "]" and
                self.tokens[i + 2].text in (";", ",", "=") and
                self.tokens[i - 3].kind == "id")

    @staticmethod
    def near(text):
        """One more, one less; 0 and 1 become each other."""
        if re.match(r"0[xX].*[.pP]", text):
            return []
        digits = re.match(r"0[xX][0-9a-fA-F]+|[\d.]+(?:[eE][-+]?\d+)?", text)
        tail = text[digits.end():]
        if re.search(r"[.eE]", digits.group()) and "x" not in text.lower():
            return ["(%s + 1)" % text] if float(digits.group()) else []
        number = digits.group()
        octal = len(number) > 1 and number.isdigit() and number[0] == "0"
        value = int(number, 8 if octal else 0)
        more = [str(value + 1) + tail]
        return more + ([str(value - 1) + tail] if value else [])

    def invert(self, i):
        if self.tokens[i].text not in ("if", "while") or \
                self.tokens[i + 1].text != "(":
            return
        end = self.other[i + 1]
        a, b = self.tokens[i + 1], self.tokens[end]
        self.add("invert", i + 1, end, "(!%s)" % self.text[a.start:b.end],
                 "!")

    def swap(self, i):
        """f(a, b): f(b, a)"""
        if self.tokens[i].text in NO_CALL or \
                self.tokens[i + 1].text != "(" or self.is_symmetric(i):
            return
        parts, first, j = [], i + 2, i + 2
        end = self.other[i + 1]
        while j < end:
            if self.tokens[j].text == ",":
                parts.append((first, j - 1))
                first = j + 1
            j = self.other[j] + 1 if self.tokens[j].text in "([{" else j + 1
        parts.append((first, end - 1))
        for (a, b), (c, d) in zip(parts, parts[1:]):
            self.swap_two(a, b, c, d)

    def is_symmetric(self, i):
        """Swapped arguments of the call at i give the same."""
        name, before = self.tokens[i].text, self.tokens[i - 1].text
        behind = self.tokens[self.other[i + 1] + 1].text
        asked = before == "!" or (before in ("(", "&&", "||") and
                                  behind in (")", "&&", "||"))
        return name in SYMMETRIC or (name in SYMMETRIC_EQUAL and asked)

    def swap_two(self, a, b, c, d):
        text = lambda x, y: self.text[self.tokens[x].start:self.tokens[y].end]
        if b < a or d < c or squeeze(text(a, b)) == squeeze(text(c, d)) or \
                self.tokens[a].kind == "str" or self.tokens[c].kind == "str":
            return
        gap = self.text[self.tokens[b].end:self.tokens[c].start]
        self.add("swap", a, d, text(c, d) + gap + text(a, b))

    # ---- statements -----------------------------------------------------

    def drops(self):
        i = self.scope.first + 1
        while i < self.scope.last:
            i = self.drop(i)

    def drop(self, i):
        """The statement at i, if it is one that can go; where to go on."""
        t = self.tokens[i]
        if t.text in ("if", "while", "for", "switch") and \
                self.tokens[i + 1].text == "(":
            return self.other[i + 1] + 1
        if t.text in ("{", "}", ";", "else", "do"):
            return i + 1
        if t.text in ("case", "default") or (
                t.kind == "id" and self.tokens[i + 1].text == ":"):
            while self.tokens[i].text != ":":
                i += 1
            return i + 1
        end = i
        while end < self.scope.last and self.tokens[end].text != ";":
            if self.tokens[end].text == "{" and \
                    self.tokens[end - 1].text == ")" and \
                    not self.is_literal(end):
                return end + 1  # the body of a loop by macro
            end = self.other[end] + 1 if self.tokens[end].text in PAIR_OPEN \
                else end + 1
        if self.is_statement(i, end):
            self.take(i, end)
        return end + 1

    def is_literal(self, brace):
        """(struct s){ ... }"""
        return self.tokens[self.other[brace - 1] + 1].text in (
            "struct", "union") or self.tokens[
                self.other[brace - 1] - 1].text in ("=", "*", ",", "(")

    def is_statement(self, i, end):
        t = self.tokens[i]
        if end >= self.scope.last or t.text in NO_DROP:
            return False
        if t.kind == "id" and t.text not in ("goto", "break", "continue") and \
                self.tokens[i + 1].kind == "id":
            return False  # type name
        return not (t.kind == "id" and self.tokens[i + 1].text == "*" and
                    not self.binary(i + 1))

    def take(self, i, end):
        a, b = self.tokens[i], self.tokens[end]
        text = self.text[a.start:b.end]
        call = (a.kind == "id" and self.tokens[i + 1].text == "(" and
                self.other[i + 1] == end - 1) or a.text == "("
        self.add("call" if call else "drop", i, end, keep_lines(text) + ";",
                 ";")


PAIR_OPEN = ("(", "[", "{")


def mutants(path, text):
    return File(path, text).out


def apply(text, mutant):
    return text[:mutant.start] + mutant.new + text[mutant.end:]
