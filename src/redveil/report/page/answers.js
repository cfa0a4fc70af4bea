/**
 * Free questions in the page: what one released leaf table says about two unions of its ends.
 *
 * The numbers are those of `redveil ask`: `findings/estimate.py`, `statistics.py`, `leverage.py`,
 * `fisher.py` and `binomial.py` say why they are what they are, and the functions here have the
 * same names. Query texts follow `query/simplify.py`, outside negations. Whatever needs a
 * simulation, and every name that must be quoted, comes ready from `tables.py`.
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
  const left = chosen(table.left, leftEnds);
  const right = chosen(table.right, rightEnds);
  const refused = refusal(table.left, left, "left") ?? refusal(table.right, right, "right");
  if (refused !== null) return { refused };
  const plain = isUnion(table.left, left) && isUnion(table.right, right);
  const critical = plain ? table.critical.unions : table.critical.weightings;
  return {
    left: unionText(table.left, left),
    right: unionText(table.right, right),
    ...statistics(moments(table.estimate, left, right), critical, table.test),
  };
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

/* ---- which ends are asked about ---- */

/** Return whether a node is another node, or lies above it. */
function isAbove(node, end) {
  let at = end;
  while (at > node) at = (at - 1) >> 1;
  return at === node;
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

/* ---- counts and their errors ---- */

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
const clip = (x, low, high) => Math.min(Math.max(x, low), high);

/** Return estimates and (co)variances of overlap, supports and size for a pair of unions. */
function moments(estimate, left, right) {
  const { cells } = estimate;
  const height = cells.length;
  const width = cells[0].length;
  const p = left.filter(Boolean).length;
  const q = right.filter(Boolean).length;
  const within = (row) => sum(row.filter((_, column) => right[column]));
  const both = sum(cells.filter((_, row) => left[row]).map(within));
  const ofRight = sum(cells.map(within));
  if (estimate.kind === "two passes") {
    const { left_margin: margin, cell_variance: cell, left_variance: count } = estimate;
    return {
      both,
      left: sum(margin.filter((_, row) => left[row])),
      right: ofRight,
      size: sum(margin),
      both_both: cell * p * q,
      left_left: count * p,
      right_right: cell * q * height,
      both_left: 0,
      both_right: cell * p * q,
      left_right: 0,
      both_size: 0,
      left_size: count * p,
      right_size: 0,
      size_size: count * height,
    };
  }
  const { mean, rows, columns, interaction } = estimate;
  const withinRows = p - (p * p) / height;
  const withinColumns = q - (q * q) / width;
  return {
    both,
    left: sum(cells.filter((_, row) => left[row]).map(sum)),
    right: ofRight,
    size: sum(cells.map(sum)),
    both_both:
      (mean * (p * q) ** 2) / (height * width) +
      ((rows * q * q) / width) * withinRows +
      ((columns * p * p) / height) * withinColumns +
      interaction * withinRows * withinColumns,
    left_left: width * ((mean * p * p) / height + rows * withinRows),
    right_right: height * ((mean * q * q) / width + columns * withinColumns),
    both_left: (mean * p * p * q) / height + rows * q * withinRows,
    both_right: (mean * p * q * q) / width + columns * p * withinColumns,
    left_right: mean * p * q,
    both_size: mean * p * q,
    left_size: mean * p * width,
    right_size: mean * q * height,
    size_size: mean * height * width,
  };
}

/* ---- statistics ---- */

// Below this share of the terms that it is made of, a difference is nothing but rounding.
const ROUNDING = 1e-12;

function statistics(m, critical, test) {
  const jaccard = jaccardBounds(m, critical.intervals);
  const expected = expectedJaccard(m.left, m.right, m.size);
  const largestP = test === "binomial" ? largestBinomialP : (...at) => Math.exp(largestLogP(...at));
  const [likely, sure] =
    test === "binomial"
      ? [critical.counts, critical.counts]
      : [critical.leverages, critical.confirming];
  return {
    jaccard,
    expected,
    corrected: corrected(m, jaccard.estimate, expected, critical.leverages),
    support: {
      left: support(m.left, m.left_left, critical.intervals),
      right: support(m.right, m.right_right, critical.intervals),
      both: support(m.both, m.both_both, critical.intervals),
    },
    p: largestP(m, likely),
    p_confirming: largestP(m, sure),
    p_estimate: largestP(m, 0),
  };
}

/** Return the interval of a support, which is never negative. */
function support(estimate, variance, critical) {
  const width = critical * Math.sqrt(variance);
  return {
    estimate: Math.max(0, estimate),
    low: Math.max(0, estimate - width),
    high: Math.max(0, estimate + width),
  };
}

/** Return the Jaccard index that two unrelated queries with these supports would have. */
function expectedJaccard(left, right, entities) {
  if (Math.min(left, right, entities) <= 0) return 0;
  const both = Math.min((left * right) / entities, left, right);
  return both / (left + right - both);
}

/** Return the Jaccard index with the values that overlap and union do not contradict. */
function jaccardBounds(m, critical) {
  const either = m.left + m.right - m.both;
  const variance =
    m.left_left + m.right_right + m.both_both + 2 * (m.left_right - m.both_left - m.both_right);
  const covariance = m.both_left + m.both_right - m.both_both;
  const [low, high] = ratioBounds(m.both, either, m.both_both, covariance, variance, critical);
  const estimate = either > 0 ? m.both / either : 0;
  return {
    estimate: clip(estimate, 0, 1),
    low: clip(Math.min(low, estimate), 0, 1),
    high: clip(Math.max(high, estimate), 0, 1),
  };
}

/** Return the ratios in [0, 1] that two noisy counts do not contradict (Fieller's method). */
function ratioBounds(top, bottom, variance, covariance, bottomVariance, critical) {
  const square = critical * critical;
  const a = bottom ** 2 - square * bottomVariance;
  const b = top * bottom - square * covariance;
  const terms = bottom ** 2 * variance + top ** 2 * bottomVariance;
  const discriminant =
    terms -
    2 * top * bottom * covariance -
    square * (bottomVariance * variance - covariance ** 2);
  if (!(a > 0 && bottom > 0)) return [0, 1];
  const root = discriminant > ROUNDING * terms ? critical * Math.sqrt(discriminant) : 0;
  return [share((b - root) / a), share((b + root) / a)];
}

/** Return the nearest number in [0, 1]: 0 or 1 itself, if only rounding is in between. */
function share(x) {
  if (x < ROUNDING) return 0;
  return x > 1 - ROUNDING ? 1 : x;
}

/* ---- leverages ---- */

const SHARES_TRIED = 5;
const SHARES_TRIED_FOR_INTERVALS = 17;

/** Return so many numbers from low to high. */
function between(low, high, count) {
  return Array.from({ length: count }, (_, i) => low + (i / (count - 1)) * (high - low));
}

/** Return the variance of both − b·left − a·right + a·b·size, for shares a (left) and b. */
function leverageVariance(m, a, b) {
  const variance =
    m.both_both +
    b ** 2 * m.left_left +
    a ** 2 * m.right_right +
    (a * b) ** 2 * m.size_size -
    2 * (b * m.both_left + a * m.both_right - a * b * m.both_size) +
    2 * a * b * m.left_right -
    2 * a * b * (b * m.left_size + a * m.right_size);
  return Math.max(variance, 1e-12);
}

/** Return the bounds of the share of the entities that a query covers. */
function shareBounds(m, side, critical) {
  const { [side]: count, [`${side}_${side}`]: variance, [`${side}_size`]: covariance } = m;
  return ratioBounds(count, m.size, variance, covariance, m.size_size, critical);
}

/** Return the smallest and the largest number of entities that the noise allows. */
function sizeBounds(m, critical) {
  const size = Math.max(m.size, 1);
  const off = critical * Math.sqrt(m.size_size);
  return [Math.max(size - off, 1), size + off];
}

/** Call `visit` with both shares and the bounds of the leverage, for all shares that are tried. */
function eachLeverage(m, critical, lefts, rights, visit) {
  for (const a of lefts) {
    for (const b of rights) {
      const middle = m.both - b * m.left - a * m.right + a * b * m.size;
      const width = critical * Math.sqrt(leverageVariance(m, a, b));
      visit(a, b, middle - width, middle + width);
    }
  }
}

/** Return the single share that is tried if only the estimate is asked for. */
const likelyShare = (m, side) => {
  const [low, high] = shareBounds(m, side, 0);
  return low + 0.5 * (high - low);
};

/** Return the logarithm of the largest of Fisher's p-values that the noise allows. */
function largestLogP(m, critical) {
  const [lefts, rights] = ["left", "right"].map((side) =>
    critical > 0
      ? between(...shareBounds(m, side, critical), SHARES_TRIED)
      : [likelyShare(m, side)],
  );
  const sizes = sizeBounds(m, critical);
  let largest = -Infinity;
  eachLeverage(m, critical, lefts, rights, (a, b, lowest) => {
    for (const n of sizes) {
      const low = Math.min(lowest, n * Math.min(a * (1 - b), b * (1 - a)));
      const log = logFisher(
        a * b * n + low,
        a * (1 - b) * n - low,
        (1 - a) * b * n - low,
        (1 - a) * (1 - b) * n + low,
      );
      largest = Math.max(largest, log);
    }
  });
  return largest;
}

/** Return the chance-corrected index of the printed Jaccard indices, with its interval. */
function corrected(m, jaccard, expected, critical) {
  const estimate = 1 - expected > ROUNDING ? (jaccard - expected) / (1 - expected) : 0;
  let low = Infinity;
  let high = -Infinity;
  const include = (index) => {
    low = Math.min(low, index);
    high = Math.max(high, index);
  };
  const shares = [likelyShare(m, "left"), likelyShare(m, "right")];
  eachLeverage(m, 0, [shares[0]], [shares[1]], (a, b, leverage) =>
    include(correctedIndex(a, b, leverage / Math.max(m.size, 1))),
  );
  const lefts = between(...shareBounds(m, "left", critical), SHARES_TRIED_FOR_INTERVALS);
  const rights = between(...shareBounds(m, "right", critical), SHARES_TRIED_FOR_INTERVALS);
  // The index reaches 1 only where both shares are equal, so each side tries the other's too.
  const withOthers = (ours, theirs) => [
    ...ours,
    ...theirs.map((one) => clip(one, ours[0], ours[ours.length - 1])),
  ];
  const sizes = sizeBounds(m, critical);
  const tried = [withOthers(lefts, rights), withOthers(rights, lefts)];
  eachLeverage(m, critical, tried[0], tried[1], (a, b, lowest, highest) => {
    for (const n of sizes) {
      low = Math.min(low, correctedIndex(a, b, lowest / n));
      high = Math.max(high, correctedIndex(a, b, highest / n));
    }
  });
  return { estimate, low: Math.min(low, estimate), high: Math.max(high, estimate) };
}

/** Return the chance-corrected index, from shares and a leverage per entity. */
function correctedIndex(a, b, leverage) {
  const most = Math.min(a * (1 - b), b * (1 - a));
  const surplus = clip(leverage, -Math.min(a * b, (1 - a) * (1 - b)), most);
  const bottom = (a + b - a * b - surplus) * (a + b - 2 * a * b);
  return bottom > 1e-15 ? clip(((a + b) * surplus) / bottom, -1, 1) : 0;
}

/* ---- p-values ---- */

/** Return a bound on the logarithm of Fisher's one-sided p-value, for real-valued counts. */
function logFisher(both, onlyLeft, onlyRight, neither) {
  const [n11, n10, n01, n00] = [both, onlyLeft, onlyRight, neither].map((x) => Math.max(x, 0));
  if (!(n11 * n00 > n10 * n01)) return 0;
  const ratio = (n10 * n01) / ((n11 + 1) * (n00 + 1));
  return Math.min(logChance(n11, n10, n01, n00) - Math.log1p(-ratio), 0);
}

/** Return the logarithm of the hypergeometric probability of a table, given its margins. */
function logChance(a, b, c, d) {
  const [left, right, notLeft, notRight] = [a + b, a + c, c + d, b + d];
  const size = left + notLeft;
  const surplus = (a * d - b * c) / size;
  return (
    sum([left, notLeft, right, notRight].map(logFactorialRest)) -
    logFactorialRest(size) -
    sum([a, b, c, d].map(logFactorialRest)) -
    deviance(a, (left / size) * right, surplus) -
    deviance(b, (left / size) * notRight, -surplus) -
    deviance(c, (notLeft / size) * right, -surplus) -
    deviance(d, (notLeft / size) * notRight, surplus)
  );
}

/** Return n·log(n / e) − (n − e), where the surplus is n − e. */
function deviance(count, expected, surplus) {
  if (count <= 0 || expected <= 0) return -surplus;
  const off = surplus / expected;
  return count * (off > -0.5 ? Math.log1p(off) : Math.log(count / expected)) - surplus;
}

const STIRLING_FROM = 16;

/** Return log x! less x·log x − x, for any number that is not negative. */
function logFactorialRest(x) {
  let at = x;
  let product = 1;
  while (at < STIRLING_FROM) {
    at += 1;
    product *= at;
  }
  const square = at * at;
  const series =
    (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) /
    at;
  const rest = 0.5 * Math.log(2 * Math.PI * at) + series;
  if (at === x) return rest;
  const below = x > 0 ? x * Math.log(x) - x : 0;
  return at * Math.log(at) - at + rest - Math.log(product) - below;
}

const EXPECTED_OVERLAPS_TRIED = 33;

/** Return the largest binomial p-value that the noise allows. */
function largestBinomialP(m, critical) {
  const size = Math.max(m.size, 1);
  const left = clip(m.left, 0, size);
  const right = clip(m.right, 0, size);
  const likely = binomialTail(Math.min(m.both, left, right), size, (left * right) / size ** 2);
  if (critical === 0) return likely;
  const [offLeft, offRight, offSize] = [m.left_left, m.right_right, m.size_size].map(
    (variance) => critical * Math.sqrt(variance),
  );
  const smallest = Math.max(size - offSize, 1);
  const largest = size + offSize;
  const part = Math.min((left + offLeft) / smallest, 1);
  const other = Math.min((right + offRight) / smallest, 1);
  const mixed = other * offLeft + part * offRight + part * other * offSize;
  const curved = (offLeft * offRight + mixed * offSize) / smallest;
  const linear = critical * Math.sqrt(leverageVariance(m, left / size, right / size));
  const leverage = m.both - (left * right) / size - linear - curved;
  if (!(leverage > 0)) return 1;
  const least = (Math.max(left - offLeft, 0) * Math.max(right - offRight, 0)) / largest;
  const most = Math.min(((left + offLeft) * (right + offRight)) / smallest, largest);
  const tails = between(least, most, EXPECTED_OVERLAPS_TRIED).map((expected) =>
    binomialTail(expected + leverage, largest, expected / largest),
  );
  return Math.max(likely, ...tails);
}

/** Return P[X ≥ overlap] for X ~ Binomial(size, chance), for real-valued counts. */
function binomialTail(overlap, size, chance) {
  if (overlap <= 0) return 1;
  const above = Math.max(size - overlap + 1, 1e-12);
  return incompleteBeta(Math.max(overlap, 1e-12), above, clip(chance, 0, 1));
}

/** Return the regularised incomplete beta function. */
function incompleteBeta(a, b, x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x);
  const size = a + b;
  // a·(1 − x) − b·x, which is a − size·x without its rounding error.
  const surplus = a * (1 - x) - b * x;
  const log =
    logFactorialRest(size) -
    logFactorialRest(a) -
    logFactorialRest(b) -
    deviance(a, size * x, surplus) -
    deviance(b, size * (1 - x), -surplus) +
    Math.log(b / size);
  return Math.exp(log) * betaFraction(a, b, x);
}

