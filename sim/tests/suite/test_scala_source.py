"""Scala without comments, as keys of elaborations have it: what the compiler tells apart stays apart, and nothing else does."""

import re

import pytest

from vermilion.toolchain import build, chisel, scala_source, steps
from vermilion.toolchain.scala_source import stripped

SAME = {
    "line": ("a\n// b\nc", "a\nc"),
    "end of line": ("a // b\nc", "a\nc"),
    "text of a comment": ("a /* b */ c", "a /* \"d' // ` */ c"),
    "nested": ("a /* b /* c */ d */ e", "a e"),
    "between tokens": ("a/* b */c", "a c"),
    "scaladoc": ("a\n\n/** b\n  * c\n  */\nd", "a\n\nd"),
    "indentation": ("a\n    b   c", "a\nb c"),
    "blank lines": ("a\n\n\n\n  \nb", "a\n\nb"),
    "ends": ("\n// b\na\n\n// c\n", "a"),
    "line ends of another system": ("a\r\nb", "a\nb"),
    "after an operator": ("a +/* c */ b", "a + b"),
    "in interpolated code": ('s"${a /* } */}"', 's"${a }"'),
    "quote in a character": ("'\"' // b\nc", "'\"'\nc"),
    "escaped character": ("'\\'' // \"\n+ c", "'\\''\n+ c"),
    "unicode character": ("'\\u0022' // b\n+ c", "'\\u0022'\n+ c"),
    "symbol": ("'ab // \"\nc", "'ab\nc"),
    "backquoted": ("`a // b` // c\nd", "`a // b`\nd"),
    "empty strings": ('"" + s"" // c\n""', '"" + s""\n""'),
}
DIFFERENT = {
    "words": ("ab", "a/**/b"),
    "a line end": ("a b", "a\nb"),
    "a line end in a comment": ("a /* \n */ b", "a b"),
    "a blank line": ("a\n{", "a\n\n{"),
    "a blank line in a comment": ("a /*\n\n*/ {", "a\n{"),
    "a comment in a string": ('"a // b"', '"a // c"'),
    "stars in a string": ('"a /* b */ c"', '"a  c"'),
    "space in a string": ('"a  b"', '"a b"'),
    "a string after an escape": (r'"\" // b"', r'"\" // c"'),
    "a string after a backslash": ('"\\\\" + "// b"', '"\\\\" + "// c"'),
    "three quotes": ('"""a " // b"""', '"""a " // c"""'),
    "three quotes and one": ('"""a"""" + "// b"', '"""a"""" + "// c"'),
    "three quotes end in a backslash": ('"""\\""" + "// b"', '"""\\""" + "// c"'),
    "an interpolated string": ('s"$a // b"', 's"$a // c"'),
    "quotes in interpolated code": ('s"${f("// }")} // b"', 's"${f("// }")} // c"'),
    "interpolated in three quotes": ('s"""${a} "" // b"""', 's"""${a} "" // c"""'),
    "a quote after a dollar": ('s"5$" // b"', 's"5$" // c"'),
    "two dollars": ('s"$${" + "// b"', 's"$${" + "// c"'),
    "a backslash before an interpolated quote": ('s"\\" // b"', 's"\\" // c"'),
    "braces in interpolated code": ('s"${ { a } } // b"', 's"${ { a } } // c"'),
    "an interpolator with an operator in its name": ('a_+"$" // b"', 'a_+"$" // c"'),
    "a keyword is no interpolator": ('return"$" + "// b"', 'return"$" + "// c"'),
    "a character of two quotes": ('\'"\' + "// b"', '\'"\' + "// c"'),
    "XML": ("val a = <b>// c</b>", "val a = <b>// d</b>"),
    "a comment without an end": ("a /* b", "a /* c"),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_same(pair):
    assert stripped(pair[0]) == stripped(pair[1]) and stripped(stripped(pair[0])) == stripped(pair[0])


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_different(pair):
    assert stripped(pair[0]) != stripped(pair[1])


# Another way to take Scala apart, enough for this project's sources: code in an interpolated string is a part of the string.
TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)|(?P<space>\s+)|[a-z]*"""(?:.|\n)*?"""+'
    r'|[sf]"(?:\\.|\$\{(?:[^{}"]|"[^"]*"|\{[^{}]*\})*\}|[^"\\\n])*"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\\\n])\'|[\w$]+|.'
)


