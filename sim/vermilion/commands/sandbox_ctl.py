"""vermilionctl with a netlink socket of a sandbox's guest: FD, the netdev's number there, and vermilionctl's words (guests/guest_tools.py)."""

import sys

from vermilion.guests.netlink_relay import Line
from vermilionctl import cli, netlink

DEVICE = "netlink:lane"


def main():
    fd, index, *words = sys.argv[1:]
    way = int(index), {"use_socket": Line(fileno=int(fd))}
    netlink.reach = lambda _interface: way
    sys.argv = ["vermilionctl", *([] if words[:1] == ["--help"] else ["--device", DEVICE]), *words]
    cli.main()


if __name__ == "__main__":
    main()
