#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft import booksim`: settings become those of an experiment that runs, what
cannot be done is refused with its line and what would do, and no file makes it
crash or hang.

    test_import.py WEFT [unittest options]
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv[1])

MESH = """// A small mesh.
topology = mesh;
k = 4; n = 2;
routing_function = dor;
num_vcs = 2;
vc_buf_size = 8;   // places of a VC
traffic = transpose;
injection_rate_uses_flits = 1;
packet_size = 4;
injection_rate = 0.1;
sample_period = 500;
"""
TORUS = """
topology = torus;
k = 4;
n = 2;
routing_function = dim_order;
"""
FLY = "topology=fly;k=4;n=2;routing_function=dest_tag;"
CMESH = """topology = cmesh; k = 4; n = 2; c = 4; x = 4; y = 4; xr = 2; yr = 2;
routing_function = dor_no_express; traffic = bitcomp;
"""
DRAGON = """topology = dragonflynew; k = 2; n = 1; num_vcs = 2;
routing_function = min;
"""
# Requests and replies; ranges of VCs that follow from their number.
READS = ["use_read_write=1", "write_fraction=0.25", "read_request_size=1",
         "read_reply_size=5", "write_request_size=5", "write_reply_size=2",
         *(f"{of}_{end}_vc=-1" for of in (
             "read_request", "read_reply", "write_request", "write_reply")
           for end in ("begin", "end"))]

