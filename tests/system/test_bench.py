#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft bench torus` beside other simulators: programs that only look like
them, so that what is asked of them and what is made of their answers is known.

    test_bench.py WEFT ROOT
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

WEFT = sys.argv.pop(1)
sys.argv.pop(1)

BURN = """import resource
while resource.getrusage(resource.RUSAGE_SELF).ru_utime < %s:
    sum(range(20000))
"""

# 512 nodes x 0.01 packets x 1000 cycles x 7 hops
BOOKSIM = """#!/usr/bin/python3
import sys
cfg = open(sys.argv[1]).read()
assert "topology = torus;" in cfg and "k = 8;" in cfg, cfg
open(sys.argv[0] + ".log", "a").write(" ".join(sys.argv[2:]) + "\\n")
print("Hops average = 7 (1 samples)\\nTime taken is 1000 cycles")
print("Injected packet rate average = 0.01 (1 samples)")
""" + BURN % 0.1

# the first line of the script tells which result is wanted
SST = """#!/usr/bin/python3
import sys
text = open(sys.argv[1]).read()
compile(text, "script", "exec")
line = text.split("\\n")[0]
open(sys.argv[0] + ".log", "a").write(line + "\\n")
n = sum(1 for l in open(sys.argv[0] + ".log"))
print("Simulation is complete, simulated time: 1 us")
""" + BURN % "(0.05 if n % 2 else 0.15)"


class Peers(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.dir.cleanup()

    def program(self, name, text):
        path = os.path.join(self.dir.name, name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o755)
        return path

    def bench(self, **variables):
        env = {k: v for k, v in os.environ.items()
               if k not in ("BOOKSIM", "SST")}
        env.update(variables)
        return subprocess.run([WEFT, "bench", "torus", "--quick"], env=env,
                              capture_output=True, text=True, check=False)

    def test_bench_compares_weft_with_its_peers(self):
        books = self.program("booksim", BOOKSIM)
        sst = self.program("sst", SST)
        r = self.bench(BOOKSIM=books, SST=sst)
        self.assertEqual(r.returncode, 0, r.stderr)
        v = {m[1]: float(m[2])
             for m in re.finditer(r"torus\s+(\S+)\s+(\S+)", r.stdout)}
        for flits in (1, 8, 32):
            for load in (0.1, 0.3, 0.5):
                at = "_%dflits_%s" % (flits, load)
                for peer in ("booksim", "merlin"):
                    self.assertAlmostEqual(
                        v["ratio_" + peer + at],
                        v["hops" + at] / v[peer + at],
                        delta=1e-3 * v["ratio_" + peer + at])
                # 35840 hops in 0.1 s, 400 k hops in 0.1 s more
                self.assertTrue(0.2 < v["booksim" + at] < 0.4)
                self.assertTrue(2.5 < v["merlin" + at] < 8)
        with open(books + ".log") as f:
            asked = f.read().splitlines()
        self.assertEqual(asked[0], "packet_size=1 injection_rate=0.1 "
                                   "sample_period=250")
        self.assertEqual(len(asked), 9)
        with open(sst + ".log") as f:
            asked = f.read().splitlines()
        self.assertEqual(len(asked), 18)
        # 100000 hops: 512 x 0.1 packets x 7.01 hops per ns; then five times
        self.assertEqual(asked[0], "flits, load, ns = 1, 0.1, 278")
        self.assertEqual(asked[1], "flits, load, ns = 1, 0.1, 1390")
        self.assertEqual(asked[-2], "flits, load, ns = 32, 0.5, 1782")

    def test_output_of_another_program_is_refused(self):
        path = self.program("wrong", "#!/bin/sh\necho hello\n")
        for name in ("BOOKSIM", "SST"):
            r = self.bench(**{name: path})
            self.assertNotEqual(r.returncode, 0)
            self.assertIn("not the output of", r.stderr)
            other = "SST" if name == "BOOKSIM" else "BOOKSIM"
            self.assertIn("name its binary in " + other, r.stderr)


if __name__ == "__main__":
    unittest.main()
