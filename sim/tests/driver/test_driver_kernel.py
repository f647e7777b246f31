"""The kernel module as kernel developers would have it: no warning from the compiler on 6.1 and 6.12, from sparse or from checkpatch."""

import re
import subprocess

import pytest

from support import driver_bench
from support.driver_bench import warnings
from vermilion.guests import driver_guest
from vermilion.testing import suite
from vermilion.toolchain import build

pytestmark = pytest.mark.guest

KERNEL = build.ROOT / "sw_driver" / "kernel"
SOURCES = sorted(path for path in KERNEL.glob("vm_*.[ch]") if not suite.generated(path))
LIBRARY = sorted(path for path in (KERNEL.parent / "lib").glob("vm_*.[ch]") if not suite.generated(path))
# The versions of kernels are compared in vm_compat.h, which is there for nothing else.
IGNORED = "LINUX_VERSION_CODE,CONSTANT_COMPARISON"
# The library has no header of the kernel's for ARRAY_SIZE, and one volatile keeps compilers from a call of memset.
IGNORED_IN_LIBRARY = "ARRAY_SIZE,VOLATILE"


@pytest.fixture(scope="module", autouse=True)
def machine():
    driver_bench.check_machine(driver_guest.checkers)


def test_every_function_has_the_modules_prefix():
    """A trace of the kernel has names without files."""
    defined = re.compile(r"^(?:static |inline |const |unsigned |struct |enum )*\w+[ *]+([a-z]\w+)\([^;{]*\)\n\{", re.M)
    names = [name for path in SOURCES for name in defined.findall(path.read_text())]
    assert len(names) > 300 and [name for name in names if not name.startswith("vm_")] == []


@pytest.mark.parametrize("version", driver_guest.KERNELS)
def test_the_module_builds_without_a_warning(version):
    made = driver_guest.module(version)
    for each in (made, driver_guest.nic_module(version)):
        assert each.exists() and warnings(each.parents[1] / "make.log") == []
    said = made.read_bytes()
    assert b"license=Dual BSD/GPL\0" in said and b"alias=auxiliary:mqnic.app_564d0001\0" in said
    assert b"alias=pci:v00001AF4d000010F5sv00001AF4sd0000564D" in said


def test_sparse_finds_nothing(tmp_path):
    sparse, log = driver_guest.checkers() / "system/usr/bin/sparse", tmp_path / "log"
    tree = driver_guest.module("6.12").parents[1]
    assert driver_guest.kbuild(driver_guest.headers("6.12"), tree, log, "C=2", f"CHECK={sparse}") == 0, log.read_text()
    read = {line.split("/")[-1] for line in log.read_text().splitlines() if line.strip().startswith("CHECK")}
    assert {path.name for path in SOURCES if path.suffix == ".c"} <= read
    assert warnings(log) == []


def test_checkpatch_finds_nothing(tmp_path):
    script = driver_guest.checkers() / "scripts/checkpatch.pl"
    options = ["--no-tree", "--terse", "--show-types", "--max-line-length=120"]

    def found(*paths, ignored=IGNORED):
        command = ["perl", script, *options, f"--ignore={ignored}", "-f", *paths]
        done = subprocess.run(command, capture_output=True, text=True)
        return [line for line in (done.stdout + done.stderr).splitlines() if re.search("ERROR|WARNING|CHECK", line)]

    assert found(*SOURCES) == []
    assert found(*LIBRARY, ignored=IGNORED_IN_LIBRARY) == []
    wrong = tmp_path / "vm_wrong.c"
    wrong.write_text((KERNEL / "vm_main.c").read_text() + "static int x = 0;\n")
    assert len(found(wrong)) == 1, "checkpatch does not look"


def test_every_source_says_its_licence():
    for path in SOURCES:
        assert "SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0" in path.open().readline(), path.name
    assert 'MODULE_LICENSE("Dual BSD/GPL")' in (KERNEL / "vm_main.c").read_text()


def test_what_dkms_gets_is_the_whole_module(tmp_path):
    subprocess.run(["make", "-s", "-C", KERNEL, "install", f"DESTDIR={tmp_path}"], check=True)
    version = re.search(r'VM_DRIVER_VERSION "(.*)"', (KERNEL / "vm_core.h").read_text())[1]
    tree = tmp_path / f"usr/src/vermilion-{version}"
    there = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}
    wanted = {str(path.relative_to(driver_guest.DRIVER)) for path in driver_guest.sources()}
    assert there == wanted | {"dkms.conf", "kernel/Makefile", "LICENSE"}
    assert f'PACKAGE_VERSION="{version}"' in (tree / "dkms.conf").read_text()
