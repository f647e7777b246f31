"""What a driver does with the block's BAR, over AXI4-Lite: walks the list of register blocks, sets routes, configures
lanes, reads counters.

Registers go by the names of hw/regs/*.rdl, without the counts of arrays: `shadow.colour.curve.min`, with indices
where there are arrays.
"""

from support.driver_bench import visited
from vermilion.generate import registers
from vermilion.profile.quantise import hardware, queue_image

APP, LANE = 0x564D_0002, 0x564D_0001
VERDICTS = ("enqueue", "mark", "early", "forced", "tail", "nobuf", "bad", "policed")
STATISTICS = (*VERDICTS, "evicted", "lost", "sent", "sent_bytes", "dropped_bytes", "ce", "completions", "ptp")
BYPASS, BY_LANE = 0, 1  # routes of TX
TO_HOST, HOST_LANE, FORWARD, DROP = range(4)  # routes of RX
LOSSES = ("early", "forced", "tail", "nobuf", "bad", "policed", "evicted", "flushed", "departure_dropped")
WINDOW = ("arrived", "enqueued", *LOSSES, "ce_written", "sent")


def named(of) -> dict[str, registers.Register]:
    return {".".join(register.path): register for register in registers.read_source(of)[1]}


APP_NAMES, LANE_NAMES = named(registers.APP), named(registers.LANE)


class Block:
    """One block of registers."""

    def __init__(self, axil, base: int, names: dict[str, registers.Register]):
        self.axil, self.base, self.names = axil, base, names
        self.shadow: dict[int, int] = {}

    def address(self, name: str, *index: int) -> int:
        register = self.names[name]
        assert len(index) == len(register.dims)
        return (
            self.base
            + register.address
            + sum(i * stride for i, (_, _, stride) in zip(index, register.dims, strict=False))
        )

    async def read(self, name: str, *index: int) -> int:
        return await self.axil.read_dword(self.address(name, *index))

    async def read64(self, low: str, high: str, *index: int) -> int:
        return await self.read(low, *index) | await self.read(high, *index) << 32

    async def fields(self, name: str, *index: int) -> dict[str, int]:
        word = await self.read(name, *index)
        return {f.name: word >> f.low & (2 << f.high - f.low) - 1 for f in self.names[name].fields}

    async def write(self, name: str, value, *index: int):
        """A word, or its fields by name."""
        if isinstance(value, dict):
            places = {f.name: f.low for f in self.names[name].fields}
            value = sum(int(number) << places[field] for field, number in value.items())
        await self.axil.write_dword(self.address(name, *index), value)


class Lane(Block):
    """A way through a lane: one of its egresses, with the queues of that."""

    def __init__(self, axil, base: int, egress: int = 0, first: int = 0, alone: bool = True):
        super().__init__(axil, base, LANE_NAMES)
        self.egress = egress
        self.first = first  # the number of its first queue
        self.alone = alone  # no other way goes through the lane

    def queues(self) -> range:
        """The lane's numbers of the queues that its configurations use."""
        return range(self.first, self.first + 2)

    async def configure(self, config):
        """A configuration as a file gives it, checked; queues, classes, port."""
        record = hardware(config)
        for queue in config.queue:
            await self.queue(queue, config.port.rate, 1 + max(each.index for each in config.queue))
        departures = any(queue["update"] for queue in record["queues"])
        await self.write("control", {"departure_updates": departures})
        for address, (queue, colour) in enumerate([*record["dscp"], record["default"]]):
            await self.write("class_address", address)
            await self.write("class_entry", {"queue": self.first + queue, "colour": colour})
        await self.port(record["port"]["cost"], record["port"]["burst"])

    async def port(self, cost, burst_ns: int):
        await self.write("port_egress", self.egress)
        await self.write("port_cost", pair(cost))
        await self.write("port_burst_low", burst_ns & 0xFFFFFFFF)
        await self.write("port_burst_high", burst_ns >> 32)

    async def queue(self, queue, port_rate: int, queues: int):
        """The shadow record as the driver writes it, but for what it holds already, and the commit."""
        for address, value in visited(queue_image(queue, port_rate, queues, None)).items():
            if self.shadow.get(address) != value:
                self.shadow[address] = value
                await self.axil.write_dword(self.base + address, value)
        await self.write("queue_select", self.first + queue.index)
        await self.write("commit", 1)

    async def counters(self, queues: int) -> dict[str, int]:
        """Packets of each kind, and bytes as `sent_bytes` and so on, over the first `queues` queues and all colours."""
        total = dict.fromkeys([name for kind in WINDOW for name in (kind, f"{kind}_bytes")], 0)
        for queue in range(queues):
            await self.write("queue_select", self.first + queue)
            await self.write("snapshot", 1)
            while (await self.fields("status"))["snapshot_pending"]:
                pass
            for kind in WINDOW:
                for colour in range(3):
                    path = f"window.colour.{kind}"
                    total[kind] += await self.read64(f"{path}.packets_low", f"{path}.packets_high", colour)
                    total[f"{kind}_bytes"] += await self.read64(f"{path}.bytes_low", f"{path}.bytes_high", colour)
        return total

    async def lost(self, source: int) -> tuple[int, int]:
        """Frames and bytes that an input lost."""
        frames = await self.read64("lost.frames_low", "lost.frames_high", source)
        return frames, await self.read64("lost.bytes_low", "lost.bytes_high", source)

    async def at_rest(self):
        while (await self.fields("status"))["busy"]:
            pass


