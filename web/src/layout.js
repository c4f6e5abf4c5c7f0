// SPDX-License-Identifier: Apache-2.0
// Where things stand: components of a run as nodes, cabled ports as half-links
// from the middle of their node half way to the other one.

/** Components and ports out of the rows of table `ports`. */
export function graph(run) {
  const nodes = new Map(),
    ports = new Map();
  const owner = (port) => port.slice(0, port.lastIndexOf("."));
  for (const p of run.ports) {
    const name = p.peer ? owner(p.name) : p.name;
    if (!nodes.has(name)) nodes.set(name, { name, kind: p.kind, ports: [] });
    const port = { ...p, node: nodes.get(name) };
    ports.set(p.name, port);
    nodes.get(name).ports.push(port);
  }
  for (const p of ports.values()) {
    const far = ports.get(p.peer);
    p.far = far && far.peer === p.name ? far : null;
  }
  return { nodes: [...nodes.values()], ports: [...ports.values()] };
}

function number(name) {
  return Number((/(\d+)\D*$/.exec(name) || [0, 0])[1]);
}

/** Ends that have a switch of their own stand in it. */
function joinEnds(g) {
  for (const n of g.nodes) {
    if (n.kind === "switch") continue;
    const to = new Set(n.ports.map((p) => p.far && p.far.node));
    const [sw] = to;
    if (to.size === 1 && sw && sw.kind === "switch") n.home = sw;
  }
}

function place(n, x, y, w, hgt) {
  Object.assign(n, { x, y, w, h: hgt });
}

/** So that they fill a picture that is wider than high. */
function planesAcross(planes, w, hgt) {
  let best = 1,
    size = 0;
  for (let a = 1; a <= planes; a++) {
    const s = Math.min(1.6 / (a * w), 1 / (Math.ceil(planes / a) * hgt));
    if (s > size * 1.001) {
      size = s;
      best = a;
    }
  }
  return best;
}

/** Switches of a torus or mesh: planes of the first two dimensions side by
 * side; links of further dimensions are stubs at an angle. */
function grid(g, dims, wrap) {
  const [nx, ny = 1, ...rest] = dims,
    planes = rest.reduce((a, b) => a * b, 1);
  const U = 1,
    gap = planes > 1 ? 0.9 : 0,
    across = planesAcross(planes, nx + gap, ny + gap);
  const at = (i) => {
    const x = i % nx,
      y = Math.floor(i / nx) % ny,
      p = Math.floor(i / nx / ny);
    return { x, y, p };
  };
  joinEnds(g);
  for (const n of g.nodes) {
    const i = number(n.home ? n.home.name : n.name),
      c = at(i);
    place(
      n,
      ((c.p % across) * (nx + gap) + c.x) * U,
      (Math.floor(c.p / across) * (ny + gap) + c.y) * U,
      0.42,
      0.36,
    );
    n.cell = c;
    n.index = i;
  }
  const angles = [
    [0.3, -0.3],
    [0.42, -0.12],
    [0.12, -0.42],
    [0.2, 0.4],
  ];
  for (const p of g.ports) {
    if (!p.far || p.node.home || p.far.node.home) continue;
    const a = p.node.cell,
      b = p.far.node.cell,
      dx = b.x - a.x,
      dy = b.y - a.y;
    if (a.p === b.p && Math.abs(dx) + Math.abs(dy) === 1) p.to = [dx * 0.5, dy * 0.5];
    else if (a.p === b.p && !dy && wrap) p.to = [-Math.sign(dx) * 0.38, 0];
    else if (a.p === b.p && !dx && wrap) p.to = [0, -Math.sign(dy) * 0.38];
    else p.to = stub(p, rest, angles, nx * ny, wrap);
  }
}

function stub(p, rest, angles, plane, wrap) {
  let a = p.node.cell.p,
    b = p.far.node.cell.p;
  for (let d = 0; d < rest.length; d++) {
    const ca = a % rest[d],
      cb = b % rest[d];
    a = Math.floor(a / rest[d]);
    b = Math.floor(b / rest[d]);
    if (ca === cb) continue;
    const round = wrap && rest[d] > 2 && Math.abs(ca - cb) === rest[d] - 1;
    const up = cb > ca !== round,
      [x, y] = angles[d % angles.length];
    return up ? [x, y] : [-x, -y];
  }
  return [0.2, 0.2];
}

