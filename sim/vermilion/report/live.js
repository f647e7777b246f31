// Draws the plots of a report with uPlot: each .live element holds its data as JSON (timeline.py, sweeps/frontiers.py).
// Drag zooms, a double click shows everything again, a legend entry hides its series. The plot object is element.plot, for tests.
"use strict";
(() => {
  const NARROW = 600, REACH = 10; // pixels: of a plot with lower height; from the cursor to a value that the legend shows
  const COLOURS = ["green", "yellow", "red"];
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const inked = ink => ink || style("--ink");
  const number = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
  const digits = v => String(Number(v.toPrecision(9)));
  const short = v => {
    const [size, letter] = [[1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([least]) => Math.abs(v) >= least) || [1, ""];
    return Number((v / size).toPrecision(10)) + letter;
  };
  const font = () => `12px ${getComputedStyle(document.body).fontFamily}`;
  const height = (width, tall) => (width < NARROW ? 240 : 300) * (tall ? 1.3 : 1);

  const axis = (label, values, size) => ({
    label, values, size, font: font(), labelFont: font(), labelSize: 20, labelGap: 0, stroke: () => style("--soft"),
    grid: { stroke: () => style("--line"), width: 1 }, ticks: { stroke: () => style("--line"), width: 1, size: 5 },
  });

  // Calls `draw` with the canvas cut to the plot's inner box; sizes on a canvas are in device pixels.
  function clipped(u, draw) {
    const { left, top, width, height } = u.bbox;
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(left, top, width, height);
    u.ctx.clip();
    draw(u.ctx, devicePixelRatio);
    u.ctx.restore();
  }

  const SHAPES = {
    "^": (c, x, y, r) => { c.moveTo(x - r, y + r); c.lineTo(x, y - r); c.lineTo(x + r, y + r); c.closePath(); },
    "v": (c, x, y, r) => { c.moveTo(x - r, y - r); c.lineTo(x, y + r); c.lineTo(x + r, y - r); c.closePath(); },
    "x": (c, x, y, r) => { c.moveTo(x - r, y - r); c.lineTo(x + r, y + r); c.moveTo(x + r, y - r); c.lineTo(x - r, y + r); },
    "_": (c, x, y, r) => { c.moveTo(x - 1.3 * r, y); c.lineTo(x + 1.3 * r, y); },
    "s": (c, x, y, r) => c.rect(x - r, y - r, 2 * r, 2 * r),
    "D": (c, x, y, r) => { c.moveTo(x, y - 1.3 * r); c.lineTo(x + r, y); c.lineTo(x, y + 1.3 * r); c.lineTo(x - r, y); c.closePath(); },
    "o": (c, x, y, r) => c.arc(x, y, r, 0, 2 * Math.PI),
  };
  const GLYPHS = { "^": "\u25b2", "v": "\u25bc", "x": "\u2715", "_": "\u2014", "s": "\u25a0", "D": "\u25c6" };

  function mark(context, shape, x, y, radius, ink) {
    context.beginPath();
    SHAPES[shape](context, x, y, radius);
    context.strokeStyle = context.fillStyle = ink;
    context.stroke();
    if (!"x_".includes(shape)) context.fill();
  }

  // The index of the value nearest to a time. undefined: another series' time; null: a silence, in which a line has no value.
  function nearest(u, values, near, time, line) {
    const times = u.data[0], side = step => {
      let i = step < 0 ? near : near + 1;
      while (i >= 0 && i < times.length && values[i] === undefined) i += step;
      return i >= 0 && i < times.length && values[i] !== null ? i : null;
    };
    if (times[near] > time && near > 0) near -= 1;
    const found = [side(-1), side(1)], inside = line && !found.includes(null);
    const away = i => (i === null ? Infinity : Math.abs(times[i] - time));
    const best = away(found[0]) <= away(found[1]) ? found[0] : found[1];
    const close = best !== null && Math.abs(u.valToPos(times[best], "x") - u.valToPos(time, "x")) <= REACH;
    return inside || close ? best : null;
  }

  function overTime(data) {
    const own = [...data.lines, ...data.events], levels = data.thresholds;
    const SILENCE = 2; // of uPlot.join: a null reaches to the values on both sides, over the times of other series
    const joined = uPlot.join(own.map(each => [each.t, each.v]), own.map(() => [0, SILENCE]));
    const colours = data.events.map(each => new Map(each.t.map((time, i) => [time, Number(each.c[i])])));
    const span = data.span || 1, pad = span / 100;
    const none = { paths: () => null, points: { show: false } };
    const series = [{ label: `time, ${data.unit}`, value: (u, time) => (time == null ? "--" : digits(time / data.scale)) }];
    for (const line of data.lines)
      series.push({
        label: line.label, stroke: () => inked(line.ink), width: line.ink ? 1.75 : 1, alpha: line.ink ? 1 : 0.55,
        points: { size: 4, fill: () => inked(line.ink), ...(line.t.length < 30 ? { show: true } : {}) },
        value: (u, v) => (v == null ? "--" : number.format(v)),
      });
    data.events.forEach((events, i) => series.push({
      ...none, label: `${GLYPHS[events.shape]} ${events.label}`, class: "glyph", stroke: () => style("--ink"),
      value: (u, v, s, at) => (v == null ? "--" : `${number.format(v)}, ${COLOURS[colours[i].get(u.data[0][at])]}`),
    }));
    if (levels.length) {
      series.push({ ...none, label: "min and max", class: "still", stroke: () => style("--ink"), value: () => "" });
      joined.push(joined[0].map(() => undefined));
    }
    const isEvents = si => si > data.lines.length && si <= own.length;
    const draw = (u, si) => clipped(u, (context, ratio) => {
      if (isEvents(si)) {
        const events = data.events[si - 1 - data.lines.length];
        context.globalAlpha = 0.85;
        context.lineWidth = ratio;
        events.t.forEach((time, i) => {
          const x = u.valToPos(time, "x", true), y = u.valToPos(events.v[i], "y", true);
          mark(context, events.shape, x, y, 2.5 * ratio, data.inks[events.c[i]]);
        });
      } else if (si > own.length) {
        context.setLineDash([ratio, 3 * ratio]);
        context.lineWidth = 1.25 * ratio;
        for (const level of levels) {
          const y = u.valToPos(level.at, "y", true);
          context.strokeStyle = level.ink;
          context.beginPath();
          context.moveTo(u.bbox.left, y);
          context.lineTo(u.bbox.left + u.bbox.width, y);
          context.stroke();
        }
      }
    });
    const whole = [-pad, span + pad], ends = [joined[0][0], joined[0][joined[0].length - 1]];
    return {
      data: joined, series,
      scales: {
        x: { time: false, range: (u, low, high) => (low == null || (low <= ends[0] && high >= ends[1]) ? whole : [low, high]) },
        y: {
          range: (u, low, high) => {
            const shown = levels.length && u.series[own.length + 1].show ? levels.map(level => level.at) : [];
            return [0, 1.05 * Math.max(high || 0, ...shown) || 1];
          },
        },
      },
      axes: [
        axis(`time since the first frame, ${data.unit}`, (u, times) => times.map(time => digits(time / data.scale)), 34),
        axis(data.measure, (u, values) => values.map(short), 48),
      ],
      cursor: {
        drag: { x: true, y: false, dist: 4 }, points: { size: 6 },
        dataIdx: (u, si, near, time) => {
          const at = i => nearest(u, u.data[i], near, time, !isEvents(i));
          return si > 0 ? at(si) : own.some((_, i) => at(i + 1) !== null) ? near : null; // no time where nothing has a value
        },
      },
      legend: {
        markers: {
          width: 2, fill: () => "transparent", dash: (u, si) => (si > own.length ? "dotted" : "solid"),
          stroke: (u, si) => data.lines[si - 1]?.ink || (si > own.length ? "var(--ink)" : "var(--soft)"),
        },
      },
      hooks: { drawSeries: [draw] },
    };
  }
  // Points in two figures, each with the text of its place; `front` are those that no other beats, joined by a line.
  function points(data) {
    const rows = data.groups.flatMap((group, g) => {
      const front = new Set(group.front);
      return group.points.map(([x, y, brief, text], i) => ({ g, x, y, brief, text, front: front.has(i) }));
    });
    rows.sort((a, b) => a.x - b.x);
    const series = [{ label: data.x }];
    for (const group of data.groups)
      series.push({ label: group.label, paths: () => null, points: { show: false }, stroke: () => inked(group.ink), value: () => "" });
    const columns = [rows.map(row => row.x), ...data.groups.map((_, g) => rows.map(row => (row.g === g ? row.y : undefined)))];
    const draw = (u, si) => clipped(u, (context, ratio) => {
      const ink = inked(data.groups[si - 1].ink), at = row => [u.valToPos(row.x, "x", true), u.valToPos(row.y, "y", true)];
      const own = rows.filter(row => row.g === si - 1), front = own.filter(row => row.front);
      context.strokeStyle = ink;
      context.lineWidth = 1.25 * ratio;
      context.beginPath();
      front.forEach(row => context.lineTo(...at(row)));
      context.stroke();
      context.globalAlpha = 0.55;
      own.forEach(row => row.front || mark(context, "o", ...at(row), 2.5 * ratio, ink));
      context.globalAlpha = 1;
      front.forEach(row => mark(context, "o", ...at(row), 3.5 * ratio, ink));
    });
    const wide = part => (u, low, high) => {
      if (low == null) return [0, 1];
      const all = columns.slice(...part).flat().filter(v => v !== undefined);
      if (all.some(v => v < low || v > high)) return [low, high];
      const pad = 0.06 * (high - low || Math.abs(high) || 1);
      return [low - pad, high + pad];
    };
    const tip = document.createElement("div");
    tip.className = "tip";
    const seen = u => rows.filter(row => u.series[row.g + 1].show)
      .map(row => ({ row, left: u.valToPos(row.x, "x"), top: u.valToPos(row.y, "y") }))
      .filter(({ left, top }) => left >= 0 && left <= u.over.clientWidth && top >= 0 && top <= u.over.clientHeight);
    const hover = u => {
      const { left, top } = u.cursor, away = each => Math.hypot(each.left - left, each.top - top);
      const best = left < 0 ? null : seen(u).reduce((a, b) => (a && away(a) <= away(b) ? a : b), null);
      tip.hidden = !best || away(best) > 24;
      if (tip.hidden) return;
      const { row } = best;
      const lines = [data.groups[row.g].label, row.text, `${data.x} ${digits(row.x)}`, `${data.y} ${digits(row.y)}`];
      tip.textContent = lines.filter(Boolean).join("\n");
      const above = Math.max(0, best.top - 12 - tip.offsetHeight), below = best.top + 12;
      tip.style.left = `${Math.max(0, Math.min(best.left + 10, u.over.clientWidth - tip.offsetWidth))}px`;
      tip.style.top = `${below + tip.offsetHeight > u.over.clientHeight ? above : below}px`;
    };
    return {
      data: columns, series,
      scales: { x: { time: false, range: wide([0, 1]) }, y: { range: wide([1]) } },
      axes: [axis(data.xLabel, (u, values) => values.map(short), 34), axis(data.yLabel, (u, values) => values.map(short), 62)],
      cursor: { drag: { x: true, y: true, dist: 4 }, x: false, y: false, points: { show: false } },
      legend: {
        show: data.groups.length <= 24, live: false,
        markers: { width: 2, fill: () => "transparent", stroke: (u, si) => data.groups[si - 1].ink },
      },
      hooks: {
        ready: [u => { tip.hidden = true; u.over.append(tip); }], drawSeries: [draw], setCursor: [hover],
        draw: [u => { labels(u, seen(u)); hover(u); }],
      },
    };
  }

  // Writes texts beside their points, those of the frontier first, where one finds room; more do when the plot is zoomed.
  function labels(u, places) {
    u.over.querySelectorAll(".point").forEach(each => each.remove());
    const measure = document.createElement("canvas").getContext("2d");
    measure.font = font().replace("12px", "11px");
    const taken = places.map(({ left, top }) => [left - 3, top - 3, left + 3, top + 3]).slice(0, 2000);
    const free = box => !taken.some(other => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
    for (const { row, left, top } of [...places].sort((a, b) => b.row.front - a.row.front).slice(0, 2000)) {
      const wide = measure.measureText(row.brief).width + 2, high = 13;
      const across = [left + 6, left - 6 - wide], down = [top - high / 2, top - high - 2, top + 2];
      const tries = down.flatMap(y => across.map(x => [x, y]));
      tries.splice(2, 0, [left - wide / 2, top - high - 5], [left - wide / 2, top + 5]);
      const inside = (x, y) => x >= 0 && y >= 0 && x + wide <= u.over.clientWidth && y + high <= u.over.clientHeight;
      const at = row.brief && tries.find(([x, y]) => inside(x, y) && free([x, y, x + wide, y + high]));
      if (!at) continue;
      taken.push([at[0], at[1], at[0] + wide, at[1] + high]);
      const text = document.createElement("span");
      text.className = "point";
      text.textContent = row.brief;
      text.style.left = `${at[0]}px`;
      text.style.top = `${at[1]}px`;
      u.over.append(text);
    }
  }

  // A legend entry is a button for the keyboard, too.
  function buttons(u) {
    const entries = [...u.root.querySelectorAll(".u-series")].slice(u.legend.live ? 1 : 0);
    const tell = () => entries.forEach((entry, i) => entry.firstChild.setAttribute("aria-pressed", u.series[i + 1].show));
    for (const { firstChild: head } of entries) {
      head.tabIndex = 0;
      head.setAttribute("role", "button");
      head.addEventListener("keydown", event => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        head.click();
      });
    }
    tell();
    u.hooks.setSeries = [...(u.hooks.setSeries || []), tell];
  }

  const drawn = element => {
    const data = JSON.parse(element.querySelector("script").textContent);
    const { data: columns, ...options } = { time: overTime, points }[data.kind](data);
    const size = () => ({ width: Math.max(element.clientWidth, 120), height: height(element.clientWidth, data.kind === "points") });
    const plot = (element.plot = new uPlot({ ...size(), ...options }, columns, element));
    buttons(plot);
    new ResizeObserver(() => size().width !== plot.width && plot.setSize(size())).observe(element);
    return { plot, size };
  };
  // A plot that fails leaves the others; the console has the fault.
  const made = [...document.querySelectorAll(".live")].flatMap(element => {
    try {
      return [drawn(element)];
    } catch (fault) {
      console.error(fault);
      element.append("This plot cannot be drawn.");
      return [];
    }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => made.forEach(({ plot }) => plot.redraw(false, true)));
  const PAPER = { width: 680, height: 260 };
  addEventListener("beforeprint", () => made.forEach(({ plot }) => plot.setSize(PAPER)));
  addEventListener("afterprint", () => made.forEach(({ plot, size }) => plot.setSize(size())));
})();
