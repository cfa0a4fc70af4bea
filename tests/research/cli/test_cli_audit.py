"""The command `redveil audit`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from redveil_research.audit.audit import FEWEST
from support.command_line import Command
from support.seeded import SeededRandomness


def test_findings_are_shown_as_json_and_as_a_table(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def in_this_process() -> Iterator[type[map]]:  # type: ignore[type-arg]
        yield map

    streams = count(1)
    # Intervals come after every release; simulating them takes most of a run on small data.
    monkeypatch.setattr("redveil.findings.critical_values._for_all_terms", lambda *_: 4.0)
    monkeypatch.setattr("redveil_research.audit.audit.processes", in_this_process)
    for source in ("profile.SystemRandomness", "published.PublishedRandomness"):
        monkeypatch.setattr(f"redveil.algorithms.{source}", lambda: SeededRandomness(next(streams)))
    done = command(
        "audit", "--profile", "published", "--algorithm", "alt-expm", "--runs", FEWEST, "--json"
    )
    assert done.code == 0
    assert "generated data only" in done.err
    [published] = json.loads(done.out)
    assert (published["violation"], published["expected"]) == (True, True)
    assert published["epsilon_at_least"] > 1 == int(published["epsilon"])
    assert published["delta"] == "0"
    exact = ("audit", "--algorithm", "alt-mcmc", "--profile", "hardened", "--runs", FEWEST)
    table = command(*exact)
    assert table.code == 0
    assert table.out.count("consistent with the claim") == 1

    monkeypatch.setattr("redveil_research.audit.audit.Finding.violates", property(lambda _: True))
    accused = command(*exact, "--delta", "1e-6", "--json")
    assert accused.code == 1
    assert [one["delta"] for one in json.loads(accused.out)] == ["1/1000000"]


def test_a_delta_for_the_published_profile_is_refused(command: Command) -> None:
    refused = command("audit", "--profile", "published", "--delta", "1e-6")
    assert refused.code == 2
    assert "the published profile does not support δ; leave out --delta" in refused.err
