#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""VIPL from end to end through the command line: the common endpoint over VIs,
with and without losses, and unmodified programs that are none.

    test_vipl.py WEFT ROOT
"""
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays clean

from weftlib import ROOT, WEFT, execute, points, run


class Endpoint(unittest.TestCase):
    def test_endpoint_passes_conformance(self):
        self.assertEqual(run("hvia/ep-conformance").all("n", ".tests"),
                         [11] * 4)

    def test_endpoint_passes_with_few_slots(self):
        r = run("hvia/ep-conformance", "workload.0.rx_slots=1",
                "workload.1.rx_slots=2", "workload.1.max_msg=600")
        self.assertEqual(r.all("n", ".tests"), [11] * 4)

    def test_run_cut_short_frees_its_objects(self):
        """Sanitizers check it."""
        p = execute("run", "hvia/ep-conformance", "--set", "run.until=2ms")
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertNotIn("Sanitizer", p.stderr)

    def test_endpoint_passes_with_lost_frames(self):
        """1 % of all frames."""
        for seed in (1, 2):
            r = run("hvia/ep-loss", seed=seed)
            self.assertEqual(r["n0.prog0.tests"], 11)


# Settings that move the simulator's own memory; sanitizers bring another malloc,
# which does not know these.
SLOW = "WEFT_SLOW" in os.environ
HEAPS = [{"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=16384"},
         {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"},
         {"GLIBC_TUNABLES": "glibc.malloc.perturb=85"},
         {"MALLOC_TOP_PAD_": "1000000"}]


def said(*args, env=None):
    p = subprocess.run([WEFT, "run", *args], capture_output=True, text=True,
                       env=dict(os.environ, **(env or {})))
    if p.returncode:
        raise AssertionError("%s: status %d\n%s" % (args, p.returncode,
                                                    p.stderr[:2000]))
    return p.stdout, p.stderr


@unittest.skipIf(SLOW, "the build without sanitizers does this")
class Places(unittest.TestCase):
    """Addresses from the simulator's allocator change no result."""
    FILE = os.path.join(ROOT, "src", "systems", "hvia", "experiments",
                        "ep-conformance.yaml")

    def test_settings_of_the_allocator_change_no_result(self):
        first = said(self.FILE, "--format", "csv")
        for env in HEAPS:
            self.assertEqual(said(self.FILE, "--format", "csv", env=env),
                             first, env)

    def test_length_of_the_file_name_changes_no_result(self):
        first = said(self.FILE, "--format", "csv")
        with tempfile.TemporaryDirectory() as tmp:
            for n in (1, 60, 200):
                other = os.path.join(tmp, "x" * n + ".yaml")
                shutil.copy(self.FILE, other)
                self.assertEqual(said(other, "--format", "csv"), first, n)

    def test_addresses_on_the_line_stay_equal(self):
        """RDMA writes carry addresses of programs: captures are equal."""
        runs = [["rdma", "--set", "sweep=none", "--set", "workload.count=3"],
                ["ep-conformance"]]
        for name, *args in runs:
            with tempfile.TemporaryDirectory() as tmp:
                files = [os.path.join(tmp, n) for n in ("a", "b")]
                for f in files:
                    said("hvia/" + name, *args, "--capture", "all",
                         "--capture-file", f)
                a, b = (pathlib.Path(f).read_bytes() for f in files)
                self.assertTrue(a == b, name)

    def test_equal_points_are_equal(self):
        r = points("hvia/ep-conformance",
                   "sweep={workload.0.messages: [30, 30, 30]}")
        self.assertEqual(len(r), 3)
        for other in r[1:]:
            self.assertEqual(other.counters, r[0].counters)
            self.assertEqual(other.metrics, r[0].metrics)


def frames(file):
    """Bytes of all packets of a capture."""
    data = pathlib.Path(file).read_bytes()
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 6:
            n = struct.unpack_from("<I", data, at + 20)[0]
            yield data[at + 28:at + 28 + n]
        at += size


