// Draws the live page of a sandbox: asks /data for new samples (sandbox_page.py), and has three plots and a table for each queue.
// The plot objects are element.plot, for tests.
"use strict";
(() => {
  const EVERY_MS = 500, SHOWN_S = 120; // of the newest samples
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const INKS = { whole: "#4477aa", green: "#228833", yellow: "#ccbb44", red: "#ee6677" };
  const NAMES = {
    early: "early", forced: "forced", tail: "tail", departure_dropped: "dropped at departure", policed: "policed", evicted: "evicted",
    nobuf: "no buffer", bad: "bad",
  };
  const number = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
  const queues = new Map(), samples = [];
  let next = 0;

  function element(kind, text, parent, className) {
    const made = document.createElement(kind);
    made.textContent = text;
    if (className) made.className = className;
    parent.append(made);
    return made;
  }

  const axis = label => ({
    label, stroke: () => style("--soft"), labelSize: 20, size: 65, grid: { stroke: () => style("--line"), width: 1 },
    ticks: { stroke: () => style("--line"), width: 1, size: 5 },
  });
  const line = (label, ink, scale) => ({
    label, stroke: ink, width: 1.5, points: { show: false }, scale, value: (_, v) => (v == null ? "--" : number.format(v)),
  });

  function plot(parent, title, label, series, second) {
    const box = element("div", "", parent, "live");
    const axes = [{ ...axis("time, s"), size: 45 }, { ...axis(label), scale: "y" }];
    if (second) axes.push({ ...axis(second), scale: "second", side: 1, grid: { show: false } });
    const zero = (_, low, high) => [0, Math.max(high * 1.05, 1e-9)];
    box.plot = new uPlot({
      title, width: Math.min(parent.clientWidth, 1000), height: 240, axes, series: [{ label: "time, s" }, ...series],
      scales: { x: { time: false }, y: { range: zero }, second: { range: zero } },
    }, [[], ...series.map(() => [])], box);
    return box.plot;
  }

  function queue(index) {
    const part = element("section", "", document.getElementById("queues"));
    part.id = `queue-${index}`;
    element("h2", `Queue ${index}`, part);
    const made = {
      backlog: plot(part, "Backlog and average", "bytes", [
        line("backlog", INKS.whole, "y"), line("average, green", INKS.green, "y"), line("average, yellow", INKS.yellow, "y"),
        line("average, red", INKS.red, "y"),
      ]),
      rate: plot(part, "Rate and marks", "Mbit/s", [line("sent", INKS.whole, "y"), line("marks", INKS.red, "second")], "marks per s"),
      sojourn: plot(part, "Sojourn time of the last packet", "ms", [line("sojourn time", INKS.whole, "y")]),
    };
    const table = element("table", "", element("div", "", part, "wide"));
    made.cells = {};
    for (const name of ["sent_bytes", "marked", ...Object.keys(NAMES)]) {
      const row = element("tr", "", table);
      element("th", { sent_bytes: "sent, bytes", marked: "marked" }[name] || `lost: ${NAMES[name]}`, row);
      made.cells[name] = element("td", "0", row, "number");
      made.cells[name].id = `queue-${index}-${name}`;
    }
    queues.set(index, made);
    return made;
  }

  // Per second, from one sample to the next; a reset of the lane gives 0.
  const rates = (list, value) => list.map((each, i) => {
    if (i === 0 || !list[i - 1].q || !each.q) return null;
    return Math.max(0, value(each.q) - value(list[i - 1].q)) / (each.t - list[i - 1].t);
  });

  function draw() {
    const last = samples[samples.length - 1];
    const found = samples.filter(each => each.t >= last.t - SHOWN_S);
    for (const index of Object.keys(last.queues)) {
      const made = queues.get(index) || queue(index);
      const list = found.map(each => ({ t: each.t, q: each.queues[index] }));
      const times = list.map(each => each.t), own = value => list.map(each => (each.q ? value(each.q) : null));
      // A colour without packets has no line.
      const average = c => own(q => (found.some(each => each.queues[index]?.average[c]) ? q.average[c] : null));
      made.backlog.setData([times, own(q => q.bytes), ...[0, 1, 2].map(average)]);
      made.rate.setData([times, rates(list, q => q.sent_bytes * 8e-6), rates(list, q => q.marked)]);
      made.sojourn.setData([times, own(q => q.sojourn_ms)]);
      const now = last.queues[index];
      for (const [name, cell] of Object.entries(made.cells))
        cell.textContent = (name in NAMES ? now.drops[name] || 0 : now[name]).toLocaleString("en-US");
    }
  }

  function tell(ended) {
    const last = samples[samples.length - 1];
    const [into, out, lost] = last.frames;
    const text = `${into.toLocaleString("en-US")} frames in, ${out.toLocaleString("en-US")} out, ${lost} not taken by the receiver; ` +
      `lane time lags the wall clock by ${number.format(last.lag_ms)} ms`;
    document.getElementById("state").textContent = ended ? `the card is gone; last: ${text}` : text;
  }

  async function ask() {
    let ended = false;
    try {
      const got = await (await fetch(`data?since=${next}`)).json();
      next = got.next;
      ended = got.ended;
      samples.push(...got.samples);
      samples.splice(0, samples.length - 2400);
      if (got.samples.length) draw();
      if (samples.length) tell(ended);
    } catch (error) {
      document.getElementById("state").textContent = "the sandbox has ended";
      return;
    }
    if (!ended) setTimeout(ask, EVERY_MS);
  }
  ask();
})();
