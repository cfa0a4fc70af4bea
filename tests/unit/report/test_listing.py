from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from redveil.algorithms.catalogue import make_algorithm
from redveil.errors import InputError, ResultError
from redveil.findings.reporting import Constraints
from redveil.owner import truth
from redveil.query.formula import literal_count
from redveil.query.json_form import from_json
from redveil.report.document import RedescriptionPart
from redveil.report.listing import reporting_of
from redveil.report.result import Result
from redveil.report.wording import listing_text
from support.clinic import ANYTHING, NOTHING, clinic, mined_clinic
from support.clinic import mined as mined_from

KINDS: dict[str, dict[str, Any]] = {
    "twin": {"algorithm": "twin", "trials": 3},
    "alternation": {"algorithm": "alt-expm"},
    "tree pair": {"algorithm": "tree-pair", "walk_steps": 50},
    "published": {"profile": "published"},
    "margins": {"counts": "least-squares"},
    "pruned": {"prune": 300},
    "pruned by the noise": {"prune": "auto"},
}


def mined(kind: str = "alternation", constraints: Constraints | None = None) -> Result:
    return mined_clinic(constraints or Constraints(), **KINDS[kind])


def doubtful() -> Result:
    """Return a result of which some entries are confirmed, and others are not."""
    algorithm = make_algorithm(algorithm="alt-expm", trials=2, depth=2, alternations=2)
    reporting = algorithm.profile.reporting(ANYTHING, None)
    result = mined_from(clinic(), algorithm, reporting, Fraction(1), seed=3)
    assert {one.confirmed for one in result} == {True, False}
    return result


def words(result: Result) -> list[tuple[str, str]]:
    return [(one.left.text, one.right.text) for one in result]


def literals(one: RedescriptionPart) -> int:
    return max(literal_count(from_json(side.tree)) for side in (one.left, one.right))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("constraints", [Constraints(), ANYTHING, NOTHING], ids=["", "any", "no"])
def test_without_changes_the_list_is_the_one_that_was_mined(
    kind: str, constraints: Constraints, tmp_path: Path
) -> None:
    result = mined(kind, constraints)
    result.save(tmp_path / "result.json")
    again = Result.read(tmp_path / "result.json").filter()
    assert again.redescriptions == result.redescriptions
    assert again.document.pruned == result.document.pruned
    assert again.document.false_discoveries == result.document.false_discoveries
    assert again.message == result.message
    assert again.certificate == result.certificate


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "changed",
    [
        {"max_support": 0.5},
        {"min_support": 400},
        {"min_jaccard": 0.6},
        {"max_disjuncts": 1},
        {"max_p_value": 1e-30},
        {"max_support": 0.4, "min_jaccard": 0.3, "max_disjuncts": 2},
    ],
    ids=str,
)
def test_the_list_is_what_mining_with_these_constraints_would_have_listed(
    kind: str, changed: dict[str, Any]
) -> None:
    filtered = mined(kind).filter(**changed)
    usual = {"max_disjuncts": 4} if kind == "published" else {}
    options = KINDS[kind] | ({"prune": "auto"} if kind == "published" else {})
    wanted = mined_clinic(Constraints(**usual | changed), **options)
    assert filtered.redescriptions == wanted.redescriptions
    assert filtered.document.false_discoveries == wanted.document.false_discoveries


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_of_short_queries_has_only_these(kind: str) -> None:
    result = mined(kind).filter(max_literals=2)
    assert all(literals(one) <= 2 for one in result)
    assert len(result) > 0


def test_short_queries_appear_that_longer_ones_had_displaced() -> None:
    results = [mined(kind) for kind in KINDS]
    new = [set(words(one.filter(max_literals=1))) - set(words(one)) for one in results]
    assert any(new)
    assert any(literals(one) > 1 for result in results for one in result)


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_corrected_index_is_kept(kind: str) -> None:
    result = mined(kind)
    values = sorted(one.corrected.estimate for one in result)
    least = (values[0] + values[-1]) / 2
    filtered = result.filter(min_corrected=least)
    assert len(filtered) > 0
    assert all(one.corrected.estimate >= least for one in filtered)


