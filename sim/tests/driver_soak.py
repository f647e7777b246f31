"""The driver for long: damaged netlink messages and register accesses by the million, loading and unloading by the hundred.

    python sim/tests/driver_soak.py [--steps 1000000] [--loads 100] [--seed 1] [--kernel 6.12] [-o docs/results/driver-soak.json]

The guest runs with slub_debug=FZPU: memory behind and in front of each object is looked at, freed memory is poisoned, and each object keeps its
caller. A leak is a call site that has more objects at the end, one or more for each load.
"""

import argparse
import json
import re
import tempfile
from pathlib import Path

from devices import running
from netlink_guest import program, splats
from test_driver_netlink import Said
from vermilion import build, driver_guest

# Objects by call site, from slub's books; a call site of a module that is gone is a bare address.
LEAKS = """
traces() {
  for cache in /sys/kernel/debug/slab/*/alloc_traces; do dd if=$cache bs=64k 2> /dev/null; done |
    sed -n 's/^ *\\([0-9]*\\) \\([^ ]*\\) .*/\\2 \\1/p'
}
loads() {
  turn=0
  while [ $turn -lt $1 ]; do rmmod vermilion; insmod /modules/vermilion.ko; turn=$((turn + 1)); done
}
loads 2
traces > /tmp/before # debugfs itself keeps something for each file that was read once
sleep 2
traces > /tmp/before
loads LOADS
sleep 2 # what is freed behind a grace period
traces > /tmp/behind
busybox awk -v loads=LOADS 'FNR == NR {old[$1] += $2; next} {now[$1] += $2} END {
  for (site in now) if (now[site] >= old[site] + loads) print "grown", site, old[site] + 0, now[site]
  for (site in now) total++
  print "sites", total }' /tmp/before /tmp/behind
"""
FUZZ = "netlink_fuzz $lane /sys/bus/pci/devices/$device/resource0 SEED STEPS < /talk\n"
LOG = "echo log-begins\ndmesg -r\n"


def script(text: str, **values) -> str:
    for name, value in values.items():
        text = text.replace(name.upper(), str(value))
    return text


def grown(console: str) -> list[str]:
    """Call sites with an object more for each load. That slub's books were there shows in their number."""
    assert int(re.findall(r"^sites (\d+)", console, re.M)[-1]) > 100, console
    return re.findall(r"^grown (.*?)\r?$", console, re.M)


def fuzz_ends(console: str) -> dict[str, int]:
    """How many messages ended with which errno."""
    return {errno: int(count) for errno, count in re.findall(r"^fuzz errno (\d+) (\d+)\r?$", console, re.M)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--loads", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernel", default="6.12", choices=driver_guest.KERNELS)
    parser.add_argument("-o", "--out", type=Path)
    given = parser.parse_args()
    driver_guest.files(given.kernel)
    text = script(FUZZ + LEAKS + LOG, seed=given.seed, steps=given.steps, loads=given.loads)
    files = Said().files() | {"bin/netlink_fuzz": (0o100755, program("netlink_fuzz"))}
    with tempfile.TemporaryDirectory() as folder, running(build.device("lab")) as device:
        console = driver_guest.boot(
            given.kernel, device.socket, text, Path(folder), lambda: device.process.poll() is None, 20000, files,
            "slub_debug=FZPU",
        )  # fmt: skip
    ends = fuzz_ends(console)
    out = {
        "kernel": given.kernel,
        "seed": given.seed,
        "steps": given.steps,
        "messages": sum(ends.values()),
        "messages_by_errno": ends,
        "ended": f"fuzz ends {given.steps}" in console,
        "loads": given.loads,
        "grown_call_sites": grown(console),
        "splats": splats(console.split("log-begins")[-1]),
    }
    text = json.dumps(out, indent=2) + "\n"
    print(text, end="")
    if given.out:
        given.out.write_text(text)
    return 0 if out["ended"] and not out["grown_call_sites"] and not out["splats"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
