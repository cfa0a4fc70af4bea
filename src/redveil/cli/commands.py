"""The commands, each known by its name and a line until it is called; then its module is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.main import get_group

from redveil.cli.help import ReadableCommand, ReadableGroup


@dataclass(frozen=True, slots=True)
class Command:
    """Where a command is, and what the list of commands says of it.

    place:   a module and the name of a function or of a group in it, as in `redveil.cli.show:show`
    summary: a few words; the command's own help says it in full
    """

    name: str
    place: str
    summary: str

    def load(self) -> Any:
        """Return the command itself."""
        module, _, name = self.place.partition(":")
        found = getattr(import_module(module), name)
        around = typer.Typer(add_completion=False, rich_markup_mode=None)
        if isinstance(found, typer.Typer):
            around.add_typer(found, name=self.name)
        else:
            around.command(self.name, cls=ReadableCommand)(found)
        return get_group(around).commands[self.name]


class Later(ReadableCommand):
    """Stands for a command that has not been loaded."""

    def __init__(self, command: Command) -> None:
        super().__init__(command.name, help=command.summary)
        self.load = command.load


class LazyGroup(ReadableGroup):
    """A group that loads a command when it is called, and not to list it or to complete its name.

    A subclass says what it offers, and, in `others`, what other distributions add; these are looked
    for when all commands are listed, or one is called that is not known otherwise.
    """

    offered: Iterable[Command] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {one.name: Later(one) for one in self.offered}

    def others(self) -> Iterator[Command]:
        """Yield commands of other distributions."""
        yield from ()

    def loaded(self, name: str) -> Any:
        """Return a command itself."""
        command = self.commands[name]
        return command.load() if isinstance(command, Later) else command

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        self._find_others()
        return super().list_commands(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of a command, the command, and the arguments that follow it."""
        if args[0] not in self.commands:
            self._find_others()
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, Later) else command, rest

    def _find_others(self) -> None:
        for one in self.others():
            self.commands.setdefault(one.name, Later(one))
