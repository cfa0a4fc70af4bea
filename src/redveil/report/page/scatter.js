/**
 * Support against Jaccard index: findings as numbered points, each with a tick where chance would
 * be, and a threshold to move.
 */

import { printedCounts } from "./counts.js";
import { announce, h, s } from "./dom.js";
import { isWithin, pointing } from "./linking.js";
import { fixed, thousands } from "./wording.js";

const [HEIGHT, TOP, RIGHT, BOTTOM, LEFT] = [380, 34, 18, 46, 52];
// How far a number is from its point, and how high and how wide a digit is.
const [NEAR, LINE, DIGIT] = [8, 14, 7.5];
// How far apart two ranges are, at least.
const APART = 4;

/** Return a section with the scatter plot. */
export function scatterSection(result, link, list) {
  const { findings, pruned, units } = result;
  const frame = h("div", { class: "plot" });
  let plot = null;
  const draw = () => {
    const width = frame.clientWidth;
    if (width === 0) return;
    plot = drawn(result, link, list, width);
    frame.replaceChildren(plot.picture);
    plot.threshold(list.wanted.support);
    plot.visible(plot.last ?? new Set(findings.map((one) => one.number)));
  };
  new ResizeObserver(draw).observe(frame);
  list.watch((numbers, wanted) => {
    if (plot === null) return;
    plot.threshold(wanted.support);
    plot.visible(numbers);
  });
  link.subscribe((state) => plot?.light(state.over));
  const lost = pruned.length
    ? ` Small crosses were dropped when the list was made, because they may be noise.`
    : "";
  return h(
    "section",
    { id: "glance", "aria-labelledby": "glance-title" },
    h("h2", { id: "glance-title" }, "All findings at a glance"),
    h(
      "p",
      { class: "intro" },
      `Further right, more ${units} fit both descriptions; further up, the two fit more closely. ` +
        "A dot has the number of its finding and its range as a line; the short bar is where it " +
        "would be if its two descriptions were unrelated." +
        (findings.some((one) => one.confirmed === false) ? " Hollow dots are not confirmed." : "") +
        ` Drag the handle to hide what fits only a few.${lost}`,
    ),
    frame,
  );
}

function drawn(result, link, list, width) {
  const { findings, pruned, units } = result;
  const supports = [...findings.map((one) => one.support.both.estimate), ...pruned.map((p) => p[0])];
  const most = 1.06 * Math.max(...supports, 1);
  const x = (support) => LEFT + (Math.max(support, 0) / most) * (width - LEFT - RIGHT);
  const y = (index) => HEIGHT - BOTTOM - Math.min(Math.max(index, 0), 1) * (HEIGHT - BOTTOM - TOP);
  const ranges = rangePlaces(findings, x, y);
  const labels = labelPlaces(findings, ranges, x, y, width);
  const points = new Map(
    findings.map((one, at) => {
      const places = { label: labels.get(one.number), range: ranges[at] };
      return [one.number, point(one, x, y, link, places)];
    }),
  );
  const line = thresholdLine(x, most, list);
  const picture = s(
    "svg",
    {
      viewBox: `0 0 ${width} ${HEIGHT}`,
      width,
      height: HEIGHT,
      role: "group",
      "aria-label": `${findings.length} findings by number in both and Jaccard index; move with the arrow keys`,
    },
    axes(x, y, most, width, units),
    ...pruned.map(([support, index]) => cross(x(support), y(index))),
    ...points.values(),
    line.element,
  );
  moveByKeys([...points.values()]);
  return {
    picture,
    threshold: line.move,
    visible(numbers) {
      this.last = numbers;
      for (const [number, element] of points) element.classList.toggle("gone", !numbers.has(number));
    },
    light(over) {
      for (const one of findings) points.get(one.number).classList.toggle("lit", isLit(one, over));
    },
  };
}

function isLit(one, over) {
  if (over === null) return false;
  if (over.finding) return over.finding === one.number;
  const [[left], [right]] = one.ends;
  const single = one.ends[0].length === 1 && one.ends[1].length === 1;
  return single && isWithin(over, one.pair, left, right);
}

function point(one, x, y, link, { label, range }) {
  const place = {
    finding: one.number,
    pair: one.pair,
    left: new Set(one.ends[0]),
    right: new Set(one.ends[1]),
  };
  const [cx, { support }] = [x(one.support.both.estimate), one];
  const kind = one.confirmed === false ? "unconfirmed" : "confirmed";
  const text =
    `Finding ${one.number}: ${one.words[0]}; ${one.words[1]}. ` +
    `${thousands(printedCounts(support).both)} in both, Jaccard index ${fixed(one.jaccard.estimate, 2)}`;
  const { estimate } = one.jaccard;
  return s(
    "a",
    {
      href: `#finding-${one.number}`,
      class: `dot ${kind}`,
      tabindex: -1,
      "aria-label": text,
      ...pointing(link, place),
    },
    s("title", {}, text),
    s("line", { x1: range.x, x2: range.x, y1: range.bottom, y2: range.top, class: "range" }),
    s("path", { d: `M${cx - 6} ${y(one.expected_jaccard)}h12`, class: "own-chance" }),
    s("circle", { cx, cy: y(estimate), r: 12, class: "reach" }),
    s("circle", { cx, cy: y(estimate), r: 5.5, class: "mark" }),
    label === undefined ? null : s("text", { x: label[0], y: label[1] }, String(one.number)),
  );
}

/** Let the arrow keys move among points, from left to right; one of them is in the tab order. */
function moveByKeys(points) {
  const across = points.toSorted((a, b) => place(a) - place(b));
  across[0]?.setAttribute("tabindex", 0);
  across.forEach((element, at) => {
    element.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      let next = at + step;
      while (across[next]?.classList.contains("gone")) next += step;
      if (!across[next]) return;
      element.setAttribute("tabindex", -1);
      across[next].setAttribute("tabindex", 0);
      across[next].focus();
    });
  });
}

