"""The words that the page uses, each explained in a sentence or two."""

from __future__ import annotations

from typing import Final

from redveil.report.document import CONFIRM
from redveil.report.page.markup import Html, element
from redveil.report.page.sentences import Teller
from redveil.report.wording import is_unvouched

#: By the name that links use: the word, and what it means.
GLOSSARY: Final = {
    "redescription": (
        "finding, redescription",
        "Two descriptions, one from each table, that fit many of the same {units}. redveil looks "
        "for such pairs without being told what to look for. Nearly the same means a corrected "
        "index of at least 0.75, largely the same one of at least 0.5.",
    ),
    "jaccard": (
        "Jaccard index",
        "Of the {units} that fit at least one of the two descriptions, the share that fits both. "
        "1 means that both descriptions fit exactly the same {units}, 0 that they share none.",
    ),
    "expected": (
        "if unrelated",
        "The Jaccard index that two descriptions of these sizes would have by chance, if one had "
        "nothing to do with the other. Descriptions that fit many {units} overlap even then. It is "
        "computed from the finding's own counts, whose noisy total can differ a little from the "
        "number of {units} at the top.",
    ),
    "corrected": (
        "corrected index",
        "How far the Jaccard index is above chance: 0 if the descriptions are unrelated, 1 if they "
        "fit the same {units}. Use it to compare findings. In at least 95 of 100 runs all its "
        "ranges are right at once; in at least 90 of 100, they and all other ranges are. They are "
        "computed separately from those of the Jaccard index, so that some end higher.",
    ),
    "range": (
        "range",
        "Where the value without the noise is. In at least 95 of 100 runs, the ranges of all "
        "counts, shares and Jaccard indices in the findings contain these values, all at once. So "
        "do those in the answers to further questions on this page. Sampling error is not "
        "included: chance in which {units} happen to be in the data.",
    ),
    "confirmed": (
        "confirmed",
        "Too strong to be a coincidence, {although}. In at least 98 of 100 runs, no confirmed "
        "finding is a coincidence. That does not mean that one causes the other. What is not "
        "confirmed may still be real.",
    ),
    "p": (
        "p at most",
        "If the descriptions were unrelated, the probability of an overlap as large as this one. "
        "It is the largest value that the noise leaves possible, with 95\N{NO-BREAK SPACE}% "
        "confidence for all findings at once. Below 1 in 10¹², values are not told apart.",
    ),
    "noise": (
        "noise",
        "Random amounts that were added to every count before anyone saw it. They hide whether any "
        "one {unit} is in the data.",
    ),
    "epsilon": (
        "ε (epsilon)",
        "The bound on what the result reveals about any one {unit}. The smaller it is, the more "
        "noise, and the better the protection. The ε of several results add up.",
    ),
    "query": (
        "exactly",
        "The two descriptions as redveil writes them. Conditions are in brackets; & means and, | "
        "means or, and ! means not. A condition does not hold where its value is missing.",
    ),
    "tree": (
        "tree, group",
        "A tree divides the {units} of a table by one question, then each part by another. Where "
        "its paths end there are groups; every {unit} is in one group of each table.",
    ),
}

# Words of the workbench, which is not printed.
_ON_SCREEN: Final = ("p",)
# Why a finding might be a coincidence, and is not.
_SEARCHED: Final = (
    "even though it was picked from very many pairs that could have been found instead. This was "
    "tested on the same {units}, not on others"
)
_MEASURED_AGAIN: Final = "even though several findings were measured, on {measured_again}"


def term(name: str, shown: str) -> Html:
    """Return a word that is explained when a pointer or the focus is on it.

    >>> term("jaccard", "index")
    '<a href="#term-jaccard" class="term">index</a>'
    """
    assert name in GLOSSARY
    return element("a", shown, href=f"#term-{name}", class_="term")


def glossary_section(teller: Teller) -> Html:
    """Return all words, for print and for those who follow a link."""
    names = {"unit": teller.unit, "units": teller.units}
    names["measured_again"] = teller.measured_again()
    if is_unvouched(teller.document.certificate):
        names["measured_again"] += ". All of this holds only if they are others"
    again = teller.document.certificate.algorithm == CONFIRM
    although = (_MEASURED_AGAIN if again else _SEARCHED).format(**names)
    entries: list[Html] = []
    for name, (word, meaning) in GLOSSARY.items():
        where = "screen" if name in _ON_SCREEN else None
        entries.append(element("dt", word, id=f"term-{name}", tabindex="-1", class_=where))
        entries.append(element("dd", meaning.format(**names, although=although), class_=where))
    return element(
        "section",
        element("h2", "What it means", id="means-title"),
        element("dl", *entries, class_="glossary"),
        id="means",
        aria_labelledby="means-title",
    )
