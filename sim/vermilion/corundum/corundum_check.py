"""`vermilion corundum check`: does a Corundum board's `config.tcl` build a NIC that Vermilion's application block fits?

Every setting that does not fit is named in a sentence, before hours of synthesis find it; the last word have the
block's own checks at elaboration (fpga/corundum/rtl/vermilion_app_check.sv). Needs Python alone, so it also runs where
the project is not set up, in `sim/`:

    python3 -m vermilion.corundum.corundum_check CONFIG.tcl [--preset PRESET]
    python3 -m vermilion.corundum.corundum_check --all TREE

Exit status: 0 it fits, 1 it does not, 2 there is nothing to check. The presets that fit go to standard output, faults and notes to
standard error. If the tree that CONFIG.tcl lies in has an overlay, that is looked at, too: is it for these ports, and are its files there.
"""

import argparse
import re
import sys
from pathlib import Path

from vermilion.toolchain.app_presets import APP_ID, LEGAL, PRESETS, App, app, known, variants

from .tcl import UNKNOWN, Script, Unreadable, number

ADDRESS_BITS = 24  # of the BAR that the block decodes
# What an overlay sets. The sync stage alone is in use: without the others the core leaves their logic out.
SETTINGS = {
    "APP_ID": f"32'h{APP_ID:08X}",
    "APP_ENABLE": "1",
    "APP_CTRL_ENABLE": "1",
    "APP_DMA_ENABLE": "0",
    "APP_AXIS_DIRECT_ENABLE": "0",
    "APP_AXIS_SYNC_ENABLE": "1",
    "APP_AXIS_IF_ENABLE": "0",
    "APP_STAT_ENABLE": "1",
    "AXIL_APP_CTRL_DATA_WIDTH": "32",
    "AXIL_APP_CTRL_ADDR_WIDTH": "24",
    "STAT_ENABLE": "1",
    "STAT_INC_WIDTH": "24",
    "STAT_ID_WIDTH": "12",
}


INCLUDE = "include ../app/vermilion/files.mk"  # by which a board's Makefile takes the overlay in
RATES = {64: "10G", 128: "25G", 512: "100G"}


def literal(text):
    """The number in a setting, in Tcl's forms or Verilog's (32'h564D0001), else None."""
    if text is UNKNOWN or text is None:
        return None
    text = text.strip().replace("_", "")
    size, quote, digits = text.partition("'")
    if not quote:
        return number(text)
    try:
        return int(digits[1:], {"h": 16, "d": 10, "b": 2, "o": 8}[digits[:1].lower()])
    except (KeyError, ValueError):
        return None


class Settings:
    """The settings that a configuration gives its NIC, and what is wrong with them, a sentence each."""

    def __init__(self, params: dict):
        self.params = params
        self.wrong: list[str] = []
        self.notes: list[str] = []

    def number(self, name: str, default=None):
        """The number that `name` is set to; None, and a note, if it cannot be worked out."""
        if name not in self.params:
            return default
        found = literal(self.params[name])
        if found is None:
            shown = "made by a command of the tool" if self.params[name] is UNKNOWN else repr(self.params[name])
            self.notes.append(f"{name} is {shown}, which is not known here")
        return found

    def must(self, name: str, legal: int, why: str, default=None, form=str):
        """Demands that a setting is `legal`; one that is not set is `default`, and None where every board sets it."""
        found = self.number(name, default)
        if found is not None and found != legal:
            self.wrong.append(f"{name} is {form(found)}; legal is {form(legal)}, {why}")
        elif found is None and name not in self.params:
            self.wrong.append(f"{name} is not set; legal is {form(legal)}, {why}")


def stream_bits(settings: Settings):
    """Bits of a port's stream in the sync stage, and by which setting; None if that is not known."""
    hundred = settings.number("MAC_100G", 0)
    if hundred is None:
        return None, ""
    if hundred or "MAC_100G" not in settings.params and "ENABLE_DIC" not in settings.params:
        return 512, "its MACs are for 100G"
    double = settings.number("AXIS_ETH_SYNC_DATA_WIDTH_DOUBLE", 0)
    if double is None:
        return None, ""
    if "AXIS_ETH_SYNC_DATA_WIDTH_DOUBLE" not in settings.params:
        note = "AXIS_ETH_SYNC_DATA_WIDTH_DOUBLE is not set: the streams are taken for 64 bits, but a board's top may make them 128"
        if note not in settings.notes:
            settings.notes.append(note)
    return (128 if double else 64), f"AXIS_ETH_SYNC_DATA_WIDTH_DOUBLE is {int(bool(double))}"


