/**
 * The shortest query for a union of ends, as `query/simplify.py` makes it outside negations: only
 * where a query is true matters.
 *
 * A query is a list of disjuncts, and a disjunct a list of literals.
 */

/** Return whether a node is another node, or lies above it. */
export function isAbove(node, end) {
  let at = end;
  while (at > node) at = (at - 1) >> 1;
  return at === node;
}

/** Return what tells literals apart, made once for each. */
function keyOf(one) {
  one.key ??= `${one.op} ${typeof one.value} ${one.value} ${one.attribute}`;
  return one.key;
}

/** Add what simplifying needs: complements by key, and the path to every node. */
export function withWords(tree) {
  const complements = new Map();
  for (const [one, other] of tree.comparisons) {
    complements.set(keyOf(one), other);
    complements.set(keyOf(other), one);
  }
  return { ...tree, complements, required: new Set(tree.required) };
}

const isComparison = (one) => ["=", "!=", "<=", ">"].includes(one.op);
const isKnown = (one) => one.op === "known";
const isSame = (one, other) => keyOf(one) === keyOf(other);

/** Return whether a value is known (or is not). */
function knownLiteral(tree, attribute, op) {
  const text = `${op === "known" ? "" : "!"}[${tree.names[attribute]} is known]`;
  return { attribute, op, value: "", text, enclosed: text, shown: "" };
}

/** Return the literals on the path to a node, from the root. */
function pathTo(tree, node) {
  if (node === 0) return [];
  const parent = (node - 1) >> 1;
  const split = tree.splits[parent];
  return [...pathTo(tree, parent), ...(node % 2 === 1 ? split.holds : split.fails)];
}

/** Return the text of a query that covers exactly these ends. */
export function unionText(tree, covered) {
  // What nobody can reach may be covered or not.
  const isCovered = (end, place) => covered[place] || !tree.reachable[place];
  const isWhole = (node) => {
    const below = tree.ends.map((end) => isAbove(node, end));
    return (
      below.some((one, place) => one && covered[place] && tree.reachable[place]) &&
      tree.ends.every((end, place) => !below[place] || isCovered(end, place))
    );
  };
  if (isWhole(0)) return everything(tree);
  const leaves = [];
  const inner = [];
  const unknown = [];
  const visit = (node) => {
    const split = tree.splits[node] ?? null;
    if (isWhole(node)) {
      (split === null ? leaves : inner).push(node);
    } else if (split !== null) {
      const place = tree.stuck.includes(node) ? tree.ends.indexOf(node) : -1;
      if (place >= 0 && covered[place] && tree.reachable[place]) unknown.push(node);
      visit(2 * node + 1);
      visit(2 * node + 2);
    }
  };
  visit(0);
  const ascending = (a, b) => a - b;
  const nodes = [...leaves.sort(ascending), ...inner.sort(ascending)];
  const disjuncts = nodes.map((node) => pathTo(tree, node));
  for (const node of unknown) {
    const { missing } = tree.splits[node];
    disjuncts.push([...pathTo(tree, node), knownLiteral(tree, missing, "unknown")]);
  }
  return textOf(tree, simplified(tree, disjuncts));
}

/** Return what is true of every entity: that a value is known, or is not. */
function everything(tree) {
  const [attribute] = Object.keys(tree.names);
  const ops = tree.required.has(attribute) ? ["known"] : ["known", "unknown"];
  return ops.map((op) => knownLiteral(tree, attribute, op).text).join(" | ");
}

function textOf(tree, disjuncts) {
  return disjuncts.map((literals) => conjunctionText(tree, literals)).join(" | ");
}

function conjunctionText(tree, literals) {
  if (literals.length === 1) return literals[0].text;
  const parts = [];
  for (let at = 0; at < literals.length; at += 1) {
    const [low, high] = [literals[at], literals[at + 1]];
    if (high && low.attribute === high.attribute && low.op === ">" && high.op === "<=") {
      parts.push(`[${low.shown} < ${tree.names[low.attribute]} <= ${high.shown}]`);
      at += 1;
    } else {
      parts.push(low.enclosed);
    }
  }
  return parts.join(" & ");
}

