/**
 * How trees are laid out: which ends come after which, how deep nodes are, where labels break.
 */

/** Return the places of a tree's ends from top to bottom, so that branches do not cross. */
export function endOrder(tree) {
  const byNode = new Map(tree.ends.map((end, place) => [`${end.node}${end.stuck}`, place]));
  const inner = innerNodes(tree);
  const order = [];
  const visit = (node) => {
    if (inner.has(node)) {
      visit(2 * node + 1);
      visit(2 * node + 2);
      if (byNode.has(`${node}true`)) order.push(byNode.get(`${node}true`));
    } else order.push(byNode.get(`${node}false`));
  };
  visit(0);
  return order;
}

/** Return the nodes that have children. */
export function innerNodes(tree) {
  return new Set(tree.nodes.map(({ node }) => (node - 1) >> 1));
}

/** Return how many splits lead to a node. */
export function depthOf(node) {
  return Math.floor(Math.log2(node + 1));
}

/** Return on which side of the root a node is, 1 or 2; 0 for the root itself. */
export function branchOf(node) {
  let at = node;
  while (at > 2) at = (at - 1) >> 1;
  return at;
}

/** Return the words on the way to an end, one for each question. */
export function pathWords(tree, place) {
  const words = new Map(tree.nodes.map((one) => [one.node, one.words]));
  const { node, stuck, short } = tree.ends[place];
  const path = stuck ? [short] : [];
  for (let at = node; at > 0; at = (at - 1) >> 1) path.unshift(words.get(at));
  return path;
}

/**
 * Return how wide a text is in the page's font, in pixels; `size` is that of its letters. They are
 * bold, as those of what is chosen, unless a weight is given.
 */
export function widthOf(text, size = 12.5, weight = 600) {
  widthOf.pen ??= document.createElement("canvas").getContext("2d");
  widthOf.family ??= getComputedStyle(document.body).fontFamily;
  widthOf.pen.font = `${weight} 100px ${widthOf.family}`;
  return (size / 100) * widthOf.pen.measureText(text).width;
}

/** Return a text in lines of some width; what does not fit is left out of its middle. */
export function broken(text, width, most, size) {
  const fits = (line) => widthOf(line, size) <= width;
  // Names in code are long; they are broken after underscores, too.
  const pieces = [...text.matchAll(/ *[^ _-]*[_-]*/g)].map(([piece]) => piece).filter(Boolean);
  const lines = [];
  let line = "";
  for (const piece of pieces) {
    if (line.trim() && !fits(line + piece)) {
      lines.push(line.trim());
      line = piece;
    } else line += piece;
  }
  lines.push(line.trim());
  if (lines.length <= most) return lines.map((one) => cut(one, width, size));
  // The value comes last, and only it tells two groups of a split apart.
  let last = pieces.pop();
  while (pieces.length && fits(pieces.at(-1) + last)) last = pieces.pop() + last;
  const kept = lines.slice(0, most - 1);
  kept[most - 2] += "…";
  return [...kept, last.trim()].map((one) => cut(one, width, size));
}

function cut(text, width, size) {
  if (widthOf(text, size) <= width) return text;
  const bare = text.replace(/…$/, "");
  let length = bare.length;
  const shorter = () => `${bare.slice(0, length).trimEnd()}…`;
  while (length > 1 && widthOf(shorter(), size) > width) length -= Math.ceil(length / 50);
  return shorter();
}
