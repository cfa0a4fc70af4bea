"""MAMMAL: European land mammals and climate, by grid cell of about 50 km.

The files are those that redescription mining has used since Siren: `mammals.datbool` (a header with
the numbers of cells and species, then cell, species and 1 for each presence, counted from 1),
`worldclim_tp.densenum` (a line for each variable, a number for each cell), and a `.names` file for
each, a name a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from redveil import InputError
from redveil_research.experiments.datasets import Field, equal_width, flag, number, titled
from redveil_research.preparation.prepared import Prepared, find_file, lines, schema_of

# The names of variables have small digits and signs, written as escapes.
_SMALL: Final = {0x2080 + digit: str(digit) for digit in range(10)} | {
    0x207A: "+",
    0x207B: "-",
    0x207C: "~",
}
_MEANING: Final = {"-": "minimum", "+": "maximum", "~": "mean"}


def prepare_mammals(raw: Path) -> Prepared:
    """Return species as the left view and monthly climate as the right one."""
    species = _names(find_file(raw, r"mammals\.names", "mammals.names"))
    climate = _names(find_file(raw, r"worldclim_tp\.names", "worldclim_tp.names"))
    present = _presences(find_file(raw, r"mammals\.datbool", "mammals.datbool"), len(species))
    values = _climate(
        find_file(raw, r"worldclim_tp\.densenum", "worldclim_tp.densenum"), len(climate)
    )
    if len(values[0]) != len(present):
        raise InputError(
            f"{raw}: {len(present)} cells with species, {len(values[0])} with climate; "
            "the files are not of one data set"
        )
    keys = [f"cell{cell:04d}" for cell in range(1, len(present) + 1)]
    return Prepared(
        schema_of("mammals", "grid cell", map(flag(), species), map(_declared, climate)),
        ([key, *map(str, row)] for key, row in zip(keys, present.tolist(), strict=True)),
        ([key, *row] for key, row in zip(keys, zip(*values, strict=True), strict=True)),
    )


def _declared(name: str) -> Field:
    """Declare a monthly temperature (°C) or precipitation (mm) of European land."""
    if name.startswith("p"):
        field = number(0, 300, range(10, 300, 10))(name)
        return titled(field, f"Precipitation, month {name[1:-1]} (mm)")
    title = f"{_MEANING.get(name[-1], '').capitalize()} temperature, month {name[1:-1]} (°C)"
    return titled(equal_width(-30, 40, 28)(name), title)


def _names(path: Path) -> list[str]:
    """Return the names in a file, the second of two equal ones with a number."""
    found: list[str] = []
    for place, line in lines(path):
        name = line.strip()
        if "\\u" in name:
            name = name.encode("ascii", "replace").decode("unicode_escape").translate(_SMALL)
        if not name:
            raise InputError(f"{place}: no name; correct the line")
        same = sum(1 for other in found if other == name or other.startswith(f"{name} ("))
        found.append(f"{name} ({same + 1})" if name in found else name)
    return found


def _presences(path: Path, species: int) -> np.ndarray:
    content = _triples(path)
    place, (cells, count, _) = next(content, (f"{path}, line 1", (0, 0, 0)))
    if count != species:
        raise InputError(f"{place}: {count} species, but {species} names; check both files")
    present = np.zeros((cells, species), dtype=np.uint8)
    for place, (cell, one, value) in content:
        if not (1 <= cell <= cells and 1 <= one <= species and value == 1):
            raise InputError(f"{place}: no such cell and species; download the file again")
        present[cell - 1, one - 1] = 1
    return present


def _triples(path: Path) -> Iterator[tuple[str, tuple[int, int, int]]]:
    for place, line in lines(path):
        try:
            first, second, third = map(int, line.split())
        except ValueError:
            raise InputError(f"{place}: three whole numbers expected; correct it") from None
        yield place, (first, second, third)


def _climate(path: Path, variables: int) -> list[list[str]]:
    values: list[list[str]] = []
    for place, line in lines(path):
        fields = line.split()
        try:
            list(map(float, fields))
        except ValueError:
            raise InputError(f"{place}: numbers expected; download the file again") from None
        if values and len(fields) != len(values[0]):
            raise InputError(f"{place}: {len(fields)} cells, expected {len(values[0])}")
        values.append(fields)
    if len(values) != variables:
        raise InputError(f"{path}: {len(values)} lines, but {variables} names; check both files")
    return values