/** Rows of nodes by their distance from those of the first row, over cables
 * that `along` accepts; the others are the last row. */
function rowsFrom(g, first, along) {
  const rows = [],
    seen = new Set();
  let row = first;
  while (row.length) {
    rows.push(row);
    row.forEach((n) => seen.add(n));
    row = [...new Set(row.flatMap((n) => n.ports.filter(along).map((p) => p.far && p.far.node)))]
      .filter((n) => n && !seen.has(n))
      .sort((a, b) => number(a.name) - number(b.name));
  }
  const left = g.nodes.filter((n) => !seen.has(n));
  if (left.length) rows.push(left);
  return rows;
}

function endsOf(g) {
  return g.nodes
    .filter((n) => n.kind !== "switch")
    .sort((a, b) => number(a.name.split(".")[0]) - number(b.name.split(".")[0]));
}

function placeRows(rows) {
  const width = Math.max(...rows.map((r) => r.length)),
    high = Math.max(1.3, Math.min(width * 0.45, width / 1.75 / Math.max(1, rows.length - 1)));
  rows.forEach((r, l) =>
    r.forEach((n, i) => {
      const step = width / r.length,
        sw = n.kind === "switch";
      place(
        n,
        (i + 0.5) * step,
        (rows.length - 1 - l) * high,
        sw ? Math.max(0.5, Math.min(step * 0.86, n.ports.length * 0.9)) : 0.78,
        sw ? 0.5 : 0.4,
      );
    }),
  );
}

/** Ends below, switches above them by their distance: crossbar, Clos, trees. */
function levels(g) {
  placeRows(rowsFrom(g, endsOf(g), () => true));
  fan(g);
}

/** Stages that are passed in one direction, upwards: fly, Clos, Benes. Cables
 * of the last stage lead back to the ends, so they are stubs. */
function stages(g) {
  const isBack = (p) => (p.node.kind === "switch" ? p.far : p)?.name.endsWith(".p1");
  const back = g.ports.filter((p) => p.far && p.node.kind !== p.far.node.kind && isBack(p));
  const stubs = new Set(back);

  placeRows(rowsFrom(g, endsOf(g), (p) => !stubs.has(p)));
  for (const p of back) p.back = p.far;
  for (const p of back) p.far = null;
  fan(g);
  for (const p of back) {
    const sw = p.node.kind === "switch",
      own = p.node.ports.filter((q) => stubs.has(q));
    const x = ((own.indexOf(p) + 0.5) / own.length - 0.5) * p.node.w * 0.94,
      y = (sw ? -1 : 1) * (p.node.h / 2);
    p.far = p.back;
    p.from = [x, y];
    p.to = [x, y + (sw ? -0.3 : 0.2)];
    p.edge = true;
  }
}

/** Both halves of a slim fly as rings, a group behind the other. */
function rings(g) {
  joinEnds(g);
  const main = switchesOf(g);
  const half = main.length / 2,
    r = Math.max(2, main.length / 8);
  main.forEach((n, i) => {
    const a = (2 * Math.PI * (i % half)) / half - Math.PI / 2,
      far = i < half ? r : r * 0.6;
    place(n, far * Math.cos(a), far * Math.sin(a), 0.5, 0.4);
  });
  joined(g);
}

function switchesOf(g) {
  return g.nodes
    .filter((n) => n.kind === "switch")
    .sort((a, b) => number(a.name) - number(b.name));
}

/** Ends of a switch stand in it. Cables are straight lines. */
function joined(g) {
  g.nodes.filter((n) => n.home).forEach((n) => place(n, n.home.x, n.home.y, 0.5, 0.4));
  straight(g);
}

