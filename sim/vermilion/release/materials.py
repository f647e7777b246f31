"""The bill of materials, in CycloneDX 1.6: the files of a release, what is in them, and what made them."""

import hashlib
import importlib.metadata
import json
import re
import sys
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path

from packaging.requirements import Requirement

from vermilion.toolchain import build

from .checkout import Checkout
from .tools import tools

SCALA = re.compile(r'(?:mvn|ivy)"([^":]+):+([^":]+):([^"]+)"')  # group, artifact, version in build.sc


def needed(name: str) -> dict[str, importlib.metadata.Distribution]:
    """The packages that a requirement needs, with all that they need; those that this machine has."""
    found: dict[str, importlib.metadata.Distribution] = {}
    names = [name]
    while names:
        wanted = Requirement(names.pop())
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
            continue
        key = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if key not in found:
            found[key] = importlib.metadata.distribution(wanted.name)
            names += found[key].requires or []
    return dict(sorted(found.items()))


def python_packages() -> dict[str, importlib.metadata.Distribution]:
    """What the wheel needs, without extras, as pyproject.toml names it."""
    with (build.ROOT / "pyproject.toml").open("rb") as file:
        wanted = tomllib.load(file)["project"]["dependencies"]
    merged: dict[str, importlib.metadata.Distribution] = {}
    for requirement in wanted:
        merged |= needed(requirement)
    return dict(sorted(merged.items()))


def materials(of: Checkout, files: list[Path], out: Path, debian: dict[str, str], say=build.quiet) -> Path:
    """Writes the bill of these files to `out`. debian: the container's packages of Debian, {name: version}."""
    place = str(tools(say))
    if place not in sys.path:
        sys.path.append(place)
    from cyclonedx.model import HashAlgorithm, HashType
    from cyclonedx.model.bom import Bom, BomMetaData
    from cyclonedx.model.component import Component, ComponentScope, ComponentType
    from cyclonedx.model.license import LicenseExpression
    from cyclonedx.output import make_outputter
    from cyclonedx.schema import OutputFormat, SchemaVersion
    from packageurl import PackageURL

    ours = [LicenseExpression("BSD-2-Clause")]
    whole = Component(
        name="vermilion",
        version=of.version,
        type=ComponentType.APPLICATION,
        licenses=ours,
        bom_ref=f"vermilion@{of.version}",
    )
    bill = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"vermilion {of.version} {of.commit}"))
    bill.metadata = BomMetaData(component=whole, timestamp=datetime.fromtimestamp(of.epoch, UTC))
    for path in files:
        sha = HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(path.read_bytes()).hexdigest())
        bill.components.add(
            Component(name=path.name, version=of.version, type=ComponentType.FILE, hashes=[sha], bom_ref=path.name)
        )
    for name, package in python_packages().items():
        where = PackageURL("pypi", name=name, version=package.version)
        bill.components.add(library(Component, ComponentType, where))
    for name, version in debian.items():
        where = PackageURL("deb", namespace="debian", name=name, version=version, qualifiers={"distro": "bookworm"})
        bill.components.add(library(Component, ComponentType, where))
    text = (build.ROOT / "vermilion").read_text()
    pinned = dict(re.findall(r"^(\w+)_version=(\S+)", text, re.M))
    bill.components.add(library(Component, ComponentType, PackageURL("npm", name="uplot", version=pinned["uplot"])))
    builders = [("com.lihaoyi", "mill-dist", pinned["mill"]), *SCALA.findall((build.ROOT / "build.sc").read_text())]
    for group, name, version in builders:
        where = PackageURL("maven", namespace=group, name=name, version=version)
        bill.components.add(library(Component, ComponentType, where, ComponentScope.EXCLUDED))
    bill.register_dependency(whole, [part for part in bill.components if part.scope is not ComponentScope.EXCLUDED])
    made = make_outputter(bill, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=1)
    path = out / f"vermilion-{of.version}.cdx.json"
    path.write_text(json.dumps(json.loads(made), indent=1, sort_keys=True) + "\n")
    return path


def library(component, kind, where, scope=None):
    """A package that is in the release, or with a scope one that only made it."""
    reference = where.to_string()
    group = where.namespace
    return component(
        name=where.name,
        version=where.version,
        group=group,
        type=kind.LIBRARY,
        purl=where,
        bom_ref=reference,
        scope=scope,
    )
