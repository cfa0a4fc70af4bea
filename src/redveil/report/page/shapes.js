/**
 * The bar of a pair of supports, and the index with its interval, as `findings.py` draws them.
 */

import { s } from "./dom.js";
import { clipped } from "./wording.js";

/** Return the bar: left only, both, right only. */
export function bar({ left, right, both }) {
  const overlap = Math.max(both.estimate, 0);
  const parts = [
    ["left", Math.max(left.estimate - overlap, 0)],
    ["both", overlap],
    ["right", Math.max(right.estimate - overlap, 0)],
  ];
  const whole = parts.reduce((sum, [, size]) => sum + size, 0) || 1;
  let start = 0;
  const rects = parts.map(([name, size]) => {
    const width = (1000 * size) / whole;
    const drawn = Math.max(width - (start + width < 999 ? 4 : 0), 0);
    const [y, height] = name === "both" ? [0, 14] : [3, 8];
    const rect = s("rect", { x: start, y, width: drawn, height, class: name });
    start += width;
    return rect;
  });
  const view = { viewBox: "0 0 1000 14", preserveAspectRatio: "none", "aria-hidden": "true" };
  return s("svg", { ...view, class: "bar" }, ...rects);
}

/** Return the index and its interval between 0 and 1, and a mark where chance would be. */
export function scale({ jaccard, expected }) {
  const at = (value) => 5 + 190 * clipped(value);
  return s(
    "svg",
    { viewBox: "0 0 200 24", class: "scale", "aria-hidden": "true" },
    s("line", { x1: 5, x2: 195, y1: 12, y2: 12, class: "axis" }),
    s("path", { d: "M5 8v8M100 10v4M195 8v8", class: "axis" }),
    s("line", { x1: at(jaccard.low), x2: at(jaccard.high), y1: 12, y2: 12, class: "interval" }),
    s("path", { d: `M${at(expected)} 3v18`, class: "chance" }),
    s("circle", { cx: at(jaccard.estimate), cy: 12, r: 5, class: "point" }),
  );
}
