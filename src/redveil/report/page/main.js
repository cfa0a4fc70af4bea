/**
 * The workbench: every view of the released values, linked to each other.
 */

import { prepare } from "./answers.js";
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
  workbench.append(meetingSection(result, link), questionSection(result, link, tableOf));
}
if (first) link.choose(first.pair, ...first.ends);
