#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Same experiment, same seed: the same bytes, from every build of the program.

  determinism.py WEFT

Compares this build with itself, and with those with sanitizers by clang -O0
($WEFT_CLANG) and gcc ($WEFT_ASAN) where they exist: standard output as JSON and
the SQLite file."""
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

RUNS = [
    ["forth/uniform", "--set", "workload.count=300"],
    ["forth/uniform", "--set", "workload.count=300", "--seed", "2"],
    ["forth/hotspot", "--set", "workload.count=200"],
    ["forth/clock-offset", "--set", "workload.0.count=2000"],
    ["forth/dma"],
    ["forth/ep-conformance"],
    ["generic/crossbar-load"],
    ["forth/clos-twelve", "--set", "run.until=400us"],
    ["forth/monitor-latency", "--set", "workload.count=300", "--sample",
     "10us"],
    ["extoll/pingpong"],
    ["extoll/torus", "--set", "workload.0.count=5"],
    ["extoll/ep-traffic", "--set", "workload.0.count=30"],
    ["extoll/net-torus", "--set", "fabric.net.measure=2000"],
    ["extoll/net-nics"],
    ["extoll/net-torus", "--set", "fabric.net.measure=1000", "--set",
     "faults={on: 's*.lp0', type: fault.bits, rate: 1e-5}"],
    ["ethernet/hot-spot"],
    ["hvia/mvia", "--set", "workload.size=4096"],
    # M03 of hostport.md 13.7
    ["hostport/ep-conformance", "--set", "workload.1.messages=12", "--set",
     "workload.2.messages=6"],
    ["coh/random", "--set", "traffic.ops=6000", "--set", "traffic.words=2000",
     "--set", "expect={t0.errors: 0, t0.delivered: 2000}"],
    ["coh/delivery"],
]


def outcome(weft, args, folder):
    db = pathlib.Path(folder) / "out.db"
    db.unlink(missing_ok=True)
    p = subprocess.run([weft, "run", *args, "--format", "json", "--out",
                        str(db)], capture_output=True)
    if p.returncode:
        sys.exit(f"{weft} {args}: exit {p.returncode}\n{p.stderr.decode()}")
    return tuple(hashlib.sha256(x).hexdigest()
                 for x in (p.stdout, db.read_bytes()))


def main(weft):
    others = [os.environ.get(v) for v in ("WEFT_CLANG", "WEFT_ASAN")]
    builds = [weft] + [o for o in others if o and os.access(o, os.X_OK)]
    seen = {}
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for args in RUNS:
            first = outcome(weft, args, folder)
            for build in builds:
                if outcome(build, args, folder) != first:
                    print("not ok:", build, *args)
                    bad += 1
            seen.setdefault(first[0], []).append(args)
    for runs in seen.values():
        if len(runs) > 1:
            print("not ok: different runs, same output:", runs)
            bad += 1
    print(f"{len(RUNS)} runs, {len(builds)} builds, {bad} differences")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
