# SPDX-License-Identifier: Apache-2.0
"""A client that speaks NBD itself, to send what no other client would."""
import socket
import struct

READ, WRITE, DISC, FLUSH, TRIM, ZERO = 0, 1, 2, 3, 4, 6
EIO, ENOMEM, EINVAL, ENOSPC, ESHUTDOWN = 5, 12, 22, 28, 108


class Raw:
    open = []

    def __init__(self, path):
        self.s = socket.socket(socket.AF_UNIX)
        Raw.open.append(self.s)
        self.s.settimeout(20)
        self.s.connect(path)
        assert self.get(16) == b"NBDMAGICIHAVEOPT"
        self.get(2)
        self.s.sendall(struct.pack(">I", 3))  # fixed newstyle, no zeroes
        self.s.sendall(b"IHAVEOPT" + struct.pack(">II", 1, 0))
        self.size, self.flags = struct.unpack(">QH", self.get(10))

    def get(self, n):
        b = b""
        while len(b) < n:
            part = self.s.recv(n - len(b))
            if not part:
                raise EOFError
            b += part
        return b

    def send(self, kind, offset, length, data=b"", flags=0, handle=7):
        self.s.sendall(struct.pack(">IHHQQI", 0x25609513, flags, kind, handle,
                                   offset, length) + data)

    def reply(self):
        magic, error, _ = struct.unpack(">IIQ", self.get(16))
        assert magic == 0x67446698
        return error

    def ask(self, *args, **kw):
        self.send(*args, **kw)
        return self.reply()
