/**
 * How counts, shares, intervals and p-values are worded, as in `sentences.py` and `wording.py`.
 */

const SPACE = "\u00a0";

/** Return a count with no more digits than the noise leaves. */
export function countText({ estimate, low, high }) {
  const spread = (high - low) / 2;
  const unit = Number.isFinite(spread) ? 10 ** Math.floor(Math.log10(Math.max(spread / 3, 1))) : 1;
  return thousands(Math.max(Math.round(estimate / unit) * unit, 0));
}

/** Return a whole number with separators. */
export function thousands(number) {
  return Math.round(number).toLocaleString("en-GB");
}

/** Return a share in percent. */
export function percent(ratio) {
  return `${(100 * clipped(ratio)).toFixed(0)}${SPACE}%`;
}

/** Return which part of a support the overlap is, with its range. */
export function shareText(both, size, least) {
  if (size.estimate < 1) return "hardly any";
  const estimate = clipped(both.estimate / size.estimate);
  const low = Math.max(size.high > 0 ? clipped(both.low / size.high) : 0, clipped(least));
  const high = size.low > 0 ? clipped(both.high / size.low) : 1;
  const least100 = (100 * Math.min(low, estimate)).toFixed(0);
  const most = percent(Math.max(high, estimate));
  return `about ${percent(estimate)} (${least100}${SPACE}to${SPACE}${most})`;
}

/** Return the ends of an interval. */
export function rangeText({ low, high }, digits = 2) {
  return `${fixed(low, digits)}–${fixed(high, digits)}`;
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

export function clipped(ratio) {
  return Math.min(Math.max(ratio, 0), 1);
}
