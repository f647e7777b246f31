"""The sandbox's live page in a browser, beside a device in real time: what it shows is what the device counts."""

import json
import socket
import tempfile
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest

from support.browser_plots import until
from support.devices import running
from support.headers import MACS
from vermilion.configuration import config
from vermilion.profile import quantise
from vermilion.report.sandbox_page import Samples, Server
from vermilion.values.fields import UserError

pytestmark = pytest.mark.slow

FRAMES = 60
QUEUE = {"name": "all", "default": True, "limit": "20KB"}


@pytest.fixture(scope="module")
def card(device_program):
    """A device whose slow port has dropped some of the frames, and holds others; its page."""
    record = quantise.hardware(config.parse({"port": {"rate": "64kbit"}, "queue": [QUEUE]}))
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as source:
        with open(f"{folder}/words", "w") as handle:
            json.dump(record, handle)
        options = ("--real-time", "--frames-from", f"{folder}/in", "--config-words", f"{folder}/words")
        with running(device_program, *options) as device, Server(0) as server:
            source.connect(f"{folder}/in")
            for _ in range(FRAMES):
                source.send(MACS + b"\x08\x06" + bytes(986))
            server.begin(device.control)
            yield device, server
            server.shutdown()


def test_the_page_shows_what_the_device_counts(card, browser):
    device, server = card
    control = device.channel()
    browser.get(server.address)
    number = lambda name: int(
        browser.execute_script(
            "return (document.getElementById(arguments[0]) || {textContent: '0'}).textContent", f"queue-0-{name}"
        ).replace(",", "")
    )
    until(lambda: number("sent_bytes") >= 1000 and number("tail") > 0)
    counters = control.ask("counters")
    (counted,) = [each for each in counters["queues"] if each["index"] == 0]
    tail = sum(colour["tail"]["packets"] for colour in counted["colours"])
    assert tail > 20 and number("tail") == tail and number("early") == 0
    # The bytes in the queue, drawn: whole frames, at most the limit and a frame. It drains by 8 KB a second.
    backlog = "return document.querySelector('#queue-0 .live').plot.data[1].filter(each => each !== null)"
    drawn = browser.execute_script(backlog)
    assert max(drawn) > 5_000 and all(each <= 21_000 and each % 1000 == 0 for each in drawn)
    state = browser.execute_script("return document.getElementById('state').textContent")
    assert f"{FRAMES} frames in" in state and "lags the wall clock by" in state
    assert len(browser.find_elements("css selector", "#queues section")) == 1, "queues without packets are not shown"
    assert browser.get_log("browser") == []


def test_the_page_tells_that_the_card_is_gone(device_program, browser):
    with running(device_program, "--real-time") as device, Server(0) as server:
        server.begin(device.control)
        until(lambda: server.samples.since(0)["samples"])
        browser.get(server.address)
        state = lambda: browser.execute_script("return document.getElementById('state').textContent")
        until(lambda: "0 frames in" in state())
        device.process.kill()
        until(lambda: state().startswith("the card is gone"))
        server.shutdown()


def test_the_server_answers_this_machine_alone(card):
    _, server = card
    assert server.server_address[0] == "127.0.0.1"
    for path, host, status in (("/none", None, 404), ("/data?since=x", None, 200), ("/", "example.org:80", 403)):
        asked = urllib.request.Request(server.address + path.lstrip("/"), headers={"Host": host} if host else {})
        try:
            with urllib.request.urlopen(asked) as reply:
                assert reply.status == status
                assert "connect-src 'self'" in reply.headers["Content-Security-Policy"]
        except urllib.error.HTTPError as error:
            assert error.code == status


def test_a_port_that_is_taken_is_refused(card):
    port = urlsplit(card[1].address).port
    with pytest.raises(UserError, match=f"--port {port}: cannot be listened at: Address already in use"):
        Server(port)


def test_old_samples_go_and_numbers_stay():
    samples = Samples()
    for number in range(1300):
        samples.add({"t": number})
    got = samples.since(1290)
    assert got["next"] == 1300 and [each["t"] for each in got["samples"]] == list(range(1290, 1300))
    assert [each["t"] for each in samples.since(0)["samples"]] == list(range(100, 1300))
    assert samples.since(5000)["samples"] == []
