"""The page of the developer's loop is made of its data, and holds every kind of change, before and after."""

import json

from campaigns import loop_times

ROWS = [*loop_times.TOUCHED, loop_times.COPIED, loop_times.USED, loop_times.SUITE]


def test_the_page_is_made_of_its_data():
    times = json.loads(loop_times.PAGE.with_suffix(".json").read_text())
    assert loop_times.PAGE.read_text() == loop_times.HEAD.format(cores=2) + "\n" + loop_times.table(times)
    assert len(times) == 2 and all(list(of) == ROWS for of in times.values())
