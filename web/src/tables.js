// SPDX-License-Identifier: Apache-2.0
// Counters and manifest of a run, with search; beside another run if wanted.
import { h, section, num, searchBox, matcher, select, plural } from "./dom.js";

const LISTED = 300;

export function runOptions(data, keep = () => true) {
  return data.files
    .map((f) => ({ label: f.name, options: f.runs.filter(keep).map((r) => [r.index, r.title]) }))
    .filter((g) => g.options.length);
}

/** A table that shows at most LISTED lines until asked for all. */
function longTable(heads, label) {
  const body = h("tbody", {}),
    count = h("span", { class: "count", role: "status" });
  const more = h("button", { type: "button", hidden: true }, "show all");
  let lines = [],
    all = false;
  const fill = () => {
    const some = all ? lines : lines.slice(0, LISTED);
    body.replaceChildren(
      ...some.map((cells) =>
        h(
          "tr",
          {},
          cells.map((c, i) =>
            h(i ? "td" : "th", { class: heads[i][1], scope: i ? null : "row" }, c),
          ),
        ),
      ),
    );
    more.hidden = some.length === lines.length;
    count.textContent =
      plural(lines.length, label) + (more.hidden ? "" : `, the first ${LISTED} shown`);
  };
  more.addEventListener("click", () => {
    all = true;
    fill();
  });
  return {
    count,
    more,
    set(l) {
      lines = l;
      all = false;
      fill();
    },
    el: h(
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
            heads.map(([t, c]) => h("th", { scope: "col", class: c }, t)),
          ),
        ),
        body,
      ),
      more,
    ),
  };
}

function difference(a, b) {
  if (a === undefined || b === undefined || a === b) return "";
  const d = Number(b) - Number(a);
  return (
    (d > 0 ? "+" : "") +
    num(d) +
    (Number(a) ? ` (${d > 0 ? "+" : ""}${num((100 * d) / Number(a), 3)} %)` : "")
  );
}

export function counters(data, current) {
  const table = longTable(
    [
      ["counter", ""],
      ["value", "num"],
      ["unit", ""],
      ["other run", "num"],
      ["difference", "num"],
    ],
    "counter",
  );
  let text = "",
    other = null,
    nonzero = false;
  const fill = () => {
    const wanted = matcher(text),
      run = current.run,
      names = new Map();
    for (const list of [run.metrics, run.counters])
      for (const [n, u, v] of list) names.set(n, [u, v]);
    const theirs = new Map(
      other ? [...other.metrics, ...other.counters].map(([n, , v]) => [n, v]) : [],
    );
    table.el.classList.toggle("alone", !other);
    table.set(
      [...names]
        .filter(([n, [u, v]]) => wanted(n + " " + u) && (!nonzero || Number(v)))
        .sort((a, b) => (a[0] < b[0] ? -1 : 1))
        .map(([n, [u, v]]) => [
          n,
          num(v),
          u,
          theirs.has(n) ? num(theirs.get(n)) : "",
          difference(v, theirs.get(n)),
        ]),
    );
  };
  current.listen(fill);
  const box = h("input", {
    type: "checkbox",
    onchange: () => {
      nonzero = box.checked;
      fill();
    },
  });
  return section(
    "counters",
    "Counters and metrics",
    h(
      "div",
      { class: "tools" },
      current.select("Run"),
      data.runs.length > 1
        ? select("Beside", [["", "none"], ...runOptions(data)], "", (v) => {
            other = v === "" ? null : data.runs[v];
            fill();
          })
        : null,
      searchBox("Search counters", (t) => {
        text = t;
        fill();
      }),
      h("label", { class: "field" }, box, h("span", {}, "not zero")),
      table.count,
    ),
    table.el,
  );
}

export function manifest(data, current) {
  const table = longTable(
    [
      ["parameter", ""],
      ["value", ""],
    ],
    "parameter",
  );
  let text = "";
  const fill = () => {
    const wanted = matcher(text);
    table.set(current.run.manifest.filter(([n, v]) => wanted(n + " " + v)));
  };
  current.listen(fill);
  return section(
    "manifest",
    "Manifest",
    h(
      "p",
      { class: "hint" },
      "Every parameter of every component with the value it had. Same experiment, same seed, same version: same results.",
    ),
    h(
      "div",
      { class: "tools" },
      current.select("Run"),
      searchBox("Search parameters", (t) => {
        text = t;
        fill();
      }),
      table.count,
    ),
    table.el,
  );
}
