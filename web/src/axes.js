// SPDX-License-Identifier: Apache-2.0
// Axes, ranges and marks of a plot.
import { num } from "./dom.js";
import { css } from "./theme.js";

const FONT = "12px system-ui, sans-serif";

export function axis(label, unit, log, side) {
  return {
    label: unit ? `${label} [${unit}]` : label,
    labelFont: "600 " + FONT,
    font: FONT,
    labelSize: 24,
    size: side === "x" ? 34 : 62,
    gap: 6,
    stroke: () => css("--muted"),
    grid: { stroke: () => css("--grid"), width: 1 },
    ticks: { stroke: () => css("--grid"), width: 1, size: 5 },
    values: (u, splits) =>
      splits.map((v) => (v === null ? "" : log ? compact(v, unit) : num(v, 5))),
  };
}

function compact(v, unit) {
  const a = Math.abs(v);
  if (unit === "B" && v >= 1024 && v % 1024 === 0)
    return v % 1048576 ? v / 1024 + "Ki" : v / 1048576 + "Mi";
  return a >= 1e6 ? num(v / 1e6, 4) + "M" : a >= 1e4 ? num(v / 1e3, 4) + "k" : num(v, 4);
}

/** Beside (x, y), where no other label stands. */
function drawLabel(ctx, text, x, y, r, labels, box) {
  const w = ctx.measureText(text).width,
    tall = 11 * devicePixelRatio;
  const places = [1, -1].flatMap((side) =>
    [-1.2, 1.2, -2.6, 2.6].map((up) => [
      x + (side > 0 ? 1.3 * r : -1.3 * r - w),
      y + up * tall - tall / 2,
    ]),
  );
  const free = ([px, py]) =>
    px >= box.left &&
    px + w <= box.left + box.width &&
    py + tall <= box.top + box.height &&
    labels.every(([qx, qy, qw]) => px > qx + qw || qx > px + w || Math.abs(py - qy) > tall);
  const [px, py] = places.find(free) || places[0];
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.strokeStyle = css("--bg"); // readable on a curve
  ctx.lineWidth = 3 * devicePixelRatio;
  ctx.strokeText(text, px, py);
  ctx.fillText(text, px, py);
  labels.push([px, py, w]);
}

/** Diamonds where a paper has printed a number. */
export function drawMarks(u, marks) {
  const { ctx } = u,
    r = 5.5 * devicePixelRatio,
    labels = [];
  ctx.save();
  for (const m of marks) {
    const x = u.valToPos(m.x, "x", true),
      y = u.valToPos(m.y, "y", true);
    if (
      x < u.bbox.left ||
      x > u.bbox.left + u.bbox.width ||
      y < u.bbox.top ||
      y > u.bbox.top + u.bbox.height
    )
      continue;
    ctx.beginPath();
    ctx.moveTo(x, y - r);
    ctx.lineTo(x + r, y);
    ctx.lineTo(x, y + r);
    ctx.lineTo(x - r, y);
    ctx.closePath();
    ctx.fillStyle = css("--bg");
    ctx.fill();
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.strokeStyle = css("--text");
    ctx.stroke();
    ctx.fillStyle = css("--text");
    ctx.font = `600 ${11 * devicePixelRatio}px system-ui, sans-serif`;
    drawLabel(ctx, m.label, x, y, r, labels, u.bbox);
  }
  ctx.restore();
}

export function usable(spec) {
  return spec.curves
    .map((c) => {
      const keep = c.x
        .map((x, i) => i)
        .filter(
          (i) =>
            c.y[i] !== null &&
            isFinite(c.y[i]) &&
            (!spec.logX || c.x[i] > 0) &&
            (!spec.logY || c.y[i] > 0),
        );
      return { ...c, x: keep.map((i) => c.x[i]), y: keep.map((i) => c.y[i]) };
    })
    .filter((c) => c.x.length);
}

export function range(log, marks, key) {
  return (u, lo, hi) => {
    if (lo === null || hi === null) return log ? [1, 10] : [0, 1];
    for (const m of marks) {
      lo = Math.min(lo, m[key]);
      hi = Math.max(hi, m[key]);
    }
    if (log)
      return [
        log ** Math.floor(Math.log(lo) / Math.log(log) + 1e-9),
        log ** Math.ceil(Math.log(hi) / Math.log(log) - 1e-9),
      ];
    const pad = (hi - lo || Math.abs(hi) || 1) * 0.05;
    return key === "y" && lo >= 0 ? [0, hi + pad] : [lo - pad * 0.4, hi + pad * 0.4];
  };
}
