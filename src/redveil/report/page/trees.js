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

/** Return a text in lines of at most some characters; what does not fit is left out with a dot. */
export function broken(text, width, most) {
  const lines = [];
  let line = "";
  for (const word of text.split(/ +/)) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  lines.push(line);
  const kept = lines.slice(0, most).map((one) => cut(one, width));
  if (lines.length > most) kept[most - 1] = cut(`${kept[most - 1]}…`, width);
  return kept;
}

function cut(text, width) {
  return text.length > width ? `${text.slice(0, Math.max(width - 1, 1))}…` : text;
}
