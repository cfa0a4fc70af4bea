"""What to run for each experiment: quickly, on few runs, or in full, on as many as the paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from redveil_research.experiments import datasets
from redveil_research.experiments.series import Task
from redveil_research.experiments.subjects import public_subject


@dataclass(frozen=True, slots=True)
class Variant:
    """One algorithm with its parameters.

    name: as in the paper's table of significant redescriptions
    code: as in its Mann–Whitney tables and box plots
    base: its name among the runs, without a depth

    >>> VARIANTS[0].at(3)
    'alt-mcmc@3'
    >>> TWIN.at(3)
    'twin'
    """

    name: str
    code: str
    base: str
    stable: bool = False

    def at(self, depth: int) -> str:
        """Return its name among the runs, with trees of a depth; ours sets its own."""
        return self.base if self is TWIN else f"{self.base}@{depth}"


VARIANTS: Final = (
    Variant("AltMCMC", "S", "alt-mcmc"),
    Variant("AltExpM", "EM", "alt-expm"),
    Variant("AltMCMC S", "Ss", "alt-mcmc~stable", stable=True),
    Variant("AltExpM S", "EMs", "alt-expm~stable", stable=True),
    Variant("MCMCTreePair", "M", "tree-pair"),
    Variant("MCMCTreePair b", "Mb", "tree-pair~0.5"),
)
TWIN: Final = Variant("twin", "twin", "twin")
ALL: Final = (*VARIANTS, TWIN)
# The three of the paper's scatter plots and correlations.
PLAIN: Final = tuple(one for one in VARIANTS if one.code in ("S", "EM", "M"))
# Those of the paper's runtimes, which do not depend on the share of ε for the trees, and ours.
TIMED: Final = tuple(one for one in ALL if one.code != "Mb")
BASELINES: Final = {"split-trees": "SplitT", "layered-trees": "LayeredT"}


def by_name(name: str) -> Variant:
    """Return a variant by its name in the paper.

    >>> by_name("AltExpM S").code
    'EMs'
    """
    return next(one for one in ALL if one.name == name)


# The depth that the authors' program builds, and the one that their text names.
BUILT, WRITTEN = 3, 4
DEPTHS: Final = (BUILT, WRITTEN)
EPSILONS: Final = ("1", "0.1", "0.01")
# A species of the north: a Boolean target, such as the paper's scores of about 0.67 suggest.
WALKED: Final = ("MAMMAL", "Arctic Fox")
SWEPT_EPSILONS: Final = ("0.03", "0.1", "0.3", "1", "3", "10")
SWEPT_DEPTHS: Final = (1, 2, 3, 4)
SWEPT_SHARES: Final = ("0.1", "0.3", "0.5", "0.7", "0.9")


# A data set, an algorithm, an ε, and how many runs.
Wanted: TypeAlias = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class Agenda:
    """Which data, and how many runs.

    subjects: the names of the data sets; with a slash, so many segments
    runs:     of each variant by ε, at the depth that is built and at the one that is written
    swept:    runs of each point of a sweep
    timed:    runs of each point of the runtimes, on these subjects

    >>> QUICK.subjects
    ('MAMMAL', 'NPAS-2016', 'CMS2')
    """

    subjects: tuple[str, ...]
    runs: Mapping[int, Mapping[str, int]]
    large_runs: Mapping[int, Mapping[str, int]]
    swept: int
    timed: int
    timed_on: tuple[str, ...]

    def tasks(
        self, names: Iterable[str], data: Path, journal: Path, *, same_code: bool = True
    ) -> list[Task]:
        """Return the tasks of some groups of runs, each once; those on the smallest data first.

        same_code: do runs again that another version of the source has done
        """
        groups = {
            "variants": self._variants,
            "walks": self._walks,
            "baselines": self._baselines,
            "runtime": self._runtime,
            "epsilons": self._epsilons,
            "depths": self._depths,
            "shares": self._shares,
        }
        found = [
            Task(
                public_subject(name, data, journal.parent),
                algorithm,
                (epsilon,),
                runs,
                None,
                journal,
                same_code=same_code,
                # The paper has none, and simulating them takes longer than mining.
                intervals=False,
            )
            for group in dict.fromkeys(names)
            for name, algorithm, epsilon, runs in groups[group]()
        ]
        return sorted(dict.fromkeys(found), key=lambda task: task.subject.large)

    def _variants(self) -> Iterator[Wanted]:
        for name in self.subjects:
            counts = self.large_runs if datasets.find(name.partition("/")[0]).large else self.runs
            for depth, by_epsilon in counts.items():
                for variant in ALL if depth == BUILT else VARIANTS:
                    for epsilon, runs in by_epsilon.items():
                        yield (name, variant.at(depth), epsilon, runs)

    def _walks(self) -> Iterator[Wanted]:
        name, target = WALKED
        if name in self.subjects:
            for epsilon in ("10", "0.0001"):
                yield (name, f"walk:{target}@{BUILT}", epsilon, 1)

    def _baselines(self) -> Iterator[Wanted]:
        for name in self.subjects:
            for method in BASELINES:
                yield (name, method, "", 1)

    def _runtime(self) -> Iterator[Wanted]:
        for name in self.timed_on:
            for variant in TIMED:
                yield (name, variant.at(BUILT), "1", self.timed)

    def _epsilons(self) -> Iterator[Wanted]:
        for epsilon in SWEPT_EPSILONS:
            for variant in (TWIN, *PLAIN):
                yield ("MAMMAL", variant.at(BUILT), epsilon, self.swept)

    def _depths(self) -> Iterator[Wanted]:
        for depth in SWEPT_DEPTHS:
            yield ("MAMMAL", f"{TWIN.base}@{depth}", "1", self.swept)
            for variant in PLAIN:
                yield ("MAMMAL", variant.at(depth), "1", self.swept)

    def _shares(self) -> Iterator[Wanted]:
        for share in SWEPT_SHARES:
            yield ("MAMMAL", f"tree-pair~{share}@{BUILT}", "1", self.swept)
            yield ("MAMMAL", f"twin~{share}", "1", self.swept)


def missing(agenda: Agenda, names: Sequence[str], data: Path) -> list[str]:
    """Return the data sets that an agenda needs and a folder lacks.

    >>> missing(QUICK, ["walks"], Path("nowhere"))[0]
    'MAMMAL'
    """
    every = agenda.subjects + (agenda.timed_on if "runtime" in names else ())
    needed = [name.partition("/")[0] for name in every]
    return [n for n in dict.fromkeys(needed) if datasets.find(n).missing(data)]


QUICK: Final = Agenda(
    ("MAMMAL", "NPAS-2016", "CMS2"),
    {BUILT: {"1": 10, "0.1": 10, "0.01": 20}, WRITTEN: {"1": 3, "0.1": 3, "0.01": 5}},
    {BUILT: {"1": 3, "0.1": 3, "0.01": 5}},
    swept=3,
    timed=3,
    timed_on=("CMS2/1", "CMS2/4", "CMS2/16"),
)
FULL: Final = Agenda(
    ("MAMMAL", "NPAS-2016", "CMS2", "CMS-ALL/1", "CMS-ALL/4", "CMS-ALL/8", "CMS-ALL/16"),
    {depth: {"1": 10, "0.1": 10, "0.01": 100} for depth in DEPTHS},
    {depth: {"1": 10, "0.1": 10, "0.01": 100} for depth in DEPTHS},
    swept=10,
    timed=10,
    timed_on=tuple(f"CMS-ALL/{count}" for count in (1, 2, 4, 8, 16)),
)
