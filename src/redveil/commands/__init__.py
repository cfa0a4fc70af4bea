"""The commands of those who hold data: owners and operators."""

from __future__ import annotations

from typing import Final

# Of each its name, where it is, and what the list of commands says of it.
COMMANDS: Final = (
    ("schema", "redveil.commands.schema:schema", "Draft, check, edit and accept schemas."),
    ("plan", "redveil.commands.plan:plan", "Show what a run would spend, and would find."),
    ("mine", "redveil.commands.mine:mine", "Mine redescriptions of two tables."),
    ("describe", "redveil.commands.describe:describe", "Describe a query of one table."),
    ("refine", "redveil.commands.refine:refine", "Look closer at a redescription."),
    ("confirm", "redveil.commands.confirm:confirm", "Measure a list again on new entities."),
    ("budget", "redveil.commands.budget:budget", "Show what was spent and what is left."),
    ("ledger", "redveil.commands.ledgers:ledger", "Verify, export and restore ledgers."),
    ("truth", "redveil.commands.truth:truth", "Compare a result with the data (owner)."),
    ("demo", "redveil.commands.demo:demo", "Mine a generated clinic."),
    ("serve", "redveil.commands.serve:serve", "Start a server."),
    ("server", "redveil.commands.server:server", "Manage a server's accounts and data."),
)
