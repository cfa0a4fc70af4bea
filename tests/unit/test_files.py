from __future__ import annotations

import errno
import fcntl
import os
import resource
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pyarrow import csv

import redveil
from redveil.base.file_kind import FileKind, file_kind
from redveil.base.files import must_be_writable, replace_text, write_bytes, write_text
from redveil.data.draft import draft
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.errors import InputError
from redveil.report.result import Result
from support.devices import device
from support.other_user import START, must_become_somebody, unobserved
from support.results import document, redescription

JSON = FileKind.JSON
RESULT = Result(document(redescription()))
AS_ROOT = os.geteuid() == 0


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_text_is_written_as_utf_8_without_changing_line_ends(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "ε\r\n∧\n", JSON)
    assert (tmp_path / "a.txt").read_bytes() == "ε\r\n∧\n".encode()
    assert names(tmp_path) == ["a.txt"]


def test_an_earlier_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    write_bytes(tmp_path / "a.json", b"{long and old}", JSON)
    write_bytes(tmp_path / "a.json", b"{}", JSON)
    assert (tmp_path / "a.json").read_bytes() == b"{}"
    assert names(tmp_path) == ["a.json"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_when_writing_is_stopped_the_old_file_stays_and_nothing_else(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    write_bytes(path, b"{old}", JSON)

    def stop(_: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(error):
        write_bytes(path, b"{new}", JSON)
    assert path.read_bytes() == b"{old}"
    assert names(tmp_path) == ["a.json"]


@pytest.fixture
def small_disk() -> Iterator[None]:
    """Let no file of this process be larger than 64 KB, as on a disk that is almost full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("small_disk")
def test_a_full_disk_is_reported_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_bytes(path, b"{old}", JSON)
    long = "{" + " " * 2**17
    for attempt in (write_text, replace_text):
        with pytest.raises(InputError, match=r"a\.json: cannot be written; .* limit"):
            attempt(path, long, JSON)
        assert path.read_bytes() == b"{old}"
        assert names(tmp_path) == ["a.json"]


@pytest.mark.usefixtures("small_disk")
def test_a_disk_without_room_is_found_out_beforehand(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.json: cannot be written; .* limit"):
        must_be_writable(tmp_path / "a.json", JSON)
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["a.txt", "a.txt/", "."])
def test_a_folder_in_the_files_place_is_left_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    for refuse in (partial(write_bytes, content=b"{}"), must_be_writable):
        with pytest.raises(InputError, match="cannot be written; it is a folder"):
            refuse(tmp_path / name, kind=JSON)
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nowhere/a.json", "check that its folder exists"),
        ("file/a.json", "check that its folder exists"),
        ("a" * 300, "the name is too long; shorten it"),
        ("circle", "its symbolic links lead in a circle"),
        ("nu\0l", "check the disk and the path"),
        ("socket", "nothing can be written there"),
    ],
)
def test_a_path_that_cannot_be_written_is_named_with_the_reason(
    name: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket"))
    before = names(tmp_path)
    with pytest.raises(InputError, match=reason) as caught:
        write_bytes(tmp_path / name, b"{}", JSON)
    assert "\n" not in str(caught.value)
    if name != "socket":
        with pytest.raises(InputError, match=reason):
            must_be_writable(tmp_path / name, JSON)
    assert names(tmp_path) == before


def test_a_name_as_long_as_names_can_be_is_written(tmp_path: Path) -> None:
    write_bytes(tmp_path / ("a" * 255), b"{}", JSON)
    assert (tmp_path / ("a" * 255)).read_bytes() == b"{}"
    # The earlier file could not be kept, so it is not replaced.
    for attempt in (must_be_writable, partial(replace_text, text="{new}")):
        with pytest.raises(InputError, match="name is too long"):
            attempt(tmp_path / ("a" * 255), kind=JSON)
    assert (tmp_path / ("a" * 255)).read_bytes() == b"{}"
    assert names(tmp_path) == ["a" * 255]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_files_have_the_permissions_that_the_process_asks_for(
    mask: int, mode: int, tmp_path: Path
) -> None:
    before = os.umask(mask)
    try:
        write_bytes(tmp_path / "a.txt", b"new", JSON)
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_that_is_replaced_keeps_its_permissions(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    path.chmod(mode)
    kept = replace_text(path, "{new}", JSON)
    assert kept is not None
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, kept)] == [mode, mode]


def test_earlier_files_are_kept_and_numbered(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    kept = [replace_text(path, f"{{{number}}}", JSON) for number in range(4)]
    assert kept == [None, *(tmp_path / f"a.json.{number}" for number in (1, 2, 3))]
    texts = {one.name: one.read_text() for one in tmp_path.iterdir()}
    assert texts == {"a.json": "{3}", "a.json.1": "{0}", "a.json.2": "{1}", "a.json.3": "{2}"}


def test_earlier_files_are_kept_where_there_are_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise PermissionError

    path = tmp_path / "a.json"
    for text in ("{1}", "{2}", "{3}"):
        monkeypatch.setattr(os, "link", fail)
        replace_text(path, text, JSON)
    texts = {one.name: one.read_text() for one in tmp_path.iterdir()}
    assert texts == {"a.json": "{3}", "a.json.1": "{1}", "a.json.2": "{2}"}


def test_a_file_that_cannot_be_replaced_is_not_kept_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> None:
        raise OSError(errno.EBUSY, "")  # such as a file that is mounted into a container

    path = tmp_path / "a.json"
    path.write_text("{old}")
    monkeypatch.setattr(os, "replace", busy)
    with pytest.raises(InputError, match=r"a\.json: cannot be written; check the disk"):
        replace_text(path, "{new}", JSON)
    assert path.read_text() == "{old}"
    assert names(tmp_path) == ["a.json"]


def test_a_file_is_kept_if_the_program_is_stopped_after_it_was_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def stopped(old: str, new: str) -> None:
        replace(old, new)
        raise KeyboardInterrupt

    path = tmp_path / "a.json"
    path.write_text("{old}")
    monkeypatch.setattr(os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        replace_text(path, "{new}", JSON)
    texts = {one.name: one.read_text() for one in tmp_path.iterdir()}
    assert texts == {"a.json": "{new}", "a.json.1": "{old}"}


def test_what_another_process_wrote_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    fsync = os.fsync

    def overtaken(handle: int) -> None:
        fsync(handle)
        path.write_text("{other}")

    monkeypatch.setattr(os, "fsync", overtaken)
    assert replace_text(path, "{new}", JSON) == tmp_path / "a.json.1"
    texts = {one.name: one.read_text() for one in tmp_path.iterdir()}
    assert texts == {"a.json": "{new}", "a.json.1": "{other}"}


@pytest.mark.parametrize("there", [False, True])
def test_processes_that_write_the_same_file_lose_nothing(there: object, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from redveil.base.files import replace_text, FileKind\n"
        "sys.stdin.read()\n"
        "for number in range(100):\n"
        "    replace_text(Path('a.json'), f'{{{sys.argv[1]} {number}}}', FileKind.JSON)\n"
    )
    if there:
        (tmp_path / "a.json").write_text("{old}")
    running = [
        subprocess.Popen([sys.executable, "-c", program, name], cwd=tmp_path, stdin=subprocess.PIPE)
        for name in "xy"
    ]
    for one in running:
        assert one.stdin is not None
        one.stdin.close()
    assert [one.wait(60) for one in running] == [0, 0]
    texts = {one.read_text() for one in tmp_path.iterdir()}
    written = {f"{{{name} {number}}}" for name in "xy" for number in range(100)}
    assert texts == written | ({"{old}"} if there else set())


def test_a_folder_that_somebody_holds_is_written_to_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redveil.base.files._TRIES", 2)
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for text in ("{1}", "{2}"):
            replace_text(tmp_path / "a.json", text, JSON)
    finally:
        os.close(handle)
    assert names(tmp_path) == ["a.json", "a.json.1"]


# Devices, pipes, links


def test_a_device_is_written_to_and_stays_a_device(tmp_path: Path) -> None:
    null = device("null", tmp_path)
    before = null.stat()
    assert stat.S_ISCHR(before.st_mode)
    must_be_writable(null, JSON)
    write_bytes(null, b"{}", JSON)
    assert replace_text(null, "{}", JSON) is None
    RESULT.save(null)
    after = null.stat()
    assert (after.st_ino, after.st_rdev) == (before.st_ino, before.st_rdev)
    assert set(names(tmp_path)) <= {null.name}


def test_a_full_device_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="full: cannot be written; the disk is full"):
        write_bytes(device("full", tmp_path), b"{}", JSON)


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = b"{}" * 2**17  # more than a pipe holds
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    must_be_writable(pipe, JSON)
    reader.start()
    write_bytes(pipe, content, JSON)
    reader.join()
    assert read == [content]
    assert pipe.is_fifo()
    assert names(tmp_path) == ["pipe"]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_followed(there: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a case
    real = tmp_path / "real"
    real.mkdir()
    if there:
        (real / "a.json").write_text("{old}")
    (tmp_path / "second").symlink_to("real/a.json")
    (tmp_path / "first").symlink_to(tmp_path / "second")
    must_be_writable(tmp_path / "first", JSON)
    kept = replace_text(tmp_path / "first", "{new}", JSON)
    assert (real / "a.json").read_text() == "{new}"
    assert kept == (real / "a.json.1" if there else None)
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert names(tmp_path) == ["first", "real", "second"]


def test_a_descriptor_is_written_to_and_what_is_in_its_file_stays(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path; from redveil.base.files import write_bytes, FileKind; "
        "print('before', flush=True); write_bytes(Path('/dev/stdout'), b'{}', FileKind.JSON)"
    )
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", program], stdout=out, check=True, timeout=60)
    assert (tmp_path / "out").read_text() == "before\n{}"


@pytest.mark.skipif(not AS_ROOT, reason="only root can make a disk")
def test_a_disk_is_not_written_to(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    os.mknod(disk, stat.S_IFBLK | 0o600, os.makedev(7, 255))
    for refuse in (partial(write_bytes, content=b"{}"), must_be_writable):
        with pytest.raises(InputError, match="it is a disk, so name another file"):
            refuse(disk, kind=JSON)
    assert disk.is_block_device()


# What may be replaced


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("id,age\n1,41\n", FileKind.CSV),
        ("remember the milk", FileKind.TEXT),
        ('{"resources": []}', FileKind.SCHEMA),
        ("rid\tquery_LHS\tquery_RHS\n", FileKind.QUERIES),
        ('{"name": "my web project"}', FileKind.JSON),
        ("[1, 2, 3]", FileKind.JSON),
        ("{damaged", FileKind.JSON),
    ],
)
def test_a_result_replaces_results_only(content: str, kind: FileKind, tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        RESULT.save(path)
    assert str(caught.value) == f"{path}: not replaced, because it is {kind}; name another file"
    assert path.read_text() == content
    assert names(tmp_path) == ["mine"]


@pytest.mark.parametrize(
    "content", ["", " \n", '{"format": "redveil-result", "dam', RESULT.to_json()]
)
def test_what_a_result_may_replace(content: str, tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_text(content)
    RESULT.save(path)
    assert Result.read(path) == RESULT


def test_schemas_and_drafts_replace_schemas_only(tmp_path: Path) -> None:
    frames = clinic_frames(50)
    RESULT.save(tmp_path / "result.json")
    csv.write_csv(frames[0], tmp_path / "patients.csv")
    (tmp_path / "package.json").write_text('{"name": "my web project"}')
    for path in (tmp_path / name for name in ("result.json", "patients.csv", "package.json")):
        before = path.read_bytes()
        for thing in (clinic_schema(), draft(*frames)):
            with pytest.raises(InputError, match="not replaced, because it is a"):
                thing.save(path)
        assert path.read_bytes() == before
    # Drafts have ids of their own, so each replaces itself only.
    for thing in (clinic_schema(), draft(*frames)):
        path = tmp_path / f"{type(thing).__name__}.json"
        path.write_text('{"resources": []}', encoding="utf-8")
        thing.save(path)
        thing.save(path)
        with pytest.raises(InputError, match="not replaced, because its id would be lost"):
            draft(*frames).save(path)
    assert redveil.Schema.read(tmp_path / "Schema.json") == clinic_schema()


@pytest.mark.parametrize("how", ["itself", "symbolic link", "hard link", "another spelling"])
def test_an_input_is_not_written_over(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "in.json"
    source.write_text("{}")
    (tmp_path / "soft").symlink_to("in.json")
    (tmp_path / "hard").hardlink_to(source)
    output = {
        "itself": source,
        "symbolic link": Path("soft"),
        "hard link": Path("hard"),
        "another spelling": Path("../") / tmp_path.name / "in.json",
    }[how]
    with pytest.raises(InputError, match="this command needs that file itself"):
        must_be_writable(output, JSON, [tmp_path / "other.json", source])
    must_be_writable(Path("new.json"), JSON, [source])


def test_nor_is_an_input_that_is_still_to_be_made(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "ledger")
    with pytest.raises(InputError, match="this command needs that file itself"):
        must_be_writable(tmp_path / "link", JSON, [tmp_path / "ledger"])


# Permissions


def as_nobody(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program without root's rights, if that is what we have."""
    if AS_ROOT:
        must_become_somebody()
    return subprocess.run(
        [*(START if AS_ROOT else []), sys.executable, "-c", program],
        cwd=folder,
        env=unobserved(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("call", ["write_bytes(path, b'{}', kind)", "must_be_writable(path, kind)"])
@pytest.mark.parametrize(
    ("folder_mode", "file_mode"), [(0o555, None), (0o555, 0o666), (0o777, 0o444)]
)
def test_without_permission_nothing_is_written(
    folder_mode: int, file_mode: int | None, call: str
) -> None:
    # Not in tmp_path, whose folders only their owner may enter.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "a.json"
        if file_mode is not None:
            file.write_text("{old}")
            file.chmod(file_mode)
        folder.chmod(folder_mode)
        done = as_nobody(
            "from pathlib import Path\n"
            "from redveil.errors import InputError\n"
            "from redveil.base.files import *\n"
            "path, kind = Path('a.json'), FileKind.JSON\n"
            f"try: {call}\n"
            "except InputError as error: print(error)",
            folder,
        )
        found = sorted(one.name for one in folder.iterdir())
        content = file.read_text() if file.exists() else None
        folder.chmod(0o700)
    assert done.stdout == "a.json: cannot be written; permission denied; name another file\n"
    assert (found, content) == (([], None) if file_mode is None else (["a.json"], "{old}"))


@pytest.mark.skipif(not AS_ROOT, reason="only root can mount")
def test_a_read_only_file_system_is_reported(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path; from redveil.base.files import *; "
        "must_be_writable(Path('disk/a.json'), FileKind.JSON)"
    )
    (tmp_path / "disk").mkdir()
    script = f'mount -t tmpfs -o ro none disk || exit 77; "{sys.executable}" -c "{program}"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if done.returncode != 1:
        pytest.skip("mounting is not allowed here")
    assert done.stderr.endswith(
        "disk/a.json: cannot be written; the file system is read-only; name another file\n"
    )


def test_the_kind_of_a_large_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "datapackage.json"
    path.write_text('{"description": "' + "x" * 200_000 + '", "resources": []}')
    assert file_kind(path) is FileKind.SCHEMA
    path.write_text("\ufeff" + RESULT.to_json(), encoding="utf-8")
    assert file_kind(path) is FileKind.RESULT


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_a_descriptor_is_written_to_as_it_was_opened(name: str, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b"{}\n")
    with file.open("rb") as reading:
        path = Path(name.format(reading.fileno()))
        for refuse in (partial(write_bytes, content=b"[]"), must_be_writable):
            with pytest.raises(InputError, match="it is not open for writing"):
                refuse(path, kind=JSON)
    assert file.read_bytes() == b"{}\n"
    with file.open("wb") as writing:
        path = Path(name.format(writing.fileno()))
        must_be_writable(path, JSON)
        write_bytes(path, b"[1]", JSON)
        write_bytes(path, b"[2]", JSON)
    assert file.read_bytes() == b"[1][2]"


def test_a_file_that_changed_since_it_was_read_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("{}")
    with pytest.raises(InputError, match="changed since it was read; run the command again"):
        replace_text(file, "[]", JSON, read=b"[1]")
    assert file.read_text() == "{}"
    assert names(tmp_path) == ["a.json"]
    replace_text(file, "[]", JSON, read=b"{}")
    assert file.read_text() == "[]"


@pytest.mark.parametrize(
    ("kind", "ours", "foreign"),
    [
        pytest.param(FileKind.FIGURE, b"%PDF-1.7 redveil figure", b"%PDF-1.7 my thesis", id="pdf"),
        pytest.param(
            FileKind.QUERIES,
            b"rid\tquery_LHS\tquery_RHS\n",
            b'import csv\nprint(row["query_LHS"])\n',
            id="queries",
        ),
        pytest.param(
            FileKind.LIST,
            b"\\begin{tabular}{llr}\n\\toprule\nleft & right & Jaccard",
            b"\\begin{tabular}{ll}\nmine & own",
            id="latex",
        ),
    ],
)
def test_only_what_another_of_our_programs_wrote_is_replaced(
    kind: FileKind, ours: bytes, foreign: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(foreign)
    with pytest.raises(InputError, match="not replaced, because it is a"):
        write_bytes(path, b"new", kind)
    assert path.read_bytes() == foreign
    path.write_bytes(ours)
    write_bytes(path, b"new", kind)
    assert path.read_bytes() == b"new"
