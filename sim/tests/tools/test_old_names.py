"""Names of settings before 0.1.0, which `vermilionctl` still takes."""

import pytest

from vermilionctl import settings
from vermilionctl.errors import UserError

# What `set` and records took before 0.1.0, and the same now.
OLD = {
    "weight=0.5": {"average.weight": "0.5"},
    "average_kind=wred": {"average.kind": "wred"},
    "unit_packets=1": {"average.unit": "packet"},
    "update_depart=on": {"average.update": "both"},
    "limit_bytes=9KB": {"limit": "9000"},
    "curve.red.marks.kind=gentle": {"red.ecn.curve": "gentle"},
    "nearest=1": {"victim": "nearest"},
    "remove_ttl_option=1": {"ttl_option": "remove"},
    "distance_share=1": {"distance.share": "true"},
    "marker.kind=flow marker.flow_kind=wpm": {"marker.kind": "wpm"},
    "marker.kind=flow": {"marker.kind": "nm"},
    "marker.kind=leaf marker.flow_kind=nm": {"marker.kind": "leaf"},
    "marker.alpha_eighths=3": {"marker.alpha": "0.375"},
    "marker.initial_average=2.5": {"marker.a0": "2.5"},
    "marker.by_factor=1": {"marker.increase": "factor"},
    "marker.drop_colours=red": {"marker.drop": "red"},
    "marker.ip_length=1": {"marker.length": "ip"},
}


@pytest.mark.parametrize("old", OLD)
def test_settings_by_old_names_are_those_by_new_ones(old):
    pairs = [tuple(word.split("=")) for word in old.split()]
    changed, read = settings.defaults(), settings.from_dict(dict(pairs))
    settings.change(changed, pairs)
    wanted = settings.as_dict(settings.defaults()) | OLD[old]
    assert settings.as_dict(changed) == settings.as_dict(read) == wanted


@pytest.mark.parametrize("raw", ["average.unit=yes", "marker.length=on", "victim=1"])
def test_a_name_of_now_takes_its_words_alone(raw):
    with pytest.raises(UserError, match="legal are"):
        settings.change(settings.defaults(), [tuple(raw.split("="))])
