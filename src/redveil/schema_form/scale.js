/**
 * Cut points as a picture and as a line of text.
 */

import { h, s } from "./dom.js";
import { counted } from "./words.js";

const SHOWN = 14;
const WIDTH = 1000;

/** Return a preview of cut points: marks on a line, and their values. */
export function preview(points, row) {
  if (points.length === 0) return h("div", { class: "scale empty" });
  const places = positions(points, row);
  const marks = places.map((x) => s("line", { x1: x, x2: x, y1: 4, y2: 20 }));
  const picture = s(
    "svg",
    { viewBox: `0 0 ${WIDTH} 24`, preserveAspectRatio: "none", "aria-hidden": "true" },
    s("line", { class: "axis", x1: 0, x2: WIDTH, y1: 12, y2: 12 }),
    ...marks,
  );
  const ends = h(
    "div",
    { class: "ends", "aria-hidden": "true" },
    h("span", {}, row.minimum),
    h("span", {}, row.maximum),
  );
  return h("div", { class: "scale" }, picture, ends, h("p", {}, described(points)));
}

function described(points) {
  const few = points.length <= SHOWN;
  const shown = few ? points : [...points.slice(0, SHOWN - 2), "…", points.at(-1)];
  return `${counted(points.length, "cut point")}: ${shown.join(", ")}`;
}

/** Return where marks stand: by their numbers, or evenly where these would crowd together. */
function positions(points, row) {
  const numbers = points.map(Number);
  const low = Number(row.minimum);
  const high = Number(row.maximum);
  const even = row.cuts.rule.endsWith("decades") || ![...numbers, low, high].every(Number.isFinite);
  return points.map((_, place) =>
    even
      ? (WIDTH * (place + 1)) / (points.length + 1)
      : Math.min(WIDTH - 1, Math.max(1, (WIDTH * (numbers[place] - low)) / (high - low || 1))),
  );
}
