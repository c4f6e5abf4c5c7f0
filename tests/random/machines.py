# SPDX-License-Identifier: Apache-2.0
"""Random machines: experiments as dictionaries (JSON is YAML).

machine(rng) gives (family, experiment).  Each family is a whole system that is
valid as built; `tune` then turns a few parameters of its classes to values that
their ranges allow, `spoil` makes an experiment wrong on purpose.  An experiment
says in `expect` what must hold whatever the parameters are: nothing lost,
nothing damaged, nothing out of order.
"""

SIZES = [8, 16, 24, 56, 64, 72, 200, 496, 512, 1000, 2048, 4088, 4096]


def pair(rng, sizes=SIZES):
    """size and size_max."""
    a, b = sorted(rng.sample(sizes, 2))
    return {"size": a, "size_max": rng.choice([0, b])}


# ---- FORTH ----

def forth_switch(rng, ports):
    return {"type": "forth.xbar", "ports": ports,
            "xp_bytes": rng.choice([2048, 4096]),
            "credit_words": rng.choice([0, 0, 1])}


def forth_fabric(rng):
    kind = rng.choice(["switch", "switch", "clos", "benes", "fat-tree"])
    if kind == "switch":
        n = rng.randint(2, 8)
        return n, {"type": kind, "switch": forth_switch(rng, n)}
    if kind == "clos":
        hosts, spines = rng.choice([(2, 2), (4, 4), (2, 4), (4, 2)])
        n = hosts * rng.choice([2, 3, 4])
        return n, {"type": kind, "hosts": hosts, "spines": spines,
                   "switch": {"type": "forth.xbar"}}
    if kind == "benes":
        n = rng.choice([4, 8, 16])
        return n, {"type": kind, "radix": 2, "switch": {"type": "forth.xbar"}}
    n = rng.choice([4, 8, 16])
    return n, {"type": kind, "arity": 2, "up": 2,
               "switch": {"type": "forth.xbar"}}


def forth_gen(rng):
    n, fabric = forth_fabric(rng)
    fabric["link"] = {"type": "forth.link"}
    packets = rng.randint(1, 120)
    pattern = rng.choice(["uniform", "permutation", "hotspot", "bursty",
                          "shuffle"])
    t = {"count": n, "type": "forth.gen", "dests": n, "pattern": pattern,
         "dest": rng.randrange(n), "load": rng.choice([0.1, 0.5, 0.9, 2]),
         "packets": packets, "balance": rng.choice(["destination", "static"]),
         **pair(rng, [8, 24, 64, 200, 496, 512])}
    return {"traffic": t, "fabric": fabric, "run": {"until": "20ms"},
            "expect": {"t*.sent": packets, "t*.corrupt": 0, "t*.disorder": 0,
                       "t*.duplicate": 0, "t*.missing": 0, "t*.overflow": 0,
                       "s*.overflow": 0, "s*.unknown_flow": 0}}


def forth_damaged(rng):
    """Bit errors, losses and cuts: found, counted, never delivered."""
    e = forth_gen(rng)
    e["traffic"].update(resync=4096)
    for s in [e["fabric"]["switch"]]:
        s["resync"] = 4096
    where = "t*.link"
    if e["fabric"]["type"] == "switch":
        where = rng.choice(["t*.link", "s0.port*"])
    e["faults"] = [rng.choice([
        {"on": where, "type": "fault.bits", "rate": rng.choice([1e-6, 1e-5]),
         "target": rng.choice(["any", "credit", "header", "body", "control"])},
        {"on": where, "type": "fault.drop", "packets": 0.01},
        {"on": where, "type": "fault.cut", "at": "20us", "length": "5us"},
        {"on": where, "type": "fault.delay", "max": "100ns"},
    ])]
    e["run"] = {"until": "5ms"}
    e["expect"] = {"t*.corrupt": 0, "t*.overflow": 0}
    return e


def forth_nodes(rng):
    n = rng.randint(2, 5)
    return nodes(rng, n, {"type": "host.pc"}, {"type": "bus.pcix"},
                 {"type": "forth.nic", "preset": "plat-switch"},
                 {"type": "switch", "link": {"type": "forth.link"},
                  "switch": {"type": "forth.xbar", "preset": "plat-switch"}})


