"""The released values that the page's scripts work with, as JSON."""

from __future__ import annotations

import json
from typing import Any, Final

from redveil.query.coverage import ReleasedTree
from redveil.query.formula import attributes, negate
from redveil.query.json_form import from_json
from redveil.query.leaves import node_query
from redveil.query.simplify import simplified
from redveil.report.document import RedescriptionPart, ResultDocument, TreePairPart, TreePart
from redveil.report.page.markup import Html, harmless
from redveil.report.page.phrases import Phrases
from redveil.report.page.sentences import Teller
from redveil.report.page.stories import is_ranked
from redveil.report.page.tables import page_tables
from redveil.report.released import released_tables
from redveil.schema import Side

Json = dict[str, Any]

# Inside of a script element these could end it, or a line of it.
_ESCAPED: Final = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}


def page_data(teller: Teller) -> Json:
    """Return everything that the scripts need."""
    document = teller.document
    return {
        "unit": teller.unit,
        "order": _order(document),
        "units": teller.units,
        "total": teller.total,
        "views": [teller.views[side] for side in Side],
        "findings": [
            _finding(teller, number, one)
            for number, one in enumerate(document.redescriptions, start=1)
        ],
        "pruned": [[point.support, point.jaccard] for point in document.pruned],
        "pairs": [
            _pair(teller, part, released.left, released.right)
            for part, released in zip(document.tree_pairs, released_tables(document), strict=True)
        ],
        "tables": page_tables(document),
        "attributes": [
            [[one.name, harmless(one.title)] for one in declared]
            for declared in (document.attributes.left, document.attributes.right)
        ],
    }


def _order(document: ResultDocument) -> str:
    """Return what the list is sorted by, in words."""
    return "as listed (by what each adds)" if is_ranked(document) else "as listed"


def embedded(data: Json) -> Html:
    r"""Return JSON that no browser takes for markup.

    >>> embedded({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Html(text.translate(_ESCAPED))


def _finding(teller: Teller, number: int, one: RedescriptionPart) -> Json:
    told = teller.told(one)
    sides = (one.left, Side.LEFT), (one.right, Side.RIGHT)
    plain = one.model_dump(mode="json", by_alias=True, exclude={"before", "true", "source"})
    words = [teller.phrases[side].label(name) for part, side in sides for name in _names(part.tree)]
    return plain | {
        "number": number,
        "words": [told.left, told.right],
        "text": told.text,
        # What a reader may search for: names, titles and words.
        "searched": " ".join(
            [*words, *(name for part, _ in sides for name in _names(part.tree)), told.text]
        ).casefold(),
        "pair": one.source.tree_pair,
        "ends": [list(one.source.left_ends), list(one.source.right_ends)],
    }


def _names(tree: Json) -> tuple[str, ...]:
    return attributes(from_json(tree))


def _pair(teller: Teller, part: TreePairPart, left: ReleasedTree, right: ReleasedTree) -> Json:
    return {
        "left": _tree(teller, part.left, left, Side.LEFT),
        "right": _tree(teller, part.right, right, Side.RIGHT),
        "fitted": [[round(count, 3) for count in row] for row in part.leaf_table.fitted],
    }


def _path_words(phrases: Phrases, released: ReleasedTree, node: int) -> str:
    """Return the words on the way to an inner node, followed by a comma."""
    if node == 0:
        return ""
    path = simplified(node_query(released, node), released.always_known, released.orders)
    return f"{phrases.phrase(path)}, "


def _tree(teller: Teller, part: TreePart, released: ReleasedTree, side: Side) -> Json:
    """Return the nodes of a tree with the words on the way to them, and its ends."""
    tree, phrases = released.tree, teller.phrases[side]
    nodes: list[Json] = []
    for node in sorted({*tree.inner, *tree.leaves} - {0}):
        parent, held = (node - 1) // 2, node % 2 == 1
        split = released.splits[parent]
        assert split is not None
        words = phrases.phrase(split if held else negate(split))
        nodes.append({"node": node, "words": words})
    ends: list[Json] = []
    for node, query in zip(tree.ends, part.ends, strict=True):
        stuck = node in tree.stuck
        words = short = "anything else" if query is None else teller.words(query, side)
        if stuck:
            split = released.splits[node]
            assert split is not None
            names = [phrases.label(name) for name in attributes(split)]
            short = f"{' or '.join(names)} unknown"
            words = f"{_path_words(phrases, released, node)}{short}"
        ends.append({"node": node, "stuck": stuck, "words": words, "short": short})
    used = {name for split in released.splits if split is not None for name in attributes(split)}
    return {"nodes": nodes, "ends": ends, "attributes": sorted(used)}