def test_only_what_is_confirmed_is_listed_if_one_asks() -> None:
    result = doubtful()
    sure = result.filter(confirmed=True)
    assert all(one.confirmed for one in sure)
    known = sure.document.false_discoveries
    assert known is not None
    assert (known.confirmed, round(known.bound, 9)) == (len(sure), 0.02)
    # What is doubtful no longer makes others less novel.
    assert len(sure) >= sum(bool(one.confirmed) for one in result)
    assert words(sure.filter(confirmed=False)) == words(result)


def test_the_paper_confirms_nothing() -> None:
    with pytest.raises(InputError, match=r"^the published profile confirms nothing; leave out"):
        mined("published").filter(confirmed=True)


def test_filters_add_up_and_can_be_taken_back() -> None:
    result = mined()
    once = result.filter(max_support=0.5, min_jaccard=0.5)
    assert words(result.filter(max_support=0.5).filter(min_jaccard=0.5)) == words(once)
    assert words(once.filter(max_support=0.8, min_jaccard=0.1)) == words(result)


def test_pruning_can_be_asked_for_and_taken_back() -> None:
    pruned = mined().filter(prune=300)
    assert all(one.support.both.estimate >= 300 for one in pruned)
    assert pruned.document.pruned
    everything = mined("pruned").filter(prune="none")
    assert words(everything) == words(mined())
    assert everything.document.pruned == ()


def test_the_document_says_how_the_list_was_made_and_keeps_it_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    result = mined().filter(max_support=0.5, confirmed=True).complement().sort("p").top(2)
    result.save(tmp_path / "few.json")
    listing = Result.read(tmp_path / "few.json").document.listing
    assert listing == result.document.listing
    assert listing is not None
    assert listing.constraints["max_support"] == 0.5
    assert listing.constraints["min_jaccard"] == 0.1
    assert (listing.complement, listing.sort, listing.top) == (True, "p", 2)
    assert result.certificate.parameters["max_support"] == 0.8
    said = listing_text(result.document)
    assert said == (
        "Listed again from released tables, at no cost: support at most 0.5; confirmed only; "
        "complements; sorted by p; the first 2"
    )
    assert said in str(result)
    assert said in result._repr_html_()
    assert "listing" not in mined().to_json()
    assert listing_text(mined().document) is None


def test_an_empty_list_says_which_constraint_to_relax() -> None:
    empty = mined().filter(min_jaccard=1)
    assert len(empty) == 0
    assert empty.message == (
        "Nothing in the released tables satisfies: jaccard at least 1. Relax a constraint."
    )
    assert empty.document.false_discoveries is None
    assert words(empty.filter(min_jaccard=0.1)) == words(mined())
    assert len(empty.complement()) == len(empty.sort("p").top(3)) == 0


@pytest.mark.parametrize(
    ("by", "of", "sign"),
    [
        ("corrected", lambda one: one.corrected.estimate, -1),
        ("jaccard", lambda one: one.jaccard.estimate, -1),
        ("support", lambda one: one.support.both.estimate, -1),
        ("p", lambda one: one.p_value, 1),
    ],
)
def test_lists_are_sorted_by_what_is_shown(by: Any, of: Any, sign: int) -> None:
    result = mined("published")
    values = [sign * of(one) for one in result.sort(by)]
    assert values == sorted(values)
    assert sorted(words(result.sort(by))) == sorted(words(result))
    assert result.sort(by).sort("rank").redescriptions == result.redescriptions


