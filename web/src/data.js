// SPDX-License-Identifier: Apache-2.0
// The results as the page needs them: runs with names, curves, rows.

/** Units of one dimension and their size in the first of them. */
const UNITS = {
  time: { us: 1, ns: 1e-3, ms: 1e3, s: 1e6, fs: 1e-9 },
  rate: {
    "MB/s": 1,
    "MiB/s": 1.048576,
    "GB/s": 1e3,
    "KB/s": 1e-3,
    "KiB/s": 1024e-6,
    "Gb/s": 125,
    "Gbit/s": 125,
    "Mb/s": 0.125,
  },
};

export function dimension(unit) {
  for (const [name, units] of Object.entries(UNITS)) if (unit in units) return name;
  return unit || "number";
}

export function convert(v, from, to) {
  if (from === to || v === null) return v;
  const u = UNITS[dimension(from)];
  return u && to in u ? (v * u[from]) / u[to] : v;
}

/** "a=1 b=x" as [["a", "1"], ["b", "x"]]. */
export function pointKeys(point) {
  return point
    ? point.split(" ").map((p) => {
        const i = p.indexOf("=");
        return [p.slice(0, i), p.slice(i + 1)];
      })
    : [];
}

function shortKey(key) {
  return key.split(".").slice(-1)[0];
}

/** What tells several sets of one experiment apart: "width=w16". */
function differences(sets) {
  const keys = new Map();
  for (const name of new Set(sets.flatMap((s) => [...s.runs[0].params.keys()]))) {
    const values = sets.map((s) => s.runs[0].params.get(name));
    if (new Set(values).size > 1) {
      const k = shortKey(name);
      if (!keys.has(k) && name !== "text_crc32") keys.set(k, values);
    }
  }
  return sets.map((_, i) =>
    [...keys]
      .slice(0, 2)
      .map(([k, v]) => `${k}=${v[i] ?? "none"}`)
      .join(" "),
  );
}

/** Runs of one experiment that were made together: the points of a sweep. */
function makeSets(file) {
  const sets = [],
    last = new Map();
  for (const run of file.runs) {
    let s = last.get(run.experiment);
    if (!s || s.runs.some((r) => r.point === run.point)) {
      s = { file, experiment: run.experiment, about: (run.about || "").trim(), runs: [] };
      last.set(run.experiment, s);
      sets.push(s);
    }
    s.runs.push(run);
    run.set = s;
  }
  for (const name of last.keys()) {
    const same = sets.filter((s) => s.experiment === name);
    const differ = same.length > 1 ? differences(same) : [""];
    same.forEach((s, i) => {
      s.nth = i;
      s.variant = differ[i] || (same.length > 1 ? `#${i + 1}` : "");
    });
  }
  return sets;
}

function prepareRun(run, file) {
  run.file = file;
  run.params = new Map(run.manifest);
  run.stats = Object.fromEntries(run.histogram_stats.map((s) => [s.name, s]));
}

export function load(text) {
  const raw = JSON.parse(text);
  const files = raw.files;
  for (const f of files) {
    for (const r of f.runs) prepareRun(r, f);
    f.sets = makeSets(f);
    const byId = new Map(f.runs.map((r) => [r.id, r]));
    for (const row of f.rows) {
      row.file = f;
      row.at = byId.get(row.run);
    }
  }
  const sets = files.flatMap((f) => f.sets),
    runs = files.flatMap((f) => f.runs);
  const many = files.length > 1;
  for (const s of sets)
    s.title = [many ? s.file.name + ":" : "", s.experiment, s.variant].filter(Boolean).join(" ");
  runs.forEach((r, i) => {
    r.index = i;
    r.title = [r.set.title, r.point].filter(Boolean).join("  ");
  });
  return { version: raw.weft, files, sets, runs, rows: files.flatMap((f) => f.rows) };
}

// ---- curves ----

function kindOf(key, unit) {
  if (unit === "B" || /(^|\.)size(_max)?$/.test(key)) return "size";
  if (/(^|\.)load$/.test(key)) return "load";
  return shortKey(key) || unit || "x";
}

/** Series of the runs of a set; single points of several runs become one curve. */
function seriesCurves(set) {
  const found = new Map();
  for (const run of set.runs) {
    for (const s of run.series) {
      if (s.name.startsWith("sample.") || !s.x.length) continue;
      const name = s.x.length > 1 && run.point ? `${s.name} (${run.point})` : s.name;
      const c = found.get(name) || {
        set,
        name,
        x: [],
        y: [],
        xKind: kindOf("", s.x_unit),
        xUnit: s.x_unit,
        unit: s.y_unit,
      };
      c.x.push(...s.x);
      c.y.push(...s.y);
      found.set(name, c);
    }
  }
  return [...found.values()].filter((c) => c.x.length > 1 && new Set(c.x).size === c.x.length);
}