function place(element) {
  return Number(element.querySelector(".mark").getAttribute("cx"));
}

function cross(x, y) {
  return s("path", { d: `M${x - 3} ${y - 3}l6 6m0 -6l-6 6`, class: "pruned" });
}

/** Return where ranges are drawn: through their points, or beside the middle if two would merge. */
function rangePlaces(findings, x, y) {
  const placed = [];
  for (const { support, jaccard } of findings) {
    const [middle, top, bottom] = [x(support.both.estimate), y(jaccard.high), y(jaccard.low)];
    const merges = (at) =>
      placed.some((one) => Math.abs(one.x - at) < APART && one.top < bottom && top < one.bottom);
    const free = [0, -APART, APART].find((aside) => !merges(middle + aside)) ?? 0;
    placed.push({ x: middle + free, top, bottom });
  }
  return placed;
}

/** Return where numbers are put so that they hide neither each other nor a point nor a range. */
function labelPlaces(findings, ranges, x, y, width) {
  const centres = findings.map((one) => [x(one.support.both.estimate), y(one.jaccard.estimate)]);
  const points = centres.map(([cx, cy]) => [cx - 6, cy - 6, cx + 6, cy + 6]);
  const lines = ranges.map((one) => [one.x - 2, one.top, one.x + 2, one.bottom]);
  const taken = [...points];
  const places = new Map();
  findings.forEach(({ number }, at) => {
    const wide = DIGIT * String(number).length;
    const [cx, cy] = centres[at];
    const possible = candidates(cx, cy, wide, ranges[at]).filter(
      (box) => box[0] > LEFT && box[2] < width && !taken.some((other) => meet(box, other)),
    );
    // Where there is no room beside the ranges, a number may cross one.
    const free = possible.find((box) => !lines.some((other) => meet(box, other))) ?? possible[0];
    if (free === undefined) return;
    taken.push(free);
    places.set(number, [free[0], free[3] - 3]);
  });
  return places;
}

/** Return boxes around a point, the nearest first; those at the ends of its range come second. */
function candidates(cx, cy, wide, range) {
  const boxed = ([x1, y1]) => [x1, y1, x1 + wide, y1 + LINE];
  const [start, above] = [range.x - wide / 2, range.top - LINE - 1];
  const ends = [
    [start, above],
    [start, range.bottom + 1],
  ].map(boxed);
  const [near, ...far] = [0, 7, 14].map((more) => {
    const [out, beside] = [NEAR + more, NEAR - 2 + more];
    const [right, left, middle] = [cx + beside, cx - beside - wide, cx - wide / 2];
    const corners = [
      [right, cy - out - LINE / 2],
      [left, cy - out - LINE / 2],
      [right, cy + out - LINE / 2],
      [left, cy + out - LINE / 2],
      [cx + out, cy - LINE / 2],
      [cx - out - wide, cy - LINE / 2],
      [middle, cy - out - LINE],
      [middle, cy + out],
    ];
    return corners.map(boxed);
  });
  return [...near, ...ends, ...far.flat()];
}

function meet(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

function axes(x, y, most, width, units) {
  const step = niceStep(most / (width < 500 ? 3 : 6));
  const across = [];
  for (let at = 0; at <= most; at += step) across.push(at);
  return s(
    "g",
    { class: "axes", "aria-hidden": "true" },
    s("path", { d: `M${x(0)} ${y(1)}V${y(0)}H${width - RIGHT}` }),
    s("path", { d: across.map((at) => `M${x(at)} ${y(0)}v4`).join("") }),
    ...[0, 0.25, 0.5, 0.75, 1].map((index) =>
      s("text", { x: LEFT - 10, y: y(index) + 4, "text-anchor": "end" }, String(index)),
    ),
    ...across.map((at) =>
      s("text", { x: x(at), y: y(0) + 18, "text-anchor": "middle" }, thousands(at)),
    ),
    s(
      "text",
      { x: (LEFT + width - RIGHT) / 2, y: y(0) + 36, "text-anchor": "middle" },
      `${units} in both`,
    ),
    s("text", { x: 8, y: TOP - 18 }, "Jaccard index"),
  );
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= least);
}

/** Return a line that a pointer drags; the slider above the list does the same by keyboard. */
function thresholdLine(x, most, list) {
  const path = s("path", { d: `M0 ${TOP}V${HEIGHT - BOTTOM}`, class: "threshold" });
  const grip = s("rect", { x: -14, y: TOP, width: 28, height: HEIGHT - BOTTOM - TOP, class: "grip" });
  const middle = (TOP + HEIGHT - BOTTOM) / 2;
  const knob = s(
    "g",
    { class: "knob" },
    s("rect", { x: -6, y: middle - 18, width: 12, height: 36, rx: 3 }),
    s("path", { d: `M-2 ${middle - 8}v16m4 -16v16` }),
  );
  const element = s("g", { class: "drag", "aria-hidden": "true" }, grip, path, knob);
  const valueAt = (event) => {
    const box = element.ownerSVGElement.getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
    return Math.round(Math.min(Math.max(share, 0), 1) * most);
  };
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  element.addEventListener("pointermove", (event) => {
    if (element.hasPointerCapture(event.pointerId)) list.set({ support: valueAt(event) });
  });
  element.addEventListener("pointerup", (event) => element.releasePointerCapture(event.pointerId));
  element.addEventListener("lostpointercapture", () => announce("Threshold moved"));
  return {
    element,
    move: (support) => element.setAttribute("transform", `translate(${x(support)} 0)`),
  };
}
