"""Building again after the sources have changed."""

from vermilion.build import forget_missing_headers


def test_what_was_compiled_with_a_header_that_is_gone_is_compiled_anew(tmp_path):
    header = tmp_path / "there.h"
    header.write_text("")
    for name, needs in (("kept", header), ("stale", tmp_path / "gone.h")):
        (tmp_path / f"{name}.o").write_text("")
        (tmp_path / f"{name}.d").write_text(f"{name}.o: /{name}.cpp \\\n {needs}\n")
    forget_missing_headers(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.[od]")) == ["kept.d", "kept.o"]
