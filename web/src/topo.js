// SPDX-License-Identifier: Apache-2.0
// The network as a picture: half-links coloured by use, ports by what waits.
import { h } from "./dom.js";
import { css, ramp, shade, onTheme, printing } from "./theme.js";

const LEVELS = 64,
  MARGIN = 34;

export class Topology {
  /** value(port) and pressure(port): 0..1; pick(node or port or null). */
  constructor({ value, pressure, describe, pick }) {
    Object.assign(this, { value, pressure, describe, pick });
    this.canvas = h("canvas", {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "network",
      onpointerdown: (e) => this.down(e),
      onpointermove: (e) => this.move(e),
      onpointerup: (e) => this.up(e),
      onpointerleave: () => this.hover(null),
      onkeydown: (e) => this.key(e),
    });
    this.canvas.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    this.tip = h("div", { class: "tip", hidden: true });
    const b = (t, label, f) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick: f }, t);
    this.el = h("div", { class: "net-picture" }, this.canvas, this.tip);
    this.buttons = h(
      "div",
      { class: "net-buttons" },
      b("+", "Zoom in", () => this.zoom(1.4)),
      b("\u2212", "Zoom out", () => this.zoom(1 / 1.4)),
      b("fit", "Fit", () => this.fit()),
    );
    onTheme(this.el, () => this.size());
    new ResizeObserver(() => this.size()).observe(this.el);
  }

  set(g) {
    this.g = g;
    this.halves = g.ports.filter((p) => p.to && !p.node.home);
    this.nodes = g.nodes.filter((n) => !n.home);
    this.selected = this.over = null;
    this.canvas.setAttribute(
      "aria-label",
      `Network of ${this.nodes.length} nodes. Arrow keys go from link to link, Enter selects, plus and minus zoom, 0 fits.`,
    );
    this.fit();
  }

  size() {
    const width = printing ? 660 : this.canvas.clientWidth,
      height = this.canvas.clientHeight || 520,
      r = devicePixelRatio;
    if (!width || !this.g) return;
    if (this.width !== width || this.height !== height) {
      Object.assign(this, { width, height });
      this.canvas.width = width * r;
      this.canvas.height = height * r;
      this.fit();
    } else {
      this.draw();
    }
  }

  fit() {
    if (!this.width) {
      this.size();
      return;
    }
    const xs = this.nodes.flatMap((n) => [n.x - n.w / 2, n.x + n.w / 2]),
      ys = this.nodes.flatMap((n) => [n.y - n.h / 2, n.y + n.h / 2]);
    const x0 = Math.min(...xs),
      x1 = Math.max(...xs),
      y0 = Math.min(...ys),
      y1 = Math.max(...ys);
    this.k = Math.min(
      (this.width - 2 * MARGIN) / (x1 - x0 || 1),
      (this.height - 2 * MARGIN) / (y1 - y0 || 1),
      120,
    );
    this.ox = this.width / 2 - (this.k * (x0 + x1)) / 2;
    this.oy = this.height / 2 - (this.k * (y0 + y1)) / 2;
    this.draw();
  }

  ends(p) {
    const f = p.from || [0, 0],
      { k, ox, oy } = this;
    return [
      ox + k * (p.node.x + f[0]),
      oy + k * (p.node.y + f[1]),
      ox + k * (p.node.x + p.to[0]),
      oy + k * (p.node.y + p.to[1]),
    ];
  }

  draw() {
    if (!this.width || !this.g) return;
    const ctx = this.canvas.getContext("2d"),
      r = devicePixelRatio;
    ctx.setTransform(r, 0, 0, r, 0, 0);
    ctx.fillStyle = css("--bg");
    ctx.fillRect(0, 0, this.width, this.height);
    this.drawLinks(ctx);
    this.drawChosen(ctx, false);
    this.drawNodes(ctx);
    this.drawPorts(ctx);
    this.drawChosen(ctx, true);
  }

  /** By colour, so that thousands of lines are a few dozen strokes. */
  drawLinks(ctx) {
    const colours = ramp("busy"),
      paths = new Array(LEVELS);
    for (const p of this.halves) {
      const l = Math.max(0, Math.min(LEVELS - 1, Math.round(this.value(p) * (LEVELS - 1))));
      const path = paths[l] || (paths[l] = new Path2D()),
        [x0, y0, x1, y1] = this.ends(p);
      path.moveTo(x0, y0);
      path.lineTo(x1, y1);
    }
    ctx.lineWidth = Math.max(2, Math.min(5, this.k / 12));
    ctx.lineCap = "butt";
    paths.forEach((path, l) => {
      ctx.strokeStyle = colours[l];
      ctx.stroke(path);
    });
  }

  drawNodes(ctx) {
    const { k, ox, oy } = this;
    ctx.font = `${Math.max(9.5, Math.min(13, k / 5))}px system-ui, sans-serif`;
    const name = (n) => (n.kind === "switch" ? n.name : n.name.split(".")[0]);
    const fits = this.nodes.every(
      (n) => n.kind !== "group" && ctx.measureText(name(n)).width < n.w * k - 1,
    );
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    for (const n of this.nodes) {
      const w = Math.max(4, n.w * k),
        hh = Math.max(4, n.h * k),
        x = ox + k * n.x - w / 2,
        y = oy + k * n.y - hh / 2;
      ctx.fillStyle = n.kind === "group" ? shade("busy", this.mean(n)) : css("--node");
      ctx.fillRect(x, y, w, hh);
      ctx.lineWidth = 1;
      ctx.strokeStyle = css("--node-line");
      ctx.strokeRect(x + 0.5, y + 0.5, w - 1, hh - 1);
      if (!fits) continue;
      ctx.fillStyle = css("--text");
      ctx.fillText(name(n), x + w / 2, y + hh / 2 + 0.5);
    }
  }

  mean(n) {
    return n.ports.reduce((a, p) => a + this.value(p), 0) / (n.ports.length || 1);
  }

  drawPorts(ctx) {
    const r = Math.max(1.8, Math.min(4.5, this.k / 18)),
      edge = r > 2.6;
    for (const p of this.halves) {
      const v = this.pressure(p);
      if (v === null || v < 0.02) continue;
      const [x0, y0, x1, y1] = this.ends(p),
        d = Math.hypot(x1 - x0, y1 - y0) || 1;
      const out = p.edge
        ? 0
        : Math.min(
            0.6,
            ((p.node.w * this.k) / 2 / d / Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0))) * d,
          );
      ctx.beginPath();
      ctx.arc(x0 + (x1 - x0) * out, y0 + (y1 - y0) * out, r, 0, 7);
      ctx.fillStyle = shade("press", v);
      ctx.fill();
      if (!edge) continue;
      ctx.lineWidth = 1;
      ctx.strokeStyle = css("--node-line");
      ctx.stroke();
    }
  }

  drawChosen(ctx, nodes) {
    for (const [what, colour] of [
      [this.over, "--muted"],
      [this.selected, "--accent"],
    ]) {
      if (!what || !what.node !== nodes) continue;
      ctx.strokeStyle = css(colour);
      if (what.node) {
        ctx.lineWidth = Math.max(3, Math.min(7, this.k / 9));
        ctx.beginPath();
        for (const p of [what, what.far]) {
          if (!p || !p.to) continue;
          const [x0, y0, x1, y1] = this.ends(p);
          ctx.moveTo(x0, y0);
          ctx.lineTo(x1, y1);
        }
        ctx.stroke();
      } else {
        const { k, ox, oy } = this,
          w = Math.max(8, what.w * k + 4),
          hh = Math.max(8, what.h * k + 4);
        ctx.lineWidth = 2.5;
        ctx.strokeRect(ox + k * what.x - w / 2, oy + k * what.y - hh / 2, w, hh);
      }
    }
  }

  /** Node or half-link under a place. */
  find(x, y) {
    const { k, ox, oy } = this;
    for (const n of this.nodes)
      if (
        Math.abs(ox + k * n.x - x) < Math.max(5, (n.w * k) / 2) &&
        Math.abs(oy + k * n.y - y) < Math.max(5, (n.h * k) / 2)
      )
        return n;
    let best = null,
      near = 7;
    for (const p of this.halves) {
      const [x0, y0, x1, y1] = this.ends(p),
        dx = x1 - x0,
        dy = y1 - y0;
      const t = Math.max(
        0,
        Math.min(1, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)),
      );
      const d = Math.hypot(x0 + t * dx - x, y0 + t * dy - y);
      if (d < near) {
        near = d;
        best = p;
      }
    }
    return best;
  }

  hover(what, x, y) {
    if (this.over !== what) {
      this.over = what;
      this.draw();
    }
    this.tip.hidden = !what;
    if (!what) return;
    this.tip.replaceChildren(...this.describe(what).map((t) => h("div", {}, t)));
    this.tip.style.left = `${Math.min(x + 14, this.width - this.tip.offsetWidth - 4)}px`;
    this.tip.style.top = `${Math.min(y + 14, this.height - this.tip.offsetHeight - 4)}px`;
  }

  select(what) {
    this.selected = what;
    this.draw();
    this.pick(what);
  }

  down(e) {
    this.drag = { x: e.offsetX, y: e.offsetY, ox: this.ox, oy: this.oy, moved: false };
    this.canvas.setPointerCapture(e.pointerId);
  }

  move(e) {
    const d = this.drag;
    if (!d) {
      this.hover(this.find(e.offsetX, e.offsetY), e.offsetX, e.offsetY);
      return;
    }
    if (Math.hypot(e.offsetX - d.x, e.offsetY - d.y) > 3) d.moved = true;
    if (!d.moved) return;
    this.ox = d.ox + e.offsetX - d.x;
    this.oy = d.oy + e.offsetY - d.y;
    this.draw();
  }

  up(e) {
    if (this.drag && !this.drag.moved) this.select(this.find(e.offsetX, e.offsetY));
    this.drag = null;
  }

  wheel(e) {
    if (!e.ctrlKey && document.activeElement !== this.canvas) return; // the page scrolls
    e.preventDefault();
    this.zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY);
  }

  zoom(f, x = this.width / 2, y = this.height / 2) {
    const k = Math.max(4, Math.min(400, this.k * f));
    this.ox = x - ((x - this.ox) * k) / this.k;
    this.oy = y - ((y - this.oy) * k) / this.k;
    this.k = k;
    this.draw();
  }

  key(e) {
    const list = this.halves.length ? this.halves : this.nodes,
      at = list.indexOf(this.selected);
    const go = (d) => this.select(list[(at + d + list.length) % list.length]);
    const keys = {
      ArrowRight: () => go(1),
      ArrowDown: () => go(1),
      ArrowLeft: () => go(-1),
      ArrowUp: () => go(-1),
      Escape: () => this.select(null),
      "+": () => this.zoom(1.4),
      "=": () => this.zoom(1.4),
      "-": () => this.zoom(1 / 1.4),
      0: () => this.fit(),
    };
    if (!keys[e.key] || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    keys[e.key]();
  }
}
