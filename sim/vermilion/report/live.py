"""Plots that the browser draws: data as JSON in the page, uPlot and live.js once at its end.

`./vermilion` fetches uPlot, a WebJar (a ZIP file), into `.vermilion/uplot.jar`; the script of that name pins version and SHA-256.
"""

import functools
import json
import zipfile
from html import escape
from pathlib import Path

from vermilion.toolchain import build
from vermilion.values.fields import UserError

JAR = build.UPLOT
FILES = ("dist/uPlot.iife.min.js", "dist/uPlot.min.css", "LICENSE")
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"  # no request leaves the page


@functools.cache
def library() -> tuple[str, str, str]:
    """uPlot's script, its style sheet and its licence."""
    try:
        with zipfile.ZipFile(JAR) as jar:
            names = [
                [n for n in jar.namelist() if n.startswith("META-INF/resources/") and n.endswith(f)] for f in FILES
            ]
            first, second, third = (jar.read(only).decode() for (only,) in names)
            return first, second, third
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        if build.INSTALLED:
            raise UserError(
                "--report: this installation has no plots, as ./vermilion had not run where it was built"
            ) from None
        raise build.BuildError(
            f"{JAR} is no package of uPlot ({error}); delete .vermilion/ready and start ./vermilion"
        ) from None


def as_json(data) -> str:
    """JSON that is safe inside a <script> element, whatever its texts hold."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def plot(name: str, label: str, data: dict) -> str:
    return (
        f'<div class="live" id="{name}" role="img" aria-label="{escape(label, quote=True)}">'
        f'<script type="application/json">{as_json(data)}</script></div>'
        "<noscript><p>A browser draws this plot by JavaScript, which is switched off.</p></noscript>"
    )


def styles() -> str:
    return f"<style>{library()[1]}</style>"


def scripts() -> str:
    """The end of a page with plots: licence, library, our script."""
    script, _, licence = library()
    own = Path(__file__).with_name("live.js").read_text()
    notice = f"<details><summary>uPlot draws the plots; its licence</summary><pre>{escape(licence)}</pre></details>"
    parts = (text.replace("</script", "<\\/script") for text in (script, own))
    return f"<footer>{notice}</footer>\n" + "\n".join(f"<script>{part}</script>" for part in parts)
