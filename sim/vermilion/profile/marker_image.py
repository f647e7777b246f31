"""From a `[[marker]]` table to what the registers hold of it, by the driver's library (`sw_driver/lib/vm_marker.c`).

Depths and thresholds are held as the time in which the bucket's rate fills them, in whole ns, rounded up, with the cost of a byte as the hardware
has it. srTCM's second bucket is the sum of both depths, each rounded up by itself. REDP's spans follow from the thresholds as held.
"""

import ctypes

from vermilion.configuration.markers import DEPTHS, Marker
from vermilion.hardware.driver_library import C, library, number, pair, plain
from vermilion.hardware.formats import depth_ns, exact

from .image_record import FlowRecord, MarkerRecord
from .settings import marker_settings


def depths_ns(m: Marker) -> dict[str, int]:
    """Every depth and threshold that the marker has, by its field."""
    given = [name for name in DEPTHS if getattr(m, name) is not None]
    return {name: depth_ns(m.in_bytes(getattr(m, name)), m.rate_of(name)) for name in given}


def spans(m: Marker) -> dict[str, tuple[int, tuple[int, int]]]:
    """REDP's regions by the field of their MAX: width in ns as held, and the span (m, s) as held: a draw of r = 1, 2^16, gives
    ((2^16 m) 2^26) >> s in 2^-16 ns."""
    ns = depths_ns(m)
    widths = {"max_demote": ns["low"], "max_promote": ns["bucket"] - ns["high"]}
    asked = {name: number(exact(m.given(name))) for name in widths}
    return {name: (width, pair(library().vm_span(width, asked[name]))) for name, width in widths.items()}


def buckets(m: Marker) -> list[tuple[int, int]]:
    """(rate, depth in bytes) of buckets A and B as asked; srTCM's B holds both depths."""

    held = [
        (getattr(m, bucket.rate), sum(m.in_bytes(m.depth(name)) for name in bucket.depths))
        for bucket in m.rules.buckets
    ]
    return [*held, (0, 0)][:2]


def marker_record(m: Marker | None) -> MarkerRecord:
    """The marker's image (`struct vm_marker_image`) as JSON has it; all 0 for None."""
    settings, image = marker_settings(m), C.MarkerImage()
    library().vm_marker_convert(ctypes.byref(settings), ctypes.byref(image))
    made: MarkerRecord = plain(image)
    return made


def flow_record(m: Marker) -> FlowRecord:
    """`struct vm_flow_image`."""
    return marker_record(m)["flow"]
