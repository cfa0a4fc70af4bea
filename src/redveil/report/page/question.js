/**
 * Free questions: what the chosen groups have in common, from released counts alone.
 */

import { answer } from "./answers.js";
import { heatMap } from "./cells.js";
import { copy, written } from "./copying.js";
import { printedCounts } from "./counts.js";
import { announce, button, h, unbroken } from "./dom.js";
import { isChosen } from "./linking.js";
import { bar, scale } from "./shapes.js";
import { chanceText, countRange, fixed, rangeText, shareText, thousands } from "./wording.js";

// As in `findings.py`.
const ADJUSTED =
  "Noise made the overlap come out larger than one of the two groups, which cannot be. Overlap and " +
  "index are as measured; the sizes of the groups were adjusted to them.";

/** Return a section with the heat map, the answer, and what cannot be asked. */
export function questionSection(result, link, tableOf) {
  const panel = h("div", { class: "answer", id: "answer", "aria-label": "Answer", role: "region" });
  const show = (state, what) => {
    if (what === "over") return;
    const { parts, said } = answered(result, state, tableOf);
    panel.replaceChildren(...parts);
    if (what !== "first") announce(said);
  };
  link.subscribe(show);
  show(link.state, "first");
  return h(
    "section",
    { id: "ask", "aria-labelledby": "ask-title" },
    h("h2", { id: "ask-title" }, "Ask more of the counts"),
    h(
      "p",
      { class: "intro" },
      "These counts have been released already, so asking about them reveals nothing further, " +
        "however often. Choose a cell, or any groups by their names.",
      h("span", { class: "by-hand" }, " Hold Shift to add a cell to what is chosen."),
    ),
    h("div", { class: "asking" }, heatMap(result, link, tableOf), panel),
    otherQuestions(result, link),
  );
}

function answered(result, state, tableOf) {
  const [left, right] = [[...state.left], [...state.right]];
  if (left.length === 0 || right.length === 0) {
    const [first, second] = result.views;
    const missing = left.length ? second : right.length ? first : `${first} and one in ${second}`;
    const text = `Choose a group in ${missing}.`;
    return { parts: [h("p", { class: "hint" }, text)], said: text };
  }
  const pair = result.pairs[state.pair];
  const all = left.length === pair.left.ends.length || right.length === pair.right.ends.length;
  const known = all ? { refused: wholeTable(result) } : answer(tableOf(state.pair), left, right);
  if (known.refused) {
    const text = `This cannot be asked: ${known.refused}.`;
    return { parts: [h("p", { class: "hint" }, text)], said: text };
  }
  return { parts: shown(result, state, known), said: summary(known) };
}

function wholeTable(result) {
  return `one side covers every group, so every one of the ${result.units} would fit`;
}

function summary(known) {
  return `Jaccard index ${fixed(known.jaccard.estimate, 2)}, range ${rangeText(known.jaccard)}`;
}

function shown(result, state, known) {
  const { units, views } = result;
  const { left, right, both } = known.support;
  const counts = printedCounts(known.support);
  const share = (size, support) =>
    shareText([counts.both, size], both, support, known.jaccard.low);
  const fact = (name, value) => [h("dt", {}, name), h("dd", {}, value)];
  return [
    h(
      "p",
      { class: "index" },
      h("span", { class: "value" }, fixed(known.jaccard.estimate, 2)),
      " ",
      h("a", { href: "#term-jaccard", class: "term" }, "Jaccard index"),
    ),
    scale(known),
    h(
      "p",
      {},
      `About ${thousands(counts.left)} ${units} are in the groups chosen in ${views[0]}; ` +
        `${share(counts.left, left)} of them are in those chosen in ${views[1]}, too. About ` +
        `${thousands(counts.right)} are in the latter; ${share(counts.right, right)} of them are ` +
        "in both.",
    ),
    h("figure", {}, h("figcaption", {}, ...alone(counts, views)), bar(counts)),
    counts.adjusted ? h("p", { class: "adjusted" }, ADJUSTED) : null,
    h(
      "dl",
      { class: "numbers" },
      ...fact("range", rangeText(known.jaccard)),
      ...fact("if unrelated", fixed(known.expected, 2)),
      ...fact(
        "corrected index",
        `${fixed(known.corrected.estimate, 2)} (${rangeText(known.corrected)})`,
      ),
      ...fact("in both", `${thousands(counts.both)} (${countRange(both, counts.unit)})`),
      ...fact("p at most", chanceText(known.p)),
    ),
    h("p", { class: "queries" }, h("code", { class: "left" }, ...unbroken(known.left))),
    h("p", { class: "queries" }, h("code", { class: "right" }, ...unbroken(known.right))),
    copyButtons(result, state, known),
  ].filter((part) => part !== null);
}

