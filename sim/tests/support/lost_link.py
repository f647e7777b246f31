"""A link that can be lost: stands between a vfio-user client and its server, and goes on alone when the server is gone.

As a root complex does, it then completes reads with all ones and swallows writes; so a guest sees what a card that was pulled out, or died,
looks like. QEMU by itself ends when its server does.
"""

import array
import os
import socket
import threading
from pathlib import Path

from vermilion.hardware import vfio_user

FDS = 8


class LostLink:
    def __init__(self, server: Path):
        self.path = server.with_name("link")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(self.path))
        self.listener.listen(1)
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.server.connect(str(server))
        self.lost = False
        self.alone = 0  # reads completed without the server
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        client, _ = self.listener.accept()
        try:
            while True:
                message, fds = receive(client)
                reply = self.answer(message, fds)
                if reply:
                    client.sendall(reply)
        except (OSError, EOFError):
            client.close()
            self.server.close()
            self.listener.close()

    def answer(self, message: bytes, fds: list[int]) -> bytes:
        name, command, size, flags, _ = vfio_user.HEADER.unpack_from(message)
        wanted = not flags & vfio_user.NO_REPLY
        if not self.lost:
            try:
                ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
                self.server.sendmsg([message], ancillary)
                return receive(self.server)[0] if wanted else b""
            except (OSError, EOFError):
                self.lost = True
            finally:
                for fd in fds:
                    os.close(fd)
        if not wanted:
            return b""
        body = message[vfio_user.HEADER.size :]
        if command == vfio_user.REGION_READ:
            self.alone += 1
            body = body[: vfio_user.ACCESS.size] + b"\xff" * vfio_user.ACCESS.unpack_from(body)[2]
        elif command == vfio_user.REGION_WRITE:
            body = body[: vfio_user.ACCESS.size]
        return vfio_user.HEADER.pack(name, command, vfio_user.HEADER.size + len(body), vfio_user.REPLY, 0) + body


def receive(link: socket.socket) -> tuple[bytes, list[int]]:
    """A whole message and the file descriptors that came with it."""
    out, fds, size = b"", [], vfio_user.HEADER.size
    while len(out) < size:
        part, ancillary, _, _ = link.recvmsg(size - len(out), socket.CMSG_SPACE(4 * FDS))
        if not part:
            raise EOFError
        for _, _, data in ancillary:
            fds += array.array("i", data[: len(data) // 4 * 4])
        out += part
        if len(out) >= vfio_user.HEADER.size:
            size = vfio_user.HEADER.unpack_from(out)[2]
    return out, fds
