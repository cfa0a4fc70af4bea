"""The page's scripts and styles, put into the page itself: it loads nothing from anywhere.

Scripts are small ES modules. A module becomes a function that is called once; what it exports is
what the function returns, and an import takes names from there. So modules keep their own names,
and the page needs one script, whose hash the content-security policy knows.

Imports are written on one line, `import { a, b } from "./other.js";`, and what is exported is a
function, a class or a constant with `export` before it.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from importlib.resources import files
from typing import Final

from redveil.errors import RedveilError

_IMPORT: Final = re.compile(r'^import \{ ([\w, ]+) \} from "\./([\w]+)\.js";$', re.MULTILINE)
_EXPORT: Final = re.compile(
    r"^export (?=(?:async function|function|class) (\w+)|const (\w+))", re.MULTILINE
)
_OTHER: Final = re.compile(r"^(import|export)\b.*$", re.MULTILINE)


def script(first: str = "main", package: str = __package__) -> str:
    """Return all modules that a module needs, and itself, as one script.

    package: where they are; those that it does not have are the report's
    """
    order: list[str] = []
    sources: dict[str, str] = {}
    _collect(first, sources, order, (), package)
    modules = "\n".join(_wrapped(name, sources[name]) for name in order)
    return f'"use strict";\n{modules}\n'


def styles(name: str = "page.css", package: str = __package__) -> str:
    """Return a style sheet, after the one that all pages share."""
    return f"{_read('base.css', __package__)}{_read(name, package)}"


def policy(script_text: str, style_text: str) -> str:
    """Return the content-security policy of a page with one script and one style sheet.

    >>> policy("", "").partition(";")[0]
    "default-src 'none'"
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {_source(script_text)}",
            f"style-src {_source(style_text)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _source(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str, package: str) -> str:
    own = files(package) / name
    return (own if own.is_file() else files(__package__) / name).read_text(encoding="utf-8")


def _collect(
    name: str, sources: dict[str, str], order: list[str], above: tuple[str, ...], package: str
) -> None:
    """Read a module and, before it, those that it imports."""
    if name in above:
        raise RedveilError(f"{name}.js imports itself, by way of {' and '.join(above)}")
    if name in sources:
        return
    sources[name] = _read(f"{name}.js", package)
    for found in _IMPORT.finditer(sources[name]):
        _collect(found[2], sources, order, (*above, name), package)
    order.append(name)


def _wrapped(name: str, source: str) -> str:
    exported = [found[1] or found[2] for found in _EXPORT.finditer(source)]
    body = _EXPORT.sub("", _IMPORT.sub(r"const { \1 } = \2Module;", source))
    if (other := _OTHER.search(body)) is not None:
        raise RedveilError(f"{name}.js: cannot be put into a page: {other[0]}")
    return f"const {name}Module = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();"
