"""AXI-Streams of all ports as the block has them, packed, port 0 low: driven and watched by whole vectors, once a
clock.

A beat is (data, keep, last, user). `Driver` gives a port's beat until it is taken; `Watch` hands over what is taken of
an output, and checks AXI-Stream's rules: a beat that is offered stays as it is until it is taken; keep is contiguous
from byte 0, and full on all beats but a frame's last.
"""

from bench.wires import Wire


class Driver:
    """Drives valid and payload of a stream's ports; looks at ready."""

    def __init__(self, dut, prefix: str, ports: int, names: tuple[str, ...], valid: str, ready: str):
        self.ports, self.prefix = ports, prefix
        pins = [getattr(dut, f"{prefix}_{name}") for name in names]
        self.fields = [(Wire(pin), len(pin) // ports) for pin in pins]
        self.words = [[0] * ports for _ in names]
        self.changed = [True] * len(names)
        self.valid, self.ready = (Wire(getattr(dut, f"{prefix}_{name}")) for name in (valid, ready))
        self.valid_now = 0
        self.holds: list = [None] * ports  # the beat on the port

    def put(self, port: int, beat: tuple):
        """Offers a beat on a free port."""
        self.holds[port] = beat
        self.valid_now |= 1 << port
        for i, word in enumerate(beat):
            if self.words[i][port] != word:
                self.words[i][port] = word
                self.changed[i] = True

    def drive(self):
        for i, (pin, width) in enumerate(self.fields):
            if self.changed[i]:
                self.changed[i] = False
                pin.value = sum(word << (port * width) for port, word in enumerate(self.words[i]))
        self.valid.value = self.valid_now

    def taken(self) -> int:
        """Ports whose beat is taken in this clock, as bits; they are free then."""
        if not self.valid_now:
            return 0
        gone = self.valid_now & self.ready.value
        if gone:
            self.valid_now ^= gone
            for port in range(self.ports):
                if gone >> port & 1:
                    self.holds[port] = None
        return gone

    def clear(self):
        self.valid_now = 0
        self.holds = [None] * self.ports


class Watch:
    """Drives ready of a stream's ports and gives what is taken."""

    def __init__(self, dut, prefix: str, ports: int, names: tuple[str, ...], valid: str, ready: str):
        self.ports, self.prefix = ports, prefix
        pins = [getattr(dut, f"{prefix}_{name}") for name in names]
        self.fields = [(Wire(pin), len(pin) // ports, 2 ** (len(pin) // ports) - 1) for pin in pins]
        self.valid, self.ready = (Wire(getattr(dut, f"{prefix}_{name}")) for name in (valid, ready))
        self.ready_now = 0
        self.stalled: list = [None] * ports  # a beat that was offered and not taken

    def drive(self):
        self.ready.value = self.ready_now

    def beats(self, clock: int) -> list[tuple[int, tuple]]:
        """(port, beat) of every port that hands one over in this clock."""
        valid = self.valid.value
        if not valid:
            assert not any(self.stalled), f"clock {clock}: {self.prefix} took back a beat that it had offered"
            return []
        words = [pin.value for pin, _, _ in self.fields]
        taken = []
        for port in range(self.ports):
            before = self.stalled[port]
            if not valid >> port & 1:
                assert before is None, f"clock {clock}: {self.prefix}, port {port} took back a beat that it had offered"
                continue
            beat = tuple(
                word >> (port * width) & mask for word, (_, width, mask) in zip(words, self.fields, strict=True)
            )
            assert before is None or before == beat, f"clock {clock}: {self.prefix}, port {port} changed a waiting beat"
            if self.ready_now >> port & 1:
                self.stalled[port] = None
                taken.append((port, beat))
            else:
                self.stalled[port] = beat
        return taken

    def clear(self):
        self.stalled = [None] * self.ports


class Assembler:
    """Makes frames of one port's beats."""

    def __init__(self, name: str, lanes: int):
        self.name, self.lanes = name, lanes
        self.full = 2**lanes - 1
        self.parts: list[bytes] = []
        self.users: set[int] = set()  # user bits but the lowest, of all the frame's beats

    def add(self, beat: tuple, clock: int) -> tuple[bytes, int] | None:
        """(data, user of the last beat) when the frame is at its end."""
        data, keep, last, user = beat
        if not self.parts:
            self.users.clear()
        self.users.add(user >> 1)
        assert keep and not keep & (keep + 1), f"clock {clock}: {self.name} has keep {keep:x}"
        assert last or keep == self.full, f"clock {clock}: {self.name} has keep {keep:x} inside a frame"
        self.parts.append(data.to_bytes(self.lanes, "little")[: keep.bit_length()])
        if not last:
            return None
        assert len(self.users) == 1, f"clock {clock}: {self.name} changed its user bits inside a frame"
        whole = b"".join(self.parts)
        self.parts = []
        return whole, user


def cut(data: bytes, lanes: int, user: int, bad: bool) -> list[tuple]:
    """A frame's beats; user bits above the lowest stay, the lowest is `bad` on the last beat only."""
    beats = []
    for at in range(0, len(data), lanes):
        part = data[at : at + lanes]
        last = at + lanes >= len(data)
        beats.append(
            (int.from_bytes(part, "little"), 2 ** len(part) - 1, int(last), user << 1 | (1 if bad and last else 0))
        )
    return beats
