"""The page that lists the results: in groups, with a sentence for each page and the menu's name of it."""

import re

from vermilion.toolchain.build import ROOT

TOLD = "Commands of the project made these pages, except where a page says how it was made. Each names its command and its settings."
GROUPS = {
    "Hardware": {
        "area": "LUTs, block RAMs and UltraRAMs of lanes and blocks, by Yosys.",
        "timing": "The longest paths of lanes and blocks, estimated from published cell delays.",
        "line-rate": "Cycles per frame and latencies at the rate of a port, in simulation.",
        "bench": "Cycles per decision with frames back to back.",
        "place": "A small lane, placed and routed in an ECP5.",
        "egresses": "Random configurations of lanes with 1 to 8 egresses, RTL against model.",
        "commits": "Random profiles that are loaded while frames arrive.",
        "inject": "Each checker reports the faults that are injected for it.",
        "random-source": "The random source under dieharder.",
        "corundum": "The application block in Corundum's whole core, in simulation.",
        "nic-tags": "Each tag of a host frame is completed once while routes and settings change.",
    },
    "Policy": {
        "oracles": "The model beside Linux, DPDK, ns-2, ns-3 and the RFCs.",
        "redp-fairness": "How evenly REDP demotes flows of equal rate.",
        "distance-drops": "Wasted hops on captures, with RED and with DDRED.",
        "ageing": "Three rules for the average of an empty queue.",
    },
    "Networks": {
        "papers": "The papers' figures, made again in ns-3.",
        "earlier-seeds": "Where our figures and the papers' differ, and why.",
        "l4s": "DCTCP beside classic TCP in a DualPI2 pair.",
        "bufferbloat": "Standing delay of our queues and of ns-3's.",
        "step": "DCTCP with marks at enqueue and at dequeue.",
        "schemes": "Our schemes of marker and AQM beside those of ns-3, on the same traffic.",
        "rtl-networks": "Networks with the Verilated RTL in the router.",
    },
    "Driver": {
        "driver-soak": "Long runs of damaged messages and loads in a virtual machine.",
        "kernel-scripts": "The kernel's own tests of offloaded qdiscs.",
    },
    "Tools": {
        "speed": "How fast the simulator runs.",
        "loop": "How long a build and a test take after a change.",
        "sweeps": "A sweep that is killed and continued gives the same table.",
    },
}


def listing(pages: set[str]) -> str:
    """The page; each page of the folder is in one group."""
    listed = [page for group in GROUPS.values() for page in group]
    if sorted(listed) != sorted(pages):
        raise ValueError(f"results that are in no group, or in two, or are no page: {sorted(pages ^ set(listed))}")
    named = dict(re.findall(r"^ +- (.+): results/([\w-]+)\.md$", (ROOT / "mkdocs.yml").read_text(), re.M))
    names = {page: name for name, page in named.items()}
    text = f"# Results\n\n{TOLD}\n"
    for name, group in GROUPS.items():
        rows = "".join(f"| [{names[page]}]({page}.md) | {told} |\n" for page, told in group.items())
        text += f"\n## {name}\n\n| page | what it shows |\n| --- | --- |\n{rows}"
    return text
