"""TO BE REPLACED ON MERGE: the announced public names `truth` and `diagnose`, in terms of today's.

Branch `cli` brings the real ones. Delete this file and point `redveil._HOMES` at those.
"""

from __future__ import annotations

from fractions import Fraction

from redveil.algorithms.parameters import Parameters
from redveil.data.dataset import Dataset
from redveil.diagnosis import Diagnosis
from redveil.diagnosis import diagnose as _diagnose
from redveil.owner import evaluate
from redveil.privacy.loss import parse_loss
from redveil.report.result import Result


def truth(result: Result, dataset: Dataset) -> Result:
    """Return the result with true values added to every redescription. NOT private.

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> dataset = redveil.load(*clinic_frames(500), clinic_schema())
    >>> redveil.truth(redveil.mine(dataset, epsilon=1), dataset).document.warning[:11]
    'NOT PRIVATE'
    """
    return evaluate(result, dataset)


def diagnose(
    dataset: Dataset,
    epsilon: str | float | Fraction,
    *,
    algorithm: str = "tree-pair",
    profile: str = "hardened",
    depth: int | None = None,
    walk_steps: int | None = None,
    pair_score: str | None = None,
    walks: int = 4,
) -> Diagnosis:
    """Run parallel walks and compare their scores. NOT private.

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> dataset = redveil.load(*clinic_frames(300), clinic_schema())
    >>> redveil.diagnose(dataset, 1, depth=1, walk_steps=400).traces.shape
    (4, 400)
    """
    given = {"algorithm": algorithm, "profile": profile, "depth": depth}
    parameters = Parameters.of(**given, steps=walk_steps, pair_score=pair_score)
    return _diagnose(dataset, parameters, parse_loss(epsilon, None).price, walks)
