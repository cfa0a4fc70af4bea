/**
 * The two trees of a pair, growing towards each other, and ribbons between their leaves.
 */

import { counted } from "./answers.js";
import { printedCount, printedCounts } from "./counts.js";
import { h, s } from "./dom.js";
import { isChosen, isWithin, pointing, roleOf } from "./linking.js";
import { branchOf, broken, depthOf, endOrder, innerNodes, widthOf } from "./trees.js";
import { thousands } from "./wording.js";

// The height of all ribbons together, the room around the picture and between two groups.
const RIBBONS = 240;
const MARGIN = 12;
const GAP = 8;
const BAR = 10;
// The largest width of the selector, and the room that its arrow and its edges take.
const SELECTOR = 736;
const ARROW = 56;
// The width of the largest page on which the selector has a line of its own.
const PHONE = 860;
// How long a value is that is never left out of a name there.
const LONGEST_VALUE = 20;

/** Return a section with the trees of the pair that is shown. */
export function meetingSection(result, link, tableOf) {
  const { views, units, pairs } = result;
  const frame = h("div", { class: "trees", tabindex: 0, role: "region" });
  frame.setAttribute("aria-label", "The two trees; the table below says the same");
  let picture = null;
  let widthDrawn = 0;
  const draw = () => {
    widthDrawn = frame.clientWidth;
    if (widthDrawn === 0) return;
    picture = drawn(result, link, tableOf(link.state.pair), Math.max(widthDrawn, 320));
    selector?.update();
    frame.replaceChildren(picture.element);
    picture.paint(link.state);
  };
  new ResizeObserver(() => frame.clientWidth !== widthDrawn && draw()).observe(frame);
  link.subscribe((state, what) => (what === "pair" ? draw() : picture?.paint(state)));
  const selector = pairs.length > 1 ? pairSelector(result, link) : null;
  return h(
    "section",
    { id: "meeting", "aria-labelledby": "meeting-title" },
    h("h2", { id: "meeting-title", tabindex: -1 }, "How the two tables meet"),
    h(
      "p",
      { class: "intro" },
      `A `,
      h("a", { href: "#term-tree", class: "term" }, "tree"),
      ` divides the ${units} by one question, then each part by another, until there are a few ` +
        `groups. On the left is a tree of ${views[0]}, on the right one of ${views[1]}. ` +
        `A ribbon is as wide as the number of ${units} that are in both of the groups it joins.`,
      h("span", { class: "screen" }, " Choose groups on either side to ask about them."),
    ),
    selector?.element ?? null,
    inColour(result, link),
    frame,
    legend(views),
  );
}

/** Return a line that says what is coloured: a finding, or groups that were chosen. */
function inColour({ findings }, link) {
  const line = h("p", { class: "coloured" });
  const show = (state) => {
    const one = findings.find((found) => isChosen(found, state));
    const chosen = state.left.size + state.right.size > 0;
    line.hidden = !chosen;
    line.textContent = one
      ? `In colour: finding ${one.number}, ${one.words[0]} ⟷ ${one.words[1]}.`
      : "In colour: the groups that are chosen.";
  };
  link.subscribe(show);
  show(link.state);
  return line;
}

/** Return what the colours of ribbons mean. */
function legend(views) {
  const key = (name, text) =>
    h("li", {}, h("span", { class: `key ribbon-key ${name}`, "aria-hidden": "true" }), text);
  return h(
    "ul",
    { class: "keys" },
    key("both", "both"),
    key("left", `${views[0]} only`),
    key("right", `${views[1]} only`),
    key("match", "both, in another finding"),
    key("", "any other"),
  );
}

