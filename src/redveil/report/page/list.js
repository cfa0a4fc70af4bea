/**
 * The list of findings: sorted, filtered, cut off at thresholds, copied.
 */

import { copy, written } from "./copying.js";
import { announce, button, h } from "./dom.js";
import { isWithin, pointing } from "./linking.js";
import { thousands } from "./wording.js";

const LISTED = "as listed";
const ORDERS = {
  [LISTED]: (a, b) => a.number - b.number,
  "corrected index": (a, b) => b.corrected.estimate - a.corrected.estimate,
  "Jaccard index": (a, b) => b.jaccard.estimate - a.jaccard.estimate,
  "number in both": (a, b) => b.support.both.estimate - a.support.both.estimate,
  p: (a, b) => a.p_value - b.p_value || a.number - b.number,
};
const FORMATS = { text: "text", JSON: "json" };

/** Build the tools above the list; return what other views need of it. */
export function findingsList(result, link) {
  const { findings } = result;
  const place = document.getElementById("findings");
  const articles = new Map(findings.map((one) => [one.number, elementOf(one)]));
  const headings = [...place.querySelectorAll(".part")];
  const wanted = { order: LISTED, text: "", support: 0, corrected: 0, confirmed: false };
  const watchers = [];
  const shown = () => findings.filter((one) => isWanted(one, wanted)).sort(ORDERS[wanted.order]);

  const toolbox = document.getElementById("toolbox");
  const count = toolbox.querySelector(".count");
  const none = document.getElementById("none-left");
  const update = () => {
    const visible = shown();
    const numbers = new Set(visible.map((one) => one.number));
    for (const [number, article] of articles) article.hidden = !numbers.has(number);
    place.append(...withHeadings(visible, articles, headings, wanted.order === LISTED));
    const said = `${visible.length} of ${findings.length} shown`;
    // As long as all are shown, there is nothing to say.
    count.textContent = visible.length < findings.length ? said : "";
    none.hidden = visible.length > 0;
    none.textContent = "No finding is left. Lower a threshold, or clear the filter.";
    for (const watch of watchers) watch(numbers, wanted);
    return said;
  };
  const set = (changes) => {
    Object.assign(wanted, changes);
    announce(update());
  };
  const tools = toolbar(result, wanted, set, shown);
  document.getElementById("tools").append(...tools.elements, tools.copying);
  toolbox.hidden = false;
  watchers.push(tools.show);
  for (const one of findings) addActions(one, articles.get(one.number), tools.format, link);
  link.subscribe((state) => {
    for (const one of findings) {
      articles.get(one.number).classList.toggle("lit", isLit(one, state.over));
    }
  });
  return { update, set, watch: (watcher) => watchers.push(watcher), wanted };
}

/** Return what is shown in its order: findings, and before the first of each part its heading. */
function withHeadings(visible, articles, headings, listed) {
  for (const heading of headings) heading.hidden = true;
  let last = null;
  return visible.flatMap((one) => {
    const article = articles.get(one.number);
    const heading = headings.findLast((part) => Number(part.dataset.first) <= one.number) ?? null;
    if (!listed || heading === last || heading === null) return [article];
    last = heading;
    heading.hidden = false;
    return [heading, article];
  });
}

function elementOf(one) {
  return document.getElementById(`finding-${one.number}`);
}

function isWanted(one, wanted) {
  return (
    one.support.both.estimate >= wanted.support &&
    (wanted.corrected === 0 || one.corrected.estimate >= wanted.corrected) &&
    (!wanted.confirmed || one.confirmed !== false) &&
    wanted.text.split(/\s+/).every((word) => one.searched.includes(word))
  );
}

/** Return whether a finding is the place that is pointed at, or covers it. */
function isLit(one, over) {
  if (over === null) return false;
  if (over.finding) return over.finding === one.number;
  if (over.pair !== one.pair) return false;
  const covered = { pair: one.pair, left: new Set(one.ends[0]), right: new Set(one.ends[1]) };
  const [left, right] = [over.left ?? covered.left, over.right ?? covered.right];
  return [...left].every((a) => [...right].every((b) => isWithin(covered, one.pair, a, b)));
}