class Wire(unittest.TestCase):
    def test_sequence_begins_with_the_connection(self):
        """Both sides begin with the low half of the connection's id (hvia.md 6.3):
        frames of an older connection are not taken for new ones."""
        with tempfile.TemporaryDirectory() as tmp:
            f = os.path.join(tmp, "c.pcapng")
            said("hvia/latency", "--set", "sweep=none",
                 "--set", "workload.count=3",
                 "--capture", "all", "--capture-file", f)
            ids, seqs = set(), {}
            for p in frames(f):
                if p[12:14] != b"\x88\xb5":
                    continue
                if p[14] == 9:
                    ids.add(struct.unpack_from("<Q", p, 42)[0])
                elif p[14] == 0:
                    seqs.setdefault(p[6:12], []).append(
                        struct.unpack_from("<H", p, 20)[0])
        self.assertEqual(len(ids), 1)
        start = ids.pop() & 0xffff
        self.assertNotEqual(start, 0)
        self.assertEqual(len(seqs), 2)
        for s in seqs.values():
            self.assertEqual(sorted(set(s))[:3],
                             [start, start + 1, start + 2])


class Crowd(unittest.TestCase):
    """Eight stations that open their endpoints at the same moment."""
    FILE = """
nodes:
  count: 8
  host: { type: host.pc, preset: hvia }
  bus: { type: bus.pci, preset: pci64-66 }
  nic: { type: hvia.nic }
fabric:
  type: switch
  switch: { type: eth.switch, ports: 8 }
  link: { type: eth.cable }
workload:
  program: ep.traffic
  count: 5
sweep: { workload.count: [5, 6] }
run: { until: 1s }
"""

    def test_eight_nodes_connect(self):
        with tempfile.TemporaryDirectory() as tmp:
            f = os.path.join(tmp, "eight.yaml")
            pathlib.Path(f).write_text(self.FILE)
            for slots in ("0", "1", "3"):
                out, _ = said(f, "--set", "workload.rx_slots=" + slots,
                              "--format", "json")
                for r in json.loads(out)["runs"]:
                    got = sum(v for k, v in r["metrics"].items()
                              if k.endswith(".received"))
                    self.assertEqual(got, 8 * int(r["point"].split("=")[1]))


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class OwnMemory(unittest.TestCase):
    """malloc of a program: its blocks begin where they always do, memory of
    the C library goes back to it."""
    SOURCE = r"""
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
static char *early;
__attribute__((constructor)) static void load(void) { early = strdup("early"); }
int main(void)
{
	char *p[200], *text = strdup("C library"), *line = malloc(3);
	size_t n = 3;
	FILE *f = fmemopen("a line that is longer\nnext", 26, "r");
	for (int i = 0; i < 200; i++) {
		p[i] = malloc((size_t)(i * 37 % 5000));
		memset(p[i], i, (size_t)(i * 37 % 5000));
		if (i % 3 == 2)
			free(p[i / 2]), p[i / 2] = calloc(1, (size_t)i);
		printf("%d ", (int)((uintptr_t)p[i] % 4096));
	}
	p[0] = realloc(p[0], 100000);
	p[0] = realloc(p[0], 200000);
	printf("large %d\n", (int)((uintptr_t)p[0] % 4096));
	p[0] = reallocarray(p[0], 60000, 5);
	printf("array %d %d\n", p[0] != NULL,
	       reallocarray(NULL, SIZE_MAX / 2, 4) == NULL);
	printf("aligned %d %d\n", memalign(48, 8) == NULL,
	       memalign(64, 8) != NULL);
	printf("posix %d %d\n", posix_memalign((void **)&p[1], 12, 8) == EINVAL,
	       posix_memalign((void **)&p[1], 4096, 8));
	text = realloc(text, 5000);
	printf("%s, %zd", text, getline(&line, &n, f));
	printf(" %s", line);
	printf("%zd %s %d\n", getline(&line, &n, f), line,
	       malloc_usable_size(line) >= n);
	fclose(f);
	free(text);
	free(line);
	free(early);
	for (int i = 0; i < 200; i++)
		free(p[i]);
	return 0;
}
"""

    def test_blocks_begin_where_they_always_do(self):
        with tempfile.TemporaryDirectory() as tmp:
            file = os.path.join(tmp, "mem.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-w", "-xc", "-", "-o",
                            file], input=self.SOURCE, text=True, check=True)
            args = [os.path.join(ROOT, "examples", "vipl", "two.yaml"),
                    "--set", "host.main.file=" + file]
            first = said(*args)
            self.assertIn("large 0\n", first[1])
            self.assertIn("C library, 22 a line that is longer", first[1])
            self.assertIn("4 next 1", first[1])
            for line in "array 1 1\n", "aligned 1 1\n", "posix 1 0\n":
                self.assertIn(line, first[1])
            for env in [] if SLOW else HEAPS:
                self.assertEqual(said(*args, env=env), first, env)


