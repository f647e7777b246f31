"""The ports of a block for benches that look at many of them in every clock: found once by name, written where they change, read as numbers.

cocotb looks a name up and makes an array of logic values for every access, which took most of the time of such a bench.
"""


class Wire:
    """A port. Only this object may write it, as what was written last is not written again."""

    __slots__ = ("handle", "_read", "_last")

    def __init__(self, handle):
        self.handle, self._read, self._last = handle, handle._handle.get_signal_val_binstr, None

    @property
    def value(self) -> int:
        return int(self._read(), 2)  # an X or Z is a ValueError

    @value.setter
    def value(self, value: int):
        if value != self._last:
            self._last = self.handle.value = int(value)

    def __len__(self) -> int:
        return len(self.handle)


class Wires:
    """A block's ports, as attributes of their names. The block itself is `dut`, which has what triggers and clocks want."""

    def __init__(self, dut):
        self.dut, self._absent = dut, set()

    def __getattr__(self, name: str) -> Wire:
        if name in self._absent or not hasattr(self.dut, name):
            self._absent.add(name)
            raise AttributeError(f"{self.dut._name} has no port {name}")
        self.__dict__[name] = wire = Wire(getattr(self.dut, name))
        return wire
