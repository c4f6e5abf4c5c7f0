// SPDX-License-Identifier: Apache-2.0
// Published numbers beside the model's, with search.
import { h, num, select, searchBox, matcher } from "./dom.js";

/** "-": a value of other hardware, shown beside the model's and not judged. */
export function verdict(row) {
  if (row.within === "-") return "-";
  return row.pass ? "pass" : row.enforced ? "fail" : "differs";
}

const BASES = ["structural", "predicted", "calibrated", "input"];

/** Rows by system and basis: "12 of 13". */
function overview(rows) {
  const systems = [...new Set(rows.map((r) => r.system))];
  const cell = (list) => {
    const judged = list.filter((r) => verdict(r) !== "-");
    return judged.length ? `${judged.filter((r) => r.pass).length} of ${judged.length}` : "";
  };
  return h(
    "table",
    { class: "data tight" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "within tolerance"),
        BASES.map((b) => h("th", { scope: "col", class: "num" }, b)),
        h("th", { scope: "col", class: "num" }, "all"),
      ),
    ),
    h(
      "tbody",
      {},
      systems.map((s) => {
        const own = rows.filter((r) => r.system === s);
        return h(
          "tr",
          {},
          h("th", { scope: "row" }, s),
          BASES.map((b) => h("td", { class: "num" }, cell(own.filter((r) => r.basis === b)))),
          h("td", { class: "num" }, cell(own)),
        );
      }),
    ),
  );
}

/** Where the model lies between the ends of the tolerance. */
function gauge(row) {
  if (row.error_pct === null) return "";
  const tol = row.tolerance_pct,
    e = row.error_pct;
  const share = tol > 0 ? e / tol : Math.sign(e) * (e ? 1.5 : 0);
  const x = 30 + 20 * Math.max(-1.4, Math.min(1.4, share));
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 60 12");
  svg.setAttribute("class", "gauge " + verdict(row));
  svg.setAttribute("role", "img");
  svg.setAttribute(
    "aria-label",
    tol > 0 ? `${num(100 * Math.abs(share), 3)} % of the tolerance` : "no tolerance",
  );
  const part = (name, at) => {
    const p = document.createElementNS(svg.namespaceURI, name);
    Object.entries(at).forEach(([k, v]) => p.setAttribute(k, v));
    svg.append(p);
  };
  part("line", { x1: 10, x2: 50, y1: 6, y2: 6, class: "span" });
  part("line", { x1: 30, x2: 30, y1: 2, y2: 10, class: "mid" });
  part("circle", { cx: x, cy: 6, r: 3 });
  return svg;
}

function rowLine(r, many) {
  const v = verdict(r),
    sign = r.error_pct > 0 ? "+" : r.error_pct < 0 ? "\u2212" : "";
  return h(
    "tr",
    { class: v, "data-row": r.id, id: many ? null : "row-" + r.id },
    h("th", { scope: "row" }, r.id),
    h("td", { class: "wide" }, r.scenario, r.note ? h("div", { class: "note" }, r.note) : null),
    h("td", { class: "num" }, num(r.paper)),
    h("td", { class: "num model" }, num(r.model)),
    h("td", {}, r.unit),
    h(
      "td",
      { class: "num" },
      r.error_pct === null ? "" : sign + Math.abs(r.error_pct).toFixed(2) + " %",
    ),
    h("td", { class: "num" }, r.within.replace("+-", "\u00b1")),
    h("td", {}, gauge(r)),
    h("td", {}, r.basis, r.parameter ? h("div", { class: "note" }, r.parameter) : null),
    h("td", { class: "verdict" }, v),
  );
}

export function published(data) {
  const body = h("tbody", {}),
    state = { text: "", verdict: "", basis: "" },
    many = data.files.length > 1;
  const count = h("span", { class: "count", role: "status" });
  const fill = () => {
    const wanted = matcher(state.text);
    const found = data.rows.filter(
      (r) =>
        (!state.verdict || verdict(r) === state.verdict) &&
        (!state.basis || r.basis === state.basis) &&
        wanted(
          [r.id, r.system, r.scenario, r.parameter, r.note, r.at && r.at.experiment].join(" "),
        ),
    );
    body.replaceChildren(...found.map((r) => rowLine(r, many)));
    count.textContent = `${found.length} of ${data.rows.length}`;
  };
  fill();
  const heads = [
      "id",
      "scenario",
      "paper",
      "model",
      "unit",
      "error",
      "within",
      "",
      "basis",
      "verdict",
    ],
    right = ["paper", "model", "error", "within"];
  return h(
    "div",
    { id: "published" },
    h("h3", {}, "Published numbers"),
    h(
      "p",
      { class: "hint" },
      h("b", {}, "structural"),
      " follows from widths, sizes and clocks; ",
      h("b", {}, "predicted"),
      " from parameters fixed by something else; ",
      h("b", {}, "calibrated"),
      " means the named parameter was chosen to make the number come out; ",
      h("b", {}, "input"),
      " means the value is itself a parameter and the row shows that the built machine obeys it. ",
      "The gauge shows where the model lies within the tolerance.",
    ),
    h("div", { class: "scroll" }, overview(data.rows)),
    h(
      "div",
      { class: "tools" },
      searchBox("Search rows", (t) => {
        state.text = t;
        fill();
      }),
      select(
        "Verdict",
        [
          ["", "all"],
          ["pass", "pass"],
          ["differs", "differs"],
          ["fail", "fail"],
        ],
        "",
        (v) => {
          state.verdict = v;
          fill();
        },
      ),
      select("Basis", [["", "all"], ...BASES.map((b) => [b, b])], "", (v) => {
        state.basis = v;
        fill();
      }),
      count,
    ),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "data rows" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            heads.map((t) => h("th", { scope: "col", class: right.includes(t) ? "num" : null }, t)),
          ),
        ),
        body,
      ),
    ),
  );
}
