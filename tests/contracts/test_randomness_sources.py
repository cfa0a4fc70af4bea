"""Private noise comes from the operating system: nothing is seeded, nothing can be repeated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from support.source import mentions, modules

# Generated data is nobody's; the simulation of the public noise law never meets data.
MAY_BE_SEEDED = {
    "data/synthetic.py",
    "findings/noise.py",
    "algorithms/published.py",
}
# Where compiled code is kept, and Numba's settings, which decide what it is and which Numba reads;
# where a server listens and keeps its files; a client's token. No draw depends on any of them.
MAY_ASK_THE_ENVIRONMENT = {
    "base/cache.py",
    "cli/remote_access.py",
    "kernels/jit.py",
    "server/settings.py",
}
FORBIDDEN_IMPORTS = ("random", "numpy.random", "scipy.stats")


def faults(tree: ast.Module) -> Iterator[str]:
    """Yield uses of repeatable randomness."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                yield from (a.name for a in names if a.name in FORBIDDEN_IMPORTS)
            case ast.ImportFrom(module=str(module), names=names):
                full = [module, *(f"{module}.{a.name}" for a in names)]
                yield from (name for name in full if name in FORBIDDEN_IMPORTS)
            case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="random"):
                yield "np.random"
            case (
                ast.Name(id=name)
                | ast.Attribute(attr=name)
                | ast.arg(arg=name)
                | ast.keyword(arg=str(name))
            ) if "seed" in name.lower() or name in ("default_rng", "RandomState"):
                yield name


@pytest.mark.parametrize("module", modules())
def test_nothing_private_is_repeatable(module: str) -> None:
    if module not in MAY_BE_SEEDED:
        assert list(faults(modules()[module])) == []


@pytest.mark.parametrize("module", modules())
def test_no_environment_variable_is_asked(module: str) -> None:
    """Whoever can set one could choose a key, a seed or a shortcut without leaving a trace."""
    asked = [
        name for name in ("environ", "environb", "getenv") if mentions(modules()[module], name)
    ]
    assert bool(asked) is (module in MAY_ASK_THE_ENVIRONMENT)


@pytest.mark.parametrize("module", sorted(MAY_BE_SEEDED))
def test_the_contract_sees_what_it_forbids(module: str) -> None:
    assert list(faults(modules()[module]))


@pytest.mark.parametrize(
    "line",
    [
        "import random",
        "from random import random",
        "import numpy.random",
        "from numpy import random",
        "np.random.laplace(1)",
        "numpy.random.normal()",
        "draw(seed=1)",
        "def f(seed): ...",
        "generator.seed(1)",
    ],
)
def test_every_way_to_repeat_is_seen(line: str) -> None:
    assert list(faults(ast.parse(line)))
