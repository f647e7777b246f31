"""The kernel's own test scripts, unchanged, on the driver in a guest: mlxsw's scripts of offloaded qdiscs, and tdc's tests of qdiscs.

    python sim/tests/campaigns/kernel_scripts.py [--only offload tdc red-root red-ets red-prio] [--kernel 6.12] [--publish]

The scripts come from Debian's linux-source package when this runs (sim/tests/support/selftests.py). `--publish` writes
docs/results/kernel-scripts.json and the page of it. Parts that are not named in `--only` stay as they were.
"""

import argparse
import datetime
import json
import re
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[above]) for above in (1, 2)]  # sim/tests, sim
from campaigns.driver_soak import commit
from support import driver_bench, selftests
from support.tc_traffic import capture, frame
from vermilion.guests import driver_guest
from vermilion.toolchain import build

RESULTS = build.ROOT / "docs/results"
MLXSW = "drivers/net/mlxsw"
BEGIN = """
/bin/busybox --install -s /bin
export LANE=$lane
mkdir -p /sbin; ln -s /bin/tc /sbin/tc; ln -s /bin/ip /sbin/ip
script() { echo "script.begins $1"; shift; "$@"; echo "script.ends $?"; }
cd /selftests/drivers/net/mlxsw
"""
OFFLOAD = "script sch_offload.sh bash ./sch_offload.sh\n"
RED = """
stty -F /dev/ttyS1 raw -echo
exec 7<>/dev/ttyS1
export TESTS="ecn_test ecn_test_perband ecn_nodrop_test red_test"
script sch_red_NAME.sh bash ./sch_red_NAME.sh
"""
TDC_FILES = ("red", "gred", "prio", "ets", "tbf", "fifo")
TDC = """
cd /selftests/tc-testing
for name in FILES; do script tdc:$name.json python3 tdc.py -f tc-tests/qdiscs/$name.json; done
""".replace("FILES", " ".join(TDC_FILES))
# name: the script, the build of the lane. Backlogs of the red scripts need a buffer of 1 MB.
PARTS = {"offload": (OFFLOAD, "lab"), "tdc": (TDC, "lab")}
PARTS |= {f"red-{name}": (RED.replace("NAME", name), "nic100g") for name in ("root", "ets", "prio")}

KINDS = ("red", "gred", "prio", "ets", "tbf", "pfifo", "bfifo")
HOSTS = "hosts send through the card; a representor carries no packets"
# What is not run, and why.
LEFT_OUT = {
    "sch_red_*.sh: ping_ipv4": HOSTS,
    "sch_red_*.sh: mc_backlog_test": "a lane has no queues of their own for multicast",
    "sch_red_*.sh: red_mirror_test, red_trap_test, ecn_mirror_test": "a lane copies no packets (`qevent` with `mirred` or `trap`)",
    "sch_ets.sh": HOSTS
    + "; the packets of each band are tested in `test_driver_guest_tc.py`, and shares in the benches of the RTL",
    "sch_tbf_*.sh": HOSTS + "; the shapers' rates are tested in the RTL's benches",
    "qos_dscp_bridge.sh": HOSTS
    + "; it sets priorities by `dcb app`, which the driver does not have: a packet's priority is its class selector",
}

RATE = 10**7  # bit/s of what the scripts call 1 Gbit/s
LEAD_NS = 10_000  # the driver's own accesses move the clock, too


