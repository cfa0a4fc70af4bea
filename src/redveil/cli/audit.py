"""`redveil audit`: how well results tell two data sets apart, at least."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from redveil.cli.arguments import Delta
from redveil.cli.console import output, progress, say

# A profile that leaks in every run needs no more runs to be seen.
ENOUGH: Final = 1000

if TYPE_CHECKING:
    from rich.table import Table

    from redveil.audit.audit import Finding


def audit(
    epsilon: Annotated[
        str, typer.Option("--epsilon", "-e", help="The ε that is claimed: 1 or more shows most.")
    ] = "1",
    delta: Delta = None,
    algorithm: Annotated[
        str | None,
        typer.Option(help="twin, alt-expm, alt-mcmc or tree-pair [default: all]"),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(help="hardened or published [default: both; with a delta hardened]"),
    ] = None,
    runs: Annotated[
        int, typer.Option(help="Times that each case is mined; published ones 1000 times at most.")
    ] = 3000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Try to refute the claimed ε, or (ε, δ), by mining neighbouring data sets many times.

    All data is generated here: no file is read, nothing private is touched, nothing is charged.
    Exit code 1 if a hardened algorithm is refuted; the published profile is expected to be.
    """
    from redveil.audit.audit import audit as audit_one
    from redveil.audit.cases import cases
    from redveil.audit.pool import processes
    from redveil.privacy.loss import parse_loss

    claimed = parse_loss(epsilon, delta)
    wanted = cases(algorithm, profile or ("hardened" if claimed.delta else None))
    for case in wanted:
        case.parameters.must_allow(claimed)
    findings: list[Finding] = []
    say("generated data only: no file is read, nothing private is touched", "dim")
    with processes() as spread, progress("auditing") as report:
        for case in wanted:
            findings.append(
                audit_one(
                    case,
                    claimed,
                    min(runs, ENOUGH) if case.published else runs,
                    spread=spread,
                    progress=lambda share: report((len(findings) + share) / len(wanted)),
                )
            )
    if as_json:
        typer.echo(json.dumps([_plain(one) for one in findings], indent=1, ensure_ascii=False))
    else:
        output().print(_table(findings))
    if any(one.alarming for one in findings):
        raise typer.Exit(1)


def _plain(one: Finding) -> dict[str, Any]:
    parameters = one.case.parameters
    return {
        "algorithm": parameters.algorithm.value,
        "profile": parameters.profile.value,
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
    """Return what was claimed, in few letters."""
    epsilon, delta = one.claimed.epsilon, one.claimed.delta
    return f"{epsilon}, {float(delta):g}" if delta else str(epsilon)


def _table(findings: list[Finding]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("algorithm", "profile", "ε spent on", "claimed", "at least"):
        table.add_column(name, no_wrap=True)
    table.add_column("data set, and the event that tells most")
    table.add_column("runs", justify="right")
    table.add_column("s", justify="right")
    table.add_column("verdict", no_wrap=True)
    for one in findings:
        parameters = one.case.parameters
        row = (
            parameters.algorithm.value,
            parameters.profile.value,
            one.case.spent_on,
            _claim(one),
            f"{one.bound:.2f}",
            f"{one.pair}: {one.event}",
            f"{one.runs:,}",
            f"{one.seconds:.0f}",
        )
        verdict = Text(one.verdict, "bold red" if one.alarming else "")
        # As text: brackets in queries are not markup.
        table.add_row(*(Text(cell) for cell in row), verdict)
    return table