function pairSelector(result, link) {
  const { pairs, findings } = result;
  const options = pairs.map((_, number) => h("option", { value: number }));
  const first = pairs.map((_, number) => findings.find((one) => one.pair === number)?.ends);
  const update = () => {
    const { pair: current, left, right } = link.state;
    const page = document.documentElement.clientWidth;
    const room = Math.min(SELECTOR, page - 36) - ARROW;
    options.forEach((option, number) => {
      // What is chosen is named, so that the names agree with the line below.
      const chosen = number === current && left.size && right.size ? [[...left], [...right]] : null;
      const names = firstQuestions(pairs[number], chosen ?? first[number]);
      // A phone has no room for how many there are; the open list shows it.
      const start = page > PHONE ? `${number + 1} of ${pairs.length}` : number + 1;
      option.textContent = fitting(`${start}: `, names, room);
    });
  };
  const go = (pair) => link.choose(Math.min(Math.max(pair, 0), pairs.length - 1), [], []);
  const change = (event) => go(Number(event.target.value));
  const select = h("select", { id: "pair", change }, ...options);
  const step = (text, by, label) =>
    h(
      "button",
      { type: "button", "aria-label": label, click: () => go(link.state.pair + by) },
      text,
    );
  link.subscribe((state, what) => {
    if (what === "over") return;
    select.value = state.pair;
    update();
  });
  update();
  select.value = link.state.pair;
  const element = h(
    "p",
    { class: "pairs" },
    h("label", { for: "pair" }, "Pair of trees "),
    select,
    step("‹", -1, "Previous pair of trees"),
    step("›", 1, "Next pair of trees"),
  );
  return { element, update };
}

/** Return the first question of each tree, answered as on the way to these ends. */
function firstQuestions(pair, ends) {
  const words = (side, branch) =>
    pair[side].nodes.find(({ node }) => node === branch)?.words ?? "";
  if (ends === undefined) return [words("left", 1), words("right", together(pair) ? 1 : 2)];
  return ["left", "right"].map((side, at) => {
    const branches = new Set(ends[at].map((place) => branchOf(pair[side].ends[place].node)));
    return words(side, branches.size === 1 && branches.has(2) ? 2 : 1);
  });
}

/** Return whether the first branches of two trees have more in common than by chance. */
function together({ left, right, fitted }) {
  const within = ({ ends }, place) => branchOf(ends[place].node) === 1;
  const sums = { both: 0, left: 0, right: 0, all: 0 };
  fitted.forEach((row, a) =>
    row.forEach((count, b) => {
      const [isLeft, isRight] = [within(left, a), within(right, b)];
      sums.all += count;
      if (isLeft) sums.left += count;
      if (isRight) sums.right += count;
      if (isLeft && isRight) sums.both += count;
    }),
  );
  return sums.both * sums.all >= sums.left * sums.right;
}

/** Return a name of a pair that fits into the selector: what is left out is never the value. */
function fitting(start, names, room) {
  const text = (most) => start + names.map((name) => shortened(name, most)).join(" ⟷ ");
  let most = 60;
  while (most > 8 && widthOf(text(most), 13.6, 400) > room) most -= 1;
  return text(most);
}

/** Return a text of about so many letters: its beginning, and a value that it ends with. */
function shortened(text, most) {
  if (text.length <= most) return text;
  const [end] = text.match(/(?: (?:up to|above|of|equal to|after|in))? [^ ]+$/) ?? [""];
  const kept = end.length <= LONGEST_VALUE ? end : "";
  return `${text.slice(0, Math.max(most - kept.length - 1, 4)).trimEnd()}…${kept}`;
}

