#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft import dumpi` and `weft import otf2`: recorded calls of MPI become
packets that wait for what their rank has received, collectives become the
messages of the algorithms that docs/networks.md names, and a file that is
damaged, cut off or endless is refused with its line.

    test_import_mpi.py WEFT [unittest options]
"""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
INT, DOUBLE, OWN = 9, 14, 28
WORLD = "MPI_Comm comm=2 (MPI_COMM_WORLD)"
IGNORED = "MPI_Status status=<IGNORED>"


class Rank:
    """Calls of a rank as dumpi2ascii prints them."""
    def __init__(self, rank, ranks):
        self.ns, self.lines = 17 * 10**9, []
        self.call("Init", "int argc=1", 'string argv[1]=["./a.out"]')
        self.call("Comm_rank", WORLD, f"int rank={rank}")
        self.call("Comm_size", WORLD, f"int size={ranks}")

    def call(self, name, *params, took=100):
        def line(verb):
            at = f"{self.ns // 10**9}.{self.ns % 10**9:09}"
            return (f"MPI_{name} {verb} at walltime {at}, cputime "
                    f"0.000000001 seconds in thread 0.")
        self.lines.append(line("entering"))
        self.lines += params
        self.ns += took
        self.lines.append(line("returning"))
        self.ns += 900

    def message(self, name, peer, count, tag=1, comm=WORLD, more=()):
        side = "source" if "ecv" in name else "dest"
        self.call(name, f"int count={count}",
                  f"MPI_Datatype datatype={INT} (MPI_INT)",
                  f"int {side}={peer}", f"int tag={tag}", comm, *more)

    def send(self, peer, count, **how):
        self.message("Send", peer, count, **how)

    def recv(self, peer, count, **how):
        self.message("Recv", peer, count, more=[IGNORED], **how)

    def text(self):
        self.call("Finalize")
        return "\n".join(
            ["version=1.1.0", "meshsize=[]"] + self.lines +
            ["Total keyvals: 0", "MPI_Send called 1 times and ignored 0 times",
             f"Datatype {INT} (MPI_INT) has size 4",
             f"Datatype {OWN} (user-defined-datatype) has size 24", ""])


# name, parameters for n ranks and root r, bytes of all messages
COLLECTIVES = {
    "Barrier": (lambda n, r: [], lambda n: [0] * (n * (n - 1).bit_length())),
    "Bcast": (lambda n, r: ["int count=2", "MPI_Datatype datatype=9 (MPI_INT)",
                            f"int root={r}"], lambda n: [8] * (n - 1)),
    "Reduce": (lambda n, r: ["int count=2", "MPI_Datatype datatype=9 (MPI_INT)",
                             "MPI_Op op=3 (MPI_SUM)", f"int root={r}"],
               lambda n: [8] * (n - 1)),
    "Allreduce": (lambda n, r: ["int count=2",
                                "MPI_Datatype datatype=9 (MPI_INT)"],
                  lambda n: [8] * (n * (n - 1).bit_length()
                                   if n & (n - 1) == 0 else 2 * (n - 1))),
    "Gather": (lambda n, r: ["int sendcount=3",
                             "MPI_Datatype sendtype=9 (MPI_INT)",
                             f"int root={r}"], lambda n: [12] * (n - 1)),
    "Scatterv": (lambda n, r: ["int recvcount=3",
                               "MPI_Datatype recvtype=9 (MPI_INT)",
                               f"int root={r}"], lambda n: [12] * (n - 1)),
    "Allgather": (lambda n, r: ["int sendcount=5",
                                "MPI_Datatype sendtype=9 (MPI_INT)"],
                  lambda n: [20] * (n * (n - 1))),
    "Alltoall": (lambda n, r: ["int sendcount=1",
                               "MPI_Datatype sendtype=14 (MPI_DOUBLE)"],
                 lambda n: [8] * (n * (n - 1))),
    "Alltoallv": (lambda n, r: [
        f"int commsize={n}",
        f"int sendcounts[{n}]=[{', '.join(str(i) for i in range(n))}]",
        "MPI_Datatype sendtype=9 (MPI_INT)"],
        lambda n: [4 * to for to in range(n) for _ in range(n - 1)]),
    "Reduce_scatter": (lambda n, r: [
        f"int recvcounts[{n}]=[{', '.join(['2'] * n)}]",
        "MPI_Datatype datatype=9 (MPI_INT)"],
        lambda n: [8] * (n * (n - 1))),
    "Scan": (lambda n, r: ["int count=1", "MPI_Datatype datatype=9 (MPI_INT)"],
             lambda n: [4] * (n - 1)),
}
# Ranks for which each rank must have waited, when the operation has ended.
ALL = "Barrier Allreduce Allgather Alltoall Alltoallv Reduce_scatter".split()

# real output of otf2-print 3.0.2 -A for the archive of otf2_archive.c
OTF2_EXPECTED = """0 0 1 4096 0
0 0 1 904 1 >0
10 0 2 16 2 >1
40 2 0 8 3 2
40 1 0 8 4 1
40 0 1 8 5 >2,3,4
40 0 2 8 6 >5
60 1 2 8 7 >4,5
60 1 0 8 8 >7
80 1 0 0 9 >8
80 0 1 0 a >6,8
"""
OTF2_TEXT = open(os.path.join(HERE, "otf2_archive.txt")).read()


class Import(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def weft(self, *args, **more):
        return subprocess.run([WEFT, *args], cwd=self.dir.name, text=True,
                              capture_output=True, timeout=60, **more)

    def dumpi(self, *texts, args=()):
        names = []
        for i, text in enumerate(texts):
            names.append(f"r{i}.txt")
            with open(self.path(names[-1]), "w") as f:
                f.write(text)
        return self.weft("import", "dumpi", *names, *args)

    def otf2(self, text, *args):
        with open(self.path("o.txt"), "w") as f:
            f.write(text)
        return self.weft("import", "otf2", "o.txt", *args)

    def lines(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return [l.split() for l in done.stdout.splitlines() if l[0] != "#"]

    def packets(self, ranks, *args):
        return self.lines(self.dumpi(*(r.text() for r in ranks), args=args))

    def refused(self, done, *expected):
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        for e in expected:
            self.assertIn(e, done.stderr)
        self.assertTrue(done.stderr.replace("\n", "").isprintable())

    # ---- dumpi ----

    def two(self):
        return [Rank(0, 2), Rank(1, 2)]

    def test_messages_have_times_sizes_and_what_they_wait_for(self):
        a, b = self.two()
        a.send(1, 1500)
        b.recv(0, 1500)
        b.send(0, 1)
        b.send(0, 0)
        a.recv(1, 1)
        a.send(1, 2)
        self.assertEqual(self.packets([a, b]), [
            "0 0 1 4096 0".split(), "0 0 1 1904 1 >0".split(),
            "1000 1 0 4 2 1".split(), "2000 1 0 0 3 >2".split(),
            "2000 0 1 8 4 >1,2".split()])
        self.assertEqual(self.packets([a, b], "packet=3000", "cycle=2us",
                                      "waits=no"), [
            "0 0 1 3000".split(), "0 0 1 3000".split(), "1 0 1 8".split(),
            "0 1 0 4".split(), "1 1 0 0".split()])

    def test_requests_end_in_waits_and_tests(self):
        status = "{bytes=4, cancelled=0, source=%d, tag=%d, error=0}"
        a, b = self.two()
        for tag in range(5):
            a.send(1, 1, tag=tag)
        for tag, request in ((0, 2), (1, 3), (2, 4), (-1, 5), (4, 6)):
            b.message("Irecv", -1 if tag < 0 else 0, 1, tag=tag,
                      more=[f"MPI_Request request=[{request}]"])
        b.message("Isend", 0, 1, tag=9, more=["MPI_Request request=[7]"])
        b.call("Wait", "MPI_Request request=[3]", IGNORED)
        b.send(0, 1, tag=9)
        b.call("Test", "MPI_Request request=[2]", "int flag=0", IGNORED)
        b.call("Waitany", "int count=2", "MPI_Request requests[2]=[2, 5]",
               "int index=1", "MPI_Status status=[" + status % (0, 3) + "]")
        b.send(0, 1, tag=9)
        b.call("Waitsome", "int count=2", "MPI_Request requests[2]=[2, 6]",
               "int outcount=1", "int indices[1]=[1]",
               "MPI_Status statuses[1]=<IGNORED>")
        b.call("Test", "MPI_Request request=[7]", "int flag=1", IGNORED)
        b.send(0, 1, tag=9)
        b.call("Waitall", "int count=3", "MPI_Request requests[3]=[2, 1, 4]",
               "MPI_Status statuses[3]=<IGNORED>")
        b.send(0, 1, tag=9)
        for _ in range(5):
            a.recv(1, 1, tag=9)
        back = [p for p in self.packets([a, b]) if p[1] == "1"]
        self.assertEqual([p[5:] for p in back],
                         [[], [">5,1"], [">6,3"], [">7,4"], [">8,0,2"]])

    def test_persistent_requests_send_at_each_start(self):
        a, b = self.two()
        a.message("Send_init", 1, 3, more=["MPI_Request request=[2]"])
        b.message("Recv_init", 0, 3, more=["MPI_Request request=[2]"])
        for _ in range(2):
            a.call("Start", "MPI_Request request=[2]")
            a.call("Wait", "MPI_Request request=[2]", IGNORED)
            b.call("Startall", "int count=1", "MPI_Request requests[1]=[2]")
            b.call("Wait", "MPI_Request request=[2]", IGNORED)
            b.send(0, 1)
            a.recv(1, 1)
        found = self.packets([a, b])
        self.assertEqual(sorted(p[1] + p[2] + p[3] for p in found),
                         ["0112"] * 2 + ["104"] * 2)

    def test_sendrecv_null_ranks_and_own_datatypes(self):
        a, b = self.two()
        for r, to in ((a, 1), (b, -1)):
            r.call("Sendrecv", "int sendcount=2",
                   f"MPI_Datatype sendtype={OWN} (user-defined-datatype)",
                   f"int dest={to}", "int sendtag=4", "int recvcount=2",
                   f"MPI_Datatype recvtype={OWN} (user-defined-datatype)",
                   f"int source={-1000 if to == 1 else 0}", "int recvtag=4",
                   WORLD, IGNORED)
        self.assertEqual([p[1:4] for p in self.packets([a, b])],
                         [["0", "1", "48"]])

    def test_a_split_renumbers_its_ranks(self):
        ranks = [Rank(i, 6) for i in range(6)]
        for i, r in enumerate(ranks):
            r.call("Comm_split", "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)",
                   f"int color={i % 2}", f"int key={-i}",
                   f"MPI_Comm newcomm={5 + i} (user-defined-comm)")
            r.call("Comm_dup", f"MPI_Comm oldcomm={5 + i} (user-defined-comm)",
                   f"MPI_Comm newcomm=4 (user-defined-comm)")
        for i in (4, 5):
            ranks[i].send(2, i, comm="MPI_Comm comm=4 (user-defined-comm)")
        self.assertEqual(sorted(p[1:4] for p in self.packets(ranks)),
                         [["4", "0", "16"], ["5", "1", "20"]])

    def after(self, name, n, root):
        """Packets of a collective, then of a send by each rank, and for each
        rank those whose packets its send has waited for."""
        ranks = [Rank(i, n) for i in range(n)]
        params = COLLECTIVES[name][0](n, root)
        for i, r in enumerate(ranks):
            r.call(name, *params, WORLD)
            r.send((i + 1) % n, 77, tag=3)
        found = self.packets(ranks)
        sources, last = {}, {}
        for p in found:
            ids = p[5].replace(">", "").split(",") if len(p) > 5 else []
            sources[p[4]] = {int(p[1])}.union(*(sources[i] for i in ids))
            if p[3] == "308":
                last[int(p[1])] = sources[p[4]]
        return [p for p in found if p[3] != "308"], last

    def test_collectives_send_the_messages_of_their_algorithm(self):
        for name, (_, sizes) in COLLECTIVES.items():
            for n in (2, 3, 4, 5, 8, 9):
                root = n // 2
                with self.subTest(name=name, n=n):
                    found, last = self.after(name, n, root)
                    self.assertEqual(sorted(int(p[3]) for p in found),
                                     sorted(sizes(n)))
                    for rank in range(n):
                        seen = set(range(n)) if name in ALL else {rank}
                        if name in ("Reduce", "Gather") and rank == root:
                            seen = set(range(n))
                        if name in ("Bcast", "Scatterv"):
                            seen = {rank, root}
                        if name == "Scan":
                            seen = set(range(rank + 1))
                        self.assertLessEqual(seen, last[rank], rank)

    def test_a_trace_runs_on_a_network(self):
        ranks = [Rank(i, 8) for i in range(8)]
        for r in ranks:
            r.call("Alltoall", "int sendcount=64",
                   "MPI_Datatype sendtype=9 (MPI_INT)", WORLD)
        names = []
        for i, r in enumerate(ranks):
            names.append(f"r{i}.txt")
            with open(self.path(names[-1]), "w") as f:
                f.write(r.text())
        self.lines(self.weft("import", "dumpi", *names, "--out", "t.trace"))
        with open(self.path("e.yaml"), "w") as f:
            f.write("traffic: { type: net.source, count: 8, trace: t.trace }\n"
                    "fabric: { type: routed, topology: torus, dims: [8] }\n"
                    "run: { until: 1ms }\n")
        done = self.weft("run", "e.yaml", "--quiet", "--format", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"net\.completion")
        self.assertRegex(done.stdout, r"net\.received[^\n]*56")

    def test_wrong_files_are_refused_with_their_line(self):
        a, b = self.two()
        a.send(1, 1)
        b.recv(0, 1)
        at, good = a.text(), b.text()
        line = at[:at.index("MPI_Send entering")].count("\n") + 1
        for old, new, expected in (
                ("int count=1", "int count=-1", f"r0.txt:{line}: MPI_Send"),
                ("int count=1", "int count=9999999999", "which cannot be"),
                ("int count=1", "int kount=1", "lacks its parameter count"),
                ("int count=1", "something", f"r0.txt:{line + 1}: 'something'"),
                ("int dest=1", "int dest=2", "rank 2 is none of the 2"),
                ("comm=2", "comm=77", ""),
                ("MPI_INT)", "MPI_INT", ""),
                (f"datatype={INT}", "datatype=5000",
                 "datatype 5000 has no size"),
                ("17.000002000", "17.00000200", "nine digits"),
                ("17.000002000", "-1.000002000", "SECONDS.NANOSECONDS"),
                ("17.000002000", "18.000002000",
                 "it returns before it was entered"),
                ("int rank=0", "int rank=1", "the file of rank 1"),
                ("int size=2", "int size=3", "a program of 3 ranks"),
                ("version=", "\x1b[31m", "no line of dumpi2ascii"),
                ("MPI_Send", "MPI_Put", "MPI_Put has no counterpart")):
            with self.subTest(new):
                text = at.replace(old, new)
                done = self.dumpi(text, good)
                if expected:
                    self.refused(done, expected)
        self.refused(self.dumpi(at, good.replace("int tag=1", "int tag=2")),
                     "rank 1 receives a message of rank 0 with tag 2",
                     f"r1.txt:{line}:")
        self.refused(self.dumpi(at, good.replace("source=0", "source=-1")),
                     "waits=no, would do")
        self.refused(self.dumpi(at.replace("comm=2 (MPI_COMM_WORLD)\n"
                                           "MPI_Send r", "comm=9 (x)\n"
                                           "MPI_Send r"), good),
                     "communicator 9 is unknown")
        self.refused(self.dumpi(at + "\0", good), "a byte 0 in a text")
        self.refused(self.dumpi("x" * (5 << 20), good), "r0.txt:1: a line of")
        self.refused(self.dumpi("", good), "r0.txt:1: no MPI_Finalize")
        self.refused(self.dumpi(at, good, args=["cycle=0ns"]), "cycle=0ns")
        self.refused(self.dumpi(at, good, args=["pakcet=1"]), "pakcet=1")
        self.refused(self.weft("import", "dumpi", "."), "is a directory")

    def test_a_file_that_is_cut_off_is_refused(self):
        a = Rank(0, 1)
        a.send(0, 1)
        a.recv(0, 1)
        text = a.text()
        end = text.index("Total keyvals")
        last = text.index("MPI_Finalize returning")
        for cut in list(range(0, last, 7)) + [last]:
            done = self.dumpi(text[:cut])
            self.assertEqual(done.returncode, 2, cut)
            self.assertRegex(done.stderr, r"^weft: r0.txt:\d+: ")
        self.assertEqual(self.dumpi(text[:end]).returncode, 0)

    def test_collectives_that_do_not_fit_are_refused(self):
        a, b = self.two()
        a.call("Barrier", WORLD)
        self.refused(self.dumpi(a.text(), b.text()),
                     "rank 0 waits here for other ranks")
        b.call("Allreduce", "int count=1", "MPI_Datatype datatype=9 (MPI_INT)",
               WORLD)
        self.refused(self.dumpi(a.text(), b.text()),
                     "calls another collective operation here, on line")
        a, b = self.two()
        for i, r in enumerate((a, b)):
            r.call("Bcast", "int count=1", "MPI_Datatype datatype=9 (MPI_INT)",
                   f"int root={i}", WORLD)
        self.refused(self.dumpi(a.text(), b.text()), "root 1 here, but 0")
        a, b = self.two()
        for i, r in enumerate((a, b)):
            r.call("Alltoallv", "int sendcounts[3]=[1, 2, 3]",
                   "MPI_Datatype sendtype=9 (MPI_INT)", WORLD)
        self.refused(self.dumpi(a.text(), b.text()), "3 counts for 2 ranks")

    def test_endless_input_ends(self):
        done = self.weft("import", "dumpi", "/dev/zero")
        self.refused(done, "/dev/zero:1: a byte 0")
        for form in ("dumpi", "otf2"):
            done = subprocess.run(f"yes | '{WEFT}' import {form} -", text=True,
                                  shell=True, capture_output=True, timeout=60)
            self.refused(done, "standard input:")
        a, b = self.two()
        for _ in range(64):
            a.message("Send", 1, 2**31 - 2)
        self.refused(self.dumpi(a.text(), b.text(), args=["packet=1"]),
                     "packet=BYTES larger than 1")

    # ---- otf2 ----

    def test_otf2_text_becomes_packets(self):
        done = self.otf2(OTF2_TEXT)
        self.assertEqual("".join(" ".join(p) + "\n" for p in self.lines(done)),
                         OTF2_EXPECTED)
        piped = self.weft("import", "otf2", "-", input=OTF2_TEXT)
        self.assertEqual(piped.stdout, done.stdout)

    def test_otf2_archive_of_its_library_becomes_packets(self):
        if not shutil.which("otf2-print") or not shutil.which("otf2-config"):
            self.skipTest("no otf2-tools and libotf2-trace-dev")
        built = subprocess.run(
            f"${{CC:-cc}} {HERE}/otf2_archive.c $(otf2-config --cflags) "
            "$(otf2-config --ldflags) -lopen-trace-format2 -o archive && "
            "./archive t && otf2-print -A t/traces.otf2", shell=True, text=True,
            cwd=self.dir.name, capture_output=True)
        self.assertEqual(built.returncode, 0, built.stderr)
        done = self.otf2(built.stdout)
        self.assertEqual("".join(" ".join(p) + "\n" for p in self.lines(done)),
                         OTF2_EXPECTED)
        same = r"(?m)^(Trace identifier|Version) .*\n"
        self.assertEqual(re.sub(same, "", built.stdout),
                         re.sub(same, "", OTF2_TEXT))

    def test_wrong_otf2_text_is_refused_with_its_line(self):
        lines = OTF2_TEXT.split("\n")
        send = next(i for i, l in enumerate(lines) if l.startswith("MPI_SEND"))
        for old, new, expected in (
                ("Length: 5000", "Length: many", f"o.txt:{send + 1}: 'MPI_SEND"),
                ("Receiver: 1 ", "Receiver: 9 ", "rank 9 is none of the 3"),
                ("Receiver: 1 ", "Receiver: UNDEFINED ", "no partner"),
                ("Ticks per Seconds: 1000000000", "Ticks", "no ticks"),
                ("# Events: 9", "# Events: 10", "location 10 has 10 events"),
                ("=== Global", "=== Some", "otf2-print -A"),
                ("COMM_LOCATIONS", "COMM_NOTHING", "otf2-print -A"),
                ("Root: 1 (", "Root: 7 (", "root 7 is not among 3"),
                ("<0>, Tag: 7, Length: 5000", "<44>, Tag: 7, Length: 5000",
                 "communicator 44 is unknown"),
                ("3 Members: \"main\"", "4 Members: \"main\"", "missing"),
                ("3 Members: \"main\"", "2 Members: \"main\"", "more members"),
                ("MPI_IRECV_REQUEST  ", "RMA_PUT            ", "two-sided"),
                ("COMM                                   2", "COMM x",
                 "a definition has a number"),
                ("MPI_RECV                                      10",
                 "MPI_RECV                                      11",
                 "its location was not defined")):
            with self.subTest(new):
                self.assertIn(old, OTF2_TEXT)
                self.refused(self.otf2(OTF2_TEXT.replace(old, new)), "o.txt:",
                             expected)
        self.refused(self.otf2("\n".join(lines[:-4])), "is the text whole")
        self.refused(self.otf2(""), "no events")
        self.refused(self.otf2(OTF2_TEXT, "more.txt"), "one file")

    def test_no_damaged_file_crashes_it(self):
        rng = random.Random(7)
        ranks = [Rank(i, 3) for i in range(3)]
        for i, r in enumerate(ranks):
            r.send((i + 1) % 3, 5)
            for name, (params, _) in COLLECTIVES.items():
                r.call(name, *params(3, 1), WORLD)
            r.recv((i + 2) % 3, 5)
        texts = [r.text() for r in ranks]

        def damage(text):
            text = list(text)
            for _ in range(rng.randint(1, 5)):
                at = rng.randrange(len(text))
                if rng.random() < 0.5:
                    text[at] = rng.choice("0123456789-[]<>()\", =\nxZ\x7f")
                else:
                    del text[at:at + rng.randint(1, 40)]
            return "".join(text)

        for _ in range(60):
            for done in (self.dumpi(damage(texts[0]), *texts[1:]),
                         self.otf2(damage(OTF2_TEXT))):
                self.assertIn(done.returncode, (0, 2))
                if done.returncode:
                    self.assertTrue(done.stderr.startswith("weft: "))


if __name__ == "__main__":
    del sys.argv[1]
    unittest.main()
