#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that call weft/host.h themselves (weft exec --raw): the same times
as the same source in the simulator; what they may not do is refused.

    test_raw.py WEFT ROOT BUILD
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

WEFT, ROOT, BUILD = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
PINGPONG = ("examples/attach-pingpong", "examples/attach_pingpong.so")
LIBS = ("tests/raw/raw_libs", "tests/raw/raw_libs.so")
WILD = os.path.join(BUILD, "tests/raw/raw_wild")
PORTS = os.path.join(BUILD, "tests/raw/raw_ports")
ENV = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}


def weft(*args, timeout=60):
    return subprocess.run([WEFT, *args], capture_output=True, text=True,
                          timeout=timeout, env=ENV)


def attached(machine, file, *args, sets=(), more=()):
    """Lines of the processes, sorted; hand-overs; causality violations."""
    more = list(more)
    for s in sets:
        more += ["--set", s]
    p = weft("exec", "--raw", "--fabric", machine, *more, "--",
             os.path.join(BUILD, file), *args)
    m = re.search(r"(\d+) hand-overs, (\d+) causality", p.stderr)
    if p.returncode or not m:
        raise AssertionError("status %d\n%s%s" % (p.returncode, p.stdout,
                                                  p.stderr))
    return sorted(p.stdout.splitlines()), int(m[1]), int(m[2])


def machine_text(machine):
    """Without its workload."""
    with open(os.path.join(ROOT, "experiments", machine + ".yaml")) as f:
        return f.read().split("workload:")[0]


def main(file, *args, on=""):
    return "{program: host.main, file: %s, args: '%s'%s}" % (
        os.path.join(BUILD, file), " ".join(args), on)


def simulated(machine, file, *args, driver=None):
    """Returns the output of the programs in the simulator, on this machine."""
    progs = ["{program: %s}" % driver] if driver else []
    return programs(machine, progs + [main(file, *args)])


def programs(machine, progs):
    """Returns the sorted output of programs of the simulator."""
    with tempfile.TemporaryDirectory() as d:
        name = os.path.join(d, "machine.yaml")
        with open(name, "w") as f:
            f.write(machine_text(machine) +
                    "workload: [%s]\n" % ", ".join(progs))
        p = weft("run", "--quiet", name)
    if p.returncode:
        raise AssertionError(p.stderr)
    return sorted(re.sub(r"^n\d+\.prog\d+: ", "", line)
                  for line in p.stderr.splitlines())


class Same(unittest.TestCase):
    """To the femtosecond, and nothing was seen too early."""

    def same(self, machine, files, *args, messages=80, driver=None):
        machine = "exec/" + machine
        want = simulated(machine, files[1], *args, driver=driver)
        got, turns, late = attached(machine, files[0], *args)
        return self.compare(machine, args, want, got, turns, late, messages)

    def compare(self, machine, args, want, got, turns, late, messages):
        self.assertEqual(got, want)
        self.assertEqual(len(got), 2)
        self.assertEqual(late, 0)
        print("%s on %s: %s; %.2f hand-overs per message"
              % (args[0], machine, got[0], turns / messages))
        return turns

    def test_velo_times_are_those_of_the_simulator(self):
        turns = self.same("extoll-pair", PINGPONG, "velo", messages=200)
        # waiting, the first access after it; stores do not count
        self.assertLess(turns, 200 * 2.5)

    def test_rma_times_are_those_of_the_simulator(self):
        self.same("extoll-pair", LIBS, "rma")

    def test_forth_times_are_those_of_the_simulator(self):
        self.same("forth-pair", PINGPONG, "forth", messages=200)

    def test_hostport_times_are_those_of_the_simulator(self):
        """With the driver of the node, in the simulator."""
        for lib in "hostport", "ep":
            self.same("hostport-pair", LIBS, lib, driver="hostport.driver")

    def test_driver_in_the_process_takes_the_same_times(self):
        """The driver is a thread of its own."""
        machine = "exec/hostport-pair"
        with tempfile.TemporaryDirectory() as d:
            bare = os.path.join(d, "bare.yaml")
            with open(bare, "w") as f:
                f.write(machine_text(machine))
            for lib in "hostport-own", "ep-own":
                self.compare(machine, [lib], simulated(machine, LIBS[1], lib),
                             *attached(bare, LIBS[0], lib), 80)

    def test_vipl_times_are_those_of_the_simulator(self):
        """Memory of the process, threads of the kernel agent."""
        self.same("hvia-pair", LIBS, "vipl")

    def test_endpoint_times_are_those_of_the_simulator(self):
        self.same("extoll-pair", LIBS, "ep")
        self.same("forth-pair", LIBS, "ep")


