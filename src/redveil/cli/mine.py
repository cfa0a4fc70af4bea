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
    Strict,
    TreeShare,
    Trials,
    VarianceThreshold,
    find_schema,
    naming_options,
)
from redveil.cli.console import output, progress, say
from redveil.cli.ledger import announcing, chargeable_ledger
from redveil.cli.loading import load_tables
from redveil.files import keep_earlier, must_be_writable
from redveil.privacy.loss import Loss, parse_loss

if TYPE_CHECKING:
    from redveil.algorithms.profile import Profile
    from redveil.data.dataset import Dataset

#: Below the options in `redveil mine --help`.
NOTES: Final = (
    "A default from the noisy number of entities costs a hundredth of ε, which buys that number. "
    "The published profile has other defaults: the paper's, and --prune auto. Limits on what to "
    "report apply to the unfavourable end of each interval (hardened profile)."
)

LIMITS: Final = ("max_p_value", "min_jaccard", "min_support", "max_support", "max_disjuncts")


def mine(
    left: Left,
    right: Right,
    epsilon: Epsilon,
    delta: Delta = None,
    profile: ProfileName = None,
    algorithm: AlgorithmName = None,
    depth: Depth = None,
    trials: Trials = None,
    alternations: Alternations = None,
    steps: Steps = None,
    tree_share: TreeShare = None,
    counts: CountsName = None,
    root_score: RootScoreName = None,
    pair_score: PairScoreName = None,
    sampler: SamplerName = None,
    start: StartName = None,
    variance_threshold: VarianceThreshold = None,
    max_p_value: MaxPValue = 0.01,
    min_jaccard: MinJaccard = 0.1,
    min_support: MinSupport = 10,
    max_support: MaxSupport = 0.8,
    max_disjuncts: MaxDisjuncts = None,
    prune: Prune = None,
    schema: SchemaFile = None,
    result: Output = Path("result.json"),
    ledger: LedgerFile = None,
    strict: Strict = False,
    quiet: Quiet = False,
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
        "variance_threshold": variance_threshold,
    }
    values = max_p_value, min_jaccard, min_support, max_support, max_disjuncts
    limits: dict[str, Any] = dict(zip(LIMITS, values, strict=True))
    # Refuse bad parameters before reading any data.
    with naming_options():
        loss = parse_loss(epsilon, delta)
        how = _checked(given, loss, limits, prune)
    must_be_writable(result)
    declared, schema_path = find_schema(schema, left)
    given["result_name"] = result.name
    given["ledger"] = chargeable_ledger(ledger, declared, schema_path, result, loss)
    if how.warning:
        say(how.warning, "bold red")
    dataset = load_tables(left, right, declared, schema_path, strict=strict, quiet=quiet)
    given |= limits | {"prune": prune}
    _run_and_save(dataset, loss, given, result, quiet)


def _checked(
    given: dict[str, Any], loss: Loss, limits: dict[str, Any], prune: str | None
) -> Profile:
    """Return the profile, or refuse parameters."""
    from redveil.algorithms.catalogue import make_algorithm
    from redveil.findings.reporting import read_prune

    how = make_algorithm(**given).profile
    how.check_loss(loss)
    how.reporting(how.constraints(**limits), read_prune(prune))
    return how


def _run_and_save(
    dataset: Dataset, loss: Loss, given: dict[str, Any], result: Path, quiet: bool
) -> None:
    """Mine, save the result, and show it."""
    from redveil.api import mine as run
    from redveil.report.text import result_view

    with announcing(), progress("mining") as report:
        found = run(dataset, loss.epsilon, delta=loss.delta, progress=report, **given)
    kept = keep_earlier(result)
    found.save(result)
    if not quiet:
        console = output()
        console.print(result_view(found.document, width=console.width))
        if kept:
            say(f"previous result kept as {kept}")
        if given["ledger"]:
            say(f"recorded in {given['ledger']}")
        say(f"written to {result}")
