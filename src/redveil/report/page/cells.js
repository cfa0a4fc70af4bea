/**
 * The leaf table of a pair as a heat map: counts with intervals, rows and cells to choose.
 */

import { counted } from "./answers.js";
import { printedCounts } from "./counts.js";
import { breakable, button, h } from "./dom.js";
import { isWithin, pointing, roleOf } from "./linking.js";
import { branchOf, endOrder, pathWords } from "./trees.js";
import { countRange, thousands } from "./wording.js";

// Larger tables have no room for intervals; they are shown for the cell that is pointed at.
const MOST_WITH_RANGES = 100;
const BELOW_ZERO =
  "Noise makes some counts negative. The table shows them as 0, but answers add them as they are, " +
  "so that the noise evens out. Sums of cells can therefore differ from an answer.";

/** Return the heat map of the pair that is shown, redrawn when another is. */
export function heatMap(result, link, tableOf) {
  const frame = h("div", { class: "cells", tabindex: 0, role: "region" });
  frame.setAttribute("aria-label", "Table of groups");
  const note = h("p", { class: "cell-note", "aria-hidden": "true" });
  const below = h("p", { class: "below-zero" }, BELOW_ZERO);
  const most = h("span");
  let table = null;
  const draw = () => {
    table = made(result, link, tableOf(link.state.pair), note);
    frame.replaceChildren(table.element);
    frame.scrollLeft = 0;
    below.hidden = result.pairs[link.state.pair].fitted.flat().every((count) => count > -0.5);
    most.textContent = ` ${table.most}`;
    table.paint(link.state);
  };
  link.subscribe((state, what) => (what === "pair" ? draw() : table.paint(state)));
  draw();
  return h("div", {}, frame, note, legend(result.views, most), below);
}

/** Return what the borders and the shades of cells mean. `most` says the largest count. */
function legend(views, most) {
  const shades = h("span", { class: "shade-key", "aria-hidden": "true" });
  const key = (role, text) =>
    h("li", {}, h("span", { class: "border-key", "data-role": role, "aria-hidden": "true" }), text);
  return h(
    "ul",
    { class: "keys" },
    key("both", "chosen in both"),
    key("left", `chosen in ${views[0]} only`),
    key("right", `chosen in ${views[1]} only`),
    h("li", {}, "shade: from 0 ", shades, " to", most),
  );
}

function made(result, link, table, note) {
  const number = link.state.pair;
  const pair = result.pairs[number];
  const [rows, columns] = [endOrder(pair.left), endOrder(pair.right)];
  const most = Math.max(...pair.fitted.flat(), 1);
  const detailed = rows.length * columns.length <= MOST_WITH_RANGES;
  // As in answers: rounded once, with the same unit.
  const printed = (row, column) => {
    const support = counted(table, [row], [column]);
    if (support === null) return { count: Math.max(Math.round(pair.fitted[row][column]), 0), range: null };
    const { both, unit } = printedCounts(support);
    return { count: both, range: countRange(support.both, unit) };
  };
  let largest = 0;
  const heads = { left: new Map(), right: new Map() };
  const cells = [];
  const head = (side, place, words) => {
    const made = headButton(pair, side, place, words, link, number);
    heads[side].set(place, made);
    return h("th", { scope: side === "left" ? "row" : "col", class: side }, made);
  };
  const groups = grouped(pair.right, columns);
  const cell = (row, column) => {
    const known = printed(row, column);
    const range = detailed ? known.range : null;
    const places = { row, column, at: cells.length };
    largest = Math.max(largest, known.count);
    const made = cellButton({ result, pair, link, number, count: known.count, range, ...places });
    made.addEventListener("focus", () => describe(row, column));
    made.addEventListener("pointerenter", () => describe(row, column));
    made.style.setProperty("--heat", (Math.max(pair.fitted[row][column], 0) / most).toFixed(3));
    cells.push({ element: made, row, column });
    return h("td", {}, made);
  };
  const describe = (row, column) => {
    if (detailed) return;
    const { count, range } = printed(row, column);
    const words = `${pair.left.ends[row].words}; ${pair.right.ends[column].words}`;
    note.textContent = `${words}: ${thousands(count)}${range ? ` (${range})` : ""}`;
  };
  const caption = `Number of ${result.units} by their group in ${result.views[0]} (rows) and ${result.views[1]} (columns)`;
  const element = h(
    "table",
    { class: detailed && columns.length <= 8 ? "heat" : "heat dense" },
    h("caption", {}, h("span", {}, caption)),
    h(
      "thead",
      {},
      groups.some(({ words }) => words) ? h("tr", {}, h("td"), ...groups.map(groupHead)) : null,
      h("tr", {}, h("td"), ...groups.flatMap(({ own }) => own.map((one) => head("right", ...one)))),
    ),
    h(
      "tbody",
      {},
      ...rows.map((row) =>
        h("tr", {}, head("left", row, pair.left.ends[row].words), ...columns.map((column) => cell(row, column))),
      ),
    ),
  );
  moveByKeys(cells, columns.length);
  const paint = (state) => {
    const { over } = state;
    element.classList.toggle("pointed", over !== null && over.pair === number);
    for (const { element: made, row, column } of cells) {
      const role = roleOf(state, row, column);
      made.dataset.role = role;
      made.setAttribute("aria-pressed", role === "both");
      made.classList.toggle("lit", isWithin(over, number, row, column));
    }
    for (const side of ["left", "right"]) {
      for (const [place, made] of heads[side]) {
        made.setAttribute("aria-pressed", state[side].has(place));
        const lit = over?.pair === number && (over[side]?.has(place) ?? false);
        made.classList.toggle("lit", lit);
      }
    }
  };
  return { element, paint, most: `${thousands(largest)} ${result.units}` };
}

