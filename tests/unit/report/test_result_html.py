from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.query.formula import Known, Not
from redveil.report.document import DiscoveryPart
from redveil.report.html import compact, fragment
from redveil.report.result import Result
from support.page import HOSTILE, Page, must_be_ours
from support.results import CERTIFICATE, TRUE, document, redescription, redescription_of


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_attribute_names_are_shown_and_do_nothing(name: str) -> None:
    one = redescription(name, name)
    page = Page(Result(document(one))._repr_html_())
    must_be_ours(page)
    assert page.codes == [one.left.text, one.right.text]


@pytest.mark.parametrize("name", [*HOSTILE, "pressure", "pressure is known"])
def test_that_a_value_is_known_is_shown_whatever_the_name(name: str) -> None:
    one = redescription_of(Known(name), Not(Known(name)))
    page = Page(fragment(document(one)))
    must_be_ours(page)
    assert page.codes == [one.left.text, one.right.text]
    assert one.left.text.endswith(" is known]")
    assert one.right.text == f"!{one.left.text}"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1))
def test_any_name_comes_out_as_it_went_in(name: str) -> None:
    one = redescription(name)
    page = Page(fragment(document(one)))
    must_be_ours(page)
    assert page.codes[0] == one.left.text


@pytest.mark.parametrize("name", HOSTILE)
def test_everything_else_that_a_file_can_say_is_escaped_too(name: str) -> None:
    certificate = CERTIFICATE.model_copy(
        update={"unit": name, "neighbouring": name, "algorithm": name, "software": name}
    )
    page = Page(fragment(document(certificate=certificate, message=name, warning=name)))
    must_be_ours(page)
    # Two notes; the summary and the certificate have three things in common; the unit.
    assert page.text.count(name) == 2 + 2 * 3 + 1


def test_numbers_intervals_and_the_promise_are_there() -> None:
    page = Page(fragment(document(redescription())))
    shown = page.text.replace("\N{NO-BREAK SPACE}", " ")
    assert "0.50 [0.25, 0.75]" in shown
    assert "1,234 [1,200, 1,268]" in shown
    assert "p at most" in page.text
    assert "1e-30" in page.text
    assert "patients" in page.text
    assert "entities" not in page.text
    assert "ε = 1, exact; adding or removing one patient; alt-expm" in page.text
    assert "true" not in page.text


def test_true_values_have_their_own_column_when_an_owner_added_them() -> None:
    found = redescription(true=TRUE), redescription("gout")
    page = Page(fragment(document(*found, warning="NOT PRIVATE")))
    assert "true J" in page.text
    assert page.text.count("0.625") == 1
    assert page.text.startswith("NOT PRIVATE")


def test_what_is_not_met_and_what_is_not_confirmed_is_said() -> None:
    certificate = CERTIFICATE.model_copy(
        update={"conditions": ("NOT MET: a draft <schema>", "each patient has one row")}
    )
    entries = redescription(confirmed=True), redescription("x", confirmed=False)
    found = document(*entries, certificate=certificate).model_copy(
        update={"false_discoveries": DiscoveryPart(bound=0.52, confirmed=1, comparable=32.0)}
    )
    page = Page(fragment(found))
    must_be_ours(page)
    assert "NOT MET: a draft <schema>" in page.text
    # Above everything; what is met stands in the certificate only.
    assert page.text.startswith("NOT MET: a draft <schema>")
    assert page.text.count("each patient has one row") == 1
    assert "1 of 2 confirmed after correcting for up to 10^32 comparable pairs" in page.text
    assert "the others are not confirmed, and may still be real" in page.text
    assert page.text.count("not confirmed") == 2
    assert ">yes<" in fragment(found)


def test_the_expected_and_the_corrected_index_stand_beside_the_index() -> None:
    page = fragment(document(redescription()))
    assert "corrected [95" in page
    assert ">0.48 [0.22,\N{NO-BREAK SPACE}0.74]<" in page
    assert "expected if unrelated" in page
    assert ">0.03<" in page


def test_a_notebook_shows_sentences_first_and_folds_up_the_rest() -> None:
    found = redescription("gout", confirmed=True), redescription("asthma", confirmed=False)
    page = compact(document(*found))
    must_be_ours(Page(page))
    text = Page(page).text
    assert text.index("Of about ") < text.index("Queries and all numbers")
    assert "patients with gout" in text
    assert "patients with asthma" in text
    assert text.count("(not confirmed)") == 1
    assert "0.50 [0.25," in text


def test_a_notebook_shows_the_first_of_a_long_list() -> None:
    text = Page(compact(document(*[redescription()] * 70))).text
    assert "and 10 more below" in text


def test_a_notebook_says_what_an_empty_result_would_have_taken() -> None:
    text = Page(compact(document(message="nothing found"))).text
    assert text.startswith("nothing found")
    assert "what was found" not in text
