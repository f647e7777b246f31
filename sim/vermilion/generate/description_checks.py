"""What must hold between entries of the description of a queue's profile: registers, names, and kinds of markers."""

from vermilion.values.fields import COLOURS

from .records import Group, Profile, Word, refuse


def width(found: Profile, register: str, part: str) -> int:
    """How many codes a field of a marker's register has."""
    word = next(each for each in found.image["marker"] if isinstance(each, Word) and each.name == register)
    return next(each.most + 1 for each in word.bits if each.name == part)


def size(found: Profile, each: Word | Group) -> int:
    """Bytes of one register, or of one group with all that it holds."""
    if isinstance(each, Word):
        return 8 if each.wide else 4
    return max(
        (part.at + (part.count - 1) * part.stride + size(found, part) for part in found.image[each.group]), default=0
    )


def check_image(found: Profile) -> None:
    """A group holds groups above it in the file alone, and no two registers of a group have an address in common."""
    above: list[str] = []
    for name, parts in found.image.items():
        taken: dict[int, str] = {}
        for each in parts:
            here = each.group if isinstance(each, Group) else each.name
            if isinstance(each, Group) and each.group not in above:
                refuse(f"{name}.{here}", f"is no group above it; legal are {', '.join(above) or 'none'}")
            for i in range(each.count):
                for at in range(each.at + i * each.stride, each.at + i * each.stride + size(found, each), 4):
                    if at in taken:
                        refuse(f"{name}.{here}", f"is at offset {at:#x}, where {taken[at]} is")
                    taken[at] = here
        above.append(name)


def check_settings(found: Profile) -> None:
    """Names are there once, kinds of markers exist, and a field for each colour has the one form that there is."""
    kinds = found.enums["marker-kind"].entries[1:]
    for table in found.settings.values():
        seen: set[str] = set()
        for each in table.settings:
            where = f"{table.name}.{each.name}"
            if each.name in seen:
                refuse(where, "is there twice")
            seen.add(each.name)
            if wrong := [kind for kind in each.read_by if kind not in kinds]:
                refuse(where, f"is for {', '.join(wrong)}; legal are {', '.join(kinds)}")
            others = [s.name for s in table.settings if s.for_each and s.name != each.name]
            if each.for_each and (each.type != "dscp" or others):
                refuse(where, "has for-each; legal is one field of a table, of type dscp")
            if each.type == "dscp" and not each.for_each:
                refuse(where, "has no for-each; a field of type dscp needs one")


def check_markers(found: Profile) -> None:
    """Kinds of markers fit the settings, the codes and the registers that they name."""
    kinds = found.enums["marker-kind"].entries
    if ("none", *found.markers) != kinds:
        refuse("markers", f"has {', '.join(found.markers)}; marker-kind has {', '.join(kinds)}")
    settings = {each.name: each for each in found.settings["marker"].settings}
    taken = {("code", 0): "none", ("code", found.flow_code): "flow"}
    for m in found.markers.values():
        field, code = ("code", m.code) if m.flow is None else ("flow", m.flow)
        codes = width(found, "flags" if m.flow is None else "flow", "kind")
        if not 0 <= code < codes:
            refuse(m.kind, f"has {field} {code}; legal is 0 to {codes - 1}, what its register holds")
        if (field, code) in taken:
            refuse(m.kind, f"has {field} {code}, which {taken[field, code]} has")
        taken[field, code] = m.kind
        rates = {*(bucket.rate for bucket in m.buckets), *m.not_below}
        for type_, names in (("rate", rates), ("depth", {*m.depths, *m.either})):
            legal = [name for name, each in settings.items() if each.type == type_ and m.kind in each.needed_by]
            if wrong := sorted(names - set(legal)):
                refuse(m.kind, f"has {type_} {', '.join(wrong)}; legal are those that it needs: {', '.join(legal)}")
        if wrong := sorted(set(m.gives) - set(COLOURS)):
            refuse(m.kind, f"gives {', '.join(wrong)}; legal are {', '.join(COLOURS)}")
        if (m.either or m.not_below) and not m.source:
            refuse(m.kind, "has a rule between settings and no source; name the RFC, which messages name")