# settings, text of the experiment (a regular expression)
BECOMES = [
    (MESH, [], r"topology: mesh\n  dims: \[4, 4\]\n  routing: dimension_order"),
    (MESH, [], r"count: 16, self: yes, pattern: transpose, flits: 4, load: 0.1"),
    (MESH, [], r"warmup: 1500, measure: 1500"),
    (MESH, ["max_samples=5"], r"warmup: 1500, measure: 1000"),
    (MESH, ["warmup_periods=0"], r"detect: yes, measure: 1500"),
    (MESH, ["routing_function=xy_yx"], r"routing: o1turn"),
    (MESH, ["routing_function=adaptive_xy_yx"], r"routing: xy_yx_adaptive"),
    (MESH, ["routing_function=min_adapt"], r"routing: minimal_adaptive"),
    (MESH, ["routing_function=planar_adapt", "num_vcs=3"],
     r"routing: planar_adaptive"),
    (MESH, ["input_speedup=2", "output_speedup=3"],
     r"input_speedup: 2,(?s:.*)output_speedup: 3,"),
    (MESH, ["internal_speedup=1.5"], r"speedup: 1.5"),
    (MESH, ["buf_size=32"], r"buf_flits: 16"),
    (MESH, ["st_prepare_delay=1"], r"t_cross: 2(?s:.*)pipelined: no"),
    (MESH, ["vc_allocator=islip(3)", "alloc_iters=2"],
     r"alloc_iters = 2: BookSim2's router does not read it"
     r"(?s:.*)vc_iterations: 3,\n    sw_alloc: islip, sw_iterations: 1"),
    (MESH, ["vc_allocator=separable_input_first(matrix)",
            "sw_allocator=max_size"],
     r"vc_alloc: input_first,\n    sw_alloc: maximum, arbiter: matrix"),
    (MESH, ["priority=age", "sw_allocator=separable_output_first"],
     r"sw_alloc: output_first, arbiter: age"),
    (MESH, ["injection_rate_uses_flits=0"], r"load: 0.4"),
    (MESH, ["packet_size={{1,5}}"], r'sizes: "1:1,5:1", load: 0.1'),
    (MESH, ["packet_size={{1,5}}", "packet_size_rate={{3,1}}",
            "injection_rate_uses_flits=0"], r'sizes: "1:3,5:1", load: 0.2 '),
    (MESH, ["packet_size={2,9}"], r"flits: 2,"),
    (MESH, ["injection_rate={0.2,0.3}"], r"load: 0.2 "),
    (MESH, ["injection_process=on_off({0.1,0.2,-1})"],
     r"arrivals: on_off, start: 0.1, stop: 0.2 "),
    (MESH, ["injection_process=on_off", "burst_alpha=-1.0", "burst_r1=0.5"],
     r"arrivals: on_off, stop: 0.5, peak: 2 "),
    (MESH, ["traffic=hotspot({{3,5},{2}})"],
     r'pattern: hotspot, hot: 1, spots: "3:2,5:2"'),
    (MESH, ["traffic=background({{3,5}})"], r'background, spots: "3,5"'),
    (MESH, ["traffic=randperm(7)"], r"permutation, permutation: 7"),
    (MESH, ["traffic=randperm", "perm_seed=8"], r"permutation: 8"),
    (MESH, ["sim_type=batch", "batch_size=50", "max_outstanding_requests=4"],
     r"flits: 4, batch: 50, outstanding: 4 }(?s:.*)net: { warmup: 0 }"),
    (MESH, ["seed=12"], r"seed: 12"),
    (MESH, ["sim_type=batch", "batch_count=3", "seed=4"],
     r"sweep:\n  seed: \[4, 5, 6\]\n"),
    # the mean transaction has (1 + 5 + 5 + 2) / 2 flits, whole ones
    (MESH, [*READS, "num_vcs=8", "injection_rate=0.3"],
     r"flits: 1, vcs: 0-3, reply: 5, reply_vcs: 4-7, write_flits: 5, "
     r"write_vcs: 0-3, write_reply: 2, write_reply_vcs: 4-7, writes: 0\.25, "
     r"load: 0\.1 }"),
    (MESH, ["classes=3", "packet_size={1,4}", "traffic={uniform,tornado}",
            "injection_rate={0.1,0.2,0.4}", "priority=class",
            "class_priority={2,1,0}"],
     r"  classes:\n"
     r"    - { name: class0, pattern: uniform, flits: 1, priority: 2, "
     r"load: 0\.1 }\n"
     r"    - { name: class1, pattern: tornado, flits: 4, priority: 1, "
     r"load: 0\.2 }\n"
     r"    - { name: class2, pattern: tornado, flits: 4, priority: 0, "
     r"load: 0\.4 }\n(?s:.*)arbiter: class"),
    (MESH, ["k=8;n=1", "traffic=tornado"], r"dims: \[8\]"),
    (TORUS, [], r"link: { latency: 2 }"),
    (TORUS, ["routing_function=dim_order_bal"],
     r"routing: dimension_order\n  datelines: balanced\n"),
    (TORUS, ["use_noc_latency=0"], r"dims: \[4, 4\]\n  routing"),
    (MESH, ["topology=fattree", "routing_function=nca"],
     r"fat_tree\n  dims: \[4, 4\]\n  routing: nearest_common_ancestor"),
    (MESH, ["topology=fattree", "routing_function=anca"],
     r"routing: nca_adaptive"),
    (MESH, ["topology=qtree", "n=3", "routing_function=nca"],
     r"dims: \[4, 4, 4\]\n  up: \[1, 1\]"),
    (CMESH, [], r"topology: cmesh\n  dims: \[4, 4\]\n  link: { latency: 2 }\n"
     r"  trunk: { latency: 4 }\n  routing: dimension_order"),
    (CMESH, ["routing_function=dor"], r"routing: express_order"),
    (CMESH, ["traffic=tornado"], r'digits: "8,8"'),
    (MESH, ["topology=tree4", "n=3", "routing_function=nca"],
     r"topology: tree4\n  routing: nearest_common_ancestor"),
    (CMESH, ["topology=flatfly", "routing_function=ugal", "use_noc_latency=0"],
     r"topology: flattened_butterfly\n  dims: \[4, 4\]\n  ends: 4\n"
     r"  routing: ugal\n  threshold: 2\n"),
    (DRAGON, [], r"dims: \[4, 2\]\n  link: { latency: 10 }\n"
     r"  trunk: { latency: 100 }\n  routing: minimal"),
    (DRAGON, ["routing_function=ugal", "num_vcs=3"],
     r"routing: ugal\n  threshold: 30\n"),
    (FLY, ["traffic=neighbor"], r'neighbour, digits: "4,4",'),
    (MESH, ["traffic=tornado({2,4})"], r'tornado, digits: "2,2,2,2",'),
    (FLY, [], r"topology: fly\n  dims: \[4, 4\]\n  routing: destination_tag"),
]

