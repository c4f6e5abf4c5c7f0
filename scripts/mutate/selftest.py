# SPDX-License-Identifier: Apache-2.0
"""A toy program whose mutants have known verdicts, judged from tokenizer to
test run as those of the tree are."""
import json
import os
import subprocess
import tempfile

import operators
from graph import Build, Test
from reach import Map
from state import Sources, read_list
from trial import Worker

TOY = r"""
/* a < b in a remark, "x > 1" */
#define LIMIT(x) ((x) < 4)
#include <assert.h>
static const int table[2] = { 7, 8 };

static void put(int *to, int v)
{
	*to = v;
}

int count(int n)
{
	int k = 0;

	assert(n < 1000);
	for (int i = 0; i < n; i++)
		k += 2;
	return k;
}

int spare(int n)
{
	volatile int k;

	put((int *)&k, 1);
	n = 3;
	n = k - -1;
	return n;
}

int idle(const char *s)
{
	return s && *s == '<' ? 5 : table[0];
}

int down(volatile int n)
{
	while (n > 0)
		n -= 1;
	return n;
}
"""
TEST = """
int count(int n), spare(int n), idle(const char *s), down(int n);
int main(int c, char **v)
{
	spare(1);
	if (c > 1)
		idle(v[1]);
	return count(3) != 6 || down(3) != 0;
}
"""
# All mutants of two functions, and some of others.
WANT = {
    "count:rel:0:<:<=": "caught",
    "count:rel:0:<:>=": "caught",
    "count:const:0:0:1": "caught",
    "count:const:1:0:1": "caught",
    "count:const:0:2:3": "caught",
    "count:const:0:2:1": "caught",
    "count:arith:0:+=:-=": "caught",
    "count:drop:0:k += 2;:;": "caught",
    "spare:call:0:put((int *)&k, 1);:;": "alive",
    "spare:swap:0:(int *)&k, 1:1, (int *)&k": "broken",
    "spare:drop:0:n = 3;:;": "equal",
    "spare:arith:0:-:+": "alive",
    "idle:logic:0:&&:||": "unreached",
    "table:const:0:7:8": "alive",
    "down:drop:0:n -= 1;:;": "caught (time)",
}
NINJA = """
build toy.p/toy.c.o: c_COMPILER ../toy.c

build test.p/test.c.o: c_COMPILER ../test.c

build libtoy.a: STATIC_LINKER toy.p/toy.c.o
 LINK_ARGS = csrDT

build tests/unit/test: c_LINKER test.p/test.c.o | libtoy.a
 LINK_ARGS = -Wl,--start-group libtoy.a -Wl,--end-group -lgcov
"""


class Toy(Build):
    def read_tests(self):
        exe = os.path.join(self.path, "tests/unit/test")
        return {"toy": Test({"name": "toy", "suite": ["x:unit"], "cmd": [exe],
                             "env": {}, "timeout": 5}, self.path)}


def make(root):
    """The toy, built with counters."""
    build = os.path.join(root, "build")
    os.makedirs(os.path.join(build, "tests/unit"))
    commands = []
    for name, text in (("toy", TOY), ("test", TEST)):
        os.makedirs("%s/%s.p" % (build, name))
        with open("%s/%s.c" % (root, name), "w") as f:
            f.write(text)
        obj = "%s.p/%s.c.o" % (name, name)
        subprocess.run(["gcc", "--coverage", "-c", "../%s.c" % name, "-o",
                        obj], cwd=build, check=True)
        commands.append({"file": "../%s.c" % name, "output": obj,
                         "command": "gcc -Wall -Werror -c ../%s.c" % name})
    for line in ("gcc-ar csrDT libtoy.a toy.p/toy.c.o",
                 "gcc --coverage test.p/test.c.o libtoy.a -lgcov -o "
                 "tests/unit/test"):
        subprocess.run(line.split(), cwd=build, check=True)
    with open(build + "/build.ninja", "w") as f:
        f.write(NINJA)
    with open(build + "/compile_commands.json", "w") as f:
        json.dump(commands, f)
    return Toy(build)


