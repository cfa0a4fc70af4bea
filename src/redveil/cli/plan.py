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
from redveil.cli.console import display, display_table, write, write_json
from redveil.cli.steering import attribute_wishes
from redveil.schema import Schema, Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.table import Table

    from redveil.algorithms.algorithm import Algorithm
    from redveil.algorithms.tuning import TunedCase
    from redveil.privacy.loss import Loss
    from redveil.privacy.plan import Plan, StepKind

# The parameters that the tuning rule sets, as column heads; `trials` for twin trees only.
TUNED_HEADS: Final = {
    "trials": "pairs of trees",
    "alternations": "alternations",
    "depth": "depth",
    "root_score": "root score",
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
    --entities, all cases are listed.
    """
    from redveil.algorithms.catalogue import EVERYTHING, make_algorithm
    from redveil.algorithms.tuning import tuned_cases
    from redveil.privacy.loss import parse_loss
    from redveil.privacy.score import MOST_ENTITIES
    from redveil.report.text import steps_table

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
    if wanted.auto and entities is None:
        cases = tuned_cases(wanted, declared, loss.price, MOST_ENTITIES)
        _show_cases(cases, loss, _steering(wanted, declared), as_json)
        return
    tuned = wanted.tuned(declared, entities or 0, loss.price)
    if as_json:
        planned = _steps(tuned.plan(loss.price))
        steering = _steering(wanted, declared)
        _print_json(_promise(loss) | _shape(tuned) | steering | {"steps": planned})
        return
    _say_steering(_steering(wanted, declared))
    display(steps_table(tuned.plan(loss.price).steps))


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
    else:
        _say_steering(steering)
        display_table(cases_table(cases))


def _print_json(content: dict[str, Any]) -> None:
    write_json(content)


def _promise(loss: Loss) -> dict[str, Any]:
    pure = {"epsilon": str(loss.epsilon)}
    return pure | ({"delta": str(loss.delta), "rho": str(loss.price)} if loss.delta else {})


def _steps(made: Plan) -> list[dict[str, str]]:
    from redveil.privacy.loss import Rho

    currency = "rho" if isinstance(made.price, Rho) else "epsilon"
    return [
        {"name": step.name, "mechanism": step.mechanism, currency: str(step.price)}
        for step in made.steps
    ]


def _case(one: TunedCase) -> dict[str, Any]:
    return {"entities_from": one.size, **_shape(one.algorithm), "steps": _steps(one.plan)}


def _shape(tuned: Algorithm) -> dict[str, Any]:
    names = ("depth", "trials", "alternations", "root_score")
    known = tuned.public()
    return {name: known[name] for name in names if name in known}


def cases_table(cases: Iterable[TunedCase]) -> Table:
    """Return how a budget would be spent for a range of sizes."""
    from rich.table import Table

    from redveil.findings.leaf_table import noise_variance
    from redveil.privacy.loss import Rho
    from redveil.privacy.plan import StepKind

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
