"""The register map: generated files are those of the source, and nothing overlaps."""

from itertools import product

import pytest

from vermilion import registers


def test_generated_files_are_up_to_date():
    assert registers.stale() == []


@pytest.mark.parametrize("of", [registers.LANE, registers.APP], ids=lambda of: of.addrmap)
def test_no_two_registers_share_an_address_and_none_is_undescribed(of):
    seen = {}
    _, found = registers.read_source(of)
    for register in found:
        assert register.desc, register.shown_path
        for index in product(*(range(count) for _, count, _ in register.dims)):
            address = register.address + sum(i * stride for i, (_, _, stride) in zip(index, register.dims))
            assert address % 4 == 0 and address < 1 << 24
            assert address not in seen, f"{register.shown_path} and {seen[address]}"
            seen[address] = register.shown_path


@pytest.mark.parametrize("of, block", [(registers.LANE, "ControlPort"), (registers.APP, "AppRegisters")])
def test_a_block_shows_the_version_of_its_map(of, block):
    _, found = registers.read_source(of)
    version = next(register for register in found if register.path == ["version"])
    number = sum(field.reset << field.low for field in version.fields)
    port = registers.build.ROOT / "hw" / "src" / "vermilion" / of.package / f"{block}.scala"
    assert f'R.Version() -> BigInt("{number:08x}", 16)' in port.read_text()


def test_html_and_markdown_are_written(tmp_path):
    html, page, app_html, app_page = registers.generate(tmp_path / "regs")
    assert (html / "index.html").is_file()
    assert "`shadow.colour[3].curve[2].min_th`" in page.read_text()
    assert (app_html / "index.html").is_file()
    assert "`port[8].taken.low`" in app_page.read_text()
