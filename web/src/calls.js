// SPDX-License-Identifier: Apache-2.0
// What the processes of `weft exec` did: time in calls, messages from rank to rank.
import { h, section, num, group, percent, time, plural } from "./dom.js";
import { select, toggle, searchBox, matcher } from "./dom.js";
import { css, ramp, onTheme, printing } from "./theme.js";
import { runOptions } from "./tables.js";

const FS = 1e-9; // us
const has = (r) => r.calls.length > 0 || r.flows.length > 0;

function measured(run) {
  const some = run.ranks.filter(([, , , over]) => Number(over));
  if (!some.length) return 0;
  const start = Math.min(...some.map(([, , s]) => Number(s))),
    over = Math.max(...some.map(([, , , o]) => Number(o)));
  return (over - start) * FS;
}

/** Rows of one rank, or sums over all. */
function rowsOf(run, rank) {
  const found = new Map();
  for (const c of run.calls) {
    if (rank !== "" && c.rank !== Number(rank)) continue;
    const s = found.get(c.name) || { name: c.name, calls: 0, bytes: 0, time: 0, max: 0 };
    s.calls += Number(c.calls);
    s.bytes += Number(c.bytes);
    s.time += Number(c.time_fs) * FS;
    s.max = Math.max(s.max, Number(c.max_fs) * FS);
    found.set(c.name, s);
  }
  return [...found.values()];
}

const COLUMNS = [
  { key: "name", head: "call", text: (r) => r.name },
  { key: "calls", head: "calls", text: (r) => num(r.calls) },
  { key: "bytes", head: "bytes", text: (r) => num(r.bytes) },
  { key: "time", head: "time", text: (r) => time(r.time) },
  { key: "share", head: "share", text: (r) => (r.share === null ? "" : percent(r.share)) },
  { key: "mean", head: "mean", text: (r) => time(r.mean) },
  { key: "max", head: "longest", text: (r) => time(r.max) },
  {
    key: "other",
    head: "other run",
    text: (r) => (r.other === null ? "" : time(r.other)),
    beside: true,
  },
  {
    key: "ratio",
    head: "ratio",
    text: (r) => (r.ratio === null ? "" : num(r.ratio, 4)),
    beside: true,
  },
];

/** A table that a click on a head sorts. */
class CallTable {
  constructor() {
    this.by = "time";
    this.down = true;
    this.body = h("tbody", {});
    this.heads = COLUMNS.map((c) =>
      h(
        "th",
        { scope: "col", class: c.key === "name" ? "" : "num" },
        h("button", { type: "button", class: "sort", onclick: () => this.sort(c.key) }, c.head),
      ),
    );
    this.el = h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "data", id: "call-table" },
        h("thead", {}, h("tr", {}, this.heads)),
        this.body,
      ),
    );
  }

  sort(key) {
    this.down = this.by === key ? !this.down : key !== "name";
    this.by = key;
    this.fill();
  }

  set(rows, beside) {
    this.rows = rows;
    this.beside = beside;
    this.fill();
  }

  fill() {
    const columns = COLUMNS.filter((c) => this.beside || !c.beside),
      k = this.by,
      sign = this.down ? -1 : 1;
    COLUMNS.forEach((c, i) => {
      this.heads[i].hidden = !columns.includes(c);
      this.heads[i].setAttribute(
        "aria-sort",
        c.key !== k ? "none" : this.down ? "descending" : "ascending",
      );
    });
    const rows = [...this.rows].sort(
      (a, b) => (a[k] < b[k] ? -sign : a[k] > b[k] ? sign : 0) || (a.name < b.name ? -1 : 1),
    );
    this.body.replaceChildren(
      ...rows.map((r) =>
        h(
          "tr",
          {},
          columns.map((c, i) =>
            h(i ? "td" : "th", { class: i ? "num" : "", scope: i ? null : "row" }, c.text(r)),
          ),
        ),
      ),
    );
  }
}

/** Who sent how much to whom: a square for each pair of ranks. */
class Matrix {
  constructor() {
    this.canvas = h("canvas", {
      class: "heat",
      role: "img",
      "aria-label": "Messages from rank to rank",
      onpointermove: (e) => this.hover(e),
      onpointerleave: () => {
        this.tip.hidden = true;
      },
    });
    this.tip = h("div", { class: "tip", hidden: true });
    this.frame = h("div", { class: "plot-frame" }, this.canvas, this.tip);
    this.key = "bytes";
    this.el = h(
      "figure",
      { "data-chart": "matrix" },
      h(
        "figcaption",
        {},
        h("h3", {}, "From rank (down) to rank (across)"),
        h(
          "div",
          { class: "tools" },
          toggle("bytes", true, (on) => {
            this.key = on ? "bytes" : "messages";
            this.draw();
          }),
        ),
      ),
      this.frame,
    );
    onTheme(this.el, () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.frame);
  }

