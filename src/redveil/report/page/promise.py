"""What was promised: a sentence, the budget as a bar, the conditions, and the certificate."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from redveil.losses import loss
from redveil.losses.plan import StepKind, steps_listing
from redveil.losses.promise import AS_PUBLISHED
from redveil.report.document import CertificatePart, ResultDocument
from redveil.report.page.glossary import term
from redveil.report.page.markup import Html, element, joined
from redveil.report.page.phrases import plain_number
from redveil.report.page.sentences import CONDITIONS, SPACE, Teller
from redveil.report.page.strength import times
from redveil.schema.view import plural

# What the steps of a kind are for, in the order in which they are shown.
_PURPOSES: Final = {
    StepKind.SIZE: "number of {units}",
    StepKind.START: "first pair of splits",
    StepKind.TREE: "choosing splits",
    StepKind.TREE_PAIR: "choosing trees",
    StepKind.TWIN_TREES: "choosing what to compare",
    StepKind.LEAF_TABLE: "counting",
}
_SHADES: Final = {
    StepKind.SIZE: 0,
    StepKind.TREE: 1,
    StepKind.TREE_PAIR: 1,
    StepKind.TWIN_TREES: 1,
    StepKind.LEAF_TABLE: 2,
}
# Conditions of certificates, and what they mean to those who read this page.
_PLAIN_CONDITIONS: Final = {
    r"each (.+) has one row in each view.*": (
        r"each \1 has one row in each table; one that is there twice, say under two numbers, is "
        r"protected less"
    ),
    r"nothing in the schema was learned from these rows.*": (
        r"the limits, categories and cut points of the columns were stated without looking at "
        r"these rows, or were learned from them under a privacy budget of their own, which counts"
    ),
    r"parameters, and the decision to publish this run, .*": (
        r"nobody looked at the data to choose the settings, or to decide whether to publish this"
    ),
    r"other results about the same entities add their own (.+) to .*": (
        r"this is the only result about the same data; otherwise, the \1 of all of them add up"
    ),
    r"the assumptions of the privacy guarantee hold for loading, .*": (
        r"the run would have finished without an error whoever is in the data, its random numbers "
        r"cannot be guessed, and nobody outside saw its messages or how long it took"
    ),
    r"the (.+) are others than those that the list was found on, .*": (
        r"none of the \1 here are among those that the list was found on; otherwise, nothing is "
        r"confirmed"
    ),
    r"(an ε above .+ protects hardly anyone)": r"and even then, \1",
    r"the Markov chains have converged after (.+) steps; .*": (
        r"the random walks that chose the trees ran long enough, with \1 steps; nobody can prove it"
    ),
}
_VOUCHING: Final = (
    "This holds on these conditions. The owner of the data vouches for them; redveil cannot check "
    "them:"
)
_MANY: Final = 1000
# Up to here an ε leaves little to learn about a single entity; beyond, only the factor is said.
MODERATE: Final = 1


def promise_section(teller: Teller) -> Html:
    """Return what was promised, to whom, at which price and on which conditions."""
    certificate = teller.document.certificate
    met = [one for one in certificate.conditions if one not in certificate.unmet]
    return element(
        "section",
        element("h2", "What was promised", id="promised-title"),
        element("p", *_sentence(teller.document), class_="promise"),
        element("p", _limits(certificate), class_="limits") if teller.is_private else None,
        _budget(certificate, teller.units),
        element("p", _VOUCHING, class_="conditions-head", id=CONDITIONS) if met else None,
        element("ul", *(element("li", plain_condition(one)) for one in met), class_="conditions")
        if met
        else None,
        _certificate(teller),
        id="promised",
        aria_labelledby="promised-title",
    )


def plain_condition(condition: str) -> str:
    """Return a condition of a certificate in plain words; the certificate keeps its own.

    >>> plain_condition("nothing in the schema was learned from these rows without being paid for")
    'the limits, categories and cut points of the columns were stated without looking at these \
rows, or were learned from them under a privacy budget of their own, which counts'
    """
    for known, plain in _PLAIN_CONDITIONS.items():
        if (found := re.fullmatch(known, condition)) is not None:
            return found.expand(plain)
    return condition


def banners(teller: Teller) -> list[Html]:
    """Return what must not be overlooked, such as that a file is not private."""
    document, certificate = teller.document, teller.document.certificate
    unmet = (f"NOT PRIVATE AS PROMISED. {one}" for one in certificate.unmet)
    notes = [document.warning, *unmet]
    if certificate.guarantee == AS_PUBLISHED:
        notes.append(
            "NOT PRIVATE IN PRACTICE: this result follows the published method to the letter, "
            "and its guarantee does not hold there. It is for studying the method only."
        )
    return [element("p", note, class_="banner", role="alert") for note in notes if note]


def _sentence(document: ResultDocument) -> list[str]:
    certificate, unit = document.certificate, document.certificate.unit
    if certificate.guarantee == AS_PUBLISHED:
        return [
            "Nothing that you should rely on. The published method is meant to keep ",
            term("epsilon", certificate.promise),
            ", but as published it does not in practice.",
        ]
    said: list[str] = [
        f"{_start(document)} any one {unit} had been left out of the data, or one more had been in "
        "it, the noise could still have led to this same page, with a probability "
        f"{times(certificate)} as large or as small (",
        term("epsilon", certificate.promise),
        f"). {_consequence(certificate)}",
    ]
    if certificate.delta != "0":
        said.append(" δ bounds, roughly, the probability that this fails.")
    if certificate.guarantee == "asymptotic":
        said.append(
            " This assumes that the random walks that chose the trees ran long enough, which "
            "cannot be proved."
        )
    return said


def _start(document: ResultDocument) -> str:
    if document.warning:
        return "Nothing for the true values: they are not protected at all. For the rest: if"
    if document.certificate.unmet:
        return "Nothing to rely on, because of what is NOT MET at the top. Otherwise: if"
    return "If"


def _consequence(certificate: CertificatePart) -> str:
    units = plural(certificate.unit)
    if Fraction(certificate.epsilon) > MODERATE:
        return f"What it reveals about a single one of the {units} is limited by this number alone."
    return f"So it tells about {units} in general, and little that is due to any single one."


def _limits(certificate: CertificatePart) -> str:
    """Return what is not promised, and what readers may take for granted."""
    units = plural(certificate.unit)
    return (
        f"What holds for {units} in general can still be applied to one of them: whoever knows "
        "that one description fits may guess that the other does. That is possible whether or not "
        f"this {certificate.unit} is in the data."
    )


def _budget(certificate: CertificatePart, units: str) -> Html:
    """Return the price of each kind of step as a part of a bar."""
    spent: dict[StepKind, Fraction] = {}
    for step in certificate.steps:
        spent[step.kind] = spent.get(step.kind, Fraction(0)) + loss.amount(step.price)
    whole = sum(spent.values(), Fraction(0))
    rects: list[Html] = []
    keys: list[Html] = []
    start = 0.0
    for kind in (kind for kind in _PURPOSES if kind in spent):
        width = float(1000 * spent[kind] / whole)
        shade = f"part-{_SHADES.get(kind, 3)}"
        drawn = f"{max(width - 3, 0.5):.1f}"
        rects.append(
            element("rect", x=f"{start:.1f}", y="0", width=drawn, height="18", class_=shade)
        )
        text = f"{_PURPOSES[kind].format(units=units)} {_share(spent[kind] / whole)}"
        keys.append(element("li", element("span", class_=f"key {shade}"), text))
        start += width
    picture = element(
        "svg",
        *rects,
        viewBox="0 0 1000 18",
        preserveAspectRatio="none",
        class_="budget",
        aria_hidden="true",
    )
    steps = len(certificate.steps)
    caption = f"How {_currency(certificate)} was spent, in {steps} step{'' if steps == 1 else 's'}:"
    return element("figure", element("figcaption", caption), picture, element("ul", *keys))


def _currency(certificate: CertificatePart) -> str:
    return "ρ" if certificate.rho else "ε"


def _share(part: Fraction) -> str:
    percent = float(100 * part)
    return f"{plain_number(float(f'{percent:.3g}'))}{SPACE}%"


def _certificate(teller: Teller) -> Html:
    """Return the certificate and the steps, folded up."""
    certificate = teller.document.certificate
    rows = certificate.listing(teller.document.entities).rows
    # A row without a name goes on with the one before.
    named: list[tuple[str, list[Html]]] = []
    for name, fact in rows:
        if name or not named:
            named.append((name, []))
        named[-1][1].append(element("div", fact))
    facts = [
        element("tr", element("th", name, scope="row"), element("td", *said))
        for name, said in named
    ]
    steps, currency = steps_listing(certificate.steps), _currency(certificate)
    shown = list(steps.rows[:_MANY])
    body = [element("tr", *(element("td", cell) for cell in row)) for row in shown]
    heads = element("tr", *(element("th", head, scope="col") for head in steps.heads))
    foot = element("tr", *(element("td", cell) for cell in steps.footer))
    more = len(steps.rows) - len(shown)
    note = f"{more:,} more steps are in the result file." if more else None
    return joined(
        element(
            "details",
            element("summary", "The certificate"),
            element("table", element("tbody", *facts), class_="facts"),
        ),
        element(
            "details",
            element("summary", f"Every step of the run, and how much {currency} it used"),
            element(
                "table",
                element("thead", heads),
                element("tbody", *body),
                element("tfoot", foot),
                class_="steps",
            ),
            None if note is None else element("p", note),
        ),
    )
