// SPDX-License-Identifier: Apache-2.0
// The page of `weft report`, out of the JSON that the program put into it.
import { h, select } from "./dom.js";
import { load } from "./data.js";
import { start, setTheme } from "./theme.js";
import { summary } from "./summary.js";
import { calls } from "./calls.js";
import { curves } from "./curves.js";
import { histograms } from "./hists.js";
import { network } from "./network.js";
import { counters, manifest, runOptions } from "./tables.js";

/** The run that network, counters and manifest speak of. */
class Current {
  constructor(data) {
    this.data = data;
    this.run = this.first();
    this.listeners = [];
    this.selects = [];
  }

  /** One with a network at work, if there is one: the most ports. */
  first() {
    const use = (r) =>
      r.ports.reduce((a, p) => a + (p.busy || []).reduce((x, y) => x + y, 0), 0) /
      (r.intervals[r.intervals.length - 1] || 1);
    const most = Math.max(...this.data.runs.map((r) => r.ports.length));
    return this.data.runs
      .filter((r) => r.ports.length === most)
      .reduce((a, r) => (use(r) > use(a) ? r : a));
  }

  listen(f) {
    this.listeners.push(f);
    f();
  }

  choose(run) {
    this.run = run;
    this.selects.forEach((s) => {
      s.value = run.index;
    });
    this.listeners.forEach((f) => f());
  }

  select(label) {
    const field = select(label, runOptions(this.data), this.run.index, (v) =>
      this.choose(this.data.runs[v]),
    );
    field.classList.add("run");
    this.selects.push(field.querySelector("select"));
    return field;
  }
}

function header(data, sections) {
  const names = data.files.map((f) => f.name).join(", ");
  document.title = `${names} \u2013 Weft report`;
  return h(
    "header",
    { class: "top" },
    h(
      "div",
      {},
      h("h1", {}, "Weft report"),
      h("span", { class: "files", title: names }, names),
      h(
        "nav",
        { "aria-label": "Sections" },
        sections.map((s) => h("a", { href: "#" + s.id }, s.querySelector("h2").textContent)),
      ),
      select(
        "Theme",
        [
          ["auto", "auto"],
          ["light", "light"],
          ["dark", "dark"],
        ],
        "auto",
        setTheme,
      ),
    ),
  );
}

function page() {
  start();
  const data = load(document.getElementById("data").textContent);
  if (!data.runs.length) {
    document.body.append(h("main", {}, h("p", {}, "There are no runs in these results.")));
    return;
  }
  const current = new Current(data);
  const sections = [
    summary(data, (r) => current.choose(r)),
    calls(data),
    curves(data),
    histograms(data),
    network(data, current),
    counters(data, current),
    manifest(data, current),
  ].filter(Boolean);
  document.body.append(
    header(data, sections),
    h(
      "main",
      {},
      sections,
      h(
        "footer",
        {},
        `weft ${data.version}. Everything on this page is in this file; the results themselves are in ${data.files.map((f) => f.name).join(", ")}.`,
      ),
    ),
  );
  document.documentElement.dataset.ready = "yes";
}

page();