def check_block(settings: Settings):
    """What every build of the block wants."""
    hexadecimal = lambda value: f"32'h{value:08X}"
    settings.must("APP_ENABLE", 1, "without it there is no application block", 0)
    settings.must("APP_ID", APP_ID, "by which drivers know Vermilion", 0, hexadecimal)
    settings.must("APP_CTRL_ENABLE", 1, "without it the host cannot reach the block's registers", 1)
    settings.must("APP_AXIS_SYNC_ENABLE", 1, "the block stands in the sync stage", 1)
    settings.must("APP_STAT_ENABLE", 1, "without it the NIC counts nothing of the block", 1)
    settings.must("STAT_ENABLE", 1, "without it the NIC counts nothing of the block", 1)
    settings.must("STAT_INC_WIDTH", 24, "the width of an increment", 24)
    settings.must("STAT_ID_WIDTH", 12, "the block's statistics need the ids", 12)
    settings.must("PORTS_PER_IF", 1, "a port an interface")
    settings.must("TX_TAG_WIDTH", 16, "completions are told apart by it", 16)
    settings.must("AXIL_APP_CTRL_DATA_WIDTH", 32, "registers have 32 bits", 32)
    address = settings.number("AXIL_APP_CTRL_ADDR_WIDTH", 24)
    if address is not None and not ADDRESS_BITS <= address <= 64:
        settings.wrong.append(
            f"AXIL_APP_CTRL_ADDR_WIDTH is {address}; legal is {ADDRESS_BITS} to 64, or registers lie outside the BAR"
        )


def check_preset(settings: Settings, preset: str):
    """What one build of the block wants."""
    build = known(preset)
    check_shape(settings, preset, build)


def check_shape(settings: Settings, preset: str, app: App):
    """What a block wants that is for `app`; `preset` is what it is called in sentences."""
    bits, by = stream_bits(settings)
    if bits is not None and bits != app.bits:
        settings.wrong.append(
            f"the streams have {bits} bits ({by}), as {RATES[bits]} ports have; {preset} has {app.bits}, for {RATES[app.bits]}"
        )
    interfaces, each = settings.number("IF_COUNT"), settings.number("PORTS_PER_IF", 1)
    if interfaces is None and "IF_COUNT" not in settings.params:
        settings.wrong.append(f"IF_COUNT is not set; legal is {app.ports}, the ports of {preset}")
    elif None not in (interfaces, each) and interfaces * each != app.ports:
        settings.wrong.append(
            f"IF_COUNT is {interfaces}, so {interfaces * each} ports; legal is {app.ports}, the ports of {preset}"
        )
    why = "RX frames of this build carry" + (" timestamps" if app.timestamps else " none")
    settings.must("PTP_TS_ENABLE", int(app.timestamps), why, 1)
    period, clock = clock_of(settings), app.clock_ns
    if None not in period and period[0] * clock[1] != period[1] * clock[0]:
        settings.wrong.append(
            f"CLK_PERIOD_NS_NUM/CLK_PERIOD_NS_DENOM is {period[0]}/{period[1]} ns; legal is {clock[0]}/{clock[1]}, "
            "the block's times are counted in it"
        )


def clock_of(settings: Settings) -> tuple:
    """The period of the clock, numerator and denominator in ns."""
    return settings.number("CLK_PERIOD_NS_NUM", 4), settings.number("CLK_PERIOD_NS_DENOM", 1)


def fitting(settings: Settings) -> list[str]:
    """Presets of as many ports, as wide, with the timestamps and the clock of the configuration."""
    found = []
    for name in (each for preset in PRESETS for each in variants(preset)):
        trial = Settings(settings.params)
        check_preset(trial, name)
        if not trial.wrong:
            found.append(name)
    return found


