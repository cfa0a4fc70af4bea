"""Public data sets, each with a schema declared from public knowledge of its domain.

Every experiment takes the folder that contains them as an argument. Schemas come from common
knowledge and from code books; only the headers of the files are read for them. Numbers
outside their bounds are compared as they are.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import redveil
from redveil_research.experiments import declarations as declared
from redveil_research.experiments.declarations import KEY, Rules, fields
from redveil_research.experiments.titles import (
    BENEFICIARY_TITLES,
    CLAIM_TITLES,
    CLIMATE_TITLES,
    NPAS_TITLES,
    PATIENT_TITLES,
    RESPONDENT_TITLES,
    RWAS_TITLES,
    SPECIES_TITLES,
    STAY_TITLES,
    Titles,
    labels,
    title,
)

NOT_LABELLED: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PublicData:
    """The two files of one data set, and the rules that declare their columns.

    `large` data sets get the parameters that the paper uses for its larger ones. `prune` is the
    paper's pruning threshold for the data set, if it has one: the authors read it off a plot.
    `labels` is the provider's file of what columns mean, if there is one. `views` are what readers
    call the two tables.

    >>> find("MAMMAL").left, find("MAMMAL").prune
    ('mammals/left.csv', 500)
    """

    name: str
    left: str
    right: str
    left_rules: Rules
    right_rules: Rules
    unit: str
    large: bool = False
    prune: int | None = None
    left_titles: Titles = ()
    right_titles: Titles = ()
    labels: str = ""
    views: tuple[str, str] = ("left", "right")

    def files(self, folder: Path) -> tuple[Path, Path]:
        """Return the paths of the two files in a folder."""
        return folder / self.left, folder / self.right

    def missing(self, folder: Path) -> list[str]:
        """Return the files that the folder lacks.

        >>> find("NPAS").missing(Path("nowhere"))
        ['npas/left.csv', 'npas/right.csv']
        """
        return [name for name in (self.left, self.right) if not (folder / name).is_file()]

    def schema(self, folder: Path) -> redveil.Schema:
        """Declare the columns in the two headers. No row is read."""
        known = labels(folder / self.labels) if self.labels else {}
        left, right = (header(path) for path in self.files(folder))
        return self.schema_of(left, right, known)

    def schema_of(
        self, left: Sequence[str], right: Sequence[str], known: Mapping[str, str] = NOT_LABELLED
    ) -> redveil.Schema:
        """Declare columns by their names.

        known: what the provider calls them, where it does

        >>> find("MAMMAL").schema_of(["Moose"], ["t7+"]).right.attributes[0].title
        'mean daily highs in July (°C)'
        """
        sides = (
            (left, self.left_rules, self.left_titles),
            (right, self.right_rules, self.right_titles),
        )
        views = [
            [
                declared.titled(one, known.get(one["name"]) or title(one["name"], titles))
                for one in fields(names, rules)
            ]
            for names, rules, titles in sides
        ]
        return declared.schema(self.name, self.unit, views[0], views[1], self.views)

    def load(self, folder: Path, schema: redveil.Schema | None = None) -> redveil.Dataset:
        """Load the two files with the declared schema, or with another.

        >>> find("MIMIC").load(Path("nowhere"))
        Traceback (most recent call last):
        redveil.errors.InputError: MIMIC: nowhere has no mimic3_demo/left.csv and no \