/** Groups of `size` routers: each a small circle, all on a large one. */
function clusters(g, size) {
  joinEnds(g);
  const main = switchesOf(g),
    groups = Math.ceil(main.length / size),
    small = Math.max(0.55, size / 7),
    large = Math.max(groups > 1 ? 2.2 * small : 0, (groups * (2 * small + 0.8)) / (2 * Math.PI));
  main.forEach((n, i) => {
    const a = (2 * Math.PI * Math.floor(i / size)) / groups - Math.PI / 2,
      b = a + (2 * Math.PI * (i % size)) / size;
    place(
      n,
      large * Math.cos(a) + small * Math.cos(b),
      large * Math.sin(a) + small * Math.sin(b),
      0.5,
      0.4,
    );
    n.group = Math.floor(i / size);
  });
  joined(g);
}

/** Rows and columns of routers that are all joined are arcs, so that no router
 * is on the cable of two others. Planes of further dimensions are side by
 * side, each a little higher than the one before. */
function arcs(g, dims) {
  joinEnds(g);
  const [nx, ny, ...rest] = dims,
    planes = rest.reduce((a, b) => a * b, 1),
    bend = 0.5,
    across = planesAcross(planes, nx + 1, ny + 1),
    bow = (i, n) => (n > 2 ? bend * (1 - ((2 * i) / (n - 1) - 1) ** 2) : 0);
  for (const n of switchesOf(g)) {
    const i = number(n.name),
      x = i % nx,
      y = Math.floor(i / nx) % ny,
      p = Math.floor(i / nx / ny);
    place(
      n,
      (p % across) * (nx + 1) + x + bow(y, ny) + bow(Math.floor(p / across), planes),
      Math.floor(p / across) * (ny + 1) + y - bow(x, nx) - bow(p % across, across),
      0.36,
      0.3,
    );
  }
  joined(g);
}

/** Ports of wide nodes side by side, in the order of what they lead to. */
function fan(g) {
  for (const n of g.nodes) {
    for (const side of [-1, 1]) {
      const own = n.ports
        .filter((p) => p.far && Math.sign(p.far.node.y - n.y || 1) === side)
        .sort((a, b) => a.far.node.x - b.far.node.x);
      own.forEach((p, i) => {
        p.from = [((i + 0.5) / own.length - 0.5) * n.w * 0.94, (side * n.h) / 2];
        p.edge = true; // begins at the border of its node
      });
    }
  }
  for (const p of g.ports) {
    if (!p.far) continue;
    const a = [p.node.x + p.from[0], p.node.y + p.from[1]],
      b = [p.far.node.x + p.far.from[0], p.far.node.y + p.far.from[1]];
    p.to = [(a[0] + b[0]) / 2 - p.node.x, (a[1] + b[1]) / 2 - p.node.y];
  }
}

/** Neighbours of a hypercube stand side by side: the place of i in the Gray code. */
function gray(i) {
  let n = 0;
  for (; i; i >>= 1) n ^= i;
  return n;
}

function circle(g, cube) {
  joinEnds(g);
  const at = (n) => (cube ? gray(number(n.name)) : number(n.name.split(".")[0]));
  const main = g.nodes.filter((n) => !n.home).sort((a, b) => at(a) - at(b));
  const r = Math.max(1, main.length / 5);
  main.forEach((n, i) => {
    const a = (2 * Math.PI * i) / main.length - Math.PI / 2;
    place(n, r * Math.cos(a), r * Math.sin(a), 0.5, 0.4);
  });
  joined(g);
}

/** Links from middle to middle; several between the same two side by side. */
function straight(g) {
  const pairs = new Map();
  for (const p of g.ports) {
    if (!p.far || p.node.home || p.far.node.home) continue;
    const key = [p.node.name, p.far.node.name].sort().join("|");
    const cables = pairs.get(key) || pairs.set(key, new Set()).get(key);
    cables.add([p.name, p.far.name].sort().join("|"));
  }
  for (const p of g.ports) {
    if (!p.far || p.node.home || p.far.node.home) continue;
    const cables = [...pairs.get([p.node.name, p.far.node.name].sort().join("|"))];
    const k = cables.indexOf([p.name, p.far.name].sort().join("|")) - (cables.length - 1) / 2;
    const dx = p.far.node.x - p.node.x,
      dy = p.far.node.y - p.node.y,
      d = Math.hypot(dx, dy) || 1,
      turn = p.node.name < p.far.node.name ? 1 : -1;
    const off = [(-dy / d) * k * 0.12 * turn, (dx / d) * k * 0.12 * turn];
    p.from = off;
    p.to = [dx / 2 + off[0], dy / 2 + off[1]];
  }
}

