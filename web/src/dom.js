// SPDX-License-Identifier: Apache-2.0
// Elements and numbers. Text from results only ever becomes text nodes.

/** h("td", { class: "num", onclick: f }, "text", child, ...) */
export function h(tag, attrs, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs || {})) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "value" || k === "checked") e[k] = v;
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined));
  return e;
}

export function section(id, title, ...children) {
  return h(
    "section",
    { id, "aria-labelledby": id + "-title" },
    h("h2", { id: id + "-title" }, title),
    ...children,
  );
}

const MINUS = "\u2212",
  THIN = "\u202f";

/** Six significant digits, as the program's tables have. */
export function num(v, digits = 6) {
  if (v === null || v === undefined) return "none";
  if (typeof v === "string") return group(v);
  if (!isFinite(v)) return "none";
  if (Number.isInteger(v) && Math.abs(v) < 1e15) return group(String(v));
  const a = Math.abs(v);
  if (a >= 1e9 || (a < 1e-4 && a > 0))
    return v
      .toExponential(digits - 1)
      .replace(/\.?0+e/, "e")
      .replace("-", MINUS);
  return group(String(Number(v.toPrecision(digits))));
}

/** Thin spaces between thousands. */
export function group(text) {
  const [, sign, whole, rest] = /^(-?)(\d*)(.*)$/s.exec(text);
  return (
    (sign ? MINUS : "") +
    (whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN) : whole) +
    rest
  );
}

export function percent(share, digits = 1) {
  return (100 * share).toFixed(digits) + " %";
}

export function plural(n, one, many) {
  return `${group(String(n))} ${n === 1 ? one : many || one + "s"}`;
}

/** A time in microseconds with a unit that suits it. */
export function time(us) {
  const steps = [
    [1e6, "s"],
    [1e3, "ms"],
    [1, "us"],
    [1e-3, "ns"],
  ];
  const [scale, unit] = steps.find(([s]) => us >= s) || steps[3];
  return `${num(us / scale, 4)} ${unit}`;
}

/** A labelled select; options: [value, text] or {label, options}. */
export function select(label, options, value, onchange) {
  const one = ([v, t]) => h("option", { value: v, selected: String(v) === String(value) }, t);
  const s = h(
    "select",
    { onchange: () => onchange(s.value) },
    options.map((o) =>
      Array.isArray(o) ? one(o) : h("optgroup", { label: o.label }, o.options.map(one)),
    ),
  );
  return h("label", { class: "field" }, h("span", {}, label), s);
}

export function searchBox(label, oninput) {
  const i = h("input", {
    type: "search",
    placeholder: label,
    "aria-label": label,
    oninput: () => oninput(i.value),
  });
  return i;
}

/** Every word must occur; case does not matter. */
export function matcher(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (s) => {
    const t = s.toLowerCase();
    return words.every((w) => t.includes(w));
  };
}

export function toggle(label, pressed, onchange) {
  const b = h(
    "button",
    {
      type: "button",
      class: "toggle",
      "aria-pressed": String(pressed),
      onclick: () => {
        const now = b.getAttribute("aria-pressed") !== "true";
        b.setAttribute("aria-pressed", String(now));
        onchange(now);
      },
    },
    label,
  );
  return b;
}
