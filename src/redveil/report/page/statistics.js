/**
 * What a leaf table says about two unions of its ends, in numbers.
 *
 * `findings/estimate.py`, `statistics.py`, `leverage.py`, `fisher.py` and `binomial.py` say why they
 * are what they are; the functions here have the same names.
 */

/* ---- counts and their errors ---- */

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
const clip = (x, low, high) => Math.min(Math.max(x, low), high);

/** Return estimates and (co)variances of overlap, supports and size for a pair of unions. */
export function moments(estimate, left, right) {
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

/** Return everything that an answer says but its texts. */
export function statistics(m, critical, test) {
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
    support: supports(m, critical),
    p: largestP(m, likely),
    p_confirming: largestP(m, sure),
    p_estimate: largestP(m, 0),
  };
}

/** Return the intervals of both supports and of the overlap. */
export function supports(m, critical) {
  return {
    left: support(m.left, m.left_left, critical.intervals),
    right: support(m.right, m.right_right, critical.intervals),
    both: support(m.both, m.both_both, critical.intervals),
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

/** Return the Jaccard index with the values that overlap, union and supports do not contradict. */
function jaccardBounds(m, critical) {
  const either = m.left + m.right - m.both;
  const variance =
    m.left_left + m.right_right + m.both_both + 2 * (m.left_right - m.both_left - m.both_right);
  const covariance = m.both_left + m.both_right - m.both_both;
  const [low, high] = ratioBounds(m.both, either, m.both_both, covariance, variance, critical);
  const estimate = either > 0 ? m.both / either : 0;
  const [least, most] = boundsOfCounts(m, critical);
  return {
    estimate: clip(estimate, 0, 1),
    low: clip(Math.min(Math.max(low, least), estimate), 0, 1),
    high: clip(Math.max(Math.min(high, most), estimate), 0, 1),
  };
}

/** Return the least and the largest index of tables whose counts are within their intervals. */
function boundsOfCounts(m, critical) {
  const both = support(m.both, m.both_both, critical);
  const left = support(m.left, m.left_left, critical);
  const right = support(m.right, m.right_right, critical);
  const largest = left.high + right.high - both.low;
  // An overlap is no larger than either support.
  const shared = Math.min(both.high, left.high, right.high);
  const smallest = Math.max(left.low, shared) + Math.max(right.low, shared) - shared;
  return [largest > 0 ? both.low / largest : 0, smallest > 0 ? shared / smallest : 1];
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
