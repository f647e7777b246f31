"""Random configuration files with everything that a queue and a marker can have."""

from vermilion.hardware.profile_fields import BY_NAME
from vermilion.values.fields import COLOURS

PIE = ("pie_alpha", "pie_beta", "burst_allowance", "bytemode")


def random_curve(rng, unit, ecn=False):
    kind = rng.choice(["red", "gentle", "exred"] if ecn else ["tail", "red", "gentle", "exred"])
    if kind == "tail":
        return {"curve": kind}
    low = rng.randrange(2 ** rng.randint(1, 25))
    high = low + rng.randrange(1, 2 ** rng.randint(1, 25))
    end = high + rng.randrange(1, 2**25)
    p = rng.choice([rng.random(), round(rng.random(), 3), 10 ** rng.uniform(-12, 0)])
    p = p * 0.999 * (high - low) / (end - low) if kind == "exred" else p
    bound = {"end": end} if kind == "exred" or kind == "red" and rng.random() < 0.5 else {}
    return {"curve": kind, "min": f"{low}{unit}", "max": f"{high}{unit}", "p": p} | bound


def random_queue(rng, name):
    unit = rng.choice(["byte", "packet"])
    letter = {"byte": "B", "packet": "p"}[unit]
    average = {
        "kind": rng.choice(BY_NAME["average.kind"].words),
        "weight": rng.choice([1, 0.002, 10 ** rng.uniform(-4.5, 0)]),
        "unit": unit,
        "idle_packet": rng.randint(64, 9600),
        "update": rng.choice(["arrival", "both"]),
    }
    queue = {
        "name": name,
        "average": average,
        "spacing": rng.choice([*BY_NAME["spacing"].words]),
        "ecn": rng.random() < 0.6,
    }
    for colour in COLOURS:
        queue[colour] = random_curve(rng, letter)
        if queue["ecn"] and rng.random() < 0.5:
            queue[colour]["ecn"] = random_curve(rng, letter, ecn=True)
    queue |= rng.choice([{"priority": rng.randint(0, 7)}, {"quantum": rng.randint(64, 65535)}, {}])
    queue |= rng.choice([{"size_weight": rng.randint(64, 9600)}, {}]) | rng.choice(
        [{"limit": rng.randint(1, 2**27 - 1)}, {}]
    )
    if rng.random() < 0.5:
        queue |= {"rate": int(10 ** rng.uniform(4.81, 11.3)), "burst": rng.randrange(10**8)}
    if rng.random() < 0.5:
        queue |= {"victim": "nearest", "victim_by_colour": rng.random() < 0.5, "remark": {"red": rng.randint(0, 63)}}
        queue |= {"distance": {"share": True, "infer": False}, "ttl_option": "remove"}
    queue |= random_departure(rng, queue)
    if may_be_late(queue) and rng.random() < 0.7:
        queue["mark_at"] = "dequeue"
    return queue


def may_be_late(queue) -> bool:
    """Whether the curves of a queue can mark at departure."""
    kinds = [queue[colour].get("ecn", queue[colour])["curve"] for colour in COLOURS]
    alone = queue["ecn"] and queue["spacing"] == "geometric" and "aqm" not in queue and "exred" not in kinds
    colours = queue["average"]["weight"] < 0.99 or queue["average"]["kind"] in ("red", "wred")
    return alone and colours and "size_weight" not in queue and "victim" not in queue


def random_departure(rng, queue):
    """CoDel or PIE, a ce_threshold, both or none; the curves of a queue with CoDel or PIE become tail."""
    time = lambda: f"{int(10 ** rng.uniform(3.02, 10.77))}ns"
    found = {}
    if rng.random() < 0.3:
        found |= {"aqm": "codel", "mtu": rng.randint(64, 16384)}
        found |= {name: time() for name in ("target", "interval") if rng.random() < 0.7}
        found |= dict.fromkeys(COLOURS, {"curve": "tail"})
    elif rng.random() < 0.4 and (queue.get("victim") != "nearest" or "victim_window" in queue):
        least, most = 65536, 1_073_676_288
        found |= {"aqm": "pie", "mtu": rng.randint(64, 16384), "bytemode": rng.random() < 0.5}
        found |= {
            name: round(rng.uniform(0, 3), rng.randrange(6)) for name in ("pie_alpha", "pie_beta") if rng.random() < 0.7
        }
        found |= rng.choice([{}, {"tupdate": f"{rng.randint(least, most)}ns"}, {"tupdate": "15ms"}])
        found |= rng.choice([{}, {"target": f"{int(10 ** rng.uniform(3.02, 9.6))}ns"}])
        found |= rng.choice([{}, {"burst_allowance": f"{rng.randrange(4 * 10**9)}ns"}])
        found |= dict.fromkeys(COLOURS, {"curve": "tail"})
    if rng.random() < 0.3:
        mask = rng.choice([0, 3, rng.randint(0, 255)])
        found |= {"ce_threshold": time(), "ce_mask": mask, "ce_selector": mask & rng.randint(0, 255)}
    return found