function drawn(result, link, table, width) {
  const pair = result.pairs[link.state.pair];
  const number = link.state.pair;
  const narrow = width < 640;
  const sides = ["left", "right"].map((side) => laidOut(pair, side, table));
  const total = sides[0].sizes.reduce((sum, size) => sum + size, 0) || 1;
  const room = RIBBONS / total;
  const region = treeWidth(Math.max(...sides.map((side) => side.depth)), width, narrow);
  for (const side of sides) label(side, region, narrow);
  const height = 2 * MARGIN + Math.max(...sides.map((side) => needed(side, room)));
  for (const side of sides) stack(side, room, height);
  const [start, end] = [region, width - region];
  const matches = matched(result, number);
  const about = (row, column, count) => {
    const support = counted(table, [row], [column]);
    const printed = support === null ? count : printedCounts(support).both;
    return `about ${thousands(printed)} ${result.units}`;
  };
  const ribbons = makeRibbons(pair, sides, room, start, end, matches, link, number, about);
  const groups = sides.map((side, at) => {
    const { units, views } = result;
    const draw = { link, number, narrow, region, width, units, views };
    return at === 0 ? treeOf(side, "left", start, -1, draw) : treeOf(side, "right", end, 1, draw);
  });
  const name = `Two trees with ${sides[0].order.length} and ${sides[1].order.length} groups`;
  const size = { viewBox: `0 0 ${width} ${height}`, width, height };
  const element = s(
    "svg",
    { ...size, class: narrow ? "narrow" : null, role: "group", "aria-label": name },
    s("g", { class: "ribbons" }, ...ribbons.map((one) => one.element)),
    ...groups.map((group) => group.element),
  );
  const paint = (state) => {
    const { over } = state;
    element.classList.toggle("pointed", over !== null && over.pair === number);
    for (const { element: ribbon, left, right } of ribbons) {
      ribbon.dataset.role = roleOf(state, left, right);
      ribbon.classList.toggle("lit", isWithin(over, number, left, right));
    }
    for (const group of groups) group.paint(state);
  };
  return { element, paint };
}

/** Return the order and the sizes of a tree's ends. */
function laidOut(pair, side, table) {
  const tree = pair[side];
  const counts = pair.fitted.map((row) => row.map((count) => Math.max(count, 0)));
  const sizes = tree.ends.map((_, place) =>
    side === "left"
      ? counts[place].reduce((sum, count) => sum + count, 0)
      : counts.reduce((sum, row) => sum + row[place], 0),
  );
  // As in answers, which add counts as they are, also those that noise made negative.
  const all = [...pair[side === "left" ? "right" : "left"].ends.keys()];
  const printed = tree.ends.map((_, place) => {
    const [left, right] = side === "left" ? [[place], all] : [all, [place]];
    const support = counted(table, left, right);
    return support === null ? sizes[place] : printedCount(support[side]);
  });
  const depth = Math.max(...tree.ends.map(({ node }) => depthOf(node)), 1);
  return { tree, printed, order: endOrder(tree), sizes, depth, tops: [], heights: [], used: [] };
}

/** Break the labels of a side's ends into lines that fit beside its tree. */
function label(side, region, narrow) {
  const { tree, depth } = side;
  const outer = Math.max(depth - 1, 0);
  const [size, line, most] = narrow ? [11, 13, 14] : [12.5, 15, 4];
  const only = region - (narrow ? 20 : 36);
  const leafRoom = narrow || outer === 0 ? only : Math.min(180, region * 0.56);
  const innerRoom = outer === 0 ? 0 : (only - leafRoom) / outer;
  const showInner = !narrow && innerRoom >= 64;
  const words = new Map(tree.nodes.map((one) => [one.node, one.words]));
  const lines = tree.ends.map((end) => {
    // If inner nodes have labels, too, they say the rest of the path.
    const own = end.stuck ? end.short : (words.get(end.node) ?? end.words);
    return broken(showInner ? own : end.words, Math.max(leafRoom - 12, 40), most, size);
  });
  Object.assign(side, { words, lines, size, line, leafRoom, innerRoom, showInner });
}

/** Return how high the label of an end is. */
function slotOf(side, place) {
  return side.lines[place].length * side.line + 12;
}

/** Return how high a side is: each end as its size says, but with room for its label. */
function needed(side, room) {
  const slots = side.order.map(
    (place) => Math.max(side.sizes[place] * room, slotOf(side, place)) + GAP,
  );
  return slots.reduce((sum, one) => sum + one, -GAP);
}

