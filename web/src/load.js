// SPDX-License-Identifier: Apache-2.0
// Shares and levels of the ports of a run.
import { time } from "./dom.js";

/** Shares and levels of the ports of one run. */
export class Load {
  constructor(run) {
    this.run = run;
    this.end = run.intervals;
    this.length = this.end.map((e, i) => e - (i ? this.end[i - 1] : 0));
    this.total = this.end[this.end.length - 1] || 1;
    this.most = {};
    for (const p of run.ports)
      if (p.queued) this.most[p.queue_unit] = Math.max(this.most[p.queue_unit] || 1, ...p.queued);
    this.blocked = run.ports.some((p) => p.blocked);
  }

  /** Share of interval i (-1: of the whole run) in which it was so. */
  share(p, what, i) {
    const y = p[what];
    if (!y) return null;
    const ns = i < 0 ? y.reduce((a, b) => a + b, 0) : y[i];
    return Math.min(1, (ns * 1e-3) / (i < 0 ? this.total : this.length[i]) / p.n);
  }

  queued(p, i) {
    if (!p.queued) return null;
    return i < 0
      ? p.queued.reduce((a, b, k) => a + b * this.length[k], 0) / this.total
      : p.queued[i];
  }

  /** Back-pressure: time blocked where it is known, else what waits. */
  pressure(p, i) {
    if (p.blocked) return this.share(p, "blocked", i);
    return p.queued && !this.blocked ? this.queued(p, i) / this.most[p.queue_unit] : null;
  }
}

export function span(load, i) {
  if (i < 0) return `whole run, ${time(load.total)}`;
  return `${time(i ? load.end[i - 1] : 0)} to ${time(load.end[i])}`;
}
