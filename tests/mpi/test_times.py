# SPDX-License-Identifier: Apache-2.0
"""Simulated time inside MPI programs: equal in every run, on one core and on
two; the sum of the NIC's time and the software's parameters.

    test_times.py WEFT ROOT BUILD [test...]

BUILD holds all64 and times."""
import os
import re
import sys
import unittest

import mpilib

BUILD = sys.argv.pop(1)
ALL64 = os.path.join(BUILD, "all64")
TIMES = os.path.join(BUILD, "times")
HEADER = 32  # of a short message of the provider, docs/libfabric.md
COST_CALL = 100  # ns, host.agent.cost_call
# On the way of a short message, in the nodes' processors (docs/mpi.md)
EP_IMM = 8  # bytes of the endpoint beside the message
EP_CALL = 20  # ns, each of its calls
EP_COPY = 5  # ns, 40 bytes at 8 GB/s
SOFTWARE = 2 * COST_CALL + 2 * EP_CALL + EP_COPY


def run(n, machine, *argv, options=()):
    launcher = mpilib.Weft("--fabric", machine, *options)
    with mpilib.Place() as place:
        return launcher.run(n, list(argv), place.path, timeout=250)


def halves(nic, what, size, rounds, *options):
    p = run(2, "exec/%s-pair" % nic, TIMES, what, str(size), str(rounds),
            options=options)
    return [float(x) for x in re.findall(r"^half (\S+) ns$", p.stdout, re.M)]


def simulated(experiment, *settings):
    """A program of the simulator: no process, no MPI, no libfabric."""
    return mpilib.weftlib.run(experiment, "expect={}", *settings)


def as_a_layer(nic, size, rounds):
    """Returns every round of a simulated program that makes these calls of
    the common endpoint on an equal machine."""
    driver = "{ program: hostport.driver }, " if nic == "hostport" else ""
    r = simulated("exec/%s-pair" % nic, "workload=[%s{ program: ep.pingpong, "
                  "size: %d, count: %d, layer: yes, head: %d, call: %dns, "
                  "start: 10ms }]" % (driver, size, rounds, HEADER, COST_CALL))
    return next(s["y"] for k, s in r.series.items() if k.endswith(".round"))


def velo(size, software, rounds):
    return simulated("extoll/pingpong", "workload.size=%d" % size,
                     "workload.think=%dns" % software, "workload.count=%d" %
                     rounds).metrics["n0.prog0.half_rtt"]


def put_rate(notify):
    return simulated("extoll/rma-put-bw", "workload.count=400",
                     "workload.notify=" + notify).metrics[
                         "n0.prog0.bandwidth"]


def put_time(count):
    p = run(2, "exec/extoll-pair", TIMES, "put", "4096", str(count))
    return count * float(re.search(r"put (\S+) ns", p.stdout)[1])


def streams(*pairs):
    """MB/s of each, while all of them flow."""
    p = run(8, "exec/extoll-eight", TIMES, "streams", "65536", "24", *pairs)
    got = {k: [] for k in pairs}
    for k, n, t in re.findall(r"^(\d:\d) (\d+) (\S+)$", p.stdout, re.M):
        got[k].append((float(t), int(n)))
    end = min(v[-1][0] for v in got.values())
    rates = {}
    for k, v in got.items():
        v = [x for x in v if x[0] <= end]
        rates[k] = (v[-1][1] - v[0][1]) / (v[-1][0] - v[0][0]) * 1e3
    return rates


@unittest.skipIf(mpilib.MPIRUN is None, "no mpirun")
class Times(unittest.TestCase):
    def test_mpi_takes_equal_times_on_one_core_and_two(self):
        """Output of the program, and all counters."""
        said, files = [], []
        for cores in "1", "2":
            with mpilib.Place() as place:
                p = mpilib.Weft("--fabric", "exec/extoll-eight", "--cores",
                                cores, "--out", "r.db").run(
                                    4, [ALL64, "-t"], place.path, timeout=250)
                with open(os.path.join(place.path, "r.db"), "rb") as f:
                    files.append(f.read())
            self.assertIn("all64: 4 ranks, 0 failed", p.stdout)
            self.assertIn("(exact)", p.stderr)
            said.append(p.stdout)
        self.assertGreater(said[0].count(" us\n"), 50)
        self.assertEqual(said[0], said[1])
        self.assertTrue(files[0] == files[1], "results differ")

    def test_every_round_is_that_of_the_endpoint_and_the_calls(self):
        """Message by message, to the fs: MPI adds a header and the cost of
        calls, nothing else."""
        for nic, size in (("extoll", 8), ("extoll", 1024),
                          ("forth", 8), ("hostport", 8)):
            with self.subTest(nic, size=size):
                got = halves(nic, "pingpong", size, 40)
                self.assertEqual(len(got), 40)
                for a, b in zip(got, as_a_layer(nic, size, 40)):
                    self.assertAlmostEqual(a, b, delta=2e-6)

    def test_short_message_is_velo_and_the_software(self):
        """EX-02 of `weft reproduce`, with the bytes that are sent and the
        processor time that is spent.  Messages that return credits are kept
        away: they move clock edges."""
        got = halves("extoll", "mean", 8, 400, "--set",
                     "host.agent.rx_slots=1000")[0]
        want = velo(8 + HEADER + EP_IMM, SOFTWARE, 400)
        self.assertAlmostEqual(got, want, delta=0.1)
        self.assertAlmostEqual(velo(8, 0, 100), 1158.435, delta=0.0005)
        # with credits: to the nanosecond
        self.assertAlmostEqual(halves("extoll", "mean", 8, 400)[0], want,
                               delta=1)

    def test_contents_are_there_before_an_untimed_event(self):
        """Untimed a process may look as soon as an event is there: what it
        tells of is there before."""
        p = run(4, "exec/forth-eight", TIMES, "swap", "8192", "1500",
                options=["--clock", "none"])
        self.assertEqual(p.stdout.count("swap 0 wrong\n"), 4, p.stdout)

    def test_put_stream_is_as_fast_as_the_rma(self):
        """4 KB puts: what another one takes is what the RMA needs for a put
        and a notification (EX-06 is without it), and 1 in 8 messages of
        credits."""
        bare, told = put_rate("no"), put_rate("yes")
        got = 152 * 4096e3 / (put_time(200) - put_time(48))
        self.assertLess(got, told)
        self.assertGreater(got, 0.995 * told)
        self.assertGreater(got, 0.99 * bare)

    def test_two_streams_share_a_link_evenly(self):
        """0 -> 7 goes by 1 and 3; 1 -> 3 takes the same link, 4 -> 6 does
        not."""
        apart = streams("0:7", "4:6")
        both = streams("0:7", "1:3")
        alone = apart["0:7"]
        self.assertAlmostEqual(apart["4:6"], alone, delta=0.01 * alone)
        self.assertAlmostEqual(sum(both.values()), alone, delta=0.02 * alone)
        for v in both.values():
            self.assertAlmostEqual(v, alone / 2, delta=0.05 * alone)


if __name__ == "__main__":
    unittest.main()
