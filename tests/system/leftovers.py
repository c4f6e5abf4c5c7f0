# SPDX-License-Identifier: Apache-2.0
"""Leftovers of a run of `weft exec`: processes, names in the file
system and in /dev/shm, sockets.  A job has a mark in the environment of
everything that it starts, and a folder of its own for temporary files."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import uuid


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


def children(pid, start="att_"):
    """Programs that a process has started; others are weft itself."""
    stats = {d: read("/proc/%s/stat" % d).decode(errors="replace")
             for d in os.listdir("/proc") if d.isdigit()}
    rows = [(d, re.match(r"\d+ \((.*)\) \S (\d+) ", text, re.S))
            for d, text in stats.items()]
    return [int(d) for d, m in rows
            if m and int(m[2]) == pid and m[1].startswith(start)]


def heard():
    """Shells have what runs in the background ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Job:
    """One `weft exec`, and everything that comes of it."""

    def __init__(self, argv, env=(), **kw):
        self.mark = uuid.uuid4().hex
        self.tmp = tempfile.mkdtemp(prefix="weft-test-")
        env = dict(os.environ, **dict(env), WEFT_TEST_MARK=self.mark,
                   TMPDIR=self.tmp)
        self.begin = time.time()
        self.p = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True,
                                  preexec_fn=heard, **kw)

    def processes(self, also=b""):
        """{pid: name} of those that are alive, and have this in their
        environment, too."""
        mark = ("WEFT_TEST_MARK=" + self.mark).encode()
        envs = {d: read("/proc/%s/environ" % d) for d in os.listdir("/proc")
                if d.isdigit()}
        return {int(d): read("/proc/%s/comm" % d).decode().strip()
                for d, env in envs.items() if mark in env and also in env}

    def named(self, start):
        """Of those that weft has started."""
        return [pid for pid, name in self.processes(b"WEFT_SOCKET=").items()
                if name.startswith(start)]

    def wait_named(self, start, n, seconds=20):
        """At least n processes of that name, or none: it has ended."""
        end = time.time() + seconds
        while time.time() < end and self.p.poll() is None:
            pids = self.named(start)
            if len(pids) >= n:
                return pids
            time.sleep(0.01)
        return []

    def end(self, seconds=30):
        """(status, stdout, stderr, what is left); status None: it had to be
        killed."""
        try:
            out, err = self.p.communicate(timeout=seconds)
            status = self.p.returncode
        except subprocess.TimeoutExpired:
            state = {pid: name + ":" + self.state(pid)
                     for pid, name in self.processes().items()}
            for pid in self.processes():
                os.kill(pid, signal.SIGKILL)
            out, err = self.p.communicate()
            shutil.rmtree(self.tmp, ignore_errors=True)
            return None, out, err, ["does not end: %s" % state]
        until = time.time() + 5
        while self.left() and time.time() < until:
            time.sleep(0.02)
        left = self.left()
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.tmp, ignore_errors=True)
        return status, out, err, left

    @staticmethod
    def state(pid):
        text = read("/proc/%d/stat" % pid).decode()
        return text[text.rfind(")") + 1:][:3].strip()

    def left(self):
        sockets = read("/proc/net/unix").decode(errors="replace")
        names = ["%s %d" % (name, pid)
                 for pid, name in self.processes().items()]
        names += re.findall(r"@weft-(?:direct-)?%d-\S+" % self.p.pid, sockets)
        names += [os.path.join(d, f) for d, dirs, files in os.walk(self.tmp)
                  for f in dirs + files]
        # Open MPI's carry the name of the host, which is a node's
        names += [n for n in os.listdir("/dev/shm")
                  if "weft" in n or re.search(r"\.n\d+\.", n)]
        return names