/**
 * Return the columns in groups that share their first question, with the words that they share, and
 * with those that each has left. Columns of small trees need no groups.
 */
function grouped(tree, columns) {
  const full = (place) => tree.ends[place].words;
  const isDeep = tree.nodes.some(({ node }) => node > 2);
  if (!isDeep) return [{ words: "", own: columns.map((place) => [place, full(place)]) }];
  const branches = new Map();
  for (const place of columns) {
    const branch = branchOf(tree.ends[place].node);
    branches.set(branch, [...(branches.get(branch) ?? []), place]);
  }
  return [...branches].map(([branch, places]) => {
    const paths = places.map((place) => pathWords(tree, place));
    // Somebody stuck at the root, or a leaf beside a deep branch, shares nothing with others.
    if (branch === 0 || places.length < 2 || paths.some((path) => path.length < 2)) {
      return { words: "", own: places.map((place) => [place, full(place)]) };
    }
    const rests = paths.map((path) => path.slice(1).join(", ").split(" "));
    const shared = sharedStart(rests);
    const words = `${paths[0][0]}${shared ? `; ${rests[0].slice(0, shared).join(" ")} …` : ""}`;
    const left = (rest) => `${shared ? "… " : ""}${rest.slice(shared).join(" ")}`;
    return { words, own: places.map((place, at) => [place, left(rests[at])]) };
  });
}

/** Return how many words all lists begin with, as long as every one has a word left. */
function sharedStart(lists) {
  let count = 0;
  while (lists.every((one) => one.length > count + 1 && one[count] === lists[0][count])) count += 1;
  return count;
}

function groupHead({ words, own }) {
  const attributes = { colspan: own.length, class: "right group" };
  return words
    ? h("th", { ...attributes, scope: "colgroup", title: words }, h("span", {}, ...breakable(words)))
    : h("td", attributes);
}

function headButton(pair, side, place, shown, link, number) {
  const toggle = () => {
    const chosen = { left: new Set(link.state.left), right: new Set(link.state.right) };
    if (!chosen[side].delete(place)) chosen[side].add(place);
    link.choose(number, chosen.left, chosen.right);
  };
  const { words } = pair[side].ends[place];
  const made = button("", toggle, {
    class: "head",
    title: words,
    "aria-label": shown === words ? null : `${shown.replace("… ", "")}; ${words}`,
    "aria-pressed": "false",
    ...pointing(link, { pair: number, left: null, right: null, [side]: new Set([place]) }),
  });
  made.append(...breakable(shown));
  return made;
}

function cellButton({ result, pair, link, number, count, range, row, column, at }) {
  const choose = (event) => {
    const { left, right } = link.state;
    const more = event.shiftKey || event.ctrlKey || event.metaKey;
    if (more) link.choose(number, [...left, row], [...right, column]);
    else if (isOnly(left, row) && isOnly(right, column)) link.choose(number, [], []);
    else link.choose(number, [row], [column]);
  };
  const words = `${pair.left.ends[row].words}; ${pair.right.ends[column].words}`;
  const place = { pair: number, left: new Set([row]), right: new Set([column]) };
  const made = button("", choose, {
    class: count < 0.5 ? "cell none" : "cell",
    tabindex: at === 0 ? 0 : -1,
    "aria-pressed": "false",
    ...pointing(link, place),
  });
  const aloud = (text) => h("span", { class: "unseen" }, text);
  made.append(aloud(`${words}: `), h("b", {}, thousands(count)), aloud(` ${result.units}`));
  if (range !== null) made.append(aloud(", range "), h("small", {}, range));
  return made;
}

function isOnly(chosen, place) {
  return chosen.size === 1 && chosen.has(place);
}

/** Let the arrow keys move among cells; one of them is in the tab order. */
function moveByKeys(cells, width) {
  cells.forEach(({ element }, at) => {
    element.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: width, ArrowUp: -width };
      const step = steps[event.key];
      const next = cells[at + step]?.element;
      if (!step || !next) return;
      if (Math.abs(step) === 1 && Math.floor(at / width) !== Math.floor((at + step) / width)) return;
      event.preventDefault();
      element.setAttribute("tabindex", -1);
      next.setAttribute("tabindex", 0);
      next.focus();
    });
  });
}
