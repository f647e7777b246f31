"""Netlink in a guest: programs that speak the family, messages written here and what came back, read here."""

import ctypes
import re
import subprocess
import tempfile
from fractions import Fraction
from pathlib import Path

from vermilion.generate import netlink_settings, netlink_spec
from vermilion.generate.netlink_messages import Messages
from vermilion.hardware.driver_library import C
from vermilion.toolchain import build

TESTS = build.ROOT / "sw_driver/tests"
MESSAGES = Messages()


def program(name: str) -> bytes:
    """A program of sw_driver/tests, linked statically. In a place of its own: tests in other processes link it at the same time."""
    sources = [TESTS / f"{name}.c", TESTS / "netlink_socket.c"]
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-static", "-I", build.ROOT / "sw_driver/netlink"]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / name
        subprocess.run(["gcc", *map(str, [*flags, *sources]), "-o", str(target)], check=True)
        return target.read_bytes()


def attributes(of: str, values: dict) -> str:
    """Hexadecimal attributes for netlink_send: those of `values` behind the ifindex of the netdev."""
    number, _ = MESSAGES.sets[of]["ifindex"]
    return f"0800{number:02x}00@" + MESSAGES.encode(of, values).hex()


class Talk:
    """Messages for one run of netlink_send."""

    def __init__(self):
        self.lines, self.commands = [], {}

    def say(self, word: str, command: str, how: str = "do", raw: str | None = None, **values):
        """Adds a message. `raw`: its attributes as they are. Names with a dash are written with an underscore."""
        values = {name.replace("_", "-"): value for name, value in values.items()}
        assert word not in self.commands
        self.commands[word] = command
        hexadecimal = attributes(MESSAGES.set_of[command], values) if raw is None else raw
        self.lines.append(f"{word} {MESSAGES.commands[command]} {how} {hexadecimal}\n")

    def file(self) -> tuple[int, bytes]:
        return 0o100644, "".join(self.lines).encode()

    def heard(self, console: str) -> dict:
        """{word: (errno, sentence, replies)}."""
        out = {}
        for word, command in self.commands.items():
            of = MESSAGES.set_of[command]
            replies = re.findall(rf"^{re.escape(word)} reply (\w*)\r?$", console, re.M)
            ends = re.findall(rf"^{re.escape(word)} error (-?\d+) (.*?)\r?$", console, re.M)
            assert len(ends) == 1, (word, ends, console[-2000:])
            decoded = [MESSAGES.decode(of, bytes.fromhex(reply)) for reply in replies]
            out[word] = int(ends[0][0]), ends[0][1], decoded
        return out


def member(of: str, struct, name: str):
    """The member of a struct of settings that an attribute is called after."""
    value = struct
    for step in re.findall(r"\w+", netlink_settings.member(of, name)):
        value = value[int(step)] if step.isdecimal() else getattr(value, step)
    return value


def exact(number) -> dict:
    """A number as an attribute of it reads back: den 0 counts as 1."""
    return {"num": number.num, "den": number.den or 1, "tens": number.tens}


def values(of: str, struct) -> dict:
    """All settings of a struct as attributes."""
    out = {}
    for name, (_, each) in MESSAGES.sets[of].items():
        if name in netlink_spec.NOT_SETTINGS:
            continue
        if (of, name) == ("colour", "ecn"):
            value = values("curve", struct[1])
        elif of == "colour":
            value = values("curve", struct[0])[name]
        elif each.get("nested-attributes") == "number":
            value = exact(member(of, struct, name))
        elif each["type"] == "nest":
            value = values(each["nested-attributes"], member(of, struct, name))
        else:
            value = member(of, struct, name)
            names = MESSAGES.enums.get(each.get("enum"), [])
            value = names[value] if value < len(names) else value
        out[name] = value
    return out


def settings(reply: dict) -> dict:
    """Of a reply to queue-get, the settings alone."""
    return {name: value for name, value in reply.items() if name not in netlink_spec.NOT_SETTINGS}


def registers(library, queue, port) -> list[int]:
    """Address and value of every word of the shadow record, one behind the other, as the library works them out."""
    words, out = C.QueueImage(), []
    visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
    library.vm_queue_convert(ctypes.byref(queue), ctypes.byref(port), ctypes.byref(words))
    library.vm_queue_visit(ctypes.byref(words), visit(lambda _, at, word: out.extend((at, word)) or 0), None)
    return out


def fraction(number: dict) -> Fraction:
    return Fraction(number["num"], number["den"] * 10 ** number["tens"])


def splats(log: str) -> list[str]:
    """Lines of a kernel's log that tell of a fault of the kernel: BUG, WARNING, oops, lockup, slub's findings and the like."""
    words = (
        r"BUG|WARNING|Oops|Call Trace|general protection|lockup|hung task|Kernel panic|refcount_t|=====|use-after-free"
    )
    return [line for line in log.splitlines() if re.search(words, line)]
