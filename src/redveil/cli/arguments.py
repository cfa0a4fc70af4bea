"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from redveil.cli.help import EXPERT, STEERING
from redveil.errors import InputError
from redveil.wire import names

PRIVACY: Final = "Privacy"
FOUND: Final = "What to find"
FILES: Final = "Files"

_FROM_SIZE: Final = "from the noisy number of entities"


def _option(
    *spellings: str, say: str, panel: str, metavar: str | None = None, values: tuple[str, ...] = ()
) -> Any:
    """Return an option; `values` are those that a shell offers, if its type does not tell."""
    offer = (lambda: list(values)) if values else None
    return typer.Option(
        *spellings, help=say, rich_help_panel=panel, metavar=metavar, autocompletion=offer
    )


ResultFile = Annotated[
    Path, typer.Argument(metavar="RESULT", help="Result file, written by redveil mine.")
]
SchemaArgument = Annotated[
    Path, typer.Argument(metavar="SCHEMA", help="Schema of the data set (datapackage.json).")
]
Query = Annotated[
    str,
    typer.Argument(
        metavar="QUERY", help="Query over one table, as in '[gout]' or 'left: [age > 65]'."
    ),
]
JsonOutput = Annotated[bool, typer.Option("--json", help="Print JSON.")]

Epsilon = Annotated[
    str,
    _option(
        "--epsilon",
        "-e",
        metavar="<number>",
        say="Privacy loss ε, as in 1, 0.25 or 1/3.",
        panel=PRIVACY,
    ),
]
Delta = Annotated[
    str | None,
    _option(
        "--delta",
        metavar="<number>",
        say="δ of (ε, δ)-privacy, as in 1e-6 [default: 0, pure ε]",
        panel=PRIVACY,
    ),
]
ProfileName = Annotated[
    names.ProfileName | None,
    _option(
        "--profile",
        say="published follows the paper and is NOT for sensitive data [default: hardened]",
        panel=EXPERT,
    ),
]

AlgorithmName = Annotated[
    names.AlgorithmName | None,
    _option(
        "--algorithm", say="Mining algorithm [default: twin; published: alt-expm]", panel=EXPERT
    ),
]
AnyAlgorithmName = Annotated[
    names.AnyAlgorithmName | None,
    _option("--algorithm", say="Algorithm, or another command [default: twin]", panel=EXPERT),
]
Depth = Annotated[
    int | None,
    _option(
        "--depth",
        say=f"Depth of the trees, 1 to 6 [default: {_FROM_SIZE}, else 2]",
        panel=EXPERT,
    ),
]
Trials = Annotated[
    int | None,
    _option(
        "--trials",
        say=f"Repetitions, which share ε [default: {_FROM_SIZE} for twin, else 1]",
        panel=EXPERT,
    ),
]
Alternations = Annotated[
    int | None,
    _option(
        "--alternations",
        say=f"alt-*: trees after the first; 0: private start only [default: {_FROM_SIZE}, else 2]",
        panel=EXPERT,
    ),
]
Steps = Annotated[
    int | None,
    _option("--steps", say="Steps of each Markov chain [default: 10000]", panel=EXPERT),
]
TreeShare = Annotated[
    str | None,
    _option(
        "--tree-share",
        metavar="<number>",
        say="twin, tree-pair: share of ε for trees, not counts [default: 1/2]",
        panel=EXPERT,
    ),
]
CountsName = Annotated[
    names.CountsName | None,
    _option(
        "--counts",
        say="What to count: cells, or margins too (least-squares, two-pass) [default: cells]",
        panel=EXPERT,
    ),
]
SamplerName = Annotated[
    names.SamplerName | None,
    _option(
        "--sampler",
        say="alt-mcmc: how to draw trees [default: exact up to depth 2, else walk]",
        panel=EXPERT,
    ),
]
StartName = Annotated[
    names.StartName | None,
    _option(
        "--start", say="alt-*: how to choose the first target [default: private]", panel=EXPERT
    ),
]
RootScoreName = Annotated[
    names.RootScoreName | None,
    _option(
        "--root-score",
        say="twin, private start: score of the first splits [default: correspondence]",
        panel=EXPERT,
    ),
]
PairScoreName = Annotated[
    names.PairScoreName | None,
    _option(
        "--pair-score",
        say="tree-pair: score of a pair of trees [default: association]",
        panel=EXPERT,
    ),
]
VarianceThreshold = Annotated[
    float | None,
    _option(
        "--variance-threshold",
        say="published: end a Markov chain once its scores vary less [default: 0.005]",
        panel=EXPERT,
    ),
]

Of = Annotated[int, typer.Option("--of", help="Number of the redescription in the list.")]
Levels = Annotated[
    int | None,
    typer.Option(
        "--depth",
        help="Depth of the trees, the given level included [default: 2, or 3 with many entities]",
        rich_help_panel=EXPERT,
    ),
]

