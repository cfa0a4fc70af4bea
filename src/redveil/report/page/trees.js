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

/** Return how wide a text is in the trees' font, in pixels. */
export function widthOf(text) {
  if (widthOf.pen === undefined) {
    widthOf.pen = document.createElement("canvas").getContext("2d");
    // Bold, as labels of what is chosen are.
    widthOf.pen.font = `600 12.5px ${getComputedStyle(document.body).fontFamily}`;
  }
  return widthOf.pen.measureText(text).width;
}

/** Return a text in lines of some width; what does not fit is left out. */
export function broken(text, width, most) {
  const lines = [];
  let line = "";
  for (const word of text.split(/ +/)) {
    const longer = line ? `${line} ${word}` : word;
    if (line && widthOf(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  lines.push(line);
  const kept = lines.slice(0, most);
  if (lines.length > most) kept[most - 1] += "…";
  return kept.map((one) => cut(one, width));
}

function cut(text, width) {
  if (widthOf(text) <= width) return text;
  let length = text.length;
  while (length > 1 && widthOf(`${text.slice(0, length)}…`) > width) length = Math.floor(length * 0.95);
  return `${text.slice(0, length)}…`;
}
