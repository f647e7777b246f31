"""The model's stand-alone lane, from a configuration record."""

import json
from ctypes import byref, create_string_buffer, string_at

from support.headers import IP4, MACS, ip4
from support.model_bindings import COLOURS, Counters, Decision, Evicted, Sent, library


def read(config):
    error = create_string_buffer(400)
    handle = library().vm_config_read(json.dumps(config).encode(), error, len(error))
    return handle, error.value.decode()


class Lane:
    def __init__(self, config):
        self.lib = library()
        file, error = read(config)
        assert file, error
        self.queues = len(config["queues"])
        self.handle = self.lib.vm_lane_create(self.lib.vm_config_get(file))
        self.lib.vm_config_destroy(file)
        assert self.handle

    def __del__(self):
        if hasattr(self, "handle"):
            self.lib.vm_lane_destroy(self.handle)

    def arrive(self, time, frame, bad=0):
        d = Decision()
        assert self.lib.vm_lane_arrive(self.handle, time, frame, len(frame), bad, None, byref(d)) == 0
        return d.verdict

    def take(self):
        """(record, bytes) of every frame that has left."""
        out, room = [], create_string_buffer(20000)
        while True:
            sent = Sent()
            if self.lib.vm_lane_take(self.handle, byref(sent), room, len(room)) != 1:
                return out
            out.append((sent, string_at(room, max(sent.len_bytes, 0))))

    def evicted(self):
        """Records of the frames that were evicted since the last call."""
        out = []
        while True:
            one = Evicted()
            if self.lib.vm_lane_evicted(self.handle, byref(one)) != 1:
                return out
            out.append(one)

    def drain(self):
        self.lib.vm_lane_drain(self.handle)
        return self.take()

    def counters(self):
        for q in range(self.queues):
            for c in range(COLOURS):
                out = Counters()
                assert self.lib.vm_lane_counters(self.handle, q, c, byref(out)) == 0
                yield q, c, out


def frame(dscp, size, ecn=0):
    return MACS + IP4 + ip4(payload=bytes(size - 34), proto=17, tos=dscp << 2 | ecn)
