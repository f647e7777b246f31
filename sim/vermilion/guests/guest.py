"""A Linux guest with the device in it: QEMU, a Debian kernel and busybox, unpacked in `.vermilion/guest` and run from there.

QEMU speaks vfio-user since 10.1, which Debian has in trixie-backports. Packages come from the mirror that this system uses, with package lists
of their own, and are only unpacked, so that the system stays as it is. Without a processor's virtualisation: TCG, always.
"""

import gzip
import json
import platform
import re
import shutil
import subprocess
import time
from pathlib import Path

from vermilion.toolchain import build

FOLDER = build.HOME / "guest"
SUITES = ("trixie", "trixie-backports")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
KERNEL = r"linux-image-6\.12\.\d+\+deb13-cloud-amd64"
VERSION = "1"  # of what is set up
CPUS = 2
# ms that QEMU waits for the device's answer to an access, 5000 by default: on a busy machine the device may need longer.
ANSWER_WITHIN = 60_000
# Without the check at the start that the timer interrupts within some ticks: on a busy machine QEMU is late, and the kernel would panic.
PARAMETERS = "console=ttyS0 panic=-1 quiet iomem=relaxed no_timer_check"


class Unavailable(Exception):
    """This machine cannot have the guest: another system, or no packages to be had."""


class Ended(Exception):
    """A guest that was ended because its device was gone, or its time over."""


def mirror() -> str:
    """Where this system takes Debian's packages from."""
    places = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    for path in places:
        if path.suffix in (".list", ".sources") and path.is_file():
            found = re.search(r"^(?:URIs:|deb(?: \[.*?\])?) *(\S+/debian)/?(?:\s|$)", path.read_text(), re.M)
            if found:
                return found[1]
    raise Unavailable("no Debian mirror stands in /etc/apt")


def apt(root: Path, log: Path, *words: str) -> str:
    """Runs apt-get or apt-cache with lists, cache and state of its own; returns what it prints."""
    out = subprocess.run(
        list(words), env={"PATH": "/usr/bin:/bin", "APT_CONFIG": str(root / "apt.conf")}, cwd=root / "debs",
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    with log.open("a") as handle:
        handle.write(f"{' '.join(words)}\n{out.stdout}{out.stderr}\n")
    if out.returncode:
        raise Unavailable(f"{words[0]} failed; all of it is in {log}")
    return out.stdout


def check_system():
    """Raises Unavailable where Debian's packages for x86-64 are of no use."""
    if platform.machine() != "x86_64" or not shutil.which("apt-get") or not KEYRING.exists():
        raise Unavailable("the guest needs a Debian system on x86-64")


def source(root: Path, suites: tuple[str, ...]):
    """An empty folder from which `apt` works with the lists of these suites alone."""
    shutil.rmtree(root, ignore_errors=True)
    for name in ("state/lists/partial", "cache/archives/partial", "debs"):
        (root / name).mkdir(parents=True)
    (root / "status").touch()
    signed = f"[signed-by={KEYRING}]"
    (root / "sources.list").write_text("".join(f"deb {signed} {mirror()} {suite} main\n" for suite in suites))
    settings = {
        "Dir::State": root / "state",
        "Dir::State::status": root / "status",
        "Dir::Cache": root / "cache",
        "Dir::Etc::sourcelist": root / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "root",
    }
    (root / "apt.conf").write_text("".join(f'{name} "{value}";\n' for name, value in settings.items()))
    apt(root, root / "log", "apt-get", "-q", "update")


def newest(root: Path, pattern: str) -> str:
    """The package of the highest version in its name."""
    names = re.findall(rf"^({pattern}) ", apt(root, root / "log", "apt-cache", "search", "^linux-image-"), re.M)
    if not names:
        raise Unavailable("the mirror has no kernel for the guest")
    return max(names, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])


def unpack(packages: Path, target: Path):
    """All packages of a folder, which are gone then."""
    target.mkdir(parents=True, exist_ok=True)
    for package in sorted(packages.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, target], check=True, stdout=subprocess.DEVNULL)
        package.unlink()


def setup(say=build.quiet) -> Path:
    """The folder with everything, fetched once."""
    check_system()
    with build.locked("guest.lock"):
        ready = FOLDER / "ready"
        if ready.exists() and ready.read_text() == VERSION:
            return FOLDER
        say("QEMU and a kernel for the guest")
        source(FOLDER, SUITES)
        log = FOLDER / "log"
        wanted = ["-t", SUITES[-1], "install", "--no-install-recommends", "--download-only", "qemu-system-x86"]
        apt(FOLDER, log, "apt-get", "-q", "-y", *wanted)
        apt(FOLDER, log, "apt-get", "-q", "download", newest(FOLDER, KERNEL), "busybox-static")
        unpack(FOLDER / "cache/archives", FOLDER / "system")
        unpack(FOLDER / "debs", FOLDER / "guest")
        if "vfio-user-pci" not in subprocess.run([*qemu(), "-device", "help"], capture_output=True, text=True).stdout:
            raise Unavailable("the mirror's QEMU does not speak vfio-user")
        ready.write_text(VERSION)
    return FOLDER


