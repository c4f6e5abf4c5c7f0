#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of systems with one more: systems.py LIST LINE OUT

LINE is added behind the last system, as one does by hand."""
import re
import sys


def main():
    with open(sys.argv[1]) as f:
        text = f.read()
    last = list(re.finditer(r'^#include "systems/.*\n', text, re.M))[-1]
    with open(sys.argv[3], "w") as f:
        f.write(text[:last.end()] + sys.argv[2] + "\n" + text[last.end():])


main()
