#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts test cases in Meson's logs and names the failed ones.

    count-tests.py BUILD_DIR...
    count-tests.py --self-test

A cmocka program counts its cases, any other test counts one.  The last line
is "N passed, N failed"; exit 1 when something failed or nothing ran.
"""
import json
import os
import re
import sys

PASSED = re.compile(r"^\[  PASSED  \] (\d+) test\(s\)", re.M)
FAILED = re.compile(r"^\[  FAILED  \] (\d+) test\(s\), listed", re.M)
CASE = re.compile(r"^\[  FAILED  \] (?!\d+ test)(\S.*)$", re.M)


def count(test):
    """(passed, failed, names of failed cases) of one test."""
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    good = test["result"] in ("OK", "EXPECTEDFAIL", "SKIP")
    passed = sum(int(n) for n in PASSED.findall(text))
    failed = sum(int(n) for n in FAILED.findall(text))
    if test["result"] == "SKIP":
        return 0, 0, []
    if not passed and not failed:
        return int(good), int(not good), []
    if not good and not failed:
        failed = 1  # died after its last case
    return passed, failed, sorted(set(CASE.findall(text)))


def self_test():
    ok = "[ RUN ] a\n[  PASSED  ] 3 test(s).\n"
    bad = ("[  PASSED  ] 2 test(s).\n[  FAILED  ] 1 test(s), listed below:\n"
           "[  FAILED  ] test_x\n")
    want = [
        ({"result": "OK", "stdout": "", "stderr": ok}, (3, 0, [])),
        ({"result": "OK", "stdout": ok + ok}, (6, 0, [])),
        ({"result": "FAIL", "stderr": bad}, (2, 1, ["test_x"])),
        ({"result": "FAIL", "stdout": ok}, (3, 1, [])),  # died at the end
        ({"result": "TIMEOUT", "stdout": ""}, (0, 1, [])),
        ({"result": "ERROR", "stdout": "x"}, (0, 1, [])),
        ({"result": "OK", "stdout": "plain"}, (1, 0, [])),
        ({"result": "SKIP", "stdout": "why"}, (0, 0, [])),
    ]
    wrong = [(t, count(t), w) for t, w in want if count(t) != w]
    for line in wrong:
        print("%s: counted %s, not %s" % line)
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    passed = failed = 0
    for build in sys.argv[1:]:
        log = os.path.join(build, "meson-logs", "testlog.json")
        try:
            with open(log, errors="replace") as lines:
                tests = [json.loads(line) for line in lines if line.strip()]
        except OSError as why:
            print("%s: no test log: %s" % (build, why.strerror))
            failed += 1
            continue
        for test in tests:
            p, f, cases = count(test)
            passed, failed = passed + p, failed + f
            if test["result"] == "SKIP":
                print("skipped: %s: %s" % (build, test["name"]))
            if f:
                print("FAILED: %s: %s (%s) %s" % (
                    build, test["name"], test["result"], ", ".join(cases)))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