class Post(unittest.TestCase):
    """Calls that do not wait."""

    def test_posted_calls_need_fewer_hand_overs(self):
        none, some, all_ = (attached("exec/extoll-pair", PINGPONG[0], "velo",
                                     sets=["host.agent.post=" + p])
                            for p in ("none", "free", "all"))
        self.assertEqual(none[0], some[0])
        self.assertEqual(none[2], 0)
        self.assertLess(some[1], none[1])
        self.assertLess(all_[1], some[1])

    def test_untimed_messages_need_fewer_hand_overs(self):
        lines, turns, _ = attached("exec/extoll-pair", PINGPONG[0], "velo",
                                   more=["--clock", "none"])
        self.assertEqual(len(lines), 2)
        self.assertLess(turns, 200 * 1.5)


class Refused(unittest.TestCase):
    def wild(self, what, machine="extoll-pair", n="1"):
        return weft("exec", "--raw", "--fabric", "exec/" + machine, "-n", n,
                    "--", WILD, what)

    def test_random_calls_leave_the_simulator_alive(self):
        for machine in ("extoll-pair", "forth-pair", "hostport-pair",
                        "hvia-pair"):
            for seed in ("1",):
                p = self.wild(seed, machine)
                self.assertIn(p.returncode, (0, 1), p.stderr)
                self.assertIn("simulated", p.stderr)

    def test_wild_command_ring_is_refused(self):
        self.assertIn("is detached: its command ring makes no sense",
                      self.wild("ring").stderr)

    def test_unknown_kind_of_call_is_refused(self):
        p = self.wild("kind")
        self.assertIn("is detached: no such call", p.stderr)
        self.assertEqual(p.returncode, 1)

    def test_drivers_without_end_are_refused(self):
        p = self.wild("drivers")
        self.assertIn("its drivers call each other without end", p.stderr)
        self.assertEqual(p.returncode, 1)

    def test_forked_child_is_ended_and_its_parent_goes_on(self):
        p = self.wild("fork")
        self.assertIn("child: 125, its parent goes on: yes", p.stdout)
        self.assertEqual(p.returncode, 0)

    def test_light_processes_are_for_the_simulator_only(self):
        p = weft("exec", "--raw", "--fabric", "exec/extoll-pair", "-n", "1",
                 "--", os.path.join(BUILD, LIBS[0]), "light")
        self.assertIn("light processes: no", p.stdout)
        self.assertIn("programs of the simulator only", p.stderr)

    def test_two_raw_processes_on_a_node_are_refused(self):
        p = weft("exec", "--raw", "--fabric", "exec/extoll-pair",
                 "--per-node", "2", "--", "true")
        self.assertEqual(p.returncode, 2)
        self.assertIn("both on node 0", p.stderr)

    def test_process_without_room_for_the_memory_of_its_node_says_so(self):
        """Also when its death ends the run at once."""
        p = weft("exec", "--raw", "--fabric", "exec/extoll-pair", "-n", "1",
                 "--set", "host.pc.mem_bytes=64GiB", "--", "sh", "-c",
                 "ulimit -v 1000000; exec %s light"
                 % os.path.join(BUILD, LIBS[0]))
        self.assertEqual(p.returncode, 1)
        self.assertIn("raw_libs: Cannot allocate memory", p.stderr)

    def test_process_with_own_calls_needs_raw(self):
        p = weft("exec", "--fabric", "exec/extoll-pair", "--",
                 os.path.join(BUILD, PINGPONG[0]), "velo")
        self.assertEqual(p.returncode, 1)
        self.assertIn("give --raw", p.stderr)

    def test_sleep_without_raw_does_not_join_the_node(self):
        """Of a program that is linked with libweft, but calls nothing of
        it."""
        p = weft("exec", "--fabric", "exec/extoll-pair", "-n", "1", "--quiet",
                 "--", "sh", "-c", "LD_PRELOAD=\"$LD_PRELOAD %s\" sleep 0.01"
                 % os.path.join(BUILD, "src/attach/libweft.so"))
        self.assertEqual((p.returncode, p.stderr), (0, ""))