/** Return how many are in the groups of one table only, for the ends of the bar. */
function alone({ onlyLeft, onlyRight }, [left, right]) {
  const end = (name, view, count) =>
    h("span", { class: name }, h("bdi", {}, `${view} only ${thousands(count)}`));
  return [end("left", left, onlyLeft), end("right", right, onlyRight)];
}

function copyButtons(result, state, known) {
  const entry = {
    left: { text: known.left },
    right: { text: known.right },
    jaccard: known.jaccard,
    expected_jaccard: known.expected,
    corrected: known.corrected,
    support: known.support,
    p_value: known.p,
    p_value_confirming: known.p_confirming,
    p_value_estimate: known.p_estimate,
  };
  const formats = { "Copy text": "text", JSON: "json" };
  const buttons = Object.entries(formats).map(([name, format]) =>
    button(name, () => copy(written([entry], format), "Answer")),
  );
  return h("p", { class: "actions" }, ...buttons);
}

/** Return a field that says where an attribute can be asked about, or what it would take. */
function otherQuestions(result, link) {
  const output = h("div", { class: "where", role: "status" });
  const names = result.attributes.flat();
  const options = names.map(([name, title]) => h("option", { value: name }, title));
  const find = (event) => output.replaceChildren(...whereabouts(result, link, event.target.value));
  const input = h("input", { id: "about", list: "known", autocomplete: "off", input: find });
  return h(
    "div",
    { class: "other" },
    h("h3", {}, "Asking about something else"),
    h(
      "p",
      {},
      "Only groups that were counted together can be compared: those of one pair of trees. For " +
        "anything else the data must be asked again, which costs privacy. Type an attribute to " +
        "see whether a released tree has it.",
    ),
    h(
      "p",
      {},
      h("label", { for: "about" }, "Attribute "),
      input,
      h("datalist", { id: "known" }, ...options),
    ),
    output,
  );
}

function whereabouts(result, link, typed) {
  const wanted = typed.trim().toLowerCase();
  if (!wanted) return [];
  const sides = ["left", "right"];
  for (const [at, side] of sides.entries()) {
    const names = result.attributes[at];
    const found = names.find(([name, title]) => [name, title].some((t) => t.toLowerCase() === wanted));
    if (!found) continue;
    const [name] = found;
    const pairs = [...result.pairs.keys()].filter((pair) =>
      result.pairs[pair][side].attributes.includes(name),
    );
    return pairs.length ? jumps(pairs, link) : [unreleased(name, result.views[1 - at])];
  }
  return [h("p", {}, "No attribute of these tables has exactly this name.")];
}

function jumps(pairs, link) {
  const buttons = pairs
    .slice(0, 12)
    .map((pair) => button(`Pair ${pair + 1}`, () => link.choose(pair, [], [])));
  const more = pairs.length > 12 ? ` and ${pairs.length - 12} more` : "";
  return [h("p", { class: "actions" }, "Can be asked here, as far as its groups go: ", ...buttons, more)];
}

/** A text as it is typed in a shell: names of attributes may have apostrophes. */
function typed(text) {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}

function unreleased(name, other) {
  const query = `[${/^[\p{L}\p{N} _.-]+$/u.test(name) ? name : JSON.stringify(name)}]`;
  return h(
    "p",
    {},
    `No released tree uses it, so nothing was counted for it. The owner of the data can find what ` +
      `in ${other} goes with it (`,
    h("code", {}, `redveil describe ${typed(query)} LEFT RIGHT --epsilon 0.5`),
    ") or look more closely at a finding (",
    h("code", {}, "redveil refine RESULT LEFT RIGHT --of 1 --epsilon 0.5"),
    "). Either spends the ε that you name; redveil plan shows what it buys.",
  );
}
