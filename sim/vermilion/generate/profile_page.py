"""`docs/profile.md`: each setting of a queue with its names and what is legal, and each value of its image with its register."""

from vermilion.values import units

from .records import HEAD, Group, Profile, Setting, Table, Word, of_queue

INTRO = """A profile is all that a queue is set to. `hw/regs/profile.yaml` describes it once; this page, the driver's structs and checks, the netlink attributes,
the registers of the shadow record and the tables of the configuration file are made from it.

```mermaid
flowchart LR
  file["configuration file<br/>green.min = #quot;25KB#quot;"] --> settings["settings<br/>struct vm_queue"]
  ctl["vermilionctl, netlink, tc"] --> settings
  settings -- "vm_queue_check" --> settings
  settings -- "vm_queue_convert" --> image["image<br/>struct vm_queue_image"]
  image -- "vm_queue_visit" --> registers["shadow registers<br/>shadow.colour[0].curve[0].min"]
  image -- "sim/vermilion/profile/quantise.py" --> json["image as JSON<br/>colour[0].curve[0].min"]
  json -- "sim/model/image_reader.cpp" --> model["C++ model and simulator"]
  model -- "vm_queue_visit" --> registers
```

| step of `green.min` | value |
| --- | --- |
| configuration file | `"25KB"` |
| settings, `curve[0][0].min` | 25000 (bytes) |
| image, `colour[0].curve[0].min` | 25000 |
| JSON record, the same name | 25000 |
| register 0x0204 and the model's `VmQueue` | 25000 |

The *settings* are what an operator means. The *register image* is what the registers hold. A threshold stays as it is; a weight or a rate becomes a mantissa and a shift.
The model reads the image. The simulator and the driver write it to the *shadow registers* by the same function.

No code makes settings of an image. The driver reads registers after it has written them, only to compare. `vermilionctl show` uses [what the host remembers](tools.md#what-the-host-remembers).
"none" means that the setting is left out of the file; C and netlink hold 0 then. [configuration.md](configuration.md) explains the settings, [registers.md](registers.md) the registers, and
[hardware-configuration.md](hardware-configuration.md) the JSON record.
"""


def default(each: Setting) -> str:
    if each.required or each.needed_by:
        return "required"
    if each.none is not None or (each.optional and not each.has_default and not each.read_by):
        return "none"
    if each.enum:
        return str(each.default_word)
    if each.type == "flag":
        return "true" if each.default else "false"
    if each.type in ("dscp", "colours"):
        return "none"
    if each.type == "time":
        return units.time_text(each.default)
    shown = f"{int(each.default)}" if each.default.denominator == 1 else f"{float(each.default):g}"
    return shown + {"bytes": "B"}.get(each.type, "")


def legal(each: Setting) -> str:
    if each.enum:
        return ", ".join(word for word in each.words if not (each.required and word == "none"))
    texts = {
        "flag": "true, false",
        "length": "0 to 134217727",
        "depth": "up to 64MiB",
        "dscp": "DSCP",
        "colours": "colours",
    }
    return texts.get(each.type, each.legal)


def settings_rows(profile: Profile, table: Table) -> list[str]:
    kinds = any(each.read_by for each in table.settings)
    lines = ["| field | default | legal | kinds | meaning |", "| --- | --- | --- | --- | --- |"]
    if not kinds:
        lines = ["| field | default | legal | meaning |", "| --- | --- | --- | --- |"]
    for each in table.settings:
        readers = f" {', '.join(each.read_by) or 'all'} |" if kinds else ""
        lines.append(f"| `{each.name}` | {default(each)} | {legal(each)} |{readers} {each.doc} |")
    return lines


def names_rows(profile: Profile) -> list[str]:
    lines = ["| file, vermilionctl | C, from `struct vm_queue` | netlink |", "| --- | --- | --- |"]
    for each in of_queue(profile):
        lines.append(f"| `{each.name}` | `{each.c_member}` | `{netlink_name(each.name)}` |")
    return lines


def netlink_name(name: str) -> str:
    first, _, rest = name.partition(".")
    shown = name.replace("_", "-")
    if first in ("green", "yellow", "red", "marker"):
        return shown.replace(".", " / ")
    return shown.replace(".", "-") if rest else shown


def image_rows(profile: Profile, name: str, path: str, member: str) -> list[str]:
    lines = []
    for each in profile.image[name]:
        size = f"[{each.count}]" if each.count > 1 else ""
        if isinstance(each, Group):
            lines += image_rows(profile, each.group, f"{path}.{each.group}{size}", f"{member}{each.group}{size}.")
        else:
            lines += word_rows(each, f"{path}.{each.name}{size}", member, size)
    return lines


def word_rows(word: Word, path: str, member: str, size: str) -> list[str]:
    if word.bits:
        return [
            f"| `{member}{part.member}` | `{path}.{part.name}` | U{part.high - part.low + 1} | {part.doc} |"
            for part in word.bits
            if not part.top
        ]
    form = f"U{word.factor[0]} 2^-U{word.factor[1]}" if word.factor else "U1.32" if word.top else f"U{word.width}"
    shown = f"`{path}_low`, `_high`" if word.wide else f"`{path}`"
    return [f"| `{member}{word.member}{size}` | {shown} | {form} | {word.doc} |"]


def marker_rows(profile: Profile) -> list[str]:
    rows = ["| kind | name | code | bucket A | bucket B | leaves with |", "| --- | --- | --- | --- | --- | --- |"]
    for m in profile.markers.values():
        code = str(m.code) if m.flow is None else f"{m.code}, flow {m.flow}"
        cells = [f"`{b.rate}`, `{'` + `'.join(b.depths)}`" for b in m.buckets] + ["none", "none"]
        title = f"{m.title} ({m.source})" if m.source else m.title
        rows.append(f"| `{m.kind}` | {title} | {code} | {cells[0]} | {cells[1]} | {', '.join(m.gives)} |")
    return rows


def page(profile: Profile) -> str:
    lines = ["# A profile", "", f"<!-- {HEAD} -->", "", INTRO]
    for table in profile.settings.values():
        lines += [f"## Settings: {table.name}", table.doc, "", *settings_rows(profile, table), ""]
    lines += [
        "## Kinds of markers",
        "Rate and depth of each token bucket; `code` is in the register `shadow.marker.flags`.",
        "",
    ]
    lines += [*marker_rows(profile), ""]
    lines += ["## Names", "A field has the same name everywhere.", "", *names_rows(profile), ""]
    lines += ["## Image", "Members of `struct vm_queue_image`, and the registers that hold them.", ""]
    lines += ["| member | register | format | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join([*lines, *image_rows(profile, "queue", "shadow", ""), ""])
