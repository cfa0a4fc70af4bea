"""The public functions plan and mine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from redveil.budget.charges import MINE, PaidFor
from redveil.budget.charging import Charged, charge
from redveil.findings.reporting import read_prune
from redveil.handover import Handover
from redveil.losses.loss import Loss, parse_loss
from redveil.schema import Schema
from redveil.schema.beside import USUAL

if TYPE_CHECKING:
    from redveil.algorithms.algorithm import Algorithm
    from redveil.algorithms.steering import Names
    from redveil.data.dataset import Dataset
    from redveil.findings.reporting import Reporting
    from redveil.handover import Keep
    from redveil.losses.plan import Plan
    from redveil.mining import Mined
    from redveil.report.result import Result
    from redveil.wire.names import (
        AlgorithmName,
        AnyAlgorithmName,
        CountsName,
        PairScoreName,
        ProfileName,
        RootScoreName,
        SamplerName,
        StartName,
    )


def plan(  # noqa: PLR0913 - one keyword for each parameter, so that editors can list them
    epsilon: str | float | Fraction,
    entities: float = 10_000,
    schema: Schema | None = None,
    *,
    delta: str | float | Fraction | None = None,
    algorithm: AnyAlgorithmName | None = None,
    profile: ProfileName | None = None,
    depth: int | None = None,
    trials: int | None = None,
    alternations: int | None = None,
    walk_steps: int | None = None,
    tree_share: str | float | Fraction | None = None,
    counts: CountsName | None = None,
    pair_score: PairScoreName | None = None,
    root_score: RootScoreName | None = None,
    sampler: SamplerName | None = None,
    start: StartName | None = None,
    variance_threshold: float | None = None,
    max_p_value: float = 0.01,
    min_jaccard: float = 0.1,
    min_support: int = 10,
    max_support: float = 0.8,
    max_disjuncts: int | None = None,
    prune: float | str | None = None,
    ignore: Names = None,
    only: Names = None,
    require: Names = None,
    unmatched: Sequence[Sequence[str]] | None = None,
    max_literals: int | None = None,
    negation: bool = True,
    disjunction: bool = True,
) -> Plan:
    """Return what a run would spend on what. Needs no data.

    The price is the same for every data set. How it is spent follows, by a public rule, from the
    noisy number of entities and from the schema's number of splits: give the number you expect.
    Twin trees begin with a scout if there are enough entities, and what the scout finds decides the
    rest; the plan assumes that the views are usually related (`algorithms.tuning.USUAL`).
    With `delta`, prices are in ρ, and add up to the largest ρ that keeps (ε, δ).

    epsilon:  the privacy loss ε
    entities: about how many entities the data has
    schema:   the schema, for its number of splits

    All other parameters are those of `mine`; `algorithm` can also be describe, refine or confirm.
    With confirm, `trials` is the number of tables that the list was read from. Those that decide
    what is reported are checked, but they do not change the plan. Those that name attributes need
    the schema.

    >>> [step.name for step in plan(1, entities=400).steps]
    ['size', 'trial 1, twin trees, level 1', 'trial 1, leaf table 1, cells']
    """
    search = {
        "algorithm": algorithm,
        "profile": profile,
        "depth": depth,
        "trials": trials,
        "alternations": alternations,
        "walk_steps": walk_steps,
        "tree_share": tree_share,
        "counts": counts,
        "pair_score": pair_score,
        "root_score": root_score,
        "sampler": sampler,
        "start": start,
        "variance_threshold": variance_threshold,
    }
    limits = {
        "max_p_value": max_p_value,
        "min_jaccard": min_jaccard,
        "min_support": min_support,
        "max_support": max_support,
        "max_disjuncts": max_disjuncts,
    }
    names = {"ignore": ignore, "only": only, "require": require, "unmatched": unmatched}
    words = {"max_literals": max_literals, "negation": negation, "disjunction": disjunction}
    wanted, reporting = _understood(search, limits, prune, questions=True)
    wanted.profile.check_loss(loss := parse_loss(epsilon, delta))
    wanted, _ = _steered(wanted, reporting, schema, names, words)
    left = None if schema is None else wanted.steering.applied(schema)
    return wanted.tuned(left, entities, loss.price).plan(loss.price)


def mine(  # noqa: PLR0913 - one keyword for each parameter, so that editors can list them
    dataset: Dataset,
    epsilon: str | float | Fraction,
    *,
    delta: str | float | Fraction | None = None,
    algorithm: AlgorithmName | None = None,
    profile: ProfileName | None = None,
    depth: int | None = None,
    trials: int | None = None,
    alternations: int | None = None,
    walk_steps: int | None = None,
    tree_share: str | float | Fraction | None = None,
    counts: CountsName | None = None,
    pair_score: PairScoreName | None = None,
    root_score: RootScoreName | None = None,
    sampler: SamplerName | None = None,
    start: StartName | None = None,
    variance_threshold: float | None = None,
    max_p_value: float = 0.01,
    min_jaccard: float = 0.1,
    min_support: int = 10,
    max_support: float = 0.8,
    max_disjuncts: int | None = None,
    prune: float | str | None = None,
    ignore: Names = None,
    only: Names = None,
    require: Names = None,
    unmatched: Sequence[Sequence[str]] | None = None,
    max_literals: int | None = None,
    negation: bool = True,
    disjunction: bool = True,
    within: str | Sequence[str] | None = None,
    result_name: str | None = None,
    ledger: Charged = USUAL,
    progress: Callable[[float], None] | None = None,
    keep: Keep | None = None,
) -> Result:
    """Mine redescriptions with ε-differential privacy, or with (ε, δ) if a `delta` is given.

    Only the data and ε have to be given. By default, the number and depth of trees follow from a
    noisy number of entities, which costs a hundredth of ε. The whole run costs ε exactly.

    dataset: what `load` returned
    epsilon: the privacy loss ε: `1`, `0.25` or `"1/3"`
    delta:   the δ of (ε, δ)-privacy, as in `1e-6`; 0, pure ε, by default
    profile: hardened, or published: the paper's method, NOT for sensitive data

    within:  a query that tells which entities the result is about, as in `"[sex = F]"`, or several
        that must all hold; those for which one is unknown are left out

    How to search. A parameter that does nothing for the algorithm is refused.

    algorithm:    twin, alt-expm, alt-mcmc or tree-pair; twin by default, alt-expm if published
    depth:        depth of the trees, 1 to 6
    trials:       repetitions, which share ε
    alternations: alt-expm, alt-mcmc: trees after the first; 0 for a private start alone
    start:        alt-expm, alt-mcmc: how to choose the first target, private or random
    sampler:      alt-mcmc: how to draw trees, exact (up to depth 2) or walk
    walk_steps:   alt-mcmc, tree-pair: steps of each Markov chain, 10,000 by default
    root_score:   twin, private start: score of the first splits, leverage or agreement
    pair_score:   tree-pair: score of a pair of trees, association or purity
    tree_share:   twin, tree-pair: share of ε for trees and not for counts, 1/2 by default
    counts:       what to count: cells, or margins too (least-squares, two-pass)
    variance_threshold: published alt-mcmc, tree-pair: a Markov chain stops when the variance of
        its last 500 scores falls below this number, 0.005 by default

    What to report. In the hardened profile, limits apply to the unfavourable end of each interval.

    max_p_value:   largest p-value
    min_jaccard:   smallest Jaccard index
    min_support:   smallest overlap, in entities
    max_support:   largest share of the entities that a query may cover
    max_disjuncts: most leaves joined in one query, 3 by default, 4 if published
    prune:         drop redescriptions whose noisy support is below this number; `"auto"` drops
        those whose overlap may be noise alone, the default if published

    Which attributes to use. All of this is public, and costs nothing. Names are those of the
    schema; `left:age` is the left view's `age`, if both views have one.

    ignore:       attributes to leave out of every choice
    only:         attributes to use alone, on each side where some are named
    require:      attributes of which every redescription mentions one, on each side where some are
        named; twin trees begin with them
    unmatched:    groups of attributes that may not be matched with each other, as in
        `[["weight self-reported", "weight measured"]]`; those of the schema always apply
    max_literals: most literals on a side
    negation:     whether queries may say "not"
    disjunction:  whether queries may say "or"

    Around the run.

    result_name: the name under which you will keep the result, for the ledger
    ledger:      the file that records the run: by default the one beside the schema's file, which
        the command line charges, too. If no file has the schema, this process keeps count and says
        so when the result is shown; a schema with a budget needs a file. `None` records nothing,
        and the result says that
    progress:    called with the share of the work that is done
    keep:        called with what was released before the list is made from it, as an unfinished
        result: `lambda result: result.save("result.json")` keeps it whatever happens then

    If making the list fails, what was released is put into a temporary file, which the
    `UnfinishedError` names, unless `keep` was given. `Result.filter` makes the list.

    >>> from redveil import load
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> result = mine(load(*clinic_frames(2000), clinic_schema()), epsilon=2, max_support=0.5)
    >>> sum(Fraction(step.epsilon) for step in result.certificate.steps)
    Fraction(2, 1)
    """
    from redveil import mining

    search = {
        "algorithm": algorithm,
        "profile": profile,
        "depth": depth,
        "trials": trials,
        "alternations": alternations,
        "walk_steps": walk_steps,
        "tree_share": tree_share,
        "counts": counts,
        "pair_score": pair_score,
        "root_score": root_score,
        "sampler": sampler,
        "start": start,
        "variance_threshold": variance_threshold,
    }
    limits = {
        "max_p_value": max_p_value,
        "min_jaccard": min_jaccard,
        "min_support": min_support,
        "max_support": max_support,
        "max_disjuncts": max_disjuncts,
    }
    names = {"ignore": ignore, "only": only, "require": require, "unmatched": unmatched}
    words = {"max_literals": max_literals, "negation": negation, "disjunction": disjunction}
    wanted, reporting = _understood(search, limits, prune)
    wanted.profile.check_loss(loss := parse_loss(epsilon, delta))
    mining.must_be_minable(dataset)
    wanted, reporting = _steered(wanted, reporting, dataset.schema, names, words)
    paid_for = _paid_for(wanted, reporting, result_name)
    handover = Handover(keep)
    with handover.guarding():
        return mining.report(
            _mined(dataset, wanted, reporting, loss, within, ledger, paid_for, progress, handover)
        )


def _mined(
    dataset: Dataset,
    wanted: Algorithm,
    reporting: Reporting,
    loss: Loss,
    within: str | Sequence[str] | None,
    ledger: Charged,
    paid_for: PaidFor,
    progress: Callable[[float], None] | None,
    handover: Handover,
) -> Mined:
    """Charge, then mine a part of the population, or all of it."""
    from redveil import mining
    from redveil.algorithms.derived import must_be_told
    from redveil.algorithms.population import part_of
    from redveil.data.dataset import must_be_here, must_have_values
    from redveil.query.condition import read_conditions

    mining.must_be_minable(dataset)
    told = mining.reporter(progress)
    part = read_conditions(within, dataset.schema, "within")
    must_be_told(dataset, [(one.side, one.query) for one in part])
    if wanted.profile.needs_values:
        must_have_values(dataset, f"the {wanted.profile.name} profile")
    if wanted.walks:
        must_be_here(dataset, f"{wanted.name} with a Markov chain")
    recorded = charge(dataset.schema, loss, ledger, paid_for.with_part([one.text for one in part]))
    asked = part_of(dataset, part)
    around: dict[str, Any] = {"progress": told, "handover": handover, "recorded": recorded}
    return mining.mine(asked, wanted, reporting, loss, **around)


def _understood(
    search: dict[str, Any],
    limits: dict[str, float | None],
    prune: object,
    *,
    questions: bool = False,
) -> tuple[Algorithm, Reporting]:
    """Return how to search and what to report, or refuse a parameter.

    questions: whether describe, refine and confirm are offered, too
    """
    from redveil.algorithms.catalogue import ALGORITHMS, EVERYTHING, make_algorithm

    wanted = make_algorithm(**search, among=EVERYTHING if questions else ALGORITHMS)
    limited = wanted.profile.constraints(**limits)
    return wanted, wanted.profile.reporting(limited, read_prune(prune))


def _steered(
    wanted: Algorithm,
    reporting: Reporting,
    schema: Schema | None,
    names: dict[str, Any],
    words: dict[str, Any],
) -> tuple[Algorithm, Reporting]:
    """Add what is said about attributes and words, or refuse it."""
    from redveil.algorithms.steering import Steering
    from redveil.findings.taste import Taste

    steering, taste = Steering.of(schema, **names), Taste(**words)
    return replace(wanted, steering=steering), replace(reporting, taste=taste)


def _paid_for(wanted: Algorithm, reporting: Reporting, result_name: str | None) -> PaidFor:
    """Return what a run pays for; what the tuning rule sets is not known before it."""
    parameters = {"profile": wanted.profile.name, **wanted.public(), **reporting.public()}
    # What is left to the tuning rule is not known yet, nor what follows from it.
    unknown = (*wanted.auto, *wanted.derived) if wanted.auto else ()
    return PaidFor(MINE, result_name, wanted.name, parameters).without(unknown)
