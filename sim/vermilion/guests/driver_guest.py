"""A Linux guest with the driver: kernels with their headers, the module built for them, iproute2 and ethtool.

Kernels and tools are Debian 12's, as its headers can be used on 12 and later: 6.1 is its own, 6.12 is in its backports. All is fetched as
`guest.py` does it, once, and only unpacked, in `.vermilion/guest-KERNEL` and `.vermilion/guest-tools`.
"""

import lzma
import re
import shutil
import subprocess
from pathlib import Path

from vermilion.toolchain import build

from . import guest

SUITES = ("bookworm", "bookworm-backports")
KERNELS = {"6.1": r"linux-image-6\.1\.0-\d+-cloud-amd64", "6.12": r"linux-image-6\.12\.\d+\+deb12-cloud-amd64"}
SCHEDULERS = ("sch_red", "sch_gred", "sch_prio", "sch_ets", "sch_tbf", "sch_drr")
FILTERS: tuple[str, ...] = ("libcrc32c", "act_csum", "act_gact", "act_pedit", "act_police", "act_skbedit")
FILTERS += ("cls_flower", "cls_matchall", "sch_ingress")
PROGRAMS = ("sbin/tc", "sbin/devlink", "sbin/dcb", "bin/ip", "sbin/ethtool")
DRIVER = build.ROOT / "sw_driver"
VERSION = "1"  # of what is set up


def once(name: str, make, say) -> Path:
    """A folder beside the guest's that `make` fills, kept."""
    guest.check_system()
    root = build.HOME / name
    with build.locked("driver-lock"):
        ready = root / "ready"
        if not (ready.exists() and ready.read_text() == VERSION):
            say(f"packages for {name}")
            guest.source(root, SUITES)
            make(root)
            ready.write_text(VERSION)
    return root


def kernel(version: str, say=build.quiet) -> Path:
    """The folder of a kernel: `system/` is the root of its image, headers and build tools."""

    def make(root: Path):
        log = root / "log"
        image = guest.newest(root, KERNELS[version])
        headers = image.replace("image", "headers")
        needs = re.findall(
            r"Depends: (linux-(?:headers|kbuild)-\S+)", guest.apt(root, log, "apt-cache", "depends", headers)
        )
        guest.apt(root, log, "apt-get", "-q", "download", image, headers, *needs)
        guest.unpack(root / "debs", root / "system")
        # Only for BTF, which asks for another tool.
        for vmlinux in root.glob("system/usr/src/linux-headers-*/vmlinux"):
            vmlinux.unlink()
        for makefile in root.glob("system/usr/src/linux-headers-*-cloud-amd64/Makefile"):
            makefile.write_text(makefile.read_text().replace("/usr/src", str(root / "system/usr/src")))

    return once(f"guest-{version}", make, say)


def tools(say=build.quiet) -> Path:
    """The folder of iproute2 and ethtool with every library: `system/`."""

    def make(root: Path):
        wanted = ["install", "--no-install-recommends", "--download-only", "iproute2", "ethtool"]
        guest.apt(root, root / "log", "apt-get", "-q", "-y", *wanted)
        guest.unpack(root / "cache/archives", root / "system")

    return once("guest-tools", make, say)


def checkers(say=build.quiet) -> Path:
    """The folder of what reads kernel sources: `system/usr/bin/sparse` and `scripts/checkpatch.pl`, out of Linux' own sources."""

    def make(root: Path):
        guest.apt(root, root / "log", "apt-get", "-q", "download", "sparse", "linux-source-6.12")
        unpacked = root / "debs" / "unpacked"
        guest.unpack(root / "debs", unpacked)
        shutil.copytree(unpacked / "usr/bin", root / "system/usr/bin")
        sources = next(unpacked.glob("usr/src/*.tar.xz"))
        names = ["*/scripts/checkpatch.pl", "*/scripts/spelling.txt", "*/scripts/const_structs.checkpatch"]
        subprocess.run(["tar", "xJf", sources, "-C", root, "--strip-components=1", "--wildcards", *names], check=True)
        shutil.rmtree(unpacked)

    return once("guest-checkers", make, say)


def headers(version: str) -> Path:
    return next(kernel(version).glob("system/usr/src/linux-headers-*-cloud-amd64"))


def sources() -> list[Path]:
    parts = ("kernel", "lib", "netlink")
    return [path for part in parts for path in build.files(f"sw_driver/{part}", "v*.[ch]", "Kbuild")]


def kbuild(where: Path, target: Path, log: Path, *words: str) -> int:
    """Kbuild with the headers at `where` on a copy of the sources, with the warnings that kernel developers want; returns the exit status."""
    command = ["make", "-C", str(where), f"M={target / 'kernel'}", "W=1", *words, "modules"]
    with log.open("w") as out:
        return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode


def module(version: str, say=build.quiet) -> Path:
    """vermilion.ko for a kernel, built from a copy of the sources. What make said is in `../make.log` beside it."""
    where = headers(version)
    target = build.BUILD / f"module-{version}"
    key = build.digest(sources(), str(where))
    made = target / "made"
    with build.locked("driver-lock"):
        if made.exists() and made.read_text() == key:
            return target / "kernel/vermilion.ko"
        say(f"the driver for Linux {version}")
        for path in sources():
            copy = target / path.relative_to(DRIVER)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not copy.exists() or copy.read_bytes() != path.read_bytes():  # make builds what is newer
                shutil.copyfile(path, copy)
        if kbuild(where, target, target / "make.log"):
            raise build.BuildError(
                f"the driver does not build for Linux {version}:\n{(target / 'make.log').read_text()}"
            )
        made.write_text(key)
    return target / "kernel/vermilion.ko"


