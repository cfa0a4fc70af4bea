/**
 * What is declared about the data set as a whole, and about each table.
 */

import { button, h } from "./dom.js";
import { check, field, input, lines } from "./editor.js";

/** Return the part of the form that is about the data set. */
export function about(state, edited) {
  const { package: known } = state.edits;
  const set = (key) => (value) => {
    known[key] = value;
    edited();
  };
  return h(
    "section",
    { "aria-labelledby": "about-head" },
    h("h2", { id: "about-head" }, "The data set"),
    problems(state, ""),
    h(
      "div",
      { class: "fields" },
      field("about-name", "Name of the data set", input(known.name, set("name")), "the ledger knows it by name and id; dataset if empty"),
      field("about-unit", "One entity is called", input(known.unit, set("unit")), "such as patient; entity if empty"),
      field("about-budget", "Budget: largest ε of all runs", input(known.budget, set("budget"), null, "decimal"), "such as 3 or 1/2; none if empty"),
      field("about-delta", "Largest δ of all runs", input(known.budget_delta, set("budget_delta")), "such as 1e-6; 0 if empty"),
    ),
    unmatched(state, edited),
  );
}

/** Return the groups of attributes that may not be matched with each other. */
function unmatched(state, edited) {
  const groups = h("div", { class: "fields" });
  const show = () => {
    groups.replaceChildren(
      ...state.edits.unmatched.map((group, place) => {
        const set = (names) => {
          state.edits.unmatched[place] = names;
          edited();
        };
        return field(`group-${place}`, `Group ${place + 1}`, lines(group, set), "Columns of both tables, one a line; left:age if both have one of that name.");
      }),
    );
  };
  const add = () => {
    state.edits.unmatched.push([]);
    show();
    document.getElementById(`group-${state.edits.unmatched.length - 1}`).focus();
  };
  show();
  return h(
    "details",
    { open: state.edits.unmatched.length > 0 },
    h("summary", {}, "Columns that may not be matched with each other"),
    h("p", { class: "muted" }, "Such as a weight that patients told and the one that was measured."),
    groups,
    h("p", {}, button("Add a group", add, { class: "quiet" })),
  );
}

/** Return what is declared about a table, above its columns. */
export function table(state, view, edited) {
  const markers = state.edits.missingValues[view.side];
  const others = () => markers.filter((text) => text !== "");
  const set = (texts, empty) => {
    markers.splice(0, markers.length, ...(empty ? [""] : []), ...texts);
    edited();
  };
  return h(
    "div",
    { class: "about" },
    h("p", { class: "muted" }, "File ", h("bdi", {}, view.path || "not named"), ", entity key ", h("bdi", {}, view.key || "not declared"), "."),
    problems(state, view.side),
    view.fromData.length
      ? h("div", { class: "data" }, h("p", {}, "Still as taken from the data:"), h("ul", {}, ...view.fromData.map((text) => h("li", {}, text))))
      : null,
    h(
      "details",
      {},
      h("summary", {}, "What means “no value” in this table"),
      h(
        "div",
        { class: "fields" },
        check(`${view.side}-empty`, "An empty cell", markers.includes(""), (empty) => set(others(), empty)),
        field(`${view.side}-missing`, "These texts", lines(others(), (texts) => set(texts, markers.includes(""))), "One a line, such as NA."),
      ),
    ),
  );
}

function problems(state, side) {
  const found = state.problems.filter((one) => one.number === null && one.side === side);
  if (!found.length) return null;
  return h("ul", { class: "wrong", role: "alert" }, ...found.map((one) => h("li", {}, one.text)));
}
