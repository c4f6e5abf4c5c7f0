// SPDX-License-Identifier: Apache-2.0
// The list beside a plot: which curves are drawn, in which colour.
import { h, searchBox, matcher } from "./dom.js";
import { seriesColour, onTheme } from "./theme.js";

const LISTED = 60,
  MANY = 10;

/** items: {title, shown, slot}; change() after every click. */
export function picker(label, items, change) {
  const list = h("ul", { class: "picks" });
  let wanted = matcher("");
  const row = (it) => {
    const key = h("i", { class: "key" });
    const box = h("input", {
      type: "checkbox",
      checked: it.shown,
      onchange: () => {
        it.shown = box.checked;
        change();
      },
    });
    it.key = key;
    return h("li", {}, h("label", { title: it.title }, box, key, h("span", {}, it.title)));
  };
  const paint = () =>
    items.forEach((it) => {
      if (it.key) it.key.style.background = seriesColour(it.slot);
    });
  const fill = () => {
    const found = items.filter((it) => wanted(it.title));
    list.replaceChildren(
      ...found.slice(0, LISTED).map(row),
      found.length > LISTED
        ? h("li", { class: "more" }, `and ${found.length - LISTED} more: search to see them`)
        : "",
    );
    paint();
  };
  const set = (f) => {
    items
      .filter((it) => wanted(it.title))
      .slice(0, LISTED)
      .forEach((it) => {
        it.shown = f;
      });
    fill();
    change();
  };
  onTheme(list, paint);
  fill();
  return h(
    "div",
    { class: "picker", role: "group", "aria-label": label },
    items.length > MANY
      ? searchBox(`Search ${items.length} series`, (t) => {
          wanted = matcher(t);
          fill();
        })
      : null,
    list,
    h(
      "div",
      { class: "picker-all" },
      h("button", { type: "button", onclick: () => set(true) }, "all"),
      h("button", { type: "button", onclick: () => set(false) }, "none"),
    ),
  );
}
