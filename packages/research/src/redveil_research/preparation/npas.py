"""NPAS: answers to the Nerdy Personality Attributes Scale, with the respondents' background.

Codes are those of openpsychometrics.org's code book. 0 means "not answered"; respondents who left a
question out are left out, as in the paper. Rare categories are merged by the rules below, which
were declared without looking at the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from redveil import InputError
from redveil_research.experiments.datasets import (
    Field,
    flag,
    heavy_tailed,
    number,
    one_of,
    scale,
)
from redveil_research.preparation.prepared import (
    Prepared,
    Row,
    find_file,
    header_of,
    rows,
    schema_of,
)

_YES_NO: Final = ("yes", "no")
_OTHER: Final = "other"
# What the codes 1, 2, 3 … mean; equal words are merged.
CODES: Final[Mapping[str, tuple[str, ...]]] = {
    "urban": ("rural", "suburban", "urban"),
    "gender": ("male", "female", _OTHER),
    "engnat": _YES_NO,
    "hand": ("right", "left", "both"),
    "religion": (
        *("agnostic", "atheist", "other faith", "catholic", "other faith", "protestant"),
        *("other Christian", "other faith", "other faith", "other faith", "other faith"),
        "other faith",
    ),
    "orientation": ("heterosexual", "bisexual", "homosexual", "asexual", _OTHER),
    "race": ("asian", "arab", "black", "white or indigenous", _OTHER),
    "voted": _YES_NO,
    "married": ("never", "currently", "previously"),
    "ASD": _YES_NO,
}
# Free text: these words are kept, everything else is "other".
WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "country": ("US", "GB", "CA", "AU", "DE"),
    "major": ("psychology", "computer science", "english", "biology", "business", "engineering"),
}
FLAGS: Final = tuple(
    f"race_{name}"
    for name in ("arab", "asian", "black", "white", "hispanic", "nativeam", "nativeau", "other")
)
NUMBERS: Final[tuple[Field, ...]] = (
    scale(1, 4)("education"),
    number(13, 100, range(15, 85, 5))("age"),
    number(0, 4000, (320, 600, 768, 1024, 1280, 1366, 1440, 1600, 1920))("screenw"),
    number(0, 4000, (480, 600, 720, 768, 800, 900, 1024, 1080, 1200))("screenh"),
    number(1, 20, (1, 2, 3, 4, 5, 6, 8, 10))("familysize"),
)
QUESTIONS: Final = tuple(f"Q{place}" for place in range(1, 27))
TRAITS: Final = tuple(f"TIPI{place}" for place in range(1, 11))
VOCABULARY: Final = tuple(f"VCL{place}" for place in range(1, 17))
TIMES: Final = ("introelapse", "testelapse", "surveyelapse")


def prepare_npas(raw: Path) -> Prepared:
    """Return the background as the left view and the answers as the right one."""
    path = find_file(raw, r"(NPAS-)?data\.csv", "data.csv")
    there = set(header_of(path)[0])

    def given(names: tuple[str, ...]) -> list[str]:
        # Releases differ in what they publish.
        return [name for name in names if name.upper() in there]

    coded, words, flags = given(tuple(CODES)), given(tuple(WORDS)), given(FLAGS)
    numbers = [one for one in NUMBERS if one["name"].upper() in there]
    left = [
        *numbers,
        *(one_of(*dict.fromkeys(CODES[name]))(name) for name in coded),
        *(one_of(*WORDS[name], _OTHER)(name) for name in words),
        *map(flag(), flags),
    ]
    ratings = [*QUESTIONS, *TRAITS, *given(("nerdy",))]
    known, times = given(VOCABULARY), given(TIMES)
    right = [
        *(scale(1, 5 if name in QUESTIONS else 7)(name) for name in ratings),
        *map(flag(), known),
        *(heavy_tailed(1, 10_000)(name) for name in times),
    ]
    answered = [*(one["name"] for one in numbers), *coded, *ratings]
    lefts: list[list[str]] = []
    rights: list[list[str]] = []
    dropped = 0
    columns = [*answered, *words, *flags, *known, *times]
    for position, row in enumerate(rows(path, columns), start=1):
        values = dict(zip(columns, row.fields, strict=True))
        if any(not row.number(place) for place in range(len(answered))):
            dropped += 1
            continue
        key = f"r{position:05d}"
        lefts.append(
            [
                key,
                *(values[one["name"]].strip() for one in numbers),
                *(_word(row, name, values[name]) for name in coded),
                *(_kept(name, values[name]) for name in words),
                *(_bit(values[name]) for name in flags),
            ]
        )
        rights.append(
            [
                key,
                *(values[name].strip() for name in ratings),
                *(_bit(values[name]) for name in known),
                *(values[name].strip() for name in times),
            ]
        )
    notes = (f"{dropped} respondents left a question out, and are left out",) if dropped else ()
    return Prepared(schema_of("npas", "respondent", left, right), lefts, rights, notes)


def _word(row: Row, name: str, text: str) -> str:
    meanings = CODES[name]
    code = text.strip()
    if not code.isdecimal() or not 1 <= int(code) <= len(meanings):
        raise InputError(
            f"{row.place}: {name} has no code {code[:20]!r}; compare the file with its code book"
        )
    return meanings[int(code) - 1]


def _kept(name: str, text: str) -> str:
    word = text.strip().casefold()
    return next((known for known in WORDS[name] if known.casefold() == word), _OTHER)


def _bit(text: str) -> str:
    return "1" if text.strip() == "1" else "0"
