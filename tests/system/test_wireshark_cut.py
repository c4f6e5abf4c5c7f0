#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records that end behind the headers (docs/captures.md): runs without
payload, and, where the bytes are there in every run, records cut afterwards.
The rest is decoded as in whole records, nothing is malformed.

    test_wireshark_cut.py WEFT ROOT [unittest options]
"""
import struct
import sys
import unittest

sys.dont_write_bytecode = True

from test_wireshark import Captured

CRCS = ("forth.body_crc", "extoll.crc", "atoll.crc", "weft_eth.fcs")


def cut(path, keep):
    """Records to keep(link type, record) bytes."""
    with open(path, "rb") as f:
        data = f.read()
    out, at, types = b"", 0, []
    while at < len(data):
        kind, n = struct.unpack_from("<II", data, at)
        body = data[at + 8:at + n - 4]
        if kind == 1:
            types.append(struct.unpack_from("<H", body)[0])
        elif kind == 6:
            iface, have = struct.unpack_from("<I8xI", body)
            record = bytearray(body[20:20 + have])
            have = min(have, keep(types[iface], record))
            body = body[:12] + struct.pack("<I", have) + body[16:20] + \
                record[:have] + bytes(-have & 3)
            n = len(body) + 12
        out += struct.pack("<II", kind, n) + body + struct.pack("<I", n)
        at += (struct.unpack_from("<I", data, at + 4))[0]
    with open(path, "wb") as f:
        f.write(out)


PACKED = """
traffic: { count: 2, type: forth.gen, dests: 2, pattern: fixed, size: 48,
           packets: 20, frame: packed }
fabric:
  type: direct
  link: { type: forth.link }
run: { until: 100us }
"""


class Cut(Captured):
    def both(self, fields, name, *sets):
        """Rows without and with payload, line by line: the same fields, no
        CRC where bytes are missing."""
        seen = []
        for payload in "none", "carried":
            self.run_(name, *sets, "payload=" + payload)
            rows = self.rows("weft.missing", "frame.len", *CRCS, *fields)
            self.clean(rows)
            seen.append(sorted(rows, key=lambda r: r["frame.interface_name"]))
        self.assertEqual(*([[r[f] for f in ("frame.len", *fields)]
                            for r in rows] for rows in seen))
        self.assertFalse(any(r["weft.missing"] for r in seen[1]))
        missing = [r for r in seen[0] if r["weft.missing"]]
        for r in missing:
            self.assertFalse(any(r[f] for f in CRCS), r)
        return missing

    def whole(self, field, name, *sets):
        """A run without payload that has its bytes all the same."""
        self.run_(name, *sets, "payload=none")
        rows = self.rows("weft.missing", field)
        self.clean(rows)
        self.assertFalse(any(r["weft.missing"] for r in rows))
        self.assertTrue(any(r[field] for r in rows))

    FORTH = ("forth.flow", "forth.size", "forth.addr", "forth.header_crc",
             "forth.credit.total", "forth.charge", "forth.sent",
             "forth.number")

    def test_forth_without_payload_shows_the_same_fields(self):
        missing = self.both(self.FORTH, "forth/benes", "sweep=none",
                            "traffic.warmup=1us", "run.until=15us")
        self.assertGreater(len(missing), 50)
        for r in missing:
            self.assertEqual(r["weft.missing"], ["516"])

    def test_packed_frames_without_payload_show_the_same_fields(self):
        missing = self.both(self.FORTH, PACKED)
        self.assertEqual(len(missing), 40)
        self.assertEqual({r["weft.missing"][0] for r in missing}, {"52"})

    def test_bundles_without_payload_show_the_same_fields(self):
        missing = self.both(self.FORTH, "forth/bundle", "sweep=none",
                            "workload.stream=3")
        whole = [r for r in missing if r["forth.flow"]]
        self.assertGreater(len(whole), 3)
        self.assertEqual(len(missing), 4 * len(whole))

    def test_extoll_without_payload_shows_the_same_fields(self):
        for width in "w16", "w32":
            fields = ["extoll.vc", "extoll.sop", "extoll.eop", "extoll.cells",
                      "extoll.route", "extoll.outstanding", "rma.command",
                      "rma.count", "rma.write_nla", "velo.length"]
            if width == "w32":
                fields += ["extoll.seq", "extoll.unacked", "extoll.acked"]
            missing = self.both(fields, "extoll/rma-put-bw",
                                "workload.count=4", "nodes.nic.width=" + width,
                                "fabric.switch.width=" + width)
            self.assertTrue(any(r["rma.count"] for r in missing))

    def test_cells_without_payload_show_the_same_fields(self):
        missing = self.both(("extoll.seq", "extoll.route", "extoll.eop"),
                            "extoll/net-torus", "sweep=none",
                            "fabric.net.measure=100", "traffic.load=0.1",
                            "fabric.net.warmup=100", "traffic.verify=no")
        self.assertEqual({tuple(r["weft.missing"]) for r in missing},
                         {("56",), ("16", "64")})  # cells; the packet

    def test_ultra_packets_keep_their_payload(self):
        self.whole("hostport.payload", "hostport/ultra-pingpong",
                   "workload.count=5")

    def test_cut_atoll_frames_show_no_crc(self):
        self.whole("atoll.payload", "hostport/atoll-pingpong",
                   "workload.count=5")

        def keep(_, r):
            if r[20] != 0x20:  # data flits
                return len(r)
            r[2] |= 4
            return 22
        cut(self.path, keep)
        rows = self.rows("atoll.seq", "weft.missing", *CRCS)
        self.clean(rows)
        missing = [r for r in rows if r["weft.missing"]]
        self.assertGreater(len(missing), 5)
        for r in missing:
            self.assertTrue(r["atoll.seq"] and not r["atoll.crc"])

    def test_cut_ethernet_frames_show_no_fcs(self):
        self.whole("hvia.data", "hvia/latency", "sweep=none",
                   "workload.size=4096")
        for n in 60, 20:
            cut(self.path, lambda *_: n)
            rows = self.rows("hvia.seq", "weft.missing", *CRCS)
            self.clean(rows)
            for r in rows:
                self.assertTrue(r["weft.missing"], r)
                self.assertFalse(r["weft_eth.fcs"], r)
                self.assertEqual(bool(r["hvia.seq"]), n >= 42)


if __name__ == "__main__":
    unittest.main()