MaxPValue = Annotated[float, _option("--max-p-value", say="Largest p-value.", panel=FOUND)]
MinJaccard = Annotated[float, _option("--min-jaccard", say="Smallest Jaccard index.", panel=FOUND)]
MinSupport = Annotated[
    int, _option("--min-support", say="Smallest overlap, in entities.", panel=FOUND)
]
MaxSupport = Annotated[
    float,
    _option("--max-support", say="Largest share of the entities a query may cover.", panel=FOUND),
]
MaxDisjuncts = Annotated[
    int | None,
    _option(
        "--max-disjuncts",
        say="Most leaves joined in one query [default: 3; published: 4]",
        panel=EXPERT,
    ),
]
Prune = Annotated[
    str | None,
    _option(
        "--prune",
        metavar="<number|auto>",
        values=("auto",),
        say="Drop noisy supports below this number, or auto [default: keep all; published: auto]",
        panel=EXPERT,
    ),
]
Within = Annotated[
    list[str] | None,
    _option(
        "--within",
        metavar="<query>",
        say="Only entities for which this is true, as in '[sex = F]'; several must all be.",
        panel=STEERING,
    ),
]

Ignore = Annotated[
    list[str] | None,
    _option(
        "--ignore",
        metavar="<attribute>",
        say="Leave this attribute out (may be repeated); left:age, if both views have an age.",
        panel=STEERING,
    ),
]
Only = Annotated[
    list[str] | None,
    _option(
        "--only",
        metavar="<attribute>",
        say="Of its view, use this attribute and no others (may be repeated).",
        panel=STEERING,
    ),
]
Require = Annotated[
    list[str] | None,
    _option(
        "--require",
        metavar="<attribute>",
        say="Report only what mentions this attribute or another required one of its view "
        "(may be repeated).",
        panel=STEERING,
    ),
]
Unmatched = Annotated[
    list[str] | None,
    _option(
        "--unmatched",
        metavar="<A, B>",
        say="Never match these attributes with each other (may be repeated).",
        panel=STEERING,
    ),
]
MaxLiterals = Annotated[
    int | None, _option("--max-literals", say="Most literals on a side.", panel=STEERING)
]
NoNegation = Annotated[
    bool, _option("--no-negation", say='Report no query that says "not".', panel=STEERING)
]
NoDisjunction = Annotated[
    bool, _option("--no-disjunction", say='Report no query that says "or".', panel=STEERING)
]

SchemaFile = Annotated[
    Path | None,
    _option("--schema", "-s", say="Schema [default: datapackage.json beside LEFT]", panel=FILES),
]
Output = Annotated[
    Path,
    _option(
        "--output", "-o", say="Write the result to this file; - is standard output.", panel=FILES
    ),
]
LedgerFile = Annotated[
    Path | None,
    _option(
        "--ledger",
        say="Ledger of charges [default: datapackage.ledger.sqlite beside the schema]",
        panel=FILES,
    ),
]
Strict = Annotated[
    bool,
    _option(
        "--strict",
        say="Stop if a value cannot be read or an entity would be left out.",
        panel=FILES,
    ),
]
FewInCommon = Annotated[
    bool,
    _option(
        "--few-in-common",
        say="Go on although under half of the keys are in both tables.",
        panel=EXPERT,
    ),
]
Cluster = Annotated[
    str | None,
    _option(
        "--cluster",
        metavar="ADDRESS",
        say="The address of a Dask scheduler, whose workers read the files and keep the rows.",
        panel=EXPERT,
    ),
]
Quiet = Annotated[
    bool, _option("--quiet", "-q", say="Write the file and print only warnings.", panel=FILES)
]


# Parameters that are a single word are also words of a sentence: they count as parameters only at
# the start of a message, before " =", or after "use" or "leave out".
_WORDS: Final = (
    "epsilon|delta|depth|trials|alternations|counts|sampler|start|starts|prune|walks"
    "|ignore|only|require|unmatched"
)
_PARAMETER: Final = re.compile(
    r"\b(?P<name>walk_steps|tree_share|variance_threshold|(?:root|pair)_score|(?:max|min)_[a-z_]+)"
    r"\b(?: =)?"
    rf"|(?:^|(?<=\buse )|(?<=\bleave out ))(?P<word>{_WORDS})\b(?: =)?"
    rf"|\b(?P<set>{_WORDS}) ="
)


@contextmanager
def naming_options() -> Iterator[None]:
    """Make errors about parameters name the options that were typed.

    >>> with naming_options():
    ...     raise InputError("walk_steps does nothing for twin; use sampler = walk")
    Traceback (most recent call last):
    redveil.errors.InputError: --steps does nothing for twin; use --sampler walk
    """
    try:
        yield
    except InputError as error:
        raise InputError(_PARAMETER.sub(_option_name, str(error))) from None


def _option_name(found: re.Match[str]) -> str:
    name = found["name"] or found["word"] or found["set"]
    return "--steps" if name == "walk_steps" else f"--{name.replace('_', '-')}"
