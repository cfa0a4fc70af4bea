"""`redveil audit`: bound the privacy loss from below by experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from redveil.seam.commands import (
    Delta,
    JsonOutput,
    ProfileName,
    display_table,
    naming_options,
    progress,
    say,
    write_json,
)
from redveil.seam.neighbours import AnyAlgorithmName

# The published profile leaks in every run, so these suffice.
MOST_PUBLISHED_RUNS: Final = 1000

if TYPE_CHECKING:
    from rich.table import Table

    from redveil_research.audit.audit import Finding


def audit(
    epsilon: Annotated[
        str,
        typer.Option(
            "--epsilon",
            "-e",
            metavar="<number>",
            help="Claimed ε; 1 or more is easiest to refute.",
        ),
    ] = "1",
    delta: Delta = None,
    algorithm: Annotated[
        AnyAlgorithmName | None, typer.Option(help="Audit this algorithm [default: all]")
    ] = None,
    profile: Annotated[
        ProfileName | None,
        typer.Option(help="Audit this profile [default: both; with --delta: hardened]"),
    ] = None,
    runs: Annotated[
        int, typer.Option(help="Runs per case, 400 or more; published: at most 1000.")
    ] = 3000,
    as_json: JsonOutput = False,
) -> None:
    """Try to refute the claimed ε, or (ε, δ), by experiment.

    Each algorithm mines neighbouring data sets many times. All data is generated: no file is read
    and nothing is charged. The exit code is 1 if the claim of a hardened algorithm is refuted. The
    published profile is expected to be refuted.
    """
    from redveil.seam.neighbours import parse_loss
    from redveil_research.audit.audit import audit as audit_one
    from redveil_research.audit.audit import processes
    from redveil_research.audit.cases import cases

    with naming_options():
        claimed = parse_loss(epsilon, delta)
        wanted = cases(algorithm, profile or ("hardened" if claimed.delta else None))
        for case in wanted:
            case.algorithm.profile.check_loss(claimed)
    findings: list[Finding] = []
    say("generated data only: no file is read", "dim")
    with processes() as spread, progress("auditing") as report:
        for case in wanted:
            findings.append(
                audit_one(
                    case,
                    claimed,
                    min(runs, MOST_PUBLISHED_RUNS) if case.published else runs,
                    spread=spread,
                    progress=lambda share: report((len(findings) + share) / len(wanted)),
                )
            )
    if as_json:
        write_json([_plain(one) for one in findings])
    else:
        display_table(_table(findings))
    if any(one.alarming for one in findings):
        raise typer.Exit(1)


def _plain(one: Finding) -> dict[str, Any]:
    algorithm = one.case.algorithm
    return {
        "algorithm": algorithm.name,
        "profile": algorithm.profile.name,
        "spent_on": one.case.spent_on,
        "epsilon": str(one.claimed.epsilon),
        "delta": str(one.claimed.delta),
        "epsilon_at_least": one.bound,
        "confidence": 0.95,
        "pair": one.pair,
        "event": one.event,
        "runs": one.runs,
        "seconds": round(one.seconds, 1),
        "violation": one.violates,
        "expected": one.case.published,
    }


def _claim(one: Finding) -> str:
    """Return the claimed ε, or (ε, δ), as short text."""
    epsilon, delta = one.claimed.epsilon, one.claimed.delta
    return f"{epsilon}, {float(delta):g}" if delta else str(epsilon)


def _table(findings: list[Finding]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("algorithm", "profile", "ε spent on", "claimed ε", "ε at least"):
        table.add_column(name, no_wrap=True)
    table.add_column("pair of data sets: most telling event")
    table.add_column("runs", justify="right")
    table.add_column("seconds", justify="right")
    table.add_column("verdict", no_wrap=True)
    for one in findings:
        algorithm = one.case.algorithm
        row = (
            algorithm.name,
            algorithm.profile.name,
            one.case.spent_on,
            _claim(one),
            f"{one.bound:.2f}",
            f"{one.pair}: {one.event}",
            f"{one.runs:,}",
            f"{one.seconds:.0f}",
        )
        verdict = Text(one.verdict, "bold red" if one.alarming else "")
        # Text, not str: brackets in queries are not markup.
        table.add_row(*(Text(field) for field in row), verdict)
    return table
