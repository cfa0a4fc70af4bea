"""Fixtures of the command line's tests."""

from __future__ import annotations

from support.command_line import clinic_files, command  # noqa: F401
