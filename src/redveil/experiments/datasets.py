"""Public data sets that may lie beside a checkout, each with a schema declared from its domain.

They are looked for in `../shared/data`, seen from the project's root, or in a folder of your own.
Schemas come from what anybody who knows the domain would declare, and from the code books; of the
files, only the header is read. Numbers beyond a bound are moved to it when the data is loaded.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import redveil
from redveil.errors import InputError
from redveil.experiments import declarations as declared
from redveil.experiments.declarations import Rules, attributes
from redveil.schema import Schema, View

if TYPE_CHECKING:
    from redveil.data.dataset import Dataset

KEY = "id"


@dataclass(frozen=True, slots=True)
class PublicData:
    """Two files of one data set, and how their columns are declared.

    `large` data sets get the parameters that the paper has for its larger ones.

    >>> find("MAMMAL").left
    'mammals/left.csv'
    """

    name: str
    left: str
    right: str
    left_rules: Rules
    right_rules: Rules
    unit: str
    large: bool = False

    def files(self, folder: Path) -> tuple[Path, Path]:
        """Return where the two files are, or would be."""
        return folder / self.left, folder / self.right

    def is_in(self, folder: Path) -> bool:
        """Whether both files are there."""
        return all(path.is_file() for path in self.files(folder))

    def schema(self, folder: Path) -> Schema:
        """Declare the columns that the two headers name; no row is read."""
        left, right = (header(path) for path in self.files(folder))
        return Schema(
            self.name,
            View("left", KEY, attributes(left, self.left_rules)),
            View("right", KEY, attributes(right, self.right_rules)),
            unit=self.unit,
        )

    def load(self, folder: Path) -> Dataset:
        """Load the two files under the declared schema."""
        return redveil.load(*self.files(folder), self.schema(folder))


DATA_SETS = (
    PublicData(
        "MAMMAL",
        "mammals/left.csv",
        "mammals/right.csv",
        declared.SPECIES,
        declared.CLIMATE,
        unit="grid cell",
    ),
    PublicData(
        "CMS2",
        "cms_desynpuf/sample02_left.csv",
        "cms_desynpuf/sample02_right.csv",
        declared.BENEFICIARIES,
        declared.CLAIMS,
        unit="beneficiary",
        large=True,
    ),
    PublicData(
        "CMS-ALL",
        "cms_desynpuf/all18_left.csv.gz",
        "cms_desynpuf/all18_right.csv.gz",
        declared.BENEFICIARIES,
        declared.CLAIMS,
        unit="beneficiary",
        large=True,
    ),
    PublicData(
        "NPAS",
        "npas/left.csv",
        "npas/right.csv",
        declared.BACKGROUND,
        declared.NPAS_ANSWERS,
        unit="respondent",
    ),
    PublicData(
        "NPAS-2016",
        "npas/feb2016_left.csv",
        "npas/feb2016_right.csv",
        declared.BACKGROUND,
        declared.NPAS_ANSWERS,
        unit="respondent",
    ),
    PublicData(
        "RWAS",
        "rwas/left.csv",
        "rwas/right.csv",
        declared.RWAS_BACKGROUND,
        declared.RWAS_ANSWERS,
        unit="respondent",
    ),
    PublicData(
        "DBLP",
        "dblp/left.csv",
        "dblp/right.csv.gz",
        declared.FLAGS,
        declared.FLAGS,
        unit="author",
    ),
    PublicData(
        "DIABETES",
        "diabetes130/left.csv.gz",
        "diabetes130/right.csv.gz",
        declared.ADMISSIONS,
        declared.STAYS,
        unit="patient",
        large=True,
    ),
    PublicData(
        "MIMIC",
        "mimic3_demo/left.csv",
        "mimic3_demo/right.csv",
        declared.FLAGS,
        declared.LAB_ITEMS,
        unit="admission",
    ),
)


def default_folder() -> Path:
    """Return where the data sets are looked for: `../shared/data`, seen from the project's root.

    >>> default_folder().parts[-2:]
    ('shared', 'data')
    """
    return Path(__file__).resolve().parents[4] / "shared" / "data"


def find(name: str) -> PublicData:
    """Return a data set by its name, in any case.

    >>> find("npas-2016").unit
    'respondent'
    >>> find("nonsense")
    Traceback (most recent call last):
    redveil.errors.InputError: no such data set; use one of MAMMAL, CMS2, CMS-ALL, NPAS, \
NPAS-2016, RWAS, DBLP, DIABETES, MIMIC
    """
    for one in DATA_SETS:
        if one.name == name.upper():
            return one
    known = ", ".join(one.name for one in DATA_SETS)
    raise InputError(f"no such data set; use one of {known}")


def present(folder: Path, names: Iterable[str] = ()) -> tuple[list[PublicData], list[str]]:
    """Return the data sets that are there, and a line about each that is not.

    >>> present(Path("nowhere"), ["MAMMAL"])
    ([], ['MAMMAL: skipped, no mammals/left.csv and mammals/right.csv in nowhere'])
    """
    chosen = [find(name) for name in names] or list(DATA_SETS)
    missing = [
        f"{one.name}: skipped, no {one.left} and {one.right} in {folder}"
        for one in chosen
        if not one.is_in(folder)
    ]
    return [one for one in chosen if one.is_in(folder)], missing


def header(path: Path) -> tuple[str, ...]:
    """Return a CSV file's column names, the key left out; only the first line is read.

    >>> header(Path("nowhere.csv"))
    Traceback (most recent call last):
    redveil.errors.InputError: nowhere.csv: cannot be read; check the path
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            names = next(csv.reader([file.readline()]), [])
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: cannot be read; check the path") from None
    return tuple(name for name in names if name != KEY)
