"""For tests of plots that a browser draws: one plot of the page that is open, and names that would be markup."""

import json
import re
import time

SCRIPT = "</script><script>document.title = 'broken'</script><img src=x onerror=\"document.title = 'broken'\">"
HOSTILE = [SCRIPT, "[red]🦊 <!-- $x$ & 'q' \"d\" " + "n" * 5000, "u\u202ey\u2028line ]]>"]


def width(browser, pixels):
    size = {"width": pixels, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


class Plot:
    """One plot of the page that is open."""

    def __init__(self, browser, name):
        self.browser, self.name = browser, name
        self.js("element.scrollIntoView({block: 'center'})")
        self.over = self.js("return element.querySelector('.u-over')")

    def js(self, code, *arguments):
        head = f"const element = document.getElementById({json.dumps(self.name)}), plot = element.plot;"
        return self.browser.execute_script(head + code, *arguments)

    def data(self):
        return json.loads(self.js("return element.querySelector('script').textContent"))

    def range(self, axis="x"):
        return self.js("return [plot.scales[arguments[0]].min, plot.scales[arguments[0]].max]", axis)

    def mouse(self, x, y):
        """Actions that begin at a place in the plot's inner box, in pixels from its left upper corner."""
        from selenium.webdriver import ActionChains

        wide, high = self.js("return [plot.over.clientWidth, plot.over.clientHeight]")
        moved = ActionChains(self.browser, duration=20)
        return moved.move_to_element_with_offset(self.over, round(x - wide / 2), round(y - high / 2))

    def drag(self, x, y, right, down=0):
        self.mouse(x, y).click_and_hold().move_by_offset(right, down).release().perform()

    def legend(self):
        pairs = self.js("""return [...element.querySelectorAll(".u-series")].map(row =>
            [row.querySelector(".u-label").textContent, row.querySelector(".u-value").textContent])""")
        return {re.sub(r"^[▲▼✕—■◆] ", "", label): value for label, value in pairs}

    def entry(self, label):
        return self.js(
            """return [...element.querySelectorAll(".u-series th")].find(
              head => head.querySelector(".u-label").textContent.endsWith(arguments[0]))""",
            label,
        )

    def painted(self, ink):
        """How many pixels of the canvas have a colour, given as #rrggbb."""
        return self.js(
            """const [r, g, b] = arguments[0].match(/\\w\\w/g).map(hex => parseInt(hex, 16));
            const canvas = element.querySelector("canvas");
            const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            let count = 0;
            for (let i = 0; i < all.length; i += 4)
              count += Math.abs(all[i] - r) + Math.abs(all[i + 1] - g) + Math.abs(all[i + 2] - b) < 30 && all[i + 3] > 128;
            return count;""",
            ink,
        )

    def labels(self):
        return self.js("return [...element.querySelectorAll('.point')].map(each => each.textContent)")


def until(check):
    """Waits for what the browser does in its next frames."""
    end = time.monotonic() + 5
    while not check() and time.monotonic() < end:
        time.sleep(0.02)
    assert check()


def holds(browser, names, pixels):
    """The open page shows the names as text, and is no wider than its window, as none of its plots is."""
    seen, title, foreign = browser.execute_script("""return [document.body.textContent, document.title,
        document.querySelectorAll("main img, main b, main script:not([type])").length]""")
    assert all(text in seen for text in names) and title != "broken" and foreign == 0
    assert browser.execute_script("return document.documentElement.scrollWidth") <= pixels
    plots = browser.execute_script("""return [...document.querySelectorAll(".live")].map(each =>
        [each.clientWidth, each.scrollWidth, each.querySelector("canvas").getBoundingClientRect().width])""")
    assert plots and all(inner == outer == canvas > 300 for inner, outer, canvas in plots)


def opened(browser, page) -> list[dict]:
    """Every plot as the browser drew it; fails on messages in the console and on requests beyond the page."""
    browser.get_log("performance"), browser.get_log("browser")
    browser.get(page.as_uri())
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    asked = [
        a["request"]["url"] for a in asked if a["documentURL"] == page.as_uri()
    ]  # not the browser's own first page
    assert {url for url in asked if not url.startswith("data:")} == {page.as_uri()}
    return browser.execute_script("""
        return [...document.querySelectorAll("figure svg")].map(svg => {
          const box = svg.getBoundingClientRect();
          const drawn = [...svg.querySelectorAll("path, use")].filter(p => !p.closest("defs, clipPath"));
          const seen = drawn.map(p => p.getBoundingClientRect()).filter(b => b.width + b.height > 0);
          const inside = seen.filter(b => b.left >= box.left - 2 && b.right <= box.right + 2);
          const texts = [...svg.querySelectorAll("text")].map(t => t.textContent);
          return {name: svg.id, width: box.width, height: box.height, paths: seen.length, inside: inside.length, texts};
        });""")
