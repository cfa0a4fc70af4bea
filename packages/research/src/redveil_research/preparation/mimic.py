"""MIMIC-III: diagnoses and lab events of patients.

A diagnosis is a three-digit ICD-9 category (four characters for E codes). A lab item is −1 if it
was not performed, 1 if it was flagged as abnormal at least once, otherwise 0. Both lists come from
the publisher's dictionaries, not from the patients.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from redveil import InputError
from redveil_research.experiments.datasets import flag, number, titled
from redveil_research.preparation.prepared import Prepared, Row, find_file, rows, schema_of


def prepare_mimic(raw: Path) -> Prepared:
    """Return diagnoses as the left view and lab items as the right one."""
    files = {
        name: find_file(raw, rf"{name}\.csv", f"{name}.csv")
        for name in ("D_ICD_DIAGNOSES", "D_LABITEMS", "DIAGNOSES_ICD", "LABEVENTS")
    }
    categories = _categories(files["D_ICD_DIAGNOSES"])
    items = {row.fields[0]: row.fields[1] for row in rows(files["D_LABITEMS"], ["ITEMID", "LABEL"])}
    diagnoses, unknown = _marked(files["DIAGNOSES_ICD"], "ICD9_CODE", list(categories))
    labs, strange = _marked(files["LABEVENTS"], "ITEMID", list(items), absent=-1)
    notes = []
    if unknown:
        notes.append(f"{unknown} diagnoses without a code of the dictionary are left out")
    if strange:
        notes.append(f"{strange} lab events without an item of the dictionary are left out")
    left = [titled(flag()(f"icd9_{code}"), title) for code, title in categories.items()]
    right = [titled(number(-1, 1, (-1, 0))(f"lab_{item}"), label) for item, label in items.items()]
    return Prepared(
        schema_of("mimic", "patient", left, right), _texts(diagnoses), _texts(labs), tuple(notes)
    )


def category(code: str) -> str:
    """Return the category of an ICD-9 code, which MIMIC writes without its point.

    >>> category("25000"), category("E8859"), category("V4581")
    ('250', 'E885', 'V45')
    """
    return code.strip()[: 4 if code.strip().startswith("E") else 3]


def _categories(path: Path) -> dict[str, str]:
    """Return the categories of the dictionary in order; those that are codes have a title."""
    codes = {
        row.fields[0].strip(): row.fields[1] for row in rows(path, ["ICD9_CODE", "LONG_TITLE"])
    }
    titles = {one: codes.get(one, "").strip() for one in sorted(set(map(category, codes)))}
    if not titles:
        raise InputError(f"{path}: no codes; download the file again")
    return titles


def _marked(
    path: Path, column: str, known: list[str], absent: int = 0
) -> tuple[dict[str, NDArray[np.int8]], int]:
    """Return each patient's values of the known codes, and how many rows have none of them."""
    places = {code: place for place, code in enumerate(known)}
    is_lab = absent == -1
    wanted = ["SUBJECT_ID", column, *(["FLAG"] if is_lab else [])]
    patients: dict[str, NDArray[np.int8]] = {}
    unknown = 0
    for row in rows(path, wanted):
        patient = _patient(row)
        values = patients.get(patient)
        if values is None:
            values = patients[patient] = np.full(len(known), absent, dtype=np.int8)
        code = row.fields[1].strip()
        place = places.get(code if is_lab else category(code))
        if place is None:
            unknown += 1
            continue
        abnormal = not is_lab or row.fields[2].strip().lower() == "abnormal"
        values[place] = max(values[place], int(abnormal))
    return patients, unknown


def _patient(row: Row) -> str:
    patient = row.fields[0].strip()
    if not patient:
        raise InputError(f"{row.place}: no SUBJECT_ID; download the file again")
    return patient


def _texts(patients: dict[str, NDArray[np.int8]]) -> Iterator[list[str]]:
    for patient, values in patients.items():
        yield [patient, *map(str, values.tolist())]
