"""What the processes of a server have in common: settings, and an end when their parent ends.

A parent writes the settings to a child's standard input, in one line, and leaves it open. When the
input ends, the parent has ended, however that came about.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from threading import Thread

from redveil.server.settings import Settings


def read_settings() -> tuple[str, Settings]:
    """Return the name that the parent gives to this process, and the settings."""
    name, _, text = sys.stdin.readline().partition(" ")
    return name, Settings.model_validate_json(text)


def line_for(name: str, settings: Settings, *, opens_data: bool = True) -> bytes:
    """Return what a child reads.

    opens_data: whether it opens packed tables; the key for them is not told to others
    """
    plain = settings.model_dump(mode="json", exclude={"data_key_digits"})
    if opens_data and settings.data_key_digits is not None:
        plain["data_key_digits"] = settings.data_key_digits.get_secret_value()
    return f"{name} {json.dumps(plain)}\n".encode()


def end_with_parent(stop: Callable[[], None]) -> None:
    """Call a function when the parent has ended."""

    def wait() -> None:
        # Not sys.stdin: its lock would be held at exit.
        while os.read(0, 1024):
            pass
        stop()

    Thread(target=wait, daemon=True, name="parent").start()


def stop_by_signal() -> None:
    """Ask this process to stop, as its parent would."""
    os.kill(os.getpid(), signal.SIGTERM)
