"""Findings: everything that is inferred from released leaf tables. Nothing private comes in here.

Extraction, pruning, ranking, the bound on false discoveries and, if nothing was found, what it
would have taken: all of it is post-processing, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redveil.findings.discovery import Discovery, false_discoveries
from redveil.findings.estimate import Estimate
from redveil.findings.extraction import Extractor
from redveil.findings.leaf_table import LeafTable
from redveil.findings.pruning import pruned_by_support
from redveil.findings.ranking import ranked, ranked_by_novelty
from redveil.findings.redescription import Redescription
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
from redveil.findings.statistics import Interval
from redveil.privacy.loss import Loss
from redveil.schema import Schema


@dataclass(frozen=True, slots=True)
class NothingFound:
    """Why nothing is reported, as far as released values tell.

    entities:    the noisy number of entities
    cell_error:  the standard error of a measured cell
    match:       a match that would have been reported with a larger budget, and what it would have
                 needed; None if even rare matches would have been reported
    noise_aware: whether the search accounted for the noise; otherwise no such match is sought
    """

    entities: float
    cell_error: float
    noise_aware: bool = True
    match: Match | None = None
    required: RequiredBudget | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """What was inferred from the leaf tables of one run.

    entities:       the noisy number of entities, if a table was measured
    redescriptions: what is reported, best first
    pruned:         what was dropped because its support may be nothing but noise
    discovery:      the bound on false discoveries, if noise was accounted for
    nothing:        why nothing is reported, if so
    """

    entities: Interval | None
    tables: tuple[LeafTable, ...]
    estimates: tuple[Estimate, ...]
    redescriptions: tuple[Redescription, ...]
    pruned: tuple[Redescription, ...]
    discovery: Discovery | None
    nothing: NothingFound | None


def find(
    tables: Sequence[LeafTable],
    schema: Schema,
    reporting: Reporting,
    designer: Designer,
    loss: Loss,
    choices: float = 0.0,
) -> Findings:
    """Extract, prune and rank.

    schema:   the schema whose splits the trees are made of
    designer: what a run with the same parameters would measure, by size and price
    loss:     what the run was allowed to lose
    choices:  log10 of how many pairs of queries an earlier search of the same rows chose from
    """
    noise_aware = reporting.noise_aware
    # The paper makes no claims about all tables together.
    shared = len(tables) if noise_aware else 1
    extractors = [
        Extractor(table, schema, reporting.constraints, noise_aware=noise_aware, tables=shared)
        for table in tables
    ]
    # With pruning, novelty is judged later: a pruned entry must not make others less novel.
    only_novel = noise_aware and reporting.prune is None
    found = [
        one
        for number, extractor in enumerate(extractors)
        for one in extractor.extract(number, only_novel=only_novel)
    ]
    estimates = tuple(extractor.estimate for extractor in extractors)
    entities = number_of_entities(estimates)
    kept, pruned = pruned_by_support(found, reporting.prune)
    best = ranked_by_novelty(kept, estimates) if noise_aware else ranked(kept)
    nothing = None
    if not best:
        size = entities.estimate if entities else 0.0
        error = max((one.cell_deviation for one in estimates), default=0.0)
        nothing = NothingFound(size, error, noise_aware)
        if noise_aware:
            nothing = _explained(nothing, designer, reporting.constraints, schema, loss)
    return Findings(
        entities=entities,
        tables=tuple(tables),
        estimates=estimates,
        redescriptions=best,
        pruned=tuple(pruned),
        discovery=false_discoveries(best, tables, schema, choices) if noise_aware else None,
        nothing=nothing,
    )


def number_of_entities(estimates: Sequence[Estimate]) -> Interval | None:
    """Return the most precise of the noisy sizes, with an interval of three standard errors."""
    if not estimates:
        return None
    best = min(estimates, key=lambda one: one.size_deviation)
    width = 3 * best.size_deviation
    return Interval(*(max(best.size + x, 0.0) for x in (0.0, -width, width)))


def _explained(
    nothing: NothingFound,
    designer: Designer,
    constraints: Constraints,
    schema: Schema,
    loss: Loss,
) -> NothingFound:
    """Add what a common match would have needed, or, if that was met, a rare one."""
    size, error = nothing.entities, nothing.cell_error
    for share in (COMMON_SHARE, RARE_SHARE):
        match = good_match(constraints, share)
        required = required_budget(designer, constraints, schema, size, loss, match)
        if required.epsilon > float(loss.epsilon):
            return NothingFound(size, error, match=match, required=required)
    return nothing
