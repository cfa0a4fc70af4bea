/**
 * How counts, shares, intervals and p-values are worded, as in `sentences.py` and `wording.py`.
 */

const SPACE = "\u00a0";

/** Return a whole number with separators. */
export function thousands(number) {
  return Math.round(number).toLocaleString("en-GB");
}

/** Return a share in percent. */
export function percent(ratio) {
  return `${(100 * clipped(ratio)).toFixed(0)}${SPACE}%`;
}

/** Return which part of a printed support the printed overlap is, with its range. */
export function shareText([both, size], overlap, support, least) {
  if (size < 1) return "hardly any";
  const estimate = both / size;
  const low = Math.max(support.high > 0 ? clipped(overlap.low / support.high) : 0, clipped(least));
  const high = support.low > 0 ? clipped(overlap.high / support.low) : 1;
  const exact = (ratio) => Number((100 * ratio).toFixed(6));
  const lowest = Math.floor(exact(Math.min(low, estimate)));
  const highest = Math.ceil(exact(Math.max(high, estimate)));
  return `about ${percent(estimate)} (${shareRange(lowest, highest)})`;
}

function shareRange(low, high) {
  if (low >= 100) return `hardly less than 100${SPACE}%`;
  if (low > 0) return `between ${low} and${SPACE}${high}${SPACE}%`;
  return high < 100 ? `at most ${high}${SPACE}%` : "the noise leaves it open";
}

/** Return the ends of a count's interval, rounded outwards to a unit. */
export function countRange({ low, high }, unit) {
  return `${thousands(Math.floor(low / unit) * unit)}–${thousands(Math.ceil(high / unit) * unit)}`;
}

/** Return the ends of an interval. */
export function rangeText({ low, high }, digits = 2) {
  const [first, last] = [low, high].map((end) => fixed(end, digits).replace("-", "−"));
  return low < 0 ? `${first} to ${last}` : `${first}–${last}`;
}

/** Return an estimate with the ends of its interval in brackets. */
export function intervalText({ estimate, low, high }, digits) {
  return `${fixed(estimate, digits)} [${fixed(low, digits)}, ${fixed(high, digits)}]`;
}

/** Return a number with some decimals and with separators. */
export function fixed(number, digits) {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return number.toLocaleString("en-GB", options);
}

/** Return a p-value as short text. */
export function pText(p) {
  if (p < 1e-300) return "1e-300";
  return p >= 1e-4 ? String(Number(p.toPrecision(2))) : p.toExponential(0);
}

// Smaller p-values say no more to anybody.
const MOST_DIGITS = 12;

/** Return a p-value in words: small ones as a power of ten that is not exceeded. */
export function chanceText(p) {
  if (p >= 1e-3) return `${Number((100 * p).toPrecision(2))}${SPACE}%`;
  const digits = Math.min(Math.floor(-Math.log10(Math.max(p, 1e-300)) + 1e-9), MOST_DIGITS);
  return digits > 6 ? `1 in 10${raised(digits)}` : `1 in ${thousands(10 ** digits)}`;
}

function raised(number) {
  return [...String(number)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
}

export function clipped(ratio) {
  return Math.min(Math.max(ratio, 0), 1);
}