# Of the calls only the last has an order that matters.
ORDER = """int order(const char *a, const char *b)
{
	if (!strcmp(a, b) || (strncmp(a, b, 3) && memcmp(b, a, 1)))
		abort();
	a = calloc(2, 3);
	return strcmp(a, b);
}
"""


def names(text):
    return {m.name: m for m in operators.mutants("toy.c", text)}


def check_names(bad):
    found = names(TOY)
    count = {n for n in found if n.startswith("toy.c:count:")}
    want = {"toy.c:" + n for n in WANT if n.startswith("count:")}
    if count != want:
        bad.append("mutants of count(): %s" % sorted(count ^ want))
    if set(names("\n\n" + TOY)) != set(found):
        bad.append("names do not stay when lines move")
    for n, m in found.items():
        text = operators.apply(TOY, m)
        if text == TOY or text.count("\n") != TOY.count("\n"):
            bad.append("%s: no edit, or other lines" % n)
    if any("LIMIT" in n or ":1000:" in n for n in found):
        bad.append("a macro or an assert is mutated")
    order = [n for n in names(ORDER) if ":swap:" in n or ":call:" in n]
    if order != ["toy.c:order:swap:0:a, b:b, a"]:
        bad.append("order of arguments: %s" % order)


def check_verdicts(root, build, map_, bad):
    sources = map_.sources
    # The linked program of the toy has counters; those of mutants have not.
    worker = Worker(build, sources, os.path.join(root, "w0"),
                    lambda w, t: (0.0, 0.0, True))
    found = names(TOY)
    for name, want in WANT.items():
        worker.more = (1, 0.3) if "time" in want else (2, 20)
        m = found.get("toy.c:" + name)
        if not m:
            bad.append("no mutant %s" % name)
            continue
        tests = [build.tests[t] for t in map_.reaching("toy.c", m)]
        r = worker.judge("toy.c", m, tests)
        got = r.verdict + (" (time)" if "(time)" in r.killer else "")
        if got != want:
            bad.append("%s: %s %s, not %s" % (name, got, r.killer, want))


def check_leaks(root, build, map_, bad):
    """The sanitizer is in the program for the tests that ask for it, whatever
    test ran before."""
    worker = Worker(build, map_.sources, os.path.join(root, "w1"),
                    lambda w, t: (0.0, 0.0, True))
    test = build.tests["toy"]
    objects = worker.compile("toy.c", TOY, worker.obj)
    for leak in False, True, False:
        worker.link_for(test, objects, leak)
        with open(os.path.join(worker.root, build.program(test)), "rb") as f:
            if (b"liblsan" in f.read()) != leak:
                bad.append("program with leak sanitizer: not %s" % leak)


def check_moved(map_, bad):
    """A line is found again when others were put before it."""
    line = names(TOY)["toy.c:count:drop:0:k += 2;:;"].line
    map_.sources.texts["toy.c"] = "/* new */\n\n" + TOY
    map_.moved.clear()
    if map_.old_line("toy.c", line + 2) != line:
        bad.append("line %d became %d" % (
            line, map_.old_line("toy.c", line + 2)))


def check_list(root, bad):
    path = os.path.join(root, "list")
    with open(path, "w") as f:
        f.write("# remark\na.c:f:rel:0:<:<=\tthe reason\n")
    if read_list(path) != {"a.c:f:rel:0:<:<=": "the reason"}:
        bad.append("list: %s" % read_list(path))
    with open(path, "a") as f:
        f.write("a.c:g:rel:0:<:<=\t\n")
    try:
        read_list(path)
        bad.append("a mutant is accepted without a reason")
    except SystemExit:
        pass


def main():
    bad = []
    check_names(bad)
    with tempfile.TemporaryDirectory() as root:
        build = make(root)
        map_ = Map(os.path.join(root, "map.db"), build, Sources(root))
        map_.prefixes = ("toy.c",)
        map_.make(lambda s: None)
        check_verdicts(root, build, map_, bad)
        check_leaks(root, build, map_, bad)
        check_moved(map_, bad)
        check_list(root, bad)
    print("\n".join(bad + ["%d verdicts" % len(WANT)]))
    return 1 if bad else 0
