"""The module under Debian's own DKMS: added, replaced, built, installed and taken away, in folders of its own; and which kernels it leaves alone."""

import os
import re
import shlex
import subprocess

import pytest

from support import driver_bench
from vermilion.guests import driver_guest, guest
from vermilion.release import dkms as release_package
from vermilion.release.checkout import Checkout
from vermilion.toolchain import build

pytestmark = pytest.mark.guest

KERNEL = build.ROOT / "sw_driver/kernel"
VERSION = re.search(r'VM_DRIVER_VERSION "(.*)"', (KERNEL / "vm_core.h").read_text())[1]


def packages(say=build.quiet):
    """dkms and kmod, unpacked; nothing is installed on this system."""

    def make(root):
        guest.apt(root, root / "log", "apt-get", "-q", "download", "dkms", "kmod", "libkmod2")
        guest.unpack(root / "debs", root / "system")
        for link in (root / "system/sbin").iterdir():  # they point to the system's own /bin/kmod
            link.unlink()
            link.symlink_to("../bin/kmod")

    return driver_guest.once("guest-dkms", make, say) / "system"


@pytest.fixture(scope="module")
def system():
    driver_bench.check_machine(packages)
    return packages()


class Root:
    """Sources, DKMS's own tree and modules of kernels, in a folder; `make(goal)` is the Makefile's goal with DKMS there."""

    def __init__(self, system, folder, release):
        self.sources, self.tree, self.modules = (folder / name for name in ("src", "dkms", "modules"))
        for each in (self.sources, self.tree, self.modules / release):
            each.mkdir(parents=True)
        (folder / "tmp").mkdir()
        options = ["--sourcetree", self.sources, "--dkmstree", self.tree, "--installtree", self.modules]
        self.words = ["bash", system / "usr/sbin/dkms", *options]
        self.headers, self.release = driver_guest.headers("6.12"), release
        tools = [system / "usr/sbin", system / "sbin", system / "bin", *os.environ["PATH"].split(":"), "/usr/sbin"]
        libraries = system / "usr/lib/x86_64-linux-gnu"
        self.environment = {"PATH": ":".join(map(str, tools)), "LD_LIBRARY_PATH": str(libraries), "LC_ALL": "C"}
        self.environment |= {"TMPDIR": str(folder / "tmp"), "HOME": str(folder)}

    def run(self, words) -> tuple[int, str]:
        done = subprocess.run([*map(str, words)], env=self.environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def make(self, goal: str) -> tuple[int, str]:
        dkms = shlex.join(map(str, self.words))
        # The kernel is not the one that runs here, and no list of modules is written for it.
        script = self.sources.parent / "dkms.sh"
        script.write_text(f"""case $1 in
          install) exec {dkms} "$@" -k {self.release} --kernelsourcedir {self.headers} --no-depmod ;;
          remove) exec {dkms} "$@" --no-depmod ;;
          *) exec {dkms} "$@" ;;
        esac\n""")
        return self.run(["make", "-C", KERNEL, goal, f"DKMS=bash {script}", f"SOURCES={self.sources}"])

    def status(self) -> str:
        return self.run([*self.words, "status"])[1].strip()

    def module(self):
        return next(self.modules.rglob("vermilion.ko*"), None)


def test_kernels_that_it_was_not_made_for_are_not_named():
    text = (KERNEL / "dkms.conf").read_text()
    bound = re.search(r'^BUILD_EXCLUSIVE_KERNEL="(.*)"$', text, re.M)[1]
    matches = lambda release: subprocess.run(["bash", "-c", f"[[ {release} =~ {bound} ]]"]).returncode == 0
    good = (
        "6.1.0-49-amd64 6.1.0-49-cloud-amd64 6.2.1 6.9.7+deb13-amd64 6.10.3 6.12.95+deb12-cloud-amd64 6.12-rc1".split()
    )
    other = "5.10.0-30-amd64 6.0.12 6.13.2 6.16.3+deb13-amd64 6.19 6.20.1 7.1.0 16.1.0 6.112.1 6.123".split()
    assert [each for each in good if not matches(each)] == [each for each in other if matches(each)] == []


def test_dkms_leaves_other_kernels_alone_replaces_a_version_that_is_there_builds_installs_and_takes_it_away(
    system, tmp_path
):
    if os.geteuid() != 0:
        pytest.skip("DKMS works as root alone")
    root = Root(system, tmp_path, "6.16.3+deb13-amd64")
    status, said = root.make("install")
    assert status != 0 and "BUILD_EXCLUSIVE" in said and root.module() is None, said
    assert root.status() == f"vermilion/{VERSION}: added"
    status, said = root.run([*root.words, "autoinstall", "-k", root.release, "--kernelsourcedir", root.headers])
    assert (status, root.module()) == (11, None) and "BUILD_EXCLUSIVE" in said, said  # 0 in newer ones
    (root.sources / f"vermilion-{VERSION}" / "kernel" / "vm_gone.h").touch()  # of an older state of the same version

    root.release = release = root.headers.name.removeprefix("linux-headers-")
    (root.modules / release).mkdir()
    status, said = root.make("install")
    assert status == 0 and root.status() == f"vermilion/{VERSION}, {release}, x86_64: installed", said
    assert not list(root.sources.rglob("vm_gone.h")) and list(root.sources.rglob("LICENSE"))
    assert root.module().parent == root.modules / release / "updates/dkms"
    info = root.run([system / "sbin/modinfo", root.module()])[1]
    assert re.search(rf"^vermagic: +{re.escape(release)} ", info, re.M), info
    assert re.search("^license: +Dual BSD/GPL", info, re.M)

    status, said = root.make("uninstall")
    assert status == 0 and root.status() == "" and root.module() is None and not list(root.sources.iterdir()), said


def test_the_debian_package_of_a_release_is_built_by_dkms(system, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("DKMS works as root alone")
    root = Root(system, tmp_path, driver_guest.headers("6.12").name.removeprefix("linux-headers-"))
    (tmp_path / "work").mkdir()
    packed = release_package.package(Checkout(VERSION, "0" * 12, 1_700_000_000), tmp_path / "work", tmp_path)
    subprocess.run(["dpkg-deb", "-x", packed, tmp_path / "unpacked"], check=True)
    (sources,) = (tmp_path / "unpacked/usr/src").iterdir()
    sources.rename(root.sources / sources.name)
    for goal in ("add", "install"):
        words = [goal, "-m", "vermilion", "-v", VERSION]
        words += ["-k", root.release, "--kernelsourcedir", root.headers, "--no-depmod"] if goal == "install" else []
        status, said = root.run([*root.words, *words])
        assert status == 0, said
    assert root.status() == f"vermilion/{VERSION}, {root.release}, x86_64: installed"
    info = root.run([system / "sbin/modinfo", root.module()])[1]
    assert re.search(rf"^version: +{re.escape(VERSION)}$", info, re.M), info
