"""Setting up the block as a driver does, and holding its counters against each other and against what the bench saw."""

from .core import Core
from .driver import STATISTICS, VERDICTS, App
from .frames import ASKS
from .lanes import QUEUES

LATER = ("evicted", "flushed", "departure_dropped")  # what becomes of enqueued packets that are not sent


async def opened(core: Core, config=None, host_config=None) -> App:
    """Out of the first reset, and as `found`."""
    await core.start()
    return await found(core, config, host_config)


async def found(core: Core, config=None, host_config=None) -> App:
    """Found by the list of blocks, with every lane configured; routes are as after a reset."""
    app = await App(core).find()
    for lane in app.wire if config else []:
        await lane.configure(config)
    for lane in app.host if host_config or config else []:
        await lane.configure(host_config or config)
    return app


async def at_rest(core: Core, app: App, clocks: int = 400_000):
    """Sources empty, lanes empty, statistics flushed."""
    await core.rest(clocks)
    for lane in app.lanes:
        await lane.at_rest()
    core.stat_pace = 1.0
    await core.after(20 * 16 * len(app.lanes))  # every id has had its turn
    await core.rest()


def dropped_bytes(counted: dict[str, int]) -> int:
    """Of what got a verdict."""
    return sum(counted[f"{kind}_bytes"] for kind in (*VERDICTS[2:], *LATER))


async def lane_agrees(app: App, lane: int, inputs: int) -> dict[str, int]:
    """The statistics stream of a lane says what the lane's own registers say; and nothing is missing in it."""
    told = await app.statistics(lane)
    counted = await app.lanes[lane].counters(QUEUES)
    alone = app.lanes[lane].alone
    lost = [await app.lanes[lane].lost(i) for i in range(inputs if alone else 2 * app.core.ports)]
    if not alone:  # its registers count what is lost by input, the statistics by way
        frames = sum(frames for frames, _ in lost)
        ways = [(await app.statistics(i))["lost"] for i in range(len(app.lanes))]
        assert frames == sum(ways), f"{frames} frames are lost by the registers, {ways} by the statistics"
        lost = [(told["lost"], told["dropped_bytes"] - dropped_bytes(counted))]
        assert (lost[0][1] > 0) == (lost[0][0] > 0), f"way {lane}: {lost[0][0]} frames of {lost[0][1]} bytes"
    decided = sum(told[verdict] for verdict in VERDICTS)
    dropped = [verdict for verdict in VERDICTS[2:]]
    expected = {verdict: counted[verdict] for verdict in (*dropped, "sent", "sent_bytes")}
    expected["evicted"] = sum(counted[kind] for kind in LATER)
    expected["ce"] = counted["ce_written"]
    expected["lost"] = sum(frames for frames, _ in lost)
    expected["dropped_bytes"] = dropped_bytes(counted) + sum(size for _, size in lost)
    for name, value in expected.items():
        assert told[name] == value, f"lane {lane}: {name} is {told[name]} in the statistics, {value} in its registers"
    assert told["enqueue"] + told["mark"] == counted["enqueued"] and decided == counted["arrived"]
    assert counted["enqueued"] == counted["sent"] + sum(counted[kind] for kind in LATER), f"lane {lane}: {counted}"
    return told | {"lost_bytes": sum(size for _, size in lost), "flushed": counted["flushed"]}


async def port_agrees(core: Core, app: App, port: int) -> dict[str, int]:
    """The counters of a port and of its wire lane are what the bench saw on all its sides, whatever the routes were."""
    names = (
        "taken",
        "for_drop",
        "for_eviction",
        "at_enqueue",
        "of_mac",
        "ptp",
        "forwarded",
        "rx_lost",
        "rx_cut",
        "rx_dropped",
    )
    counts = {name: await app.count(name, port) for name in names}
    each = len(app.lanes) // core.ports
    told = await lane_agrees(app, each * port, 2)
    came = counts["taken"] + await app.count("forwarded", core.peer(port))
    assert sum(told[v] for v in VERDICTS) + told["lost"] == came, f"port {port}: {came} came, {told}"
    engine, mac = core.engines[port], core.mac_tx[port]
    ours = counts["for_drop"] + counts["for_eviction"] + counts["at_enqueue"]
    assert ours == told["completions"] == engine.counts["plain"] + engine.counts["swallowed"], f"{counts}, {told}"
    passed = sum(tag & ASKS != 0 for _, tag in mac.stamps)  # what does not ask ends in the block
    assert counts["of_mac"] == passed and counts["ptp"] == told["ptp"], f"{counts}, {told}"
    asked = [f for f in core.frames.values() if f.source == "host" and f.port == port and f.completions]
    lost = sum(f.left is None for f in asked)
    assert counts["for_drop"] + counts["for_eviction"] <= lost, "a completion for a drop of a frame that left"
    return counts | {f"lane {name}": told[name] for name in (*STATISTICS, "flushed")}
