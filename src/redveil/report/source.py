"""What a result does not promise, for the certificates of runs that take their queries from it."""

from __future__ import annotations

from redveil.losses.promise import AS_PUBLISHED, NOT_MET, Source
from redveil.report.document import CertificatePart, ResultDocument


def source_of(document: ResultDocument) -> Source:
    """Return a result as the source of queries.

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> clinic = redveil.load(*clinic_frames(500), clinic_schema())
    >>> result = redveil.mine(clinic, epsilon=1)
    >>> source_of(result.document).guarantee
    'exact'
    >>> source_of(redveil.truth(result, clinic).document).unmet
    ('it has true values, or is marked as not private',)
    """
    promise = document.certificate
    unmet = _unmet(promise)
    if document.warning is not None or any(one.true for one in document.redescriptions):
        unmet.append("it has true values, or is marked as not private")
    datasets = dict.fromkeys((*promise.earlier, promise.schema_id))
    return Source(promise.guarantee, tuple(dict.fromkeys(unmet)), tuple(datasets))


def _unmet(promise: CertificatePart) -> list[str]:
    """Return why a certificate's promise is not met, without remedies: it is too late for them."""
    # What that result inherited itself is said once, however long the chain is.
    said = [
        one.removeprefix(f"{NOT_MET}: ").rpartition("promise is not met: ")[2]
        for one in promise.unmet
    ]
    unmet = [one.partition("; ")[0] for one in said]
    # A certificate that somebody shortened is not a better one.
    if not unmet and promise.guarantee == AS_PUBLISHED:
        unmet.append("its guarantee is as published")
    if not unmet and promise.schema_status == "draft":
        unmet.append("its schema is a draft")
    return unmet
