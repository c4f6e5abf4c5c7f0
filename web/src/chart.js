// SPDX-License-Identifier: Apache-2.0
// One plot: curves, marks, a box that says what is under the cursor, keys.
import uPlot from "uplot";
import { h, num } from "./dom.js";
import { axis, drawMarks, range, usable } from "./axes.js";
import { seriesColour, seriesDash, onTheme, printing } from "./theme.js";

const REACH = 28; // pixels to the next point
const PAPER = 660; // pixels across a printed page

export class Chart {
  /** spec: label, xLabel, yLabel, xUnit, unit, logX, logY, stepped, bars,
   *  curves [{title, x, y, slot, note(i)}], marks [{x, y, label, text}]. */
  constructor(spec, height = 340) {
    this.tip = h("div", { class: "tip", hidden: true });
    this.box = h("div", {
      class: "plot",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "plot",
      onkeydown: (e) => this.key(e),
      onblur: () => this.away(),
    });
    this.empty = h("p", { class: "nothing", hidden: true }, "Nothing is selected.");
    this.el = h("div", { class: "plot-frame" }, this.box, this.tip, this.empty);
    this.height = height;
    this.set(spec);
    onTheme(this.el, () => {
      this.fit();
      if (this.u) this.u.redraw(false, true);
    });
    new ResizeObserver(() => this.fit()).observe(this.el);
  }

  set(spec) {
    this.spec = spec;
    this.curves = usable(spec);
    this.marks = (spec.marks || []).filter(
      (m) => (!spec.logX || m.x > 0) && (!spec.logY || m.y > 0),
    );
    if (this.u) this.u.destroy();
    this.u = null;
    this.empty.hidden = this.curves.length > 0;
    this.box.hidden = !this.curves.length;
    this.box.setAttribute(
      "aria-label",
      `${spec.label}: ${this.curves.map((c) => c.title).join(", ")}. ` +
        "Arrow keys move the cursor, plus and minus zoom, 0 shows everything.",
    );
    if (this.curves.length && this.el.clientWidth) this.make();
  }

  make() {
    const { spec } = this,
      base = spec.xUnit === "B" ? 2 : 10;
    const data =
      this.curves.length > 1
        ? uPlot.join(this.curves.map((c) => [c.x, c.y]))
        : [this.curves[0].x, this.curves[0].y];
    const path = spec.bars
      ? uPlot.paths.stepped({ align: 1 })
      : spec.stepped
        ? uPlot.paths.stepped({ align: -1 })
        : undefined;
    this.u = new uPlot(
      {
        width: this.el.clientWidth,
        height: this.height,
        legend: { show: false },
        cursor: { drag: { x: true, y: true, uni: 24 }, points: { size: 7 } },
        scales: {
          x: {
            time: false,
            distr: spec.logX ? 3 : 1,
            log: base,
            range: range(spec.logX && base, this.marks, "x"),
          },
          y: { distr: spec.logY ? 3 : 1, range: range(spec.logY && 10, this.marks, "y") },
        },
        axes: [
          axis(spec.xLabel, spec.xUnit, spec.logX, "x"),
          axis(spec.yLabel, spec.unit, spec.logY, "y"),
        ],
        series: [
          {},
          ...this.curves.map((c) => ({
            label: c.title,
            stroke: () => seriesColour(c.slot),
            width: 1.75,
            dash: seriesDash(c.slot),
            spanGaps: true,
            paths: path,
            fill: spec.bars ? () => seriesColour(c.slot) + "22" : undefined,
            points: {
              show: !spec.bars && !spec.stepped && c.x.length <= 40,
              size: 5,
              fill: () => seriesColour(c.slot),
            },
          })),
        ],
        hooks: {
          draw: [(u) => drawMarks(u, this.marks)],
          setCursor: [(u) => this.point(u)],
          setScale: [
            (u) => {
              if (u.scales.x.min !== null)
                Object.assign(this.box.dataset, { xMin: u.scales.x.min, xMax: u.scales.x.max });
            },
          ],
        },
      },
      data,
      this.box,
    );
    this.u.over.addEventListener("mouseleave", () => this.away());
  }

  fit() {
    const width = printing ? PAPER : this.el.clientWidth;
    if (!width) return;
    if (!this.u && this.curves.length) this.make();
    else if (this.u && this.u.width !== width)
      this.u.setSize({ width, height: printing ? 250 : this.height });
  }

