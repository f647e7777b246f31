"""A stand-in for the kernel's side of the driver's netlink family."""

from support.netlink_cases import merged
from vermilion.hardware.driver_library import C
from vermilionctl import counters, family, netlink, registers, settings
from vermilionctl.errors import UserError


def over_the_wire(of, fields):
    """As the other end finds it."""
    message = family.message(of)()
    message["cmd"], message["version"], message["attrs"] = 1, 1, family.pairs(fields)
    message.encode()
    got = family.message(of)(message.data)
    got.decode()
    return family.plain(got)


class StandIn:
    """Keeps what it is told, as the kernel does; refuses a queue that it does not have with a sentence."""

    def __init__(self):
        self.lane = {
            "ifindex": 3,
            "device": "pci/0000:03:00.0",
            "lane": 0,
            "rate": 10**9,
            "burst": 0,
            "queues": 16,
        }
        self.lane |= {"option-ip4": 0, "option-ip6": 0, "pool-bytes": 0, "lost": [{"packets": 2**40, "bytes": 7}]}
        self.lane["capabilities"] = {"major": 1, "minor": 2, "queues": 16, "flows": 4096, "victims": 16, "inputs": 1}
        self.lane["capabilities"] |= {"data-bits": 64, "cells": 4096}
        self.lane["owner"] = self.classes_owner = 0
        self.owners = dict.fromkeys(range(16), 0)
        self.queues = {number: netlink.of_settings(settings.defaults()) for number in range(16)}
        self.classes, self.told = [{"dscp": d, "queue": 0, "colour": 0} for d in range(65)], []

    def ask(self, name, fields, dump):
        command, of = family.operation(name)
        fields = over_the_wire(of, fields)
        self.told.append((name, dict(fields)))
        return [over_the_wire(of, reply) for reply in self.answer(name, fields, dump)]

    def answer(self, name, fields, dump):
        if name == "lane-get":
            return [self.lane, self.lane | {"device": "pci/other"}] if dump else [self.lane]
        if name == "lane-set":
            self.lane |= {key: value for key, value in fields.items() if key != "seed"}
        if name == "queue-get":
            port = C.Port(self.lane["rate"] or 10**10, self.lane["burst"], self.lane["queues"])
            made = {number: settings.image(netlink.to_settings(q), port, "q") for number, q in self.queues.items()}
            pairs = lambda words: b"".join(
                at.to_bytes(4, "little") + word.to_bytes(4, "little") for _, at, word in registers.queue(words)
            )
            return [
                {"queue": n, **q, "registers": pairs(made[n]), "owner": self.owners[n]} for n, q in self.queues.items()
            ]
        if name == "queue-set":
            number = fields.pop("queue")
            if number >= 16:
                raise UserError("netlink:lane0: queue is 16; legal is 0 to 15")
            self.queues[number] = merged(self.queues[number], {k: v for k, v in fields.items() if k != "ifindex"})
            self.owners[number] = netlink.OWNER_NETLINK
        if name == "queue-reset":
            number = fields["queue"]
            self.queues[number], self.owners[number] = netlink.of_settings(settings.defaults()), 0
        if name == "class-get":
            return [{"entry": self.classes, "owner": self.classes_owner}]
        if name == "class-set":
            for entry in fields["entry"]:
                self.classes[entry["dscp"]] = entry
        if name == "statistics-get":
            pair = lambda i: {"packets": 2**33 + i, "bytes": 100 * i}
            colour = {event.replace("_", "-"): pair(i) for i, event in enumerate(counters.EVENTS)}
            longs = lambda count: b"".join(n.to_bytes(8, "little") for n in range(count))
            reply = {"queue": fields["queue"], "green": colour | {"average": 3 << 15}, "latency": longs(32)}
            return [reply | {"marked": longs(12), "lost-distance": longs(64), "time-ns": 2**47, "backlog-bytes": 9}]
        return []