/** Place the ends of a side below each other, over the whole height. */
function stack(side, room, height) {
  const spare = height - 2 * MARGIN - needed(side, room);
  const gap = GAP + spare / Math.max(side.order.length - 1, 1);
  let top = MARGIN;
  for (const place of side.order) {
    const tall = Math.max(side.sizes[place] * room, 1.5);
    const slot = slotOf(side, place);
    side.tops[place] = top + Math.max(slot - tall, 0) / 2;
    side.heights[place] = tall;
    side.used[place] = 0;
    top += Math.max(tall, slot) + gap;
  }
}

function treeWidth(depth, width, narrow) {
  if (narrow) return Math.round(width * 0.36);
  return Math.min(220 + 110 * (depth - 1), Math.round(width * 0.38));
}

/** Return which cells a finding of this pair covers, as text `left,right`. */
function matched(result, number) {
  const found = new Set();
  for (const one of result.findings) {
    if (one.pair !== number) continue;
    for (const left of one.ends[0]) for (const right of one.ends[1]) found.add(`${left},${right}`);
  }
  return found;
}

function makeRibbons(pair, [left, right], room, start, end, matches, link, number, about) {
  const made = [];
  const middle = (start + end) / 2;
  for (const row of left.order) {
    for (const column of right.order) {
      const count = Math.max(pair.fitted[row][column], 0);
      const thick = count * room;
      const [a, b] = [left.tops[row] + left.used[row], right.tops[column] + right.used[column]];
      left.used[row] += thick;
      right.used[column] += thick;
      if (thick < 0.2) continue;
      const d =
        `M${start} ${a}C${middle} ${a} ${middle} ${b} ${end} ${b}v${thick}` +
        `C${middle} ${b + thick} ${middle} ${a + thick} ${start} ${a + thick}Z`;
      const place = { pair: number, left: new Set([row]), right: new Set([column]) };
      const words = `${left.tree.ends[row].words}; ${right.tree.ends[column].words}`;
      const kind = matches.has(`${row},${column}`) ? "ribbon match" : "ribbon";
      const choose = () => link.choose(number, [row], [column]);
      const element = s(
        "path",
        { d, class: kind, click: choose, ...pointing(link, place) },
        s("title", {}, `${words}: ${about(row, column, count)}`),
      );
      made.push({ element, left: row, right: column });
    }
  }
  return made;
}

/** Return one tree: bars for its ends, labels, and branches. `out` is the direction of its root. */
function treeOf(side, name, edge, out, draw) {
  const { tree, order, words, leafRoom, innerRoom, showInner } = side;
  const inner = innerNodes(tree);
  const middleOf = new Map();
  const centre = (place) => side.tops[place] + side.heights[place] / 2;
  const labels = [];
  const branches = [];
  const buttons = order.map((place) => endButton(side, place, name, edge, out, draw));
  // Where a node's label begins, seen from its parent.
  const anchors = new Map();
  buttons.forEach((one, at) => {
    const end = tree.ends[order[at]];
    const key = end.stuck ? `stuck${end.node}` : end.node;
    middleOf.set(key, centre(order[at]));
    anchors.set(key, edge + out * (one.plain + 2));
  });
  const visit = (node) => {
    if (!inner.has(node)) return middleOf.get(node);
    const below = [2 * node + 1, 2 * node + 2];
    const ys = below.map(visit);
    if (middleOf.has(`stuck${node}`)) ys.push(middleOf.get(`stuck${node}`));
    const y = ys.reduce((sum, one) => sum + one, 0) / ys.length;
    middleOf.set(node, y);
    const level = side.depth - depthOf(node);
    const x = edge + out * (BAR + leafRoom + 22 + innerRoom * (level - 1));
    let begins = x;
    if (showInner && node > 0) {
      const lines = broken(words.get(node), Math.max(innerRoom - 24, 40), 8);
      const length = Math.max(...lines.map((one) => widthOf(one, side.size, 400)));
      labels.push(textBlock(side, lines, x + out * 4, y, out, words.get(node), "inner"));
      begins = x + out * (length + 8);
    }
    anchors.set(node, begins);
    const keys = middleOf.has(`stuck${node}`) ? [...below, `stuck${node}`] : below;
    // All bend before the first label; one that ends further in passes labels in a straight line.
    const outermost = out * Math.max(...keys.map((key) => out * anchors.get(key)));
    const bend = (x + outermost) / 2;
    for (const key of keys) {
      const y2 = middleOf.get(key);
      const curve = `C${bend} ${y} ${bend} ${y2} ${outermost} ${y2}`;
      branches.push(s("path", { d: `M${x} ${y}${curve}H${anchors.get(key)}` }));
    }
    return y;
  };
  if (!draw.narrow) visit(0);
  const element = s(
    "g",
    { class: `tree ${name}` },
    s("g", { class: "branches", "aria-hidden": "true" }, ...branches),
    ...labels,
    ...buttons.map((one) => one.element),
  );
  const paint = (state) => {
    const { over } = state;
    const chosen = state[name];
    for (const { element: group, place } of buttons) {
      group.setAttribute("aria-pressed", chosen.has(place));
      const lit = over !== null && over.pair === draw.number && (over[name]?.has(place) ?? false);
      group.classList.toggle("lit", lit);
    }
  };
  return { element, paint };
}