/** Return a shorter disjunction of conjunctions with the same support in every table. */
function simplified(tree, disjuncts) {
  const keys = (some) => some.map((literals) => literals.map(keyOf).join("\n")).join("\n\n");
  let before = disjuncts;
  for (;;) {
    const after = simplifyOr(tree, before.map((literals) => simplifyAnd(tree, literals)));
    if (keys(after) === keys(before)) return after;
    before = after;
  }
}

function simplifyAnd(tree, literals) {
  const telling = literals.filter((one) => !isAlways(tree, one));
  const kept = [];
  for (const one of telling.length > 0 ? telling : literals.slice(0, 1)) {
    if (!kept.some((earlier) => implies(earlier, one))) kept.push(one);
  }
  // Merge the literals on one attribute, at the place of the first; what is known comes last.
  const isMerged = (one) => isComparison(one) || isKnown(one);
  const done = new Set();
  const merged = kept.flatMap((one) => {
    if (!isMerged(one)) return [one];
    if (done.has(one.attribute)) return [];
    done.add(one.attribute);
    return tightest(kept.filter((each) => isMerged(each) && each.attribute === one.attribute));
  });
  return [...merged.filter((one) => !isKnown(one)), ...merged.filter(isKnown)];
}

const RANK = { "=": 0, ">": 1, "<=": 2, "!=": 3 };

/** Drop literals that another one implies; put lower bounds before upper ones. */
function tightest(group) {
  const kept = group.filter(
    (one) => !group.some((other) => !isSame(other, one) && implies(other, one)),
  );
  return kept.sort((one, other) => (RANK[one.op] ?? 0) - (RANK[other.op] ?? 0));
}

function simplifyOr(tree, disjuncts) {
  let left = disjuncts;
  const always = left.find((each) => isAlways(tree, each[0]));
  if (always) left = [always];
  const possible = left.filter((each) => !contradicts(tree, each));
  left = possible.length > 0 ? possible : left.slice(0, 1);
  left = absorb(left);
  left = left.map((each) => withoutSettled(tree, each, left));
  left = joinWhereKnown(tree, left);
  return joinIntervals(left);
}

/** Return whether a literal asks only whether a value is known that is never missing. */
function isAlways(tree, one) {
  return isKnown(one) && tree.required.has(one.attribute);
}

/** Return the literal that is true where this one is false. */
function negate(tree, one) {
  if (one.op === "given") return { ...one, key: `not ${keyOf(one)}` };
  if (one.op === "known") return knownLiteral(tree, one.attribute, "unknown");
  if (one.op === "unknown") return knownLiteral(tree, one.attribute, "known");
  return tree.complements.get(keyOf(one));
}

/** Return whether two literals exclude each other, or one is never true. */
function contradicts(tree, literals) {
  return literals
    .map((one) => negate(tree, one))
    .some((other) => isAlways(tree, other) || literals.some((one) => implies(one, other)));
}

/** Return whether one conjunction is true wherever another is. */
function covers(general, special) {
  return general.every((want) => special.some((have) => implies(have, want)));
}

/** Drop a disjunct if another is true wherever it is; of two equal ones, drop the later. */
function absorb(disjuncts) {
  let kept = [];
  for (const each of disjuncts) {
    if (kept.some((earlier) => covers(earlier, each))) continue;
    kept = [...kept.filter((earlier) => !covers(each, earlier)), each];
  }
  return kept;
}

/** Drop a literal if another disjunct is true wherever only this literal is false. */
function withoutSettled(tree, disjunct, disjuncts) {
  for (const one of disjunct) {
    const rest = disjunct.filter((other) => !isSame(other, one));
    if (rest.length === 0 || !isDecided(tree, one, rest)) continue;
    const otherwise = [negate(tree, one), ...rest];
    if (disjuncts.some((other) => other !== disjunct && covers(other, otherwise))) return rest;
  }
  return disjunct;
}

/** Return whether a literal is certainly true or false wherever the rest is true. */
function isDecided(tree, one, rest) {
  if (one.op === "given") return false;
  if (!isComparison(one)) return true;
  return (
    tree.required.has(one.attribute) ||
    rest.some((other) => implies(other, knownLiteral(tree, one.attribute, "known")))
  );
}

