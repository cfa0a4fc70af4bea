/**
 * Free questions in the page: what one released leaf table says about two unions of its ends.
 *
 * The numbers and the texts are those of `redveil ask`. Whatever needs a simulation, and every name
 * that must be quoted, comes ready from `tables.py`.
 *
 * @typedef {{estimate: number, low: number, high: number}} Interval
 * @typedef {{intervals: number, counts: number, leverages: number, confirming: number}} Critical
 *
 * One test of one attribute, or a part of a query that a person gave (`op` is "given").
 * @typedef {object} Literal
 * @property {string} attribute
 * @property {"=" | "!=" | "<=" | ">" | "known" | "unknown" | "given"} op
 * @property {number | string | boolean} value  the place of a label, if labels have an order
 * @property {string} text
 * @property {string} enclosed  the text beside an "and"
 * @property {string} shown     the value as text
 *
 * The literals of an inner node that are all true where its split holds, and where it does not.
 * `missing` is the attribute that a missing value stops at; a query that a person gave has none.
 * @typedef {{holds: Literal[], fails: Literal[], missing: string | null}} Split
 *
 * @typedef {object} Tree
 * @property {(Split | null)[]} splits  by node, in heap order
 * @property {number[]} ends            the nodes where a path can end: leaves, then where it sticks
 * @property {number[]} stuck           the inner nodes where a missing value stops an entity
 * @property {boolean[]} reachable      whether any entity can end there, by end
 * @property {string[]} required        the attributes that are never missing
 * @property {Object<string, string>} names  attributes as they are written in a query
 * @property {[Literal, Literal][]} comparisons  literals and their complements
 *
 * @typedef {object} Table
 * @property {Tree} left
 * @property {Tree} right
 * @property {object} estimate  of `findings/estimate.py`, with its `kind`
 * @property {{unions: Critical, weightings: Critical | null}} critical
 * @property {"fisher" | "binomial"} test
 *
 * @typedef {object} Answer
 * @property {string} left
 * @property {string} right
 * @property {Interval} jaccard
 * @property {number} expected
 * @property {Interval} corrected
 * @property {{left: Interval, right: Interval, both: Interval}} support
 * @property {number} p
 * @property {number} p_confirming
 * @property {number} p_estimate
 */

import { isAbove, unionText, withWords } from "./queries.js";
import { moments, statistics, supports } from "./statistics.js";

/**
 * Make a table ready for many questions.
 *
 * @param {Table} table  an entry of `page_tables`
 */
export function prepare(table) {
  return { ...table, left: withWords(table.left), right: withWords(table.right) };
}

/**
 * Answer a question, or say in `refused` why it cannot be asked.
 *
 * An end that no entity can reach counts only below a chosen node where entities are stuck, as for
 * `redveil ask`.
 *
 * @param {ReturnType<typeof prepare>} table
 * @param {Iterable<number>} leftEnds   places in the left tree's `ends`
 * @param {Iterable<number>} rightEnds
 * @returns {Answer | {refused: string}}
 */
export function answer(table, leftEnds, rightEnds) {
  const { refused, left, right, critical } = question(table, leftEnds, rightEnds);
  if (refused !== null) return { refused };
  return {
    left: unionText(table.left, left),
    right: unionText(table.right, right),
    ...statistics(moments(table.estimate, left, right), critical, table.test),
  };
}

/**
 * Return only the counts of an answer, with their intervals; null if it cannot be asked.
 *
 * @param {ReturnType<typeof prepare>} table
 * @param {Iterable<number>} leftEnds
 * @param {Iterable<number>} rightEnds
 * @returns {Answer["support"] | null}
 */
export function counted(table, leftEnds, rightEnds) {
  const { refused, left, right, critical } = question(table, leftEnds, rightEnds);
  return refused === null ? supports(moments(table.estimate, left, right), critical) : null;
}

/** Return the ends that a question covers, and how wide the intervals of its answer are. */
function question(table, leftEnds, rightEnds) {
  const left = chosen(table.left, leftEnds);
  const right = chosen(table.right, rightEnds);
  const refused = refusal(table.left, left, "left") ?? refusal(table.right, right, "right");
  const plain = isUnion(table.left, left) && isUnion(table.right, right);
  const critical = plain ? table.critical.unions : table.critical.weightings;
  return { refused, left, right, critical };
}

/**
 * Return the text of the query for a union of ends, as in an answer; null if it cannot be asked.
 *
 * @param {ReturnType<typeof prepare>} table
 * @param {"left" | "right"} side
 * @param {Iterable<number>} ends
 * @returns {string | null}
 */
export function wording(table, side, ends) {
  const covered = chosen(table[side], ends);
  return refusal(table[side], covered, side) === null ? unionText(table[side], covered) : null;
}

/** Return which ends a query would cover, boolean[ends]. */
function chosen(tree, ends) {
  const covered = tree.ends.map(() => false);
  for (const end of ends) covered[end] = true;
  // Upper nodes first: they decide about the unreachable ends below.
  const upperFirst = [...tree.ends.keys()].sort((a, b) => tree.ends[a] - tree.ends[b]);
  for (const place of upperFirst) {
    if (tree.reachable[place]) continue;
    const node = tree.ends[place];
    covered[place] = tree.ends.some(
      (above, at) => above !== node && covered[at] && isAbove(above, node),
    );
  }
  return covered;
}

/** Return why a choice of ends cannot be asked, or null. */
function refusal(tree, covered, side) {
  if (!covered.some((one, place) => one && tree.reachable[place])) {
    return `choose a leaf on the ${side} that some values can reach`;
  }
  const torn = tree.stuck.some((node) => {
    if (tree.splits[node].missing !== null || !covered[tree.ends.indexOf(node)]) return false;
    return tree.ends.some((end, place) => isAbove(node, end) && !covered[place]);
  });
  if (torn) return "where a given query is unknown can be asked about only with all below it";
  return null;
}

/** Return whether a query that does not ask for missing values can cover a choice of ends. */
function isUnion(tree, covered) {
  return tree.stuck.every((node) => {
    if (!covered[tree.ends.indexOf(node)]) return true;
    return tree.ends.every((end, place) => covered[place] || !isAbove(node, end));
  });
}