  away() {
    this.tip.hidden = true;
  }

  /** Lines of the box: the point of each curve next to the cursor. */
  near(u, left, top) {
    const lines = [];
    for (const m of this.marks) {
      if (Math.hypot(u.valToPos(m.x, "x") - left, u.valToPos(m.y, "y") - top) < 14)
        lines.push({ mark: m });
    }
    const x = u.posToVal(left, "x");
    this.curves.forEach((c) => {
      let best = 0,
        lo = 0,
        hi = c.x.length - 1;
      while (hi - lo > 1) {
        const mid = (lo + hi) >> 1;
        if (c.x[mid] < x) lo = mid;
        else hi = mid;
      }
      best =
        Math.abs(u.valToPos(c.x[lo], "x") - left) < Math.abs(u.valToPos(c.x[hi], "x") - left)
          ? lo
          : hi;
      if (this.spec.bars || this.spec.stepped)
        best = this.spec.bars ? (c.x[hi] <= x ? hi : lo) : c.x[lo] >= x ? lo : hi;
      else if (Math.abs(u.valToPos(c.x[best], "x") - left) > REACH) return;
      lines.push({ curve: c, i: best });
    });
    return lines;
  }

  point(u) {
    const { left, top } = u.cursor;
    if (left === null || left === undefined || left < 0) {
      this.away();
      return;
    }
    const lines = this.near(u, left, top);
    this.tip.hidden = !lines.length;
    if (!lines.length) return;
    const { spec } = this,
      first = lines.find((l) => l.curve);
    this.tip.replaceChildren(
      first
        ? h(
            "div",
            { class: "tip-x" },
            `${spec.xLabel} ${num(first.curve.x[first.i])}${spec.xUnit ? " " + spec.xUnit : ""}`,
          )
        : "",
      h(
        "table",
        {},
        lines.map((l) =>
          l.mark
            ? h(
                "tr",
                { class: "tip-mark" },
                h("td", {}, "\u25c7"),
                h("td", {}, l.mark.text),
                h("td", { class: "num" }, num(l.mark.y)),
                h("td", {}, spec.unit),
              )
            : h(
                "tr",
                {},
                h(
                  "td",
                  {},
                  h("i", { class: "key", style: `background:${seriesColour(l.curve.slot)}` }),
                ),
                h("td", {}, l.curve.title),
                h("td", { class: "num" }, num(l.curve.y[l.i])),
                h(
                  "td",
                  {},
                  l.curve.note ? l.curve.note(l.curve.x[l.i]) : spec.unit,
                  l.curve.x[l.i] === first.curve.x[first.i] || spec.bars
                    ? ""
                    : ` at ${num(l.curve.x[l.i])} ${spec.xUnit}`,
                ),
              ),
        ),
      ),
    );
    const w = this.tip.offsetWidth,
      at = u.over.offsetLeft + left;
    this.tip.style.left = `${at + w + 24 > this.el.clientWidth ? Math.max(0, at - w - 14) : at + 14}px`;
    this.tip.style.top = `${Math.max(0, Math.min(top, this.height - this.tip.offsetHeight - 30))}px`;
  }

  zoom(factor) {
    const { min, max } = this.u.scales.x;
    const at = this.u.cursor.left >= 0 ? this.u.posToVal(this.u.cursor.left, "x") : (min + max) / 2;
    const of = (v) => (this.spec.logX ? at * (v / at) ** factor : at + (v - at) * factor);
    this.u.setScale("x", { min: of(min), max: of(max) });
  }

  all() {
    this.u.setData(this.u.data);
  }

  key(e) {
    const { u } = this,
      width = u.over.clientWidth;
    const xs = u.data[0].map((x) => u.valToPos(x, "x")).filter((p) => p >= 0 && p <= width);
    const at = u.cursor.left ?? -1;
    const keys = {
      ArrowRight: () => xs.find((p) => p > at + 0.5) ?? at,
      ArrowLeft: () => [...xs].reverse().find((p) => p < at - 0.5) ?? at,
      "+": () => this.zoom(0.7),
      "=": () => this.zoom(0.7),
      "-": () => this.zoom(1 / 0.7),
      0: () => this.all(),
      Escape: () => this.all(),
    };
    if (!keys[e.key] || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    const left = keys[e.key]();
    if (typeof left === "number") u.setCursor({ left, top: u.over.clientHeight / 2 });
  }
}
