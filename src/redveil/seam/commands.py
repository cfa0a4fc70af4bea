"""What commands have in common: arguments, tables that are loaded, messages, outputs, files."""

from __future__ import annotations

from redveil.base.display import rich_text
from redveil.cli.arguments import (
    FILES,
    Delta,
    Epsilon,
    JsonOutput,
    MaxPValue,
    MaxSupport,
    MinJaccard,
    MinSupport,
    PairScoreName,
    ProfileName,
    ResultFile,
    SchemaFile,
    Steps,
    naming_options,
)
from redveil.cli.console import (
    display,
    display_table,
    progress,
    say,
    write,
    write_file,
    write_json,
)
from redveil.cli.help import ReadableCommand, ReadableGroup
from redveil.cli.listing import read_listed
from redveil.cli.outputs import check_output, is_standard_output, save
from redveil.commands.loading import load_tables
from redveil.commands.tables import Left, Right, find_schema

__all__ = [
    "FILES",
    "Delta",
    "Epsilon",
    "JsonOutput",
    "Left",
    "MaxPValue",
    "MaxSupport",
    "MinJaccard",
    "MinSupport",
    "PairScoreName",
    "ProfileName",
    "ReadableCommand",
    "ReadableGroup",
    "ResultFile",
    "Right",
    "SchemaFile",
    "Steps",
    "check_output",
    "display",
    "display_table",
    "find_schema",
    "is_standard_output",
    "load_tables",
    "naming_options",
    "progress",
    "read_listed",
    "rich_text",
    "save",
    "say",
    "write",
    "write_file",
    "write_json",
]
