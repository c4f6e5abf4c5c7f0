#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sixth system, with all that the five have: classes, a wire, faults,
captures, an endpoint, published rows, stages of messages.

    test_sixth.py WEFT-SIXTH ROOT LIST [unittest options]

Existing files that a system in the tree edits by hand, four at most:

    src/systems.def           a line: #include "systems/<name>/system.def"
    src/systems/meson.build   its name in a list
    docs/README.md            a row of the table of systems
    tests/system/rates.txt    what each published rate follows

All else is in its folder, or written by `make golden expected docs truth`.
Here the first of these is the only one: the others build, describe and test
the tree.
"""
import collections
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

WEFT, ROOT, LIST = map(os.path.abspath, sys.argv[1:4])
HERE = os.path.join(ROOT, "tests/sixth")
TOY = os.path.join(HERE, "src/systems/toy")
START, CREDIT, K = 0xfb, 0xfd, 1


def weft(*args, status=0):
    p = subprocess.run([WEFT, *args], capture_output=True, text=True,
                       timeout=60)
    if p.returncode != status:
        raise AssertionError(f"{args}: status {p.returncode}\n{p.stderr}")
    return p


def run(name, *args, status=0):
    """Metrics and counters."""
    d = json.loads(weft("run", name, "--format", "json", "--quiet", *args,
                        status=status).stdout)
    return dict(d["metrics"], **d["counters"])


def sets(*pairs):
    return [a for p in pairs for a in ("--set", p)]


def total(values, pattern):
    return sum(v for k, v in values.items() if re.fullmatch(pattern, k))


class Used(unittest.TestCase):
    """As any other system."""

    def test_lists_name_the_new_classes(self):
        out = weft("list").stdout
        for line in (r"nics +toy\.nic ", r"switches +toy\.switch ",
                     r"traffic +toy\.net ", "experiments +toy/torus ",
                     r"nics +forth\.nic "):
            self.assertRegex(out, "(?m)^" + line)

    def test_description_has_parameters_ports_and_registers(self):
        out = weft("describe", "toy.nic").stdout
        self.assertRegex(out, r"(?m)^latency +u32 +2 +1\.\.1000 +own ")
        self.assertRegex(out, r"(?m)^np%u +link +1 +toy ")
        self.assertRegex(out, r"(?m)^damaged +frames ")
        self.assertRegex(out, r"(?m)^bar0 +0x0040 +tx_data\[8\] .* rw ")
        self.assertIn("toy.switch", weft("describe", "toy.switch").stdout)

    def test_host_has_the_preset_of_the_system(self):
        self.assertRegex(weft("describe", "host.pc").stdout, r"(?m)^toy ")

    def check_all(self, r, nodes, count):
        """Nothing is lost, no credit broken; messages and one that says "no
        more" went from each node to each."""
        self.assertEqual(total(r, r"n\d+\.prog0\.received"), nodes * count)
        sent = nodes * count + nodes * nodes
        for counter in ("sent", "received", "taken"):
            self.assertEqual(total(r, r"n\d+\.nic\." + counter), sent)
        for counter in ("damaged", "lost", "overflow", "refused",
                        "unroutable"):
            self.assertEqual(total(r, r"\w+(\.nic)?\." + counter), 0)
        self.assertEqual(total(r, r"s\d+\.sent"), total(r, r"s\d+\.received"))
        self.assertEqual(r["net.hops"], total(r, r"s\d+\.sent"))

    def test_torus_delivers_every_message(self):
        r = run("toy/torus")
        self.check_all(r, 9, 30)
        self.assertEqual(run("toy/torus", "--sample", "50us,net.hops"), r)

    def test_full_ring_does_not_deadlock(self):
        """Slow lines and small queues are full most of the time: packets go
        on round the ring, and none waits for itself."""
        r = run("toy/torus", *sets(
            "fabric.dims=[9]", "toy.*.clock=1MHz", "toy.*.slots=2",
            "workload.count=60"))
        self.check_all(r, 9, 60)
        self.assertGreater(total(r, r"s\d+\.blocked"), 1000)

    def test_endpoint_passes_conformance(self):
        r = run("toy/conformance")
        for n in range(5):
            self.assertEqual(r[f"n{n}.prog0.tests"], 6)
            self.assertEqual(r[f"n{n}.prog0.skipped"], 5)

    def test_interrupts_take_longer_than_polling(self):
        r = run("toy/pair", *sets("workload.use_irq=yes"))
        self.assertEqual(r["n1.nic.taken"], 20)
        self.assertGreater(r["n0.prog0.half_rtt"],
                           run("toy/pair")["n0.prog0.half_rtt"])

    def test_stages_of_a_message_add_up(self):
        with tempfile.TemporaryDirectory() as d:
            db = os.path.join(d, "x.db")
            weft("run", "toy/pair", "--out", db, "--quiet")
            text = weft("explain", db).stdout
            d = json.loads(weft("explain", db, "--format", "json").stdout)
        stages = d["stages"]
        self.assertEqual(sum(s["fs"] for s in stages), d["fs"])
        names = [s["stage"] for s in stages]
        for one in ("host writes the message", "receives the message",
                    "waits for the host"):
            self.assertEqual(names.count(one), 1, text)
        self.assertEqual(names.count("receives the packet"), 2)
        self.assertEqual(names.count("through the switch"), 2)
        # 81 symbols of 40 ns
        self.assertEqual([s["fs"] for s in stages if "receives" in s["stage"]],
                         [3240000000] * 3)

    def test_rows_fail_at_half_the_clock(self):
        out = weft("reproduce", "toy").stdout
        self.assertEqual(re.findall(r"(?m)^(TOY-\d) .* structural +(\w+)$",
                                    out),
                         [("TOY-1", "pass"), ("TOY-2", "pass")])
        out = weft("reproduce", "toy", *sets("toy.*.clock=12.5MHz"),
                   status=1).stdout
        self.assertEqual(re.findall(r"(?m)^(TOY-\d) .* structural +(\w+)$",
                                    out),
                         [("TOY-1", "FAIL"), ("TOY-2", "FAIL")])


