#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Places of routers on the page of `weft report` (web/src/layout.js): groups of
a dragonfly stand together, and in a HyperX each cable is seen, because no
router is on the line of a cable between two others.

    test_layout.py WEFT ROOT [unittest options]
"""
import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WEFT, ROOT = (os.path.abspath(a) for a in sys.argv[1:3])
TEXT = """
payload: none
traffic: {{ type: net.source, count: {ends}, load: 0.1 }}
fabric:
  {{ type: routed, topology: {topology}, dims: {dims}, ends: 1,
    switch: {{ vcs: 4 }}, net: {{ measure: 50 }} }}
run: {{ until: 1ms }}
"""
SCRIPT = """
import { layout } from "./layout.mjs";
import { readFileSync } from "fs";
const run = JSON.parse(readFileSync(0, "utf8"));
run.params = new Map(Object.entries(run.params));
const g = layout(run);
console.log(JSON.stringify(g.nodes.filter((n) => n.kind === "switch").map(
  (n) => [Number(n.name.slice(1)), n.x, n.y,
          n.ports.filter((p) => p.far && p.far.node.kind === "switch")
                 .map((p) => Number(p.far.node.name.slice(1)))])));
"""


@unittest.skipUnless(shutil.which("node"), "no node")
class Layout(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.at = lambda name: os.path.join(self.dir.name, name)

    def places(self, topology, dims, ends):
        """By router: x, y and its neighbours."""
        with open(self.at("e.yaml"), "w") as f:
            f.write(TEXT.format(topology=topology, dims=dims, ends=ends))
        done = subprocess.run([WEFT, "run", self.at("e.yaml"), "--quiet",
                               "--out", self.at("r.db")], text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with sqlite3.connect(self.at("r.db")) as c:
            c.row_factory = sqlite3.Row
            ports = [dict(r) for r in c.execute("SELECT * FROM ports")]
        shutil.copy(os.path.join(ROOT, "web/src/layout.js"),
                    self.at("layout.mjs"))
        with open(self.at("s.mjs"), "w") as f:
            f.write(SCRIPT)
        run = {"ports": ports, "params": {
            "fabric.type": "routed", "fabric.topology": topology,
            "fabric.dims": " ".join(str(d) for d in dims)}}
        done = subprocess.run(["node", self.at("s.mjs")], text=True,
                              input=json.dumps(run), capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {n: ((x, y), far) for n, x, y, far in json.loads(done.stdout)}

    def apart(self, routers):
        at = [p for p, _ in routers.values()]
        for i, a in enumerate(at):
            for b in at[:i]:
                self.assertGreater(math.dist(a, b), 0.3)

    def test_groups_of_a_dragonfly_stand_together(self):
        for topology, dims, size, ends in (("dragonfly", [4, 2], 4, 36),
                                           ("dragonfly", [3, 1, 2], 3, 6),
                                           ("dragonfly_plus", [2, 2, 1], 4, 6)):
            with self.subTest(topology=topology, dims=dims):
                routers = self.places(topology, dims, ends)
                self.apart(routers)
                groups = {}
                for n, (p, _) in routers.items():
                    groups.setdefault(n // size, []).append(p)
                middle = {g: (sum(x for x, _ in ps) / len(ps),
                              sum(y for _, y in ps) / len(ps))
                          for g, ps in groups.items()}
                for n, (p, _) in routers.items():
                    near = min(middle, key=lambda g: math.dist(p, middle[g]))
                    self.assertEqual(near, n // size)

    def test_no_router_is_on_the_cable_of_two_others(self):
        for topology, dims in (("hyperx", [4, 3]), ("hyperx", [5, 5]),
                               ("flattened_butterfly", [4, 4]),
                               ("hyperx", [3, 3, 3])):
            with self.subTest(dims=dims):
                routers = self.places(topology, dims, math.prod(dims))
                self.apart(routers)
                self.assertEqual(len(routers), math.prod(dims))
                for n, ((ax, ay), far) in routers.items():
                    self.assertEqual(len(far), sum(dims) - len(dims))
                    for m in far:
                        bx, by = routers[m][0]
                        d = math.hypot(bx - ax, by - ay)
                        for k, ((x, y), other) in routers.items():
                            # of the same row or column
                            if k in (n, m) or n not in other or m not in other:
                                continue
                            off = abs((bx - ax) * (y - ay) -
                                      (by - ay) * (x - ax)) / d
                            self.assertGreater(off, 0.05, (n, m, k))


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main()
