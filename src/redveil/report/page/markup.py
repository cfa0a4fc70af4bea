"""HTML that is safe by construction: text is escaped unless it is markup already."""

from __future__ import annotations

from html import escape
from typing import Final
from unicodedata import category

# Marks that turn the direction of what follows: one name could make another look different.
_TURNING: Final = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


class Html(str):
    """Markup; everything else is text."""

    __slots__ = ()


def element(tag: str, *children: str | None, **attributes: str | bool | None) -> Html:
    """Return an element. `class_` is the attribute `class`, and `data_term` is `data-term`.

    >>> element("p", "a < b", element("b", "!"), class_="lead", hidden=True)
    '<p class="lead" hidden>a &lt; b<b>!</b></p>'
    """
    opened = tag + "".join(_attribute(name, value) for name, value in attributes.items())
    return Html(f"<{opened}>{joined(*children)}</{tag}>")


def joined(*children: str | None) -> Html:
    """Return text and markup, one after the other.

    >>> joined("<", Html("<br>"), None)
    '&lt;<br>'
    """
    return Html("".join(_inside(one) for one in children if one is not None))


def harmless(text: str) -> str:
    r"""Return a text without characters that control a terminal or turn the direction of writing.

    >>> harmless("a\u202eb\x1b[31m")
    'a b [31m'
    """
    return "".join(" " if _is_control(one) else one for one in text)


def _is_control(character: str) -> bool:
    return character in _TURNING or (category(character) == "Cc" and character not in "\n\t")


def _inside(child: str) -> str:
    return child if isinstance(child, Html) else escape(harmless(child), quote=False)


def _attribute(name: str, value: str | bool | None) -> str:  # noqa: FBT001 - as HTML has it
    written = name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {written}" if value is True else f' {written}="{escape(harmless(value))}"'
