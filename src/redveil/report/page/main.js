/**
 * The workbench: every view of the released values, linked to each other.
 */

import { prepare } from "./answers.js";
import { h } from "./dom.js";
import { findingsList } from "./list.js";
import { linked } from "./linking.js";
import { meetingSection } from "./meeting.js";
import { questionSection } from "./question.js";
import { scatterSection } from "./scatter.js";
import { explainTerms } from "./terms.js";

const result = JSON.parse(document.getElementById("result").textContent);
const workbench = document.getElementById("workbench");
const [first] = result.findings;
const link = linked({ pair: first?.pair ?? 0 });
const prepared = new Map();
const tableOf = (pair) => {
  if (!prepared.has(pair)) prepared.set(pair, prepare(result.tables[pair]));
  return prepared.get(pair);
};

explainTerms();
workbench.hidden = false;
if (result.findings.length) {
  const list = findingsList(result, link);
  workbench.append(scatterSection(result, link, list));
  list.update();
}
if (result.pairs.length) {
  workbench.append(meetingSection(result, link, tableOf), questionSection(result, link, tableOf));
}
addJumps();
if (first) link.choose(first.pair, ...first.ends);

/** Put links to the sections below the head of the page. */
function addJumps() {
  const links = [...document.querySelectorAll("section[aria-labelledby]")].map((section) => {
    const title = document.getElementById(section.getAttribute("aria-labelledby"));
    return h("a", { href: `#${section.id}` }, title.textContent);
  });
  document.querySelector("header").append(h("nav", { class: "jumps", "aria-label": "On this page" }, ...links));
}
