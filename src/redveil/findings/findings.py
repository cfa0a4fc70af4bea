"""Findings: everything that is inferred from released leaf tables. Nothing private comes in here.

Extraction, pruning, ranking, the bound on false discoveries and, if nothing was found, what it
would have taken: all of it is post-processing, so it costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from redveil.errors import QueryError
from redveil.findings.discovery import (
    Discovery,
    false_discoveries,
    survives,
    with_confirmation,
)
from redveil.findings.estimate import Estimate, estimate
from redveil.findings.extraction import Candidate, Extractor
from redveil.findings.paper_extraction import PaperExtractor
from redveil.findings.pruning import Pruned, is_kept, pruned_by_support
from redveil.findings.ranking import ranked, ranked_by_novelty
from redveil.findings.redescription import Redescription
from redveil.findings.released_table import ReleasedTable, SplitCounts
from redveil.findings.reporting import Constraints, Reporting
from redveil.findings.required_budget import (
    COMMON_SHARE,
    RARE_SHARE,
    Designer,
    Match,
    RequiredBudget,
    good_match,
    required_budget,
)
from redveil.findings.selection import Selection
from redveil.findings.statistics import Interval
from redveil.findings.taste import ANY_TASTE
from redveil.losses.loss import Loss
from redveil.query.coverage import coverage
from redveil.query.formula import Query
from redveil.schema import Side

_Extracted: TypeAlias = tuple[tuple[Estimate, ...], Sequence[Redescription], Sequence[Pruned]]


@dataclass(frozen=True, slots=True)
class NothingFound:
    """Why nothing is reported, as far as released values tell.

    entities:    the noisy number of entities
    cell_error:  the standard error of a measured cell
    match:       a match that would have been reported with a larger budget, and what it would have
                 needed; None if even rare matches would have been reported
    noise_aware: whether the search accounted for the noise; otherwise no such match is sought
    refused:     whether anything meets the constraints, but is not what was asked for
    """

    entities: float
    cell_error: float
    noise_aware: bool = True
    match: Match | None = None
    required: RequiredBudget | None = None
    refused: bool = False


# Adds what it would have taken to an empty finding.
Explain: TypeAlias = Callable[[NothingFound], NothingFound]


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """What was inferred from the leaf tables of one run.

    entities:       the noisy number of entities, if a table was measured
    redescriptions: what is reported, best first
    pruned:         what was dropped because its support may be nothing but noise
    discovery:      the bound on false discoveries, if noise was accounted for
    nothing:        why nothing is reported, if so
    is_listed:      whether the list has been made
    """

    entities: Interval | None
    tables: tuple[ReleasedTable, ...]
    estimates: tuple[Estimate, ...]
    redescriptions: tuple[Redescription, ...]
    pruned: tuple[Pruned, ...]
    discovery: Discovery | None
    nothing: NothingFound | None
    is_listed: bool = True


def find(
    tables: Sequence[ReleasedTable],
    splits: SplitCounts,
    reporting: Reporting,
    explain: Explain | None = None,
    choices: float = 0.0,
) -> Findings:
    """Extract, prune and rank.

    splits:  how many splits each view has to choose from
    explain: says what it would have taken if there is nothing to report
    choices: log10 of how many pairs of queries an earlier search of the same rows chose the roots
             from
    """
    extract = _hardened if reporting.noise_aware else _published
    estimates, found, pruned = extract(tables, splits, reporting, choices)
    counts = [table.counts for table in tables]
    discovery = None
    if reporting.noise_aware:
        found = with_confirmation(found, counts, splits, choices)
        discovery = false_discoveries(found, counts, splits, choices)
    entities = number_of_entities(estimates)
    nothing = None
    if not found:
        size = entities.estimate if entities else 0.0
        error = max((one.cell_deviation for one in estimates), default=0.0)
        refused = not reporting.taste.allows_all and bool(
            extract(tables, splits, replace(reporting, taste=ANY_TASTE), choices)[1]
        )
        nothing = NothingFound(size, error, reporting.noise_aware, refused=refused)
        if reporting.noise_aware and explain is not None and not refused:
            nothing = explain(nothing)
    return Findings(
        entities=entities,
        tables=tuple(tables),
        estimates=estimates,
        redescriptions=tuple(found),
        pruned=tuple(pruned),
        discovery=discovery,
        nothing=nothing,
    )


def not_yet_found(tables: Sequence[ReleasedTable]) -> Findings:
    """Return released tables and their estimates, before a list is made from them."""
    estimates = tuple(estimate(one.counts) for one in tables)
    return Findings(
        entities=number_of_entities(estimates),
        tables=tuple(tables),
        estimates=estimates,
        redescriptions=(),
        pruned=(),
        discovery=None,
        nothing=None,
        is_listed=False,
    )


def _hardened(
    tables: Sequence[ReleasedTable], splits: SplitCounts, reporting: Reporting, choices: float
) -> _Extracted:
    """Return estimates, what is reported, and what is pruned."""
    selection = reporting.selection
    extractors = [
        Extractor(table, reporting.constraints, reporting.taste, number, len(tables), selection)
        for number, table in enumerate(tables)
    ]
    estimates = tuple(one.estimate for one in extractors)
    shapes = math.log10(max(len(tables), 1)) + choices
    candidates = [
        replace(one, confirmed=_is_confirmed(one, tables[one.table], splits, shapes))
        for extractor in extractors
        for one in extractor.candidates()
    ]
    if selection.confirmed:
        candidates = [one for one in candidates if one.confirmed]
    if reporting.given is not None:
        candidates = _as_given(candidates, tables, *reporting.given)
    answers = reporting.given is not None
    if reporting.prune is None:
        chosen = ranked_by_novelty(candidates, estimates, tables, answers=answers)
        return estimates, [extractors[one.table].describe(one) for one in chosen], []
    # What is not listed must not make other entries less novel, so it goes before they are ranked.
    described = {one: extractors[one.table].describe(one) for one in candidates}
    kept, pruned = pruned_by_support(described.values(), reporting.prune)
    fine = {id(one) for one in kept}
    left = [one for one, found in described.items() if id(found) in fine]
    chosen = ranked_by_novelty(left, estimates, tables, answers=answers)
    return estimates, [extractors[one.table].describe(one) for one in chosen], pruned


def _as_given(
    candidates: Sequence[Candidate], tables: Sequence[ReleasedTable], side: Side, given: Query
) -> list[Candidate]:
    """Return the candidates that describe a query as a person gave it, not its negation.

    All, if there are none: the negation may be the only one that satisfies the constraints.
    """
    try:
        wanted = [
            tuple(np.flatnonzero(coverage(given, table.tree(side)).covered).tolist())
            for table in tables
        ]
    except QueryError:  # too complex to decide
        return list(candidates)
    found = [
        one
        for one in candidates
        if (one.left_ends if side is Side.LEFT else one.right_ends) == wanted[one.table]
    ]
    return found or list(candidates)


def _is_confirmed(one: Candidate, table: ReleasedTable, splits: SplitCounts, shapes: float) -> bool:
    log_p = one.log_p / math.log(10)
    return survives(one.left, one.right, log_p, table.counts, splits, shapes)


def _published(
    tables: Sequence[ReleasedTable], _splits: SplitCounts, reporting: Reporting, _choices: float
) -> _Extracted:
    """Return estimates, what is reported, and what is pruned, all as in the paper."""
    taste, selection = reporting.taste, reporting.selection
    # Where nothing else is asked for, what is pruned is never put into words.
    asked = not taste.allows_all or selection != Selection()
    extractors = [PaperExtractor(table, reporting.constraints, taste) for table in tables]
    kept: list[Redescription] = []
    pruned: list[Pruned] = []
    for number, extractor in enumerate(extractors):
        for candidate in extractor.candidates():
            both = extractor.support(candidate)
            keep = is_kept(both.estimate, both.low, reporting.prune)
            if keep or asked:
                one = extractor.describe(candidate, number)
                # The paper knows no selection, so its search does not either.
                if not (taste.allows(one.left, one.right) and selection.allows(one)):
                    continue
                if keep:
                    kept.append(one)
                    continue
            pruned.append(Pruned(both.estimate, candidate.jaccard))
    return tuple(one.estimate for one in extractors), ranked(kept), pruned


def number_of_entities(estimates: Sequence[Estimate]) -> Interval | None:
    """Return the most precise of the noisy sizes, with an interval of three standard errors."""
    if not estimates:
        return None
    best = min(estimates, key=lambda one: one.size_deviation)
    width = 3 * best.size_deviation
    return Interval(*(max(best.size + x, 0.0) for x in (0.0, -width, width)))


def explanation_for(
    designer: Designer, constraints: Constraints, splits: SplitCounts, loss: Loss
) -> Explain:
    """Return what adds to an empty finding the budget that a match would have needed.

    designer: what a run with the same parameters would measure, by size and price
    loss:     what the run was allowed to lose
    """

    def explained(nothing: NothingFound) -> NothingFound:
        """Add what a common match would have needed, or, if that was met, a rare one."""
        size, error = nothing.entities, nothing.cell_error
        for share in (COMMON_SHARE, RARE_SHARE):
            match = good_match(constraints, share)
            required = required_budget(designer, constraints, splits, size, loss, match)
            if required.epsilon > float(loss.epsilon):
                return NothingFound(size, error, match=match, required=required)
        return nothing

    return explained
