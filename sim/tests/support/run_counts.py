"""A run of the simulator's program, and its packets and bytes by queue and colour."""

import json
import subprocess

NAMES = {name: name for name in ("arrived", "enqueued", "early", "forced", "tail", "nobuf", "bad", "policed", "sent")}
NAMES |= {name: name for name in ("evicted", "departure_dropped", "departure_marked")}
NAMES |= {"marked": "ce_chosen", "ce_written": "ce_written"}


def run_through(program, words, capture, out, *options):
    """What `vermilion run` counts."""
    stats = out.with_suffix(".json")
    command = [program, "--in", capture, "--config-words", words, "--stats-json", stats, "--out", out, *options]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    return json.loads(stats.read_text())


def counted(json_file):
    """The same out of the JSON of a run, or of the control channel."""
    return {
        (queue["index"], colour): {name: [part[name]["packets"], part[name]["bytes"]] for name in NAMES}
        for queue in json_file["queues"]
        for colour, part in enumerate(queue["colours"])
    }