const MOST_STEPS = 100_000;
const TINY = 1e-300;
const ENOUGH = 4e-16;

/** Return the continued fraction of the incomplete beta function (modified Lentz). */
function betaFraction(a, b, x) {
  const nonzero = (number) => (Math.abs(number) < TINY ? TINY : number);
  let top = 1;
  let bottom = 1 / nonzero(1 - ((a + b) * x) / (a + 1));
  let value = bottom;
  for (let step = 1; step <= MOST_STEPS; step += 1) {
    const twice = 2 * step;
    const even = (step * (b - step) * x) / ((a + twice - 1) * (a + twice));
    const odd = (-(a + step) * (a + b + step) * x) / ((a + twice) * (a + twice + 1));
    let change = 1;
    for (const part of [even, odd]) {
      bottom = 1 / nonzero(1 + part * bottom);
      top = nonzero(1 + part / top);
      change = bottom * top;
      value *= change;
    }
    if (Math.abs(change - 1) < ENOUGH) break;
  }
  return value;
}

/* ---- query texts ---- */

/** Return what tells literals apart, made once for each. */
function keyOf(one) {
  one.key ??= `${one.op} ${typeof one.value} ${one.value} ${one.attribute}`;
  return one.key;
}

/** Add what simplifying needs: complements by key, and the path to every node. */
function withWords(tree) {
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
function unionText(tree, covered) {
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
