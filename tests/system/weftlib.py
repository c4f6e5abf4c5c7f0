# SPDX-License-Identifier: Apache-2.0
"""Runs the program and reads what it says; shared by the system tests."""
import json
import os
import subprocess
import sys

WEFT = sys.argv.pop(1) if len(sys.argv) > 1 else "build/weft"
ROOT = sys.argv.pop(1) if len(sys.argv) > 1 else "."
MIB = 1048576.0


class Run:
    """One finished point: metrics, counters, series by name."""

    def __init__(self, d):
        self.point = d.get("point", "")
        self.metrics = d["metrics"]
        self.counters = d["counters"]
        self.series = {s["name"]: s for s in d["series"]}
        self.hists = {h["name"]: h for h in d["histograms"]}
        self.failures = d.get("failures", [])

    def __getitem__(self, name):
        if name in self.metrics:
            return self.metrics[name]
        return self.counters[name]

    def all(self, start, end):
        """Values of all metrics and counters start*end."""
        both = dict(self.counters, **self.metrics)
        return [v for k, v in sorted(both.items())
                if k.startswith(start) and k.endswith(end)]


def execute(*args, timeout=120):
    return subprocess.run([WEFT, *args], capture_output=True, text=True,
                          timeout=timeout)


def points(name, *sets, seed=None, fails=False, load=None, timeout=120):
    """All points of a shipped experiment with overrides.  Exit status and
    failed checks must be 0 and none, unless `fails` (None: either).  `load`:
    a shared object with more classes."""
    args = ["run", name, "--format", "json"]
    for s in sets:
        args += ["--set", s]
    if seed is not None:
        args += ["--seed", str(seed)]
    if load is not None:
        args += ["--load", load]
    p = execute(*args, timeout=timeout)
    if fails is None and p.returncode in (0, 1):
        pass
    elif p.returncode != (1 if fails else 0):
        raise AssertionError("%s: status %d\n%s" % (
            " ".join(args), p.returncode, p.stderr[:2000]))
    d = json.loads(p.stdout)
    return [Run(r) for r in d["runs"]] if "runs" in d else [Run(d)]


def run(name, *sets, **kw):
    r = points(name, *sets, **kw)
    assert len(r) == 1, "%s has %d points" % (name, len(r))
    return r[0]
