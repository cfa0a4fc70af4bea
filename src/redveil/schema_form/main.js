/**
 * The form of a schema: it asks the server for the schema, shows it, and sends back what was changed.
 */

import { about, table } from "./about.js";
import { Column } from "./columns.js";
import { announce, button, h } from "./dom.js";
import { ask } from "./talk.js";
import { counted } from "./words.js";

const FILTERS = [
  ["all", "all columns"],
  ["data", "from the data"],
  ["problems", "with problems"],
  ["changed", "changed"],
  ["unused", "not used"],
];
const main = document.getElementById("form");
const state = { told: null, edits: null, columns: [], problems: [], text: "", which: "all" };

/** Take over a schema as it is in the file; whatever was changed is part of it, or gone. */
function take(told) {
  state.told = told;
  state.problems = told.problems;
  state.edits = structuredClone({
    package: told.package,
    unmatched: told.unmatched,
    missingValues: Object.fromEntries(told.views.map((view) => [view.side, view.missingValues])),
  });
  state.before = JSON.stringify(state.edits);
  for (const column of state.columns) column.leave();
  state.columns = told.views.flatMap((view) => view.columns.map((one) => new Column(view.side, one, edited)));
}

function show() {
  const { told } = state;
  document.title = `${told.name} · schema`;
  main.replaceChildren(
    h(
      "header",
      {},
      h("h1", {}, h("bdi", {}, told.name)),
      h("p", { class: "lead" }, "Everything here is public: columns, bounds, categories and cut points. No row of the data is shown.",
        told.isDraft ? " What the draft took from the data is marked; replace it with what you knew before." : ""),
      h("p", { class: "muted" }, h("bdi", {}, told.file), told.isDraft ? ", a draft" : ", declared", told.id ? h("span", {}, ", id ", h("code", {}, told.id)) : ""),
    ),
    about(state, edited),
    tools(),
    ...told.views.map(section),
  );
  document.getElementById("bar")?.remove();
  main.after(bar());
  filter();
  edited();
}

function section(view) {
  const columns = state.columns.filter((one) => one.side === view.side);
  return h(
    "section",
    { "aria-labelledby": `${view.side}-head` },
    h("h2", { id: `${view.side}-head`, class: view.side }, h("bdi", {}, view.name), " ", h("small", {}, `${view.side} table, ${counted(columns.length, "column")}`)),
    table(state, view, edited),
    h("ul", { class: "columns", role: "list" }, ...columns.map((one) => one.element)),
    h("p", { class: "none muted", hidden: true }, "No column of this table fits the filter."),
  );
}

/** Return the line by which columns are found. */
function tools() {
  const text = h("input", {
    type: "search", id: "filter", placeholder: "Find a column", "aria-label": "Find a column", autocomplete: "off",
    input: (event) => {
      state.text = event.target.value.trim().toLowerCase();
      filter();
    },
  });
  const which = h(
    "select",
    {
      id: "which", "aria-label": "Which columns",
      change: (event) => {
        state.which = event.target.value;
        filter();
      },
    },
    ...FILTERS.map(([value, words]) => h("option", { value }, words)),
  );
  text.value = state.text;
  which.value = state.which;
  return h("div", { class: "tools", role: "search" }, text, which, h("span", { id: "found", class: "muted", role: "status" }));
}

function filter() {
  for (const column of state.columns) {
    // Those that are open stay: nobody loses sight of what they are writing.
    column.element.hidden = !column.isOpen && !column.matches(state.text, state.which);
  }
  for (const list of main.querySelectorAll(".columns")) {
    list.nextElementSibling.hidden = [...list.children].some((one) => !one.hidden);
  }
  tally();
}

/** Say how many columns are shown, and how many still have values from the data. */
function tally() {
  const found = state.columns.filter((one) => !one.element.hidden).length;
  const still = state.columns.filter((one) => one.now.fromData.length).length;
  document.getElementById("found").textContent =
    `${counted(found, "column")}${found < state.columns.length ? ` of ${state.columns.length.toLocaleString("en")}` : ""}`
    + (still ? `; ${still.toLocaleString("en")} with values from the data` : "");
}

