"""Queries in words, for every kind of attribute and every shape of query."""

from __future__ import annotations

import pytest

from redveil.query.formula import Query
from redveil.query.text import parse_text
from redveil.report.document import AttributePart
from redveil.report.page.phrases import Phrases

SMOKING = ("never", "former", "current")
SCHOOL = ("none", "primary", "secondary", "college", "university")
YEARS = ("2016", "2017", "2018", "2019")
DAYS = ("2019-03", "2019-06-30", "2019-12-31")

PHRASES = Phrases.of(
    [
        AttributePart(name="gout", kind="boolean"),
        AttributePart(name="asthma", kind="boolean"),
        AttributePart(name="d2", kind="boolean", title="diabetes type 2"),
        AttributePart(name="age", kind="numeric", minimum=0, maximum=110),
        AttributePart(name="hba1c", kind="numeric", minimum=3, maximum=15, title="HbA1c (%)"),
        AttributePart(name="pay", kind="numeric", minimum=0, maximum=1e6, title="payments ($)"),
        AttributePart(name="t", kind="numeric", minimum=-9, maximum=9, title="mean [°C]"),
        AttributePart(name="inc", kind="numeric", minimum=0, maximum=9, title="income (adjusted)"),
        AttributePart(name="sex", kind="categorical", categories=("female", "male")),
        AttributePart(name="blood", kind="categorical", categories=("0", "A", "B", "AB")),
        AttributePart(name="smoking", kind="ordinal", categories=SMOKING),
        AttributePart(name="school", kind="ordinal", categories=SCHOOL),
        AttributePart(name="admitted", kind="ordinal", categories=YEARS),
        AttributePart(name="seen", kind="ordinal", categories=DAYS),
    ]
)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("[d2]", "diabetes type 2"),
        ("![gout]", "no gout"),
        ("![gout] & ![asthma]", "neither gout nor asthma"),
        ("![gout] & ![asthma] & ![d2]", "none of gout, asthma and diabetes type 2"),
        ("![gout] & [age > 55]", "an age above 55 and no gout"),
        ("[age <= 40]", "an age of up to 40"),
        ("[20 < age <= 40]", "an age between 20 and 40"),
        ("[hba1c > 6.5]", "HbA1c above 6.5\N{NO-BREAK SPACE}%"),
        ("[5 < hba1c <= 6.5]", "HbA1c between 5 and 6.5\N{NO-BREAK SPACE}%"),
        ("[pay > 40000]", "payments above $40,000"),
        ("[t <= -2.15]", "mean up to −2.15\N{NO-BREAK SPACE}°C"),
        ("[inc > 5]", "income (adjusted) above 5"),
        ("[sex = female]", "sex “female”"),
        ("[sex != female]", "sex “male”"),
        ("[blood != A]", "blood other than “A”"),
        ("[blood != A] & [blood != B]", "blood other than “A” or “B”"),
        ("[blood = A] | [blood = AB]", "blood “A” or “AB”"),
        ('[smoking <= "former"]', "smoking “never” or “former”"),
        ('[smoking > "former"]', "smoking “current”"),
        ('[school <= "college"]', "school up to “college”"),
        ('["none" < school <= "secondary"]', "school “primary” or “secondary”"),
        ('[admitted <= "2018"]', "admitted up to 2018"),
        ("[seen > 2019-03]", "seen after March 2019"),
        ("[2019-03 < seen <= 2019-06-30]", "seen after March 2019 and up to 30 June 2019"),
        ("[pay <= 0]", "payments of $0"),
        ("[pay > 0]", "payments above $0"),
        ("[hba1c is known]", "a known value of HbA1c"),
        ("![hba1c is known]", "no known value of HbA1c"),
        ("![hba1c is known] & ![gout]", "neither known value of HbA1c nor gout"),
        ("[gout] | [asthma]", "gout or asthma"),
        ("[gout] & [d2] | [asthma]", "(gout and diabetes type 2) or asthma"),
        ("([gout] | [asthma]) & [d2]", "(gout or asthma) and diabetes type 2"),
        ("!([gout] & [age > 40])", "no gout or an age of up to 40"),
        ("!([gout] | [asthma])", "neither gout nor asthma"),
        ("!(![gout])", "gout"),
        ("!([gout] & ([asthma] | [d2]))", "no gout or (neither asthma nor diabetes type 2)"),
    ],
)
def test_a_query_reads_as_words(query: str, words: str) -> None:
    assert PHRASES.phrase(parse_text(query)) == words


def test_an_undeclared_attribute_has_its_name() -> None:
    query: Query = parse_text("[unheard of > 3] & [other = x]")
    assert PHRASES.phrase(query) == "unheard of above 3 and other “x”"


def test_marks_that_turn_the_direction_are_left_out() -> None:
    turned = Phrases.of([AttributePart(name="a\u202eb", kind="boolean", title="c\u2067d")])
    assert turned.label("a\u202eb") == "c d"