class Feeder(threading.Thread):
    """Feeds the lane with the frames that the guest's scripts ask for, and runs its clock for their pauses."""

    def __init__(self, serial: Path, device, folder: Path):
        super().__init__(daemon=True)
        self.serial, self.control, self.folder = serial, device.channel(), folder
        self.stream = None  # (bytes, DSCP, ECN)
        self.ended, self.failures = threading.Event(), []

    def connect(self) -> socket.socket:
        line = socket.socket(socket.AF_UNIX)
        while not self.ended.is_set():
            try:
                line.connect(str(self.serial))
                return line
            except OSError:
                time.sleep(0.1)
        return line

    def run(self):
        line = self.connect()
        self.control.ask("pause")
        held = b""
        while not self.ended.is_set():
            came = line.recv(4096)
            if not came:
                return
            *asked, held = (held + came).split(b"\n")
            for each in asked:
                words = each.decode().split()
                try:
                    getattr(self, f"do_{words[0]}")(*map(float, words[1:]))
                except Exception as error:  # shown at the end; the guest goes on
                    self.failures.append(f"{each}: {error!r}")
                line.sendall(b"done\n")

    def feed(self, size, dscp, ecn, count, gap_ns):
        frames = [frame(int(size), int(dscp), int(ecn))] * int(count)
        now = self.control.ask("counters")["now_ns"]
        self.control.ask("feed", capture=str(capture(self.folder / "asked.pcap", frames, gap_ns)), at_ns=now + LEAD_NS)

    def do_run(self, seconds):
        ns = int(seconds * 10**9)
        if self.stream:
            gap_ns = int(self.stream[0] * 8 * 10**9 / RATE)
            self.feed(*self.stream, max(1, ns // gap_ns), gap_ns)
        self.control.ask("run", ns=ns)

    def do_send(self, size, dscp, ecn, count):
        self.feed(size, dscp, ecn, count, 0)
        self.control.ask("run", ns=int(count) * 2000)

    def do_start(self, size, dscp, ecn):
        self.stream = (size, dscp, ecn)

    def do_stop(self):
        self.stream = None


def part_of(script: str) -> str:
    """The part that runs a script."""
    return "tdc" if script.startswith("tdc:") else script.removeprefix("sch_").removesuffix(".sh").replace("_", "-")


def script_of(part: str) -> str:
    return f"sch_{part.replace('-', '_')}.sh"


def played(name: str, kernel: str) -> str:
    """The console of a part."""
    script, preset = PARTS[name]
    with tempfile.TemporaryDirectory() as place:
        folder, feeders = Path(place), []
        serial = folder / "serial"

        def action(device, control):
            feeders.append(Feeder(serial, device, folder))
            feeders[-1].start()

        try:
            said = driver_bench.talk(
                kernel, build.device(preset), BEGIN + "step 1\n" + script, action, folder=folder, timeout=3600,
                more=selftests.files(), serial=serial,
            )  # fmt: skip
        finally:
            for each in feeders:
                each.ended.set()
    assert said.said("splats.end") == "0" and not any(each.failures for each in feeders), said.console
    return said.console


def rows(console: str) -> list[dict]:
    """What the scripts have said: {script, test, passed, refused}. `refused` is the driver's sentence if tdc's qdisc is not offloaded, "" if it is, and
    None if there is none, or the script's own result tells."""
    out, script, offloaded = [], "", {}
    for line in console.replace("\r", "").splitlines():
        if found := re.match(r"script\.begins (\S+)", line):
            script = found[1]
        elif found := re.match(r"TEST: (.+?)\s*\[\s*(OK|FAIL|SKIP|XFAIL)\s*\]", line):
            passed = {"OK": True, "FAIL": False}.get(found[2])
            out.append({"script": script, "test": found[1], "passed": passed, "refused": None})
        elif found := re.match(r"offloaded (\w+) (\w+) ([01]) ?(.*)", line):
            if found[2] in KINDS:
                offloaded[found[1]] = "" if found[3] == "1" else re.sub(r"^\w+ \w*: ", "", found[4])
        elif found := re.match(r"(not )?ok \d+ (\w+) - (.*?)(\s*# skipped.*)?$", line):
            passed = None if found[4] else not found[1]
            out.append(
                {
                    "script": script,
                    "test": f"{found[2]} {found[3]}",
                    "passed": passed,
                    "refused": offloaded.get(found[2]),
                }
            )
    return out


def page(found: dict) -> str:
    """docs/results/kernel-scripts.md of the JSON."""
    all_rows, scripts = found["rows"], {row["script"]: None for row in found["rows"]}
    count = lambda script, what: sum(row["script"] == script and what(row) for row in all_rows)
    lines = [
        f"| {script} | {count(script, lambda row: True)} | {count(script, lambda row: row['passed'] is True)} | "
        f"{count(script, lambda row: row['passed'] is False)} | {count(script, lambda row: row['passed'] is None)} | "
        f"{count(script, lambda row: bool(row['refused']))} | {found['drivers'][part_of(script)]} |"
        for script in scripts
    ]
    failed = [f"| {row['script']} | {row['test']} |" for row in all_rows if row["passed"] is False]
    why = {}
    for row in all_rows:
        if row["refused"]:
            why.setdefault((row["script"], row["refused"]), []).append(row["test"].split()[0])
    refused = [f"| {script} | {' '.join(tests)} | {sentence} |" for (script, sentence), tests in why.items()]
    later = [f"| {script_of(part)} | not run yet |" for part in PARTS if part not in found["drivers"]]
    left_out = [f"| {what} | {reason} |" for what, reason in LEFT_OUT.items()] + later
    table = lambda head, lines: "\n".join([head, re.sub(r"[^|]+", " --- ", head), *lines])
    return f"""# The kernel's own scripts

`python sim/tests/campaigns/kernel_scripts.py --publish`. The scripts are those of Debian's {found["package"]} {found["version"]}, unchanged: mlxsw's tests of offloaded qdiscs, and `tdc`, the kernel's tests of `tc`.
The lane was in simulation, behind a guest with Linux {found["kernel"]}. The last column is the driver.

The files of `sim/tests/selftests` take the place of the kernel's libraries of the same names. They connect a script with the lane: a simulation feeds the frames that
a script sends, and the clock runs for its pauses. 1 Gbit/s of the scripts is 10 Mbit/s.

{table("| script | tests | passed | failed | skipped | not offloaded | driver |", lines)}

*Not offloaded* counts tests of `tdc` that pass, but whose qdisc the lane does not run. `sch_offload.sh` itself tests what is offloaded, and what is not.

## Failed
{table("| script | test |", failed) if failed else "None."}

## Not offloaded
{table("| script | tests | reason, as the driver gives it |", refused) if refused else "None."}

`tc` rates below 64 kbit/s do not fit the lane's shapers. They hold the time of a byte in 18 bits of whole ns, up to 262,143 ns, which is 30.5 kbit/s; 64 kbit/s is the least rate that is tested. 10 kbit/s needs 20 bits. The
registers, the records of the shapers and their costs would be 2 bits wider. `tdc` creates its `tbf` with 10 or 20 kbit/s.

## Not run
{table("| what | reason |", left_out)}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--kernel", default="6.12", choices=driver_guest.KERNELS)
    parser.add_argument("--console", action="store_true", help="prints what the guest said")
    parser.add_argument("--publish", action="store_true", help="writes docs/results/kernel-scripts.json and .md")
    given = parser.parse_args()
    held = RESULTS / "kernel-scripts.json"
    before = json.loads(held.read_text()) if held.exists() else {"rows": [], "drivers": {}}
    out = {
        "kernel": given.kernel,
        "package": selftests.PACKAGE,
        "version": (selftests.setup() / "version").read_text(),
        "drivers": dict.fromkeys(given.only, f"{datetime.date.today()}, commit {commit()}"),
        "rows": [],
    }
    for name in PARTS:
        if name not in given.only:  # as it was
            out["rows"] += [row for row in before["rows"] if part_of(row["script"]) == name]
            out["drivers"] |= {name: before["drivers"][name]} if name in before["drivers"] else {}
            continue
        console = played(name, given.kernel)
        if given.console:
            print(console)
        out["rows"] += rows(console)
    text = json.dumps(out, indent=1) + "\n"
    if given.publish:
        held.write_text(text)
        held.with_suffix(".md").write_text(page(out))
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
