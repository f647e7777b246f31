"""The description of a profile (`hw/regs/profile.yaml`), and what is made from it."""

import copy
import re
import subprocess

import pytest
import yaml

from vermilion.generate import (
    committed,
    description,
    profile,
    profile_c,
    profile_cpp,
    profile_page,
    profile_python,
    profile_rdl,
    profile_record,
    profile_scala,
    records,
)
from vermilion.generate.netlink_settings import attributes
from vermilion.hardware.driver_library import C
from vermilion.toolchain import build
from vermilion.values.fields import UserError

RAW = yaml.safe_load(records.SOURCE.read_text())
NOTE = {"name": "note", "type": "count", "range": [0, 9], "default": 3, "doc": "For readers of the card."}
REGISTER = {"register": "note", "at": 0x28, "width": 4, "doc": "The curve's note."}


def test_what_is_generated_from_the_description_is_up_to_date():
    assert committed.stale(profile.files()) == []


def changed(change):
    raw = copy.deepcopy(RAW)
    change(raw)
    return description.read(raw)


def with_note(raw):
    raw["settings"]["curve"]["fields"].append(NOTE)
    raw["image"]["curve"].append(REGISTER)


# What a new field of a curve adds to each form.
FORMS = {
    "settings in C": (profile_c.types, "u32 note; /* For readers of the card */"),
    "image in C": (profile_c.types, "\tu32 note;\n};\n\nstruct vm_colour_image"),
    "range in C": (profile_c.fields, 'vm_check_range(fault, place, "note", s->note, 0u, 9u, "0 to 9")'),
    "default in C": (profile_c.fields, "queue->curve[2][1].note = 3u;"),
    "register write": (profile_c.visit, "VM_REG_SHADOW_COLOUR_CURVE_NOTE(i, j), (u32)image->colour[i].curve[j].note"),
    "register": (profile_rdl.rdl, "word #(.W(4)) note @ 0x28;"),
    "reader of JSON": (profile_cpp.reading, 'out.note = o.value("note").small(15u);'),
    "table of the file": (profile_python.tables, 'note: Annotated[int, number(0, 9, "0 to 9", whole=True)] = 3'),
    "name in vermilionctl": (profile_python.fields, 'Field("yellow.ecn.note", ("curve", 1, 1, "note"), "count"'),
    "attribute of netlink": (
        lambda found: "".join(line for _, line in attributes(found, "curve")),
        'name: note, type: u32, doc: "For readers of the card (legal is 0 to 9)."',
    ),
    "type of the record": (profile_record.image, "    square2: Scaled\n    note: int\n"),
    "row of the page": (profile_page.page, "| `green.note` | `curve[0][0].note` | `green / note` |"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_field_is_one_entry(form):
    make, text = FORMS[form]
    assert text in make(changed(with_note)) and text not in make(description.load())


def test_no_two_values_share_bits():
    """Every bit of the shadow record belongs to one value of the image."""
    taken = {}

    def take(name, at, bits, who):
        for bit in bits:
            assert taken.setdefault((name, at, bit), who) == who, f"{who} and {taken[name, at, bit]} share a bit"

    for name, registers in description.load().image.items():
        for each in registers:
            if isinstance(each, records.Word):
                assert each.count == 1 or each.stride >= (8 if each.wide else 4)
                for i in range(each.count):
                    at = each.at + i * each.stride
                    parts = [(part.name, range(part.low, part.high + 1)) for part in each.bits]
                    if not parts:
                        parts = [(each.name, range(32))]
                    for part, bits in parts:
                        take(name, at, bits, f"{each.name}.{part}[{i}]")
                    if each.wide:
                        take(name, at + 4, range(32), f"{each.name}_high[{i}]")


def test_a_value_of_the_image_fits_its_member():
    for name, registers in description.load().image.items():
        struct = getattr(C, f"{name.capitalize()}Image")
        members = {member for member, _ in struct._fields_}
        for each in registers:
            if isinstance(each, records.Word) and not each.bits:
                assert each.member.split(".")[0] in members and each.width <= 64
            elif isinstance(each, records.Word):
                wanted = {re.split(r"[.\[]", part.member)[0] for part in each.bits if not part.top}
                assert wanted <= members


BROKEN = {
    "an unknown key": (lambda raw: raw["settings"]["curve"]["fields"][1].update(unit="B"), "min has unit; legal are"),
    "an unknown type": (
        lambda raw: raw["settings"]["curve"]["fields"][1].update(type="size"),
        "min has type size; legal are flag,",
    ),
    "no such enum": (
        lambda raw: raw["settings"]["average"]["fields"][1].update(enum="avg"),
        "kind has enum avg; legal are curve-kind,",
    ),
    "a marker without a code": (
        lambda raw: raw["markers"]["leaf"].pop("code"),
        "leaf needs code and bucket a, or flow and neither",
    ),
    "a code twice": (
        lambda raw: raw["markers"]["redp"].update(code=3),
        "redp has code 3, which trtcm has",
    ),
    "the code of the flow markers": (
        lambda raw: raw["markers"]["redp"].update(code=5),
        "redp has code 5, which flow has",
    ),
    "a code that the register does not hold": (
        lambda raw: raw["markers"]["apm"].update(flow=4),
        "apm has flow 4; legal is 0 to 3, what its register holds",
    ),
    "a bucket with an unknown rate": (
        lambda raw: raw["markers"]["leaf"]["a"].update(rate="speed"),
        "leaf has rate speed; legal are those that it needs: rate",
    ),
    "a bucket with the depth of another kind": (
        lambda raw: raw["markers"]["leaf"]["a"].update(depths=["cbs"]),
        "leaf has depth cbs; legal are those that it needs: burst",
    ),
    "a marker that gives no colour": (
        lambda raw: raw["markers"]["nm"].update(gives=["blue"]),
        "nm gives blue; legal are green, yellow, red",
    ),
    "a rule without its source": (
        lambda raw: raw["markers"]["trtcm"].pop("source"),
        "trtcm has a rule between settings and no source",
    ),
    "a marker without a title": (lambda raw: raw["markers"]["apm"].pop("title"), "apm has no title"),
    "a kind without a marker": (
        lambda raw: raw["enums"]["marker-kind"]["entries"].append("two"),
        "markers has leaf, srtcm, trtcm, redp, nm, 3cpm, wpm, apm; marker-kind has none, leaf,",
    ),
    "a second field for each colour": (
        lambda raw: raw["settings"]["curve"]["fields"].append(NOTE | {"for-each": "colour"}),
        "curve.note has for-each; legal is one field of a table, of type dscp",
    ),
    "a DSCP that is not for each colour": (
        lambda raw: raw["settings"]["curve"]["fields"].append({"name": "code", "type": "dscp", "doc": "A code."}),
        "curve.code has no for-each; a field of type dscp needs one",
    ),
    "a range where the type has one": (
        lambda raw: raw["settings"]["curve"]["fields"][2].update(range=[0, 1000]),
        "max has a range; type length has its own",
    ),
    "a count without a range": (
        lambda raw: raw["settings"]["curve"]["fields"].append({"name": "n", "type": "count", "doc": "A count."}),
        "n has no range; type count needs one",
    ),
    "a default out of range": (
        lambda raw: raw["settings"]["curve"]["fields"].append(NOTE | {"default": 99}),
        "note has default 99; legal is 0 to 9",
    ),
    "a default that is no word": (
        lambda raw: raw["settings"]["average"]["fields"][1].update(default="ewma"),
        "kind has default ewma; legal are red, wred, rio-c, rio-2, rio-dc",
    ),
    "words with a gap": (
        lambda raw: raw["settings"]["average"]["fields"][1].update(words=["red", "rio-c"]),
        "kind has words red, rio-c; legal are consecutive ones of red, wred",
    ),
    "a field for no kind of marker": (
        lambda raw: raw["settings"]["marker"]["fields"][2].update({"for": ["laef"]}),
        "marker.packet is for laef; legal are leaf, srtcm",
    ),
    "a name twice": (
        lambda raw: raw["settings"]["curve"]["fields"].append(NOTE | {"name": "min"}),
        "curve.min is there twice",
    ),
    "an unknown key of a register": (
        lambda raw: raw["image"]["curve"].append({"register": "note", "at": 0x28, "widthx": 4, "doc": "A note."}),
        "note has widthx; legal are at, count, doc, factor, fields",
    ),
    "a register without a form": (
        lambda raw: raw["image"]["curve"].append({"register": "note", "at": 0x28, "doc": "A note."}),
        "note needs one of fields, width and factor",
    ),
    "two registers at an address": (
        lambda raw: raw["image"]["curve"].append(REGISTER | {"at": 0x24}),
        "curve.note is at offset 0x24, where square2 is",
    ),
    "a register in an array of others": (
        lambda raw: raw["image"]["queue"].append(REGISTER | {"at": 0x204}),
        "queue.note is at offset 0x204, where colour is",
    ),
    "a bit twice": (
        lambda raw: raw["image"]["curve"][0]["fields"].append({"name": "note", "bits": "9:7"}),
        "flags.note has bits that slope1_one has",
    ),
    "a bit beyond the register": (
        lambda raw: raw["image"]["curve"][0]["fields"].append({"name": "note", "bits": "40:38"}),
        "flags.note has bits 40:38; legal is HIGH:LOW within 31:0",
    ),
    "an unknown group": (
        lambda raw: raw["image"]["queue"].append({"group": "notes", "at": 0x500, "doc": "Notes."}),
        "queue.notes is no group above it; legal are curve, colour, marker",
    ),
    "a group in itself": (
        lambda raw: raw["image"]["curve"].append({"group": "curve", "at": 0x40, "doc": "A curve."}),
        "curve.curve is no group above it; legal are none",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_description_is_refused_in_a_sentence(fault):
    change, sentence = BROKEN[fault]
    with pytest.raises(UserError, match=re.escape(f"profile.yaml: {sentence}")):
        changed(change)


def with_marker(raw):
    flags = next(each for each in raw["image"]["marker"] if each.get("register") == "flags")
    next(each for each in flags["fields"] if each["name"] == "kind")["most"] = 6
    raw["enums"]["marker-kind"]["entries"].append("two")
    raw["markers"]["two"] = {"title": "a second one", "source": "RFC 1", "code": 6, "not-below": ["pir", "cir"]}
    raw["markers"]["two"] |= {"a": {"rate": "cir", "depths": ["cbs"]}, "b": {"rate": "pir", "depths": ["pbs"]}}
    for each in raw["settings"]["marker"]["fields"]:
        if each["name"] in ("cir", "cbs", "pir", "pbs"):
            each["needs"].append("two")


# What a new kind of marker adds to each form.
KINDS = {
    "code in C": (profile_c.types, "VM_MARKS_TWO = 6"),
    "word in C": (profile_c.fields, 'return "two";'),
    "range in C": (profile_c.fields, '\tcase VM_MARKER_TWO:\n\t\treturn vm_check_range(fault, place, "drop"'),
    "rule in C": (
        profile_c.fields,
        '\tcase VM_MARKER_TWO:\n\t\treturn vm_check_range(fault, place, "pir", s->pir, s->cir',
    ),
    "bucket in C": (profile_c.fields, "\tcase VM_MARKER_TWO:\n\t\tbucket[0].rate = s->cir;"),
    "code in Scala": (profile_scala.kinds, "case object Two extends TokenKind(MarkerKind.Two)"),
    "table of the file": (profile_python.tables, '"two": MarkerKind("a second one", "RFC 1", "frame"'),
    "fields of the file": (profile_python.tables, '"two": (("cir", "cbs", "pir", "pbs"), ()),'),
    "row of the page": (profile_page.page, "| `two` | a second one (RFC 1) | 6 |"),
}


@pytest.mark.parametrize("form", KINDS)
def test_a_marker_is_one_entry(form):
    make, text = KINDS[form]
    assert text in make(changed(with_marker)) and text not in make(description.load())


def both(raw):
    with_note(raw)
    with_marker(raw)


def test_what_a_new_field_and_a_new_marker_generate_compiles(tmp_path):
    """C with every warning an error, against the library's other headers; Python by running it."""
    found = changed(both)
    library = build.ROOT / "sw_driver" / "lib"
    (tmp_path / "vm_profile_types.h").write_text(profile_c.types(found))
    (tmp_path / "vm_profile_fields.c").write_text(profile_c.fields(found))
    command = ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{tmp_path}"]
    for header in library.glob("*.h"):
        if not (tmp_path / header.name).exists():
            (tmp_path / header.name).symlink_to(header)
    done = subprocess.run([*command, tmp_path / "vm_profile_fields.c"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    tables, fields = {"__name__": "tables"}, {"__name__": "fields"}
    exec(compile(profile_python.tables(found), "tables.py", "exec"), tables)
    exec(compile(profile_python.fields(found), "fields.py", "exec"), fields)
    assert tables["CurveFields"](curve="tail").note == 3 and tables["MARKER_FIELDS"]["two"][0][0] == "cir"
    assert fields["BY_NAME"]["red.note"].path == ("curve", 2, 0, "note")


def test_the_command_line_of_a_generator(tmp_path, monkeypatch, capsys):
    """A stale file is named, written, and then up to date; anything but --check is refused."""
    monkeypatch.setattr(committed.build, "ROOT", tmp_path)
    path = tmp_path / "made.h"
    run = lambda *words: (committed.run("part", lambda: {path: "text"}, list(words)), capsys.readouterr().out)
    assert run("--check") == (1, "made.h is not what its source gives; run python -m vermilion.generate.part\n")
    assert not path.exists() and run("--cheque") == (2, "--cheque: the only option is --check\n")
    assert run() == (0, "made.h written\n") and path.read_text() == "text"
    assert run("--check") == run() == (0, "")
