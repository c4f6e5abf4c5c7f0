// SPDX-License-Identifier: Apache-2.0
// What ran, headline numbers, failed checks.
import { h, section, num, plural, time } from "./dom.js";
import { pointKeys } from "./data.js";
import { published, verdict } from "./published.js";

function tile(value, label, state) {
  return h(
    "div",
    { class: "tile" + (state ? " " + state : "") },
    h("strong", {}, value),
    h("span", {}, label),
  );
}

function tiles(data) {
  const { rows, runs } = data,
    out = [];
  const n = (v) => rows.filter((r) => verdict(r) === v).length;
  if (rows.length) {
    out.push(
      tile(
        `${n("pass")} of ${rows.length - n("-")}`,
        "published numbers within tolerance",
        n("fail") ? "" : "good",
      ),
    );
    if (n("differs")) out.push(tile(String(n("differs")), "known to differ, see notes", "differs"));
    out.push(tile(String(n("fail")), "published numbers missed", n("fail") ? "bad" : ""));
  }
  const failed = runs.filter((r) => r.failed);
  out.push(
    tile(
      String(runs.length),
      `${runs.length === 1 ? "run" : "runs"} of ${plural(new Set(runs.map((r) => r.experiment)).size, "experiment")}`,
    ),
  );
  out.push(
    tile(
      String(failed.length),
      failed.length === 1 ? "run with failed checks" : "runs with failed checks",
      failed.length ? "bad" : "",
    ),
  );
  const partial = runs.filter((r) => r.params.has("partial"));
  if (partial.length)
    out.push(tile(String(partial.length), "ended early: results are partial", "differs"));
  return h("div", { class: "tiles" }, out);
}

// ---- what ran ----

const HEAD = [
  /half_rtt(_mean)?$/,
  /(^|\.)latency$/,
  /bandwidth(_in|_out)?$/,
  /accepted$/,
  /send_rate$/,
  /(^|\.)rate$/,
];

/** The few figures one would ask for first. */
function headline(run) {
  const found = [];
  for (const re of HEAD) {
    const m = run.metrics.find(([n, , v]) => re.test(n) && v);
    if (m && found.length < 2) found.push(`${m[0]} ${num(m[2])} ${m[1]}`);
  }
  return found.join(", ");
}

function runTime(run) {
  const t = run.counters.find(([n]) => n === "sim.time");
  return t ? time(Number(t[2]) * 1e-9) : "";
}

function setLines(s, choose) {
  const failed = s.runs.reduce((a, r) => a + r.failed, 0);
  const axes = [...new Set(s.runs.flatMap((r) => pointKeys(r.point).map(([k]) => k)))].join(", ");
  return h(
    "tr",
    { class: failed ? "fail" : "" },
    h(
      "th",
      { scope: "row" },
      h("a", { href: "#network", onclick: () => choose(s.runs[0]) }, s.title),
    ),
    h(
      "td",
      { class: "wide", title: s.about },
      s.about.replace(/^(.{20,}?\.) .*$/s, "$1"),
      ...s.runs.flatMap((r) => r.failures.map((f) => h("div", { class: "failure" }, f))),
    ),
    h(
      "td",
      { class: "num" },
      String(s.runs.length),
      axes ? h("div", { class: "note over" }, axes.replace(/, /g, ",\u200b ")) : null,
    ),
    h("td", { class: "num" }, runTime(s.runs[0])),
    h("td", {}, headline(s.runs[0])),
    h("td", { class: "verdict" }, failed ? plural(failed, "failure") : "pass"),
  );
}

function whatRan(data, choose) {
  return h(
    "details",
    { open: !data.rows.length },
    h("summary", {}, h("h3", {}, "What ran")),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "data ran" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "experiment"),
            h("th", { scope: "col" }, "what"),
            h("th", { scope: "col", class: "num" }, "runs"),
            h("th", { scope: "col", class: "num" }, "time"),
            h("th", { scope: "col" }, "headline, first run"),
            h("th", { scope: "col" }, "checks"),
          ),
        ),
        h(
          "tbody",
          {},
          data.sets.map((s) => setLines(s, choose)),
        ),
      ),
    ),
  );
}

export function summary(data, choose) {
  return section(
    "summary",
    "Summary",
    tiles(data),
    data.rows.length ? published(data) : null,
    whatRan(data, choose),
  );
}
