from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from redveil.cli import app as commands
from redveil.data.synthetic import clinic_schema
from redveil.errors import InputError, OverBudgetError, SealedError
from redveil.report.result import Result
from support.command_line import Clinic, Command
from support.console import REDVEIL, is_one_line, redveil
from support.other_user import START, must_become_somebody, unobserved
from support.results import document, redescription


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["mine", "--nonsense"], "--nonsense"),
        (["mine", "a.csv", "b.csv"], "--epsilon"),
        (["mine"], "mine --help"),
        (["nonsense"], "nonsense"),
        (["--nonsense"], "--nonsense"),
        (["plan", "--epsilon", "1", "--depth", "deep"], "--depth"),
        (["show", "a.json", "--format", "pdf"], "--format"),
        (["schema", "nonsense"], "nonsense"),
        (["demo", "--patients", "1"], "--patients"),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_mistake(
    arguments: list[str], hint: str, command: Command
) -> None:
    refused = command(*arguments)
    assert (refused.code, refused.out) == (2, "")
    assert is_one_line(refused.err)
    assert hint in refused.err
    assert "--help`" in refused.err


@pytest.mark.parametrize("arguments", [[], ["schema"]])
def test_no_command_shows_the_help(arguments: list[str], command: Command) -> None:
    shown = command(*arguments)
    assert "Usage: " in shown.out + shown.err
    assert "internal error" not in shown.err


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["mine", "--help"], ["schema", "-h"]])
def test_help_is_printed(arguments: list[str], command: Command) -> None:
    shown = command(*arguments)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith("Usage: ")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (
            [],
            "schema plan mine describe refine confirm budget ledger truth demo serve server show "
            "report ask compare verify remote "
            # Of redveil-research.
            "baseline diagnose audit plot latex clired prepare experiment",
        ),
        (["schema"], "draft check accept edit"),
    ],
)
def test_all_commands_are_listed(arguments: list[str], names: str, command: Command) -> None:
    listed = command(*arguments, "--help").out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed if line[2:3].strip()] == names.split()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--steps", "5"], "--steps does nothing for twin; it is for alt-mcmc or tree-pair"),
        (["--tree-share", "2"], "--tree-share must lie between 0 and 1, both excluded"),
        (["--depth", "9"], "--depth must lie between 1 and 6"),
        (["--epsilon", "0"], "--epsilon must be a number between"),
        (["--delta", "2"], "--delta must be 0 or lie between"),
        (["--max-disjuncts", "99"], "--max-disjuncts must lie between 1 and 10"),
        (["--prune", "much"], "--prune must be a number of entities, or auto"),
        (
            ["--algorithm", "alt-mcmc", "--depth", "3", "--sampler", "exact"],
            "alt-mcmc draws trees exactly up to depth 2; use --sampler walk",
        ),
        (
            ["--algorithm", "alt-expm", "--start", "random", "--root-score", "agreement"],
            "--root-score does nothing without a private start",
        ),
        (
            ["--algorithm", "alt-expm", "--alternations", "0", "--depth", "2"],
            "without alternations there is one split on each side; use --depth 1",
        ),
    ],
)
def test_errors_name_the_option_that_was_typed(
    options: list[str], message: str, command: Command
) -> None:
    refused = command("mine", "left.csv", "right.csv", "--epsilon", "1", *options)
    assert refused.code == 2
    assert refused.err.startswith(f"redveil: {message}")


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_options_of_mine_are_grouped(
    columns: int, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = command("mine", "--help").out.splitlines()
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings == [
        *("Arguments:", "Privacy:", "What to find:", "Files:", "Options:"),
        *("Steering, free of charge:", "Expert options:"),
    ]
    everyday = lines[: lines.index("Steering, free of charge:")]
    assert len([line for line in everyday if line.startswith("  -")]) <= 12
    # An option with its values stays in one piece.
    long = [line for line in lines if len(line) > columns]
    assert all(re.fullmatch(r"  --[a-z-]+ <[a-z|-]+>", line) for line in long)


@pytest.mark.parametrize("command_name", ["mine", "show", "plan", "demo"])
def test_what_an_option_does_is_below_it_on_a_narrow_terminal(
    command_name: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = command(command_name, "--help").out.splitlines()
    place = lines.index("  -h, --help")
    assert lines[place + 1] == "      Show this message and exit."
    assert max(len(line) for line in lines if "|" not in line) <= 40


@pytest.mark.parametrize("words", [["mine"], ["schema"], ["schema", "draft"], ["plan"], []])
def test_help_is_in_characters_that_the_terminal_has(words: list[str]) -> None:
    shown = redveil(*words, "--help", PYTHONIOENCODING="ascii")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.isascii()
    assert shown.stdout.startswith("Usage: redveil")
    assert ("epsilon" in shown.stdout) == (words not in (["schema"], ["schema", "draft"]))


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("mine --algorithm alt-", "alt-expm alt-mcmc"),
        ("mine --profile ", "hardened published"),
        ("mine --counts ", "cells least-squares two-pass"),
        ("mine --sampler ", "exact walk"),
        ("mine --start p", "private"),
        ("mine --root-score ", "correspondence leverage agreement"),
        ("mine --pair-score ", "association purity"),
        ("mine --prune ", "auto"),
        ("mine --al", "--algorithm --alternations"),
        ("plan --algorithm t", "twin tree-pair"),
        ("show --format ", "table csv excel html json"),
        ("sch", "schema"),
        ("schema ", "draft check accept edit"),
        # Nothing, which makes the shells offer files.
        ("mine ", ""),
        ("mine left.csv right.csv --output ", ""),
        ("schema check ", ""),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_values(
    shell: str, line: str, offered: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_REDVEIL_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", f"redveil {line}")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("COMP_WORDS", f"redveil {line}")
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ") + 1))
    out = command().out
    if shell == "bash":
        assert out.split() == offered.split()
    elif offered:
        for word in offered.split():
            assert re.search(rf"(?<![a-z-]){word}(?![a-z-])", out)
    else:
        assert "_files" in out if shell == "zsh" else not out.strip()


def test_a_real_shell_completes() -> None:
    script = (
        f'eval "$(SHELL=/bin/bash {REDVEIL} --show-completion)"; '
        "COMP_WORDS=(redveil mine --algorithm alt-); COMP_CWORD=3; "
        f'_redveil_completion {REDVEIL}; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "alt-expm alt-mcmc\n"


def test_inputs_that_are_not_there_are_named(clinic_files: Clinic, command: Command) -> None:
    gone = clinic_files.folder / "gone.csv"
    for left, right in ((gone, clinic_files.right), (clinic_files.left, gone)):
        refused = command("mine", left, right, "--epsilon", "1", "-o", clinic_files.result)
        assert refused.code == 2
        assert is_one_line(refused.err)
        assert "gone.csv" in refused.err


def test_a_missing_schema_comes_with_two_remedies(clinic_files: Clinic, command: Command) -> None:
    clinic_files.schema.unlink()
    refused = command(*clinic_files.mine)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "--schema" in refused.err
    assert "redveil schema draft" in refused.err


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (InputError("left.csv:\nno rows"), 2, "redveil: left.csv: no rows\n"),
        (OverBudgetError("spent"), 3, "redveil: spent\n"),
        (SealedError("sealed"), 1, "redveil: sealed\n"),
        (
            KeyboardInterrupt(),
            130,
            "redveil: stopped; no partial files were left, and any charge stands\n",
        ),
        (
            EOFError(),
            130,
            "redveil: stopped; no partial files were left, and any charge stands\n",
        ),
        pytest.param(
            RuntimeError("row 7 holds asthma"),
            1,
            "redveil: internal error (RuntimeError in redveil.algorithms.twin, line LINE); "
            "please report it, and how to reproduce it\n",
            id="internal",
        ),
    ],
)
def test_every_error_becomes_one_line_and_a_code(
    error: BaseException, code: int, text: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("redveil.algorithms.twin.Twin.trial_steps", fail)
    failed = command("plan", "--epsilon", "1", "--entities", "100")
    assert failed.code == code
    # The line changes; what matters is that one is named.
    assert re.sub(r"line \d+", "line LINE", failed.err.lstrip("\n")) == text


def test_an_error_cannot_steer_the_terminal(tmp_path: Path, command: Command) -> None:
    """A message names the place, and the place may be a key that somebody else made up."""
    path = tmp_path / "result.json"
    plain = json.loads(Result(document(redescription())).to_json())
    path.write_text(json.dumps({**plain, "\x1b]0;title\x07\x1b[2J": 1}), encoding="utf-8")
    refused = command("show", path)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "title" in refused.err
    assert refused.err.strip("\n").isprintable()


def test_a_reader_that_went_away_is_no_error(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise BrokenPipeError

    class Closable:
        """Standard error, which `main` closes; the real one belongs to pytest."""

        closed = False

        def close(self) -> None:
            self.closed = True

    monkeypatch.setattr(commands, "app", fail)
    closable = Closable()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", closable)
        assert command("plan", "--epsilon", "1").code == 0
    assert closable.closed


def test_a_stop_while_the_commands_are_being_imported_is_one_line(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interruption:
        """Ctrl-C at an unlucky moment."""

        def find_spec(
            self, name: str, _path: object = None, _target: object = None
        ) -> ModuleSpec | None:
            if name == "redveil.cli.app":
                raise KeyboardInterrupt
            return None

    monkeypatch.delitem(sys.modules, "redveil.cli.app")
    monkeypatch.setattr(sys, "meta_path", [Interruption(), *sys.meta_path])
    stopped = command("--help")
    assert (stopped.code, stopped.out) == (130, "")
    assert is_one_line(stopped.err)


def test_the_version_is_printed(command: Command) -> None:
    shown = command("--version")
    assert shown.code == 0
    assert shown.out.startswith("redveil ")


def in_shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=unobserved(),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    "words",
    [
        "mine {0}/diagnoses.csv {0}/laboratory.csv -e 1",
        "mine {0}/diagnoses.csv {0}/laboratory.csv -e 1 -o {0}/r.json --ledger x.sqlite",
        "schema draft {0}/diagnoses.csv {0}/laboratory.csv",
        "schema draft {0}/diagnoses.csv {0}/laboratory.csv -o -",
    ],
)
def test_a_working_folder_that_is_gone_is_one_line(words: str, clinic_files: Clinic) -> None:
    folder = clinic_files.folder
    command = f"'{REDVEIL}' {words.format(folder)}"
    done = in_shell(f"mkdir gone && cd gone && rmdir ../gone && {command}", folder)
    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert "the working folder is gone" in done.stderr
    assert clinic_files.names() == ["datapackage.json", "diagnoses.csv", "laboratory.csv"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("mine closed/diagnoses.csv r.csv -e 1", "closed/datapackage.json: cannot be read"),
        ("schema draft l.csv r.csv -o closed/x.json", "closed/x.json: cannot be written"),
        ("schema draft l.csv r.csv -o q.json", "datapackage.json: cannot be read"),
        ("budget own.json", "datapackage.ledger.sqlite: cannot be opened"),
        ("budget own.json --ledger closed/l.sqlite", "closed/l.sqlite: cannot be opened"),
    ],
)
def test_a_folder_that_cannot_be_searched_is_one_line(words: str, said: str) -> None:
    """The default schema is a link into a folder that others may not enter."""
    if os.geteuid() == 0:
        must_become_somebody()
    # Not in tmp_path, whose folders only their owner may enter.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "closed").mkdir()
        clinic_schema().save(folder / "closed" / "datapackage.json")
        clinic_schema().save(folder / "own.json")
        (folder / "datapackage.json").symlink_to("closed/datapackage.json")
        for table in ("l.csv", "r.csv"):
            (folder / table).write_text("id,x\n" + "".join(f"{n},{n % 7}\n" for n in range(30)))
        (folder / "closed").chmod(0)
        start = " ".join(START) if os.geteuid() == 0 else ""
        done = in_shell(f"{start} '{REDVEIL}' {words}", folder)
        (folder / "closed").chmod(0o700)
    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert said in done.stderr


def test_a_name_that_is_too_long_is_one_line(clinic_files: Clinic, command: Command) -> None:
    long = clinic_files.folder / (300 * "x")
    refused = command("schema", "draft", clinic_files.left, clinic_files.right, "-o", long)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert "the name is too long; shorten it" in refused.err


@pytest.mark.parametrize("words", ["budget", "mine diagnoses.csv laboratory.csv -e 1 -s"])
def test_a_schema_from_a_pipe_has_no_ledger_beside_it(words: str, clinic_files: Clinic) -> None:
    clinic_files.set_budget(Fraction(3))
    line = f"'{REDVEIL}' {words} <(cat datapackage.json)"
    refused = in_shell(line, clinic_files.folder)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert is_one_line(refused.stderr)
    assert "no ledger is beside it; name one with --ledger" in refused.stderr
    assert in_shell(f"{line} --ledger my.sqlite", clinic_files.folder).returncode == 0