/** Ask only whether a value is known, where that makes another disjunct needless. */
function joinWhereKnown(tree, disjuncts) {
  for (const [place, disjunct] of disjuncts.entries()) {
    const before = disjuncts.slice(0, place);
    const after = disjuncts.slice(place + 1);
    for (const one of disjunct.filter(isComparison)) {
      const rest = disjunct.filter((other) => !isSame(other, one));
      const otherwise = [negate(tree, one), ...rest];
      if (![...before, ...after].some((other) => covers(other, otherwise))) continue;
      const wider = [...rest, knownLiteral(tree, one.attribute, "known")];
      const joined = [
        ...before.filter((other) => !covers(wider, other)),
        wider,
        ...after.filter((other) => !covers(wider, other)),
      ];
      if (joined.length < disjuncts.length) return joined;
    }
  }
  return disjuncts;
}

/** Join disjuncts that differ only in the interval of one attribute, if the intervals meet. */
function joinIntervals(disjuncts) {
  const joined = [];
  for (const each of disjuncts) {
    let current = each;
    let place = joined.length;
    for (let index = joined.length - 1; index >= 0; index -= 1) {
      const union = unionOf(joined[index], current);
      if (union !== null) {
        current = union;
        place = index;
        joined.splice(index, 1);
      }
    }
    joined.splice(place, 0, current);
  }
  return joined;
}

function unionOf(first, second) {
  const named = (one) => (isComparison(one) ? one.attribute : null);
  for (const attribute of new Set(first.filter(isComparison).map(named))) {
    const others = first.filter((one) => named(one) !== attribute);
    const keys = new Set(others.map(keyOf));
    const keysToo = new Set(second.filter((one) => named(one) !== attribute).map(keyOf));
    if (keys.size !== keysToo.size || [...keys].some((key) => !keysToo.has(key))) continue;
    const ours = rangeOf(first, attribute);
    const theirs = rangeOf(second, attribute);
    if (ours === null || theirs === null) continue;
    const low = value(ours.low, -Infinity) <= value(theirs.low, -Infinity) ? ours.low : theirs.low;
    const high = value(ours.high, Infinity) >= value(theirs.high, Infinity) ? ours.high : theirs.high;
    const start = Math.max(value(ours.low, -Infinity), value(theirs.low, -Infinity));
    const bounds = [low, high].filter((one) => one !== null);
    if (start > Math.min(value(ours.high, Infinity), value(theirs.high, Infinity))) continue;
    if (bounds.length === 0) continue;
    const place = first.findIndex((one) => named(one) === attribute);
    return [...others.slice(0, place), ...bounds, ...others.slice(place)];
  }
  return null;
}

const value = (bound, otherwise) => (bound === null ? otherwise : bound.value);

/** Return the bounds if the literals on an attribute mean low < attribute <= high. */
function rangeOf(literals, attribute) {
  let low = null;
  let high = null;
  for (const one of literals) {
    if (!isComparison(one) || one.attribute !== attribute) continue;
    if (!(one.op === ">" || one.op === "<=") || typeof one.value !== "number") return null;
    if (one.op === ">") low = value(low, -Infinity) >= one.value ? low : one;
    else high = value(high, Infinity) <= one.value ? high : one;
  }
  return value(low, -Infinity) < value(high, Infinity) ? { low, high } : null;
}

/** Return whether the second literal is certainly true where the first is. */
function implies(first, second) {
  if (isSame(first, second)) return true;
  if (!isComparison(first) || first.attribute !== second.attribute) return false;
  if (isKnown(second)) return true;
  const [op, one, other] = [`${first.op} ${second.op}`, first.value, second.value];
  if (typeof one === "number" && typeof other === "number") {
    if (op === "= !=") return one !== other;
    if (op === "= <=" || op === "<= <=") return one <= other;
    if (op === "<= !=") return one < other;
    if (op === "= >") return one > other;
    if (op === "> >" || op === "> !=") return one >= other;
  } else if (typeof one === "string" && typeof other === "string") {
    if (op === "= !=") return one !== other;
    if (op === "= <=" || op === "> !=") return one === other;
  }
  return false;
}
