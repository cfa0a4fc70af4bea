"""`redveil mine`: mine two tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from redveil.cli.arguments import (
    AlgorithmName,
    Alternations,
    CountsName,
    Delta,
    Depth,
    Epsilon,
    LedgerFile,
    Left,
    MaxDisjuncts,
    MaxPValue,
    MaxSupport,
    MinJaccard,
    MinSupport,
    Output,
    PairScoreName,
    ProfileName,
    Prune,
    Quiet,
    Right,
    RootScoreName,
    SamplerName,
    SchemaFile,
    StartName,
    Steps,
    TreeShare,
    Trials,
    find_schema,
    naming_options,
)
from redveil.cli.console import display, output, progress, say
from redveil.cli.outputs import check_output, is_standard_output, save_paid
from redveil.file_kind import FileKind
from redveil.privacy.loss import Loss, parse_loss
from redveil.schema import Schema, Status

if TYPE_CHECKING:
    from redveil.algorithms.profile import Profile
    from redveil.data.dataset import Dataset
    from redveil.findings.reporting import Constraints

#: Below the options in `redveil mine --help`.
NOTES: Final = (
    "A default from the noisy number of entities costs a hundredth of ε, which buys that number. "
    "The published profile has other defaults: the paper's, and --prune auto. Limits on what to "
    "report apply to the unfavourable end of each interval (hardened profile)."
)


def mine(
    left: Left,
    right: Right,
    epsilon: Epsilon,
    delta: Delta = None,
    depth: Depth = None,
    max_p_value: MaxPValue = 0.01,
    min_jaccard: MinJaccard = 0.1,
    min_support: MinSupport = 10,
    max_support: MaxSupport = 0.8,
    schema: SchemaFile = None,
    result: Output = Path("result.json"),
    ledger: LedgerFile = None,
    quiet: Quiet = False,
    profile: ProfileName = None,
    algorithm: AlgorithmName = None,
    trials: Trials = None,
    alternations: Alternations = None,
    steps: Steps = None,
    tree_share: TreeShare = None,
    counts: CountsName = None,
    root_score: RootScoreName = None,
    pair_score: PairScoreName = None,
    sampler: SamplerName = None,
    start: StartName = None,
    max_disjuncts: MaxDisjuncts = None,
    prune: Prune = None,
) -> None:
    """Mine redescriptions with ε- or (ε, δ)-differential privacy.

    The result file contains released values only, so it can be shared.
    """
    given: dict[str, Any] = {
        "algorithm": algorithm,
        "profile": profile,
        "depth": depth,
        "trials": trials,
        "alternations": alternations,
        "walk_steps": steps,
        "tree_share": tree_share,
        "counts": counts,
        "pair_score": pair_score,
        "root_score": root_score,
        "sampler": sampler,
        "start": start,
    }
    limits = (max_p_value, min_jaccard, min_support, max_support)
    # Refuse bad parameters before reading any data.
    with naming_options():
        loss = parse_loss(epsilon, delta)
        how, constraints = _checked(given, loss, limits, max_disjuncts, prune)
    declared, schema_path = find_schema(schema, left)
    charges = ledger or schema_path.with_suffix(".ledger.sqlite")
    check_output(result, FileKind.RESULT, [left, right, schema_path, charges])
    if how.warning:
        say(how.warning, "bold red")
    dataset = _load(left, right, declared, schema_path, quiet)
    given |= {"constraints": constraints, "prune": prune, "ledger": charges}
    _run_and_save(dataset, loss, given, result, quiet)


def _checked(
    given: dict[str, Any],
    loss: Loss,
    limits: tuple[float, float, int, float],
    max_disjuncts: int | None,
    prune: str | None,
) -> tuple[Profile, Constraints]:
    """Return the profile, and the constraints with the profile's default number of disjuncts."""
    from redveil.algorithms.catalogue import make_algorithm
    from redveil.findings.reporting import Constraints, read_prune

    how = make_algorithm(**given).profile
    how.check_loss(loss)
    usual = how.reporting(None, read_prune(prune)).constraints.max_disjuncts
    return how, Constraints(*limits, usual if max_disjuncts is None else max_disjuncts)


def _load(left: Path, right: Path, schema: Schema, schema_path: Path, quiet: bool) -> Dataset:
    """Load the tables, print the load report, and warn of a draft."""
    from redveil import owner
    from redveil.data.loading import load

    with progress("loading") as report:
        dataset = load(left, right, schema, progress=lambda _, share: report(share))
    if not quiet:
        for line in owner.load_report(dataset).lines():
            say(f"owner only: {line}", "dim")
    if schema.status is Status.DRAFT:
        say(
            "warning: the schema is a draft; values from the data in it are not private. "
            f"Review it, then run `redveil schema accept {schema_path}`.",
            "bold yellow",
        )
    return dataset


def _run_and_save(
    dataset: Dataset, loss: Loss, given: dict[str, Any], result: Path, quiet: bool
) -> None:
    """Mine, save the result, and show it."""
    from redveil.api import mine as run
    from redveil.report.text import result_view

    with progress("mining") as report:
        found = run(dataset, loss.epsilon, delta=loss.delta, progress=report, **given)
    kept = save_paid(found.to_json(), result, FileKind.RESULT)
    if not quiet and not is_standard_output(result):
        display(result_view(found.document, width=output().width))
        if kept:
            say(f"previous result kept as {kept}")
        say(f"written to {result}")