/** A few ends without a switch, cabled to each other. */
function row(g) {
  const list = [...g.nodes].sort(
    (a, b) => number(a.name.split(".")[0]) - number(b.name.split(".")[0]),
  );
  list.forEach((n, i) => place(n, 2 * i, 0, 0.8, 0.55));
  straight(g);
}

const GROUPS = 512;

/** More than GROUPS switches: cubes of neighbours become one place. */
function grouped(g, dims) {
  const size = dims.slice(),
    by = dims.map(() => 1);
  while (size.reduce((a, b) => a * b, 1) > GROUPS) {
    const d = size.indexOf(Math.max(...size));
    by[d] *= 2;
    size[d] = Math.ceil(dims[d] / by[d]);
  }
  const blocks = new Map();
  for (const n of g.nodes) {
    if (n.kind !== "switch") continue;
    let i = number(n.name),
      key = 0,
      scale = 1;
    dims.forEach((d, k) => {
      key += Math.floor((i % d) / by[k]) * scale;
      scale *= size[k];
      i = Math.floor(i / d);
    });
    if (!blocks.has(key))
      blocks.set(key, { name: `group ${key}`, kind: "group", ports: [], members: [] });
    blocks.get(key).ports.push(...n.ports);
    blocks.get(key).members.push(n.name);
  }
  const out = {
    nodes: [...blocks].map(([k, b]) => ({
      ...b,
      name: `g${k}`,
      label: `${b.members[0]} and ${b.members.length - 1} more`,
    })),
    ports: [],
    by,
  };
  grid(out, size, false);
  out.nodes.forEach((n) => Object.assign(n, { w: 0.8, h: 0.8 }));
  return out;
}

const GRIDS = new Set(["torus", "mesh", "cmesh"]),
  STAGES = new Set(["fly", "clos", "benes"]),
  CIRCLES = new Set([
    "hypercube",
    "graph",
    "random_regular",
    "hyperx",
    "flattened_butterfly",
  ]),
  JOINED = new Set(["hyperx", "flattened_butterfly"]);

/** Routers of a group of a dragonfly, or 0. */
function groupSize(type, dims) {
  if (type === "dragonfly") return dims[0] || 0;
  return type === "dragonfly_plus" ? dims[0] + dims[1] || 0 : 0;
}

export function layout(run) {
  const g = graph(run),
    fabric = run.params.get("fabric.type") || "",
    type = fabric === "routed" ? run.params.get("fabric.topology") || "" : fabric;
  const switches = g.nodes.filter((n) => n.kind === "switch").length;
  let dims = (run.params.get("fabric.dims") || "")
    .split(" ")
    .map(Number)
    .filter((d) => d > 0);
  const size = groupSize(type, dims);
  if (dims.reduce((a, b) => a * b, 1) !== switches) dims = [];
  if (!dims.length && switches > GROUPS) {
    const w = Math.ceil(Math.sqrt(switches));
    dims = [w, Math.ceil(switches / w)];
  }
  if (dims.length && switches > GROUPS) return grouped(g, dims);
  if (dims.length && GRIDS.has(type)) grid(g, dims, type === "torus");
  else if (size) clusters(g, size);
  else if (dims.length > 1 && JOINED.has(type)) arcs(g, dims);
  else if (type === "slim_fly") rings(g);
  else if (STAGES.has(type)) stages(g);
  else if (CIRCLES.has(type)) circle(g, type === "hypercube");
  else if (switches) levels(g);
  else if (g.nodes.length <= 6) row(g);
  else circle(g, false);
  return g;
}
