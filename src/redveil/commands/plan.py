"""`redveil plan`: show how a run would spend its ε, without any data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from redveil.cli.arguments import (
    Alternations,
    AnyAlgorithmName,
    CountsName,
    Delta,
    Depth,
    Epsilon,
    Ignore,
    JsonOutput,
    Only,
    PairScoreName,
    ProfileName,
    Require,
    RootScoreName,
    SamplerName,
    StartName,
    Steps,
    TreeShare,
    Trials,
    Unmatched,
    VarianceThreshold,
    naming_options,
)
from redveil.cli.console import display, display_table, note, write, write_json
from redveil.cli.steering import attribute_wishes
from redveil.commands.detection import Asked, Detect, Study, show_detection
from redveil.schema import Schema, Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.table import Table

    from redveil.algorithms.algorithm import Algorithm
    from redveil.algorithms.tuning import TunedCase
    from redveil.losses.loss import Loss
    from redveil.losses.plan import Plan, StepKind

# The parameters that the tuning rule sets, as column heads; `trials` for twin trees only.
TUNED_HEADS: Final = {
    "trials": "pairs of trees",
    "alternations": "alternations",
    "depth": "depth",
    "tree_score": "tree score",
}

Entities = Annotated[
    int | None, typer.Option(min=0, help="Show the plan for about this many entities.")
]
SchemaOption = Annotated[
    Path | None, typer.Option("--schema", "-s", help="Plan for this schema's number of splits.")
]


def plan(
    epsilon: Epsilon,
    delta: Delta = None,
    entities: Entities = None,
    schema: SchemaOption = None,
    detect: Detect = False,
    study: Study = False,
    ignore: Ignore = None,
    only: Only = None,
    require: Require = None,
    unmatched: Unmatched = None,
    algorithm: AnyAlgorithmName = None,
    profile: ProfileName = None,
    depth: Depth = None,
    trials: Trials = None,
    alternations: Alternations = None,
    steps: Steps = None,
    tree_share: TreeShare = None,
    counts: CountsName = None,
    sampler: SamplerName = None,
    start: StartName = None,
    root_score: RootScoreName = None,
    pair_score: PairScoreName = None,
    variance_threshold: VarianceThreshold = None,
    as_json: JsonOutput = False,
) -> None:
    """Show how a run would spend its ε. Needs no data; the prices add up exactly.

    Some defaults follow from a noisy number of entities, which a run buys first. Without
    --entities, all cases are listed. Twin trees then ask how strongly the views are related: a
    first pair, the scout, tells, and decides how the rest is spent.
    """
    from redveil.algorithms.catalogue import EVERYTHING, make_algorithm
    from redveil.losses.loss import parse_loss

    with naming_options():
        wanted = make_algorithm(
            algorithm,
            profile,
            depth=depth,
            trials=trials,
            alternations=alternations,
            walk_steps=steps,
            tree_share=tree_share,
            counts=counts,
            sampler=sampler,
            start=start,
            root_score=root_score,
            pair_score=pair_score,
            variance_threshold=variance_threshold,
            among=EVERYTHING,
        )
        wanted.profile.check_loss(loss := parse_loss(epsilon, delta))
    declared = Schema.read(schema) if schema else None
    named = attribute_wishes(ignore, only, require, unmatched)
    wanted, declared = _steered(wanted, declared, named)
    asked = Asked(detect, study)
    if asked.anything:
        show_detection(wanted, loss, entities, declared, asked, as_json)
    else:
        _show_plan(wanted, loss, entities, declared, as_json)


def _show_plan(
    wanted: Algorithm, loss: Loss, entities: int | None, schema: Schema | None, as_json: bool
) -> None:
    """Show every step of a run or, if that depends on the number of entities, all cases."""
    from redveil.algorithms.tuning import tuned_case, tuned_cases
    from redveil.losses.score import MOST_ENTITIES
    from redveil.report.text import steps_table

    steering = _steering(wanted, schema)
    if wanted.auto and entities is None:
        cases = tuned_cases(wanted, schema, loss.price, MOST_ENTITIES)
        _show_cases(cases, loss, steering, as_json)
        return
    case = tuned_case(wanted, schema, loss.price, entities or 0)
    if as_json:
        _print_json(_promise(loss) | steering | _planned(case))
        return
    _say_steering(steering)
    display(steps_table(case.plan.steps))
    if case.by_related:
        note(_after_the_scout(case))


def _steered(
    wanted: Algorithm, declared: Schema | None, named: dict[str, Any]
) -> tuple[Algorithm, Schema | None]:
    """Return the algorithm with what is said about attributes, and the schema that it leaves."""
    from redveil.algorithms.steering import Steering

    with naming_options():
        steering = Steering.of(declared, **named)
    return replace(wanted, steering=steering), declared and steering.applied(declared)


def _steering(wanted: Algorithm, left: Schema | None) -> dict[str, Any]:
    """Return how a run is steered, and how many splits that leaves it to choose from."""
    asked = wanted.steering.public()
    if not asked or left is None:
        return {}
    splits = {side.value: left.view(side).split_count for side in Side}
    return {"steering": asked, "splits": splits}


def _say_steering(known: dict[str, Any]) -> None:
    if known:
        from redveil.report.steering import steering_lines

        for line in steering_lines(known["steering"]):
            write(line)
        left, right = known["splits"].values()
        write(f"splits to choose from: {left:,} left, {right:,} right")


def _show_cases(
    cases: Sequence[TunedCase], loss: Loss, steering: dict[str, Any], as_json: bool
) -> None:
    if as_json:
        _print_json(_promise(loss) | steering | {"cases": [_case(one) for one in cases]})
    elif any(one.by_related for one in cases):
        _say_steering(steering)
        display_table(shapes_table(cases))
        note(
            "A run buys the size and, from enough entities on, a scout: a pair of trees of depth "
            "1. What it finds decides how the rest is spent. Use --entities to see every step."
        )
    else:
        _say_steering(steering)
        display_table(cases_table(cases))


def _after_the_scout(case: TunedCase) -> str:
    """Return how the steps would differ, in words."""
    shapes = [f"{word} related, {pairs_of(one)}" for word, one in case.by_related.items()]
    joined = "; if ".join(shapes)
    return (
        "Trial 1 is a scout. What it finds decides how the rest is spent; these are the steps if "
        f"the views are usually related. If {joined}."
    )


def pairs_of(tuned: Algorithm) -> str:
    """Return in words what is grown after a scout, or instead of one.

    >>> from fractions import Fraction
    >>> from redveil.algorithms.twin import Twin
    >>> pairs_of(Twin(depth=2, trials=4, scout=Fraction(1, 5)))
    '3 pairs of depth 2'
    >>> pairs_of(Twin(depth=1, trials=2, scout=Fraction(1, 5), again=True))
    'the first choice again'
    """
    known = tuned.public()
    if known["again"]:
        return "the first choice again"
    pairs = tuned.trials - tuned.adapts
    return f"{pairs} pair{'' if pairs == 1 else 's'} of depth {tuned.depth}"


def _print_json(content: dict[str, Any]) -> None:
    write_json(content)


def _promise(loss: Loss) -> dict[str, Any]:
    pure = {"epsilon": str(loss.epsilon)}
    return pure | ({"delta": str(loss.delta), "rho": str(loss.price)} if loss.delta else {})


def _steps(made: Plan) -> list[dict[str, str]]:
    from redveil.losses.loss import Rho

    currency = "rho" if isinstance(made.price, Rho) else "epsilon"
    return [
        {"name": step.name, "mechanism": step.mechanism, currency: str(step.price)}
        for step in made.steps
    ]


def _case(one: TunedCase) -> dict[str, Any]:
    return {"entities_from": one.size, **_planned(one)}


def _planned(one: TunedCase) -> dict[str, Any]:
    """Return the shape and the steps; if a scout decides, those for usually related views."""
    planned = _shape(one.algorithm)
    if one.by_related:
        planned["by_related"] = {word: _shape(shaped) for word, shaped in one.by_related.items()}
    return planned | {"steps": _steps(one.plan)}


def _shape(tuned: Algorithm) -> dict[str, Any]:
    names = ("depth", "trials", "alternations", "root_score", "scout", "again")
    known = tuned.public()
    return {name: known[name] for name in names if name in known}


def shapes_table(cases: Iterable[TunedCase]) -> Table:
    """Return what is grown for a range of sizes, by how strongly the views are related."""
    from rich.table import Table

    from redveil.algorithms.tuning import RELATED
    from redveil.findings.leaf_table import noise_variance
    from redveil.losses.loss import Rho, amount, total
    from redveil.losses.plan import StepKind

    listed = list(cases)
    unit = "ρ" if isinstance(listed[0].plan.price, Rho) else "ε"
    table = Table(box=None, header_style="bold")
    heads = ("entities", f"{unit}: size", f"{unit}: scout", "error per cell")
    rows: list[list[str]] = []
    for one in listed:
        price = total(step.price for step in one.algorithm.scout_steps(one.plan.price))
        counted = one.plan.first(StepKind.LEAF_TABLE)
        error = noise_variance(counted.price) ** 0.5 if counted else 0.0
        shapes = [one.by_related.get(word, one.algorithm) for word in RELATED]
        numbers = [
            f"{one.size:,}",
            _price(one.plan, StepKind.SIZE),
            f"{float(amount(price)):.3g}" if one.by_related else "–",
            f"±{error:,.3g}",
        ]
        rows.append([*numbers, *map(pairs_of, shapes)])
    for place, head in enumerate(heads):
        # Heads may be broken between words, numbers may not.
        words = [*head.split(), *(row[place] for row in rows)]
        table.add_column(head, justify="right", min_width=max(map(len, words)))
    for word in RELATED:
        table.add_column(f"{word} related", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def cases_table(cases: Iterable[TunedCase]) -> Table:
    """Return how a budget would be spent for a range of sizes."""
    from rich.table import Table

    from redveil.findings.leaf_table import noise_variance
    from redveil.losses.loss import Rho
    from redveil.losses.plan import StepKind

    listed = list(cases)
    first = listed[0]
    shape = [name for name in TUNED_HEADS if name in first.algorithm.parameter_names()]
    if "alternations" in shape:
        shape.remove("trials")
    starts = first.plan.first(StepKind.START) is not None
    # The first case may be a start alone, without trees.
    whole_trees = all(step.key.level is None for one in listed for step in one.plan.steps)
    unit = "ρ" if isinstance(first.plan.price, Rho) else "ε"
    heads = (
        "entities from",
        *(TUNED_HEADS[name] for name in shape),
        f"{unit}: size",
        *([f"{unit}: start"] if starts else []),
        f"{unit}: per {'tree' if starts and whole_trees else 'level'}",
        f"{unit}: per leaf table",
        "error per cell",
    )
    rows = []
    for one in listed:
        counted = one.plan.first(StepKind.LEAF_TABLE)
        error = noise_variance(counted.price) ** 0.5 if counted else 0.0
        rows.append(
            (
                f"{one.size:,}",
                *(str(getattr(one.algorithm, name)) for name in shape),
                _price(one.plan, StepKind.SIZE),
                *([_price(one.plan, StepKind.START)] if starts else []),
                # Without alternations no tree is grown after the start.
                _price(one.plan, StepKind.TWIN_TREES, StepKind.TREE, StepKind.TREE_PAIR),
                _price(one.plan, StepKind.LEAF_TABLE),
                f"±{error:,.3g}",
            )
        )
    table = Table(box=None, header_style="bold")
    for head, *cells in zip(heads, *rows, strict=True):
        # Heads may be divided between words, cells not at all.
        widest = max(map(len, [*head.split(), *cells]))
        table.add_column(head, justify="right", min_width=widest)
    for row in rows:
        table.add_row(*row)
    return table


def _price(plan: Plan, *kinds: StepKind) -> str:
    """Return the price of the first step of one of some kinds."""
    steps = [step for kind in kinds if (step := plan.first(kind))]
    return str(steps[0].price) if steps else "–"