def shape(settings: Settings) -> str:
    """Ports, widths and timestamps of a configuration, in words."""
    known = lambda value: "?" if value is None else str(value)
    interfaces, each = settings.number("IF_COUNT"), settings.number("PORTS_PER_IF", 1)
    ports = None if None in (interfaces, each) else interfaces * each
    stamps = {0: "without", 1: "with"}.get(settings.number("PTP_TS_ENABLE", 1), "perhaps with")
    plural = "" if ports == 1 else "s"
    period = clock_of(settings)
    clock = "" if None in period or period[0] == 4 * period[1] else f" at {period[0]}/{period[1]} ns"
    return f"{known(ports)} port{plural} of {known(stream_bits(settings)[0])} bits {stamps} PTP timestamps{clock}"


def check_order(settings: Settings, script: Script):
    """Settings that come too late: behind the loop that gives them to the NIC, or behind the line that makes its BAR."""
    bars = [params for words, params in script.seen if words.startswith("configure_bar") and "AXIL_APP_CTRL" in words]
    for name in ("APP_ENABLE", "AXIL_APP_CTRL_ADDR_WIDTH"):
        if bars and bars[-1].get(name) != settings.params.get(name):
            settings.wrong.append(f"{name} is set behind the line that makes the application BAR; set it above that")
    applied = [params for words, params in script.seen if words.startswith("dict for")]
    if applied:
        late = sorted(name for name in settings.params if applied[-1].get(name, "") != settings.params[name])
        if late:
            settings.wrong.append(
                f"set behind the loop that gives the settings to the NIC: {', '.join(late)}; set above it"
            )


def read(path: Path) -> Script:
    """A board's configuration; an Unreadable if it is none."""
    try:
        script = Script(path, ("dict for", "configure_bar")) if path.is_file() else None
    except OSError as error:
        raise Unreadable(f"{error.filename}: cannot be read: {error.strerror}") from None
    except Unreadable as error:
        raise Unreadable(f"{path} is no Tcl script: {error}") from None
    if script is None:
        raise Unreadable(f"{path} is no file")
    if not script.params:
        raise Unreadable(f"{path} is no config.tcl of a Corundum board: it has no line `dict set params NAME VALUE`")
    return script


def overlay_of(path: Path) -> Path | None:
    """The folder of the overlay in the tree that a board's configuration lies in."""
    # By the link with which Corundum's scripts find applications.
    beside = path.absolute().parent.parent / "app" / "vermilion"
    return beside if beside.is_dir() else None


def check_overlay(settings: Settings, path: Path, overlay: Path):
    """Is the overlay for this board, is it whole, and does the board's Makefile take it in."""
    header = overlay / "rtl" / "vermilion_app_params.vh"
    try:
        held = dict(re.findall(r"^`define VERMILION_APP_(\w+) (\S+)$", header.read_text(errors="replace"), re.M))
        shape = {name: int(held[name]) for name in ("PORTS", "DATA_BITS", "TS_BITS", "CLK_NUM", "CLK_DENOM")}
    except (OSError, KeyError, ValueError) as error:
        settings.wrong.append(f"{header} does not say what the overlay was built for ({error}); write the overlay anew")
        return
    built = App(
        shape["PORTS"],
        shape["DATA_BITS"],
        timestamps=shape["TS_BITS"] != 0,
        clock_ns=(shape["CLK_NUM"], shape["CLK_DENOM"]),
    )
    if built.bits not in RATES:
        settings.wrong.append(f"{header}: DATA_BITS is {built.bits}; legal are {', '.join(map(str, RATES))}")
        return
    check_shape(settings, f"the overlay in {overlay}", built)
    files = overlay / "files.mk"
    named = re.findall(
        r"^SYN_FILES \+= app/vermilion/(\S+)$", files.read_text(errors="replace") if files.is_file() else "", re.M
    )
    missing = [name for name in named if not (overlay / name).is_file()]
    if not named:
        settings.wrong.append(f"{files} names no files; write the overlay anew")
    if missing:
        settings.wrong.append(f"files of the overlay are missing: {', '.join(missing)}; write the overlay anew")
    makefile = path.parent / "Makefile"
    taken = rf"^{re.escape(INCLUDE)}\s*$"
    if makefile.is_file() and not re.search(taken, makefile.read_text(errors="replace"), re.M):
        settings.wrong.append(f"{makefile} has no line `{INCLUDE}`: the block's files are not built")


