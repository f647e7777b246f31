"""What the tests of the NIC's block have in common: parameters as Corundum sets them, names of benches.

25G and the build without timestamps are long: the suite's time is for the widest and the narrowest.
"""

APP_ID = 0x564D0001


def parameters(interfaces: int, ports: int, bits: int, **others: int) -> dict[str, int]:
    """What Corundum sets for so many interfaces, ports each, and bits of the sync stage."""
    direct = 64 if bits == 128 else bits  # at 25G the MACs have 64 bits
    widths = {"AXIS_DATA_WIDTH": direct, "AXIS_SYNC_DATA_WIDTH": bits, "AXIL_APP_CTRL_ADDR_WIDTH": 24}
    return {"APP_ID": APP_ID, "IF_COUNT": interfaces, "PORTS_PER_IF": ports} | widths | others


def benches(*names: str) -> str:
    return ",".join(f"corundum.{name}_bench" for name in names)


ALL = benches("tags", "line", "routes", "registers")
FEW = benches("routes", "registers")
