"""The command line. `main` is the console script; errors are one line, never a traceback."""

from __future__ import annotations

import gc
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Never

# How many objects are made between two searches for cycles, of which a command makes few. Python's
# 700 would have it search hundreds of times while modules are imported.
_OBJECTS_BETWEEN_SEARCHES: Final = 20_000


def main() -> None:
    """Run a command and exit: 0 success, 1 failure, 2 bad usage or input, 3 over budget."""
    gc.set_threshold(_OBJECTS_BETWEEN_SEARCHES)
    try:
        from redveil.cli.encoding import adapt

        adapt(sys.stdout)
        adapt(sys.stderr)
        _run()
    except KeyboardInterrupt:
        _stop()
    except BrokenPipeError:
        # The reader (head, less) closed the pipe.
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        _fail(f"internal error ({_place(error)}); please report it, and how to reproduce it", 1)
    finally:
        # Python would search all objects for cycles again before it exits.
        gc.freeze()


def _run() -> None:
    """Run a command of an application; turn expected errors into one line and an exit code."""
    import typer

    from redveil.cli.console import program_name
    from redveil.errors import InputError, OverBudgetError, RedveilError, UnfinishedError

    # UsageError lives in click or in typer, depending on typer's version; its subclass finds it.
    usage_error: type[Exception] = typer.BadParameter.__bases__[0]
    try:
        _must_be_somewhere()
        from redveil.cli.app import app

        code = app(standalone_mode=False, prog_name=program_name())
    except typer.Abort:
        _stop()
    except usage_error as error:
        _refuse(error)
    except OverBudgetError as error:
        _fail(str(error), 3)
    except InputError as error:
        _fail(str(error), 2)
    except UnfinishedError as error:
        _fail(str(error), 130 if isinstance(error.__cause__, KeyboardInterrupt) else 1)
    except RedveilError as error:
        _fail(str(error), 1)
    except ModuleNotFoundError as error:
        # The client alone does without libraries that some formats need.
        library = str(error.name).partition(".")[0]
        if library == "redveil":
            raise
        _fail(f"this needs {library}; run pip install {library}", 1)
    if code == 130:
        _stop()
    sys.exit(code if isinstance(code, int) else 0)


def _must_be_somewhere() -> None:
    """Refuse to run in a folder that was deleted: libraries that we use ask where they are."""
    from redveil.errors import InputError

    try:
        Path.cwd()
    except OSError:
        raise InputError("the working folder is gone; change to another one") from None


def _refuse(error: Any) -> Never:
    """Print a usage error in one line; a command without arguments shows its help instead."""
    # Some versions of typer put pydantic's prefix before the message.
    message: str = error.format_message().replace("Value error, ", "")
    if error.ctx is None or "\n\n" in message:
        error.show()
        sys.exit(error.exit_code)
    _fail(f"{message.rstrip('.')}; see `{error.ctx.command_path} --help`", error.exit_code)


def _place(error: BaseException) -> str:
    """Return the kind of an error and where our code was, never its message: it may hold data."""
    kind = type(error).__name__
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] == __package__.partition(".")[0]:
            return f"{kind} in {module}, line {line}"
    return kind


def _stop() -> Never:
    """Exit with the code that shells expect after Ctrl-C."""
    _fail("stopped; no partial files were left, and any charge stands", 130)


def _fail(message: str, code: int) -> Never:
    """Print one line to standard error and exit."""
    from redveil.cli.console import printable

    # Without standard error, print would use standard output.
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"redveil: {printable(' '.join(message.split()))}", file=sys.stderr, flush=True)
    sys.exit(code)
