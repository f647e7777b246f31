"""In place of the kernel's nsPlugin: tdc's tests of qdiscs get the lane's representor as their device, under the name that each test expects.

After the command under test it prints whether each qdisc of the device is offloaded, and if not the driver's last refusal.
"""

import json
import os
import subprocess
from pathlib import Path

from TdcPlugin import TdcPlugin

LANE = os.environ["LANE"]
(REFUSED,) = Path("/sys/kernel/debug/vermilion").glob("*/lane0/refused")


def run(*words) -> str:
    return subprocess.run(words, capture_output=True, text=True).stdout


class SubPlugin(TdcPlugin):
    def __init__(self):
        self.sub_class = "ns/SubPlugin"
        self.name = LANE
        super().__init__()

    def rename(self, name):
        run("ip", "link", "set", "dev", self.name, "down")
        run("ip", "link", "set", "dev", self.name, "name", name)
        run("ip", "link", "set", "dev", name, "up")
        self.name = name

    def pre_case(self, caseinfo, test_skip):
        super().pre_case(caseinfo, test_skip)
        if not test_skip:
            self.rename(self.args.NAMES["DUMMY"])

    def post_execute(self):
        super().post_execute()
        if self.args.test_skip:
            return
        for qdisc in json.loads(run("tc", "-j", "qdisc", "show", "dev", self.name) or "[]"):
            there = qdisc.get("offloaded", False)
            why = "" if there else REFUSED.read_text().partition(" ")[2].strip()
            print("offloaded", self.args.caseinfo["id"], qdisc["kind"], int(there), why)

    def post_case(self):
        super().post_case()
        run("tc", "qdisc", "del", "dev", self.name, "root")
        self.rename(LANE)
