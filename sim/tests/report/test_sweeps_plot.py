"""The plot of a sweep's report: labels of points, the figures beside the cursor, zoom, and which values a label holds."""

from types import SimpleNamespace

import pytest

from support.browser_plots import HOSTILE, Plot, holds, opened, until, width
from vermilion.sweeps import frontiers, results, spec

pytestmark = pytest.mark.usefixtures("own_width")


def write_sweep(page, values):
    """Two grids of points, of p and of a text, for two runs; figures that differ from point to point."""
    grid = {"scheme.red.p": [0.02, 0.1, 0.2], "lane.queue.0.limit": values}
    plot = [{"x": "delay", "y": "loss"}]
    asked = spec.Sweep.model_validate({"title": "A sweep", "base": "p4", "seeds": 2, "grid": grid, "plot": plot})
    places = [(p, text) for p in grid["scheme.red.p"] for text in values]
    rows = [(p, text, run, seed) for p, text in places for run in ("red", "exred") for seed in (1, 2)]
    made = dict(
        zip(["scheme.red.p", "lane.queue.0.limit", "run", "seed"], map(list, zip(*rows, strict=True)), strict=True)
    )
    made["key"] = [str(i) for i in range(len(rows))]
    made["delay"] = [10 * p + values.index(text) + (run == "red") / 5 for p, text, run, _ in rows]
    made["loss"] = [1 / (1 + delay) + seed / 1000 for delay, (*_, seed) in zip(made["delay"], rows, strict=True)]
    plain = [SimpleNamespace(key=key, point=key) for key in made["key"]]
    results.write_report(page, asked, plain, made, {"vermilion": "1"})


@pytest.mark.parametrize("pixels", [400, 1400])
def test_values_are_text_and_no_page_is_wider_than_its_window(browser, tmp_path, pixels):
    write_sweep(tmp_path / "page.html", [*HOSTILE, "40p"])
    width(browser, pixels)
    opened(browser, tmp_path / "page.html")
    holds(browser, HOSTILE, pixels)
    assert any(label.startswith("0.02, </script>") for label in Plot(browser, "frontier-1").labels())


def test_the_points_of_a_sweep_have_the_swept_values_as_labels(browser, tmp_path):
    write_sweep(tmp_path / "page.html", ["20p", "40p"])
    opened(browser, tmp_path / "page.html")
    plot = Plot(browser, "frontier-1")
    groups = plot.data()["groups"]
    assert [group["label"] for group in groups] == ["red", "exred"] and plot.data()["names"] == ["p", "limit"]
    wanted = sorted(f"{p}, {text}" for p in (0.02, 0.1, 0.2) for text in ("20p", "40p"))
    assert all(sorted(point[2] for point in group["points"]) == wanted for group in groups)
    assert sorted(plot.labels()) == sorted(2 * wanted)
    nearest = plot.js("""return [...element.querySelectorAll(".point")].map(each => {
        const [wide, high] = [each.offsetWidth, each.offsetHeight], x = each.offsetLeft, y = each.offsetTop;
        const all = JSON.parse(element.querySelector("script").textContent).groups.flatMap(group => group.points);
        const away = ([px, py]) => {
          const [left, top] = [plot.valToPos(px, "x"), plot.valToPos(py, "y")];
          return Math.hypot(Math.max(x - left, 0, left - x - wide), Math.max(y - top, 0, top - y - high));
        };
        const best = Math.min(...all.map(away));
        return [each.textContent, best, all.filter(point => away(point) < best + 4).map(point => point[2])];
      });""")
    for text, away, texts in nearest:
        assert text in texts and away < 12, text
    x, y, _, text = groups[1]["points"][2]
    left, top = plot.js("return [plot.valToPos(arguments[0], 'x'), plot.valToPos(arguments[1], 'y')]", x, y)
    plot.mouse(left, top).perform()
    tip = plot.js("return element.querySelector('.tip').textContent").split("\n")
    assert tip == ["exred", text, f"delay {x:.9g}", f"loss {y:.9g}"] and text == "p 0.1, limit 20p"
    plot.entry("exred").click()
    until(lambda: sorted(plot.labels()) == wanted)


def test_a_zoom_makes_room_for_more_labels(browser, tmp_path):
    write_sweep(tmp_path / "page.html", [f"{n}p of the limit" for n in range(60)])
    opened(browser, tmp_path / "page.html")
    plot = Plot(browser, "frontier-1")
    whole, first, every = [plot.range("x"), plot.range("y")], set(plot.labels()), 2 * 3 * 60
    assert 10 < len(plot.labels()) < every
    boxes = plot.js("""return [...element.querySelectorAll(".point")].map(each =>
        [each.offsetLeft, each.offsetTop, each.offsetLeft + each.offsetWidth, each.offsetTop + each.offsetHeight])""")
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            across, down = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
            assert across <= 2 or down <= 1, "labels stand on each other"
    plot.drag(40, 200, 150, 80)
    until(lambda: plot.range("x") != whole[0] and plot.range("y") != whole[1])
    until(lambda: set(plot.labels()) - first)
    plot.mouse(100, 30).double_click().perform()
    until(lambda: [plot.range("x"), plot.range("y")] == whole)


def test_labels_name_only_what_varies():
    points = [
        {"a.red.p": p, "a.exred.p": p, "b.max": 5, "lane.0.w": w, "lane.1.w": 1 - w} for p in (1, 2) for w in (0, 1)
    ]
    wanted = {"a.red.p": "p", "lane.0.w": "0.w", "lane.1.w": "1.w"}
    assert frontiers.labelled(points, [*points[0]]) == wanted
    assert frontiers.labelled(points[:1], [*points[0]]) == {}
    assert frontiers.labelled([{"p": 1, "red.p": 1}, {"p": 2, "red.p": 3}], ["p", "red.p"]) == {
        "p": "p",
        "red.p": "red.p",
    }


def test_a_point_without_a_figure_is_left_out():
    plot = spec.Plot(x="x", y="y")
    grouped = [
        ({"p": p, "run": "a"}, {"x": [p], "y": [y]}) for p, y in ((1, 2.0), (2, float("nan")), (3, float("inf")))
    ]
    (group,) = frontiers.data(plot, ["p"], grouped)["groups"]
    assert [point[:2] for point in group["points"]] == [[1, 2.0]]
