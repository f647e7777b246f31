"""The guest of `vermilion sandbox`: its files, its first process, and QEMU with two NICs wired through the simulated card.

Namespaces `a` (10.0.0.1) and `b` (10.0.0.2) hold one virtio NIC each. What `a` sends goes through the lane to `b`; what `b` sends goes straight
to `a`. Both NICs have no offloads, so each frame on the wire is one that a port would carry.
"""

import json
import re
from pathlib import Path

from vermilion.toolchain import build

from . import driver_guest, guest, guest_tools

KERNEL = "6.12"
PACKAGES = ("bash", "iperf3", "iputils-ping")  # busybox' shell prefers its own ip and ping
MEMORY = "384M"
NAMES = {"a": ("02:00:00:00:00:0a", "10.0.0.1"), "b": ("02:00:00:00:00:0b", "10.0.0.2")}
# In this order, as one needs the other. netem and dctcp are for experiments; u32 and pedit change a packet's ECN field.
MODULES = "failover net_failover virtio_net inet_diag tcp_diag tcp_dctcp tcp_bbr sch_ingress sch_netem cls_u32 act_pedit libcrc32c act_csum"
PROGRAMS = {"bin/ss": "bin/ss"}  # of iproute2, beside those of driver_guest
OFF = "csum gso guest_csum guest_tso4 guest_tso6 guest_ecn guest_ufo host_tso4 host_tso6 host_ecn host_ufo mrg_rxbuf"
STATUS = re.compile(rb"^sandbox-status (\d+)\r?$", re.M)

INIT = """#!/bin/sh
export HOME=/ PATH=/bin TERM=TERMINAL
/bin/busybox --install -s /bin 2> /dev/null
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/pts && mount -t devpts none /dev/pts
{load}
for module in {modules}; do insmod /modules/net/$module.ko || echo failed $module; done
ip link set $lane down
ip link set $lane name lane
ip link set lane up
export lane=lane device card
ip link set lo up
for name in a b; do
  ip netns add $name
  ip -n $name link set lo up
  for sysctl in net.ipv4.tcp_ecn=1 net.ipv6.conf.all.disable_ipv6=1; do $name sysctl -q -w $sysctl; done
done
plug() {{
  for each in /sys/class/net/*; do
    [ "$(cat $each/address)" = $2 ] || continue
    ip link set ${{each##*/}} netns $1 name eth0
    ip -n $1 link set eth0 up
    ip -n $1 addr add $3/24 dev eth0
  done
}}
{plugs}
b iperf3 -s -D > /dev/null
netlink_relay /dev/ttyS3
cd /
stty -F /dev/ttyS1 raw -echo
if [ -e /command ]; then
  report=/dev/ttyS0
  sh /command > /dev/ttyS1 2>&1 < /dev/null
else
  report=/dev/ttyS1
  stty rows ROWS cols COLUMNS
  cat /welcome
  setsid cttyhack /bin/bash --login
fi
echo "sandbox-status $?" > $report
poweroff -f
"""
WITHIN = """#!/bin/sh
[ $# = 0 ] && exec ip netns exec {name} sh
exec ip netns exec {name} "$@"
"""
WELCOME = """
lane           the card's port as a netdev: tc, ethtool and devlink take it
vermilionctl   settings by netlink; its files are those of the folder where the sandbox was started
a, b           run a command in a namespace: a ping 10.0.0.2; a iperf3 -c 10.0.0.2
exit           ends the sandbox; so does Ctrl-A X

What a sends passes through the lane, what b sends does not.
"""
PROFILE = "PS1='sandbox# '\n"


def packages(say=build.quiet) -> Path:
    """The folder of iperf3 and ping with every library: `system/`."""

    def make(root: Path):
        wanted = ["install", "--no-install-recommends", "--download-only", *PACKAGES]
        guest.apt(root, root / "log", "apt-get", "-q", "-y", *wanted)
        guest.unpack(root / "cache/archives", root / "system")

    return driver_guest.once("guest-sandbox", make, say)


def programs(say) -> dict[str, tuple[int, bytes]]:
    """Those that the driver's guest does not have, with their libraries."""
    more, tools = packages(say), driver_guest.tools(say)
    found = {
        "bin/bash": more / "system/bin/bash",
        "bin/iperf3": more / "system/usr/bin/iperf3",
        "bin/ping": more / "system/bin/ping",
    }
    found |= {name: tools / "system" / place for name, place in PROGRAMS.items()}
    data = {name: path.read_bytes() for name, path in found.items()}
    shared = driver_guest.needed(more, list(data.values())) | driver_guest.needed(tools, list(data.values()))
    out = {name: (0o100755, content) for name, content in data.items()}
    return out | {f"lib/{name}": (0o100755, content) for name, content in shared.items()}


