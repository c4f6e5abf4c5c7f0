// SPDX-License-Identifier: Apache-2.0
// Colours come from the style sheet, so that light, dark and print agree.

const listeners = new Map();

export function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Colour of series i: eight that tell apart for most eyes, then dashes. */
export function seriesColour(i) {
  return css(`--s${i % 8}`);
}
export function seriesDash(i) {
  return [[], [6, 4], [2, 3], [9, 3, 2, 3]][Math.floor(i / 8) % 4];
}

/** f runs whenever colours have changed, as long as el is part of the page. */
export function onTheme(el, f) {
  listeners.set(f, el);
}

const cache = new Map();
function rgb(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

/** 64 colours from --NAME0 to --NAME4. */
export function ramp(name) {
  if (cache.has(name)) return cache.get(name);
  const stops = [0, 1, 2, 3, 4].map((i) => rgb(css(`--${name}${i}`)));
  const out = [];
  for (let i = 0; i < 64; i++) {
    const t = (i / 63) * 4,
      k = Math.min(3, Math.floor(t));
    out.push(
      `rgb(${stops[k].map((v, c) => Math.round(v + (stops[k + 1][c] - v) * (t - k))).join(",")})`,
    );
  }
  cache.set(name, out);
  return out;
}
export function shade(name, share) {
  return ramp(name)[Math.max(0, Math.min(63, Math.round(share * 63)))];
}

let chosen = "auto";
const dark = matchMedia("(prefers-color-scheme: dark)");

function apply(theme) {
  document.documentElement.dataset.theme = theme;
  cache.clear();
  for (const [f, el] of listeners) {
    if (el.isConnected) f();
    else listeners.delete(f);
  }
}

/** "auto", "light" or "dark". */
export function setTheme(name) {
  chosen = name;
  apply(name === "auto" ? (dark.matches ? "dark" : "light") : name);
}

export let printing = false;

export function start() {
  setTheme("auto");
  dark.addEventListener("change", () => setTheme(chosen));
  addEventListener("beforeprint", () => {
    printing = true;
    apply("light");
  });
  addEventListener("afterprint", () => {
    printing = false;
    setTheme(chosen);
  });
}
