"""The driver for long: damaged netlink messages and register accesses by the million, loading, use and unloading by the hundred.

    python sim/tests/campaigns/driver_soak.py [--steps 1000000] [--loads 100] [--seed 1] [--kernel 6.12] [--publish]

The guest runs with slub_debug=FZPU: memory behind and in front of each object is looked at, freed memory is poisoned, and each object keeps its
caller. A leak is a call site that has more objects at the end: one for each load but two, and 10 at least, as some come and go with the guest's
own files. So fewer loads than 12 show only that all works. In each load the card is used: tc offloads, changes
and takes away a qdisc, netlink gives a queue a whole profile, devlink and ethtool read the counters. `--publish` writes docs/results/driver-soak.json
and the page of it.
"""

import argparse
import datetime
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[above]) for above in (1, 2)]  # sim/tests, sim
from support.devices import running
from support.netlink_guest import program, splats
from support.netlink_session import Said
from vermilion.guests import driver_guest
from vermilion.toolchain import build

RESULTS = build.ROOT / "docs/results"
# For awk: the books before and behind, a call site and its objects a line.
COMPARE = """BEGIN {least = loads - 2 > 10 ? loads - 2 : 10}
FNR == NR {old[$1] += $2; next}
{now[$1] += $2}
END {
  for (site in now) if (now[site] >= old[site] + least) print "grown", site, old[site] + 0, now[site]
  for (site in now) total++
  print "sites", total
}"""
# Objects by call site, from slub's books; a call site of a module that is gone is a bare address. /talk begins with a queue-set.
LEAKS = """
traces() {
  for cache in /sys/kernel/debug/slab/*/alloc_traces; do dd if=$cache bs=64k 2> /dev/null; done |
    sed -n 's/^ *\\([0-9]*\\) \\([^ ]*\\) .*/\\2 \\1/p'
}
ok() { "$@" > /tmp/answer 2>&1 || { echo "use failed: $* $(head -n 1 /tmp/answer)"; bad=1; }; }
offloaded() { /bin/tc qdisc show dev $lane | grep -q offloaded; }
told() { head -n 1 /talk | netlink_send $lane | grep -q ' error 0 '; }
use() {
  bad=0
  lane=$(ls /sys/bus/pci/devices/$device/net)
  curve="avpkt 1000 burst 55 bandwidth 100mbit"
  ok ip link set $lane up
  ok /bin/tc qdisc add dev $lane root handle 1: red limit 400000 min 30000 max 90000 $curve
  ok offloaded
  ok /bin/tc qdisc change dev $lane root handle 1: red limit 300000 min 20000 max 60000 $curve ecn
  ok offloaded
  ok /bin/tc -s qdisc show dev $lane
  ok /bin/tc qdisc del dev $lane root
  ok told
  ok devlink sb occupancy snapshot pci/$device
  ok ethtool -S $lane
  [ $bad = 0 ] && uses=$((uses + 1))
}
loads() {
  turn=0
  uses=0
  while [ $turn -lt $1 ]; do rmmod vermilion; insmod /modules/vermilion.ko; use; turn=$((turn + 1)); done
}
loads 2
traces > /tmp/before # debugfs itself keeps something for each file that was read once
sleep 2
traces > /tmp/before
loads LOADS
sleep 2 # what is freed behind a grace period
traces > /tmp/behind
echo "uses $uses of LOADS"
busybox awk -v loads=LOADS 'COMPARE' /tmp/before /tmp/behind
""".replace("COMPARE", COMPARE)
FUZZ = "netlink_fuzz $lane /sys/bus/pci/devices/$device/resource0 SEED STEPS < /talk\n"
LOG = "echo log-begins\ndmesg -r\n"


def script(text: str, **values) -> str:
    for name, value in values.items():
        text = text.replace(name.upper(), str(value))
    return text


def uses(console: str) -> int:
    """In how many loads the card did all that was asked of it."""
    return int(re.findall(r"^uses (\d+) of \d+\r?$", console, re.M)[-1])


def grown(console: str) -> list[str]:
    """Call sites with an object more for each load. That slub's books were there shows in their number."""
    assert int(re.findall(r"^sites (\d+)", console, re.M)[-1]) > 100, console
    assert not re.findall(r"^use failed.*", console, re.M), console
    return re.findall(r"^grown (.*?)\r?$", console, re.M)


def fuzz_ends(console: str) -> dict[str, int]:
    """How many messages ended with which errno."""
    return {errno: int(count) for errno, count in re.findall(r"^fuzz errno (\d+) (\d+)\r?$", console, re.M)}


