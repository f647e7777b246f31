"""The Debian package of the kernel module: its sources, which DKMS builds for each kernel from 6.1 to 6.12."""

import os
from pathlib import Path

from vermilion.toolchain import build

from .checkout import Checkout

NAME = "vermilion-dkms"
CONTROL = """Package: {name}
Version: {version}
Section: kernel
Priority: optional
Architecture: all
Depends: dkms (>= 3.0)
Installed-Size: {size}
Maintainer: {maintainer}
Description: Linux driver of Vermilion, for DKMS
 Vermilion is DiffServ marking and active queue management for FPGA NICs.
 This package has the sources of its kernel module. DKMS builds it for each
 kernel from 6.1 to 6.12, with the headers of that kernel.
"""
# DKMS's own script adds the module, and builds it for the kernels whose headers are installed.
POSTINST = """#!/bin/sh
set -e
if [ "$1" = configure ]; then
	/usr/lib/dkms/common.postinst vermilion {version} /usr/share/{name} "" "$2"
fi
"""
PRERM = """#!/bin/sh
set -e
case "$1" in
remove | upgrade | deconfigure)
	if [ -n "$(dkms status -m vermilion -v {version})" ]; then
		dkms remove -m vermilion -v {version} --all
	fi
	;;
esac
"""
MAINTAINER = "The Vermilion authors <vermilion@project.invalid>"
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Vermilion

Files: *
Copyright: 2026 The Vermilion authors
License: BSD-2-Clause or GPL-2
 On Debian systems the text of GPL-2 is in /usr/share/common-licenses/GPL-2.
 The text of BSD-2-Clause follows.
 .
"""


def package(of: Checkout, work: Path, out: Path) -> Path:
    """Writes the package to `out`. `work` is an empty folder."""
    tree = work / "tree"
    log = build.BUILD / "release-dkms.log"
    environment = os.environ | of.environment
    build.run(["make", "-C", build.ROOT / "sw_driver/kernel", "install", f"DESTDIR={tree}"], log, env=environment)
    documents = tree / "usr/share/doc" / NAME
    documents.mkdir(parents=True)
    (documents / "copyright").write_text(COPYRIGHT + indented((build.ROOT / "LICENSE").read_text()))
    size = -(-sum(path.stat().st_size for path in tree.rglob("*") if path.is_file()) // 1024)  # KiB
    words = {"name": NAME, "version": of.version, "size": size, "maintainer": MAINTAINER}
    (tree / "DEBIAN").mkdir()
    for name, text, mode in (("control", CONTROL, 0o644), ("postinst", POSTINST, 0o755), ("prerm", PRERM, 0o755)):
        path = tree / "DEBIAN" / name
        path.write_text(text.format(**words))
        path.chmod(mode)
    for path in tree.rglob("*"):
        if path.parent.name != "DEBIAN":
            path.chmod(0o755 if path.is_dir() else 0o644)
    packed = out / f"{NAME}_{of.version}_all.deb"
    build.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, packed], log, env=environment)
    return packed


def indented(text: str) -> str:
    """As Debian's control files continue a field."""
    return "".join(f" {line or '.'}\n" for line in text.splitlines())