class Programs(unittest.TestCase):
    """host.main says what is wrong with a file."""

    def refused(self, file):
        p = execute("run", os.path.join(ROOT, "examples", "vipl", "two.yaml"),
                    "--set", "host.main.file=" + file)
        self.assertNotEqual(p.returncode, 0)
        return p.stderr

    def test_missing_program_is_named(self):
        said = self.refused("/nowhere/prog.so")
        self.assertIn("n0.prog0: /nowhere/prog.so: ", said)
        self.assertIn("No such file", said)

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_unwritable_output_is_named(self):
        with tempfile.TemporaryDirectory() as tmp:
            file = os.path.join(tmp, "none.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", file],
                           input="int main(void) { return 0; }", text=True,
                           check=True)
            p = execute("run",
                        os.path.join(ROOT, "examples", "vipl", "two.yaml"),
                        "--set", "host.main.file=" + file,
                        "--set", "host.main.out=/nowhere/out")
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertIn("n0.prog0: out: cannot write '/nowhere/out'", p.stderr)

    def test_file_without_a_program_is_refused(self):
        said = self.refused(os.path.abspath(__file__))
        self.assertIn("n0.prog0", said)
        self.assertIn("cc -shared -fPIC", said)


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class Names(unittest.TestCase):
    """Names that published programs open, and a name from anywhere."""
    SOURCE = r"""
#include <stdio.h>
#include "vipl.h"
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		VIP_NIC_HANDLE nic;
		VIP_NIC_ATTRIBUTES a = { 0 };
		VIP_RETURN ret = VipOpenNic(argv[i], &nic);
		if (ret == VIP_SUCCESS)
			VipQueryNic(nic, &a);
		printf("%s: %d %s %d %d\n", argv[i], ret, a.Name,
		       (int)a.ReliabilityLevelSupport, a.MaxCQ > 0);
	}
	return 0;
}
"""

    def test_published_names_open_the_nic(self):
        with tempfile.TemporaryDirectory() as tmp:
            file = os.path.join(tmp, "names.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-w", "-xc", "-", "-o",
                            file, "-I" + os.path.join(ROOT, "include")],
                           input=self.SOURCE, text=True, check=True)

            def opens(names, *more):
                return said(
                    os.path.join(ROOT, "examples", "vipl", "two.yaml"),
                    "--set", "host.main.file=" + file, *more,
                    "--set", "host.main.args=" + names)[1]

            out = opens("hvia0 hvia0+cq /dev/clanvi0 /dev/via_lo nic0 "
                        "VINIC0 hvia7 clanvi7 eth0 nic via_lop")
            for line in ("hvia0: 0 hvia0 1 0", "hvia0+cq: 0 hvia0 1 1",
                         "/dev/clanvi0: 0 hvia0 7 1", "nic0: 0 hvia0 7 1",
                         "/dev/via_lo: 0 hvia0 7 1", "VINIC0: 0 hvia0 7 1",
                         "hvia7: 3", "clanvi7: 3", "eth0: 2", "nic: 2",
                         "via_lop: 2"):
                self.assertIn("n0.prog0: " + line, out)
            out = opens("eth0", "--set", "host.main.nic=hvia0+reliable")
            self.assertIn("n0.prog0: eth0: 0 hvia0 7 0", out)


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class Clocks(unittest.TestCase):
    """Clocks of a program are those of its node, and sleeping costs nothing."""
    SOURCE = r"""
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	struct timespec ts = { -1, -1 };
	struct timeval tv = { -1, -1 };
	time_t t = -1;
	sleep(3);
	usleep(500000);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	gettimeofday(&tv, NULL);
	printf("clock %d.%d\n", (int)ts.tv_sec, (int)(ts.tv_nsec / 100000000));
	printf("day %d.%d\n", (int)tv.tv_sec, (int)(tv.tv_usec / 100000));
	printf("time %d", (int)time(&t));
	printf(" %d\n", (int)t);
	return 0;
}
"""

    def test_clocks_are_those_of_the_node(self):
        with tempfile.TemporaryDirectory() as tmp:
            file = os.path.join(tmp, "clocks.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", file],
                           input=self.SOURCE, text=True, check=True)
            out = said(os.path.join(ROOT, "examples", "vipl", "two.yaml"),
                       "--set", "host.main.file=" + file)[1]
        for line in "clock 3.5\n", "day 3.5\n", "time 3 3\n":
            self.assertIn("n0.prog0: " + line, out)


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class Checked(unittest.TestCase):
    """A compiler with _FORTIFY_SOURCE calls __printf_chk for printf."""
    SOURCE = r"""
int __printf_chk(int flag, const char *fmt, ...);
int main(int argc, char **argv)
{
	int n = __printf_chk(1, "%s %d %s %.1f\n", "text", 42, argv[1], 2.5);

	__printf_chk(1, "%d bytes\n", n);
	return 0;
}
"""

    def test_checked_printf_writes_its_arguments(self):
        with tempfile.TemporaryDirectory() as tmp:
            file = os.path.join(tmp, "checked.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", file],
                           input=self.SOURCE, text=True, check=True)
            out = said(os.path.join(ROOT, "examples", "vipl", "two.yaml"),
                       "--set", "host.main.file=" + file,
                       "--set", "host.main.args=word")[1]
        for line in "text 42 word 2.5\n", "17 bytes\n":
            self.assertIn("n0.prog0: " + line, out)


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class Ends(unittest.TestCase):
    """How a program may end."""
    SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	printf("%d words\n", argc - 1);
	if (!strcmp(argv[1], "exit"))
		exit(3);
	if (!strcmp(argv[1], "abort"))
		abort();
	for (volatile int i = 0; !strcmp(argv[1], "spin"); i++)
		;
	if (!strcmp(argv[1], "crash"))
		*(volatile int *)16 = 1;
	return 0;
}
"""

    @classmethod
    def setUpClass(cls):
        cls.tmp = tempfile.TemporaryDirectory()
        cls.file = os.path.join(cls.tmp.name, "ends.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", cls.file],
                       input=cls.SOURCE, text=True, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.tmp.cleanup()

    def ends(self, args):
        return execute("run",
                       os.path.join(ROOT, "examples", "vipl", "two.yaml"),
                       "--set", "host.main.file=" + self.file,
                       "--set", "host.main.args=" + args)

    def test_program_that_returns_ends_well(self):
        p = self.ends("well " * 50)
        self.assertEqual(p.returncode, 0)
        self.assertIn("n1.prog0: 50 words", p.stderr)

    def test_status_of_a_program_is_reported(self):
        p = self.ends("exit")
        self.assertEqual(p.returncode, 1)
        self.assertIn("n0.prog0: ended with 3", p.stderr)

    def test_abort_of_a_program_is_reported(self):
        p = self.ends("abort")
        self.assertEqual(p.returncode, 1)
        self.assertIn("n0.prog0: aborted", p.stderr)

    def test_spinning_program_ends_with_the_first_signal(self):
        p = subprocess.Popen(
            [WEFT, "run", os.path.join(ROOT, "examples", "vipl", "two.yaml"),
             "--set", "host.main.file=" + self.file,
             "--set", "host.main.args=spin"],
            stderr=subprocess.PIPE, text=True)
        try:
            while "1 words" not in p.stderr.readline():
                self.assertIsNone(p.poll())
            p.send_signal(signal.SIGTERM)
            said = p.communicate(timeout=100)[1]
        finally:
            p.kill()
        self.assertEqual(p.returncode, -signal.SIGTERM)
        self.assertIn("n0.prog0 computes without a call", said)

    def test_crash_of_a_program_names_its_address(self):
        """It takes the simulator with it, but not without a word."""
        p = self.ends("crash")
        # a sanitizer has the last word, and aborts
        self.assertIn(p.returncode, (-signal.SIGSEGV, -signal.SIGABRT))
        self.assertIn(" in n0.prog0 (host.main) at ", p.stderr)
        self.assertIn("address 0x10\n", p.stderr)


if __name__ == "__main__":
    unittest.main()
