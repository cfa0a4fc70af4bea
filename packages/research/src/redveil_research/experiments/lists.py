"""What the default prints for public data sets.

    python -m redveil_research.experiments.lists DATA [--only MAMMAL,CMS2,RWAS] [--epsilon 1]
        [--table FILE]

Mines every data set once, with a schema that is declared without looking at the data, and writes
the lists that a reader would see. What a list is not asked for is common knowledge; some of it is
what readers of earlier lists called trivial.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any, Final, NamedTuple

import typer

import redveil
from redveil_research.experiments.console import parts, run, tracked, write_page
from redveil_research.experiments.datasets import PublicData, find

WANTED: Final = "MAMMAL,CMS2,RWAS"
HOW_TO_READ: Final = """\
- Each entry says how far two groups coincide. Below it are the two queries: `!` is *not*, `&` is
  *and*, `!=` is *other than*, and `⟷` stands between the two tables.
- Random noise was added to all counts, on purpose: it limits what can be learned about any one
  entity. Another run has other noise and lists partly other entries; a confirmed one does not
  become wrong by that.
- *Jaccard*: of those who satisfy either query, the share who satisfy both. *corrected*: the same,
  but 0 if the queries have nothing to do with each other: 0.1 is weak, 0.3 clear, 0.6 strong.
- In parentheses and brackets: the range of the value without noise. With probability 95 %, all
  ranges of shares and of Jaccard indices of a list hold at once. So do all those of its corrected
  indices, which are computed separately and may end higher.
- *ε* is the price in privacy. With ε = 1, leaving out any one entity would have made exactly this
  list at most 2.7 times more or less likely.
- *Confirmed*: the two groups are related, even considering how many pairs could have been listed.
  The test uses all counts of an entry together, so it can be certain where the range of a single
  share is not.
- Entries come in two kinds of print: first what matters most, then the rest in small print.
- *Detail of 2*: the entry looks at a part of those whom entry 2 is about, or of the others. Mostly
  it begins with what is special there; these shares are estimates without a range.
- A relation is no cause: age may stand behind marriage and a vocabulary, and neighbouring places
  resemble each other."""


# Where one sentence of an entry ends and the next begins.
_SENTENCES: Final = re.compile(r"(?<=\.) (?=Of about |The other way round, |Among )")


class Subject(NamedTuple):
    """What a reader has to know about a data set, and what its list is not asked for.

    ignore:  a pattern of columns that say nothing about the entities, or nearly the same as others:
             an analyst who keeps one of each kind reads every fact once
    trivial: patterns of groups of columns that are not matched with each other: who does not speak
             English from childhood knows fewer English words
    within:  a query that says whom the list is about, if not everybody
    """

    about: str
    ignore: str = ""
    trivial: tuple[str, ...] = ()
    within: str | None = None


SUBJECTS: Final = {
    "MAMMAL": Subject(
        "Squares of 50 km in Europe: which mammals live there (left), and the climate (right). "
        "*No* means not recorded. Neighbouring months, and highs, lows and means, are nearly the "
        "same, so only mean temperatures and precipitation of January, April, July and October "
        "are used. Species that everybody expects in the cold are left out: those of the north "
        "and the mountains.",
        ignore=r"t\d+[-+]|[tp](2|3|5|6|8|9|11|12)~|.*(Mountain|Arctic|Alpine|Polar|Lemming|Norway).*"
        r"|Moose|Reindeer|Wolverine|Chamois|.*[Ii]bex",
    ),
    "CMS2": Subject(
        "Patients of Medicare who were alive at the end of 2010, from a synthetic file: who they "
        "are and which chronic conditions they had in 2008 (left), and what care they had in 2010 "
        "(right). Conditions are recorded from a year's bills, so care of the same year would say "
        "little. That ill people need care later, too, is known; the list says which conditions "
        "mark which care, and how clearly. Diagnoses without a year and other payments are left "
        "out.",
        ignore=r"chr_.*_20(09|10)|esrd|dx_.*|.*(MEDREIMB|IPCLM)_.*_200[89]|"
        r"(BENRES|PPPYMT|BENE|PLAN)_.*|MEDREIMB_IP_.*|IPCLM_(?!CLM_UTLZTN_DAY).*",
        within="![died_2008_2010]",
    ),
    "RWAS": Subject(
        "An online test of right-wing authoritarianism: background (left) and answers (right): "
        "agreement with 22 statements, which are shortened here (9 is full agreement), ratings "
        "of ten traits of oneself, and which of sixteen words one claims to know. University "
        "subjects, sizes of screens and times are left out. What nobody would doubt is not asked "
        "for: words are not matched with education, native language, marriage and voting, "
        "statements about religion not with religion, those about sexual orientation not with it, "
        "and those about women, or anxiety, not with gender.",
        ignore=r"major|screen[wh]|\w+elapse",
        trivial=(
            r"education|engnat|married|voted|VCL\d+",
            r"religion|Q(6|15|16|17)",
            r"orientation|Q(4|10|11|21)",
            r"gender|TIPI4|Q(2|13|18|21)",
        ),
    ),
}


def mined(data: PublicData, folder: Path, epsilon: str) -> redveil.Result:
    """Mine a data set as its list is asked for."""
    subject = SUBJECTS.get(data.name, Subject(""))
    dataset = data.load(folder)
    views = dataset.schema.left, dataset.schema.right
    names = [one for view in views for one in view.names]
    ignored = _matching(subject.ignore, names)
    asked = [one for one in names if one not in ignored]
    return redveil.mine(
        dataset,
        epsilon,
        ignore=ignored,
        unmatched=[_matching(group, asked) for group in subject.trivial],
        within=subject.within,
        ledger=None,
    )


def _matching(pattern: str, names: Sequence[str]) -> list[str]:
    return [one for one in names if re.fullmatch(pattern, one)]


def listed(result: redveil.Result) -> str:
    """Return a result's list in sentences, with the queries below, and what it says of all."""
    told = zip(result.redescriptions, result.sentences(), strict=True)
    entries = [_entry(number, one, said) for number, (one, said) in enumerate(told, start=1)]
    confirmed = sum(bool(one.confirmed) for one in result.redescriptions)
    return "\n".join([*entries, "", f"{confirmed} of {len(entries)} are confirmed."])


