// SPDX-License-Identifier: Apache-2.0
// Latency and bandwidth over size, latency over load, and what else there is.
import { h, section, select, toggle, num } from "./dom.js";
import { charts, convert } from "./data.js";
import { Chart } from "./chart.js";
import { picker } from "./picker.js";

const Y_NAMES = {
  time: "latency",
  rate: "bandwidth",
  "flits/cycle": "throughput",
  share: "utilisation",
};
const FIRST = ["size|time", "size|rate", "load|time", "load|cycles"];

function yName(g) {
  return (
    Y_NAMES[g.dim] || (g.dim === "cycles" || g.dim === "cc" || g.dim === "pc" ? "latency" : "value")
  );
}

function title(g) {
  const t = `${yName(g)} over ${g.xKind}`;
  return (
    t[0].toUpperCase() +
    t.slice(1) +
    (Y_NAMES[g.dim] && FIRST.includes(g.key) ? "" : ` [${g.unit || "1"}]`)
  );
}

function spread(g, of) {
  const v = g.curves
    .filter((c) => c.shown)
    .flatMap((c) => c[of])
    .filter((x) => x > 0);
  return v.length ? Math.max(...v) / Math.min(...v) : 1;
}

/** The plot of one group, its list and its switches. */
function figure(g) {
  const state = {
    logX: g.xKind === "size" && spread(g, "x") > 30,
    logY: g.xKind === "size" && spread(g, "y") > 100,
  };
  const marks = g.marks.map((r) => ({
    x: r.x,
    y: convert(r.paper, r.unit, g.unit),
    label: r.id,
    text: `${r.id} published: ${r.scenario}`,
  }));
  const spec = () => ({
    label: title(g),
    xLabel: g.xKind,
    yLabel: yName(g),
    xUnit: g.xUnit,
    unit: g.unit,
    ...state,
    marks,
    curves: g.curves
      .filter((c) => c.shown)
      .map((c) => ({
        title: c.title,
        slot: c.slot,
        x: c.x,
        y: c.y.map((y) => convert(y, c.unit, g.unit)),
        note: c.unit === g.unit ? null : (x) => `${g.unit} (${num(c.y[c.x.indexOf(x)])} ${c.unit})`,
      })),
  });
  const chart = new Chart(spec());
  const again = () => chart.set(spec());
  return h(
    "figure",
    { "data-chart": g.key },
    h(
      "figcaption",
      {},
      h("h3", {}, title(g)),
      h(
        "div",
        { class: "tools" },
        toggle("log x", state.logX, (on) => {
          state.logX = on;
          again();
        }),
        toggle("log y", state.logY, (on) => {
          state.logY = on;
          again();
        }),
        h("button", { type: "button", onclick: () => chart.all() }, "show all"),
      ),
    ),
    h("div", { class: "with-list" }, chart.el, picker(title(g), g.curves, again)),
    marks.length ? h("p", { class: "hint" }, "\u25c7 published number") : null,
  );
}

export function curves(data) {
  const all = charts(data);
  if (!all.length) return null;
  const first = FIRST.map((k) => all.find((g) => g.key === k)).filter(Boolean);
  const rest = all
    .filter((g) => !first.includes(g))
    .sort((a, b) => title(a).localeCompare(title(b)));
  const place = h("div", {});
  const show = (key) =>
    place.replaceChildren(...(key ? [figure(rest.find((g) => g.key === key))] : []));
  return section(
    "curves",
    "Curves",
    ...first.map(figure),
    rest.length
      ? h(
          "div",
          { class: "tools" },
          select(
            first.length ? "Other curves" : "Curves",
            [["", "choose"], ...rest.map((g) => [g.key, `${title(g)}: ${g.curves.length}`])],
            first.length ? "" : rest[0].key,
            show,
          ),
        )
      : null,
    place,
    first.length || !rest.length ? null : (show(rest[0].key), null),
  );
}
