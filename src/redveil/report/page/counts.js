/**
 * The counts of an answer as they are printed: rounded once, so that they add up, as in `counts.py`.
 */

/** Return how many fit only the left description, both, and only the right one. */
export function printedCounts({ left, right, both }) {
  const unit = roundingUnit(Math.min(...[left, both, right].map(spreadOf)));
  const overlap = Math.max(both.estimate, 0);
  const [first, last] = [left.estimate - overlap, right.estimate - overlap];
  // Noise can make an overlap larger than a support: then nobody fits that description alone, and
  // what is missing there is taken from the other.
  const parts = [first + Math.min(last, 0), overlap, last + Math.min(first, 0)];
  const [onlyLeft, shared, onlyRight] = parts.map((count) =>
    Math.max(Math.floor(count / unit + 0.5) * unit, 0),
  );
  return {
    onlyLeft,
    both: shared,
    onlyRight,
    left: onlyLeft + shared,
    right: shared + onlyRight,
    adjusted: Math.min(first, last) <= -unit / 2,
    unit,
  };
}

/** Return one count as it is printed by itself. */
export function printedCount(count) {
  const unit = roundingUnit(spreadOf(count));
  return Math.max(Math.floor(count.estimate / unit + 0.5) * unit, 0);
}

/** Return how far the noise reaches. No count is below 0: there, the lower end says nothing of it. */
function spreadOf({ estimate, low, high }) {
  return Math.max((high - low) / 2, high - estimate);
}

/** Return the power of ten to which a count is rounded: at most a tenth of its spread. */
function roundingUnit(spread) {
  return Number.isFinite(spread) ? 10 ** Math.floor(Math.log10(Math.max(spread / 10, 1))) : 1;
}