def tokens(text: str) -> list[str]:
    """The tokens, and between them what their line ends are to the compiler."""
    out, gap = [], ""
    for found in TOKEN.finditer(text):
        if found["comment"] or found["space"]:
            gap += found[0]
        else:
            blank = re.search(r"\n\s*\n", gap)
            out += ["blank line" if blank else "line end"] if "\n" in gap and out else []
            out.append(re.sub(r"\$\{(.*?)\}", lambda code: "".join(code[0].split()), found[0]))
            gap = ""
    return out


SOURCES = sorted([*build.files("hw", "*.scala"), build.ROOT / "build.sc"])


def test_tokens_of_every_source_stay():
    """Stripping keeps the tokens of all of this project's Scala, and takes every comment away."""
    for path in SOURCES:
        text = path.read_text()
        short = stripped(text)
        assert tokens(short) == tokens(text), path
        assert short != text and stripped(short) == short, path
        assert not any(found["comment"] for found in TOKEN.finditer(short)), path


def test_every_source_is_understood():
    for path in SOURCES:
        scala_source.Scanner(path.read_text()).code()


@pytest.fixture
def sources(tmp_path, monkeypatch):
    monkeypatch.setattr(steps, "ROOT", tmp_path)
    (tmp_path / "hw/src").mkdir(parents=True)
    (tmp_path / "build.sc").write_text("object hw")
    (tmp_path / "hw/src/A.scala").write_text("class A {\n}")
    return tmp_path / "hw/src/A.scala"


def test_key_of_an_elaboration(sources):
    """A comment leaves the key as it is; code, a file's name, Mill's description and the words of the main change it."""
    keys = [chisel.key(chisel.sources(), "lab"), chisel.key(chisel.sources(), "nic")]
    sources.write_text("/** Does it. */\nclass A { // it\n}\n")
    assert chisel.key(chisel.sources(), "lab") == keys[0]
    sources.write_text("class A {\nval b = 1\n}")
    keys.append(chisel.key(chisel.sources(), "lab"))
    sources.rename(sources.with_name("B.scala"))
    keys.append(chisel.key(chisel.sources(), "lab"))
    (steps.ROOT / "build.sc").write_text("object hw2")
    keys.append(chisel.key(chisel.sources(), "lab"))
    assert len(set(keys)) == 5


def test_line_number_in_verilog_is_refused(tmp_path, monkeypatch):
    """What a comment could change in the emitted SystemVerilog is a fault of the options, as keys leave comments out."""
    monkeypatch.setattr(chisel, "run", lambda *_, **__: None)
    (tmp_path / "A.sv").write_text("module A; // hw/src/A.scala:7:3\nendmodule\n")
    with pytest.raises(build.BuildError, match="A.sv names a Scala source"):
        chisel.emit(tmp_path, tmp_path / "log", "EmitA")
    (tmp_path / "A.sv").write_text("module A;\nendmodule\n")
    chisel.emit(tmp_path, tmp_path / "log", "EmitA")


def test_every_emitter_leaves_line_numbers_out():
    """Every call of firtool has options of EmitOptions, by itself or from PresetEmitter."""
    for path in build.files("hw", "*.scala"):
        text = path.read_text()
        if "emitSystemVerilogFile" in text:
            assert "EmitOptions." in text or "extends PresetEmitter" in text, path
    text = (build.ROOT / "hw/src/vermilion/lane/Emitter.scala").read_text()
    assert re.findall(r"\bwrite\(preset, directory, (.*)\)$", text, re.M) == [
        "if (last.isEmpty) EmitOptions.firtool else EmitOptions.synthesis"
    ]
    text = (build.ROOT / "hw/src/vermilion/lane/EmitBlock.scala").read_text().partition("object EmitOptions")[2]
    assert "--strip-debug-info" in re.search(r"val plain = (.*)", text)[1]
    assert len(re.findall(r"val \w+: Array\[String\] =\s+plain \+\+ ", text)) == text.count(": Array[String]") == 4
