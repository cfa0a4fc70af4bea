"""A real Dask cluster of processes: the same releases as on one machine, whoever dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import dask
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import redveil
from redveil.budget.ledger import Ledger
from redveil.counting.cluster import ClusterCounts, quietly_on_worker
from redveil.counting.cluster_loading import load_on_cluster, places_of
from redveil.counting.prepared import splits_of
from redveil.counting.questions import Size
from redveil.errors import ClusterError, InputError, LoadError, SealedError
from redveil.losses.loss import Loss
from redveil.sealed import open_for_owner
from redveil.seam.walks import walked, walking
from support.wall import RUNS, leaks_in_error, marked, marked_frames, marked_schema, mine_marked

distributed = pytest.importorskip("distributed")

ENTITIES = 1500
EXACT = [name for name in RUNS if name not in ("walk", "tree-pair")]
# Without these, Dask waits half a minute for a scheduler that is gone.
QUICK = {"distributed.comm.timeouts.connect": "3s", "distributed.comm.retry.count": 0}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Both tables, in several row groups and as text."""
    folder = tmp_path_factory.mktemp("cluster")
    left, right = marked_frames(ENTITIES)
    left.write_parquet(folder / "left.parquet", row_group_size=400)
    right.sample(fraction=1.0, shuffle=True, seed=1).write_csv(folder / "right.csv")
    return folder / "left.parquet", folder / "right.csv"


def cluster_of(workers: int) -> Any:
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
    )


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster_of(2) as cluster, distributed.Client(cluster, set_as_default=False) as one:
        yield one


@pytest.fixture(scope="module")
def rows(client: Any, files: tuple[Path, Path]) -> redveil.Dataset:
    return redveil.load(*files, marked_schema(), cluster=client)


def released(name: str, rows: redveil.Dataset) -> list[Any]:
    """Return what a run releases, with the noise of a stream that repeats."""
    tables = mine_marked(name, rows=rows).run.tables
    return [(one.left, one.right, one.cells.tolist()) for one in tables]


@pytest.mark.parametrize("name", EXACT)
def test_the_same_stream_releases_the_same_tables(name: str, rows: redveil.Dataset) -> None:
    assert released(name, rows) == released(name, marked(ENTITIES))


def test_the_load_report_is_that_of_one_machine(rows: redveil.Dataset) -> None:
    assert redveil.load_report(rows) == redveil.load_report(marked(ENTITIES))
    assert repr(rows.report) == "<sealed>"


def test_folders_are_loaded_as_on_one_machine(client: Any, tmp_path: Path) -> None:
    """Files of one table may have keys of several types, or no byte at all."""
    left, right = marked_frames(ENTITIES)
    folders = tmp_path / "left", tmp_path / "right"
    for folder, frame in zip(folders, (left, right), strict=True):
        table = frame.to_arrow().drop_columns("person")
        table = table.append_column("person", pa.array(range(ENTITIES)))
        folder.mkdir()
        texts = table.drop_columns("person")
        texts = texts.append_column("person", table.column("person").cast(pa.string()))
        parquet.write_table(table.slice(0, 30), folder / "1.parquet")
        parquet.write_table(texts.slice(30), folder / "2.parquet")
        csv.write_csv(table.slice(0, 30), folder / "1.csv")
        csv.write_csv(table.slice(30), folder / "2.csv")
        (folder / "3.csv").touch()
    schema, expected = marked_schema(), redveil.load_report(marked(ENTITIES))
    for kind in ("parquet", "csv"):
        one, other = (f"{kind}:{folder}" for folder in folders)
        assert redveil.load_report(redveil.load(one, other, schema, cluster=client)) == expected
    with pytest.raises(InputError, match="table visits: a cluster reads files"):
        redveil.load("clinic.sqlite#visits", folders[1], schema, cluster=client)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [4, 8])
def test_more_workers_release_the_same(workers: int, files: tuple[Path, Path]) -> None:
    with cluster_of(workers) as cluster, distributed.Client(cluster, set_as_default=False) as one:
        elsewhere = redveil.load(*files, marked_schema(), cluster=one)
        for name in ("twin, tuned", "alt-mcmc"):
            assert released(name, elsewhere) == released(name, marked(ENTITIES))