ERRNO = {
    "0": "done (0): damaged into something legal, or a request to read",
    "1": "not permitted (`EPERM`)",
    "2": "no such queue (`ENOENT`)",
    "16": "somebody else has it (`EBUSY`)",
    "19": "no such device (`ENODEV`)",
    "22": "refused as wrong (`EINVAL`)",
    "34": "out of range (`ERANGE`)",
    "95": "not a command of the family, or not that way (`EOPNOTSUPP`)",
}


def page(found: dict) -> str:
    """docs/results/driver-soak.md of the JSON."""
    options = f"--steps {found['steps']} --loads {found['loads']} --seed {found['seed']} --publish"
    bad = found["splats"] + [f"grown: {each}" for each in found["grown_call_sites"]]
    by_count = sorted(found["messages_by_errno"].items(), key=lambda pair: -pair[1])
    rows = [
        ("steps", found["steps"]),
        ("of them register accesses", found["steps"] - found["messages"]),
        ("messages", found["messages"]),
        *((ERRNO.get(errno, f"errno {errno}"), count) for errno, count in by_count),
        ("**oops, BUG, WARNING, hung task or broken object in the log**", len(found["splats"])),
        ("loads and unloads of the module", found["loads"]),
        ("loads in which the card was used by tc, netlink, devlink and ethtool", found["uses"]),
        ("**call sites with an object more for each load, by slub's books**", len(found["grown_call_sites"])),
    ]
    table = "\n".join(f"| {name} | {count:,} |" for name, count in rows)
    return f"""# The driver for long

`python sim/tests/campaigns/driver_soak.py {options}` ({found["minutes"]:.0f} minutes, {found["processor_minutes"]:.0f} of them processor time;
the suite does 10,000 steps and 12 loads). A guest with Linux {found["kernel"]} of Debian, the lane `lab` in simulation behind its PCIe function, `slub_debug=FZPU`:
memory behind and in front of each object is looked at, freed memory is poisoned. The driver was that of {found["date"]} (commit {found["commit"]}).

Seven of eight steps send one of the messages that the tests send, damaged: bits, values, lengths, types and nesting of attributes, a shorter end, an attribute twice, pieces of other
messages, noise, other commands and flags. Each eighth reads or writes a register at random in BAR 0, behind the driver's back.

| | |
| --- | ---: |
{table}

{"All steps were done." if found["ended"] else "**The steps did not come to their end.**"} Debian's kernels have no kmemleak. A leak of less than one object a load would not show.
""" + "".join(f"\n    {line}" for line in bad)


def commit() -> str:
    """That of the tree, with a word if the driver is not that of a commit."""
    git = lambda *words: subprocess.run(["git", *words], cwd=build.ROOT, capture_output=True, text=True).stdout.strip()
    return (git("rev-parse", "--short=7", "HEAD") or "unknown") + " and changes" * bool(git("status", "--porcelain", "sw_driver"))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000, help="messages and register accesses")
    parser.add_argument("--loads", type=int, default=100, help="loads and unloads of the module")
    parser.add_argument("--seed", type=int, default=1, help="of the damage")
    parser.add_argument("--kernel", default="6.12", choices=driver_guest.KERNELS)
    parser.add_argument("--publish", action="store_true", help="writes docs/results/driver-soak.json and .md")
    given = parser.parse_args()
    driver_guest.files(given.kernel)
    at, began = commit(), time.monotonic()
    text = script(FUZZ + LEAKS + LOG, seed=given.seed, steps=given.steps, loads=given.loads)
    files = Said().files() | {"bin/netlink_fuzz": (0o100755, program("netlink_fuzz"))}
    with tempfile.TemporaryDirectory() as folder, running(build.device("lab")) as device:
        console = driver_guest.boot(
            given.kernel, device.socket, text, Path(folder), lambda: device.process.poll() is None, 20000, files,
            "slub_debug=FZPU",
        )  # fmt: skip
    ends, spent = fuzz_ends(console), resource.getrusage(resource.RUSAGE_CHILDREN)
    out = {
        "kernel": given.kernel,
        "date": str(datetime.date.today()),
        "commit": at,
        "minutes": round((time.monotonic() - began) / 60, 1),
        "processor_minutes": round((spent.ru_utime + spent.ru_stime) / 60, 1),
        "seed": given.seed,
        "steps": given.steps,
        "messages": sum(ends.values()),
        "messages_by_errno": ends,
        "ended": f"fuzz ends {given.steps}" in console,
        "loads": given.loads,
        "uses": uses(console),
        "grown_call_sites": grown(console),
        "splats": splats(console.split("log-begins")[-1]),
    }
    text = json.dumps(out, indent=2) + "\n"
    print(text, end="")
    if given.publish:
        (RESULTS / "driver-soak.json").write_text(text)
        (RESULTS / "driver-soak.md").write_text(page(out))
    good = out["ended"] and out["uses"] == given.loads and not out["grown_call_sites"] and not out["splats"]
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
