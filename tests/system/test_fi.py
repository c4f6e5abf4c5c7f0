# SPDX-License-Identifier: Apache-2.0
"""The provider for libfabric, under programs as Debian ships them: fi_info and
fi_pingpong, over every NIC and every type of endpoint."""
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from leftovers import Job, read
from weftlib import WEFT

# The server is rank 0; the client looks for it until it is there.  fi_pingpong
# has a connection of its own beside, over TCP: the port.
PINGPONG = r"""
port=$1; shift
if [ "$WEFT_RANK" = 0 ]; then
	exec fi_pingpong -p weft -B $port "$@"
fi
for i in $(seq 100); do
	sleep 0.2
	fi_pingpong -p weft -P $port "$@" 127.0.0.1 && exit 0
done
exit 1
"""


def weft_exec(fabric, *args, options=(), timeout=60):
    p = subprocess.run([WEFT, "exec", "--fabric", "exec/" + fabric, "--mpi",
                        "none", "--quiet", *options, "--", *args],
                       capture_output=True, text=True, timeout=timeout)
    return p.returncode, p.stdout, p.stderr


class Fi(unittest.TestCase):
    ports = 20000 + os.getpid() % 20000

    def pingpong(self, fabric, *args, clock="none"):
        Fi.ports += 1
        rc, out, err = weft_exec(fabric, "sh", "-c", PINGPONG, "sh",
                                 str(Fi.ports), *args,
                                 options=("--clock", clock, "-n", "2"))
        self.assertEqual(rc, 0, out + err)
        rows = [line.split() for line in out.splitlines()
                if line[:1].isdigit()]
        self.assertGreaterEqual(len(rows), 2, out)
        return rows, err

    def test_provider_offers_three_types_of_endpoint(self):
        rc, out, err = weft_exec("extoll-pair", "fi_info", "-p", "weft",
                                 options=("-n", "1"))
        self.assertEqual(rc, 0, err)
        types = [line.split()[1] for line in out.splitlines()
                 if "type:" in line]
        self.assertEqual(types, ["FI_EP_RDM", "FI_EP_MSG", "FI_EP_DGRAM"])

    def test_provider_exists_only_under_weft_exec(self):
        env = dict(os.environ, FI_PROVIDER_PATH=os.path.join(
            os.path.dirname(os.path.abspath(WEFT)), "..", "fi"))
        env.pop("WEFT_SOCKET", None)
        p = subprocess.run(["fi_info", "-p", "weft"], env=env,
                           capture_output=True, text=True, timeout=20)
        self.assertNotEqual(p.returncode, 0)

    def test_pingpong_runs_on_every_type_of_endpoint(self):
        for kind in ("rdm", "msg", "dgram"):
            with self.subTest(kind):
                rows, _ = self.pingpong("extoll-pair", "-e", kind, "-I", "20",
                                        "-S", "1500", "-c")
                self.assertEqual(rows[0][1], "20")

    def test_pingpong_runs_on_every_nic(self):
        """Long enough for everything: messages, windows, puts."""
        for nic in ("forth", "extoll", "hostport", "hvia"):
            with self.subTest(nic):
                self.pingpong(nic + "-pair", "-e", "rdm", "-I", "3", "-S",
                              "20000", "-c")


class Ends(unittest.TestCase):
    """Programs that do not close what they have opened."""
    FABRIC = os.path.join(os.path.dirname(os.path.abspath(WEFT)),
                          "../../bench/weft-fabric")

    def job(self, way, *args):
        return Job([WEFT, "exec", "--patience", "300ms", "--fabric",
                    "exec/forth-pair", *way, "--", self.FABRIC, "-p", "weft",
                    "-k", "weft-ends-%d" % os.getpid(), *args])

    def test_exit_with_open_objects_ends_well(self):
        for way in ((), ("--clock", "none", "--path", "direct")):
            status, out, err, left = self.job(way, "-n", "100", "-x").end(20)
            self.assertEqual((status, left), (0, []), err)
            self.assertIn("rate ", out)
            self.assertIn("without leaving", err)

    def test_survivor_of_a_killed_rank_gets_an_error(self):
        """The survivor waits for a message from any source."""
        for way in ((), ("--clock", "none"),
                    ("--clock", "none", "--path", "direct")):
            job = self.job(way, "-n", "100000000")
            pids = job.wait_named("weft-fabric", 2)
            while not all(b"memfd:weft" in read("/proc/%d/maps" % pid)
                          for pid in pids):
                time.sleep(0.01)  # not attached yet
            time.sleep(0.3)
            os.kill(max(pids), signal.SIGKILL)
            status, out, err, left = job.end(20)
            self.assertEqual((status, left), (1, []), err)
            self.assertIn("was ended by signal 9", err)
            self.assertIn("ended with status 1", err)  # the other one


if __name__ == "__main__":
    if not shutil.which("fi_pingpong"):
        print("skipped: libfabric-bin is not there")
        sys.exit(77)
    unittest.main()
