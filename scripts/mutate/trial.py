# SPDX-License-Identifier: Apache-2.0
"""One mutant: compiled, linked into the programs that a test needs, tested.

Neither the source nor the build directory is touched.  A worker has a folder
with a link to each file of the build directory; programs made from the mutant
take the place of theirs for a while.
"""
import os
import shutil
import select
import signal
import subprocess
import tempfile
import time

from operators import apply

# A test may take so much more processor time, and time of the clock, than it
# does without a mutant: the machine may be busy.
FACTORS = 5, 10
# Bytes that a unit test may write to; `weft exec` maps more than it uses, so
# there the kernel ends the test first when memory runs out.
MEMORY = 4 << 30
# Bytes of a file.  The memory of all nodes that `weft exec` shares with
# processes is a file, too.
FILE, SHARED = 1 << 30, 1 << 40
SKIPPED = 77
LEAK, LEAKED = ["-fsanitize=leak"], 23
# By frame pointers the sanitizer does not get out of the stack of a program of
# a host, nor out of a library without them; what it cannot tell the caller of
# it takes for the dynamic linker's, which never leaks.
UNWIND = "fast_unwind_on_malloc=0:malloc_context_size=8"


class Broken(Exception):
    """The compiler refuses the mutant."""


class NoLink(Exception):
    """Not the mutant's fault: it has the symbols of the original."""


class Result:
    def __init__(self, verdict, killer="", rest=()):
        self.verdict, self.killer, self.rest = verdict, killer, list(rest)


