"""Registering data: an owner's tables are checked against their schema, and packed once.

This runs on the server's machine, as the user of the workers. Nothing of it goes over the network,
and its report is for the owner alone.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from redveil.budget.charges import total
from redveil.data.dataset import Dataset
from redveil.data.loading import load
from redveil.data.report import LoadReport
from redveil.errors import ConflictError, InputError, RedveilError
from redveil.losses.loss import Loss
from redveil.mining import must_be_minable
from redveil.owner import load_report
from redveil.schema import Schema, Status
from redveil.server.settings import Settings
from redveil.store.datasets import Version
from redveil.store.limits import NOTHING
from redveil.store.store import Store, utc_now
from redveil.store.texts import moment
from redveil.workers.earlier import Earlier
from redveil.workers.packed import pack, unpack


@dataclass(frozen=True, slots=True)
class Registered:
    """What became of an owner's tables.

    report:     what was left out; for the owner only
    taken_over: what was spent before, and counts
    """

    version: Version
    report: LoadReport
    taken_over: Loss = NOTHING


@dataclass(frozen=True, slots=True)
class Registration:
    """Where data sets are registered."""

    store: Store
    settings: Settings

    def add(
        self,
        tables: tuple[object, object],
        schema: Schema,
        owner: str,
        budget: Loss,
        *,
        few_in_common: bool = False,
        **known: Any,
    ) -> Registered:
        """Register a data set: check the tables, pack them, set the budget.

        tables: the left and the right one, as `redveil.load` takes them
        owner:  the owner's account
        few_in_common: whether to go on if few keys are in both tables. Only here are they looked
            at: a job of an analyst is answered whatever the rows are
        known:  what is known of earlier charges, as `Earlier` takes it
        """
        public = _public(schema)
        self.store.datasets.must_be_new(public.id or "", public.name)
        forgotten = self.store.written_off_at()
        earlier = Earlier(self.store.identity(), written_off=forgotten, **known)
        earlier.must_allow(schema, budget)
        earlier.must_be_counted(schema)
        dataset = load(*tables, public, few_in_common=few_in_common)
        must_be_minable(dataset)
        location, digest = self._packed(dataset)
        try:
            # Packing takes time, in which somebody may have charged.
            earlier.must_be_counted(schema)
            taken = earlier.take_over(schema, moment(utc_now()))
            self.store.datasets.register(
                *(public.id or "", public.name, owner, public.to_dict(), budget),
                earlier=taken,
                details=earlier.details,
            )
            version = self.store.datasets.new_version(public.id or "", location, digest, owner)
        except RedveilError:
            (self.settings.data_folder / location).unlink(missing_ok=True)
            raise
        return Registered(version, load_report(dataset), total(taken))

    def renew(
        self,
        identifier: str,
        tables: tuple[object, object],
        schema: Schema,
        *,
        few_in_common: bool = False,
    ) -> Registered:
        """Add a new version of a data set's rows. It has the old schema, and the old budget."""
        found = self.store.datasets.get(identifier)
        known = Schema.from_dict(found.description)
        if _public(schema).digest != known.digest:
            raise ConflictError(
                "the schema differs from the registered one; versions of a data set share it"
            )
        dataset = load(*tables, known, few_in_common=few_in_common)
        location, digest = self._packed(dataset)
        try:
            version = self.store.datasets.new_version(identifier, location, digest, found.owner)
        except RedveilError:
            (self.settings.data_folder / location).unlink(missing_ok=True)
            raise
        return Registered(version, load_report(dataset))

    def _packed(self, dataset: Dataset) -> tuple[str, str]:
        """Pack a data set, and read it again before anything relies on it."""
        # A random name: names of data sets are other people's texts.
        location = f"{secrets.token_hex(16)}.packed"
        path = self.settings.data_folder / location
        key = self.settings.read_data_key()
        digest = pack(dataset, path, key)
        unpack(dataset.schema, path, key, digest)
        return location, digest


def _public(schema: Schema) -> Schema:
    """Return what analysts see of a schema; refuse a draft.

    A budget is a limit of the server's ledger, so the schema itself has none.
    """
    if schema.status is Status.DRAFT or not schema.id:
        raise InputError(
            "the schema is a draft; replace what was taken from the data, then run "
            "`redveil schema accept`"
        )
    return replace(schema, budget=None, budget_delta=Fraction(0))