/** Return the line at the foot of the page, where everything is saved. */
function bar() {
  return h(
    "footer",
    { id: "bar" },
    h("p", { id: "state" }),
    h("p", { class: "buttons" }, button("Save", save, { id: "save" }), button("Done", done, { id: "done", class: "quiet" })),
  );
}

function changedColumns() {
  return state.columns.filter((one) => one.isChanged);
}

function isChanged() {
  return changedColumns().length > 0 || JSON.stringify(state.edits) !== state.before;
}

/** Say how things stand, after every change. */
function edited() {
  const where = document.getElementById("state");
  if (!where) return;
  const columns = changedColumns().length;
  const rest = JSON.stringify(state.edits) !== state.before;
  const words = [columns ? `${counted(columns, "column")} changed` : "", rest ? "tables or data set changed" : ""].filter(Boolean);
  where.textContent = words.join(", ") || "Everything is saved.";
  where.className = "";
  document.getElementById("save").disabled = words.length === 0;
  tally();
}

function say(text, isWrong = false) {
  const where = document.getElementById("state");
  where.textContent = text;
  where.className = isWrong ? "wrong" : "good";
  announce(text);
}

async function save() {
  const rows = changedColumns().map((one) => ({ side: one.side, number: one.told.number, row: one.row }));
  let saved;
  try {
    saved = await ask("/save", { version: state.told.version, rows, ...state.edits });
  } catch (error) {
    say(error.message, true);
    return;
  }
  if (saved.problems.length) {
    complain(saved.problems);
    return;
  }
  const open = new Set(state.columns.filter((one) => one.isOpen).map((one) => one.id));
  const focused = document.activeElement?.id;
  const { scrollY } = window;
  take(saved.schema);
  show();
  for (const column of state.columns) if (open.has(column.id)) column.open(true, false);
  filter();
  window.scrollTo(0, scrollY);
  document.getElementById(focused || "save")?.focus();
  const next = state.told.isDraft ? ` Next: ${state.told.accept}` : "";
  say(`Saved.${saved.kept ? ` The schema before is kept as ${saved.kept}.` : ""}${next}`);
}

/** Show problems where they are, and lead to the first one. */
function complain(problems) {
  state.problems = problems;
  const texts = new Map();
  for (const one of problems.filter((each) => each.number !== null)) {
    const id = `${one.side}-${one.number}`;
    texts.set(id, [...(texts.get(id) ?? []), one.text]);
  }
  for (const column of state.columns) {
    if (texts.has(column.id)) column.complain(texts.get(column.id));
  }
  const [first] = problems;
  if (first.number === null) {
    // Beside what they are about; the rest of the page stays as it is.
    const parts = [about(state, edited), ...state.told.views.map((view) => table(state, view, edited))];
    const before = [main.querySelector("section"), ...main.querySelectorAll(".about")];
    parts.forEach((part, place) => before[place].replaceWith(part));
    main.querySelector("ul.wrong")?.scrollIntoView({ block: "center" });
  } else {
    const column = state.columns.find((one) => one.id === `${first.side}-${first.number}`);
    column.element.hidden = false;
    column.open(true);
    column.element.scrollIntoView({ block: "center" });
  }
  say(`Not saved: ${first.text}${problems.length > 1 ? ` (and ${problems.length - 1} more)` : ""}`, true);
}

async function done() {
  if (isChanged() && !window.confirm("Some changes are not saved. Leave without them?")) return;
  try {
    await ask("/done", {});
  } catch {
    // It has stopped already.
  }
  state.columns = [];
  state.before = JSON.stringify(state.edits);
  document.getElementById("bar").remove();
  main.replaceChildren(
    h("h1", { tabindex: "-1" }, "The form is closed"),
    h("p", { class: "lead" }, "You can close this window."),
    state.told.isDraft ? h("p", {}, "Next: ", h("code", {}, state.told.accept)) : "",
  );
  main.querySelector("h1").focus();
}

window.addEventListener("beforeunload", (event) => {
  if (state.told && isChanged()) event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    if (!document.getElementById("save")?.disabled) save();
  }
});

ask("/schema").then(
  (told) => {
    take(told);
    show();
  },
  (error) => main.replaceChildren(h("p", { class: "wrong", role: "alert" }, error.message)),
);