# ---- direct networks, EXTOLL, Host Port ----

def grid(rng, most=32):
    while True:
        dims = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
        n = 1
        for d in dims:
            n *= d
        if 2 <= n <= most:
            return n, dims


def graph(rng):
    """A connected graph: a random tree and a few more cables; a crossbar has
    six links."""
    n, cables, free = rng.randint(2, 10), [], {}
    for i in range(n):
        free[i] = 6
    for i in range(1, n):
        j = rng.choice([k for k in range(i) if free[k]])
        cables.append([j, i])
        free[i] -= 1
        free[j] -= 1
    for _ in range(rng.randint(0, n)):
        i, j = rng.sample(range(n), 2)
        if free[i] and free[j] and [i, j] not in cables and \
                [j, i] not in cables:
            cables.append([i, j])
            free[i] -= 1
            free[j] -= 1
    return n, {"type": "graph", "routes": "up_down", "cables": cables}


def direct_fabric(rng):
    kind = rng.choice(["torus", "torus", "mesh", "hypercube", "graph"])
    if kind == "graph":
        n, fabric = graph(rng)
    elif kind == "hypercube":
        k = rng.randint(1, 4)
        n, fabric = 1 << k, {"type": kind, "dims": k}
    else:
        n, dims = grid(rng)
        fabric = {"type": kind, "dims": dims}
    fabric.update(switch={"type": "extoll.xbar"},
                  link={"type": "extoll.cable",
                        "length": rng.choice([0.1, 1, 5, 20])})
    return n, fabric


def extoll_gen(rng):
    n, fabric = direct_fabric(rng)
    packets = rng.randint(1, 80)
    t = {"count": n, "type": "extoll.gen", "packets": packets, "verify": True,
         "pattern": rng.choice(["uniform", "tornado", "neighbour", "hotspot",
                                "permutation"]),
         "load": rng.choice([0.02, 0.2, 0.8, 3]), **pair(rng, SIZES)}
    return {"traffic": t, "fabric": fabric, "run": {"until": "50ms"},
            "expect": {"t*.misrouted": 0, "t*.corrupt": 0, "t*.disorder": 0,
                       "t*.backlog": 0}}


def extoll_damaged(rng):
    e = extoll_gen(rng)
    e["faults"] = [{"on": "s0.lp*", "type": "fault.bits",
                    "rate": rng.choice([1e-6, 1e-5, 1e-4]),
                    "target": rng.choice(["any", "payload", "ack", "credit",
                                          "seq", "crc"])}]
    return e


def extoll_nodes(rng):
    n, dims = grid(rng, 8)
    return nodes(rng, n, {"type": "host.pc", "preset": "opteron"},
                 {"type": "bus.ht"}, {"type": "extoll.nic"},
                 {"type": "torus", "dims": dims,
                  "switch": {"type": "extoll.xbar"},
                  "link": {"type": "extoll.cable"}})


def hostport_nodes(rng):
    n, dims = grid(rng, 8)
    e = nodes(rng, n, {"type": "host.pc", "preset": "opteron"},
              {"type": "bus.ht"},
              {"type": "hostport.nic", "net_clock": "312.5MHz"},
              {"type": "torus", "dims": dims,
               "switch": {"type": "extoll.xbar", "preset": "hostport"},
               "link": {"type": "extoll.cable"}})
    e["workload"].insert(0, {"program": "hostport.driver"})
    return e


def two_nodes(rng, host, bus, nic, fabric, program):
    return {"nodes": {"count": 2, "host": host, "bus": bus, "nic": nic},
            "fabric": fabric, "workload": [program]}