class Several(unittest.TestCase):
    """Processes that share a node: each has a port, pages and memory of its
    own, and a partner on the other node."""

    def ports(self, *args, status=0, n="4"):
        p = weft("exec", "--raw", "--per-node", "2", "-n", n, "--fabric",
                 "exec/hostport-pair", "--", *args)
        self.assertEqual(p.returncode, status, p.stdout + p.stderr)
        return sorted(p.stdout.splitlines()), p.stderr

    def rounds(self, *n):
        return ["rank %u on node %u, VPID %u: %u of 12 rounds"
                % (r, r // 2, r % 2, k) for r, k in enumerate(n)
                if k is not None]

    def test_ports_of_a_node_play_side_by_side(self):
        """Messages, puts and gets of both at a time; every run the same."""
        got, said = self.ports(PORTS, "play")
        self.assertEqual(got, self.rounds(12, 12, 12, 12))
        self.assertIn(" 0 causality violations", said)
        self.assertEqual(self.ports(PORTS, "play"), (got, said))

    def test_death_of_a_process_reaches_its_partner_only(self):
        got, said = self.ports(PORTS, "dies", status=1)
        self.assertEqual(got, self.rounds(12, None, 12, 5))
        self.assertIn("rank 1 on n0", said)
        self.assertRegex(said, "rank 1 .* was ended by signal 9")
        self.assertNotIn("the run ends", said)
        self.assertEqual(said.count("check failed"), 1)

    def test_place_of_a_dead_process_is_taken_again(self):
        """A process comes to the node when another has died there: its port is
        a new one."""
        got, _ = self.ports("sh", "-c", "%s dies; [ $WEFT_RANK != 1 ] || "
                            "exec %s again" % (PORTS, PORTS))
        self.assertEqual(got, ["rank 0 on node 0, VPID 0: 12 of 12 rounds",
                               "rank 1 again, VPID 2"]
                         + self.rounds(None, None, 12, 5))

    def test_neighbour_is_out_of_reach(self):
        """Registers, the driver, memory of the neighbour: refused, and the
        neighbour plays on."""
        got, said = self.ports(PORTS, "attack", status=1)
        self.assertEqual(got, self.rounds(12, 12, 12, 12))
        self.assertIn("frees memory of another process", said)
        self.assertEqual(said.count("check failed"), 1)

    def test_random_calls_do_not_reach_other_processes(self):
        for seed in "1", "2":
            got, _ = self.ports(
                "sh", "-c", "[ $WEFT_RANK != 0 ] || exec %s %s; exec %s again"
                % (WILD, seed, PORTS), status=1)
            self.assertEqual([line for line in got if "again" in line],
                             ["rank 1 again, VPID 0", "rank 2 again, VPID 0",
                              "rank 3 again, VPID 1"])

    def test_processes_that_wait_for_a_dead_one_end(self):
        got, said = self.ports(
            "sh", "-c", "[ $WEFT_RANK = 1 ] && kill -9 $$; exec %s play"
            % PORTS, status=1, n="3")
        self.assertEqual(got, [])
        self.assertIn("has ended before it was attached", said)
        self.assertIn("a process has died: the run ends", said)


class Ends(unittest.TestCase):
    def dies(self, machine, lib):
        p = weft("exec", "--raw", "--patience", "200ms", "--fabric",
                 "exec/" + machine, "--", os.path.join(BUILD, LIBS[0]), lib,
                 "dies")
        self.assertEqual(p.returncode, 1)
        self.assertIn("has gone without leaving", p.stderr)
        self.assertIn("a process has died: the run ends", p.stderr)
        self.assertRegex(p.stderr, r"rank 0 .* ended with status 125|"
                         r"rank 0 .* was ended by signal 15")

    def test_death_of_a_process_ends_its_waiting_partner(self):
        self.dies("extoll-pair", "rma")

    def test_death_of_a_process_ends_its_polling_partner(self):
        """When patience expires."""
        self.dies("hvia-pair", "vipl")

    def test_death_before_attachment_ends_the_run(self):
        p = weft("exec", "--raw", "--patience", "200ms", "--fabric",
                 "exec/extoll-pair", "--", "sh", "-c",
                 "[ $WEFT_RANK = 1 ] && kill -9 $$; exec %s rma" %
                 os.path.join(BUILD, LIBS[0]))
        self.assertEqual(p.returncode, 1)
        self.assertIn("has ended before it was attached", p.stderr)
        self.assertIn("a process has died: the run ends", p.stderr)

    def test_time_stands_still_for_a_thread_that_waits_outside(self):
        """As long as it sleeps; it leaves before its process ends."""
        lines, _, late = attached("exec/forth-pair", "tests/raw/raw_outside")
        self.assertEqual(lines, ["left", "time passed", "time stood still",
                                 "time stood still"])
        self.assertEqual(late, 1)

    def test_vipl_program_runs_unchanged_as_a_process(self):
        """Names, clocks, threads, errors."""
        script = ("if [ $WEFT_RANK = 0 ]; then exec %s server hvia0+cq n1; "
                  "else exec %s client hvia0+cq n0; fi" %
                  ((os.path.join(BUILD, "examples/vipl-test"),) * 2))
        p = weft("exec", "--raw", "--fabric", "exec/hvia-pair", "--", "sh",
                 "-c", script)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertEqual(p.stdout.count("everything as it should be"), 2)
        self.assertRegex(p.stdout, r"ping-pong: \d+ us for 100 round trips")
        so = "examples/vipl_test.so"
        self.assertEqual(sorted(p.stdout.splitlines()), programs(
            "exec/hvia-pair",
            [main(so, "server", "hvia0+cq", "n1", on=", on: [0]"),
             main(so, "client", "hvia0+cq", "n0", on=", on: [1]")]))


if __name__ == "__main__":
    unittest.main()