# settings, what is refused (whole lines of stderr)
REFUSED = [
    (MESH, ["router=event"],
     "router = event: the router has input queues: iq would do"),
    (MESH, ["subnets=2"], "subnets = 2: there is one network: 1 would do"),
    (MESH, ["vc_allocator=pim"], "vc_allocator = pim: there is none"),
    (MESH, ["sw_allocator=separable_input_first(tree(2,matrix))"],
     "no arbiter 'tree"),
    (MESH, ["vc_allocator=separable_input_first",
            "sw_allocator=separable_input_first(matrix)"],
     "the same in both would do"),
    (MESH, ["priority=local_age"], "none, age or class would do"),
    (MESH, ["routing_function=chaos"], "min_adapt would do"),
    (MESH, ["routing_function=dest_tag"], "for a mesh: dor, dim_order"),
    (MESH, ["topology=ring"], "topology = ring: there is none"),
    (MESH, ["topology=qtree"], "n = 2: 3 would do in a qtree"),
    (MESH, ["topology=qtree", "k=2"], "k = 2: 4 would do in a qtree"),
    (MESH, ["n=9"], "n = 9: 1 to 8 would do"),
    (MESH, ["n=0"], "n = 0: 1 to 8 would do"),
    (MESH, ["k=1"], "k = 1: 2 or more would do"),
    (MESH, ["k=300"], "more than 65536 ends"),
    (MESH, ["traffic=torrnado"], "BookSim2 has no such pattern"),
    (MESH, ["traffic=tornado({8,2})"], "whose product is the number of ends"),
    (MESH, ["traffic=tornado", "xr=2"], "whose product is the number of ends"),
    (CMESH, ["topology=flatfly", "routing_function=ran_min",
             "use_noc_latency=0", "traffic=transpose"],
     "uniform, bitcomp or c=1 would do"),
    (CMESH, ["c=2"], "c = 2: 4 would do in a cmesh"),
    (CMESH, ["x=3"], "x = 3: BookSim2 wants a square of routers"),
    (CMESH, ["yr=1"], "xr = 2: BookSim2 wants a square of ends"),
    (CMESH, ["routing_function=xy_yx"], "dor would do"),
    (CMESH, ["topology=flatfly", "routing_function=ran_min"],
     "use_noc_latency = 1 (the default): cables"),
    (DRAGON, ["n=2"], "n = 2: 1 would do in a dragonfly"),
    (DRAGON, ["num_vcs=3"], "num_vcs=2 would do"),
    (DRAGON, ["routing_function=ugal"], "num_vcs=3 would do"),
    (MESH, ["traffic=hotspot(-1)"], "its number would do"),
    (MESH, ["packet_size=0"], "at least a flit"),
    (MESH, ["packet_size={{1,2,3,4,5,6,7,8,9}}"], "1 to 8 sizes"),
    (MESH, ["packet_size_rate=0"], "at least a flit"),
    (MESH, ["injection_rate=5.0"], "0 to 1 packets per cycle"),
    (MESH, ["injection_rate=-0.1"], "0 to 1 packets per cycle"),
    (MESH, ["injection_process=poisson"], "bernoulli or on_off would do"),
    (MESH, ["injection_process=on_off({2,0.5,-1})"], "burst_alpha is 2"),
    (MESH, ["sim_type=batch", "batch_count=0"], "1 to 1000 would do"),
    (MESH, ["sim_type=batch", "classes=2"], "share a batch: 1 would do"),
    (MESH, ["sim_type=batch", *READS], "counts replies as packets of a batch"),
    (MESH, [*READS, "num_vcs=8", "read_reply_begin_vc=8"],
     "read_reply_begin_vc=-1 and read_reply_end_vc=-1 would do"),
    (MESH, [*READS, "read_reply_size=0"], "1 to 4096 would do"),
    (MESH, [*READS, "write_fraction=1.5"], "0 to 1 would do"),
    (MESH, [*READS, "num_vcs=8", "read_reply_begin_vc=2",
            "read_reply_end_vc=5"], "may deadlock: replies wait for VCs"),
    (MESH, ["sim_type=batch", "batch_size=0"], "batch_size = 0: 1 or more"),
    (MESH, ["classes=17"], "classes = 17: 1 to 16 would do"),
    (MESH, ["classes=0"], "classes = 0: 1 to 16 would do"),
    (MESH, ["sim_type=batches"], "latency would do"),
    (MESH, ["max_samples=3"], "max_samples = 3: the warm-up takes all"),
    (MESH, ["sample_period=0"], "1 or more would do"),
    (MESH, ["seed=time"], "a number would do"),
    # values out of range
    (MESH, ["num_vcs=40"], "num_vcs = 40: 1 to 32 would do"),
    (MESH, ["vc_alloc_delay=0"], "vc_alloc_delay = 0: 1 to 16 would do"),
    (MESH, ["routing_delay=17"], "routing_delay = 17: 0 to 16 would do"),
    (MESH, ["credit_delay=2000"], "0 to 1024 would do"),
    (MESH, ["input_speedup=9"], "1 to 8 would do"),
    (MESH, ["internal_speedup=0.5"], "internal_speedup = 0.5: 1 to 8"),
    (MESH, ["vc_buf_size=0"], "vc_buf_size = 0: 1 to 4096 would do"),
    (MESH, ["buf_size=1"], "buf_size = 1: 2 to 8192 would do"),
    (MESH, ["st_final_delay=0"], "st_final_delay = 0: 1 to 16 would do"),
    (MESH, ["st_prepare_delay=3", "st_final_delay=14"],
     "st_final_delay = 14: 0 to 13 would do"),
    (MESH, ["vc_allocator=islip(0)"], "islip(1) to islip(16) would do"),
    (MESH, ["packet_size=5000"], "at most 4096 would do"),
    (MESH, ["traffic=hotspot({{16}})"], "there is no node 16: 0 to 15"),
    (MESH, ["sim_type=batch", "max_outstanding_requests=2000000"],
     "at most 1000000 would do"),
    (MESH, ["priority=class", "class_priority=256"], "0 to 255 would do"),
    (MESH, ["speculative=1", "spec_check_elig=0"], "spec_check_elig = 0: 1"),
    (MESH, ["buffer_policy=shared", "max_held_slots=4"], "max_held_slots = 4"),
    # found by checks of the experiment
    (MESH, ["routing_function=valiant", "num_vcs=1"], "needs 2 VCs"),
    (TORUS, ["num_vcs=1"], "needs 2 VCs"),
    (MESH, ["k=3"], "a power of 4 nodes"),
]

