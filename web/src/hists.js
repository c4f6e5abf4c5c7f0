// SPDX-License-Identifier: Apache-2.0
// Distributions: density of each bin, and the exact figures below.
import { h, section, num, toggle } from "./dom.js";
import { Chart } from "./chart.js";
import { picker } from "./picker.js";

/** Bins are 1 wide below 128 (scaled), then 64 to the octave. */
export function binWidth(lo, perUnit) {
  const u = Math.round(lo * perUnit);
  return (u < 128 ? 1 : 2 ** (Math.floor(Math.log2(u)) - 6)) / perUnit;
}

/** A width for all of them: no finer than any has, and about 120 in all. */
export function commonWidth(items) {
  let lo = Infinity,
    hi = -Infinity,
    w = 0,
    per = 1;
  for (const { g, st } of items) {
    per = st ? st.per_unit : 1;
    const end = g.lo[g.lo.length - 1];
    w = Math.max(w, binWidth(end, per));
    lo = Math.min(lo, g.lo[0]);
    hi = Math.max(hi, end);
  }
  return Math.ceil(Math.max(w, (hi - lo) / 120) * per - 1e-9) / per;
}

/** Bins gathered to width w, as steps: left edges and shares. */
export function steps(g, st, w) {
  const per = st ? st.per_unit : 1,
    total = g.n.reduce((a, b) => a + b, 0);
  const last = g.lo.length - 1,
    from = Math.floor(g.lo[0] / w + 1e-9) * w,
    to = g.lo[last] + binWidth(g.lo[last], per);
  const n = Math.max(1, Math.ceil((to - from) / w - 1e-9)),
    sum = new Array(n + 1).fill(0);
  g.lo.forEach((lo, i) => {
    sum[Math.min(n - 1, Math.floor((lo - from) / w + 1e-9))] += g.n[i];
  });
  return { x: sum.map((_, i) => from + i * w), y: sum.map((v) => (100 * v) / total) };
}

const COLUMNS = [
  ["count", "count"],
  ["mean", "mean"],
  ["min", "min"],
  ["p50", "median"],
  ["p90", "90 %"],
  ["p99", "99 %"],
  ["p999", "99.9 %"],
  ["max", "max"],
];

function statsTable(items) {
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "data" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "histogram"),
          COLUMNS.map(([, t]) => h("th", { scope: "col", class: "num" }, t)),
          h("th", { scope: "col" }, "unit"),
        ),
      ),
      h(
        "tbody",
        {},
        items.map((it) =>
          h(
            "tr",
            { "data-hist": it.g.name },
            h("th", { scope: "row" }, it.title),
            COLUMNS.map(([k]) => h("td", { class: "num" }, it.st ? num(it.st[k]) : "")),
            h("td", {}, it.g.unit),
          ),
        ),
      ),
    ),
  );
}

export function histograms(data) {
  const items = data.runs.flatMap((run) =>
    run.histograms
      .filter((g) => g.lo.length)
      .map((g) => ({ run, g, st: run.stats[g.name], title: `${run.title}  ${g.name}` })),
  );
  if (!items.length) return null;
  const spans = (it) => it.st && it.st.max > it.st.min;
  const start = items.filter(spans).sort((a, b) => b.g.lo.length - a.g.lo.length)[0] || items[0];
  items.sort((a, b) => (b.run === start.run) - (a.run === start.run));
  items.forEach((it, i) => {
    it.slot = i;
    it.shown =
      it === start ||
      (it.run === start.run &&
        it.g.unit === start.g.unit &&
        i < 4 &&
        it.g.name.split(".").pop() === start.g.name.split(".").pop());
  });
  const state = { logX: false };
  const chosen = () => {
    const on = items.filter((it) => it.shown),
      unit = on.length ? on[0].g.unit : "";
    return on.filter((it) => it.g.unit === unit);
  };
  const spec = () => {
    const on = chosen(),
      unit = on.length ? on[0].g.unit : "",
      w = commonWidth(on);
    return {
      label: "Histograms",
      xLabel: "value",
      yLabel: "share per bin",
      xUnit: unit,
      unit: "%",
      bars: true,
      ...state,
      curves: on.map((it) => {
        const s = steps(it.g, it.st, w);
        return {
          title: it.title,
          slot: it.slot,
          x: s.x,
          y: s.y,
          note: () => `% in ${num(w)} ${unit}`,
        };
      }),
    };
  };
  const chart = new Chart(spec()),
    table = h("div", {}, statsTable(chosen()));
  const again = () => {
    chart.set(spec());
    table.replaceChildren(statsTable(chosen()));
  };
  return section(
    "histograms",
    "Histograms",
    h(
      "figure",
      { "data-chart": "histograms" },
      h(
        "figcaption",
        {},
        h("h3", {}, "Distribution"),
        h(
          "div",
          { class: "tools" },
          toggle("log x", false, (on) => {
            state.logX = on;
            again();
          }),
          h("button", { type: "button", onclick: () => chart.all() }, "show all"),
        ),
      ),
      h("div", { class: "with-list" }, chart.el, picker("Histograms", items, again)),
    ),
    table,
  );
}
