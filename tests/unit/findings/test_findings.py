"""Findings: everything that is inferred from released tables, in one object."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from redveil.algorithms.catalogue import make_algorithm
from redveil.findings.discovery import false_discoveries, survives, with_confirmation
from redveil.findings.estimate import Estimate, Fit, estimate
from redveil.findings.extraction import Candidate, Extractor
from redveil.findings.findings import (
    Findings,
    NothingFound,
    explanation_for,
    find,
    number_of_entities,
)
from redveil.findings.leaf_table import LeafTable
from redveil.findings.paper_extraction import PaperExtractor
from redveil.findings.pruning import pruned_by_support
from redveil.findings.ranking import ranked, ranked_by_novelty
from redveil.findings.released_table import ReleasedTable, split_counts
from redveil.findings.reporting import Constraints, Reporting
from redveil.findings.required_budget import (
    COMMON_SHARE,
    RARE_SHARE,
    Design,
    good_match,
    required_budget,
)
from redveil.findings.selection import Selection
from redveil.findings.statistics import Interval
from redveil.losses.loss import Loss, Price
from redveil.schema import Schema
from support.scene import Scene, measured, scene
from support.seeded import SeededRandomness

IMPOSSIBLE = Constraints(max_p_value=5e-324, min_jaccard=1)
ONE = Loss(Fraction(1))
HERE = scene(30, heaviest=60)
SPLITS = split_counts(HERE.schema)


def tables(
    here: Scene = HERE, number: int = 2, price: Fraction = Fraction(1)
) -> list[ReleasedTable]:
    """Measure a table, and one of the same trees in which other ends go together."""
    noise, cells = SeededRandomness(3), (here.cells, here.cells[::-1])
    return [here.released(measured(here.trees, one, price, noise)) for one in cells[:number]]


def design(size: float, price: Price, schema: Schema = HERE.schema) -> Sequence[Design]:
    return make_algorithm("twin").designs(schema, size, price)


def found(
    released: Sequence[ReleasedTable], reporting: Reporting | None = None, loss: Loss = ONE
) -> Findings:
    wanted = reporting or Reporting()
    explain = explanation_for(design, wanted.constraints, SPLITS, loss)
    return find(released, SPLITS, wanted, explain)


def counts(released: Sequence[ReleasedTable]) -> list[LeafTable]:
    return [table.counts for table in released]


def judged(
    candidates: Sequence[Candidate], table: ReleasedTable, tables: int = 1
) -> list[Candidate]:
    """Return candidates that know whether they are confirmed."""
    shapes = math.log10(tables)

    def is_sure(one: Candidate) -> bool:
        log_p = one.log_p / math.log(10)
        return survives(one.left, one.right, log_p, table.counts, SPLITS, shapes)

    return [replace(one, confirmed=is_sure(one)) for one in candidates]


def test_findings_are_extracted_from_all_tables_together_and_ranked_by_novelty() -> None:
    released = tables()
    findings = found(released)
    extractors = [
        Extractor(table, Constraints(), number=number, tables=2)
        for number, table in enumerate(released)
    ]
    candidates = [
        one
        for extractor, table in zip(extractors, released, strict=True)
        for one in judged(extractor.candidates(), table, tables=2)
    ]
    estimates = [extractor.estimate for extractor in extractors]
    chosen = ranked_by_novelty(candidates, estimates, released)
    described = [extractors[one.table].describe(one) for one in chosen]
    listed = findings.redescriptions
    assert listed == with_confirmation(described, counts(released), SPLITS)
    assert {one.table for one in listed} == {0, 1}
    assert findings.tables == tuple(released)
    for mine, theirs in zip(findings.estimates, estimates, strict=True):
        np.testing.assert_array_equal(mine.cells, theirs.cells)
    assert findings.pruned == ()
    assert findings.nothing is None
    assert findings.discovery == false_discoveries(listed, counts(released), SPLITS)
    assert findings.discovery is not None
    assert findings.discovery.confirmed == sum(one.confirmed is True for one in listed) > 0


def test_what_is_pruned_does_not_hide_what_others_could_tell() -> None:
    released = tables(number=1)
    extractor = Extractor(released[0], Constraints())
    candidates = judged(extractor.candidates(), released[0])
    described = [extractor.describe(one) for one in candidates]
    threshold = float(np.median([one.statistics.support_both.estimate for one in described]))
    findings = found(released, Reporting(prune=threshold))
    kept, pruned = pruned_by_support(described, threshold)
    assert findings.pruned == tuple(pruned)
    assert findings.pruned
    left = [one for one in candidates if extractor.describe(one) in kept]
    chosen = [extractor.describe(one) for one in ranked_by_novelty(left, [extractor.estimate])]
    assert findings.redescriptions == with_confirmation(chosen, counts(released), SPLITS)
    assert findings.redescriptions


def test_without_noise_awareness_everything_is_as_in_the_paper_and_nothing_is_claimed() -> None:
    released = tables()
    findings = found(released, Reporting(noise_aware=False))
    # No claims about all tables together: each is judged as if it were alone.
    everything = [
        one
        for number, table in enumerate(released)
        for one in PaperExtractor(table, Constraints()).extract(number)
    ]
    assert findings.redescriptions == ranked(everything)
    assert findings.discovery is None
    # What is pruned stands where it would have been listed, whether it was put into words or not.
    threshold = float(np.median([one.statistics.support_both.estimate for one in everything]))
    kept, pruned = pruned_by_support(everything, threshold)
    assert kept
    assert pruned
    for selection in (Selection(), Selection(min_corrected=1e-9)):
        reporting = Reporting(prune=threshold, noise_aware=False, selection=selection)
        findings = found(released, reporting)
        chosen, others = pruned_by_support(
            [r for r in everything if selection.allows(r)], threshold
        )
        assert findings.redescriptions == ranked(chosen)
        assert findings.pruned == tuple(others)
    assert {one.confirmed for one in findings.redescriptions} == {None}


def test_the_most_precise_size_counts() -> None:
    cheap, dear = (tables(number=1, price=price)[0] for price in (Fraction(1, 9), Fraction(2)))
    sharp = estimate(dear.counts)
    for released in ([cheap, dear], [dear, cheap]):
        entities = found(released).entities
        assert entities is not None
        assert entities.estimate == pytest.approx(sharp.size)
        assert entities.high - entities.estimate == pytest.approx(3 * sharp.size_deviation)
        assert entities.estimate - entities.low == pytest.approx(3 * sharp.size_deviation)


def test_a_size_is_never_negative_and_unknown_without_a_table() -> None:
    negative: list[Estimate] = [Fit(np.full((2, 2), -10.0), 16.0, 16.0, 16.0, 16.0)]
    assert number_of_entities(negative) == Interval(0.0, 0.0, 0.0)
    assert number_of_entities([]) is None


def test_where_nothing_is_found_a_common_match_is_named_with_what_it_required() -> None:
    released, loss = tables(price=Fraction(1, 50)), Loss(Fraction(1, 25))
    findings = found(released, Reporting(), loss)
    assert findings.redescriptions == ()
    assert findings.discovery is None
    nothing, entities = findings.nothing, findings.entities
    assert nothing is not None
    assert entities is not None
    assert nothing.noise_aware
    assert nothing.entities == entities.estimate
    assert nothing.cell_error == max(one.cell_deviation for one in findings.estimates)
    assert nothing.match == good_match(Constraints(), COMMON_SHARE)
    assert nothing.required == required_budget(
        design, Constraints(), SPLITS, entities.estimate, loss, nothing.match
    )
    assert nothing.required.epsilon > 1 / 25


def empty(size: int, price: Fraction) -> ReleasedTable:
    """Return a table of unrelated trees, as many entities in every cell."""
    cells = np.full(HERE.cells.shape, size // HERE.cells.size)
    return HERE.released(measured(HERE.trees, cells, price, SeededRandomness(1)))


def test_where_a_common_match_would_have_been_found_a_rare_one_is_named() -> None:
    constraints, loss = Constraints(), Loss(Fraction(1, 5))
    for size in (1_500, 2_000, 3_000, 4_000):
        common, rare = (
            required_budget(design, constraints, SPLITS, size, loss, good_match(constraints, share))
            for share in (COMMON_SHARE, RARE_SHARE)
        )
        if common.epsilon <= 1 / 5 < rare.epsilon:
            break
    else:
        pytest.fail("no size tells a common match from a rare one")
    nothing = found([empty(size, Fraction(1, 10))], Reporting(), loss).nothing
    assert nothing is not None
    assert nothing.match == good_match(constraints, RARE_SHARE)
    assert nothing.required is not None
    assert nothing.required.epsilon > 1 / 5


def test_where_even_a_rare_match_would_have_been_found_none_is_named() -> None:
    nothing = found([empty(1_000_000, Fraction(1))], Reporting(), ONE).nothing
    assert nothing is not None
    assert (nothing.match, nothing.required) == (None, None)
    assert nothing.noise_aware


def test_without_noise_awareness_no_match_is_sought() -> None:
    def explain(_nothing: NothingFound) -> NothingFound:
        pytest.fail("a required budget was sought")

    reporting = Reporting(IMPOSSIBLE, noise_aware=False)
    nothing = find(tables(), SPLITS, reporting, explain).nothing
    assert nothing is not None
    assert not nothing.noise_aware
    assert (nothing.match, nothing.required) == (None, None)
    assert nothing.entities > 0


def test_no_tables_give_nothing_but_an_explanation() -> None:
    findings = found([], Reporting(noise_aware=False))
    assert findings.entities is None
    assert (findings.tables, findings.estimates, findings.redescriptions) == ((), (), ())
    assert findings.nothing is not None
    assert (findings.nothing.entities, findings.nothing.cell_error) == (0, 0)
