"""Steering: which attributes a run leaves alone, must mention, or may not match.

It is public and costs nothing: a run chooses among fewer candidates, by the same mechanisms and at
the same price. What is left out of the schema of a run is left out of every choice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from redveil.errors import InputError
from redveil.losses.promise import Parameter
from redveil.schema import Schema, Side
from redveil.schema.naming import Name, find_attribute, written
from redveil.schema.unmatched import Group, read_groups

#: Names as a user gives them: one, several, or none.
Names: TypeAlias = str | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Steering:
    """What a user, or the schema, says about attributes. All of it is public.

    ignore:    attributes that are left out
    only:      on a side where any are named, all other attributes are left out
    require:   on a side where any are named, each redescription mentions one of them
    unmatched: groups of attributes that may not be matched with each other

    >>> Steering(require=((Side.LEFT, "gout"),)).required[Side.LEFT]
    ('gout',)
    """

    ignore: tuple[Name, ...] = ()
    only: tuple[Name, ...] = ()
    require: tuple[Name, ...] = ()
    unmatched: tuple[Group, ...] = ()

    @classmethod
    def of(
        cls,
        schema: Schema | None,
        *,
        ignore: Names = None,
        only: Names = None,
        require: Names = None,
        unmatched: Sequence[Sequence[str]] | None = None,
    ) -> Steering:
        """Return what is asked for, together with the schema's own groups; refuse what cannot be.

        >>> from redveil.data.synthetic import clinic_schema
        >>> Steering.of(clinic_schema(), ignore="agee")
        Traceback (most recent call last):
        redveil.errors.InputError: ignore: no attribute agee; did you mean age?
        """
        given = {"ignore": ignore, "only": only, "require": require, "unmatched": unmatched}
        if schema is None:
            for name, value in given.items():
                if value:
                    raise InputError(f"{name} names attributes; give the schema that declares them")
            return NO_STEERING
        steering = cls(
            ignore=_names("ignore", ignore, schema),
            only=_names("only", only, schema),
            require=_names("require", require, schema),
            unmatched=_groups(unmatched, schema),
        )
        steering._check(schema)
        return steering

    @property
    def required(self) -> dict[Side, tuple[str, ...]]:
        """The names of the required attributes on each side; none if any will do."""
        return {side: tuple(name for at, name in self.require if at is side) for side in Side}

    def leaves_out(self, side: Side, name: str) -> bool:
        """Return whether an attribute is left out.

        >>> Steering(only=((Side.LEFT, "age"),)).leaves_out(Side.RIGHT, "CRP")
        False
        """
        alone = any(at is side for at, _ in self.only)
        return (side, name) in self.ignore or (alone and (side, name) not in self.only)

    def applied(self, schema: Schema) -> Schema:
        """Return the schema that a run works on: with fewer attributes, and with all groups.

        >>> from redveil.data.synthetic import clinic_schema
        >>> Steering(ignore=((Side.LEFT, "age"),)).applied(clinic_schema()).left.names[0]
        'sex'
        """
        if not (self.ignore or self.only or self.unmatched):
            return schema
        views = [
            replace(view, attributes=tuple(a for a in view.attributes if a.name in kept))
            for view, kept in ((schema.view(side), self._kept(schema, side)) for side in Side)
        ]
        groups = tuple(dict.fromkeys((*schema.unmatched, *self.unmatched)))
        return replace(schema, left=views[0], right=views[1], unmatched=groups)

    def _kept(self, schema: Schema, side: Side) -> set[str]:
        return {name for name in schema.view(side).names if not self.leaves_out(side, name)}

    def public(self) -> dict[str, Parameter]:
        """Return what was asked for as plain values, for a certificate.

        >>> Steering(ignore=((Side.LEFT, "age"),)).public()
        {'ignore': ('left:age',)}
        """
        named = {"ignore": self.ignore, "only": self.only, "require": self.require}
        asked: dict[str, Parameter] = {
            key: tuple(map(written, names)) for key, names in named.items() if names
        }
        groups = tuple(tuple(map(written, group.names)) for group in self.unmatched)
        return asked | ({"unmatched": groups} if groups else {})

    def _check(self, schema: Schema) -> None:
        """Refuse what contradicts itself, or leaves nothing to mine."""
        for name in self.only:
            if name in self.ignore:
                raise InputError(f"only: {written(name)} is ignored too; leave out one of the two")
        for name in self.require:
            if self.leaves_out(*name):
                raise InputError(f"require: {written(name)} is left out; do not ignore it")
        roots = self._roots(self.applied(schema))
        for side, names in roots.items():
            if not names and schema.view(side).split_count:
                raise InputError(
                    f"{schema.view(side).name}: no attribute that may be used can be split; ignore "
                    "fewer, or require others"
                )
        groups = (*schema.unmatched, *self.unmatched)
        if all(roots.values()) and not _matchable(roots, groups):
            raise InputError(
                "unmatched: no attributes are left that may be matched; declare smaller groups"
            )

    def _roots(self, schema: Schema) -> dict[Side, tuple[str, ...]]:
        """Return the attributes with which a tree may begin."""
        return {
            side: tuple(
                one.name
                for one in schema.view(side).attributes
                if one.splits and (not required or one.name in required)
            )
            for side, required in self.required.items()
        }


NO_STEERING: Final = Steering()


def _names(parameter: str, given: Names, schema: Schema) -> tuple[Name, ...]:
    """Return the attributes that some texts name, each once."""
    texts = [given] if isinstance(given, str) else list(given or ())
    found: set[Name] = set()
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"{parameter}: a name is not text; give the names of attributes")
        where, name = find_attribute(text, schema.left, schema.right)
        if not isinstance(where, Side):
            raise InputError(f"{parameter}: {where}; {name}")
        found.add((where, name))
    return tuple(sorted(found))


def _groups(given: Sequence[Sequence[str]] | None, schema: Schema) -> tuple[Group, ...]:
    """Return the schema's groups and those that are given."""
    groups, faults = read_groups([] if given is None else given, schema.left, schema.right)
    for what, remedy in faults:
        raise InputError(f"unmatched: {what}; {remedy}")
    return tuple(dict.fromkeys((*schema.unmatched, *groups)))


def _matchable(roots: Mapping[Side, Collection[str]], groups: Collection[Group]) -> bool:
    """Return whether any two attributes may be matched."""
    for left in roots[Side.LEFT]:
        barred = {name for group in groups if left in group.left for name in group.right}
        if not barred.issuperset(roots[Side.RIGHT]):
            return True
    return False