NIC = "sw_driver/tests/mqnic"


def nic_module(version: str, say=build.quiet) -> Path:
    """mqnic.ko for a kernel: what stands in for Corundum's driver, and creates the auxiliary device that ours binds to."""
    where, sources = headers(version), build.files(NIC, "*.c", "Kbuild")
    target = build.BUILD / f"mqnic-{version}"
    made, key = target / "made", build.digest(sources, str(where))
    with build.locked("driver-lock"):
        if made.exists() and made.read_text() == key:
            return target / "kernel/mqnic.ko"
        say(f"mqnic.ko for Linux {version}")
        (target / "kernel").mkdir(parents=True, exist_ok=True)
        for path in sources:
            shutil.copyfile(path, target / "kernel" / path.name)
        if kbuild(where, target, target / "make.log"):
            raise build.BuildError(f"mqnic.ko does not build for Linux {version}:\n{(target / 'make.log').read_text()}")
        made.write_text(key)
    return target / "kernel/mqnic.ko"


NAME = re.compile(rb"([\w.+-]+\.so[\w.]*)\0")


def libraries(root: Path) -> dict[str, Path]:
    """Every shared library by its own name, and the loader."""
    folder = root / "system"
    found = [*folder.glob("lib/x86_64-linux-gnu/*.so*"), *folder.glob("usr/lib/x86_64-linux-gnu/*.so*")]
    return {path.name: path for path in found if path.is_file()}


def needed(root: Path, programs: list[bytes]) -> dict[str, bytes]:
    """Those libraries whose names stand in the programs, or in a library that is needed."""
    there, todo = libraries(root), list(programs)
    out: dict[str, bytes] = {}
    while todo:
        for name in {found.decode() for found in NAME.findall(todo.pop())} & there.keys() - out.keys():
            out[name] = there[name].read_bytes()
            todo.append(out[name])
    return out


def plain_module(path: Path) -> bytes:
    """A kernel's module, which insmod of busybox wants without compression."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def files(version: str) -> dict[str, tuple[int, bytes]]:
    """What goes into the guest beside busybox: module, schedulers, filters, tc, ip, devlink, ethtool."""
    system, root = kernel(version) / "system", tools()
    programs = {f"bin/{Path(name).name}": (root / "system" / name) for name in PROGRAMS}
    programs = {
        name: (path if path.exists() else root / "system/usr" / path.relative_to(root / "system"))
        for name, path in programs.items()
    }
    out = {name: (0o40755, b"") for name in ("lib", "lib64", "modules", "tmp")}
    out |= {name: (0o100755, path.read_bytes()) for name, path in programs.items()}
    shared = needed(root, [data for mode, data in out.values() if data])
    out |= {f"lib/{name}": (0o100755, data) for name, data in shared.items()}
    out["lib64/ld-linux-x86-64.so.2"] = (0o120777, b"/lib/ld-linux-x86-64.so.2")
    for name in SCHEDULERS + FILTERS:
        out[f"modules/{name}.ko"] = (0o100644, plain_module(next(system.rglob(f"{name}.ko*"))))
    out["modules/vermilion.ko"] = (0o100644, module(version).read_bytes())
    return out


SET_UP = """
export LD_LIBRARY_PATH=/lib
mount -t debugfs none /sys/kernel/debug
for module in /modules/lib*.ko /modules/act_*.ko /modules/cls_*.ko /modules/sch_*.ko MODULES; do insmod $module || echo failed $module; done
device=$(basename $(ls -d /sys/bus/pci/drivers/FRONT/0000:*))
card=CARD
set -- $(cat /sys/bus/pci/devices/$device/resource)
REGISTERS
lanes=$(ls /sys/bus/pci/devices/$device/WHERE)
lane=$(echo $lanes | cut -d ' ' -f 1)
for each in $lanes; do ip link set $each up; done
"""


def set_up(**words) -> str:
    text = SET_UP
    for name, word in words.items():
        text = text.replace(name.upper(), word)
    return text


DRIVER_MODULE = "/modules/vermilion.ko"
# A card of its own, and the application of a NIC.
LOAD = set_up(
    modules=DRIVER_MODULE, front="vermilion", card="$device", registers="registers=$1; interrupts=$7", where="net"
)
LOAD_NIC = set_up(
    modules=f"/modules/mqnic.ko {DRIVER_MODULE}",
    front="mqnic",
    card="mqnic.app_564d0001.0",
    registers="registers=$7; interrupts=$1",
    where="$card/net",
)


def boot(
    version: str,
    device: Path,
    script: str,
    folder: Path,
    alive=lambda: True,
    timeout: float = 600,
    more: dict[str, tuple[int, bytes]] | None = None,
    parameters: str = "",
    serial: Path | None = None,
    load: str = LOAD,
    suspends: bool = False,
) -> str:
    """`guest.boot` with the driver loaded; in `script` $device is the card's PCI address, $card the device that the driver is bound to, $lane the
    representor of its first lane, $lanes those of all egresses of all lanes; $registers and $interrupts are the addresses of those two BARs.

    `more`, `parameters`, `serial` and `suspends`: as there. `load`: LOAD_NIC for the application of a NIC, with mqnic.ko in `more`.
    """
    image = next(kernel(version).glob("system/boot/vmlinuz-*"))
    added = files(version) | (more or {})
    return guest.boot(device, load + script, folder, alive, timeout, image, added, parameters, serial, suspends)
