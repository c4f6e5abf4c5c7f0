// SPDX-License-Identifier: Apache-2.0
// Topology with a time slider, the selected link, links and queues over time.
import { h, section, num, percent, plural, toggle } from "./dom.js";
import { Chart } from "./chart.js";
import { Heat } from "./heat.js";
import { picker } from "./picker.js";
import { Topology } from "./topo.js";
import { layout } from "./layout.js";
import { Load, span } from "./load.js";
import { ramp, onTheme } from "./theme.js";

function gradient(name) {
  return h("span", {
    class: "bar",
    style: `background: linear-gradient(to right, ${ramp(name)
      .filter((_, i) => i % 9 === 0)
      .join(",")})`,
  });
}

function legend(load, full) {
  return [
    h("span", {}, "half-links: time in use, 0", gradient("busy"), percent(full, full < 1 ? 1 : 0)),
    load.blocked
      ? h("span", {}, "ports: time blocked by the far end, 0", gradient("press"), "100 %")
      : Object.keys(load.most).map((u) =>
          h("span", {}, `ports: ${u} waiting, 0`, gradient("press"), num(load.most[u])),
        ),
  ].flat();
}

/** Lines about one port: name, share, level. */
function facts(load, p, i) {
  const out = [["in use", percent(load.share(p, "busy", i))]];
  if (p.blocked) out.push(["blocked", percent(load.share(p, "blocked", i))]);
  if (p.queued)
    out.push([i < 0 ? "queued, mean" : "queued", `${num(load.queued(p, i), 4)} ${p.queue_unit}`]);
  return out;
}

function sideOf(load, what, i) {
  if (!what)
    return [
      h(
        "p",
        { class: "hint" },
        "Select a link or a node for its counters. Each half of a link is the direction that leaves the node beside it.",
      ),
    ];
  const ports = what.node ? [what, what.far].filter(Boolean) : what.ports;
  const shown = ports.slice(0, 12);
  const near = (name) => load.run.counters.filter(([n]) => n.startsWith(name + "."));
  const title = what.node ? `${what.name} \u2194 ${what.peer}` : what.label || what.name;
  return [
    h("h3", {}, title),
    ...shown.map((p) =>
      h(
        "div",
        { "data-port": p.name },
        h(
          "h4",
          {},
          p.far || p.peer ? `${p.name} \u2192 ${p.peer}` : `${p.name}, ${plural(p.n, "port")}`,
        ),
        h(
          "table",
          { class: "data" },
          h(
            "tbody",
            {},
            facts(load, p, i).map(([k, v]) =>
              h("tr", {}, h("th", { scope: "row" }, k), h("td", { class: "num" }, v)),
            ),
            p.far
              ? near(p.name).map(([n, u, v]) =>
                  h(
                    "tr",
                    { "data-counter": n },
                    h("th", { scope: "row" }, n.slice(p.name.length + 1)),
                    h("td", { class: "num" }, `${num(v)} ${u}`),
                  ),
                )
              : [],
          ),
        ),
      ),
    ),
    ports.length > shown.length
      ? h("p", { class: "hint" }, `and ${plural(ports.length - shown.length, "port")} more`)
      : null,
  ];
}

/** A plot of one quantity of many ports over time. */
function overTime(load, what, label, unit, value) {
  const items = load.run.ports
    .filter((p) => p[what])
    .map((p) => ({
      p,
      title: p.peer ? `${p.name} \u2192 ${p.peer}` : p.name,
      sum: p[what].reduce((a, b) => a + b, 0),
    }))
    .filter((it) => it.sum > 0)
    .sort((a, b) => b.sum - a.sum);
  if (!items.length || load.end.length < 2) return null;
  items.forEach((it, i) => {
    it.slot = i;
    it.shown = i < 6;
  });
  const spec = () => ({
    label,
    xLabel: "time",
    yLabel: label,
    xUnit: "us",
    unit,
    stepped: true,
    curves: items
      .filter((it) => it.shown)
      .map((it) => ({
        title: it.title,
        slot: it.slot,
        x: [0, ...load.end],
        y: [0, ...load.end.keys()].map((i, k) => value(it.p, k ? i : 0)),
      })),
  });
  const chart = new Chart(spec(), 260);
  return h(
    "figure",
    { "data-chart": what },
    h(
      "figcaption",
      {},
      h("h3", {}, `${label} over time`),
      h(
        "div",
        { class: "tools" },
        h("button", { type: "button", onclick: () => chart.all() }, "show all"),
      ),
    ),
    h(
      "div",
      { class: "with-list" },
      chart.el,
      picker(label, items, () => chart.set(spec())),
    ),
  );
}