def random_pair(rng, classic, low):
    """Makes two queues a pair under DualPI2."""
    for queue in (classic, low):
        for name in (*PIE, "target", "interval", "tupdate", "mtu", "priority", "quantum", "mark_at"):
            queue.pop(name, None)
        queue |= dict.fromkeys(COLOURS, {"curve": "tail"}) | {"aqm": "dualpi2"}
        queue["quantum"] = rng.randint(64, 65535)
    if rng.random() < 0.5:
        classic["quantum"] = rng.randint(64, 7281)
        low.pop("quantum")  # nine times as much
    classic |= {"mtu": rng.randint(64, 16384), "overload": rng.choice(["drop", "mark"]), "l4s_mask": rng.randint(1, 3)}
    gain = lambda: round(rng.choice([rng.uniform(0, 255), rng.uniform(0, 1)]), rng.randrange(6))
    more = {"dualpi2_alpha": gain(), "dualpi2_beta": gain(), "coupling": rng.randint(1, 255)}
    more |= {
        "step_threshold": f"{int(10 ** rng.uniform(1.81, 9.6))}ns",
        "target": f"{int(10 ** rng.uniform(3.02, 9.6))}ns",
    }
    more |= {"tupdate": f"{rng.randint(65536, 1_073_676_288)}ns"}
    classic |= {name: value for name, value in more.items() if rng.random() < 0.7}


def random_marker(rng, queue):
    rate = lambda low=4.81: int(10 ** rng.uniform(low, 11.3))
    in_packets = rng.random() < 0.5
    deep = lambda most=4000: f"{rng.randint(1, most)}p" if in_packets else rng.randint(60, 2**26)
    common = {"queue": queue, "drop": rng.choice([[], ["yellow"]])}
    common |= {"packet": rng.randint(64, 9600)} if in_packets else {"length": rng.choice(["ip", "frame"])}
    kind = rng.choice(["leaf", "srtcm", "trtcm", "redp", "3cpm", "wpm", "apm", "nm"])
    if kind == "leaf":
        return common | {"kind": kind, "rate": rate(), "burst": deep(), "out": "yellow"}
    if kind == "srtcm":
        return common | {"kind": kind, "cir": rate(), "cbs": deep(), "ebs": deep(), "colour_aware": rng.random() < 0.5}
    if kind == "trtcm":
        slow, fast = sorted((rate(), rate()))
        return common | {"kind": kind, "cir": slow, "pir": fast, "cbs": deep(), "pbs": deep()}
    if kind == "redp":
        low, high, bucket = sorted(rng.randint(100, 3000) for _ in range(3))
        named = {"low": low, "high": high, "bucket": bucket}
        named = {name: f"{value}p" if in_packets else value for name, value in named.items()}
        chances = {
            "max_demote": rng.uniform(0.1, 1),
            "max_promote": rng.uniform(0.1, 1),
            "p_drop": round(rng.random(), 4),
        }
        return common | {"kind": kind, "rate": rate(6), "meter": f"{rng.randint(0, 10**6)}us"} | named | chances
    ages = {"idle": f"{rng.randint(2000, 200_000)}ms", "half_open": f"{rng.randint(5, 2000)}ms"}
    credits = {"ns": rng.randint(0, 255), "na": rng.randint(0, 255), "ack": rng.choice(["yellow", "green"])}
    average = {"alpha": rng.randint(1, 7) / 8, "a0": round(rng.uniform(0.1, 65535), 3), "increase": "factor"}
    fields = {"3cpm": credits | average | ages, "wpm": credits | ages, "apm": average | ages, "nm": {}}
    return {"queue": queue, "kind": kind} | fields[kind]


def random_file(rng):
    names = [f"q{i}" for i in range(rng.randint(1, 5))]
    port = {"rate": int(10 ** rng.uniform(4.81, 11.3)), "burst": rng.randrange(10**8)}
    markers = [random_marker(rng, name) for name in names if rng.random() < 0.7]
    queues, pool = [random_queue(rng, name) for name in names], {}
    if rng.random() < 0.5:
        pool = {"pool": {"size": rng.randint(64, 2**18)}}
        for queue in queues:
            queue |= rng.choice([{"alpha": 2.0 ** rng.randint(-7, 3)}, {}])
    if len(queues) > 1 and rng.random() < 0.4:
        random_pair(rng, *queues[:2])
    elif rng.random() < 0.3 and queues[-1].get("aqm") != "dualpi2":
        for name in ("priority", "rate", "burst"):
            queues[-1].pop(name, None)
        queues[-1]["fq"] = rng.choice([2, 4, 8])
    return {
        "port": port,
        **pool,
        "queue": queues,
        "marker": markers,
        "seed": rng.randint(1, 9),
    }