# a file, what is said of it
WRONG = [
    ("", "f:1: no setting"),
    ("// nothing\n\n", "f:1: no setting"),
    ("k = 8", "f:1: k has no ';' at its end, there is the end"),
    ("\nk = 8\nn = 2;", "f:2: k has no ';' at its end, there is 'n'"),
    ("k 8;", "f:1: expected '=' behind k, found '8'"),
    ("k = ;", "f:1: k has no value: write k = VALUE;"),
    ("= 8;", "f:1: expected the name of a setting, found '='"),
    ("8 = k;", "f:1: expected the name of a setting, found '8'"),
    ("\n\nkk = 8;", "f:3: BookSim2 has no setting 'kk': did you mean"),
    ("warp_factor_of_it = 8;", "f:1: BookSim2 has no setting"),
    ("num_vc = 8;", "did you mean 'num_vcs'?"),
    ("k = 8.5;", "f:1: k = '8.5': BookSim2 takes a whole number"),
    ("k = eight;", "f:1: k = 'eight': BookSim2 takes a whole number"),
    ("topology = 8;", "BookSim2 takes a word"),
    ("injection_rate = 1;", "takes a number with a point, e.g. 1.0"),
    ("internal_speedup = 2;", "takes a number with a point"),
    ("k = 99999999999999999999;", "BookSim2 cannot hold this number"),
    ("k = 4294967296;", "BookSim2 cannot hold this number"),
    ("internal_speedup = 1.0e999;", "BookSim2 cannot hold this number"),
    ("packet_size = {1,2;", "f:1: the list of packet_size has no end"),
    ("packet_size = {1, 2};", "f:1: the list of packet_size has no end"),
    ("packet_size = {};", "f:1: the list of packet_size has no end"),
    ("packet_size = {{{{1}}}};", "lists in lists in lists"),
    ("packet_size = {{1};", "are not in pairs"),
    ("packet_size = {1}};", "are not in pairs"),
    ("packet_size = {1,2}; packet_size = 3;", "which BookSim2 keeps"),
    ("k = 8;\x00", "found '?'"),
    ("k = \x1b[31m8;", "k has no value"),
    ("k = 8 /* */;", "there is '/'"),
]


