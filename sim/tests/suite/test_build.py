"""Building again after the sources have changed."""

import os
import shutil
import subprocess

import pytest

from vermilion.toolchain import build, chisel, steps, verilated
from vermilion.toolchain.build import forget_missing_headers


def test_what_was_compiled_with_a_header_that_is_gone_is_compiled_anew(tmp_path):
    header = tmp_path / "there.h"
    header.write_text("")
    cases = {"kept": header, "near": "there.h", "stale": tmp_path / "gone.h", "far": "../gone.h"}
    for name, needs in cases.items():
        (tmp_path / f"{name}.o").write_text("")
        (tmp_path / f"{name}.d").write_text(f"{name}.o: /{name}.cpp \\\n {needs}\n")
    forget_missing_headers(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.[od]")) == ["kept.d", "kept.o", "near.d", "near.o"]


def test_classes_are_compiled_once_for_a_state_of_the_sources_and_of_the_classes(tmp_path, monkeypatch):
    classes, calls = tmp_path / "classes", []
    source = tmp_path / "A.scala"
    source.write_text("a")
    classes.mkdir()

    def compiled(module):
        calls.append(module)
        (classes / "A.class").write_text(source.read_text())
        return [classes, tmp_path / "library.jar"]

    monkeypatch.setattr(chisel, "compiled", compiled)
    monkeypatch.setattr(steps, "BUILD", tmp_path / "build")
    monkeypatch.setattr(steps, "ROOT", tmp_path)
    monkeypatch.setattr(steps, "files", lambda *_: [source])
    (tmp_path / "build.sc").write_text("")
    assert chisel.class_path() == chisel.class_path() == [classes, tmp_path / "library.jar"]
    assert calls == ["hw"]
    source.write_text("b")
    chisel.class_path()
    assert calls == ["hw", "hw"], "a changed source is compiled"
    (classes / "B.class").write_text("by hand")
    chisel.class_path()
    assert calls == ["hw", "hw", "hw"], "so are classes that somebody else wrote"
    chisel.class_path(tests=True)
    assert calls[-1] == "hw.test"


def test_keys_do_not_name_the_checkout(tmp_path, monkeypatch):
    """A checkout that is copied or moved builds nothing again: its folder is no part of a key, those of others are."""
    keys = []
    for place in (tmp_path / "a", tmp_path / "ab"):
        (place / "sim").mkdir(parents=True)
        (place / "sim/x.cpp").write_text("x")
        monkeypatch.setattr(steps, "ROOT", place)
        words = ["g++", f"-I{place}/sim -I{place}", place / "sim/x.cpp", f"-Wl,-rpath,{place}/.vermilion"]
        keys.append(steps.digest([place / "sim/x.cpp"], *words))
        keys.append(steps.content([place / "sim/x.cpp"], *words))
    assert keys[:2] == keys[2:]
    assert steps.digest([place / "sim/x.cpp"], *words, tmp_path / "other") != keys[0]
    assert steps.relocatable(f"{place}c/sim") == f"{place}c/sim", "a folder whose name only begins alike"


def test_what_is_kept_by_content_is_made_once(tmp_path, monkeypatch):
    """Equal content is shared wherever the files lie; a folder whose making failed is made anew."""
    monkeypatch.setattr(steps, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(steps, "BUILD", tmp_path / "build")
    for place, text in (("a", "module A;"), ("b", "module A;"), ("c", "module A; // other")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "A.sv").write_text(text)
    made, key = [], lambda place, *words: steps.content([tmp_path / place / "A.sv"], *words)

    def make(folder):
        assert not list(folder.iterdir())
        (folder / "program").write_text("")
        made.append(folder)

    def fail(folder):
        make(folder)
        raise RuntimeError

    assert steps.kept("A", key("a"), make) == steps.kept("A", key("b"), make) and len(made) == 1
    steps.kept("A", key("c"), make)
    steps.kept("A", key("a", "-O3"), make)
    assert len(set(made)) == 3
    with pytest.raises(RuntimeError):
        steps.kept("A", key("a", "-O2"), fail)
    note = steps.kept("A", key("a", "-O2"), make) / "made"
    os.utime(note, (0, 0))
    steps.kept("A", key("a", "-O2"), make)
    assert len(made) == 5 and note.stat().st_mtime > 0, "the time of the last use"


def test_programs_find_libraries_where_they_lie(tmp_path):
    """A program that is linked with a library beside it takes that one after both were moved, and needs no other."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "a.c").write_text("int number(void) { return 7; }\n")
    (old / "b.c").write_text("int number(void);\nint main(void) { return number(); }\n")
    library, program = old / "liba.so", old / "b"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, old / "a.c"], check=True)
    subprocess.run(["gcc", old / "b.c", *build.linked(library), "-o", program], check=True)
    shutil.copytree(old, new)
    subprocess.run(["gcc", "-shared", "-fPIC", "-Dnumber=gone", "-o", library, old / "a.c"], check=True)
    assert subprocess.run([new / "b"]).returncode == 7
    shutil.rmtree(old)
    assert subprocess.run([new / "b"]).returncode == 7


@pytest.fixture
def compilers(tmp_path, monkeypatch):
    """A PATH of stand-ins that print their name, words and ccache's variables; gives a function that adds one."""
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    for name in ("CCACHE_DIR", "CCACHE_BASEDIR", "OBJCACHE"):
        monkeypatch.delenv(name, raising=False)

    def add(*names):
        for name in names:
            (tools / name).write_text(f'#!/bin/sh\necho {name} "$@" "$CCACHE_DIR" "$CCACHE_BASEDIR" "$OBJCACHE"\n')
            (tools / name).chmod(0o755)

    return add


def test_compilations_go_through_ccache(tmp_path, monkeypatch, compilers):
    """Objects and make do, where ccache is installed; its folder is the user's, or one of the checkout."""
    compilers("g++", "make")
    log, compile = tmp_path / "log", ["g++", "-c", "a.cpp", "-o", "a.o"]

    def said(command):
        steps.run(command, log)
        return log.read_text().strip()

    assert said(compile) == "g++ -c a.cpp -o a.o" and said(["make"]) == "make"
    compilers("ccache")
    places = f"{steps.HOME}/ccache {steps.ROOT} ccache"
    assert said(compile) == f"ccache g++ -c a.cpp -o a.o {places}"
    assert said(["g++", "a.o"]) == f"g++ a.o {places}" and said(["make"]) == f"make {places}"
    monkeypatch.setenv("CCACHE_DIR", "/mine")
    assert said(compile) == f"ccache g++ -c a.cpp -o a.o /mine {steps.ROOT} ccache"


def test_objects_of_another_compiler_are_made_anew(tmp_path, monkeypatch):
    """`make` would keep them: Verilator writes the same files."""
    objects = [tmp_path / name for name in ("a.o", "a.d", "a.a")]
    for version, kept in (("1", False), ("1", True), ("2", False)):
        for path in objects:
            path.touch()
        monkeypatch.setattr(verilated, "compiler_version", lambda: version)
        verilated.forget_other_compiler(tmp_path)
        assert all(path.exists() is kept for path in objects)


def test_words_of_the_users_own_do_not_reach_verilators_makefiles(monkeypatch):
    """They can be others than those of a precompiled header, and no key holds them."""
    for name in ("CXXFLAGS", "CPPFLAGS", "USER_CPPFLAGS", "OPT"):
        monkeypatch.setenv(name, "-O2")
        assert name not in steps.environment()
    monkeypatch.setenv("CCACHE_SLOPPINESS", "file_stat_matches")
    assert steps.environment()["CCACHE_SLOPPINESS"] == "pch_defines,time_macros,file_stat_matches"


def test_a_precompiled_header_is_made_anew_where_a_file_that_it_read_has_changed(tmp_path, monkeypatch):
    """It is the same for the same files, and ccache takes what it was made from for it, in another checkout too."""
    for name in [name for name in os.environ if name.startswith("CCACHE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "ccache"))
    found, text = [], "int* c = &a;\n"

    def compiled() -> str:
        """How many compilations ccache has found, with that of `text` in the checkout of now."""
        work = steps.KEPT.parent / "work"
        work.mkdir(exist_ok=True)
        (work / "a.cpp").write_text(text)
        environment = steps.environment() | {"CCACHE_BASEDIR": str(steps.KEPT.parent)}
        words = ["ccache", "clang++", "-O1", "-include-pch", header, "-c", "a.cpp", "-o", "a.o"]
        subprocess.run(words, cwd=work, env=environment, check=True)
        said = subprocess.run(["ccache", "--print-stats"], env=environment, capture_output=True, text=True).stdout
        return dict(line.split("\t") for line in said.splitlines())["direct_cache_hit"]

    for place in ("one", "another"):
        monkeypatch.setattr(steps, "KEPT", tmp_path / place / "kept")
        monkeypatch.setattr(steps, "BUILD", tmp_path / place / "build")
        include = tmp_path / place / "include"
        include.mkdir(parents=True)
        (include / "verilated.h").write_text('#include "more.h"\n')
        (include / "more.h").write_text("int a;\n")
        monkeypatch.setenv("VERILATOR_ROOT", str(tmp_path / place))
        header = verilated.precompiled(["-O1"])
        found.append(compiled())
    assert found == ["0", "1"]
    before = header.read_bytes()
    assert verilated.precompiled(["-O1"]).read_bytes() == before
    assert verilated.precompiled([]) != header
    text = "int* c = &b;\n"
    for declared, hits in {"int b;": "1", "int b, d;": "1", "int b; ": "1"}.items():  # the first is as long as before
        (include / "more.h").write_text(f"{declared}\n")
        assert verilated.precompiled(["-O1"]) == header
        assert compiled() == hits
    monkeypatch.setenv("VERILATOR_ROOT", str(tmp_path / "one"))  # a copied checkout, whose files lie elsewhere
    text = "int* c = &a;\n"
    assert verilated.precompiled(["-O1"]) == header and compiled() == "1"
    include = tmp_path / "one/include"
    (include / "more.h").unlink()
    with pytest.raises(steps.BuildError, match="'more.h' file not found"):
        verilated.precompiled(["-O1"])


@pytest.mark.slow
def test_mills_jvm_takes_the_options_in_the_checkout(tmp_path):
    """With its own choices it takes twice as long and more to compile the generator. An option that no JVM knows shows that the file is read."""
    options = (build.ROOT / ".mill-jvm-opts").read_text()
    (tmp_path / "options").write_text(options + "-XX:+NoSuchOption\n")
    environment = chisel.mill_environment()
    assert environment["MILL_JVM_OPTS_PATH"] == str(build.ROOT / ".mill-jvm-opts")
    environment |= {"MILL_JVM_OPTS_PATH": str(tmp_path / "options"), "MILL_OUTPUT_DIR": str(tmp_path / "out")}
    done = subprocess.run(chisel.mill("version"), cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode and "NoSuchOption" in done.stdout + done.stderr


@pytest.mark.slow
def test_a_comment_elaborates_and_verilates_nothing():
    """The lane's key is that of its sources without comments, and its SystemVerilog names no line of them."""
    folder = build.system_verilog("lab")
    assert len(list(folder.glob("*.sv"))) > 30 and steps.is_made(folder, chisel.key(chisel.sources(), "lab"))
    assert not any(".scala" in path.read_text() for path in folder.glob("*.sv"))
