/**
 * The bar of a pair of counts, and the index with its interval, as `findings.py` draws them.
 */

import { s } from "./dom.js";
import { clipped, thousands } from "./wording.js";

/** Return the bar of printed counts: left only, both, right only. */
export function bar({ onlyLeft, both, onlyRight }) {
  const whole = onlyLeft + both + onlyRight || 1;
  const parts = { left: onlyLeft, both, right: onlyRight };
  let start = 0;
  const rects = Object.entries(parts).map(([name, size]) => {
    const width = (100 * size) / whole;
    const drawn = Math.max(width - (start + width < 99.9 ? 0.4 : 0), 0.2);
    const [y, height] = name === "both" ? [0, 14] : [3, 8];
    const place = { x: `${start}%`, width: `${drawn}%`, y, height, class: name };
    start += width;
    return size ? s("rect", place) : null;
  });
  const middle = (100 * (onlyLeft + both / 2)) / whole;
  const [anchor, x] = middle < 20 ? ["start", 0] : middle > 80 ? ["end", 100] : ["middle", middle];
  const label = s("text", { x: `${x}%`, y: 29, "text-anchor": anchor }, `both ${thousands(both)}`);
  return s("svg", { class: "bar" }, ...rects, label);
}

/** Return the index and its interval between 0 and 1, and a mark where chance would be. */
export function scale({ jaccard, expected }) {
  const at = (value) => 5 + 190 * clipped(value);
  return s(
    "svg",
    { viewBox: "0 0 200 34", class: "scale", "aria-hidden": "true" },
    s("line", { x1: 5, x2: 195, y1: 12, y2: 12, class: "axis" }),
    s("path", { d: "M5 8v8M100 10v4M195 8v8", class: "axis" }),
    s("line", { x1: at(jaccard.low), x2: at(jaccard.high), y1: 12, y2: 12, class: "interval" }),
    s("path", { d: `M${at(expected)} 3v18`, class: "chance" }),
    s("circle", { cx: at(jaccard.estimate), cy: 12, r: 5, class: "point" }),
    s("text", { x: 5, y: 32, "text-anchor": "middle" }, "0"),
    s("text", { x: 195, y: 32, "text-anchor": "middle" }, "1"),
  );
}