def extoll_programs(rng):
    n, dims = grid(rng, 8)
    e = extoll_nodes(rng)
    e["nodes"]["count"], e["fabric"]["dims"] = n, dims
    e["workload"] = rng.sample([
        {"program": "extoll.alltoall", "count": rng.randint(1, 20), "size": 1,
         "size_max": rng.randint(1, 64)},
        {"program": "extoll.rma_lock", "count": rng.randint(1, 3)},
        {"program": "extoll.rma_get_bw", "count": rng.randint(1, 10),
         "size": rng.choice([8, 104, 4096])},
        {"program": "extoll.rma_put_bw", "count": rng.randint(1, 10),
         "size": rng.choice([8, 104, 4096])}], rng.randint(1, 3))
    return e


def hostport_ways(rng):
    e = two_nodes(
        rng, {"type": "host.pc", "preset": "xeon"},
        {"type": "bus.pci", "preset": "pci66"},
        {"type": "hostport.nic", "net_clock": "312.5MHz"},
        {"type": "mesh", "dims": [2],
         "switch": {"type": "extoll.xbar", "preset": "hostport"},
         "link": {"type": "extoll.cable", "length": 5.5}},
        {"program": rng.choice(["hostport.pingpong", "hostport.stream"]),
         "count": rng.randint(1, 10), "size": 8 * rng.randint(1, 600),
         "way": rng.choice(["send", "posted", "put", "get"])})
    e["workload"].insert(0, {"program": "hostport.driver"})
    return e


def atoll(rng):
    mode = rng.choice(["pio", "dma"])
    return two_nodes(
        rng, {"type": "host.pc"}, {"type": "bus.pcix"}, {"type": "atoll.nic"},
        {"type": "list", "link": {"type": "link.cable", "delay": "27.5ns"},
         "cables": [["n0.nic.link0", "n1.nic.link1"]]},
        {"program": "atoll.pingpong", "count": rng.randint(1, 30),
         "size": rng.choice([8, 64] if mode == "pio" else [8, 1000, 4096]),
         "mode": mode})


def forth_rounds(rng):
    """Paths that reorder: resequencing."""
    multi = rng.random() < 0.6
    e = nodes(rng, rng.randint(2, 6), {"type": "host.pc"},
              {"type": "bus.pcix"},
              {"type": "forth.nic",
               "preset": "plat-multi" if multi else "plat-switch"},
              {"type": "switch", "count": 4 if multi else 1,
               "link": {"type": "forth.link"},
               "switch": {"type": "forth.xbar", "preset": "plat-switch"}})
    e["workload"] = [{"program": "forth.rounds", "rounds": rng.randint(1, 3)}]
    if rng.random() < 0.7:
        e["faults"] = [{"on": "s*.port*", "type": "fault.delay",
                        "max": rng.choice(["1us", "20us"]), "share": 0.2}]
    return e


# ---- Ethernet ----

def ethernet(rng):
    n, frames = rng.randint(2, 8), rng.randint(1, 60)
    t = {"count": n, "type": "eth.gen", "stations": n, "frames": frames,
         "size": rng.randint(60, 1514), "gaps": rng.choice(["even", "random"]),
         "load": rng.choice([0.05, 0.1])}
    return {"traffic": t,
            "fabric": {"type": "switch", "link": {"type": "eth.cable"},
                       "switch": {"type": "eth.switch", "ports": n}},
            "run": {"until": "200ms"},
            "expect": {"t*.lost": 0, "t*.late": 0, "t*.wrong": 0}}


def hvia_nodes(rng):
    n = rng.randint(2, 4)
    fabric = {"type": "switch", "link": {"type": "eth.cable"},
              "switch": {"type": "eth.switch", "ports": n}}
    if n == 2 and rng.random() < 0.5:
        fabric = {"type": "direct", "link": {"type": "eth.cable"}}
    return nodes(rng, n, {"type": "host.pc", "preset": "hvia"},
                 {"type": "bus.pci", "preset": "pci64-66"},
                 {"type": "hvia.nic"}, fabric)