def _entry(number: int, one: Any, said: str) -> str:
    """Return an entry of a numbered list: what matters first, and the rest in small print."""
    first, *others = _SENTENCES.split(said)
    adds = f"*Detail of {one.detail}.* " if one.detail else ""
    doubt = "" if one.confirmed else " *Not confirmed.*"
    jaccard, corrected = (
        _interval(each.estimate, each.low, each.high) for each in (one.jaccard, one.corrected)
    )
    queries = f"`{one.left.text}` ⟷ `{one.right.text}`"
    small = " ".join([*others, f"{queries}: Jaccard {jaccard}, corrected {corrected}"])
    head = f"{number}. "
    indent = " " * len(head)
    lines = wrap(f"{head}{adds}{first}{doubt}<br>", 100, subsequent_indent=indent)
    return "\n".join([*lines, f"{indent}<sub>{small}</sub>"])


def legend(result: redveil.Result) -> str:
    """Return what the names in a list mean, as far as the schema says."""
    listed = " ".join(f"{one.left.text} {one.right.text}" for one in result.redescriptions)
    attributes = result.document.attributes
    told = [
        f"- `{one.name}`: {one.title}"
        for one in (*attributes.left, *attributes.right)
        if one.title and (f"[{one.name}]" in listed or f"[{one.name} " in listed)
    ]
    return "\n".join(["What the names mean:", "", *told]) if told else ""


def _interval(estimate: float, low: float, high: float) -> str:
    return f"{estimate:.2f} [{low:.2f}, {high:.2f}]"


def section(data: PublicData, result: redveil.Result) -> str:
    """Return a data set's list under its name."""
    size = result.document.entities
    count = f"About {size.estimate:,.0f} entities (noisy)" if size else "Entities"
    about = SUBJECTS[data.name].about if data.name in SUBJECTS else ""
    intro = "\n".join(wrap(f"{count}, each one {data.unit}. {about}".rstrip(), 100))
    parts = [f"## {data.name}", intro, listed(result), legend(result)]
    return "\n\n".join(part for part in parts if part) + "\n"


def page(sections: Sequence[str], epsilon: str) -> str:
    """Return the lists as a page with a title.

    >>> print(page([], "1").splitlines()[0])
    # Lists that the default prints at ε = 1
    """
    return (
        f"# Lists that the default prints at ε = {epsilon}\n\n"
        "One run each. Ranges and cut points of values come from what is publicly known about "
        "them, not\nfrom the rows. Entries come in the order of what they add to those before "
        "them. Written by\n"
        "`python -m redveil_research.experiments.lists DATA --table docs/evidence/lists.md`.\n\n"
        f"{HOW_TO_READ}\n\n" + "\n".join(sections)
    )


def main(
    data: Annotated[Path, typer.Argument(help="The folder with the public data sets.")],
    only: Annotated[list[str] | None, typer.Option(help=f"Default: {WANTED}.")] = None,
    epsilon: Annotated[str, typer.Option(help="The price of each run.")] = "1",
    table: Annotated[Path | None, typer.Option(help="Write the lists to this file.")] = None,
) -> None:
    """Mine public data sets once each and print the lists."""
    wanted = [find(name) for name in parts(only or [WANTED])]
    sections = [section(one, mined(one, data, epsilon)) for one in tracked(wanted, "mining")]
    typer.echo("\n".join(sections))
    write_page(table, page(sections, epsilon))


if __name__ == "__main__":
    run(main)
