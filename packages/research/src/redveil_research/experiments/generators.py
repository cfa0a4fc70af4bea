"""Generators of test data that resembles common kinds of data, for choosing defaults.

The data is about nobody, so it may be seeded, printed and shared. Hidden causes affect both views.
`strength` is the share of entities whose two views have the same causes; the right view of the
others follows the causes of another entity, so that the distribution of every single column stays
the same. At strength 0 the views are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import redveil
from redveil_research.experiments import datasets as declare
from redveil_research.experiments.datasets import Field
from redveil_research.experiments.rows import TwoTables

Floats: TypeAlias = NDArray[np.float64]
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Generated:
    """Two generated tables and their schema.

    >>> noise(50).tables.left.num_rows
    50
    """

    tables: TwoTables
    schema: redveil.Schema

    def load(self) -> redveil.Dataset:
        """Load the tables with their schema."""
        return redveil.load(self.tables.left, self.tables.right, self.schema)


# A declared attribute and its values: bool, float64 (NaN is missing) or categories.
Column: TypeAlias = tuple[Field, pa.Array]


def generate(name: str, rows: int, seed: int = 1, strength: float | None = None) -> Generated:
    """Generate two tables with the generator of this name, at its usual strength or another.

    >>> generate("survey", 50, strength=0.3).schema.unit
    'respondent'
    >>> generate("noise", 50, strength=0.3)
    Traceback (most recent call last):
    redveil.errors.InputError: noise: its views are never related; leave the strength out
    """
    if name not in GENERATORS:
        raise redveil.InputError(f"no such generator; use one of {', '.join(GENERATORS)}")
    if strength is None:
        return GENERATORS[name](rows, seed)
    if name == "noise":
        raise redveil.InputError(f"{name}: its views are never related; leave the strength out")
    return GENERATORS[name](rows, seed, strength=strength)


def gradients(
    rows: int, seed: int = 1, *, species: int = 150, seasons: int = 12, strength: float = 1.0
) -> Generated:
    """Species along smooth gradients × monthly climate, nearly collinear within a season.

    >>> gradients(50, species=3, seasons=2).load()
    <Dataset gradients: 3 left and 8 right attributes>
    """
    rng = np.random.default_rng(seed)
    place = _landscape(rng, rows)
    left = [_presence(rng, f"species {i + 1}", place) for i in range(species)]
    right = _climate(rng, _shared(rng, place, strength), seasons)
    return _generated("gradients", rows, left, right, unit="place")


def survey(
    rows: int, seed: int = 1, *, backgrounds: int = 16, answers: int = 45, strength: float = 0.7
) -> Generated:
    """Backgrounds of all kinds × answers on scales, with a few weak to moderate common factors.

    >>> survey(50, backgrounds=4, answers=10).load()
    <Dataset survey: 4 left and 10 right attributes>
    """
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(rows, 4))
    left = [_background(rng, i, factors) for i in range(backgrounds)]
    seen = _shared(rng, factors, strength)
    right = [_answer(rng, i, seen) for i in range(answers)]
    return _generated("survey", rows, left, right, unit="respondent")


def claims(
    rows: int, seed: int = 1, *, codes: int = 130, amounts: int = 48, strength: float = 0.9
) -> Generated:
    """Rare to common codes × amounts with many zeros and long tails, some of them missing.

    Conditions come in groups; entities with more conditions have more codes and higher amounts. Of
    four years, the later ones are missing for entities that have left.

    >>> claims(50, codes=5, amounts=4).load()
    <Dataset claims: 6 left and 4 right attributes>
    """
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(68, 12, rows), 18, 104)
    groups = _conditions(rng, age)
    left = [_numeric(declare.number(0, 110, range(20, 100, 5))("age"), age.round())]
    left += [_code(rng, f"code {i + 1}", groups, i) for i in range(codes)]
    burden = _shared(rng, groups, strength)
    # An entity that leaves has no amounts from that year on; a few leave each year.
    leaves = rng.geometric(0.01, rows)
    right = [_amount(rng, i, burden, leaves) for i in range(amounts)]
    return _generated("claims", rows, left, right, unit="insured person")


def markers(
    rows: int, seed: int = 1, *, conditions: int = 16, values: int = 14, strength: float = 1.0
) -> Generated:
    """One common condition that its markers tell, and rarer ones whose markers tell less and less.

    After the strongest relation, the others are much weaker: a rule that expects more of the same
    asks too little for them.

    >>> markers(50, conditions=4, values=6).load()
    <Dataset markers: 5 left and 6 right attributes>
    """
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(55, 17, rows), 18, 100).round()
    shares = np.maximum(0.3 * 0.75 ** np.arange(conditions), 0.03)
    ill = rng.random((rows, conditions)) < shares * (0.5 + (age[:, None] - 18) / 74)
    left = [_numeric(declare.number(0, 110, range(20, 100, 5))("age"), age)]
    left += [_flag(f"condition {i + 1}", ill[:, i]) for i in range(conditions)]
    seen = _shared(rng, ill, strength)
    right = [_marker(rng, i, seen) for i in range(values)]
    return _generated("markers", rows, left, right, unit="patient")


def noise(rows: int, seed: int = 1, *, flags: int = 60, numbers: int = 40) -> Generated:
    """Two views, each with its own structure, that are independent: there is nothing to find.

    >>> noise(50, flags=2, numbers=4).load()
    <Dataset noise: 2 left and 4 right attributes>
    """
    rng = np.random.default_rng(seed)
    left = [_presence(rng, f"flag {i + 1}", _landscape(rng, rows)) for i in range(flags // 2)]
    place = _landscape(rng, rows)
    left += [_presence(rng, f"flag {i + 1}", place) for i in range(flags // 2, flags)]
    factors = rng.normal(size=(rows, 4))
    right = [_answer(rng, i, factors) for i in range(numbers)]
    return _generated("noise", rows, left, right, unit="entity")


def wide(
    rows: int, seed: int = 1, *, lefts: int = 30, rights: int = 800, strength: float = 0.8
) -> Generated:
    """Few rare flags × very many rarer ones, in communities.

    >>> wide(50, lefts=3, rights=7).load()
    <Dataset wide sparse: 3 left and 7 right attributes>
    """
    rng = np.random.default_rng(seed)
    community = rng.integers(0, 20, rows)
    met = _shared(rng, community, strength)
    left = [_membership(rng, f"venue {i + 1}", community, i % 20, 0.6, 0.02) for i in range(lefts)]
    right = [_membership(rng, f"link {i + 1}", met, i % 20, 0.15, 0.003) for i in range(rights)]
    return _generated("wide sparse", rows, left, right, unit="author")


GENERATORS: Final[dict[str, Callable[..., Generated]]] = {
    "gradients": gradients,
    "survey": survey,
    "claims": claims,
    "markers": markers,
    "noise": noise,
    "wide": wide,
}


def _generated(
    name: str, rows: int, left: Sequence[Column], right: Sequence[Column], unit: str
) -> Generated:
    """Return the columns as tables, with the schema that they were generated for."""
    schema = declare.schema(name, unit, [one for one, _ in left], [one for one, _ in right])
    key = pa.array(np.arange(rows))
    tables = [
        pa.table({declare.KEY: key, **{one["name"]: values for one, values in side}})
        for side in (left, right)
    ]
    return Generated(TwoTables(tables[0], tables[1]), schema)


def _shared(rng: np.random.Generator, causes: NDArray[T], strength: float) -> NDArray[T]:
    """Return the causes of the right view: a share's own, another entity's for the others."""
    if not 0 <= strength <= 1:
        raise redveil.InputError("strength must lie between 0 and 1")
    rows = len(causes)
    other = rng.random(rows) >= strength
    source = np.arange(rows)
    source[other] = rng.integers(0, rows, np.count_nonzero(other))
    return causes[source]


def _flag(name: str, holds: NDArray[np.bool_]) -> Column:
    return declare.flag()(name), pa.array(holds)


def _coded(field: Field, codes: NDArray[np.int64]) -> Column:
    categories = pa.array(field["constraints"]["enum"])
    return field, pa.DictionaryArray.from_arrays(pa.array(codes), categories)


def _numeric(field: Field, values: Floats) -> Column:
    bounds = field["constraints"]["minimum"], field["constraints"]["maximum"]
    return field, pa.array(np.clip(values, *bounds))


def _landscape(rng: np.random.Generator, rows: int) -> Floats:
    """Return three smooth gradients over a map, float64[rows, 3], each about in [-1, 1]."""
    x, y = rng.uniform(-1, 1, (2, rows))
    waves = [
        np.cos(rng.uniform(1, 4) * x + rng.uniform(1, 4) * y + rng.uniform(0, 6)) for _ in range(3)
    ]
    return np.stack([y, x, np.mean(waves, axis=0)], axis=1)


def _presence(rng: np.random.Generator, name: str, place: Floats) -> Column:
    """Draw where a species lives: within its niche, which may be narrow or very wide."""
    optimum = rng.uniform(-1.3, 1.3, 3)
    width = 10 ** rng.uniform(-0.8, 0.6, 3)
    fit = np.exp(-0.5 * (((place - optimum) / width) ** 2).sum(axis=1))
    # Niches have edges: well inside, a species is nearly always met.
    chance = rng.uniform(0.6, 0.98) / (1 + np.exp(-12 * (fit - 0.45)))
    return _flag(name, rng.random(len(place)) < chance)


def _climate(rng: np.random.Generator, place: Floats, seasons: int) -> list[Column]:
    """Return minimum, maximum and mean temperature and precipitation of each season."""
    rows = len(place)
    temperature = declare.equal_width(-30, 40, 28)
    rainfall = declare.number(0, 300, range(10, 300, 10))
    columns: list[Column] = []
    for number in range(seasons):
        summer = np.cos(2 * np.pi * (number / seasons - 0.55))
        continental = place[:, 1]
        mean = (
            8
            - 9 * place[:, 0]
            + summer * (9 + 4 * continental)
            - 4 * place[:, 2]
            + rng.normal(0, 0.7, rows)
        )
        swing = 4 + summer + continental + rng.normal(0, 0.3, rows)
        rain = np.exp(3.9 - 0.35 * continental + 0.5 * place[:, 2] - 0.2 * summer * place[:, 0])
        for kind, values in (("min", mean - swing), ("max", mean + swing), ("mean", mean)):
            columns.append(_numeric(temperature(f"{kind} {number + 1}"), values.round(1)))
        wet = (rain * rng.lognormal(0, 0.15, rows)).round()
        columns.append(_numeric(rainfall(f"rain {number + 1}"), wet))
    return columns


def _background(rng: np.random.Generator, number: int, factors: Floats) -> Column:
    """Draw one background attribute: an age, ordered levels, categories or a flag, in turn."""
    rows, pull = len(factors), 0.9 * factors[:, number % 4]
    moved = pull + rng.normal(size=rows)
    if number % 4 == 0:
        age = np.clip(13 + np.exp(2.6 + 0.6 * moved), 13, 100).round()
        return _numeric(declare.number(13, 100, range(15, 85, 5))(f"years {number + 1}"), age)
    if number % 4 == 1:
        levels = declare.levels(*(f"level {level}" for level in range(1, 5)))
        return _coded(levels(f"level {number + 1}"), np.searchsorted([-1.0, 0.4, 1.6], moved))
    if number % 4 == 2:
        count = int(rng.integers(3, 9))
        likings = rng.normal(size=(2, count))
        # The category of largest utility: tastes, a factor's pull on them, and chance.
        utility = 1.2 * likings[0] + pull[:, None] * likings[1] + rng.gumbel(size=(rows, count))
        group = declare.one_of(*(f"group {chr(ord('a') + i)}" for i in range(count)))
        return _coded(group(f"group {number + 1}"), utility.argmax(axis=1))
    return _flag(f"flag {number + 1}", moved > rng.uniform(-0.5, 2.0))


def _answer(rng: np.random.Generator, number: int, factors: Floats) -> Column:
    """Draw one answer on a scale; every tenth is a time in seconds that depends on nothing."""
    rows = len(factors)
    if number % 10 == 9:
        seconds = rng.lognormal(4, 1.2, rows).round()
        return _numeric(declare.heavy_tailed(1, 10_000)(f"seconds {number + 1}"), seconds)
    highest = 5 if number % 3 else 7
    loading = rng.uniform(0.1, 1.3) * rng.choice((-1, 1))
    moved = loading * factors[:, number % factors.shape[1]] + rng.normal(size=rows)
    edges = np.linspace(-1.6, 1.6, highest - 1) + rng.normal(0, 0.5)
    answers = 1.0 + np.searchsorted(edges, moved).astype(np.float64)
    return _numeric(declare.scale(1, highest)(f"answer {number + 1}"), answers)


def _conditions(rng: np.random.Generator, age: Floats) -> NDArray[np.bool_]:
    """Draw each entity's groups of conditions, bool[rows, 6]; the groups are correlated."""
    frailty = (age - 68) / 24 + rng.normal(0, 0.8, age.size)
    edges = np.array([0.0, 0.4, 0.7, 1.0, 1.4, 1.8])
    return frailty[:, None] + rng.normal(0, 0.7, (age.size, 6)) > edges