def stacks(rng):
    kind = rng.choice(["vipl", "mvia", "tcpip"])
    program = {"program": kind + ".pingpong", "count": rng.randint(1, 5),
               "size": rng.choice([1, 4, 64, 1472, 1473, 5000, 20000])}
    if kind == "vipl":
        program.update(op=rng.choice(["send", "rdma"]),
                       wait=rng.choice(["poll", "block"]))
    return two_nodes(rng, {"type": "host.pc", "preset": "hvia"},
                     {"type": "bus.pci", "preset": "pci64-66"},
                     {"type": "hvia.nic" if kind == "vipl" else "eth.nic"},
                     {"type": "direct", "link": {"type": "eth.cable"}},
                     program)


# ---- caches ----

def caches(rng):
    words = rng.randint(1, 400)
    return {"traffic": {"type": "coh.system", "into": "region", "pollers": 0,
                        "words": words, "interval": rng.randint(20, 80),
                        "jitter": rng.randint(0, 80), "ops": 500, "gap": 4,
                        "stores": rng.random(), "uncached": 0.05,
                        "cores": rng.choice([2, 3, 4, 8]),
                        "size": rng.choice(["512", "2KiB", "16KiB"]),
                        "ways": rng.choice([1, 2, 4]),
                        "delivery": rng.choice(["memory", "invalidate",
                                                "update"]),
                        "update_alloc": rng.random() < 0.5,
                        "region": rng.choice(["1KiB", "8KiB"])},
            "run": {"until": "1s"},
            "expect": {"t0.errors": 0, "t0.delivered": words}}


# ---- routers ----

def product(numbers):
    n = 1
    for k in numbers:
        n *= k
    return n


def grid_shape(rng):
    dims = [rng.randint(2, 4) for _ in range(rng.randint(1, 3))]
    return dims, rng.choice([1, 1, 2]), product(dims)


def power_shape(rng):
    return [rng.choice([2, 2, 3])] * rng.randint(1, 3), None, None


def dragonfly_shape(rng):
    a, h = rng.randint(2, 4), rng.randint(1, 2)
    groups = rng.randint(2, a * h + 1)
    return [a, h, groups], rng.choice([1, 2]), a * groups


def dragonfly_plus_shape(rng):
    leaves, spines, h = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 2)
    groups = rng.randint(2, spines * h + 1)
    return [leaves, spines, h, groups], rng.choice([1, 2]), leaves * groups


GRID = ["dimension_order", "valiant", "minimal_adaptive"]
MESH = GRID + ["romm", "o1turn", "xy_yx_adaptive"]
FLAT = GRID + ["o1turn", "xy_yx_adaptive", "ugal"]
TREE = ["nearest_common_ancestor", "d_mod_k", "nca_adaptive"]
PLUS = ["minimal", "valiant", "ugal", "ugal_global"]
# Topology -> dims, ends of a router and routers with ends (None, None: one end
# for each tuple of digits), and routings.
ROUTED = {
    "mesh": (grid_shape, MESH), "torus": (grid_shape, GRID),
    "fly": (power_shape, ["destination_tag"]),
    "fat_tree": (power_shape, TREE), "hyperx": (grid_shape, FLAT),
    "dragonfly": (dragonfly_shape, PLUS + ["valiant_group", "progressive"]),
    "dragonfly_plus": (dragonfly_plus_shape, PLUS),
}


# Settings of the classes of routers. Those with output queues have places for
# each packet that their buffers take.
QUEUED = [
    lambda rng: {},
    lambda rng: {"type": "net.router_oq", "queue_flits": rng.choice([32, 50]),
                 "speedup": rng.choice([0, 1, 2])},
    lambda rng: {"type": "net.router_sm", "reserved": 32,
                 "cells": rng.choice([8192, 20000]),
                 "share": rng.choice(["static", "complete", "dynamic"]),
                 "alpha": rng.choice([0.25, 1, 4])},
]


