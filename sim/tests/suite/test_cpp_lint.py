"""The part `lint-cpp`: what its rules find, and when a file is read again."""

import pytest

from vermilion.testing import cpp_lint
from vermilion.toolchain import build, steps

DIVIDES = "int half(int x) {\n  const int none = 0;\n  return x / none;\n}\n"
NESTS = "int f(int x) {\n" + "if (x > 0) {\n" * 7 + "x--;\n" + "}\n" * 7 + "return x;\n}\n"
SOUND = "int twice(int x) {\n  return 2 * x;\n}\n"


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A file in a folder that stands for the project's."""
    monkeypatch.setattr(steps, "ROOT", tmp_path)
    monkeypatch.setattr(cpp_lint, "RULES", tmp_path / ".clang-tidy")
    cpp_lint.RULES.write_text((build.ROOT / "sim/.clang-tidy").read_text())
    path = tmp_path / "sim/model/a.cpp"
    path.parent.mkdir(parents=True)
    return path


@pytest.mark.parametrize(
    ("text", "check"),
    [(DIVIDES, "clang-analyzer-core.DivideZero"), (NESTS, "readability-function-cognitive-complexity"), (SOUND, "")],
    ids=["divides", "nests", "sound"],
)
def test_what_is_found(source, text, check, monkeypatch):
    monkeypatch.setattr(cpp_lint, "QUICKER", ())
    source.write_text(text)
    said = cpp_lint.findings(source, [build.STANDARD])
    assert (f"[{check}" in said and str(source) in said) if check else not said


def test_headers_of_the_project_are_read(source):
    """Findings in the project's headers are told, those in what Verilator wrote are not."""
    source.write_text('#include "own.h"\n#include "Vlane.h"\n')
    source.with_name("own.h").write_text(NESTS)
    other = source.parents[2] / "generated"
    other.mkdir()
    (other / "Vlane.h").write_text(NESTS.replace("f(", "g("))
    said = cpp_lint.findings(source, [build.STANDARD, f"-isystem{other}"])
    assert "own.h:1" in said and "Vlane.h" not in said


def test_code_that_does_not_compile_is_a_finding(source):
    source.write_text("int f( {\n")
    assert "error:" in cpp_lint.findings(source, [build.STANDARD])


def test_a_file_is_read_again_when_what_it_depends_on_changes(source, tmp_path, monkeypatch):
    header, ran = source.with_name("a.h"), []
    header.write_text("")
    source.write_text(SOUND)
    monkeypatch.setattr(cpp_lint, "flags", lambda _: [build.STANDARD])
    monkeypatch.setattr(cpp_lint, "findings", lambda path, _: ran.append(path) or ("wrong" if len(ran) == 3 else ""))
    check = lambda: cpp_lint.checked(source, tmp_path, [header])
    assert [check(), check(), len(ran)] == ["", "", 1]
    header.write_text("int g();\n")
    assert [check(), len(ran)] == ["", 2]
    source.write_text(DIVIDES)
    assert [check(), check(), check(), len(ran)] == ["wrong", "", "", 4]


def test_flags_are_those_of_the_builds():
    words = cpp_lint.flags(build.ROOT / "sim/harness/build_shape.cpp")
    assert set(build.HARNESS_FLAGS) <= set(words) and '-DVM_PRESET="lab"' in words
    assert not any(word.startswith("-D") for word in cpp_lint.flags(build.ROOT / "sim/model/curve.cpp"))
