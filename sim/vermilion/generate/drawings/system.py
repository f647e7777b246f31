"""Drawings of what is around a lane: card, NIC, driver, simulator, network simulator, tests."""

from .svg import Drawing


def card() -> Drawing:
    d = Drawing(
        "card",
        720,
        360,
        "A card with Vermilion",
        "The application block is between the DMA engine and the MACs. One lane serves all directions of a card with two ports.",
    )
    d.box(4, 30, 712, 322, kind="group")
    d.text(360, 22, "FPGA NIC with two ports: preset card-2x25g")
    d.box(20, 56, 110, 180, "DMA engine", "of Corundum", "32 frames in", "flight per port")
    d.box(160, 44, 400, 300, kind="group")
    d.text(360, 336, "VermilionApp", "mark")
    first = d.box(176, 56, 368, 44, "PortPath 0", "routes, RxBypass, TxCompletions")
    lane = d.box(176, 124, 368, 48, "NicLane", "4 inputs, 4 egresses, 64 queues, 8,192 cells", kind="ours")
    second = d.box(176, 196, 368, 44, "PortPath 1", "routes, RxBypass, TxCompletions")
    for path, y in ((first, 78), (second, 218)):
        d.both((130, y), path.left())
        mac = d.box(600, path.y, 100, 44, "MAC 0" if path is first else "MAC 1")
        d.both(path.right(), mac.left())
    d.both(first.bottom(), lane.top())
    d.both(lane.bottom(), second.top())
    bar = d.box(176, 268, 110, 44, "AppBar", "16 MiB BAR")
    d.box(305, 268, 110, 44, "AppClock", "ns, or PTP")
    d.box(434, 268, 110, 44, "StatPort", "statistics")
    pcie = d.box(20, 268, 110, 44, "PCI Express")
    d.arrow(pcie.right(), bar.left())
    d.text(552, 256, "registers, time and events: lines left out", "small end")
    return d


def placement() -> Drawing:
    d = Drawing(
        "placement",
        720,
        290,
        "Where the block sits in a NIC",
        "Frames to the wire pass the wire lane or a bypass. Received frames pass the bypass or a host lane.",
    )
    d.box(16, 60, 100, 170, "host", "rings,", "DMA engine")
    tx = d.box(170, 60, 90, 54, "TX route")
    wire = d.box(330, 40, 150, 44, "wire lane", kind="ours")
    skip = d.box(330, 98, 150, 34, "bypass")
    rx = d.box(330, 158, 150, 34, "RxBypass")
    hl = d.box(330, 206, 150, 44, "host lane", kind="ours")
    d.box(600, 60, 100, 170, "MAC", "not stalled", "on receive")
    d.arrow((116, 87), tx.left(), label="TX")
    d.arrow(tx.right(0.3), (290, 76), (290, 62), wire.left())
    d.arrow(tx.right(0.8), (290, 103), (290, 115), skip.left())
    d.arrow(wire.right(), (540, 62), (540, 87), (600, 87))
    d.line(skip.right(), (540, 115), (540, 87))
    d.line((600, 200), (540, 200), (540, 175))
    d.arrow((540, 175), rx.right())
    d.line((540, 200), (540, 228))
    d.arrow((540, 228), hl.right())
    d.text(570, 194, "RX", "small")
    d.line(rx.left(), (200, 175), (200, 200))
    d.line(hl.left(), (200, 228), (200, 200))
    d.arrow((200, 200), (116, 200))
    d.arrow(wire.right(0.8), (506, 75), (506, 262), (480, 262), dashed=True)
    d.text(512, 248, "at_enqueue", "small start")
    comp = d.box(170, 254, 310, 30, "TxCompletions: one per tag that asks", small=True)
    d.arrow(comp.left(), (66, 269), (66, 230))
    d.arrow((650, 230), (650, 269), comp.right())
    return d


