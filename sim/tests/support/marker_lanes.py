"""`[[marker]]` tables of each kind, and the model's markers configured from them."""

import ctypes
import json

from support.model_bindings import Marked, library
from vermilion.configuration import config
from vermilion.profile import quantise

QUEUE = {"name": "af1", "dscp": ["AF11", "AF12", "AF13"]}
KINDS = {
    "leaf": {"rate": "1Mbit", "burst": "10KB"},
    "srtcm": {"cir": "1Mbit", "cbs": "10KB", "ebs": "5KB"},
    "trtcm": {"cir": "1Mbit", "cbs": "10KB", "pir": "2Mbit", "pbs": "20KB"},
    "redp": {"rate": "700kbit", "bucket": "60p", "low": "15p", "high": "45p"},
}


def parse(kind, **fields):
    marker = {"queue": "af1", "kind": kind} | KINDS.get(kind, {}) | fields
    raw = {"port": {"rate": "10Mbit"}, "queue": [QUEUE], "marker": [{k: v for k, v in marker.items() if v is not None}]}
    return config.parse(raw)


class Lane:
    """The model's markers of a file's queues, configured from the record as the lane's are."""

    def __init__(self, asked):
        self.lib, error = library(), ctypes.create_string_buffer(500)
        words = json.dumps(quantise.hardware(asked)).encode()
        self.file = self.lib.vm_config_read(words, error, len(error))
        assert self.file, error.value
        self.queues = self.lib.vm_config_get(self.file).contents.queues
        self.handles = {}

    def __del__(self):
        self.lib.vm_config_destroy(self.file)
        for handle in self.handles.values():
            self.lib.vm_marker_destroy(handle)

    def colours(self, queue, count, length, colour=0):
        """Of so many packets at one time."""
        handle = self.handles.setdefault(queue, self.lib.vm_marker_create())
        out, seen = Marked(), []
        for _ in range(count):
            self.lib.vm_marker_mark(handle, self.queues[queue].marker, 10**9, colour, length, 2**32 - 1, out)
            seen.append(out.colour)
        return seen