/** Return an end as a button: its bar and its label. */
function endButton(side, place, name, edge, out, draw) {
  const end = side.tree.ends[place];
  const { link, number, units } = draw;
  const [top, tall] = [side.tops[place], side.heights[place]];
  const [lines, room, high] = [side.lines[place], side.leafRoom, slotOf(side, place)];
  const count = `about ${thousands(side.printed[place])} ${units}`;
  const full = `${end.words}: ${count}`;
  // The name begins with what is seen; "neither a nor b" does not contain "no b".
  const seen = lines.join(" ");
  const spoken = end.words.includes(seen) ? full : `${seen}; ${full}`;
  const toggle = () => {
    const chosen = { left: new Set(link.state.left), right: new Set(link.state.right) };
    if (!chosen[name].delete(place)) chosen[name].add(place);
    link.choose(number, chosen.left, chosen.right);
  };
  const key = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    toggle();
  };
  // From the ribbons to the end of the label. What can be clicked reaches further.
  const long = (weight) => BAR + 13 + Math.max(...lines.map((one) => widthOf(one, side.size, weight)));
  const length = long(600);
  const box = (wide, name) => {
    const place = { x: out < 0 ? edge - wide : edge, y: top + tall / 2 - high / 2 };
    return s("rect", { ...place, width: wide, height: high, rx: 4, class: name });
  };
  const element = s(
    "g",
    {
      class: end.stuck ? "end stuck" : "end",
      role: "button",
      tabindex: 0,
      "aria-pressed": "false",
      "aria-label": `${spoken}, in ${draw.views[name === "left" ? 0 : 1]}`,
      click: toggle,
      keydown: key,
      ...pointing(link, { pair: number, left: null, right: null, [name]: new Set([place]) }),
    },
    s("title", {}, full),
    box(room + BAR, "reach"),
    box(length, "plate"),
    s("rect", { x: out < 0 ? edge - BAR : edge, y: top, width: BAR, height: tall, class: "stem" }),
    textBlock(side, lines, edge + out * (BAR + 7), top + tall / 2, out, null, "leaf"),
  );
  return { element, place, plain: long(400) };
}

/** Return lines of text around a height, ending or beginning at a place. */
function textBlock(side, lines, x, y, out, title, name) {
  const anchor = out < 0 ? "end" : "start";
  const first = y - ((lines.length - 1) * side.line) / 2 + 4;
  return s(
    "text",
    { class: name, "text-anchor": anchor },
    title === null ? null : s("title", {}, title),
    // Spaces without a width keep the words apart for those who listen.
    ...lines.flatMap((line, at) => [
      at ? s("tspan", { "font-size": 0 }, " ") : null,
      s("tspan", { x, y: first + at * side.line }, line),
    ]),
  );
}
