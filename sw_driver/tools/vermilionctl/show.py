"""`show`: what a lane has and what it was given, as an operator means it."""

from vermilion.hardware.driver_library import library
from vermilion.values import units

from . import programming, registers, settings
from .counters import table

SERVED = "strict, priority {}", "round robin, {} B"


def overview(session, held) -> dict:
    """For `--json`: everything in the words of `set`."""
    found = {"capabilities": session.has(), "lane": session.number, "lanes": session.lanes()}
    paused = session.is_paused()
    if paused is not None:
        found["paused"] = paused
    if held is None:
        return found
    found["port"] = {"rate": held.port.rate, "burst": held.port.burst}
    found["pool"] = {} if held.egress else {"size": held.pool or 0}
    if held.share is not None:
        found["pool"] |= dict(zip(("reserve", "cap"), held.share, strict=False))
    found["queues"] = {str(number): queue(held, number) for number in sorted(held.queues)}
    names = {number: name for number, (name, _) in held.queues.items()}
    found["class"] = {
        registers.class_name(code): {"queue": names.get(number, str(number)), "colour": settings.COLOURS[colour]}
        for code, (number, colour) in enumerate(held.classes)
    }
    found["ttl_option"] = dict(zip(("ip4", "ip6"), held.ttl_option or [], strict=False))
    return found


def queue(held, number: int) -> dict:
    name, made = held.queues[number]
    return {"name": name, "settings": settings.shown(made), "hardware": programming.real_values(held, number)}


def curve(made, colour: str) -> str:
    cell = lambda place: {field: settings.text(made, f"{place}.{field}") for field in ("curve", "min", "max", "p")}
    drops, marks = cell(colour), cell(f"{colour}.ecn")
    text = "tail" if drops["curve"] == "tail" else "{curve} {min} to {max}, {p}".format(**drops)
    return text if marks["curve"] == "tail" else text + "; marks {curve} {min} to {max}, {p}".format(**marks)


def judged(made) -> str:
    """What marks or drops packets as they leave, and PIE; empty where nothing does."""
    time = lambda value, without: units.time_text(value) if value else without
    aqm = (
        "",
        f"codel, {time(made.target, '5ms')}, {time(made.interval, '100ms')}",
        f"pie, {time(made.target, '15ms')}",
        f"dualpi2, {time(made.target, '15ms')}, {time(made.step_threshold, '')}",
    )
    above = f"CE above {time(made.ce_threshold, '')}" if made.ce_threshold else ""
    late = "marks at departure" if made.mark_at else ""
    return "; ".join(text for text in (aqm[made.aqm], late, above) if text)


def print_overview(screen, session, held):
    has = session.has()
    build = table("Build", list(has), [])
    build.add_row(*(str(value) for value in has.values()))
    screen.print(build)
    if session.is_paused():
        screen.print("The egress is paused: `vermilionctl resume` lets it send again.")
    if held is None:
        return
    names = ["number", "name", "DSCPs", "average", *settings.COLOURS, "limit", "service", "marker"]
    judges = any(judged(made) for _, made in held.queues.values())
    queues = table("Queues", names + ["at departure"] * judges, [])
    for number, (name, made) in sorted(held.queues.items()):
        codes = [registers.class_name(code) for code, (owner, _) in enumerate(held.classes) if owner == number]
        codes = ", ".join(codes) if len(codes) <= 12 else f"{len(codes)} classes"
        value = lambda field: settings.text(made, field)
        limit = [f"{made.limit} B"] * bool(made.limit) + [f"{made.limit_packets} p"] * bool(made.limit_packets)
        limit += [f"alpha {value('alpha')}"] * bool(made.alpha.num)
        service = SERVED[0].format(made.priority) if made.strict else SERVED[1].format(made.quantum)
        service += f", {units.rate_text(made.rate)}" if made.rate else ""
        service += f", {number % made.fq + 1} of {made.fq} for flows" if made.fq else ""
        average = f"{value('average.kind')}, {value('average.weight')}, {value('average.unit')}s"
        marker = value("marker.kind")
        curves = [curve(made, colour) for colour in settings.COLOURS]
        queues.add_row(
            str(number),
            name,
            codes,
            average,
            *curves,
            " and ".join(limit) or "none",
            service,
            marker.replace("none", ""),
            *[judged(made)] * judges,
        )
    screen.print(queues)
    burst = f", burst {held.port.burst} B" if held.port.burst else ""
    rate = units.rate_text(held.port.rate) if held.port.rate else "not shaped"
    cells = library().vm_pool_cells(held.pool or 0)
    pool = f" Pool: {held.pool} B, {cells:,} cells." if cells else ""
    if held.share and any(held.share[:2]):
        words = [f"finds {held.share[0]} B always"] * bool(held.share[0]) + [f"takes {held.share[1]} B at most"] * bool(
            held.share[1]
        )
        pool += f" Of the pool this egress {' and '.join(words)}."
    screen.print(f"Port: {rate}{burst}.{pool} All of a queue: show QUEUE.", markup=False)


def print_queue(screen, held, number: int):
    name, made = held.queues[number]
    real = programming.real_values(held, number)
    fields = table(f"Queue {number}, {name}", ["field", "value", "in hardware"], [])
    for field, text in settings.shown(made).items():
        if field.startswith("marker.") and field != "marker.kind" and not made.marker.kind:
            continue
        shown = real.get(field, "")
        fields.add_row(field, text, shown if shown != text else "")
    screen.print(fields)
