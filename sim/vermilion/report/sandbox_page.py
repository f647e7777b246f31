"""The live page of a sandbox: an HTTP server on 127.0.0.1, and a thread that samples the device's control channel.

`/` is the page, which sandbox.js draws with uPlot. `/data?since=N` is JSON: {"next": N, "samples": [...], "ended": BOOL}. A sample:

  t          seconds since the page began
  lag_ms     wall clock minus lane time
  frames     [in, out, not given to the receiver]
  queues     {number: {bytes, packets, average: [3], sojourn_ms, probability, sent_bytes, marked, drops: {reason: packets}}}, those that packets
             have reached. The counts are since the lane's reset; `marked` counts marks on arrival and at departure
"""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from vermilion.hardware import vfio_user
from vermilion.values.fields import UserError

from . import live

EVERY_S = 0.5
MOST = 1200  # samples that are kept: ten minutes
DROPS = ("early", "forced", "tail", "departure_dropped", "policed", "evicted", "nobuf", "bad")
MARKS = ("marked", "departure_marked")
POLICY = live.POLICY + "; connect-src 'self'"

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Vermilion sandbox</title><style>{library}</style><style>{style}</style></head>
<body><main><h1>Vermilion sandbox</h1>
<p class="note" id="state">waiting for the card</p><div id="queues"></div></main>
{scripts}</body></html>
"""


def page() -> str:
    script, library, licence = live.library()
    folder = Path(__file__).parent
    own = (folder / "sandbox.js").read_text()
    parts = (text.replace("</script", "<\\/script") for text in (script, own))
    notice = (
        f"<details><summary>uPlot draws the plots; its licence</summary><pre>{live.escape(licence)}</pre></details>"
    )
    scripts = f"<footer>{notice}</footer>\n" + "\n".join(f"<script>{part}</script>" for part in parts)
    return PAGE.format(library=library, style=(folder / "style.css").read_text(), scripts=scripts)


def of_queue(counted: dict, now: dict) -> dict:
    """A queue's part of a sample, from `counters` and `queues` of the control channel."""
    colours = counted["colours"]
    total = lambda name, what: sum(colour[name][what] for colour in colours)
    return {
        "bytes": now["bytes"],
        "packets": now["packets"],
        "average": now["average"],
        "sojourn_ms": now["sojourn_ns"] / 1e6,
        "probability": now["probability"],
        "sent_bytes": total("sent", "bytes"),
        "marked": sum(total(name, "packets") for name in MARKS),
        "drops": {name: count for name in DROPS if (count := total(name, "packets"))},
    }


def sample(seconds: float, counters: dict, queues: list[dict]) -> dict:
    used = {
        each["index"]: each
        for each in counters["queues"]
        if any(colour["arrived"]["packets"] for colour in each["colours"])
    }
    return {
        "t": round(seconds, 3),
        "lag_ms": counters["real_time"]["lag_ns"] / 1e6,
        "frames": [counters["frames_in"], counters["frames_out"], counters["odd_frames"]],
        "queues": {index: of_queue(each, queues[index]) for index, each in used.items()},
    }


class Samples:
    """What the sampler has seen; `since` gives those from a number on."""

    def __init__(self):
        self.lock, self.kept, self.first, self.ended = threading.Lock(), [], 0, False

    def add(self, one: dict):
        with self.lock:
            self.kept.append(one)
            if len(self.kept) > MOST:
                self.kept.pop(0)
                self.first += 1

    def since(self, number: int) -> dict:
        with self.lock:
            samples = self.kept[max(0, number - self.first) :]
            return {"next": self.first + len(self.kept), "samples": samples, "ended": self.ended}

    def watch(self, control: Path):
        """Samples the device until it is gone."""
        began = time.monotonic()
        try:
            channel = vfio_user.Control(control)
            while True:
                counters, queues = channel.ask("counters"), channel.ask("queues")["queues"]
                self.add(sample(time.monotonic() - began, counters, queues))
                time.sleep(EVERY_S)
        except OSError:
            self.ended = True


class Handler(BaseHTTPRequestHandler):
    server: "Server"

    def do_GET(self):
        # A foreign page cannot read this one: its host's name would be another.
        host = self.headers.get("Host", "").rpartition(":")[0]
        at = urlsplit(self.path)
        if host not in ("127.0.0.1", "localhost"):
            self.send_error(403)
        elif at.path == "/":
            self.give(self.server.page, "text/html; charset=utf-8")
        elif at.path == "/data":
            asked = parse_qs(at.query).get("since", ["0"])[0]
            number = int(asked) if asked.isdecimal() else 0
            self.give(json.dumps(self.server.samples.since(number)), "application/json")
        else:
            self.send_error(404)

    def give(self, text: str, kind: str):
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int):
        self.page, self.samples = page(), Samples()
        try:
            super().__init__(("127.0.0.1", port), Handler)
        except OSError as error:
            raise UserError(f"--port {port}: cannot be listened at: {error.strerror}; 0 takes a free one") from None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def begin(self, control: Path):
        """Serves, and samples the device at `control`, in threads that end with this process."""
        threading.Thread(target=self.serve_forever, daemon=True).start()
        threading.Thread(target=self.samples.watch, args=(control,), daemon=True).start()
