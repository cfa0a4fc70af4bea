"""Nobody can make a run repeatable: not by an argument, an option, or a library's global state."""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import typer.main

import redveil
from redveil.algorithms.catalogue import ALGORITHMS, make_algorithm
from redveil.cli.app import app
from redveil.cli.commands import LazyGroup
from redveil.errors import InputError
from redveil.privacy.randomness import SystemRandomness
from support.wall import marked

REPEATABLE = re.compile(r"seed|random|rng|entropy|noise|generator|state\b|stream|source", re.I)


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every public function, every class and every public method."""
    for name in redveil.__all__:
        thing = getattr(redveil, name)
        yield name, thing
        if inspect.isclass(thing):
            for inner, method in inspect.getmembers(thing, callable):
                if not inner.startswith("_"):
                    yield f"{name}.{inner}", method


CALLABLES = {
    name: one
    for name, one in public_callables()
    if not (inspect.isclass(one) and issubclass(one, Exception)) and "Error." not in name
}


@pytest.mark.parametrize("name", CALLABLES)
def test_no_public_callable_takes_a_seed_or_a_source(name: str) -> None:
    taken = inspect.signature(CALLABLES[name]).parameters
    assert [one for one in taken if REPEATABLE.search(one)] == []
    annotated = [str(one.annotation) for one in taken.values()]
    assert [one for one in annotated if "Randomness" in one] == []


def test_nothing_takes_further_names() -> None:
    further = {
        name
        for name, one in CALLABLES.items()
        if any(p.kind is p.VAR_KEYWORD for p in inspect.signature(one).parameters.values())
    }
    assert further == set()
    for algorithm in ALGORITHMS:
        with pytest.raises(InputError, match="unknown parameter seed"):
            make_algorithm(algorithm, seed=1)


def options(command: Any, path: str = "redveil") -> Iterator[tuple[str, str]]:
    """Yield every option and environment variable of a command and the commands in it."""
    for parameter in command.params:
        for name in (*parameter.opts, *parameter.secondary_opts, str(parameter.envvar or "")):
            yield path, name
    for name, inner in getattr(command, "commands", {}).items():
        loaded = command.loaded(name) if isinstance(command, LazyGroup) else inner
        yield from options(loaded, f"{path} {name}")


def test_no_option_of_the_command_line_makes_a_run_repeatable() -> None:
    listed = list(options(typer.main.get_command(app)))
    assert ("redveil mine", "--epsilon") in listed
    assert [one for one in listed if REPEATABLE.search(one[1])] == []


def fix_everything_global() -> None:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002


def test_global_seeds_change_nothing() -> None:
    wide = Fraction(1, 10**6)
    drawn = []
    for _ in range(2):
        fix_everything_global()
        source = SystemRandomness()
        result = redveil.mine(marked(), wide, depth=1, trials=1)
        cells = [int(n) for row in result.document.tree_pairs[0].leaf_table.cells for n in row]
        drawn.append({*map(int, source.words(8)), *map(int, source.laplace(wide, 8)), *cells})
    assert drawn[0] & drawn[1] == set()