class Import(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def weft(self, *args, text=None, **more):
        if text is not None:
            with open(os.path.join(self.dir.name, "f"), "w") as f:
                f.write(text)
        return subprocess.run([WEFT, *args], cwd=self.dir.name, text=True,
                              capture_output=True, timeout=60, **more)

    def convert(self, text, *settings):
        return self.weft("import", "booksim", "f", *settings, text=text)

    def test_settings_become_those_of_an_experiment(self):
        for text, settings, expected in BECOMES:
            with self.subTest(settings):
                done = self.convert(text, *settings)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, expected)

    def test_what_cannot_be_done_is_refused_with_what_would_do(self):
        for text, settings, expected in REFUSED:
            with self.subTest(settings):
                done = self.convert(text, *settings)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assertIn(expected, done.stderr)

    def test_a_wrong_file_is_refused_with_its_line(self):
        for text, expected in WRONG:
            with self.subTest(text):
                done = self.convert(text)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assertIn(expected, done.stderr)
                self.assertTrue(done.stderr.isprintable() or
                                done.stderr.replace("\n", "").isprintable())

    def test_all_refusals_of_a_file_are_listed_with_their_lines(self):
        done = self.convert(MESH + "subnets = 2;\nnoq = 1;\npriority=local_age;\n")
        found = re.findall(r"^weft: f:(\d+): (\w+)", done.stderr, re.M)
        self.assertEqual(found, [("12", "subnets"), ("13", "noq"),
                                 ("14", "priority")])

    def test_a_setting_without_effect_is_a_remark(self):
        text = MESH + "watch_out = -;\nsim_power = 1;\n"
        done = self.convert(text)
        self.assertEqual(done.returncode, 0)
        self.assertIn("weft: remark: f:12: watch_out = -: ", done.stderr)
        self.assertIn("# f:13: sim_power = 1: power is", done.stdout)
        done = self.convert(text, "--quiet")
        self.assertEqual(done.stderr, "")

    def test_defaults_that_are_written_down_are_no_remarks(self):
        done = self.convert(MESH + "input_speedup = 1; latency_thres = 500.0;"
                            "stopping_thres = -1.0; watch_file = -;"
                            "read_request_end_vc = 15;")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_graph_of_any_cables_is_read_from_its_file(self):
        text = ("topology=anynet; routing_function=min; network_file=net;"
                "num_vcs=1; traffic=uniform;")
        done = self.convert(text)
        self.assertIn("network_file = net: net: No such file", done.stderr)
        with open(os.path.join(self.dir.name, "net"), "w") as f:
            f.write("router 0 node 0 node 1 router 1 5\nrouter 1 node 2\n")
        done = self.convert(text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"count: 3(?s:.*)topology: graph\n"
                         r'  file: "net"\n  routing: shortest_all_vcs')
        with open(os.path.join(self.dir.name, "net"), "w") as f:
            f.write("router 0 router 1\n")
        done = self.convert(text)
        self.assertIn("there is no end in it", done.stderr)
        done = self.convert(text.replace("=net;", "=/dev/zero;"))
        self.assertIn("/dev/zero: a file of lines would do", done.stderr)
        with open(os.path.join(self.dir.name, "net"), "w") as f:
            f.truncate(1 << 33)
        done = self.convert(text)
        self.assertIn("at most 16 MiB would do", done.stderr)
        with open(os.path.join(self.dir.name, "net"), "w") as f:
            f.write("router 0 node 0 node 1 rooter 1\n")
        done = self.convert(text)
        self.assertEqual(done.returncode, 2)
        self.assertIn("net:1: ", done.stderr)

    def test_the_experiment_runs_as_the_file_says(self):
        self.convert(MESH, "--out", "e.yaml")
        done = self.weft("run", "e.yaml", "--format", "json", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        r = json.loads(done.stdout)
        self.assertEqual(r["manifest"]["net.state"], "steady")
        h = next(h for h in r["histograms"] if h["name"] == "net.latency")
        # 7 cycles at a router, 5 for each further one, 3 for further flits
        self.assertEqual(h["min"], 7 + 3)
        self.assertAlmostEqual(r["metrics"]["net.offered"], 0.1, delta=0.01)

    def test_standard_input_and_output_run_at_once(self):
        done = subprocess.run(
            f"'{WEFT}' import booksim - k=2 traffic=uniform | "
            f"'{WEFT}' run - --format csv --quiet", shell=True, text=True,
            input=MESH, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("net.latency", done.stdout)

    def test_files_and_formats_that_are_not_there(self):
        for args, expected in (
                (["booksim", "nosuch"], "nosuch"),
                (["boksim", "f"], "did you mean 'booksim'?"),
                (["booksim"], "something is missing"),
                (["booksim", "f", "--out", "no/such"], "no/such")):
            with self.subTest(args):
                done = self.weft("import", *args, text=MESH)
                self.assertEqual(done.returncode, 2)
                self.assertIn(expected, done.stderr)

    def test_no_damaged_file_crashes_it(self):
        rng = random.Random(20)
        base = MESH + "packet_size = {{1,5}}; traffic = hotspot({{1,2},{3,4}});"
        signs = "{}(),;=.-/_ \n\0\x7fzk09eE+"
        for _ in range(120):
            text = list(base)
            for _ in range(rng.randint(1, 6)):
                at = rng.randrange(len(text))
                if rng.random() < 0.5:
                    text[at] = rng.choice(signs)
                else:
                    text[at:at + rng.randint(1, 9)] = \
                        rng.choice(signs) * rng.randint(0, 3)
            done = self.convert("".join(text), "k=4", "n=2")
            self.assertIn(done.returncode, (0, 2), "".join(text))
            if done.returncode:
                self.assertTrue(done.stderr.startswith("weft: "), done.stderr)

    def test_long_lists_and_deep_braces_end_in_words(self):
        for text in ("packet_size = {" + "1," * 100000 + "1};",
                     "packet_size = " + "{" * 100000 + "}" * 100000 + ";",
                     "traffic = " + "a" * 1000000 + ";",
                     "k" * 1000000 + " = 1;"):
            done = self.convert(text + TORUS)
            self.assertIn(done.returncode, (0, 2))
            self.assertLess(len(done.stderr), 2000)


if __name__ == "__main__":
    del sys.argv[1]
    unittest.main()