def modules() -> dict[str, tuple[int, bytes]]:
    out = {"modules/net": (0o40755, b"")}
    system = driver_guest.kernel(KERNEL) / "system"
    for name in MODULES.split():
        out[f"modules/net/{name}.ko"] = (0o100644, driver_guest.plain_module(next(system.rglob(f"{name}.ko*"))))
    return out


def files(command: str | None, terminal: tuple[int, int, str], say) -> dict[str, tuple[int, bytes]]:
    """All files of the guest. `command`: a script to run in place of a shell; `terminal`: its columns, rows and kind."""
    columns, rows, kind = terminal
    plugs = "\n".join(f"plug {name} {mac} {address}" for name, (mac, address) in NAMES.items())
    init = INIT.format(load=driver_guest.LOAD, modules=MODULES, plugs=plugs)
    for word, value in {"TERMINAL": kind, "ROWS": str(rows), "COLUMNS": str(columns)}.items():
        init = init.replace(word, value)
    home = guest.setup(say)
    folders = ("bin", "dev", "etc", "proc", "run", "sys", "var")
    out = {name: (0o40755, b"") for name in folders} | {"bin/sh": (0o120777, b"bash")}
    out["var/run"] = (0o120777, b"/run")
    out["bin/busybox"] = (0o100755, (home / "guest/usr/bin/busybox").read_bytes())
    out["bin/mount"] = (0o120777, b"busybox")
    out["init"] = (0o100755, init.encode())
    out["welcome"] = (0o100644, WELCOME.encode())
    hosts = "".join(f"{address} {name}\n" for name, (_, address) in NAMES.items())
    out["etc/hosts"] = (0o100644, hosts.encode())
    out["etc/profile"] = (0o100644, PROFILE.encode())
    out["etc/passwd"] = (0o100644, b"root:x:0:0:root:/:/bin/sh\n")
    if command is not None:
        out["command"] = (0o100644, command.encode() + b"\n")
    out["bin/vermilionctl"] = (0o100755, guest_tools.SCRIPT.encode())
    out["bin/netlink_relay"] = (0o100755, guest_tools.relay_program(say))
    out |= {f"bin/{name}": (0o100755, WITHIN.format(name=name).encode()) for name in NAMES}
    return out | driver_guest.files(KERNEL) | programs(say) | modules()


def machine(folder: Path, console: str, output: str) -> list[str]:
    """QEMU's command line. In `folder`: `initramfs`, the sockets `device`, `in`, `a` and `b`, and those of guest_tools, `words` and `netlink`.

    `console`, `output`: where the first two serial lines go. With a command the second is its output, and the console tells the status; else the second does.
    """
    kernel = next(driver_guest.kernel(KERNEL).glob("system/boot/vmlinuz-*"))
    socket = {"path": str(folder / "device"), "type": "unix"}
    card = json.dumps({"driver": "vfio-user-pci", "socket": socket, "x-msg-timeout": guest.ANSWER_WITHIN})
    command = [*guest.qemu(), "-accel", "tcg", "-M", "q35,memory-backend=m0", "-m", MEMORY, "-smp", str(guest.CPUS)]
    command += ["-nodefaults", "-no-reboot", "-display", "none", "-device", card]
    command += ["-object", f"memory-backend-memfd,id=m0,size={MEMORY},share=on"]
    off = "".join(f",{each}=off" for each in OFF.split())
    for (name, (mac, _)), to in zip(NAMES.items(), ("in", "a"), strict=True):
        ends = f"local.type=unix,local.path={folder / name},remote.type=unix,remote.path={folder / to}"
        command += ["-netdev", f"dgram,id={name},{ends}"]
        command += ["-device", f"virtio-net-pci,netdev={name},mac={mac},romfile={off}"]
    lines = [f"unix:{folder / name},server=on,wait=off" for name in ("words", "netlink")]
    for each in [console, output, *lines]:
        command += ["-serial", each]
    command += ["-kernel", str(kernel), "-initrd", str(folder / "initramfs"), "-append", guest.PARAMETERS]
    return command
