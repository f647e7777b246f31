"""The shadow record's registers as SystemRDL (`hw/regs/shadow.rdl`), from the description of a profile."""

from collections.abc import Iterator

from .records import HEAD, Bits, Group, Profile, Word


def quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


def escaped(name: str) -> str:
    """A name that is a word of SystemRDL, too, needs a backslash."""
    return f"\\{name}" if name in ("na", "r", "w", "rw", "wr") else name


def field_line(part: Bits, tab: str) -> str:
    doc = f"Bit 32 of {part.top}." if part.top else part.doc
    desc = f" desc = {quoted(doc)};" if doc else ""
    shown = part.name.replace("_", " ").capitalize()
    return (
        f'{tab}field {{ name = "{shown}"; sw = rw; hw = r;{desc} }} {escaped(part.name)}[{part.high}:{part.low}] = 0;'
    )


def array(each: Word | Group) -> str:
    return f"[{each.count}] @ 0x{each.at:02X} += 0x{each.stride:X}" if each.count > 1 else f" @ 0x{each.at:02X}"


def factor_type(word: Word) -> str:
    mant, shift = word.factor or (18, 6)
    given = ([f".M({mant})"] if mant != 18 else []) + ([f".S({shift})"] if shift != 6 else [])
    return "factor" + (f" #({', '.join(given)})" if given else "")


def value_type(bits: int) -> str:
    return "word" if bits == 32 else f"word #(.W({bits}))"


def halves(word: Word) -> list[tuple[str, str, str]]:
    """Name, type and description of the two registers of a wide value."""
    text = word.doc.rstrip(".")
    low = (f"{word.name}_low", "word", f"{text}; bits 31:0.")
    return [low, (f"{word.name}_high", value_type(word.width - 32), f"{text}; bits {word.width - 1}:32.")]


def word_lines(word: Word, tab: str) -> Iterator[str]:
    if word.bits:
        yield f"{tab}reg {{"
        yield f"{tab}    desc = {quoted(word.doc)};"
        for part in word.bits:
            yield field_line(part, tab + "    ")
        yield f"{tab}}} {word.name}{array(word)};"
    elif word.factor:
        yield f"{tab}{factor_type(word)} {word.name}{array(word)};"
        yield f"{tab}{word.name}->desc = {quoted(word.doc)};"
    elif word.wide and word.count > 1:
        yield f"{tab}regfile {{"
        for at, (name, kind, text) in enumerate(halves(word)):
            half = name.removeprefix(f"{word.name}_")
            yield f"{tab}    {kind} {half} @ 0x{4 * at:X};"
            yield f"{tab}    {half}->desc = {quoted(text)};"
        yield f"{tab}}} {word.name}{array(word)};"
    elif word.wide:
        for at, (name, kind, text) in enumerate(halves(word)):
            yield f"{tab}{kind} {name} @ 0x{word.at + 4 * at:02X};"
            yield f"{tab}{name}->desc = {quoted(text)};"
    else:
        text = f"{word.doc.rstrip('.')}; bits 31:0." if word.top else word.doc
        yield f"{tab}{value_type(min(word.width, 32))} {word.name}{array(word)};"
        yield f"{tab}{word.name}->desc = {quoted(text)};"


def rdl(profile: Profile) -> str:
    lines = [f"// {HEAD}", "// Registers of the shadow record, for vermilion.rdl.", ""]
    for name, registers in profile.image.items():
        lines.append(f"regfile {'shadow' if name == 'queue' else name}_file {{")
        for each in registers:
            if isinstance(each, Group):
                lines += [
                    f"    {each.group}_file {each.group}{array(each)};",
                    f"    {each.group}->desc = {quoted(each.doc)};",
                ]
            else:
                lines += word_lines(each, "    ")
        lines += ["};", ""]
    return "\n".join(lines)
