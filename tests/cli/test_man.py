#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages: every command, every public function of three headers, and
what groff and mandoc say of each page.

    test_man.py WEFT MAN1 ROOT [unittest options]

MAN1 is the folder man1 that is installed; man3 and man5 lie beside it.
"""
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import unittest

WEFT, MAN1, ROOT = (os.path.abspath(a) for a in sys.argv[1:4])
MAN = os.path.dirname(MAN1)
HEADERS = ["component", "ep", "host"]
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "GROFF_NO_SGR": "1"}


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, timeout=60,
                          env=ENV, check=False)


def pages():
    """Files with text of their own, not those that lead to another page."""
    found = sorted(glob.glob(os.path.join(MAN, "man[135]/*.[135]")))
    return [p for p in found if not read(p).startswith(".so ")]


def read(path):
    with open(path) as f:
        return f.read()


def page(name, section):
    return read(os.path.join(MAN, f"man{section}", f"{name}.{section}"))


def plain(source):
    """Words of a page without its marks."""
    return re.sub(r"\\f[BIR]|\\&", "", source).replace("\\-", "-")


def rendered(path):
    """The page as a terminal of 80 columns shows it."""
    p = run("groff", "-man", "-Tutf8", "-ww", "-rLL=80n", "-P-c", path)
    return re.sub(r".\x08", "", p.stdout), p.stderr


def declared(header):
    """Names of functions, as check-contracts.py finds them."""
    spec = importlib.util.spec_from_file_location(
        "contracts", os.path.join(ROOT, "scripts/check-contracts.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = read(os.path.join(ROOT, f"include/weft/{header}.h"))
    return [name for _, name, _, _ in module.declared(text)]


class Commands(unittest.TestCase):
    def commands(self):
        return re.findall(r"^  (\w+) ", run(WEFT, "--help").stdout, re.M)

    def test_every_command_has_a_page_with_its_options(self):
        whole = plain(page("weft", 1))
        self.assertGreater(len(self.commands()), 9)
        for c in self.commands():
            text = plain(page("weft-" + c, 1))
            self.assertIn(f"weft-{c}(1)", whole)
            self.assertIn(f"\nweft {c}", text)
            said = run(WEFT, c, "--help").stdout
            for o in re.findall(r"^  (--?\S+)", said, re.M):
                self.assertRegex(text, r"(?m)^\.TP\n%s(?: |$)" % o)

    def test_no_page_has_a_command_that_does_not_exist(self):
        have = {os.path.basename(p)[5:-2] for p in
                glob.glob(os.path.join(MAN, "man1/weft-*"))}
        self.assertEqual(have, set(self.commands()))


class Headers(unittest.TestCase):
    def test_every_public_function_has_an_entry_with_its_arguments(self):
        for header in HEADERS:
            names = declared(header)
            self.assertGreater(len(names), 8)
            text = plain(page("weft-" + header, 3))
            for name in names:
                with self.subTest(f"{header}.h: {name}"):
                    entry = re.search(
                        r"(?m)^\.T[PQ]\n%s\((.*)\)\n(.*)" % name, text)
                    self.assertTrue(entry, name)
                    if name.startswith("weft_"):
                        self.assertEqual(page(name, 3),
                                         f".so man3/weft-{header}.3\n")

    def test_results_and_errors_are_listed(self):
        text = plain(page("weft-ep", 3))
        self.assertIn("weft_ep_open(): no device, or one that no library",
                      text.split("ENODEV\n")[1][:200])
        self.assertIn(".SH RETURN VALUE", text)
        errors = text.split(".SH ERRORS")[1]
        source = read(os.path.join(ROOT, "include/weft/ep.h"))
        for e in set(re.findall(r"^\t? \*   (?:-E\w+, )?-(E[A-Z]+) ", source,
                                re.M)):
            self.assertIn(f".TP\n{e}\n", errors)

    def test_members_have_their_comments(self):
        self.assertRegex(plain(page("weft-ep", 3)),
                         r"\.TP\nraddr, rkey\nAddress inside a region of dst")


class Formats(unittest.TestCase):
    def test_every_key_of_an_experiment_is_described(self):
        source = read(os.path.join(ROOT, "src/front/exp/section.c"))
        keys = re.findall(r'^\t\{ "(\w+)", ', source, re.M)
        self.assertGreater(len(keys), 12)
        tags = re.findall(r"\.TP\n(.*)", plain(page("weft-experiment", 5)))
        for k in keys:
            self.assertIn(k, ", ".join(tags).split(", "))


    def test_every_table_and_column_of_a_results_file_is_described(self):
        text = plain(page("weft-results", 5)).split(".SH SQLITE")[1]
        sources = glob.glob(os.path.join(ROOT, "src/front/out/db*.c"))
        whole = "".join(read(p) for p in sources)
        whole = re.sub(r'"\s*\n\s*"', "", whole)
        tables = re.findall(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)\((.*?)\)"
                            r"(?: WITHOUT|;)", whole)
        self.assertGreater(len(tables), 15)
        for table, columns in tables:
            entry = re.search(r"(?ms)^\.TP\n(?:\w+, )*%s(?:, \w+)*\n(.*?)"
                              r"(?=^\.(?:TP|SH|SS|PP))" % table, text)
            self.assertTrue(entry, table)
            columns = re.sub(r"PRIMARY KEY\(.*?\)", "", columns)
            for c in re.findall(r"(?:^|, ?)(\w+) ", columns):
                self.assertRegex(entry[1], r"\b%s\b" % c, (table, c))


class Metrics(unittest.TestCase):
    """docs/reference.md has each metric whose name stands in a source."""
    CALL = re.compile(r'weft_metric\([^";]*?"(\w+)",\s*"([^"]*)"')

    def rows(self):
        text = read(os.path.join(ROOT, "docs/reference.md"))
        text = text.split("## Metrics")[1]
        for line in text.splitlines():
            cells = line.strip("|").split("|")
            if line.startswith("| `"):
                yield re.findall(r"`([^`]+)`", cells[0]), cells[1].strip()

    def reported(self):
        for folder, _, names in os.walk(os.path.join(ROOT, "src")):
            for n in names:
                if n.endswith(".c") and "/tests" not in folder:
                    for m in self.CALL.findall(read(os.path.join(folder, n))):
                        yield (*m, n)

    def test_every_metric_has_a_row_with_its_unit(self):
        units = {}
        for names, unit in self.rows():
            for n in names:
                units.setdefault(n.removeprefix("net."), set()).update(
                    u.strip() for u in unit.split(","))
        found = list(self.reported())
        self.assertGreater(len(found), 100)
        for name, unit, where in found:
            with self.subTest(f"{where}: {name}"):
                self.assertIn(name, units)
                if unit:
                    self.assertIn(unit, units[name])


class Form(unittest.TestCase):
    def test_groff_and_mandoc_have_no_complaint(self):
        for path in pages():
            with self.subTest(os.path.basename(path)):
                if shutil.which("groff"):
                    self.assertEqual(rendered(path)[1], "")
                if shutil.which("mandoc"):
                    p = run("mandoc", "-T", "lint", path)
                    self.assertEqual(p.stdout + p.stderr, "")

    def test_pages_fit_a_terminal_and_show_no_marks(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        for path in pages():
            text = rendered(path)[0]
            with self.subTest(os.path.basename(path)):
                self.assertLessEqual(max(map(len, text.split("\n"))), 80)
                shown = re.sub(r"(?m)^ {8,}.*#.*$", "", text)
                self.assertNotRegex(shown, r"\]\(|\*\*[a-z]+\*\*|/\*|\*/|```|\\f")
                self.assertNotIn("`", shown)

    def test_no_section_is_empty(self):
        for path in pages():
            text = read(path)
            with self.subTest(os.path.basename(path)):
                self.assertNotRegex(text, r"\.S[HS] .*\n(?:\.S[HS] |\Z)")
                self.assertNotRegex(text, r"\.S[HS] .*\n\Z")
                for section in "NAME", "DESCRIPTION", "SEE ALSO":
                    self.assertIn(f".SH {section}\n", text)

    def test_cross_references_lead_to_pages(self):
        n = 0
        for path in pages():
            for name, section in re.findall(r"\b(weft[-\w]*)[ ]?\(([1358])\)",
                                            plain(read(path))):
                n += 1
                page(name, section)
        self.assertGreater(n, 60)

    def test_apropos_finds_each_page(self):
        if not shutil.which("lexgrog"):
            self.skipTest("no man-db")
        for path in pages():
            name = os.path.basename(path)[:-2]
            out = run("lexgrog", path).stdout
            self.assertIn(f'"{name} - ', out)


if __name__ == "__main__":
    del sys.argv[1:4]
    unittest.main()