function plots(load) {
  return [
    overTime(load, "busy", "Link utilisation", "%", (p, i) => 100 * load.share(p, "busy", i)),
    overTime(
      load,
      "queued",
      "Queue level",
      Object.keys(load.most).join(", "),
      (p, i) => p.queued[i],
    ),
    overTime(load, "blocked", "Back-pressure", "%", (p, i) => 100 * load.share(p, "blocked", i)),
  ].filter(Boolean);
}

/** Where one would look first. */
function busiest(list) {
  const use = (w) =>
    (w.node ? [w] : w.ports).reduce((a, p) => a + p.busy.reduce((x, y) => x + y, 0) / p.n, 0);
  return list.reduce((a, b) => (use(b) > use(a) ? b : a));
}

export function network(data, current) {
  if (!data.runs.some((r) => r.ports.length)) return null;
  let load,
    at = -1,
    chosen = null,
    timer = null,
    stretch = false,
    full = 1,
    grouped = null;
  const side = h("div", { class: "net-side", "aria-live": "polite" }),
    legends = h("div", { class: "legend" }),
    below = h("div", {});
  const none = h(
    "p",
    { class: "hint", hidden: true },
    "This run has no cabled ports, or its file was written before they were recorded.",
  );
  const topo = new Topology({
    value: (p) => (load.share(p, "busy", at) || 0) / full,
    pressure: (p) => load.pressure(p, at),
    describe: (w) =>
      w.node
        ? [`${w.name} \u2192 ${w.peer}`, ...facts(load, w, at).map((f) => f.join(" "))]
        : [w.label || w.name, w.kind, plural(w.ports.length, "port")],
    pick: (w) => {
      chosen = w;
      show();
    },
  });
  const heat = new Heat((p) => topo.select(topo.halves.find((q) => q.name === p.name) || null));
  const slider = h("input", {
    type: "range",
    min: 0,
    value: 0,
    "aria-label": "Time",
    oninput: () => {
      at = Number(slider.value) - 1;
      moved();
    },
  });
  const when = h("output", {});
  const show = () => side.replaceChildren(...sideOf(load, chosen, at).filter(Boolean));
  const scale = () => {
    full = stretch ? Math.max(1e-3, ...load.run.ports.map((p) => load.share(p, "busy", at))) : 1;
    legends.replaceChildren(
      ...legend(load, full),
      grouped
        ? h("span", {}, `each square: the mean of ${grouped.reduce((a, b) => a * b, 1)} switches`)
        : "",
    );
  };
  const moved = () => {
    scale();
    when.textContent = span(load, at);
    slider.setAttribute("aria-valuetext", when.textContent);
    topo.draw();
    show();
  };
  const play = h(
    "button",
    {
      type: "button",
      onclick: () => {
        if (timer) stop();
        else go();
      },
    },
    "play",
  );
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "play";
  };
  const go = () => {
    play.textContent = "stop";
    timer = setInterval(() => {
      at = at + 1 >= load.end.length ? 0 : at + 1;
      slider.value = at + 1;
      moved();
    }, 120);
  };
  const picture = h(
    "div",
    {},
    topo.el,
    h(
      "div",
      { class: "time" },
      play,
      slider,
      when,
      toggle("scale to busiest", false, (on) => {
        stretch = on;
        moved();
      }),
      topo.buttons,
    ),
    legends,
  );
  const frame = h("div", { class: "net" }, picture, side);
  const fill = () => {
    const { run } = current;
    stop();
    none.hidden = run.ports.length > 0;
    frame.hidden = below.hidden = !run.ports.length;
    if (!run.ports.length) return;
    load = new Load(run);
    at = -1;
    chosen = null;
    slider.max = load.end.length;
    slider.value = 0;
    const g = layout(run);
    grouped = g.by;
    topo.set(g);
    heat.set(load, run.ports);
    below.replaceChildren(heat.el, ...plots(load));
    topo.select(busiest(topo.halves.length ? topo.halves : topo.nodes));
    moved();
  };
  current.listen(fill);
  onTheme(frame, () => load && scale());
  return section(
    "network",
    "Network",
    h("div", { class: "tools" }, current.select("Run")),
    none,
    frame,
    below,
  );
}
