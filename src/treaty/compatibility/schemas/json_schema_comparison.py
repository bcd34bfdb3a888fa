"""One comparison of JSON schemas: what is known of pairs of nodes, and what the comparison may cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from treaty.compatibility.schemas.differences import Budget
from treaty.compatibility.schemas.json_schema_contents import ObjectContent
from treaty.compatibility.schemas.json_schema_nodes import Criterion, Node, NodeKind, fingerprint, settle

Found = tuple[str, str, str]
"""Type, path below the compared schemas, and text of a difference."""
ADDED = "the keyword at '{path}' is in the {{reader}} schema only"
INCREASED = "the value at '{path}' is greater in the {{reader}} schema than in the {{writer}} schema"
DECREASED = "the value at '{path}' is less in the {{reader}} schema than in the {{writer}} schema"
CHANGED = "the value at '{path}' is another one in the {{reader}} schema than in the {{writer}} schema"
FEWER = "the schema at '{path}' accepts less in the {{reader}} schema than in the {{writer}} schema"
TYPE = "the type at '{path}' is another one in the {{reader}} schema than in the {{writer}} schema"
_SEARCHES_PER_COMPARISON = 5
"""Patterns that are searched in the time of one comparison."""


class Comparison:
    """One comparison: `old` is the writer's schema, `new` the reader's."""

    def __init__(self, old_draft: int, new_draft: int, comparers: Mapping[NodeKind, Comparer]) -> None:
        self.drafts = (old_draft, new_draft)
        self._comparers = comparers
        self._budget = Budget()
        self._known: dict[tuple[int, int], list[Found]] = {}
        self._fitting: dict[tuple[int, int], bool] = {}
        self._kept: list[Node] = []
        """Keeps nodes alive, because their ids are the keys of what is known."""
        self._texts: dict[int, str | None] = {}
        self._contents: dict[int, ObjectContent] = {}

    def differences(self, old: Node | None, new: Node | None) -> list[Found]:
        """Compare two schemas; a pair that contains itself is compatible so far."""
        if new is None:
            return []
        if old is None:
            return [("SCHEMA_ADDED", "", ADDED)]
        old, new = settle(old), settle(new)
        if new.kind is NodeKind.ANYTHING or old.kind is NodeKind.NOTHING:
            return []
        key = (id(old), id(new))
        if key not in self._known:
            self._budget.spend()
            self._kept += (old, new)
            self._known[key] = []
            self._known[key] = list(self._compare(old, new))
        return self._known[key]

    def fits(self, old: Node, new: Node) -> bool:
        """Whether there is no difference; stops at the first one."""
        old, new = settle(old), settle(new)
        if new.kind is NodeKind.ANYTHING or old.kind is NodeKind.NOTHING:
            return True
        key = (id(old), id(new))
        if key in self._known:
            return not self._known[key]
        if key not in self._fitting:
            self._budget.spend()
            self._kept += (old, new)
            self._fitting[key] = True
            self._fitting[key] = next(self._compare(old, new), None) is None
        return self._fitting[key]

    def _compare(self, old: Node, new: Node) -> Iterator[Found]:
        combined = old.kind is NodeKind.COMBINED, new.kind is NodeKind.COMBINED
        if combined == (False, True) and self._fits_into(old, new):
            return
        if combined == (True, False) and self._is_covered(old, new):
            return
        if old.kind is not new.kind:
            yield "TYPE_CHANGED", "", TYPE
            return
        yield from self._comparers[new.kind](self, old, new)

    def _fits_into(self, old: Node, new: Node) -> bool:
        """Whether one of the alternatives of the reader accepts the writer's schema."""
        one_is_enough = new.criterion in (Criterion.ANY, Criterion.ONE) or len(new.children) == 1
        return one_is_enough and any(self.fits(old, child) for child in new.children)

    def _is_covered(self, old: Node, new: Node) -> bool:
        """Whether the reader's schema accepts what one of the combined constraints of the writer allows."""
        one_is_enough = old.criterion is Criterion.ALL or len(old.children) == 1
        return one_is_enough and any(self.fits(child, new) for child in old.children)

    def at(self, path: str, old: Node | None, new: Node | None) -> Iterator[Found]:
        """Yield the differences of two schemas below a path."""
        for kind, inner, text in self.differences(old, new):
            yield kind, path + inner, text

    def content(self, node: Node) -> ObjectContent:
        """Return the content model of an object."""
        if id(node) not in self._contents:
            self._contents[id(node)] = ObjectContent(node)
        return self._contents[id(node)]

    def covering(self, content: ObjectContent, name: str) -> Node | None:
        """Return the schema that an undeclared property must satisfy; searching patterns costs time."""
        self._budget.spend(len(content.patterns) // _SEARCHES_PER_COMPARISON)
        return content.covering(name)

    def distinct(self, children: Sequence[Node]) -> list[Node]:
        """Return schemas without those that are equal to another one."""
        nodes: dict[object, Node] = {}
        for child in map(settle, children):
            self._kept.append(child)
            if id(child) not in self._texts:
                self._texts[id(child)] = fingerprint(child)
            nodes.setdefault(self._texts[id(child)] or id(child), child)
        return list(nodes.values())

    def fingerprint_of(self, node: Node) -> str | None:
        """Return the text that equal schemas have in common, of a schema that `distinct` returned."""
        return self._texts[id(node)]


Comparer = Callable[[Comparison, Node, Node], Iterator[Found]]
"""Compares two schemas of one kind."""