class App(Block):
    """The block as a driver finds it: its own registers and its lanes, by the list that begins at offset 0. `lanes` are the ways through them, each port's
    to the wire and to the host.
    """

    def __init__(self, core):
        super().__init__(core.axil, 0, APP_NAMES)
        self.core = core
        self.wire: list[Lane] = []
        self.host: list[Lane] = []
        self.lanes: list[Lane] = []

    async def find(self) -> "App":
        offset, seen, bases = 0, [], []
        while True:
            kind, version, following = [await self.axil.read_dword(offset + 4 * i) for i in range(3)]
            assert kind == (APP if not seen else LANE), f"block {len(seen)} at {offset:x} is of type {kind:08x}"
            assert version >> 16 == 1
            seen.append(offset)
            if kind == LANE:
                bases.append(offset)
            if not following:
                break
            assert following > offset and following % 0x10000 == 0, f"the block behind {offset:x} is at {following:x}"
            offset = following
        assert len(bases) == await self.read("lanes") and self.core.ports == await self.read("ports")
        has_host = (await self.fields("features"))["host_lanes"]
        for port in range(self.core.ports):
            ways = await self.fields("port.ways", port)
            self.wire.append(await self.way(bases[ways["wire_lane"]], ways["wire_egress"]))
            if has_host:
                self.host.append(await self.way(bases[ways["host_lane"]], ways["host_egress"]))
            else:
                assert ways["host_lane"] == ways["host_egress"] == 0xFF
        self.lanes = (
            [lane for pair in zip(self.wire, self.host, strict=True) for lane in pair] if has_host else self.wire
        )
        assert len({(lane.base, lane.egress) for lane in self.lanes}) == len(self.lanes)
        return self

    async def way(self, base: int, egress: int) -> Lane:
        lane = Lane(self.axil, base)
        egresses = max(1, await lane.read("egresses"))
        assert egress < egresses
        lane.egress, lane.alone = egress, egresses == 1
        lane.first = egress * (await lane.read("queues") // egresses)
        return lane

    async def route(self, port: int, tx: int | None = None, rx: int | None = None, wait: bool = True):
        """Sets the routes of a port, and waits until they are in effect where frames are under way."""
        now = await self.fields("port.route", port)
        wanted = {"tx": now["tx"] if tx is None else tx, "rx": now["rx"] if rx is None else rx}
        await self.write("port.route", wanted, port)
        while wait:
            effect = await self.fields("port.route_in_effect", port)
            if effect == wanted | {"waits": 0}:
                return

    async def count(self, name: str, port: int) -> int:
        return await self.read64(f"port.{name}.low", f"port.{name}.high", port)

    async def statistics(self, lane: int) -> dict[str, int]:
        """What the statistics stream has brought of a lane until now."""
        base = (await self.fields("statistics"))["base"]
        return {name: self.core.statistics[(base + 16 * lane + k) % 4096] for k, name in enumerate(STATISTICS)}


def pair(value) -> dict[str, int]:
    mant, shift = value
    return {"mant": mant, "shift": shift}
