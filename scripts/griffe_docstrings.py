"""Turn the plain docstrings of the program into Markdown, for the API reference of the site.

Examples of the interpreter become code blocks, and lists of arguments become lists:

    left, right: paths or tables
    schema:      a Schema, or the path of one
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

ARGUMENT = re.compile(r"(?P<names>\w+(?:, \w+)*):\s+(?P<text>\S.*)")


class PlainDocstrings(Extension):
    """Rewrites docstrings as they are loaded."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Return a docstring as Markdown."""
    return "\n\n".join(_paragraph(part) for part in re.split(r"\n\s*\n", text))


def _paragraph(text: str) -> str:
    if text.lstrip().startswith(">>>"):
        return f"```pycon\n{text}\n```"
    lines = text.splitlines()
    if not ARGUMENT.fullmatch(lines[0]):
        return text
    items: list[str] = []
    for line in lines:
        if found := ARGUMENT.fullmatch(line):
            names = ", ".join(f"`{name}`" for name in found["names"].split(", "))
            items.append(f"- {names}: {found['text']}")
        elif line.startswith(" "):
            items.append(f"  {line.strip()}")
        else:
            # A sentence with a colon, not a list.
            return text
    return "\n".join(items)
