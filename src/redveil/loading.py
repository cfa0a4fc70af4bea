"""The public function load: on this machine, or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from redveil.errors import InputError
from redveil.schema import Schema

if TYPE_CHECKING:
    from distributed import Client

    from redveil.data.dataset import Dataset
    from redveil.data.loading import Progress


def load(
    left: object,
    right: object,
    schema: Schema | str | Path,
    *,
    strict: bool = False,
    few_in_common: bool = False,
    packed: bool = False,
    cluster: Client | str | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Load two tables that describe the same entities, and seal them.

    left, right: paths (`.csv`, `.tsv`, `.xlsx`, `.parquet`, text files also with `.gz`;
                 folders of CSV or Parquet files, or patterns such as `visits/*.csv`); tables or
                 queries of databases (`clinic.sqlite#visits`, `postgresql://host/clinic#visits`);
                 or tables: pandas, Polars, PyArrow, or anything with the Arrow PyCapsule interface
    schema:      a Schema, or the path of a `datapackage.json`
    strict:      raise a LoadError for what is otherwise left out, unreadable or outside its bounds
    few_in_common: go on although under half of the smaller table's keys are in the other, or no
                 entity is left. Otherwise that is a LoadError: the key columns are probably not the
                 same, and a run would be paid for and find nothing
    packed:      keep the bins between cut points instead of numbers, one byte each, and one bit for
                 each Boolean value: for large data. Queries that are given can then compare numbers
                 with cut points only
    cluster:     a Dask client, or the address of a scheduler, whose workers read the files and keep
                 the rows, packed. Needs `redveil[cluster]`
    progress:    called with the stage and the completed share of the work

    The schema is applied to each entity alone. Values outside their bounds are compared as they
    are. Values that cannot be read and undeclared categories become missing. Entities that lack a
    required value, have several rows in a view or are in one view only are left out. The sealed
    load report counts all of this for the data owner (`redveil.load_report`). Only what cannot be
    parsed as a table with the declared columns raises a LoadError, and tables with few keys in
    common.

    >>> import pyarrow as pa
    >>> from redveil.schema import Attribute, Kind, View
    >>> clinic = Schema(
    ...     "clinic",
    ...     View("diagnoses", "id", (Attribute("asthma", Kind.BOOLEAN),)),
    ...     View("laboratory", "id", (Attribute("crp", Kind.NUMERIC, maximum=500, cuts=(5.0,)),)),
    ... )
    >>> load(pa.table({"id": [1, 2], "asthma": [True, False]}),
    ...      pa.table({"id": [2, 1], "crp": [0.3, 17.0]}), clinic)
    <Dataset clinic: 1 left and 1 right attributes>
    """
    from redveil.data import loading
    from redveil.data.home import at_home

    if cluster is None:
        return loading.load(
            left,
            right,
            schema,
            strict=strict,
            few_in_common=few_in_common,
            packed=packed,
            progress=progress,
        )
    if strict:
        raise InputError("strict needs the rows on this machine; load the tables without cluster")
    checked = schema if isinstance(schema, Schema) else Schema.read(schema)
    checked = at_home(checked, left, right)
    tell = progress or (lambda _stage, _share: None)
    tell("loading on the cluster", 0.0)
    dataset = _on_cluster(cluster, left, right, checked, few_in_common)
    tell("done", 1.0)
    return dataset


def _on_cluster(
    cluster: Client | str,
    left: object,
    right: object,
    schema: Schema,
    few_in_common: bool,  # noqa: FBT001
) -> Dataset:
    try:
        import distributed
    except ImportError:
        raise InputError("a cluster needs Dask; install redveil[cluster]") from None
    from redveil.counting.cluster_loading import load_on_cluster
    from redveil.errors import ClusterError

    client: object = cluster
    if isinstance(cluster, str):
        try:
            client = distributed.Client(cluster, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError, TimeoutError, TypeError, AssertionError):
            # A TypeError: tls:// without certificates. An AssertionError: Dask's own thread did not
            # start within ten seconds, which happens on a busy machine.
            client = None
        if client is None:
            raise ClusterError(
                "the cluster cannot be reached; check its address, and for tls:// the certificates "
                "in Dask's configuration"
            )
    if not isinstance(client, distributed.Client):
        raise InputError("cluster must be a Dask client or the address of a scheduler")
    return load_on_cluster(client, left, right, schema, few_in_common=few_in_common)
