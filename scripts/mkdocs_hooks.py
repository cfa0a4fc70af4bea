"""Complete the documentation site with what stands elsewhere in the repository.

- The proofs, which stand beside the code they prove, become pages under `proofs/`.
- CONTRIBUTING.md, SECURITY.md and CHANGELOG.md become pages under `project/`.
- The command-line and API references are written from the program, so they cannot be stale.
- Links to files outside docs/ lead to such a page, or to the file in the public repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "redveil"
PUBLIC = "https://github.com/redveil/redveil"
COMMANDS, NAMES = "<!-- commands -->", "<!-- public names -->"
RESEARCH = "<!-- research names -->"
LINK = re.compile(r"(?P<before>!?\[[^\]]*\]\(|^\[[^\]]+\]:\s+)(?P<to>[^)\s#]+)(?=[)\s#])", re.M)
FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2", re.M | re.S)


def borrowed() -> dict[str, Path]:
    """Return the pages that come from outside docs/: where they stand in the site → the file."""
    proofs = sorted(PACKAGE.rglob("*.md"))
    pages = {f"proofs/{path.relative_to(PACKAGE).as_posix()}": path for path in proofs}
    for name in ("CONTRIBUTING", "SECURITY", "CHANGELOG"):
        if (ROOT / f"{name}.md").exists():
            pages[f"project/{name.lower()}.md"] = ROOT / f"{name}.md"
    return pages


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace folders in the navigation by their pages, and watch the borrowed files."""
    docs = Path(config.docs_dir)
    there = [path.relative_to(docs).as_posix() for path in sorted(docs.rglob("*.md"))]
    there += borrowed()
    named = set(_paths(config.nav))
    rest = [page for page in there if page not in named]
    config.nav = _expanded(config.nav, rest)
    config.watch.append(str(PACKAGE))
    return config


def _paths(nav: Any) -> Iterator[str]:
    match nav:
        case str():
            yield nav
        case list() | dict():
            for inner in nav.values() if isinstance(nav, dict) else nav:
                yield from _paths(inner)


def _expanded(nav: Any, rest: list[str]) -> Any:
    """Return a part of the navigation with the remaining pages in place of each folder."""
    match nav:
        case dict():
            return {title: _expanded(inner, rest) for title, inner in nav.items()}
        case list():
            pages: list[Any] = []
            for inner in nav:
                if isinstance(inner, str) and inner.endswith("/"):
                    pages += [page for page in rest if page.startswith(inner)]
                else:
                    pages.append(_expanded(inner, rest))
            return pages
    return nav


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that come from outside docs/."""
    for place, path in borrowed().items():
        files.append(File.generated(config, place, content=path.read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in the references, and let links lead somewhere."""
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, commands())
    if NAMES in markdown:
        markdown = markdown.replace(NAMES, public_names())
        markdown = markdown.replace(RESEARCH, research_names())
    source = borrowed().get(page.file.src_uri, Path(config.docs_dir) / page.file.src_uri)
    parts: list[str] = []
    end = 0
    # Code is left alone.
    for fence in FENCE.finditer(markdown):
        parts += [_relinked(markdown[end : fence.start()], page, source, files), fence[0]]
        end = fence.end()
    return "".join([*parts, _relinked(markdown[end:], page, source, files)])


def _relinked(markdown: str, page: Page, source: Path, files: Files) -> str:
    places = {path: place for place, path in borrowed().items()}
    docs = ROOT / "docs"

    def link(found: re.Match[str]) -> str:
        to = found["to"]
        if re.match(r"\w+:|/", to):
            return found[0]
        target = Path(os.path.normpath(source.parent / to))
        place = places.get(target)
        if place is None and target.is_relative_to(docs):
            place = target.relative_to(docs).as_posix()
            if target.is_dir():
                place += "/index.md"
        if place is not None and files.get_file_from_path(place) is not None:
            here = PurePosixPath(page.file.src_uri).parent
            return found["before"] + os.path.relpath(place, here)
        if target.exists() and target.is_relative_to(ROOT):
            kind = "tree" if target.is_dir() else "blob"
            return f"{found['before']}{PUBLIC}/{kind}/main/{target.relative_to(ROOT).as_posix()}"
        return found[0]

    return LINK.sub(link, markdown)


def commands() -> str:
    """Return the help of every command, as Markdown."""
    import typer
    from typer.main import get_command

    from redveil.cli.app import app
    from redveil.cli.commands import LazyGroup

    def pages(command: Any, parent: Any, name: str) -> Iterator[str]:
        context = typer.Context(command, info_name=name, parent=parent, max_content_width=80)
        context.terminal_width = 80
        yield f"## `{context.command_path}`\n\n```text\n{command.get_help(context).strip()}\n```\n"
        for inner in getattr(command, "commands", {}):
            loaded = (
                command.loaded(inner) if isinstance(command, LazyGroup) else command.commands[inner]
            )
            yield from pages(loaded, context, inner)

    return "\n".join(pages(get_command(app), None, "redveil"))


def public_names() -> str:
    """Return a section for the functions, classes and errors of `redveil.__all__`, as Markdown."""
    import redveil

    sections: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors": []}
    for name in redveil.__all__:
        thing = getattr(redveil, name)
        if not isinstance(thing, type):
            sections["Functions"].append(name)
        else:
            sections["Errors" if issubclass(thing, Exception) else "Classes"].append(name)
    return "\n".join(
        f"## {title}\n\n" + "\n".join(f"::: redveil.{name}\n" for name in names)
        for title, names in sections.items()
        if names
    )


def research_names() -> str:
    """Return the public names of redveil-research, as Markdown."""
    import redveil_research

    return "\n".join(f"::: redveil_research.{name}\n" for name in redveil_research.__all__)