class Worker:
    more = 2, 20  # seconds on top

    def __init__(self, build, sources, folder, baseline):
        self.build, self.sources, self.baseline = build, sources, baseline
        self.root = os.path.join(folder, "root")
        self.obj = os.path.join(folder, "obj")
        self.base = os.path.join(os.path.dirname(folder), "base")
        self.tmp = os.path.join(folder, "tmp")
        shutil.rmtree(folder, ignore_errors=True)
        for d in (self.obj, self.base, self.tmp):
            os.makedirs(d, exist_ok=True)
        self.mirror()
        self.replaced = {}  # target: further arguments of its link

    # ---- files ----------------------------------------------------------

    def mirror(self):
        for top, dirs, files in os.walk(self.build.path):
            dirs[:] = [d for d in dirs if not d.endswith(".p") and
                       not d.startswith("meson-") and d != "tools"]
            to = os.path.join(self.root, os.path.relpath(top, self.build.path))
            os.makedirs(to, exist_ok=True)
            for f in files:
                if not f.endswith((".a", ".ninja", ".json", ".db", ".html")):
                    os.link(os.path.join(top, f), os.path.join(to, f),
                            follow_symlinks=False)
        tools = os.path.join(self.build.path, "tools")
        if os.path.isdir(tools):
            os.symlink(tools, os.path.join(self.root, "tools"))

    def restore(self):
        for target in self.replaced:
            to = os.path.join(self.root, target)
            if os.path.exists(to):
                os.unlink(to)
            os.link(os.path.join(self.build.path, target), to)
        self.replaced = {}
        shutil.rmtree(self.tmp, ignore_errors=True)
        os.makedirs(self.tmp)

    # ---- compile and link -----------------------------------------------

    def compile(self, path, text, to):
        """Objects of a source whose text is `text`: {object: file}."""
        c_file = os.path.join(self.obj, "over",
                              path[4:] if path.startswith("src/") else path)
        os.makedirs(os.path.dirname(c_file), exist_ok=True)
        name = os.path.relpath(os.path.join(self.build.root, path),
                               self.build.path)
        with open(c_file, "w") as f:
            f.write('#line 1 "%s"\n%s' % (name, text))
        out = {}
        for obj, command, src in self.objects(path):
            out[obj] = os.path.join(to, obj.replace("/", "+"))
            self.compile_one(src, command, out[obj], c_file if src == path
                             else os.path.join(self.build.root, src))
        os.unlink(c_file)
        return out

    def objects(self, path):
        """Returns objects of a source, and of tests that include it."""
        return [(o, c, path) for o, c in self.build.compiles[path]
                if "fuzz" not in o] + self.build.includers.get(path, [])

    def compile_one(self, src, command, out, c_file):
        args = self.build.compile_command(src, command, c_file, out)
        args[1:1] = ["-iquote", os.path.join(self.obj, "over")]
        p = subprocess.run(args, cwd=self.build.path,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           text=True)
        if p.returncode:
            raise Broken(p.stderr)

    def original(self, path):
        """Objects of the unmutated source, made once."""
        folder = os.path.join(self.base, self.sources.sum(path))
        if not os.path.isdir(folder):
            part = tempfile.mkdtemp(dir=self.base)
            self.compile(path, self.sources.text(path), part)
            try:
                os.rename(part, folder)
            except OSError:  # another worker was faster
                shutil.rmtree(part)
        return {o: os.path.join(folder, o.replace("/", "+"))
                for o, _, _ in self.objects(path)}

    def differs(self, path, objects):
        """Equal code is an equal program."""
        old = self.original(path)
        for o, f in objects.items():
            with open(f, "rb") as a, open(old[o], "rb") as b:
                if a.read() != b.read():
                    return True
        return False

    def link(self, target, objects, more=()):
        out = os.path.join(self.root, target)
        if os.path.exists(out):
            os.unlink(out)
        self.replaced[target] = list(more)
        p = subprocess.run(self.build.link_command(target, objects, out, more),
                           cwd=self.build.path, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
        if p.returncode:
            raise NoLink("%s: %s" % (target, p.stderr))

    def link_for(self, test, objects, leak):
        """Leaks are looked for, too, where that can be.  An earlier test may
        have linked the program without."""
        for target in self.build.needs(test):
            more = LEAK if leak and target == self.build.watched(test) else []
            if self.replaced.get(target) != more and any(
                    self.build.holds(target, o) for o in objects):
                self.link(target, objects, more)

    # ---- run ------------------------------------------------------------

    def run(self, test, cpu=None, wall=None, **more):
        """(exit status, or 124 when out of time; seconds; of the
        processor)"""
        args, env = test.command(self.root)
        env = {**os.environ, **env, "TMPDIR": self.tmp,
               "PYTHONDONTWRITEBYTECODE": "1", "MALLOC_PERTURB_": "165",
               "LSAN_OPTIONS": UNWIND, **more}
        # a shell lets what it runs in the background ignore signals that
        # tests send
        limits = ["env", "--default-signal", "choom", "-n", "1000", "--",
                  "prlimit", "--core=0",
                  "--fsize=%d" % (FILE if test.unit else SHARED)]
        if test.unit:
            limits.append("--data=%d" % MEMORY)
        if cpu:
            limits.append("--cpu=%d" % cpu)
        start, used = time.time(), 0
        p = subprocess.Popen(limits + args, cwd=self.root, env=env,
                             stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True)
        fd = os.pidfd_open(p.pid)
        ready = select.select([fd], [], [], wall or test.timeout * 4)[0]
        os.close(fd)
        status = 124
        if ready:
            _, ended, usage = os.wait4(p.pid, 0)
            status = p.returncode = os.waitstatus_to_exitcode(ended)
            used = usage.ru_utime + usage.ru_stime
        self.end(p)
        return status, time.time() - start, used

    @staticmethod
    def end(p):
        """Also what the test has left behind."""
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.wait()

    def measure(self, test):
        """(seconds without a mutant, of the clock and of the processor, whether
        it can look for leaks); None for seconds when the test fails anyway."""
        watched = self.build.watched(test)
        for leak in (True, False) if watched else (False,):
            self.restore()
            try:
                if leak:
                    self.link(watched, {}, LEAK)
                status, wall, cpu = self.run(test)
            except NoLink:
                status = 1
            if status == 0:
                break
        self.restore()
        return (None, None, False) if status else (wall, cpu, leak)

    def catches(self, test, objects):
        wall, cpu, leak = self.baseline(self, test)
        if wall is None:
            return None
        self.link_for(test, objects, leak)
        # A busy machine stretches the time of the clock alone, so that a mutant
        # that spins ends early there, too.
        limits = [t * f + m for t, f, m in zip((cpu, wall), FACTORS, self.more)]
        for _ in range(2 if test.real_time else 1):
            status = self.run(test, *limits)[0]
            if status in (0, SKIPPED):
                return None
        if status in (124, -signal.SIGXCPU, -signal.SIGKILL):
            return test.name + " (time)"
        if leak and status == LEAKED and self.only_leaks(test, limits):
            return test.name + " (leak)"
        return test.name

    def only_leaks(self, test, limits):
        """A test that fails may leak as well."""
        status = self.run(test, *limits, LSAN_OPTIONS="detect_leaks=0")[0]
        return status == 0

    def judge(self, path, mutant, tests):
        """Runs `tests`, cheapest first, until one fails."""
        try:
            objects = self.compile(path, apply(self.sources.text(path),
                                               mutant), self.obj)
            if not self.differs(path, objects):
                return Result("equal")
            for t in tests:
                killer = self.catches(t, objects)
                if killer:
                    return Result("caught", killer)
            return Result("alive" if tests else "unreached")
        except Broken as why:
            return Result("broken", str(why)[:300])
        finally:
            self.restore()
