/**
 * The editor of one column. Every change is shown to `changed`, with the row as it is now.
 */

import { h } from "./dom.js";
import { DATE_RULES, KINDS, NUMBER_RULES, family } from "./words.js";

/**
 * Return the editor of a row.
 *
 * id:      a name for its parts, unlike that of any other column
 * row:     what is shown; it is changed in place
 * changed: called after each change; with true if other parts belong to the column now
 */
export function editor(id, row, changed) {
  const set = (key) => (value) => {
    row[key] = value;
    changed(key === "kind" || key === "use");
  };
  const become = (kind) => {
    if (family(kind) !== family(row.kind)) row.cuts.rule = "usual";
    set("kind")(kind);
  };
  const parts = [
    check(`${id}-use`, "Use this column", row.use, set("use")),
    ...(row.use ? declared(id, row, set, become, changed) : []),
  ];
  return h("div", { class: "fields" }, ...parts);
}

function declared(id, row, set, become, changed) {
  const title = "What readers call it, with its unit, as in “Fasting glucose (mg/dl)”.";
  return [
    field(`${id}-title`, "Title", input(row.title, set("title")), title, "wide"),
    field(`${id}-kind`, "Values are", choice(KINDS, row.kind, become)),
    ...({ number: numbers, date: dates, labels, boolean: booleans }[family(row.kind)] ?? nothing)(
      id, row, set, changed,
    ),
    check(
      `${id}-required`, "No value is missing", row.required, set("required"),
      "An entity without a value would be left out. Declare it only where it is true.",
    ),
  ];
}

function nothing() {
  return [];
}

function numbers(id, row, set, changed) {
  return [
    ...bounds(id, row, set, "as in 0 or 12.5", "decimal"),
    ...cuts(id, row, changed, NUMBER_RULES),
    unfolded(
      "How numbers are written",
      row.decimalChar || row.groupChar,
      field(`${id}-decimal`, "Decimal sign", input(row.decimalChar, set("decimalChar"), 1), "a point if empty"),
      field(`${id}-group`, "Between thousands", input(row.groupChar, set("groupChar"), 1), "nothing if empty"),
    ),
  ];
}

function dates(id, row, set, changed) {
  const format = "ISO 8601 if empty; or a pattern such as %d.%m.%Y";
  return [
    ...bounds(id, row, set, "as in 2019-12-31", "text"),
    ...cuts(id, row, changed, DATE_RULES),
    unfolded("How dates are written", row.format, field(`${id}-format`, "Format", input(row.format, set("format")), format)),
  ];
}

function labels(id, row, set) {
  const how = row.kind === "ordered" ? "One a line, the lowest first." : "One a line.";
  return [field(`${id}-categories`, "Categories", lines(row.categories, set("categories")), how, "wide")];
}

function booleans(id, row, set) {
  return [
    unfolded(
      "How values are written",
      row.trueValues.length + row.falseValues.length,
      field(`${id}-true`, "Yes is written", lines(row.trueValues, set("trueValues")), "One a line; true and 1 if empty."),
      field(`${id}-false`, "No is written", lines(row.falseValues, set("falseValues")), "One a line; false and 0 if empty."),
    ),
  ];
}

function bounds(id, row, set, hint, mode) {
  const said = `${hint}; values beyond it are moved to it`;
  return [
    field(`${id}-minimum`, "Least value", input(row.minimum, set("minimum"), null, mode), said),
    field(`${id}-maximum`, "Greatest value", input(row.maximum, set("maximum"), null, mode), said),
  ];
}

function cuts(id, row, changed, rules) {
  const set = (key) => (value) => {
    row.cuts[key] = value;
    changed(key === "rule");
  };
  const parts = [field(`${id}-rule`, "Cut", choice(rules, row.cuts.rule, set("rule")))];
  const { rule } = row.cuts;
  if (rule === "explicit") {
    const how = rules === DATE_RULES ? "such as 2018, 2019-06" : "such as 18, 40, 65";
    parts.push(field(`${id}-values`, "Cut points", input(row.cuts.values, set("values")), how, "wide"));
  } else if (rule === "equal-width") {
    parts.push(field(`${id}-count`, "Intervals", input(row.cuts.count, set("count"), null, "numeric"), "20 if empty"));
  } else if (rule.endsWith("decades")) {
    parts.push(field(`${id}-smallest`, "Begin at", input(row.cuts.smallest, set("smallest"), null, "decimal"), "1 if empty, or less for small numbers"));
  }
  return parts;
}

/** Return a control with its label, and a hint that is read with it. */
export function field(id, name, control, hint = "", wide = "") {
  control.id = id;
  if (hint) control.setAttribute("aria-describedby", `${id}-hint`);
  return h(
    "div",
    { class: `field ${wide}` },
    h("label", { for: id }, name),
    control,
    hint ? h("small", { id: `${id}-hint` }, hint) : null,
  );
}

/** Return a line to write in. */
export function input(value, set, most = null, mode = "text") {
  const made = h("input", {
    type: "text", autocomplete: "off", spellcheck: "false", inputmode: mode, maxlength: most,
    input: (event) => set(event.target.value),
  });
  made.value = value;
  return made;
}

/** Return an area in which each line is a text of its own. */
export function lines(values, set) {
  if (values.some((value) => /[\r\n]/.test(value))) {
    return h("p", { class: "muted", tabindex: "0" }, "Some of these have several lines; edit them in the file.");
  }
  const made = h("textarea", {
    rows: Math.min(8, Math.max(2, values.length + 1)), spellcheck: "false",
    input: (event) => set(event.target.value.split("\n").filter((line) => line !== "")),
  });
  made.value = values.join("\n");
  return made;
}

function choice(options, value, set) {
  const made = h(
    "select",
    { change: (event) => set(event.target.value) },
    ...(options.some(([name]) => name === value) ? [] : [h("option", { value }, "choose …")]),
    ...options.map(([name, words]) => h("option", { value: name }, words)),
  );
  made.value = value;
  return made;
}

/** Return a box to tick. */
export function check(id, name, value, set, hint = "") {
  const made = h("input", {
    type: "checkbox", id, "aria-describedby": hint ? `${id}-hint` : null,
    change: (event) => set(event.target.checked),
  });
  made.checked = value;
  return h(
    "div",
    { class: "field check wide" },
    made,
    h("label", { for: id }, name),
    hint ? h("small", { id: `${id}-hint` }, hint) : null,
  );
}

function unfolded(name, open, ...inside) {
  return h("details", { class: "wide", open: Boolean(open) }, h("summary", {}, name), h("div", { class: "fields" }, ...inside));
}