/** Figures of one run by name: metrics, and means of histograms. */
function figures(run) {
  const all = run.metrics.map(([name, unit, value]) => ({ name, unit, value }));
  const have = new Set(all.map((f) => f.name));
  for (const g of run.histograms) {
    const st = run.stats[g.name];
    if (st && !have.has(g.name)) all.push({ name: g.name + " mean", unit: g.unit, value: st.mean });
  }
  return all;
}

/** Figures over the numbers a sweep goes through. */
function sweepCurves(set) {
  const curves = new Map();
  const keys = set.runs.map((r) => pointKeys(r.point));
  const axes = keys[0]
    .map(([k]) => k)
    .filter(
      (k, i) =>
        new Set(keys.map((p) => (p[i] || [])[1])).size > 1 &&
        keys.every((p) => p[i] && p[i][1] !== "" && isFinite(p[i][1])),
    );
  for (const axis of axes) {
    set.runs.forEach((run, r) => {
      const others = keys[r]
        .filter(([k]) => k !== axis)
        .map(([k, v]) => `${shortKey(k)}=${v}`)
        .join(" ");
      const x = Number(keys[r].find(([k]) => k === axis)[1]);
      for (const f of figures(run)) {
        const id = axis + "|" + others + "|" + f.name;
        const c = curves.get(id) || {
          set,
          name: f.name + (others ? ` (${others})` : ""),
          x: [],
          y: [],
          axis,
          xKind: kindOf(axis, ""),
          xUnit: kindOf(axis, "") === "size" ? "B" : "",
          unit: f.unit,
        };
        c.x.push(x);
        c.y.push(f.value);
        curves.set(id, c);
      }
    });
  }
  return [...curves.values()].filter((c) => c.x.length > 1 && new Set(c.y).size > 1);
}

function sorted(c) {
  const order = c.x.map((_, i) => i).sort((a, b) => c.x[a] - c.x[b]);
  c.x = order.map((i) => c.x[i]);
  c.y = order.map((i) => c.y[i]);
  c.title = `${c.set.title}  ${c.name}`;
  return c;
}

const GOOD = [
  /half_rtt$/,
  /latency$/,
  /bandwidth(_in)?$/,
  /latency mean$/,
  /half_rtt(_mean)?( mean)?$/,
  /accepted$/,
  /bandwidth_out$/,
  /rate$/,
];

function rank(c) {
  const name = c.name.replace(/ \(.*\)$/, "");
  const g = GOOD.findIndex((re) => re.test(name));
  return g < 0 ? GOOD.length : g;
}

/** Charts: curves with the same kind of x and the same dimension of y. */
export function charts(data) {
  const groups = new Map();
  for (const set of data.sets) {
    const series = seriesCurves(set).map(sorted);
    const taken = new Set(series.map((c) => c.name));
    for (const c of [
      ...series,
      ...sweepCurves(set)
        .map(sorted)
        .filter((s) => !taken.has(s.name)),
    ]) {
      const key = c.xKind + "|" + dimension(c.unit);
      if (!groups.has(key))
        groups.set(key, {
          key,
          xKind: c.xKind,
          dim: dimension(c.unit),
          unit: c.unit,
          xUnit: c.xUnit,
          curves: [],
        });
      groups.get(key).curves.push(c);
    }
  }
  for (const g of groups.values()) {
    g.marks = data.rows.filter(
      (r) =>
        r.curve &&
        g.xKind === "size" &&
        dimension(r.unit) === g.dim &&
        g.curves.some((c) => c.set.file === r.file && c.set.experiment === r.curve),
    );
    choose(g);
  }
  return [...groups.values()];
}

const SHOWN = 8;

/** One curve of each set is shown at first, those with published numbers before others, and the
 * unit most of these have. */
function choose(g) {
  const best = new Map();
  for (const c of g.curves) {
    const now = best.get(c.set);
    if (c.x.length > 2 && rank(c) < GOOD.length && (!now || rank(c) < rank(now)))
      best.set(c.set, c);
  }
  const marked = (c) =>
    c.set.nth < 2 && g.marks.some((r) => c.set.file === r.file && c.set.experiment === r.curve);
  const list = [...best.values()]
    .sort((a, b) => marked(b) - marked(a) || a.set.nth - b.set.nth || rank(a) - rank(b))
    .slice(0, SHOWN);
  const shown = list.length ? list : g.curves.slice(0, 1);
  g.curves.sort((a, b) => shown.includes(b) - shown.includes(a) || rank(a) - rank(b));
  g.curves.forEach((c, i) => {
    c.shown = shown.includes(c);
    c.slot = i;
  });
  if (UNITS[g.dim]) {
    const n = (u) => shown.filter((c) => c.unit === u).length;
    g.unit = Object.keys(UNITS[g.dim]).reduce((a, u) => (n(u) > n(a) ? u : a));
    const most = Math.max(...shown.flatMap((c) => c.y.map((y) => convert(y, c.unit, g.unit))));
    if (g.unit === "ns" && most > 2e4) g.unit = "us";
  }
}
