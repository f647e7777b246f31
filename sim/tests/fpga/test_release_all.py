"""`vermilion release --all`: the same bytes each time, and each artefact is of use outside the checkout. The nightly run makes a whole release, twice."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import fastjsonschema
import pytest

from support.command_lines import command
from support.nightly import at_night
from vermilion.commands import cli
from vermilion.release import archive, checkout, dkms, image, materials, notes, whole
from vermilion.release.tools import tools
from vermilion.toolchain import build
from vermilion.values.fields import UserError

OF = checkout.Checkout("0.1.0", "0123456789ab", 1_700_000_000)


@pytest.fixture
def packages(tmp_path):
    """The driver's package, made in two folders, under two umasks."""
    made = []
    for name, mask in (("a", 0o022), ("b", 0o077)):
        (tmp_path / name / "work").mkdir(parents=True)
        before = os.umask(mask)
        try:
            made.append(dkms.package(OF, tmp_path / name / "work", tmp_path / name))
        finally:
            os.umask(before)
    return made


def test_the_drivers_package_is_what_make_install_copies(packages, tmp_path):
    assert packages[0].read_bytes() == packages[1].read_bytes()
    subprocess.run(["dpkg-deb", "-x", packages[0], tmp_path / "unpacked"], check=True)
    driver = build.ROOT / "sw_driver/kernel"
    subprocess.run(["make", "-s", "-C", driver, "install", f"DESTDIR={tmp_path / 'copied'}"], check=True)
    read = lambda root: {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert read(tmp_path / "unpacked/usr/src") == read(tmp_path / "copied/usr/src")
    fields = subprocess.run(["dpkg-deb", "-f", packages[0]], capture_output=True, text=True, check=True).stdout
    for line in ("Package: vermilion-dkms", "Version: 0.1.0", "Architecture: all", "Depends: dkms (>= 3.0)"):
        assert line in fields.splitlines()
    listed = subprocess.run(["dpkg-deb", "-c", packages[0]], capture_output=True, text=True, check=True).stdout
    assert all(line.split()[1] == "root/root" and "2023-11-14" in line for line in listed.splitlines())
    # The scripts are those of a shell, and add and remove this version.
    subprocess.run(["dpkg-deb", "-e", packages[0], tmp_path / "scripts"], check=True)
    for name in ("postinst", "prerm"):
        path = tmp_path / "scripts" / name
        subprocess.run(["sh", "-n", path], check=True)
        assert "vermilion" in path.read_text() and "0.1.0" in path.read_text() and path.stat().st_mode & 0o111
    with tarfile.open(fileobj=unpacked(packages[0])) as contents:
        assert {entry.mode for entry in contents if entry.isfile()} == {0o644}


def unpacked(package: Path):
    """The tar archive of a package's files."""
    import io

    return io.BytesIO(subprocess.run(["dpkg-deb", "--fsys-tarfile", package], capture_output=True, check=True).stdout)


def test_an_archive_depends_on_names_and_contents_alone(tmp_path):
    for name in "ab":
        root = tmp_path / name
        (root / "folder").mkdir(parents=True)
        (root / "folder" / "file").write_text("text\n")
        (root / "script").write_text("#!/bin/sh\n")
        (root / "script").chmod(0o755)
    os.utime(tmp_path / "a/script", (1, 1))
    (tmp_path / "b/folder/file").chmod(0o600)
    packed = [archive.tar(tmp_path / name, tmp_path / f"{name}.tar.gz", 5, top="top") for name in "ab"]
    assert packed[0].read_bytes() == packed[1].read_bytes()
    with tarfile.open(packed[0]) as contents:
        entries = [(entry.name, entry.mode, entry.mtime, entry.uid) for entry in contents]
    assert entries == [("top/folder", 0o755, 5, 0), ("top/folder/file", 0o644, 5, 0), ("top/script", 0o755, 5, 0)]


def test_the_bill_of_materials_is_cyclonedx_and_names_what_is_locked(tmp_path):
    """By the schema of CycloneDX; versions by the lock; checksums by hashlib."""
    (tmp_path / "file.whl").write_bytes(b"bytes")
    path = materials.materials(OF, [tmp_path / "file.whl"], tmp_path, {"libc6": "2.36-9"})
    first = path.read_bytes()
    again = materials.materials(OF, [tmp_path / "file.whl"], tmp_path, {"libc6": "2.36-9"}).read_bytes()
    bill = json.loads(first)
    assert again == first
    schemas = tools() / "cyclonedx/schema/_res"
    read = lambda uri: json.loads((schemas / uri.rsplit("/", 1)[1].replace(".schema", ".SNAPSHOT.schema")).read_text())
    schema = json.loads((schemas / "bom-1.6.SNAPSHOT.schema.json").read_text())
    schema["$id"] = schema["$id"].replace(".schema", ".SNAPSHOT.schema")
    handlers = {"http": local(schemas), "https": local(schemas), "": read}
    fastjsonschema.compile(schema, handlers=handlers)(bill)

    locked = {}
    for line in (build.ROOT / "sim/requirements.txt").read_text().splitlines():
        if line[:1].isalnum():
            name, _, rest = line.partition("==")
            locked.setdefault(name.split("[")[0].lower(), set()).add(rest.split()[0])
    components = {part["name"]: part for part in bill["components"]}
    found = {name: part for name, part in components.items() if part.get("purl", "").startswith("pkg:pypi/")}
    wanted = tomllib.loads((build.ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {line.split(">")[0] for line in wanted} <= set(found)
    assert all(part["version"] in locked[name] for name, part in found.items())
    assert {"numpy", "contourpy", "pydantic-core", "markdown-it-py"} <= set(
        found
    )  # the last three: of matplotlib, pydantic, rich
    assert components["libc6"]["purl"] == "pkg:deb/debian/libc6@2.36-9?distro=bookworm"
    assert "pytest" not in found and "verilator" not in found
    assert components["chisel"]["scope"] == "excluded" and components["uplot"]["purl"].startswith("pkg:npm/uplot@")
    assert components["file.whl"]["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"bytes").hexdigest()}]


def local(schemas: Path):
    """Reads a schema that another one names, from the library's folder."""

    def read(uri: str):
        name = uri.split("#")[0].rsplit("/", 1)[1]
        return json.loads((schemas / name.replace(".SNAPSHOT", "").replace(".schema", ".SNAPSHOT.schema")).read_text())

    return read


def test_the_notes_are_those_of_the_version(tmp_path, monkeypatch):
    text = "# Changelog\n\n## [Unreleased]\n\n- new\n\n## [0.1.0] - 2026-12-01\n\n### Added\n\n- **a**\n\n## [0.0.9]\n\n- old\n"
    (tmp_path / "CHANGELOG.md").write_text(text)
    monkeypatch.setattr(notes, "ROOT", tmp_path)
    said = notes.notes(OF, ["vermilion-0.1.0.tar.gz", "vermilion-0.1.0-site.tar.gz"])
    assert "- **a**" in said and "old" not in said and "new" not in said and "0123456789ab" in said
    assert notes.changes("0.2.0", draft=True) == "## Changes\n\n- new\n"
    with pytest.raises(build.BuildError, match=r"no section for 0\.2\.0; add"):
        notes.changes("0.2.0")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n")
    with pytest.raises(build.BuildError, match=r"no section for 0\.1\.0; add"):
        notes.changes("0.1.0")


def test_a_second_build_with_other_bytes_is_refused(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "one").write_text("1\n")
        (tmp_path / name / "two").write_text("2\n")
        (tmp_path / name / whole.SUMS).write_text(whole.sums(tmp_path / name))
    whole.compare(tmp_path / "a", tmp_path / "b")
    checked = subprocess.run(["sha256sum", "-c", whole.SUMS], cwd=tmp_path / "a", capture_output=True, text=True)
    assert checked.returncode == 0 and checked.stdout == "one: OK\ntwo: OK\n"
    (tmp_path / "b/two").write_text("3\n")
    (tmp_path / "b" / whole.SUMS).write_text(whole.sums(tmp_path / "b"))
    with pytest.raises(build.BuildError, match="built twice, and not the same: two;"):
        whole.compare(tmp_path / "a", tmp_path / "b")


def test_what_cannot_be_released_is_refused(tmp_path, monkeypatch, capfd):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    with pytest.raises(UserError, match="full is not empty; legal is a new or empty folder"):
        whole.release(tmp_path / "full", ["nic10g"], {}, build.quiet)
    monkeypatch.setattr(checkout, "commit", lambda: "0123456789ab with changes")
    with pytest.raises(UserError, match="has changes that no commit has.*; commit them, or give --with-changes"):
        checkout.checkout()
    monkeypatch.setattr(checkout, "commit", lambda: "unknown")
    with pytest.raises(UserError, match="is no checkout of Git"):
        checkout.checkout()
    with monkeypatch.context() as other:
        other.setattr(image.shutil, "which", lambda name: name)
        other.setattr(image, "PYTHON", (3, 1))
        with pytest.raises(
            UserError, match=r"the container needs Debian 12 \(bookworm\) with Python 3\.1, and this is Python"
        ):
            image.check_tools()
    monkeypatch.setattr(image.shutil, "which", lambda _name: None)
    with pytest.raises(UserError, match="the container needs mmdebstrap; please type: sudo apt-get install mmdebstrap"):
        whole.release(tmp_path / "new", ["nic10g"], {}, build.quiet)
    for words, said in (
        (["--once"], "--once has no meaning without --all"),
        (["--all", "--version", "1.2"], "--version and --all: a release has the version of pyproject.toml"),
    ):
        status, _, told = command(monkeypatch, capfd, "release", str(tmp_path / "none"), *words, program=cli)
        assert status == 2 and said in told
    assert not (tmp_path / "none").exists() and not (tmp_path / "new").exists()


def test_the_project_and_the_driver_have_one_version(monkeypatch, tmp_path):
    assert checkout.checkout(with_changes=True).version
    other = tmp_path / "sw_driver/kernel"
    other.mkdir(parents=True)
    (other / "vm_core.h").write_text('#define VM_DRIVER_VERSION "0.0.1"\n')
    shutil.copy(build.ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "CITATION.cff").write_text("version: 0.0.2\n")
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    with pytest.raises(build.BuildError, match=r"VM_DRIVER_VERSION is 0\.0\.1; legal is"):
        checkout.checkout()
    shutil.copy(build.ROOT / "sw_driver/kernel/vm_core.h", other)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setattr(checkout, "commit", lambda: "0123456789ab")
    with pytest.raises(build.BuildError, match=r"version of CITATION\.cff is 0\.0\.2; legal is"):
        checkout.checkout(with_changes=True)
    with pytest.raises(UserError, match="such as CITATION.cff; commit them"):  # Git does not know it
        checkout.checkout()


@at_night
def test_a_whole_release_is_built_twice_and_used(tmp_path):
    """With one preset. The wheel runs a capture in a container, where there is one to be made."""
    words = [] if shutil.which("mmdebstrap") and os.geteuid() == 0 else ["--no-container"]
    command = [sys.executable, "-m", "vermilion", "release", tmp_path / "out", "--all", "--preset", "nic10g", *words]
    done = subprocess.run([*command, "--with-changes"], cwd=build.ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "built twice, the same bytes" in done.stdout, done.stdout + done.stderr
    subprocess.run(["sha256sum", "-c", whole.SUMS], cwd=tmp_path / "out", check=True)
    if words:
        return
    (packed,) = (tmp_path / "out").glob("*-image.tar")
    root = filesystem(packed, tmp_path)
    shell = "cd /work && vermilion --version && vermilion run --json stats.json"
    variables = ["PATH=/opt/vermilion/bin:/usr/bin:/bin", "PYTHONPATH=/opt/vermilion", "LC_ALL=C.UTF-8", "HOME=/tmp"]
    done = subprocess.run(["chroot", root, "env", "-i", *variables, "sh", "-c", shell], capture_output=True, text=True)
    assert done.returncode == 0 and "every frame is accounted for" in done.stdout, done.stdout + done.stderr
    assert done.stdout.startswith("vermilion 0.1.0, commit ")


def filesystem(packed: Path, folder: Path) -> Path:
    """The layers of an OCI archive, one over the other."""
    blobs, root = folder / "oci", folder / "root"
    blobs.mkdir()
    root.mkdir()
    subprocess.run(["tar", "-xf", packed, "-C", blobs], check=True)
    blob = lambda described: blobs / "blobs/sha256" / described["digest"].removeprefix("sha256:")
    (described,) = json.loads((blobs / "index.json").read_text())["manifests"]
    for layer in json.loads(blob(described).read_text())["layers"]:
        subprocess.run(["tar", "-xzf", blob(layer), "-C", root], check=True)
    return root