def qemu() -> list[str]:
    """QEMU by its own loader and libraries."""
    system = FOLDER / "system" / "usr"
    loader = next(iter(sorted(system.glob("lib64/ld-linux-x86-64.so.2"))), system / "lib64")
    command = [
        str(loader),
        "--library-path",
        str(system / "lib/x86_64-linux-gnu"),
        str(system / "bin/qemu-system-x86_64"),
    ]
    return [*command, "-L", str(system / "share/qemu"), "-L", str(system / "share/seabios")]


def archive(files: dict[str, tuple[int, bytes]]) -> bytes:
    """A cpio archive (newc) for the kernel: {path: (mode, content)}, folders before what lies in them."""
    out = b""
    for number, (name, (mode, data)) in enumerate([*files.items(), ("TRAILER!!!", (0, b""))], 1):
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        out += b"070701" + "".join(f"{field:08x}" for field in fields).encode() + name.encode() + b"\0"
        out += bytes(-len(out) % 4) + data
        out += bytes(-len(out) % 4)
    return gzip.compress(out, 1)


POWERED_OFF = b"reboot: Power down"  # the kernel's last words, after all of the script
INIT = """#!/bin/sh
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
{script}
echo guest-ends
poweroff -f
"""


def boot(
    device: Path,
    script: str,
    folder: Path,
    alive=lambda: True,
    timeout: float = 600,
    kernel: Path | None = None,
    more: dict[str, tuple[int, bytes]] | None = None,
    parameters: str = "",
    serial: Path | None = None,
    suspends: bool = False,
) -> str:
    """Boots a guest whose one process is a busybox shell with `script`; returns its console.

    `device`: the socket of the device; `alive`: whether it is still there. Where it is not, or time is over, the guest is ended: Ended.
    `kernel`: another one than the usual; `more`: files beside busybox, for `archive`; `parameters`: further ones of the kernel;
    `serial`: a socket to be made, whose other end is the guest's /dev/ttyS1. `suspends`: the script suspends the guest. QEMU with several CPUs may
    then stay when the guest has powered off, and is ended 10 s later.
    """
    home = setup()
    folders = {name: (0o40755, b"") for name in ("bin", "dev", "proc", "sys")}
    busybox = (home / "guest/usr/bin/busybox").read_bytes()
    links = "sh mount echo poweroff cat devmem od sleep dd grep insmod rmmod ls dmesg sed seq tr basename dirname head tail cut wc"
    files = folders | {"bin/busybox": (0o100755, busybox)}
    files |= {f"bin/{name}": (0o120777, b"busybox") for name in links.split()}
    files["init"] = (0o100755, INIT.format(script=script).encode())
    files |= more or {}
    disk = folder / "initramfs"
    disk.write_bytes(archive(files))
    kernel = kernel or next((home / "guest/boot").glob("vmlinuz-*"))
    socket = {"path": str(device), "type": "unix"}
    place = json.dumps({"driver": "vfio-user-pci", "socket": socket, "x-msg-timeout": ANSWER_WITHIN})
    command = [*qemu(), "-accel", "tcg", "-M", "q35,memory-backend=m0", "-m", "256M", "-smp", str(CPUS)]
    command += ["-nodefaults", "-no-reboot"]
    command += ["-object", "memory-backend-memfd,id=m0,size=256M,share=on", "-device", place]
    command += ["-display", "none", "-serial", "stdio", "-kernel", str(kernel), "-initrd", str(disk)]
    command += [] if serial is None else ["-serial", f"unix:{serial},server=on,wait=off"]
    command += ["-append", f"{PARAMETERS} {parameters}"]
    console, until = folder / "console", time.monotonic() + timeout
    with console.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                # A device that ends as its client does is gone a moment before the client is.
                gone = not alive()
                if gone or time.monotonic() > until:
                    try:
                        process.wait(1)
                    except subprocess.TimeoutExpired:
                        raise Ended("the device is gone" if gone else f"no end after {timeout:g} s") from None
                if suspends and POWERED_OFF in console.read_bytes()[-200:]:
                    try:
                        process.wait(10)
                    except subprocess.TimeoutExpired:
                        break
                time.sleep(0.05)
        finally:
            process.kill()
            process.wait()
    return console.read_text(errors="replace")
