"""What names mean at one place of a query: the sources of a SELECT, and those of the SELECTs around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql.types import DataType

from treaty.pipeline.sql.relations import Output, Place, Reference, Relation, Source, is_known


class Ambiguous(Exception):
    """A name that several sources have."""


@dataclass(eq=False)
class Frame:
    """The sources of a SELECT, in the order in which a star lists their columns."""

    outer: Frame | None = None
    ctes: Mapping[str, Relation] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    layout: list[tuple[str, tuple[Place, ...]]] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)

    def add(self, source: Source) -> None:
        """Put the columns of a source behind those there are."""
        self.sources.append(source)
        self.layout += [(column.name, ((source, number),)) for number, column in enumerate(source.columns)]

    def with_source(self, source: Source) -> Frame:
        """Return the frame of a join's condition, whose right side is not seen afterwards."""
        inside = Frame(self.outer, self.ctes, [*self.sources], [*self.layout])
        inside.add(source)
        return inside

    def find(self, parts: Sequence[str]) -> Reference | None:
        """Return the column that a name means here: of a source by its alias, else of any, and the steps into it."""
        if len(parts) > 1:
            qualified = [item for source in self.sources if source.alias == parts[0].lower() for item in _all(source)]
            if found := _only(qualified, parts[1]):
                return Reference(found, tuple(parts[2:]))
        found = _only(self.layout, parts[0])
        return Reference(found, tuple(parts[1:])) if found else None

    def source(self, alias: str) -> Source | None:
        """Return the source of that name."""
        return next((source for source in self.sources if source.alias == alias.lower()), None)

    def output(self, name: str) -> Output | None:
        """Return the output of that name that was made already."""
        return next((output for output in self.outputs if output.column.name.lower() == name.lower()), None)

    @property
    def is_known(self) -> bool:
        """Whether a name that means nothing here is a mistake."""
        here = all(is_known(source.relation) for source in self.sources)
        return here and (self.outer is None or self.outer.is_known)

    def must_have(self, parts: Sequence[str]) -> bool:
        """Tell whether a column that was not found is a mistake, or of a table that is none."""
        source = self.source(parts[0]) if len(parts) > 1 else None
        return self.is_known or (source is not None and is_known(source.relation))

    def names(self) -> Iterator[str]:
        """Yield every name that would have meant something."""
        yield from (name for name, _ in self.layout)
        yield from (source.alias for source in self.sources)
        if self.outer is not None:
            yield from self.outer.names()


def type_at(places: Sequence[Place]) -> DataType | None:
    """Return the type of a column."""
    source, number = places[0]
    return source.columns[number].type


def _all(source: Source) -> list[tuple[str, tuple[Place, ...]]]:
    return [(column.name, ((source, number),)) for number, column in enumerate(source.columns)]


def _only(columns: Sequence[tuple[str, tuple[Place, ...]]], name: str) -> tuple[Place, ...] | None:
    found = [places for one, places in columns if one.lower() == name.lower()]
    if len(found) > 1:
        raise Ambiguous
    return found[0] if found else None