def test_the_first_few_are_left_and_judged_by_themselves() -> None:
    result = doubtful()
    confirmed = sum(bool(one.confirmed) for one in result)
    few = result.top(confirmed)
    assert few.redescriptions == result.redescriptions[:confirmed]
    known, before = few.document.false_discoveries, result.document.false_discoveries
    assert known is not None
    assert before is not None
    assert known.confirmed == confirmed
    assert known.bound < before.bound
    assert len(result.top(10_000)) == len(result)


def test_complements_follow_their_entries() -> None:
    result = mined().sort("p")
    both = result.complement()
    pairs = [one.source.tree_pair for one in result]
    assert [one.source.tree_pair for one in both] == pairs
    assert both.document.listing is not None
    assert result.document.listing is not None
    assert both.document.listing.ranks == result.document.listing.ranks
    assert words(both) != words(result)
    assert both.complement().document.listing == result.document.listing


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.filter(max_support=2), "max_support must lie between 0 and 1"),
        (lambda r: r.filter(min_corrected=-1), "min_corrected must lie between 0 and 1"),
        (lambda r: r.filter(prune="some"), "prune must be a number of entities, or auto"),
        (lambda r: r.sort("beauty"), "sort must be one of rank, corrected, jaccard, support, p"),
        (lambda r: r.top(0), "top must be a whole number of at least 1"),
        (lambda r: r.top(1.5), "top must be a whole number of at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(mined())


def test_true_values_stay_with_their_entries_and_the_warning_with_the_file() -> None:
    compared = truth(mined(), clinic())
    kept = compared.filter(max_support=0.5)
    assert kept.document.warning == compared.document.warning
    known = {(one.left.text, one.right.text): one.true for one in compared}
    assert [one.true for one in kept] == [known.get(pair) for pair in words(kept)]
    assert all(one.true is not None for one in compared.sort("p").top(2))
    complements = compared.complement()
    assert [one.true for one in complements] == [known.get(pair) for pair in words(complements)]
    assert any(one.true is None for one in complements)
    assert complements.document.warning


def test_a_list_whose_tables_are_not_there_is_damaged() -> None:
    document = mined().document.model_copy(update={"tree_pairs": ()})
    with pytest.raises(ResultError, match=r"^redescriptions\.0: its source is not in tree_pairs"):
        Result(document).complement()


def test_a_listing_that_makes_no_sense_is_damaged() -> None:
    few = mined().filter(max_support=0.5)
    assert few.document.listing is not None
    strange = few.document.listing.model_copy(update={"constraints": {"max_support": 7}})
    document = few.document.model_copy(update={"listing": strange})
    with pytest.raises(ResultError, match=r"^listing: max_support must lie between 0 and 1; the"):
        reporting_of(document)


@pytest.mark.parametrize("ranks", [[], [1, 1], [0, 1], [1, 2, 3]], ids=str)
def test_ranks_that_are_not_those_of_the_list_are_refused(ranks: list[int], tmp_path: Path) -> None:
    few = mined().top(2)
    text = few.to_json().replace('"ranks": [\n   1,\n   2\n  ]', f'"ranks": {ranks}')
    assert text != few.to_json()
    (tmp_path / "few.json").write_text(text, encoding="utf-8")
    with pytest.raises(ResultError, match="ranks"):
        Result.read(tmp_path / "few.json")


def test_details_name_where_their_story_stands_now() -> None:
    result = mined()
    first, *rest = result.redescriptions
    assert rest
    told = (first, *(one.model_copy(update={"detail": 1}) for one in rest))
    listed = Result(result.document.model_copy(update={"redescriptions": told}))
    for by in ("p", "support", "jaccard"):
        sorted_again = listed.sort(by)
        (place,) = [
            n
            for n, one in enumerate(sorted_again, 1)
            if one.left == first.left and one.right == first.right
        ]
        assert {one.detail for one in sorted_again} == {None, place}
    # A story that is not listed has no number.
    last = listed.sort("support").top(1).redescriptions[0]
    assert last.detail is None
    assert "adds to 1: " in listed._repr_html_()