def driver() -> Drawing:
    d = Drawing(
        "driver",
        720,
        360,
        "From a command to a register",
        "tc, devlink and netlink reach the kernel module. vermilionctl and the simulator write registers themselves. One library converts settings for all of them.",
    )
    d.text(16, 22, "user", "small start")
    tools = [
        d.box(16 + 138 * i, 30, 126, 46, *lines)
        for i, lines in enumerate(
            (
                ("tc", "red, prio, ets, ..."),
                ("devlink, ethtool", "buffers, counters"),
                ("netlink client", "vermilion.yaml"),
                ("vermilionctl", "pci: unix: netlink:"),
            )
        )
    ]
    sim = d.box(572, 30, 132, 46, "./vermilion", "run, check")
    d.box(446, 104, 258, 40, "sw_driver/lib", "settings to register image", kind="ours")
    d.arrow(tools[3].bottom(), (493, 104))
    d.arrow(sim.bottom(), (638, 104))
    d.line((4, 156), (716, 156), kind="line dash")
    d.text(16, 172, "kernel", "small start")
    d.box(
        16,
        180,
        414,
        54,
        "vermilion.ko, with sw_driver/lib",
        "a representor per egress; one owner per queue",
        kind="ours",
    )
    for tool in tools[:3]:
        d.arrow(tool.bottom(), (tool.bottom()[0], 180))
    d.arrow((430, 66), (424, 66), (424, 180))
    d.text(430, 172, "netlink:", "small start")
    bar = d.box(16, 270, 270, 36, "PCI Express: BAR of the card")
    vfio = d.box(434, 270, 270, 36, "vfio-user: the simulated RTL")
    d.arrow((151, 234), (151, 270))
    d.arrow((484, 144), (484, 252), (250, 252), (250, 270))
    d.text(464, 246, "pci:", "small end")
    d.arrow((569, 144), (569, 270))
    d.text(576, 212, "unix:", "small start")
    reg = d.box(230, 322, 260, 32, "ControlPort of the lane")
    d.arrow(bar.bottom(), (151, 338), reg.left())
    d.arrow(vfio.bottom(), (569, 338), reg.right())
    return d


def simulator() -> Drawing:
    d = Drawing(
        "simulator",
        720,
        300,
        "A run, and its replay",
        "The RTL decides. The model repeats each decision from the trace, and every frame is accounted for.",
    )
    cap = d.box(16, 60, 110, 60, "capture", "pcap, pcapng")
    rtl = d.box(190, 50, 150, 80, "Lane", "the RTL,", "by Verilator", kind="ours")
    out = d.box(410, 60, 130, 60, "frames out", "--out")
    acc = d.box(590, 60, 114, 60, "accounting", "every frame")
    d.row([cap, rtl, out, acc])
    conf = d.box(16, 180, 110, 60, "configuration", "TOML")
    img = d.box(190, 190, 150, 40, "register image")
    model = d.box(410, 170, 130, 80, "model", "bit-exact,", "integers only", kind="ours")
    cmp_ = d.box(590, 180, 114, 60, "replay", "N of N agree")
    d.row([conf, img, model, cmp_])
    d.arrow(img.top(), (265, 130), label="AXI-Lite")
    d.arrow((310, 130), (310, 152), (475, 152), (475, 170))
    d.text(484, 148, "trace: inputs of each decision", "small start")
    d.text(
        16,
        284,
        "inject puts a fault into what the simulator sees. The check that compares it must report it.",
        "small start",
    )
    return d


def network() -> Drawing:
    d = Drawing(
        "network",
        720,
        270,
        "The lane in ns-3",
        "ns-3 has hosts, links and TCP. The lane is one queue of a router, through a C interface.",
    )
    d.box(4, 28, 712, 150, kind="group")
    d.text(360, 20, "ns-3: simulated time, TCP")
    send = d.box(20, 86, 110, 60, "senders", "TCP, on-off")
    d.box(196, 50, 330, 110, kind="box")
    d.text(361, 72, "router: queue disc")
    d.box(286, 90, 150, 52, "engine.h", "one lane", kind="ours")
    sink = d.box(590, 86, 110, 60, "receivers", "ACKs return")
    d.arrow(send.right(), (286, 116))
    d.arrow((436, 116), sink.left())
    model = d.box(196, 212, 150, 44, "model", "fast", kind="ours")
    rtl = d.box(376, 212, 150, 44, "RTL", "Verilated", kind="ours")
    d.line((361, 142), (361, 198))
    d.arrow((361, 198), (271, 198), model.top())
    d.arrow((361, 198), (451, 198), rtl.top())
    d.text(369, 193, "--engine", "small start")
    return d


def pyramid() -> Drawing:
    d = Drawing(
        "tests",
        720,
        330,
        "What is compared with what",
        "Each level compares two sides that were not written from the same idea.",
    )
    rows = [
        (300, "network", "papers' figures, ns-3", "green"),
        (380, "system", "Linux guests with tc; Corundum's core", "green"),
        (460, "whole lane", "replay: RTL equals model, real captures", "blue"),
        (540, "blocks", "cocotb, ChiselSim; faults that must be found", "blue"),
        (620, "model", "exact fractions, RFC code, Linux, DPDK, ns-2", "yellow"),
        (700, "proofs", "bounded and unbounded, with injected faults", "yellow"),
    ]
    for i, (w, name, told, kind) in enumerate(rows):
        d.box((720 - w) / 2, 12 + 48 * i, w, 42, name, told, kind=kind)
    d.text(16, 322, "testplan.toml says for each block what is tested where.", "small start")
    return d


ALL = (card, placement, driver, simulator, network, pyramid)