def crc32(data):
    """CRC-32/MPEG-2."""
    crc = 0xffffffff
    for b in data:
        crc ^= b << 24
        for _ in range(8):
            crc = crc << 1 ^ (0x104c11db7 if crc >> 31 else 0)
    return crc


def records(path):
    """(line, flags, symbols, control bits) of a capture; docs/captures.md."""
    with open(path, "rb") as f:
        data = f.read()
    names, out, at = [], [], 0
    while at < len(data):
        kind, n = struct.unpack_from("<II", data, at)
        body = data[at + 8:at + n - 4]
        at += n
        if kind == 1:
            size, = struct.unpack_from("<H", body, 10)
            names.append(body[12:12 + size].decode())
        if kind != 6:
            continue
        iface, _, _, size = struct.unpack_from("<IIII", body)
        rec = body[20:20 + size]
        version, wire, flags, _, symbols = struct.unpack_from("<BBBBI", rec)
        assert version == 2 and wire == 129, (version, wire)
        end = 20 + symbols
        out.append((names[iface], flags, rec[20:end],
                    rec[end:end + (symbols + 7) // 8]))
    return out


class Captured(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.pcapng")
            args = sets("workload.count=4")
            cls.with_ = run("toy/pair", *args, "--capture", "all",
                            "--capture-file", path)
            cls.without = run("toy/pair", *args)
            cls.lines = collections.defaultdict(list)
            for line, *rest in records(path):
                cls.lines[line].append(rest)

    def packets(self, line):
        return [s for _, s, _ in self.lines[line] if s[0] == START]

    def test_capture_changes_no_result(self):
        self.assertEqual(self.with_, self.without)

    def test_recorded_frames_are_whole(self):
        n = 0
        for line in self.lines.values():
            for flags, s, control in line:
                self.assertEqual((flags, control),
                                 (0, bytes([K]) + bytes(len(control) - 1)))
                if s[0] == CREDIT:
                    self.assertEqual(s[1] ^ s[2], 255)
                    self.assertEqual(len(s), 3)
                    continue
                self.assertEqual(len(s), 13 + s[4] + 4)
                self.assertEqual(crc32(s[1:-4]), int.from_bytes(s[-4:], "big"))
                n += 1
        self.assertEqual(n, 4 * 2 * 3)  # rounds, ways, lines

    def test_packet_is_recorded_on_each_line_of_its_way(self):
        """A packet is equal on three lines, except its number there."""
        way = [self.packets(line) for line in
               ("n0.nic.np0 > s0.np0", "s0.lp0 > s1.lp1", "s1.np0 > n1.nic.np0")]
        back = self.packets("s0.np0 > n0.nic.np0")
        self.assertEqual([len(w) for w in way], [4, 4, 4])
        for i, hops in enumerate(zip(*way)):
            self.assertEqual(len({p[2:-4] for p in hops}), 1)
            self.assertEqual([p[1] for p in hops], [i] * 3)
            p = hops[0]
            self.assertEqual((p[2], p[3], p[4]), (1, 0, 64))  # to, from, bytes
            self.assertEqual(p[5:13], i.to_bytes(8, "little"))  # imm: round
            self.assertEqual(back[i][13:77], p[13:77])
        self.assertEqual(len({p[13:77] for p in way[0]}), 4)

    def test_slot_of_each_packet_is_given_back(self):
        for line in ("s0.np0 > n0.nic.np0", "s1.lp1 > s0.lp0",
                     "n1.nic.np0 > s1.np0"):
            freed = [s[1] for _, s, _ in self.lines[line] if s[0] == CREDIT]
            self.assertEqual(freed, [1, 2, 3, 4])


class Damaged(unittest.TestCase):
    """60 messages and one that says "no more", over the cable from s0 to
    s1."""

    def run_with(self, *faults, status=0):
        with open(os.path.join(TOY, "experiments/stream.yaml")) as f:
            text = f.read()
        text += "faults:\n" + "".join(f"  - {{ {x} }}\n" for x in faults)
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.yaml")
            with open(path, "w") as f:
                f.write(text)
            return run(path, status=status)

    def check_lost(self, r, lost):
        """Lost on the cable, noticed behind it, nowhere else."""
        self.assertEqual(r["s1.lost"], lost)
        self.assertEqual(total(r, r"\w+(\.nic)?\.lost"), lost)
        self.assertEqual(r["n1.prog0.received"], 60 - lost)
        self.assertEqual(total(r, r"n\d+\.nic\.sent") - lost,
                         total(r, r"n\d+\.nic\.taken"))
        self.assertEqual(total(r, r"\w+(\.nic)?\.overflow"), 0)

    def test_idle_fault_loses_nothing(self):
        r = self.run_with("on: s0.lp0, type: fault.bits")
        self.check_lost(r, 0)
        self.assertEqual(r["s1.damaged"], 0)
        self.assertGreater(r["s0.blocked"], 0)

    def test_packet_hit_in_any_part_is_dropped(self):
        for part in ("control", "seq", "route", "len", "header", "payload",
                     "crc", "body"):
            r = self.run_with(f"on: s0.lp0, type: fault.bits, target: {part}, "
                              "frame: 20", status=1)
            self.assertEqual((r["fault0.hit"], r["s1.damaged"]), (1, 1), part)
            self.check_lost(r, 1)

    def test_slots_of_lost_packets_are_given_back(self):
        """More packets are lost than the queue has slots: these are given
        back."""
        r = self.run_with(*(f"on: s0.lp0, type: fault.bits, target: payload, "
                            f"frame: {n}" for n in range(5, 50, 5)), status=1)
        self.check_lost(r, 9)

    def test_repeated_packets_overflow_and_arrive_once(self):
        r = self.run_with("on: s0.lp0, type: fault.drop, repeat: 0.2")
        self.assertGreater(r["fault0.repeats"], 0)
        self.assertEqual(r["s1.overflow"], r["fault0.repeats"])
        self.assertEqual(r["n1.prog0.received"], 60)

    def test_next_credit_makes_up_for_a_damaged_one(self):
        r = self.run_with("on: s1.lp1, type: fault.bits, target: credit, "
                          "frame: 5, count: 2")
        self.assertEqual((r["fault0.hit"], r["s0.damaged"]), (2, 2))
        self.check_lost(r, 0)

    def test_cut_loses_what_is_in_flight(self):
        """A packet on its way is lost or cut short; a dead line is one more
        frame that makes no sense."""
        r = self.run_with("on: s0.lp0, type: fault.cut, at: 60us, length: 4us",
                          status=1)
        lost = r["fault0.packets"] + r["fault0.truncated"]
        self.assertEqual(r["fault0.cuts"], 1)
        self.assertGreater(lost, 0)
        self.assertGreaterEqual(r["s1.damaged"], 1 + r["fault0.truncated"])
        self.check_lost(r, lost)


class Edited(unittest.TestCase):
    def test_list_is_that_of_the_tree_and_one_line(self):
        with open(os.path.join(ROOT, "src/systems.def")) as f:
            old = f.read().splitlines()
        with open(LIST) as f:
            new = f.read().splitlines()
        self.assertEqual(new.count('#include "systems/toy/system.def"'), 1)
        new.remove('#include "systems/toy/system.def"')
        self.assertEqual(new, old)

    def test_readers_of_the_list_are_compiled_again(self):
        """Every source that reads the list is compiled with the longer one,
        and all other sources are the tree's."""
        readers = set()
        for path in glob.glob(os.path.join(ROOT, "src/**/*.c"),
                              recursive=True):
            with open(path) as f:
                if '#include "systems.def"' in f.read():
                    readers.add(os.path.relpath(path, HERE))
        with open(os.path.join(HERE, "meson.build")) as f:
            built = set(re.findall(r"'(\.\./\S+\.c)'", f.read()))
        self.assertEqual(built, readers | {"../../src/front/cli/main.c"})

    def test_folder_obeys_the_rules_of_systems(self):
        """Its folder obeys the rules of src/systems as it is, and no shared
        source knows its name."""
        with tempfile.TemporaryDirectory() as d:
            for top in ("src", "include"):
                shutil.copytree(os.path.join(ROOT, top), os.path.join(d, top))
            shutil.copytree(TOY, os.path.join(d, "src/systems/toy"))
            shutil.copy(LIST, os.path.join(d, "src/systems.def"))
            p = subprocess.run(
                [sys.executable,
                 os.path.join(ROOT, "scripts/check-includes.py"), d],
                capture_output=True, text=True)
        self.assertEqual((p.returncode, p.stdout), (0, ""))

    def test_files_of_the_docstring_exist(self):
        paths = re.findall(r"(?m)^    (\S+/\S+)  +", __doc__)
        self.assertEqual(len(paths), 4)
        for path in paths:
            self.assertTrue(os.path.exists(os.path.join(ROOT, path)), path)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:])
