# SPDX-License-Identifier: Apache-2.0
"""Runs a configuration of BookSim2 in BookSim2, and in Weft by `weft import
booksim`: one text drives both.  For booksim-networks.py and booksim-curve.py.
"""
import json
import re
import resource
import subprocess
import sys
import tempfile

# A router of five cycles per hop.  Runs have a fixed length: without thresholds
# BookSim2 measures three sample periods behind the warm-up.
BASE = {
    "num_vcs": 4, "vc_buf_size": 16, "wait_for_tail_credit": 0,
    "use_noc_latency": 0, "vc_allocator": "islip", "sw_allocator": "islip",
    "routing_delay": 1, "vc_alloc_delay": 1, "sw_alloc_delay": 1,
    "st_final_delay": 1, "credit_delay": 0, "traffic": "uniform",
    "injection_process": "bernoulli", "injection_rate_uses_flits": 1,
    "packet_size": 8, "sim_type": "latency", "warmup_periods": 1,
    "max_samples": 4, "stopping_thres": -1.0, "acc_stopping_thres": -1.0,
    "latency_thres": -1.0, "deadlock_warn_timeout": 1000000, "seed": 1,
}


def text_of(settings):
    """The configuration file of settings, but for the class that is compared."""
    settings = {k: v for k, v in settings.items() if k != "compared"}
    return "".join(f"{k} = {v:.6f};\n" if isinstance(v, float) else
                   f"{k} = {v};\n" for k, v in settings.items())


def run(text, command, name="c.cfg"):
    """Output and user time of a command; FILE stands for a file of text."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/{name}"
        with open(path, "w") as f:
            f.write(text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([a.replace("FILE", path) for a in command],
                              stdout=subprocess.PIPE, check=False, text=True,
                              stderr=subprocess.STDOUT)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return done.stdout, spent


def result_of(out):
    """Metrics of a result in JSON."""
    try:
        r = json.loads(out)
    except ValueError:
        sys.exit(out[-2000:])
    m = r["metrics"]
    h = next(h for h in r["histograms"] if h["name"] == "net.latency")
    return {"mean": m.get("net.latency", 0), "ci": m.get("net.latency_ci", 0),
            "accepted": m["net.accepted"], "min": h.get("min", 0),
            "max": h.get("max", 0), "state": r["manifest"]["net.state"]}


def weft(program, settings):
    """Results of Weft for the configuration."""
    text, _ = run(text_of(settings), [program, "import", "booksim", "FILE",
                                      "--quiet"])
    if not text.startswith("#"):
        sys.exit(text + text_of(settings))
    out, spent = run(text, [program, "run", "FILE", "--format", "json"],
                     "c.yaml")
    result = {**result_of(out), "spent": spent}
    if "compared" in settings:
        name = f"net.class{settings['compared']}.latency"
        result["mean"] = json.loads(out)["metrics"][name]
    return result


def booksim(peer, settings):
    """Results of BookSim2 for it; nan where it fails."""
    out, spent = run(text_of(settings), [peer, "FILE"])
    tail = out[out.find("====== Overall Traffic Statistics"):]
    tail = tail[tail.find(f"Traffic class {settings.get('compared', 0)}"):]

    def at(key, what):
        found = re.search(re.escape(key) + r" average = ([0-9.e+-]+)"
                          r"[^\n]*((?:\n\t[^\n]*)*)", tail)
        if found and what != "average":
            found = re.search(what + r" = ([0-9.e+-]+)", found[2])
        return float(found[1]) if found else float("nan")
    return {"mean": at("Packet latency", "average"),
            "min": at("Packet latency", "minimum"),
            "max": at("Packet latency", "maximum"),
            "accepted": at("Accepted flit rate", "average"), "spent": spent}
