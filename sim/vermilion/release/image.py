"""A container with the wheel on Debian 12, as an OCI archive (OCI image format 1.1).

    podman load -i vermilion-VERSION-image.tar
    podman run --rm -v "$PWD:/work" vermilion:VERSION run --engine model capture.pcapng

mmdebstrap writes the layer of Debian, the same bytes for the same packages of Debian. The second layer is the wheel with the Python packages that it
needs, of the versions that `sim/requirements.txt` locks.
"""

import gzip
import hashlib
import io
import json
import os
import platform
import re
import shutil
import sys
import tarfile
import time
from pathlib import Path

from vermilion.toolchain import build
from vermilion.values.fields import UserError

from .archive import tar
from .checkout import Checkout

SUITE = "bookworm"
PACKAGES = ("python3-minimal", "python3", "libpcap0.8")
PYTHON = (3, 11)  # of that suite; the packages with compiled parts must fit it
PUBLIC = "http://deb.debian.org/debian"  # in the container's sources, whichever mirror the builder has
SITE = "opt/vermilion"
CONFIG = "application/vnd.oci.image.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
# Caches and logs of the installation, which differ from one to the next.
LEFT_OUT = ("var/cache/ldconfig/aux-cache", "var/log/*", "var/cache/apt/*", "etc/hostname", "etc/resolv.conf")


def check_tools():
    """Refuses a machine that cannot make the image."""
    if not shutil.which("mmdebstrap"):
        raise UserError("the container needs mmdebstrap; please type: sudo apt-get install mmdebstrap")
    release = Path("/etc/os-release")
    text = release.read_text() if release.exists() else ""
    if f"VERSION_CODENAME={SUITE}" not in text or sys.version_info[:2] != PYTHON:
        running = ".".join(map(str, sys.version_info[:2]))
        raise UserError(
            f"the container needs Debian 12 ({SUITE}) with Python {'.'.join(map(str, PYTHON))}, and this is Python {running} "
            "on another system or release; build there, or give --no-container"
        )


def image(of: Checkout, wheel: Path, work: Path, out: Path) -> Path:
    """Writes the archive to `out`. `work` is an empty folder."""
    layers = [debian(of, work), python(of, wheel, work)]
    blobs = work / "oci" / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    history = [{"created_by": "mmdebstrap"}, {"created_by": "pip"}]
    described = [put(blobs, gzip.compress(path.read_bytes(), mtime=0), LAYER) for path in layers]
    config = {
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(of.epoch)),
        "architecture": {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {
            "Entrypoint": ["vermilion"],
            "Cmd": ["--help"],
            "WorkingDir": "/work",
            "Env": [
                f"PATH=/{SITE}/bin:/usr/local/bin:/usr/bin:/bin",
                f"PYTHONPATH=/{SITE}",
                "LC_ALL=C.UTF-8",
                "PYTHONDONTWRITEBYTECODE=1",
            ],
            "Labels": {
                "org.opencontainers.image.title": "Vermilion",
                "org.opencontainers.image.version": of.version,
                "org.opencontainers.image.revision": of.commit,
                "org.opencontainers.image.licenses": "BSD-2-Clause",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest(path.read_bytes())}" for path in layers]},
        "history": history,
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": put(blobs, encoded(config), CONFIG),
        "layers": described,
    }
    name = {"org.opencontainers.image.ref.name": f"vermilion:{of.version}"}
    index = {"schemaVersion": 2, "manifests": [put(blobs, encoded(manifest), MANIFEST) | {"annotations": name}]}
    (work / "oci" / "index.json").write_bytes(encoded(index))
    (work / "oci" / "oci-layout").write_bytes(encoded({"imageLayoutVersion": "1.0.0"}))
    return tar(work / "oci", out / f"vermilion-{of.version}-image.tar", of.epoch, packed=False)


def debian(of: Checkout, work: Path) -> Path:
    """The layer of Debian, from the mirror that this system uses."""
    from vermilion.guests import guest

    made = work / "debian.tar"
    suites = {SUITE: "", f"{SUITE}-security": "-security", f"{SUITE}-updates": ""}
    lines = lambda place: [f"deb {place}{end} {suite} main" for suite, end in suites.items()]
    command: list = ["mmdebstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", "--format=tar"]
    command += [f"--customize-hook=rm -rf {' '.join(f'$1/{path}' for path in LEFT_OUT)}"]
    shown = "\\n".join(lines(PUBLIC))
    command += [f"--customize-hook=printf '{shown}\\n' > $1/etc/apt/sources.list"]
    build.run(
        [*command, SUITE, made, *lines(guest.mirror())],
        build.BUILD / "release-debian.log",
        env=os.environ | of.environment,
    )
    return made


def installed(packed: Path) -> dict[str, str]:
    """Debian's packages in an image, {name: version}."""
    with tarfile.open(packed) as archive:
        blob = lambda described: content(archive, "blobs/sha256/" + described["digest"].removeprefix("sha256:"))
        (described,) = json.loads(content(archive, "index.json"))["manifests"]
        layer = json.loads(blob(described))["layers"][0]
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(blob(layer)))) as root:
            text = content(root, "./var/lib/dpkg/status").decode()
    found = re.findall(r"^Package: (\S+)\n(?:.+\n)*?Version: (\S+)$", text, re.M)
    return dict(sorted(found))


def content(archive: tarfile.TarFile, name: str) -> bytes:
    """Of a file in an archive."""
    file = archive.extractfile(name)
    if file is None:
        raise build.BuildError(f"{name} in the image is no file")
    return file.read()


def python(of: Checkout, wheel: Path, work: Path) -> Path:
    """The layer of the wheel and what it needs."""
    root = work / "python"
    log = build.BUILD / "release-python.log"
    lock = build.ROOT / "sim" / "requirements.txt"
    pip: list = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile"]
    pip += ["--target", root / SITE]
    environment = os.environ | of.environment
    build.run([*pip, "-c", bounds(lock, work), wheel], log, env=environment)
    for path in (root / SITE / "bin").iterdir():  # they name the interpreter that installed them
        first, _, rest = path.read_text().partition("\n")
        path.write_text(f"#!/usr/bin/python3\n{rest}" if first.startswith("#!") else f"{first}\n{rest}")
    for name in ("direct_url.json", "RECORD", "REQUESTED"):  # tell of the folder of the wheel
        for path in (root / SITE).glob(f"*.dist-info/{name}"):
            path.unlink()
    (root / "work").mkdir()
    return tar(root, work / "python.tar", of.epoch, packed=False)


def bounds(lock: Path, work: Path) -> Path:
    """The versions of the lock, without hashes: the wheel of this release has none there."""
    lines = lock.read_text().splitlines()
    versions = [line.rstrip(" \\") for line in lines if "==" in line and line[0].isalnum()]
    path = work / "versions.txt"
    path.write_text("\n".join(versions) + "\n")
    return path


def put(blobs: Path, content: bytes, kind: str) -> dict:
    """Stores a blob; returns its descriptor."""
    name = digest(content)
    (blobs / name).write_bytes(content)
    return {"mediaType": kind, "digest": f"sha256:{name}", "size": len(content)}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def encoded(of: dict) -> bytes:
    return json.dumps(of, sort_keys=True, separators=(",", ":")).encode()
