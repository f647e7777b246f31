"""pyroute2's socket on this side, a guest's kernel on the other: the host's end of sw_driver/tests/netlink_relay.c, over a serial line of the guest."""

import select
import socket
import struct
import threading
from pathlib import Path

PATIENCE_S = 60


class Line(socket.socket):
    """Looks like a netlink socket that is bound already."""

    def bind(self, _address):
        pass

    def sendto(self, data, _address):
        return self.send(data)


class Relay:
    """`fresh()` gives a new socket of the guest's kernel; the one before it is closed there."""

    def __init__(self, serial: Path):
        self.serial = socket.socket(socket.AF_UNIX)
        self.serial.connect(str(serial))
        self.began, self.ended = threading.Event(), threading.Event()
        self.peer: socket.socket | None = None
        self.pump = threading.Thread(target=self.carry, daemon=True)
        self.pump.start()

    def fresh(self) -> Line:
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for end in (mine, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.began.clear()
        self.peer, before = theirs, self.peer
        if before is not None:
            before.close()
        self.serial.sendall(struct.pack("<I", 0))
        if not self.began.wait(PATIENCE_S):
            raise TimeoutError("the guest's relay does not answer")
        return Line(fileno=mine.detach())

    def carry(self):
        held = b""
        while not self.ended.is_set():
            peer = self.peer
            ends = [end for end in (self.serial, peer if self.began.is_set() else None) if end and end.fileno() >= 0]
            try:
                ready, _, _ = select.select(ends, [], [], 0.02)
                if peer is not None and peer in ready:
                    data = peer.recv(1 << 17)
                    self.serial.sendall(struct.pack("<I", len(data)) + data)
                if self.serial not in ready:
                    continue
                came = self.serial.recv(1 << 16)
            except (OSError, ValueError):  # the tool has closed its end, or fresh() that of before
                continue
            if not came:
                return
            held = self.take(held + came)

    def take(self, held: bytes) -> bytes:
        """Whole messages to the socket; returns what is none yet."""
        while len(held) >= 4:
            (length,) = struct.unpack_from("<I", held)
            if len(held) < 4 + length:
                break
            data, held = held[4 : 4 + length], held[4 + length :]
            if not length:
                self.began.set()
            elif self.peer is not None and self.began.is_set():  # else it was for the socket before
                try:
                    self.peer.send(data)
                except OSError:
                    pass  # nobody listens any more
        return held

    def close(self):
        self.ended.set()
        self.pump.join()
        self.serial.close()
