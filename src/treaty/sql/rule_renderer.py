"""Render the syntax tree of a rule as new SQL from an allow-list of node types; all others are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Flag, auto
from typing import Any, TypeAlias

from sqlglot import exp

from treaty.contracts.paths import FieldPath
from treaty.contracts.sql_quoting import identifier_problem, quote_identifier
from treaty.errors import InvalidDocument
from treaty.sql.checked_sql import RuleTarget
from treaty.sql.dialect import offset_of
from treaty.sql.lexer import rule_error
from treaty.sql.scopes import DerivedTable, RuleScope

MAX_RENDER_DEPTH = 100
MAX_SQL_LENGTH = 100_000

RenderFunction: TypeAlias = Callable[["Renderer", Any], str]


@dataclass(frozen=True)
class NodeRenderer:
    """Renders one type of node; a node with arguments other than `parts` is refused."""

    render: RenderFunction
    parts: frozenset[str]


NodeRenderers: TypeAlias = Mapping[type[exp.Expr], NodeRenderer]


def node_renderer(render: RenderFunction, parts: str = "") -> NodeRenderer:
    """Return a renderer for nodes with these arguments."""
    return NodeRenderer(render, frozenset(parts.split()))


class Allowed(Flag):
    """What is allowed at a position besides values of the row."""

    NOTHING = 0
    AGGREGATE = auto()
    WINDOW = auto()
    QUERY = auto()


@dataclass
class RuleFacts:
    """Facts about a rule, collected while it is rendered."""

    text: str
    target: RuleTarget
    renderers: NodeRenderers
    paths: set[FieldPath] = field(default_factory=set)
    columns: dict[str, None] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)
    selects: int = 0
    outside: list[int] = field(default_factory=list)
    growth: int = 0
    has_distinct: bool = False


@dataclass(frozen=True)
class Renderer:
    """The position in the tree: the visible names, and what is allowed there."""

    facts: RuleFacts
    scope: RuleScope
    may: Allowed = Allowed.NOTHING
    only_rows: str | None = None
    must_aggregate: bool = False
    variables: Mapping[str, bool] = field(default_factory=dict)
    """The lambda variables in scope, and whether each may be larger than a value of the row."""
    is_growing: bool = False
    lambdas: int = 0
    depth: int = 0
    queries: Mapping[str, DerivedTable] = field(default_factory=dict)

    def sql(self, node: Any) -> str:
        """Return the SQL of a node."""
        text = self.known(node).render(self.deeper(node), node)
        if len(text) > MAX_SQL_LENGTH:
            raise self.refuse(node, "becomes too long when it is expanded", "split it into several rules")
        return text

    def known(self, node: Any) -> NodeRenderer:
        """Return the renderer of a node; refuse unknown nodes and arguments."""
        known = self.facts.renderers.get(type(node))
        if known is None:
            raise self.refuse(
                node, f"has {_describe(node)}", "it is not allowed in rules; use conditions and functions"
            )
        for part, value in node.args.items():
            if part not in known.parts and value is not None and value is not False and value != []:
                then = "it is not allowed in rules; simplify the SQL"
                raise self.refuse(node, f"has {part.strip('_')!r} in {_describe(node)}", then)
        return known

    def deeper(self, node: Any) -> Renderer:
        """Return the renderer for one level deeper."""
        if self.depth > MAX_RENDER_DEPTH:
            raise self.refuse(
                node, f"nests deeper than {MAX_RENDER_DEPTH} levels", "nest less, or split it into several rules"
            )
        return replace(self, depth=self.depth + 1)

    def several(self, nodes: list[Any]) -> str:
        """Return the SQL of several nodes, separated by commas."""
        return ", ".join(self.sql(node) for node in nodes)

    def inside(self, **changes: Any) -> Renderer:
        """Return a copy with other settings."""
        return replace(self, **changes)

    def name(self, node: Any, name: str) -> str:
        """Return a name in backticks."""
        problem = identifier_problem(name)
        if problem:
            raise self.refuse(node, f"needs {problem}", "use another name")
        return quote_identifier(name)

    def refuse(self, node: Any, what: str, then: str) -> InvalidDocument:
        """Return the error for a node, with its position in the text."""
        return rule_error(self.facts.text, offset_of(node) if isinstance(node, exp.Expr) else None, what, then)


def _describe(node: Any) -> str:
    words = "".join(f" {part.lower()}" if part.isupper() else part for part in type(node).__name__)
    return f"a {words.strip()!r} clause" if isinstance(node, exp.Expr) else "a gap"