def kill(pids: Sequence[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def test_a_worker_that_is_killed_changes_nothing(files: tuple[Path, Path]) -> None:
    expected = {name: released(name, marked(ENTITIES)) for name in ("twin", "confirm")}
    with cluster_of(2) as cluster, distributed.Client(cluster, set_as_default=False) as one:
        elsewhere = redveil.load(*files, marked_schema(), cluster=one)
        # After loading: its partitions have to be read again.
        kill([next(iter(cluster.workers.values())).pid])
        assert released("twin", elsewhere) == expected["twin"]
        # And while counts are made for a run.
        assert elsewhere.elsewhere is not None
        splits = splits_of(elsewhere.schema)
        counts = elsewhere.elsewhere.counts(elsewhere.schema, splits)
        kill([list(cluster.workers.values())[-1].pid])
        assert open_for_owner(counts.ask(Size())).tolist() == [ENTITIES]
        assert released("confirm", elsewhere) == expected["confirm"]


def dying(trigger: Path) -> Any:
    """Return a plugin that kills the worker that begins a task of the phase named in a file."""

    plugin: Any = distributed.WorkerPlugin

    class Dying(plugin):  # type: ignore[misc]  # local, so that it is pickled as it is
        name = "dying"

        def transition(self, key: str, _start: str, finish: str, **_more: Any) -> None:
            if finish != "executing" or not trigger.exists():
                return
            phase = trigger.read_text()
            if phase and str(key).startswith(f"{phase}-"):
                # One worker alone can take the file away.
                with suppress(FileNotFoundError):
                    trigger.unlink()
                    os.kill(os.getpid(), signal.SIGKILL)

    return Dying()


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[tuple[Any, Path]]:
    """A cluster, and the file in which to name the phase that kills a worker."""
    trigger = tmp_path / "phase"
    with cluster_of(2) as cluster, distributed.Client(cluster, set_as_default=False) as one:
        one.register_plugin(dying(trigger))
        yield one, trigger


#: Reading, dividing and joining rows; packing them; what is lacked anywhere; making splits.
PHASES = ("_divided", "_of", "_met", "_packed", "_lacks", "_prepared")


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_a_worker_that_is_killed_in_any_phase_changes_nothing(
    phase: str, doomed: tuple[Any, Path], files: tuple[Path, Path]
) -> None:
    one, trigger = doomed
    trigger.write_text(phase)
    elsewhere = redveil.load(*files, marked_schema(), cluster=one)
    assert redveil.load_report(elsewhere) == redveil.load_report(marked(ENTITIES))
    assert released("twin", elsewhere) == released("twin", marked(ENTITIES))
    # Somebody did die.
    assert not trigger.exists()


#: Runs that ask all kinds of questions together.
ASKING = {"twin, tuned": {"Size", "Ends", "Joint"}, "alt-expm": {"Bins"}, "alt-mcmc": {"Quadrants"}}


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["_answer", "_sum"])
@pytest.mark.parametrize("name", ASKING)
def test_a_worker_that_is_killed_at_any_question_changes_nothing(
    name: str,
    phase: str,
    doomed: tuple[Any, Path],
    files: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, trigger = doomed
    elsewhere = redveil.load(*files, marked_schema(), cluster=one)
    died_at: set[str] = set()
    ask = ClusterCounts.ask

    def asked(self: ClusterCounts, question: Any) -> Any:
        kind = type(question).__name__
        if kind in ASKING[name] - died_at:
            one.wait_for_workers(2, timeout=120)
            died_at.add(kind)
            trigger.write_text(phase)
            found = ask(self, question)
            assert not trigger.exists()
            return found
        return ask(self, question)

    monkeypatch.setattr(ClusterCounts, "ask", asked)
    assert released(name, elsewhere) == released(name, marked(ENTITIES))
    assert died_at == ASKING[name]


SCHEDULER = """
import sys, distributed, dask
dask.config.set({"distributed.scheduler.work-stealing": False})
cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False,
                                   dashboard_address=":0", protocol="tcp")
print(cluster.scheduler_address, flush=True)
sys.stdin.read()
"""


# Before the first question of a run, or before the third.
@pytest.mark.parametrize("answered", [0, 2])
def test_a_scheduler_that_is_killed_costs_the_charge_and_says_so(
    answered: int, files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dask

    ask, asked = ClusterCounts.ask, []

    command = [sys.executable, "-c", SCHEDULER]
    with (
        dask.config.set(QUICK),
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        schema = replace(marked_schema(), id="8a53b0c4-2f0e-4d57-8f19-5a4c36d1a9d1")
        elsewhere = redveil.load(*files, schema, cluster=address)

        def killing(self: ClusterCounts, question: Any) -> Any:
            asked.append(question)
            if len(asked) == answered + 1:
                kill([process.pid])
                process.wait()
            return ask(self, question)

        monkeypatch.setattr(ClusterCounts, "ask", killing)
        ledger = tmp_path / "ledger.json"
        with pytest.raises(ClusterError, match="what was charged stays charged") as caught:
            redveil.mine(elsewhere, Fraction(3, 2), depth=2, trials=1, ledger=ledger)
    assert len(asked) == answered + 1
    assert Ledger(ledger).spent(schema.name, schema.id) == Loss(Fraction(3, 2))
    assert leaks_in_error(caught.value) == []


def test_a_cluster_with_certificates_is_reached_by_tls_alone(files: tuple[Path, Path]) -> None:
    import dask

    security = distributed.Security.temporary()
    ours = {
        "distributed.comm.tls.ca-file": security.tls_ca_file,
        "distributed.comm.tls.client.cert": security.tls_client_cert,
        "distributed.comm.tls.client.key": security.tls_client_key,
    }
    with (
        dask.config.set(QUICK),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0",
            protocol="tls", security=security,
        ) as cluster,
    ):  # fmt: skip
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        with dask.config.set(ours):
            with distributed.Client(address, set_as_default=False) as one:
                elsewhere = redveil.load(*files, marked_schema(), cluster=one)
                assert released("twin", elsewhere) == released("twin", marked(ENTITIES))
            assert redveil.load(*files, marked_schema(), cluster=address).elsewhere is not None
            # It would try to connect again as long as this process lives.
            for own in [one for one in distributed.Client._instances if one.status == "running"]:
                if own.scheduler and own.scheduler.address == address:
                    own.close()
        for other in (address, address.replace("tls://", "tcp://")):
            with pytest.raises(ClusterError, match="cannot be reached"):
                redveil.load(*files, marked_schema(), cluster=other)


def test_walks_are_refused_before_anything_is_charged(
    rows: redveil.Dataset, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger.json"
    with pytest.raises(InputError, match="tree-pair with a Markov chain needs the rows on this"):
        redveil.mine(rows, 1, algorithm="tree-pair", ledger=ledger)
    with pytest.raises(InputError, match="published profile needs all values"):
        redveil.mine(rows, 1, profile="published", ledger=ledger)
    assert not ledger.exists()
    result = redveil.mine(rows, 5, depth=1, trials=1)
    tree_pair, price = walking("tree-pair", 1, walks=2)
    for owners in (
        lambda: redveil.truth(result, rows),
        lambda: walked(rows, tree_pair, price, 2),
    ):
        with pytest.raises(InputError, match="needs the rows on this machine"):
            owners()


def test_what_cannot_be_loaded_is_refused(
    client: Any, files: tuple[Path, Path], tmp_path: Path
) -> None:
    schema = marked_schema()
    with pytest.raises(InputError, match="left table: a cluster reads files"):
        redveil.load(*marked_frames(10), schema, cluster=client)
    with pytest.raises(InputError, match="strict needs the rows on this machine"):
        redveil.load(*files, schema, cluster=client, strict=True)
    with pytest.raises(InputError, match="must be a Dask client"):
        redveil.load(*files, schema, cluster=7)  # type: ignore[arg-type]
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(ClusterError, match="cannot be reached"),
    ):
        redveil.load(*files, schema, cluster="tcp://127.0.0.1:9")
    (tmp_path / "left.csv").write_text("person,age,ward,gout\n1,2\n")
    with pytest.raises(LoadError, match=r"line 2: 2 fields, but the header has 4") as caught:
        redveil.load(tmp_path / "left.csv", files[1], schema, cluster=client)
    assert caught.value.__context__ is None


def test_few_keys_in_common_stop_the_owner_here_too(client: Any, tmp_path: Path) -> None:
    left, right = marked_frames(50)
    left.write_csv(tmp_path / "left.csv")
    strangers = right.with_columns(right.to_series(0).cast(str) + "x")
    strangers.write_csv(tmp_path / "right.csv")
    files = tmp_path / "left.csv", tmp_path / "right.csv"
    with pytest.raises(LoadError, match="no common entity; check that columns"):
        redveil.load(*files, marked_schema(), cluster=client)
    rows = redveil.load(*files, marked_schema(), few_in_common=True, cluster=client)
    assert redveil.load_report(rows).joined == 0


def test_an_error_on_a_worker_stays_there(client: Any) -> None:
    class Broken:
        def of(self, block: object) -> object:
            raise ValueError(repr(block))

        def add(self, one: object, _other: object) -> object:
            return one

    partition = client.submit(quietly_on_worker, dict, ())
    with pytest.raises(SealedError, match="its reason stays sealed") as caught:
        ClusterCounts(client, [partition, partition]).ask(Broken())
    assert leaks_in_error(caught.value) == []


def test_an_answer_that_was_lost_on_its_way_is_asked_for_again(
    client: Any, rows: redveil.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rows.elsewhere is not None
    counts = rows.elsewhere.counts(rows.schema, splits_of(rows.schema))
    submit = distributed.Client.submit
    lost: list[None] = []

    def losing(self: Any, *given: Any, **named: Any) -> Any:
        if len(lost) < losses:
            lost.append(None)
            raise OSError("lost")
        return submit(self, *given, **named)

    monkeypatch.setattr(distributed.Client, "submit", losing)
    losses = 2
    assert open_for_owner(counts.ask(Size())).tolist() == [ENTITIES]
    # But not for ever.
    losses = 5
    with pytest.raises(ClusterError, match="are gone"):
        counts.ask(Size())
    assert len(lost) == losses
    assert client.status == "running"


def test_partitions_do_not_depend_on_their_number(client: Any, files: tuple[Path, Path]) -> None:
    elsewhere = load_on_cluster(client, *files, marked_schema(), partitions=7)
    assert released("twin", elsewhere) == released("twin", marked(ENTITIES))


def test_a_key_goes_to_one_place_and_places_are_shared() -> None:
    texts = [str(number) for number in range(4000)]
    found = places_of(pa.array(texts, pa.large_string()), 8).tolist()
    again = places_of(pa.array(texts, pa.large_string()).slice(100), 8).tolist()
    assert found[100:] == again
    sizes = [found.count(place) for place in range(8)]
    assert min(sizes) > 350