def routed(rng):
    """Packets through routers with virtual channels. A network that its routing
    would need more of them for is refused."""
    kind = rng.choice(sorted(ROUTED))
    shape, routings = ROUTED[kind]
    dims, ends, n = shape(rng)
    n = n * ends if ends else product(dims)
    packets = rng.randint(1, 60)
    fabric = {"type": "routed", "topology": kind, "dims": dims,
              "routing": rng.choice(routings),
              "switch": {"type": "net.router", "vcs": rng.randint(2, 6),
                         "buf_flits": rng.choice([8, 9, 32]),
                         "flow": rng.choice(["wormhole", "cut_through",
                                             "store_and_forward"])},
              "link": {"type": "net.channel",
                       "latency": rng.choice([1, 2, 7])},
              "net": {"type": "net.meter"}}
    if ends:
        fabric["ends"] = ends
    fabric["switch"].update(rng.choice(QUEUED)(rng))
    t = {"count": n, "type": "net.source", "load": rng.choice([0.1, 0.5, 2]),
         "pattern": rng.choice(["uniform", "hotspot", "neighbour"]),
         "self": True, "flits": rng.choice([1, 2, 5, 8]), "packets": packets}
    return {"traffic": t, "fabric": fabric, "run": {"until": "1ms"},
            "expect": {"t*.sent": packets, "net.sent": n * packets,
                       "net.received": n * packets}}


# ---- disks ----

def disks(rng):
    """A remote disk, all bytes verified."""
    system = rng.choice([
        ({"type": "bus.pcix"}, {"type": "forth.nic",
                                "preset": "plat-direct4"},
         {"type": "direct", "link": {"type": "forth.link"}}),
        ({"type": "bus.ht"}, {"type": "extoll.nic"},
         {"type": "torus", "dims": [2], "switch": {"type": "extoll.xbar"},
          "link": {"type": "extoll.cable"}})])
    e = two_nodes(rng, {"type": "host.pc"}, *system, {
        "program": "disk.load", "on": 0, "link": "ep",
        "count": rng.randint(1, 40), "pattern": "random", "range": "1MiB",
        "size": 512, "size_max": 512 * rng.choice([1, 8, 64]),
        "depth": rng.choice([1, 4, 16]), "flush": rng.choice([0, 5]),
        "trim": rng.choice([0, 5]), "zero": rng.choice([0, 5]),
        "fua": rng.choice([0, 10])})
    e["workload"].append({"program": "disk.target", "on": 1, "link": "ep",
                          "size": "2MiB"})
    return e


def nodes(rng, n, host, bus, nic, fabric):
    """Checked messages from every node to every other."""
    return {"nodes": {"count": n, "host": host, "bus": bus, "nic": nic},
            "fabric": fabric,
            "workload": [{"program": "ep.traffic",
                          "count": rng.randint(1, 25), **pair(rng),
                          "pattern": rng.choice(["uniform", "round-robin"]),
                          "use_irq": rng.random() < 0.3}]}


FAMILIES = {f.__name__: f for f in (
    forth_gen, forth_damaged, forth_nodes, extoll_gen, extoll_damaged,
    extoll_nodes, extoll_programs, hostport_nodes, hostport_ways, atoll,
    forth_rounds, ethernet, hvia_nodes, stacks, caches, routed, disks)}


def machine(rng):
    name = rng.choice(sorted(FAMILIES))
    e = FAMILIES[name](rng)
    e["seed"] = rng.randrange(1 << 32)
    return name, e


# ---- wrong settings on purpose ----

WRONG = [-1, 0, "", "none", None, [], {}, "1e400", 1 << 70, "12qs", "3..4",
         True, [1, 2], {"type": "no.such"}, "forth.nic", 1e-30]


def places(tree, path=()):
    """All paths of a tree of dictionaries and lists."""
    if path:
        yield path
    items = tree.items() if isinstance(tree, dict) else \
        enumerate(tree) if isinstance(tree, list) else ()
    for k, v in items:
        yield from places(v, path + (k,))


def at(tree, path):
    for k in path:
        tree = tree[k]
    return tree


def spoil(rng, e):
    """One place gets another value, goes, or gets a neighbour."""
    path = rng.choice([p for p in places(e) if p[0] != "expect"])
    parent, key = at(e, path[:-1]), path[-1]
    how = rng.random()
    if how < 0.7:
        parent[key] = rng.choice(WRONG)
    elif how < 0.9 or not isinstance(parent, dict):
        del parent[key]
    else:
        parent["x" + str(key)] = parent[key]
    e.pop("expect", None)
    return e