function toolbar(result, wanted, set, shown) {
  const { findings, units } = result;
  const most = Math.max(...findings.map((one) => one.support.both.estimate), 1);
  const orders = Object.keys(ORDERS).map((name) => [name, name === LISTED ? result.order : name]);
  const order = select("sort-order", orders, (value) => set({ order: value }));
  const typed = (event) => set({ text: event.target.value.trim().toLowerCase() });
  const search = h("input", { id: "search", type: "search", input: typed, autocomplete: "off" });
  search.setAttribute("placeholder", "a name or a word");
  const support = slider("least-support", Math.ceil(most), 1, (value) => set({ support: value }));
  const corrected = slider("least-corrected", 1, 0.01, (value) => set({ corrected: value }));
  const confirmed = h("input", {
    id: "confirmed-only",
    type: "checkbox",
    change: (event) => set({ confirmed: event.target.checked }),
  });
  const format = select("copy-format", Object.keys(FORMATS).map((name) => [name, name]), () => {});
  const chosen = () => FORMATS[format.value];
  const all = button("Copy list", () => copy(written(shown(), chosen()), "List"));
  const some = findings.some((one) => one.confirmed === false);
  // Sliders say their values themselves.
  const outputs = [support, corrected].map((input) =>
    h("output", { for: input.id, "aria-live": "off" }),
  );
  const show = () => {
    support.value = wanted.support;
    corrected.value = wanted.corrected;
    outputs[0].textContent = `${thousands(wanted.support)} ${units}`;
    outputs[1].textContent = wanted.corrected.toFixed(2);
    support.setAttribute("aria-valuetext", outputs[0].textContent);
  };
  const elements = [
    field("Sort by", order),
    field("Find", search),
    field("In both at least", support, outputs[0]),
    field("Corrected index at least", corrected, outputs[1]),
    some ? h("label", { class: "check" }, confirmed, " confirmed only") : null,
  ];
  const copying = h("span", { class: "copying" }, field("Copy as", format), all);
  return { elements: elements.filter((one) => one !== null), copying, show, format: chosen };
}

function field(text, input, output = null) {
  const label = h("label", { for: input.id }, text);
  return h("span", { class: "field" }, label, input, output);
}

function select(id, names, act) {
  const options = names.map(([name, shown]) => h("option", { value: name }, shown));
  return h("select", { id, change: (event) => act(event.target.value) }, ...options);
}

function slider(id, max, step, act) {
  const input = (event) => act(Number(event.target.value));
  return h("input", { id, type: "range", min: 0, max, step, value: 0, input });
}

function addActions(one, article, format, link) {
  const place = {
    finding: one.number,
    pair: one.pair,
    left: new Set(one.ends[0]),
    right: new Set(one.ends[1]),
  };
  const show = () => {
    link.choose(one.pair, ...one.ends);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const head = document.getElementById("meeting-title");
    head.focus({ preventScroll: true });
    head.scrollIntoView({ behavior: still ? "auto" : "smooth" });
    announce(`Finding ${one.number} is chosen below`);
  };
  const actions = h(
    "p",
    { class: "actions" },
    button("Show below", show, { "aria-label": `Show below: finding ${one.number}` }),
    button("Copy", () => copy(written([one], format()), `Finding ${one.number}`), {
      "aria-label": `Copy finding ${one.number}`,
    }),
  );
  article.querySelector(".measure").append(actions);
  const handlers = pointing(link, place);
  article.addEventListener("pointerenter", handlers.pointerenter);
  article.addEventListener("pointerleave", handlers.pointerleave);
  article.addEventListener("focusin", handlers.focus);
  article.addEventListener("focusout", handlers.blur);
}