mimic3_demo/right.csv; name the folder that contains them
        """
        missing = self.missing(folder)
        if missing:
            lacking = " and ".join(f"no {name}" for name in missing)
            remedy = "name the folder that contains them"
            raise redveil.InputError(f"{self.name}: {folder} has {lacking}; {remedy}")
        return redveil.load(*self.files(folder), schema or self.schema(folder))


DATA_SETS = (
    PublicData(
        "MAMMAL",
        "mammals/left.csv",
        "mammals/right.csv",
        declared.SPECIES,
        declared.CLIMATE,
        unit="grid cell",
        prune=500,
        left_titles=SPECIES_TITLES,
        right_titles=CLIMATE_TITLES,
        views=("species", "climate"),
    ),
    PublicData(
        "CMS2",
        "cms_desynpuf/sample02_left.csv",
        "cms_desynpuf/sample02_right.csv",
        declared.BENEFICIARIES,
        declared.CLAIMS,
        unit="beneficiary",
        large=True,
        prune=1000,
        left_titles=BENEFICIARY_TITLES,
        right_titles=CLAIM_TITLES,
        labels="cms_desynpuf/dx_labels.csv",
        views=("health", "costs"),
    ),
    PublicData(
        "CMS-ALL",
        "cms_desynpuf/all18_left.csv.gz",
        "cms_desynpuf/all18_right.csv.gz",
        declared.BENEFICIARIES,
        declared.CLAIMS,
        unit="beneficiary",
        large=True,
        prune=1000,
        left_titles=BENEFICIARY_TITLES,
        right_titles=CLAIM_TITLES,
        labels="cms_desynpuf/dx_labels.csv",
        views=("health", "costs"),
    ),
    PublicData(
        "NPAS",
        "npas/left.csv",
        "npas/right.csv",
        declared.BACKGROUND,
        declared.NPAS_ANSWERS,
        unit="respondent",
        prune=200,
        left_titles=RESPONDENT_TITLES,
        right_titles=NPAS_TITLES,
        views=("background", "answers"),
    ),
    PublicData(
        "NPAS-2016",
        "npas/feb2016_left.csv",
        "npas/feb2016_right.csv",
        declared.BACKGROUND,
        declared.NPAS_ANSWERS,
        unit="respondent",
        prune=200,
        left_titles=RESPONDENT_TITLES,
        right_titles=NPAS_TITLES,
        views=("background", "answers"),
    ),
    PublicData(
        "RWAS",
        "rwas/left.csv",
        "rwas/right.csv",
        declared.RWAS_BACKGROUND,
        declared.RWAS_ANSWERS,
        unit="respondent",
        left_titles=RESPONDENT_TITLES,
        right_titles=RWAS_TITLES,
        views=("background", "answers"),
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
        left_titles=PATIENT_TITLES,
        right_titles=STAY_TITLES,
        views=("patients", "stays"),
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


def find(name: str) -> PublicData:
    """Return a data set by its name, in upper or lower case, with a hyphen or a space.

    >>> find("npas 2016").unit
    'respondent'
    >>> find("nonsense")
    Traceback (most recent call last):
    redveil.errors.InputError: no such data set; use one of MAMMAL, CMS2, CMS-ALL, NPAS, \
NPAS-2016, RWAS, DBLP, DIABETES, MIMIC
    """
    for one in DATA_SETS:
        if one.name == name.upper().replace(" ", "-"):
            return one
    known = ", ".join(one.name for one in DATA_SETS)
    raise redveil.InputError(f"no such data set; use one of {known}")


def present(folder: Path, names: Iterable[str] = ()) -> tuple[list[PublicData], list[str]]:
    """Return the data sets in a folder, and a message for each that is not there.

    >>> present(Path("nowhere"), ["MAMMAL"])
    ([], ['MAMMAL: skipped; nowhere has no mammals/left.csv and no mammals/right.csv'])
    """
    found, skipped = [], []
    for one in [find(name) for name in names] or DATA_SETS:
        missing = " and ".join(f"no {name}" for name in one.missing(folder))
        if missing:
            skipped.append(f"{one.name}: skipped; {folder} has {missing}")
        else:
            found.append(one)
    return found, skipped


def header(path: Path) -> tuple[str, ...]:
    """Return a CSV file's column names without the key. Only the first line is read.

    >>> header(Path("nowhere.csv"))
    Traceback (most recent call last):
    redveil.errors.InputError: nowhere.csv: cannot be read; check the path
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            names = next(csv.reader([file.readline()]), [])
    except (OSError, UnicodeDecodeError):
        raise redveil.InputError(f"{path}: cannot be read; check the path") from None
    return tuple(name for name in names if name != KEY)
