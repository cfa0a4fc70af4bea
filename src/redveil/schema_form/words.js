/**
 * The words of the form: what columns can be, and how cut points can be declared.
 */

export const KINDS = [
  ["boolean", "yes or no"],
  ["number", "number"],
  ["integer", "whole number"],
  ["year", "year"],
  ["categories", "categories"],
  ["ordered", "categories in order"],
  ["date", "date"],
  ["datetime", "date and time"],
  ["yearmonth", "month"],
];
const NUMBERS = ["number", "integer", "year"];
const DATES = ["date", "datetime", "yearmonth"];

export const NUMBER_RULES = [
  ["usual", "as usual for these bounds"],
  ["explicit", "at these numbers"],
  ["equal-width", "into equal intervals"],
  ["decades", "at 1, 2, 5, 10, 20, 50 …"],
  ["symmetric-decades", "the same on both sides of 0"],
];
export const DATE_RULES = [
  ["usual", "as usual for these bounds"],
  ["years", "at the end of each year"],
  ["months", "at the end of each month"],
  ["days", "at the end of each day"],
  ["explicit", "at these dates"],
];

/** Return what a column is: boolean, number, labels, date, or nothing known. */
export function family(kind) {
  if (NUMBERS.includes(kind)) return "number";
  if (DATES.includes(kind)) return "date";
  if (kind === "categories" || kind === "ordered") return "labels";
  return kind === "boolean" ? "boolean" : "unknown";
}

/** Return a kind in words. */
export function kindWords(kind) {
  return KINDS.find(([name]) => name === kind)?.[1] ?? "not declared";
}

/** Return a number of things in words. */
export function counted(count, one, several = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : several}`;
}
