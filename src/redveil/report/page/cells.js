/**
 * The leaf table of a pair as a heat map: counts with intervals, rows and cells to choose.
 */

import { answer } from "./answers.js";
import { breakable, button, h } from "./dom.js";
import { isWithin, pointing, roleOf } from "./linking.js";
import { endOrder } from "./trees.js";
import { rangeText, thousands } from "./wording.js";

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
  let table = null;
  const draw = () => {
    table = made(result, link, tableOf(link.state.pair), note);
    frame.replaceChildren(table.element);
    frame.scrollLeft = 0;
    below.hidden = result.pairs[link.state.pair].fitted.flat().every((count) => count > -0.5);
    table.paint(link.state);
  };
  link.subscribe((state, what) => (what === "pair" ? draw() : table.paint(state)));
  draw();
  return h("div", {}, frame, note, legend(result.views), below);
}

/** Return what the borders of cells mean. */
function legend(views) {
  const key = (role, text) =>
    h("li", {}, h("span", { class: "border-key", "data-role": role, "aria-hidden": "true" }), text);
  return h(
    "ul",
    { class: "keys" },
    key("both", "chosen in both"),
    key("left", `chosen in ${views[0]} only`),
    key("right", `chosen in ${views[1]} only`),
  );
}

function made(result, link, table, note) {
  const number = link.state.pair;
  const pair = result.pairs[number];
  const [rows, columns] = [endOrder(pair.left), endOrder(pair.right)];
  const most = Math.max(...pair.fitted.flat(), 1);
  const detailed = rows.length * columns.length <= MOST_WITH_RANGES;
  const rangeOf = (row, column) => {
    const found = answer(table, [row], [column]);
    return found.refused ? null : found.support.both;
  };
  const heads = { left: new Map(), right: new Map() };
  const cells = [];
  const head = (side, place) => {
    const made = headButton(pair, side, place, link, number);
    heads[side].set(place, made);
    return h("th", { scope: side === "left" ? "row" : "col", class: side }, made);
  };
  const cell = (row, column) => {
    const count = Math.max(pair.fitted[row][column], 0);
    const range = detailed ? rangeOf(row, column) : null;
    const places = { row, column, at: cells.length };
    const made = cellButton({ result, pair, link, number, count, range, ...places });
    made.addEventListener("focus", () => describe(row, column));
    made.addEventListener("pointerenter", () => describe(row, column));
    made.style.setProperty("--heat", (count / most).toFixed(3));
    cells.push({ element: made, row, column });
    return h("td", {}, made);
  };
  const describe = (row, column) => {
    if (detailed) return;
    const range = rangeOf(row, column);
    const words = `${pair.left.ends[row].words}; ${pair.right.ends[column].words}`;
    const count = thousands(Math.max(pair.fitted[row][column], 0));
    note.textContent = `${words}: ${count}${range ? ` (${rangeText(range, 0)})` : ""}`;
  };
  const caption = `Number of ${result.units} by their group in ${result.views[0]} (rows) and ${result.views[1]} (columns)`;
  const element = h(
    "table",
    { class: detailed && columns.length <= 8 ? "heat" : "heat dense" },
    h("caption", {}, h("span", {}, caption)),
    h("thead", {}, h("tr", {}, h("td"), ...columns.map((place) => head("right", place)))),
    h(
      "tbody",
      {},
      ...rows.map((row) =>
        h("tr", {}, head("left", row), ...columns.map((column) => cell(row, column))),
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
  return { element, paint };
}

function headButton(pair, side, place, link, number) {
  const toggle = () => {
    const chosen = { left: new Set(link.state.left), right: new Set(link.state.right) };
    if (!chosen[side].delete(place)) chosen[side].add(place);
    link.choose(number, chosen.left, chosen.right);
  };
  const { words } = pair[side].ends[place];
  const made = button("", toggle, {
    class: "head",
    title: words,
    "aria-pressed": "false",
    ...pointing(link, { pair: number, left: null, right: null, [side]: new Set([place]) }),
  });
  made.append(...breakable(words));
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
  if (range !== null) made.append(aloud(", range "), h("small", {}, rangeText(range, 0)));
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
