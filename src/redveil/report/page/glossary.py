"""The words that the page uses, each explained in a sentence or two."""

from __future__ import annotations

from typing import Final

from redveil.report.page.markup import Html, element

#: By the name that links use: the word, and what it means.
GLOSSARY: Final = {
    "redescription": (
        "finding, redescription",
        "Two descriptions, one from each table, that fit nearly the same {units}. redveil looks "
        "for such pairs without being told what to look for.",
    ),
    "jaccard": (
        "Jaccard index",
        "Of the {units} that fit at least one of the two descriptions, the share that fits both. "
        "1 means that both descriptions fit exactly the same {units}, 0 that they share none.",
    ),
    "expected": (
        "if unrelated",
        "The Jaccard index that two descriptions of these sizes would have by chance, if one had "
        "nothing to do with the other. Descriptions that fit many {units} overlap even then.",
    ),
    "corrected": (
        "corrected index",
        "How far the Jaccard index is above chance: 0 if the descriptions are unrelated, 1 if they "
        "fit the same {units}. Use it to compare findings. With 95\N{NO-BREAK SPACE}% confidence, "
        "all of its ranges are right at once; that is not counted together with other ranges.",
    ),
    "support": ("support", "How many {units} fit a description, or fit both."),
    "range": (
        "range",
        "Where the value would be without the noise. Chance in which {units} happen to be in the "
        "data is not included. With 95\N{NO-BREAK SPACE}% confidence, the ranges of all counts, "
        "shares and Jaccard indices in the findings are right at once. So are those in answers to "
        "free questions.",
    ),
    "confirmed": (
        "confirmed",
        "Too strong to be a coincidence, even considering how many pairs of descriptions could "
        "have been compared. It does not say that one causes the other. What is not confirmed may "
        "still be real.",
    ),
    "p": (
        "p at most",
        "If the descriptions were unrelated, the probability of an overlap as large as this one. "
        "It is the largest value that the noise leaves possible, with 95\N{NO-BREAK SPACE}% "
        "confidence for all findings at once.",
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
    "tree": (
        "tree, group",
        "A tree divides the {units} of a table by one question, then each part by another. Where "
        "its paths end there are groups; every {unit} is in one group of each table.",
    ),
}


def term(name: str, shown: str) -> Html:
    """Return a word that is explained when a pointer or the focus is on it.

    >>> term("jaccard", "index")
    '<a href="#term-jaccard" class="term">index</a>'
    """
    assert name in GLOSSARY
    return element("a", shown, href=f"#term-{name}", class_="term")


def glossary_section(unit: str, units: str) -> Html:
    """Return all words, for print and for those who follow a link."""
    entries: list[Html] = []
    for name, (word, meaning) in GLOSSARY.items():
        entries.append(element("dt", word, id=f"term-{name}", tabindex="-1"))
        entries.append(element("dd", meaning.format(unit=unit, units=units)))
    return element(
        "section",
        element("h2", "What it means", id="means-title"),
        element("dl", *entries, class_="glossary"),
        id="means",
        aria_labelledby="means-title",
    )
