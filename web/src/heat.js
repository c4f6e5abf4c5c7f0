// SPDX-License-Identifier: Apache-2.0
// All links over all time: a line for each port, a column for each interval.
import { h, percent, time, toggle } from "./dom.js";
import { css, ramp, onTheme, printing } from "./theme.js";

const HIGH = 420,
  TALL = 15,
  LEFT = 150; // pixels: all, a line with its name, names

export class Heat {
  /** load: shares; pick(port). */
  constructor(pick) {
    this.pick = pick;
    this.canvas = h("canvas", {
      class: "heat",
      role: "img",
      "aria-label": "Use of every port over time",
      onpointermove: (e) => this.hover(e),
      onpointerleave: () => {
        this.tip.hidden = true;
      },
      onclick: (e) => {
        const at = this.find(e);
        if (at) this.pick(at.ports[0]);
      },
    });
    this.tip = h("div", { class: "tip", hidden: true });
    this.frame = h("div", { class: "plot-frame" }, this.canvas, this.tip);
    this.el = h(
      "figure",
      { "data-chart": "heat" },
      h(
        "figcaption",
        {},
        h("h3", {}, "All ports over time"),
        h(
          "div",
          { class: "tools" },
          toggle("busiest first", true, (on) => {
            this.byUse = on;
            this.order();
          }),
        ),
      ),
      this.frame,
    );
    this.byUse = true;
    onTheme(this.el, () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.frame);
  }

  set(load, ports) {
    this.load = load;
    this.all = ports;
    this.el.hidden = !ports.length || load.end.length < 2;
    this.order();
  }

  /** Lines of one port each, or of as many as a pixel must hold. */
  order() {
    const use = new Map(this.all.map((p) => [p, p.busy.reduce((a, b) => a + b, 0) / p.n]));
    const list = this.byUse ? [...this.all].sort((a, b) => use.get(b) - use.get(a)) : this.all;
    const per = Math.ceil(list.length / HIGH);
    this.lines = [];
    for (let i = 0; i < list.length; i += per) this.lines.push(list.slice(i, i + per));
    this.step = Math.max(1, Math.min(TALL, Math.floor(HIGH / this.lines.length)));
    this.draw();
  }

  draw() {
    const width = printing ? 660 : this.frame.clientWidth,
      r = devicePixelRatio,
      { load } = this;
    if (!width || !load) return;
    const height = this.lines.length * this.step + 22;
    Object.assign(this.canvas, { width: width * r, height: height * r });
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    this.left = this.step >= 11 ? LEFT : 0;
    this.scale = (width - this.left) / load.total;
    const ctx = this.canvas.getContext("2d"),
      colours = ramp("busy");
    ctx.setTransform(r, 0, 0, r, 0, 0);
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    this.lines.forEach((ports, l) => {
      for (let i = 0; i < load.end.length; i++) {
        const v = Math.max(...ports.map((p) => load.share(p, "busy", i))),
          from = load.end[i] - load.length[i];
        ctx.fillStyle = colours[Math.round(v * 63)];
        ctx.fillRect(
          this.left + from * this.scale,
          l * this.step,
          load.length[i] * this.scale + 0.5,
          this.step > 4 ? this.step - 1 : this.step,
        );
      }
      if (!this.left) return;
      ctx.fillStyle = css("--muted");
      ctx.fillText(ports[0].name, 0, (l + 0.5) * this.step, LEFT - 8);
    });
    ctx.fillStyle = css("--muted");
    for (const [at, align] of [
      [0, "left"],
      [0.5, "center"],
      [1, "right"],
    ]) {
      ctx.textAlign = align;
      ctx.fillText(time(at * load.total), this.left + at * (width - this.left), height - 8);
    }
    ctx.textAlign = "left";
  }

  find(e) {
    const ports = this.lines[Math.floor(e.offsetY / this.step)],
      us = (e.offsetX - this.left) / this.scale;
    const i = this.load.end.findIndex((end) => us < end);
    return ports && us >= 0 && i >= 0 ? { ports, i } : null;
  }

  hover(e) {
    const at = this.find(e),
      { load } = this;
    this.tip.hidden = !at;
    if (!at) return;
    const p = at.ports.reduce((a, b) =>
      load.share(b, "busy", at.i) > load.share(a, "busy", at.i) ? b : a,
    );
    this.tip.replaceChildren(
      h("div", {}, p.peer ? `${p.name} \u2192 ${p.peer}` : p.name),
      h(
        "div",
        { class: "tip-x" },
        `${time(load.end[at.i] - load.length[at.i])} to ${time(load.end[at.i])}`,
      ),
      h("div", {}, `in use ${percent(load.share(p, "busy", at.i))}`),
      at.ports.length > 1
        ? h("div", { class: "tip-x" }, `the most of ${at.ports.length} ports`)
        : "",
    );
    this.tip.style.left = `${Math.min(e.offsetX + 14, this.frame.clientWidth - this.tip.offsetWidth)}px`;
    this.tip.style.top = `${e.offsetY + 14}px`;
  }
}
