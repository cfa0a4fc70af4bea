/**
 * What is pointed at, and what is chosen, in all views at once.
 *
 * A place is a choice of ends in one pair of trees: `{ pair, left, right }`, where `left` and
 * `right` are sets of places in the trees' `ends`, or null for any. A finding also has its number.
 */

/** Return a meeting point: views subscribe to it, and tell it what is pointed at or chosen. */
export function linked(first) {
  const views = [];
  const state = { pair: first.pair, left: new Set(), right: new Set(), over: null };
  const tell = (what) => views.forEach((view) => view(state, what));
  return {
    state,
    subscribe: (view) => views.push(view),
    /** Point at a place, or at nothing. */
    point(place) {
      if (state.over === place) return;
      state.over = place;
      tell("over");
    },
    /** Choose ends of a pair; what was chosen in another pair is given up. */
    choose(pair, left, right) {
      const moved = pair !== state.pair;
      Object.assign(state, { pair, left: new Set(left), right: new Set(right), over: null });
      tell(moved ? "pair" : "chosen");
    },
  };
}

/** Return handlers with which an element points at a place while it has the pointer or the focus. */
export function pointing(link, place) {
  return {
    pointerenter: () => link.point(place),
    pointerleave: () => link.point(null),
    focus: () => link.point(place),
    blur: () => link.point(null),
  };
}

/** Return whether a pair of ends is in a place. */
export function isWithin(place, pair, left, right) {
  if (place === null || place.pair !== pair) return false;
  return (place.left?.has(left) ?? true) && (place.right?.has(right) ?? true);
}

/** Return on which side a cell is chosen: "both", "left", "right" or "". */
export function roleOf(state, left, right) {
  const [row, column] = [state.left.has(left), state.right.has(right)];
  if (row && column) return "both";
  return row ? "left" : column ? "right" : "";
}

/** Return whether a finding is what is chosen. */
export function isChosen(one, { pair, left, right }) {
  const same = (ends, chosen) => ends.length === chosen.size && ends.every((end) => chosen.has(end));
  return one.pair === pair && same(one.ends[0], left) && same(one.ends[1], right);
}
