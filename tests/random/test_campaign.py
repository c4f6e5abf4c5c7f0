#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The campaign notices what it is there for: programs that crash, hang, give
another result when watched, lose packets, or refuse without a reason.  Each is
the real program behind a wrapper that does one thing wrong."""
import argparse
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import campaign
import machines

WEFT = os.path.abspath(sys.argv.pop(1))
GOLDEN = sys.argv.pop(1)


def options(weft, first=0, count=12, family=None):
    return argparse.Namespace(weft=weft, other=None, first=first, count=count,
                              seconds=0, jobs=1, keep=None, family=family,
                              golden=None, once=False)


class Planted(unittest.TestCase):
    FAMILY = "ethernet"

    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def wrapper(self, body):
        path = pathlib.Path(self.dir.name) / "weft"
        path.write_text(f"#!/bin/sh\nweft={WEFT}\n"
                        '[ "$1" = run ] || exec $weft "$@"\n' + body)
        path.chmod(0o755)
        return str(path)

    def whys(self, body, count=60):
        _, bad, _ = campaign.campaign(
            options(self.wrapper(body), count=count, family=self.FAMILY))
        return [v.why for *_, v in bad]

    def test_unchanged_program_passes(self):
        self.assertEqual(self.whys('exec $weft "$@"\n'), [])

    def test_campaign_notices_a_crash(self):
        self.assertIn("ends by signal", self.whys("kill -SEGV $$\n")[0])

    def edited(self, sed, when="true"):
        """A wrapper that edits the output."""
        return (f'out=$($weft "$@"); status=$?\nif {when}; then\n'
                f"out=$(printf '%s' \"$out\" | sed '{sed}')\nfi\n"
                'printf "%s\\n" "$out"\nexit $status\n')

    def test_campaign_notices_results_that_watching_changes(self):
        whys = self.whys(self.edited('s/"t0.sent": /"t0.sent": 1/',
                                     "[ $# -gt 5 ]"), count=300)
        self.assertTrue(any("another result" in w for w in whys), whys)

    def test_campaign_notices_lost_packets(self):
        self.FAMILY = "forth_gen"
        whys = self.whys(self.edited('s/"t0.received": /"t0.received": 1/'))
        self.assertTrue(any("received" in w for w in whys), whys)

    def test_campaign_allows_only_failures_of_faults(self):
        """With faults a program's own check may fail, an expectation of the
        experiment may not, nor may a packet be lost where links repeat."""
        e = {"faults": [{}], "expect": {"t*.corrupt": 0}}
        judge = campaign.judge_one
        self.assertIn("check failed", judge(
            e, 1, "{}", "machine.yaml:9: t1.corrupt is 3: expected 0", False))
        self.assertEqual("", judge(e, 1, "{}", "weft: t0: 3 wrong", False))
        e["expect"]["t*.backlog"] = 0
        out = '{"counters": {"t0.sent": 5, "t1.received": 4}}'
        self.assertIn("4 received", judge(e, 0, out, "", False))
        self.assertEqual("", judge(e, 0, out, "", True))

    def test_campaign_notices_a_refusal_without_reason(self):
        self.assertIn("without a reason", self.whys("exit 2\n")[0])

    def test_shrinking_leaves_out_parts_without_effect(self):
        exe = self.wrapper('grep -q crystal machine.yaml && kill -SEGV $$\n'
                           'exec $weft "$@"\n')
        name, e = "ethernet", machines.FAMILIES["ethernet"](
            __import__("random").Random(1))
        e["traffic"]["crystal"] = 1
        v = campaign.check(exe, None, name, e, "perturb")
        self.assertTrue(v.bad)
        small = campaign.shrink(exe, None, name, e, "perturb", v.why, 20)
        self.assertEqual(small, {"traffic": {"crystal": 1}})


class Golden(unittest.TestCase):
    """The committed results, which tests compare with machines (--golden)."""
    def test_each_family_has_a_test(self):
        listed = (HERE / "meson.build").read_text()
        for name in machines.FAMILIES:
            self.assertIn("'%s'" % name, listed)


    def test_machines_of_every_family_run(self):
        """More than half of the machines run, of each family at least one."""
        with open(GOLDEN) as lines:
            ran = [l.split()[1] for l in lines if l.split()[3] != "2"]
        self.assertGreater(len(ran), len(campaign.read_golden(GOLDEN)) // 2)
        for name in machines.FAMILIES:
            self.assertTrue({name, name + "-spoilt"} & set(ran), name)

    def test_difference_is_named_by_its_kind(self):
        want = "aa 0 bb"
        self.assertEqual("", campaign.differs(want, want))
        self.assertEqual("", campaign.differs(None, want))
        for now, why in (("ac 0 bb", "another experiment"),
                         ("aa 1 bb", "status 1 instead of 0"),
                         ("aa 0 bc", "another result")):
            self.assertIn(why, campaign.differs(want, now))


if __name__ == "__main__":
    unittest.main()
