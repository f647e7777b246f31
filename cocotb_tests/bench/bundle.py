"""Chisel bundles by name: a nested dict on one side, the flattened ports of the Verilog on the other."""

from ctypes import Array, Structure


def ports(dut, prefix: str, values) -> None:
    """Drives `prefix_a_b` from `{"a": {"b": 1}}`; a list's elements are `prefix_0`, `prefix_1`. Absent ports were optimised away."""
    if isinstance(values, dict):
        items = values.items()
    elif isinstance(values, (list, tuple)):
        items = enumerate(values)
    else:
        port = getattr(dut, prefix, None)
        if port is not None:
            port.value = int(values)
        return
    for name, value in items:
        ports(dut, f"{prefix}_{name}", value)


def peek(dut, prefix: str, names: list[str]) -> dict[str, int]:
    """The present values of `prefix_name` for each of `names`."""
    return {name: int(getattr(dut, f"{prefix}_{name}").value) for name in names}


def plain(record):
    """A ctypes record as dicts, lists and numbers, to print."""
    if isinstance(record, Structure):
        return {name: plain(getattr(record, name)) for name, _ in record._fields_}
    if isinstance(record, Array):
        return [plain(each) for each in record]
    return record
