"""From released leaf tables to redescriptions. Nothing private comes in here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redveil.algorithms.parameters import Parameters, Profile
from redveil.findings.estimate import Estimate
from redveil.findings.extraction import Extractor
from redveil.findings.leaf_table import LeafTable
from redveil.findings.pruning import pruned_by_support
from redveil.findings.ranking import ranked, ranked_by_news
from redveil.findings.redescription import Redescription
from redveil.privacy.plan import Plan
from redveil.schema import Schema
from redveil.sealed import Released


@dataclass(frozen=True, slots=True, eq=False)
class Mined:
    """Everything a run releases. `pruned` are redescriptions that may be nothing but noise.

    `schema` is the one whose splits the trees are made of: the declared one, but for the published
    profile, which makes its own from the data.
    """

    declared: Schema
    schema: Schema
    parameters: Parameters
    plan: Plan
    tables: tuple[LeafTable, ...]
    estimates: tuple[Estimate, ...]
    redescriptions: tuple[Redescription, ...]
    pruned: tuple[Redescription, ...]


def interpret(
    declared: Schema,
    schema: Schema,
    parameters: Parameters,
    plan: Plan,
    released: Sequence[Released[LeafTable]],
) -> Mined:
    """Extract, prune and rank. Free, because it sees released tables only."""
    tables = tuple(table.value for table in released)
    cautious = parameters.profile is Profile.HARDENED
    # The paper makes no claims about all tables together.
    shared = len(tables) if cautious else 1
    readers = [
        Extractor(table, schema, parameters.constraints, cautious=cautious, tables=shared)
        for table in tables
    ]
    # What is pruned may have told what others could tell then, so it must be known first.
    news = cautious and parameters.prune is None
    found = [
        one for number, reader in enumerate(readers) for one in reader.extract(number, news=news)
    ]
    estimates = tuple(reader.estimate for reader in readers)
    kept, pruned = pruned_by_support(found, parameters.prune)
    best = ranked_by_news(kept, estimates) if cautious else ranked(kept)
    return Mined(declared, schema, parameters, plan, tables, estimates, best, tuple(pruned))