  set(run) {
    this.el.hidden = !run.flows.length;
    this.flows = run.flows.map(([src, dst, messages, bytes]) => ({
      src,
      dst,
      messages: Number(messages),
      bytes: Number(bytes),
    }));
    this.n =
      1 + Math.max(0, ...run.ranks.map(([r]) => r), ...this.flows.flatMap((f) => [f.src, f.dst]));
    this.draw();
  }

  draw() {
    const width = Math.min(printing ? 660 : this.frame.clientWidth, 520),
      r = devicePixelRatio;
    if (!width || !this.flows) return;
    this.left = 34;
    this.cell = Math.min(48, (width - this.left) / this.n);
    const size = this.left + this.n * this.cell;
    Object.assign(this.canvas, { width: size * r, height: size * r });
    Object.assign(this.canvas.style, { width: `${size}px`, height: `${size}px` });
    const ctx = this.canvas.getContext("2d"),
      colours = ramp("busy"),
      most = Math.max(1, ...this.flows.map((f) => f[this.key])),
      gap = this.cell > 6 ? 1 : 0;
    ctx.setTransform(r, 0, 0, r, 0, 0);
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    ctx.textAlign = "center";
    ctx.fillStyle = colours[0];
    ctx.fillRect(this.left, this.left, size, size);
    for (const f of this.flows) {
      ctx.fillStyle = colours[Math.round((63 * f[this.key]) / most)];
      ctx.fillRect(
        this.left + f.dst * this.cell,
        this.left + f.src * this.cell,
        this.cell - gap,
        this.cell - gap,
      );
    }
    ctx.fillStyle = css("--muted");
    const each = Math.ceil(18 / this.cell);
    for (let i = 0; i < this.n; i += each) {
      const at = this.left + (i + 0.5) * this.cell;
      ctx.fillText(String(i), at, this.left - 10);
      ctx.fillText(String(i), this.left - 14, at);
    }
  }

  hover(e) {
    const dst = Math.floor((e.offsetX - this.left) / this.cell),
      src = Math.floor((e.offsetY - this.left) / this.cell);
    const inside = src >= 0 && dst >= 0 && src < this.n && dst < this.n;
    this.tip.hidden = !inside;
    if (!inside) return;
    const f = this.flows.find((w) => w.src === src && w.dst === dst);
    this.tip.replaceChildren(
      h("div", {}, `rank ${src} \u2192 rank ${dst}`),
      h("div", {}, f ? `${plural(f.messages, "message")}, ${group(String(f.bytes))} B` : "nothing"),
    );
    this.tip.style.left = `${Math.min(e.offsetX + 14, this.frame.clientWidth - this.tip.offsetWidth)}px`;
    this.tip.style.top = `${e.offsetY + 14}px`;
  }
}

/** One of several runs has to be chosen here: others of the page have no processes. */
export function calls(data) {
  const runs = data.runs.filter(has);
  if (!runs.length) return null;
  let run = runs[0],
    other = runs[1] || null,
    rank = "",
    text = "";
  const table = new CallTable(),
    matrix = new Matrix(),
    hint = h("p", { class: "hint", role: "status" }),
    ranks = h("span", {});
  const fill = () => {
    const all = measured(run),
      n = rank === "" ? run.ranks.length : 1,
      wanted = matcher(text),
      theirs = new Map((other ? rowsOf(other, rank) : []).map((r) => [r.name, r]));
    table.set(
      rowsOf(run, rank)
        .filter((r) => wanted(r.name))
        .map((r) => {
          const o = theirs.get(r.name);
          return {
            ...r,
            share: all ? r.time / all / n : null,
            mean: r.calls ? r.time / r.calls : 0,
            other: o ? o.time : null,
            ratio: o && r.time ? o.time / r.time : null,
          };
        }),
      !!other,
    );
    matrix.set(run);
    const b = other ? measured(other) : 0;
    hint.textContent =
      (all ? `Measured part ${time(all)}` : "") +
      (all && b ? `; ${other.title}: ${time(b)}, ratio ${num(b / all, 4)}` : "") +
      ". Time is simulated time spent in the calls; those of libfabric lie within those of MPI.";
  };
  const choose = () => {
    ranks.replaceChildren(
      select("Rank", [["", "all"], ...run.ranks.map(([r]) => [r, String(r)])], (rank = ""), (v) => {
        rank = v;
        fill();
      }),
    );
    fill();
  };
  choose();
  return section(
    "calls",
    "Calls and messages",
    h(
      "div",
      { class: "tools" },
      select("Run", runOptions(data, has), run.index, (v) => {
        run = data.runs[v];
        choose();
      }),
      runs.length > 1
        ? select("Beside", [["", "none"], ...runOptions(data, has)], other.index, (v) => {
            other = v === "" ? null : data.runs[v];
            fill();
          })
        : null,
      ranks,
      searchBox("Search calls", (t) => {
        text = t;
        fill();
      }),
    ),
    hint,
    table.el,
    matrix.el,
  );
}
