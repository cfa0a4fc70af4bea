"""Listing a result differently: other constraints, another order, fewer entries, complements.

A result file holds every released table, so the list can be made again from it under other
constraints. Nothing private is involved, and nothing is charged. The certificate stays as it is: it
says what was mined. The document's `listing` says how the list was made since then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, Final, Literal, TypeAlias, get_args

from redveil.errors import InputError, ResultError
from redveil.findings.complement import complements
from redveil.findings.confirmation import confirmed_share
from redveil.findings.discovery import Discovery, false_discoveries
from redveil.findings.findings import find
from redveil.findings.redescription import Redescription
from redveil.findings.reporting import Constraints, Reporting, read_prune
from redveil.findings.selection import Selection
from redveil.findings.statistics import SignificanceTest
from redveil.findings.taste import Taste
from redveil.losses.loss import read_count
from redveil.query.formula import Query
from redveil.query.json_form import from_json
from redveil.report.build import pruned_points, with_list
from redveil.report.document import CONFIRM, ListingPart, ResultDocument
from redveil.report.released import (
    DESCRIBE,
    earlier_choices,
    released_list,
    released_splits,
    released_tables,
    significance_test,
)
from redveil.report.retest import confirmed_list
from redveil.report.wording import KEEP_ALL, differences
from redveil.schema import Side
from redveil.schema.naming import Name
from redveil.schema.unmatched import Group

SortKey: TypeAlias = Literal["rank", "corrected", "jaccard", "support", "p"]
SORT_KEYS: Final[tuple[SortKey, ...]] = get_args(SortKey)

_VALUES: Final[Mapping[str, Callable[[Redescription], float]]] = {
    "corrected": lambda one: -one.statistics.corrected.estimate,
    "jaccard": lambda one: -one.statistics.jaccard.estimate,
    "support": lambda one: -one.statistics.support_both.estimate,
    "p": lambda one: one.statistics.p_value,
}


def reporting_of(document: ResultDocument) -> Reporting:
    """Return what the list was made with: by its listing, or else by its run."""
    made = constraints_of(document)
    try:
        return Reporting(
            constraints=Constraints(**_of(made, Constraints)),
            prune=read_prune(made.get("prune")),
            noise_aware=significance_test(document) is SignificanceTest.FISHER,
            taste=_taste(document, _of(made, Taste)),
            selection=Selection(**_of(made, Selection)),
            given=_given(document),
        )
    except InputError as error:
        raise ResultError(f"listing: {error}; the file is damaged") from None


def _given(document: ResultDocument) -> tuple[Side, Query] | None:
    """Return the query that a result describes, and its side; None if it describes none."""
    given = document.certificate.given
    if given is None or document.certificate.algorithm != DESCRIBE:
        return None
    both = ((Side.LEFT, given.left), (Side.RIGHT, given.right))
    return next(((side, from_json(one.tree)) for side, one in both if one is not None), None)


def constraints_of(document: ResultDocument) -> dict[str, Any]:
    """Return the constraints of a list as plain values, by their names."""
    mined, listing = document.certificate.parameters, document.listing
    return dict(mined if listing is None else listing.constraints)


def filtered(document: ResultDocument, changes: Mapping[str, Any]) -> ResultDocument:
    """Return a document whose list is made anew from the released tables.

    changes: constraints that differ from those in force; None for those that do not. A list that
    was sorted, cut short or made of complements begins anew
    """
    given = {name: value for name, value in changes.items() if value is not None}
    if document.pending and not given:
        return confirmed_list(document)
    _must_be_searched(document)
    before = reporting_of(document)
    reporting = Reporting(
        constraints=Constraints(**asdict(before.constraints) | _of(given, Constraints)),
        prune=_prune(given["prune"]) if "prune" in given else before.prune,
        noise_aware=before.noise_aware,
        taste=replace(before.taste, **_of(given, Taste)),
        selection=Selection(**asdict(before.selection) | _of(given, Selection)),
        given=before.given,
    )
    if reporting.selection.confirmed and not reporting.noise_aware:
        raise InputError("the published profile confirms nothing; leave out confirmed")
    tables, splits = released_tables(document), released_splits(document)
    findings = find(tables, splits, reporting, choices=earlier_choices(document))
    listing = ListingPart(
        constraints=reporting.public() | asdict(reporting.selection),
        ranks=tuple(range(1, len(findings.redescriptions) + 1)),
    )
    made = with_list(document, findings.redescriptions, findings.discovery, listing)
    message = None if made.redescriptions else _why_empty(document, made)
    pruned = pruned_points(findings.pruned)
    return made.model_copy(update={"message": message, "pruned": pruned, "unfinished": False})


def arranged(
    document: ResultDocument, sort: SortKey | None = None, top: int | None = None
) -> ResultDocument:
    """Return a document whose entries are in another order, or only the first of them.

    Numbers are sorted by their estimates, the strongest first. Ties keep the order of the list as
    it was made.
    """
    listing = _listing(document)
    order = sorted(range(len(listing.ranks)), key=listing.ranks.__getitem__)
    if sort is None:
        order = list(range(len(listing.ranks)))
    elif sort not in SORT_KEYS:
        raise InputError(f"sort must be one of {', '.join(SORT_KEYS)}")
    found = released_list(document)
    if sort is not None and sort != "rank":
        value = _VALUES[sort]
        order.sort(key=lambda place: value(found[place]))
    if top is not None:
        count = read_count(top)
        if count is None or count < 1:
            raise InputError("top must be a whole number of at least 1")
        order = order[:count]
    update = {
        "sort": sort or listing.sort,
        "top": top if top is not None else listing.top,
        "ranks": tuple(listing.ranks[place] for place in order),
    }
    return _with_list(document, _renumbered(found, order), listing, update)


def _renumbered(found: Sequence[Redescription], order: Sequence[int]) -> list[Redescription]:
    """Return the entries in this order; details name where their stories stand now."""
    numbers = {place + 1: number for number, place in enumerate(order, start=1)}
    return [replace(found[place], detail=numbers.get(found[place].detail or 0)) for place in order]


def complemented(document: ResultDocument) -> ResultDocument:
    """Return a document in which every entry is replaced by the pair of its complements."""
    _must_be_searched(document)
    listing = _listing(document)
    found = complements(
        released_list(document),
        released_tables(document),
        released_splits(document),
        significance_test(document),
        earlier_choices(document),
    )
    return _with_list(document, found, listing, {"complement": not listing.complement})


def _with_list(
    document: ResultDocument,
    found: Sequence[Redescription],
    listing: ListingPart,
    update: Mapping[str, object],
) -> ResultDocument:
    changed = listing.model_copy(update=dict(update))
    made = with_list(document, found, _discovery(document, found), changed)
    return made.model_copy(update={"message": document.message})


def _discovery(document: ResultDocument, found: Sequence[Redescription]) -> Discovery | None:
    """Bound the false discoveries among those that are left, if they were bounded at all."""
    if document.false_discoveries is None:
        return None
    if _is_confirmation(document):
        return confirmed_share(found, document.false_discoveries.comparable)
    counts = [table.counts for table in released_tables(document)]
    return false_discoveries(found, counts, released_splits(document), earlier_choices(document))


def _is_confirmation(document: ResultDocument) -> bool:
    return document.certificate.algorithm == CONFIRM


def _must_be_searched(document: ResultDocument) -> None:
    """Refuse to look for other pairs in tables that were made for a given list."""
    if _is_confirmation(document):
        raise InputError(
            "a confirmation measures a given list and no other; filter the earlier result, then "
            "confirm that (sort and top work)"
        )


def _listing(document: ResultDocument) -> ListingPart:
    """Return how a list was made; one that was mined is in its own order."""
    if document.listing is not None:
        return document.listing
    reporting = reporting_of(document)
    made = reporting.public() | asdict(reporting.selection)
    return ListingPart(
        # A given list is as it is.
        constraints={} if _is_confirmation(document) else made,
        ranks=tuple(range(1, len(document.redescriptions) + 1)),
    )


def _of(
    values: Mapping[str, Any], kind: type[Constraints] | type[Selection] | type[Taste]
) -> dict[str, Any]:
    # What is required or unmatched is part of the run's steering.
    steered = ("unmatched",)
    names = [one.name for one in fields(kind) if one.name not in steered]
    return {name: values[name] for name in names if name in values}


def _taste(document: ResultDocument, words: Mapping[str, Any]) -> Taste:
    """Return what queries may say: the wishes about words, and what the run was steered by."""
    asked = document.certificate.parameters
    required = [_name(text) for text in _texts(asked.get("require"))]
    groups = asked.get("unmatched")
    return Taste(
        **words,
        required_left=tuple(name for side, name in required if side is Side.LEFT),
        required_right=tuple(name for side, name in required if side is Side.RIGHT),
        unmatched=tuple(
            Group.of(_name(text) for text in _texts(group))
            for group in (groups if isinstance(groups, tuple) else ())
        ),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, tuple) else ()


def _name(text: str) -> Name:
    """Read a name as a certificate writes it, with its side in front."""
    side, _, name = text.partition(":")
    if side not in list(Side):
        raise ResultError(f"certificate: {text!r} names no attribute; the file is damaged")
    return Side(side), name


def _prune(given: object) -> float | str | None:
    return None if given == KEEP_ALL else read_prune(given)


def _why_empty(before: ResultDocument, made: ResultDocument) -> str:
    """Say why nothing is listed."""
    assert made.listing is not None, "the list was made anew"
    words = differences(before.certificate.parameters, made.listing.constraints)
    if before.message and not words and not before.unfinished:
        return before.message
    wanted = "; ".join(words) or "the constraints of the run"
    return f"Nothing in the released tables satisfies: {wanted}. Relax a constraint."