def _code(rng: np.random.Generator, name: str, groups: NDArray[np.bool_], number: int) -> Column:
    """Draw one code: likely within its group and rare outside; some codes have no group."""
    rows = len(groups)
    rare = 10 ** rng.uniform(-3, -1)
    if number % 5 == 4:
        return _flag(name, rng.random(rows) < rare)
    inside = min(0.9, 10 ** rng.uniform(-2, 0))
    chance = np.where(groups[:, number % 6], inside, min(rare, inside / 5))
    return _flag(name, rng.random(rows) < chance)


def _amount(
    rng: np.random.Generator,
    number: int,
    burden: NDArray[np.bool_],
    leaves: NDArray[np.int64],
) -> Column:
    """Draw one kind of payment in one year: mostly 0, with a long tail."""
    year, kind = number % 4, number // 4
    weight = np.where(np.arange(6) == kind % 6, 2.0, rng.uniform(0.0, 0.7))
    need = burden @ weight
    paid = rng.random(len(burden)) < 1 / (1 + np.exp(rng.uniform(1.0, 4.5) - 1.6 * need))
    size = np.exp(rng.uniform(4, 7) + 0.45 * need + rng.normal(0, 1.0, len(burden)))
    values = np.where(paid, 10 * np.ceil(size / 10), 0.0)
    values[leaves <= year] = np.nan
    amount = declare.heavy_tailed(10, 200_000, required=year == 0)
    return _numeric(amount(f"amount {kind + 1} year {year + 1}"), values)


def _marker(rng: np.random.Generator, number: int, ill: NDArray[np.bool_]) -> Column:
    """Draw a laboratory value: two for each condition, the later ones less telling; some gaps."""
    rows, shift = len(ill), 3.0 * 0.9 ** (number // 2)
    moved = rng.normal(size=rows) + shift * ill[:, (number // 2) % ill.shape[1]]
    values = (100 + 20 * moved).round()
    values[rng.random(rows) < 0.05] = np.nan
    measured = declare.number(0, 250, range(10, 250, 10), required=False)
    return _numeric(measured(f"value {number + 1}"), values)


def _membership(
    rng: np.random.Generator,
    name: str,
    community: NDArray[np.int64],
    own: int,
    inside: float,
    outside: float,
) -> Column:
    """Draw one flag: likelier in its own community."""
    chance = np.where(community == own, inside, outside) * 10 ** rng.uniform(-0.7, 0)
    return _flag(name, rng.random(community.size) < chance)