def check(path: Path, preset: str | None = None) -> Settings:
    """The configuration's settings with what is wrong in them; an Unreadable if there are none."""
    if preset is not None and app(preset) is None:
        raise Unreadable(f"--preset is {preset}; legal are {LEGAL}")
    script = read(path)
    settings = Settings(script.params)
    check_block(settings)
    overlay = overlay_of(path)
    if overlay:
        check_overlay(settings, path, overlay)
    if preset:
        check_preset(settings, preset)
    elif not overlay and not fitting(settings):
        settings.wrong.append(f"no preset has {shape(settings)}; name one with --preset to see what differs")
    check_order(settings, script)
    return settings


def report(path: Path, preset: str | None, say, warn) -> int:
    """Says which presets fit, and warns of what does not fit or cannot be read; returns the exit status."""
    try:
        settings = check(path, preset)
    except Unreadable as error:
        warn(f"vermilion: {error}")
        return 2
    for sentence in settings.wrong:
        warn(f"{path}: {sentence}")
    for sentence in dict.fromkeys(settings.notes):
        warn(f"{path}: note: {sentence}")
    if settings.wrong:
        return 1
    overlay = "" if preset else overlay_of(path)
    say(f"{path}: fits {preset or (f'the overlay in {overlay}' if overlay else ', '.join(fitting(settings)))}")
    return 0


def every(tree: Path) -> list[tuple[str, str, list[str], list[str]]]:
    """For each board configuration of a Corundum tree: its folder, shape, the presets that fit it with an overlay's settings, and what is wrong.

    Those of Corundum's own applications (`..._app_...`) are left out, as a NIC has one application block, and the copies that `overlay --board` made.
    """
    top = tree / "fpga" / "mqnic"
    ours = lambda name: "_app_" in name or name.endswith("_vermilion")
    found = sorted(path for path in top.rglob("config.tcl") if not ours(path.parent.name))
    if not found:
        raise Unreadable(f"{top} holds no config.tcl: {tree} is no Corundum tree")
    rows: list[tuple] = []
    for path in found:
        folder = str(path.parent.relative_to(top))
        try:
            settings = Settings(read(path).params | SETTINGS)
        except Unreadable as error:
            rows.append((folder, "cannot be read", [], [str(error)]))
            continue
        check_block(settings)
        presets = [] if settings.wrong else fitting(settings)
        rows.append((folder, shape(settings), presets, settings.wrong))
    return rows


def report_all(tree: Path, say, warn) -> int:
    """Prints which presets each board configuration of a Corundum tree takes; returns the exit status."""
    try:
        rows = every(tree)
    except Unreadable as error:
        warn(f"vermilion: {error}")
        return 2
    for folder, ports, presets, wrong in rows:
        say(f"{folder}\n    {ports}")
        say(
            f"    fits {', '.join(presets)}"
            if presets
            else f"    fits none: {'; '.join(wrong) or 'no preset has this shape'}"
        )
    fit = sum(bool(presets) for *_, presets, _ in rows)
    say(
        f"{fit} of {len(rows)} board configurations fit a preset, by ports, widths, timestamps and clock; area is not looked at"
    )
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="vermilion.corundum.corundum_check", description=__doc__.split("\n")[0])
    parser.add_argument("config", type=Path, nargs="?", help="a board's config.tcl")
    parser.add_argument("--preset", help="the build of the block; without it, whichever has the board's ports")
    parser.add_argument("--all", type=Path, metavar="TREE", help="every board configuration of a Corundum tree")
    given = parser.parse_args()
    warn = lambda text: print(text, file=sys.stderr)
    if (given.config is None) == (given.all is None):
        parser.error("give a config.tcl or --all TREE, one of them")
    if given.all:
        return report_all(given.all, print, warn)
    return report(given.config, given.preset, print, warn)


if __name__ == "__main__":
    sys.exit(main())
