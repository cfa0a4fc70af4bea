"""The commands of those who hold data: owners and operators."""

from __future__ import annotations

from typing import Final

# Of each its name, where it is, and what the list of commands says of it.
COMMANDS: Final = (
    ("schema", "redveil.cli.schema:schema", "Draft, check, edit and accept schemas."),
    ("plan", "redveil.cli.plan:plan", "Show what a run would spend, and would find."),
    ("mine", "redveil.cli.mine:mine", "Mine redescriptions of two tables."),
    ("describe", "redveil.cli.describe:describe", "Describe a query of one table."),
    ("refine", "redveil.cli.refine:refine", "Look closer at a redescription."),
    ("confirm", "redveil.cli.confirm:confirm", "Measure a list again on new entities."),
    ("budget", "redveil.cli.budget:budget", "Show what was spent and what is left."),
    ("ledger", "redveil.cli.ledgers:ledger", "Verify, export and restore ledgers."),
    ("truth", "redveil.cli.truth:truth", "Compare a result with the data (owner)."),
    ("demo", "redveil.cli.demo:demo", "Mine a generated clinic."),
    ("serve", "redveil.cli.serve:serve", "Start a server."),
    ("server", "redveil.cli.server:server", "Manage a server's accounts and data."),
)
