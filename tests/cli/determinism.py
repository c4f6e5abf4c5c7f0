#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Same experiment, same seed: the same bytes, from every build of the program.

  determinism.py FILE

Compares what builds with sanitizers by clang -O0 ($WEFT_CLANG) and gcc
($WEFT_ASAN) give with the committed results in FILE of tests/golden, with which
a test of its own compares this build."""
import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))

import golden

SKIPPED = 77


def main(path):
    builds = [os.environ.get(v, "") for v in ("WEFT_CLANG", "WEFT_ASAN")]
    builds = [b for b in builds if os.access(b, os.X_OK)]
    for build in builds:
        print(build, golden.compare(build, path), "runs as committed")
    return 0 if builds else SKIPPED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
