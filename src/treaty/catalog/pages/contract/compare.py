"""Comparison of two versions: changes, affected consumers, required version and migration path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.catalog import links
from treaty.catalog.formatting import BROKEN_PARTIES
from treaty.catalog.pages.contract.contract_data import ContractData, heading_of, load_contract_data, parse_contract
from treaty.catalog.pages.contract.field_consumers import parse_paths
from treaty.catalog.pages.contract.overview import ASSETS
from treaty.catalog.pages.contract.schema_comparison import compare_schemas
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.compatibility import Breaks, Judged, Verdict
from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds import KINDS, Grade, Kind
from treaty.compatibility.modes import parse_mode
from treaty.consumers.impact import compute_impact
from treaty.consumers.subscriptions import ConsumerClass, Subscription
from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.contracts.values import abbreviate, json_equal
from treaty.contracts.versions import Bump, parse_line
from treaty.errors import InvalidDocument, Refused
from treaty.registry.model import ChangeAnswer, DiffAnswer, SubscriptionAnswer

_MAX_CHANGES = 500
_MAX_CONSUMERS = 6
_SEVERITY_ORDER = {"error": 0, "warning": 1}
_VERSION_ISSUES = frozenset({"version_not_increasing", "version_bump_too_small"})


@dataclass(frozen=True, slots=True)
class ChangeTableRow:
    """A change in the table."""

    change: ChangeAnswer
    where: str
    before: str | None
    after: str | None
    meaning: str
    breaks: tuple[str, ...]
    consumers: tuple[str, ...]
    more_consumers: int


def compare_page(source: Source, name: str, before: str, after: str, *, data: ContractData | None = None) -> Page:
    """Return the comparison of two versions, in either direction and across lines."""
    data = data or load_contract_data(source, name)
    old, new = data.at(before), data.at(after)
    answer = source.diff(name, before, after)
    before_contract, other = parse_contract(old), parse_contract(new)
    impact_result = affected_consumers(answer, before_contract, other, data.subscriptions_of(old.line))
    lines = [_table_row(change, impact_result.by_change.get(index, ())) for index, change in enumerate(answer.changes)]
    lines.sort(key=lambda line: _SEVERITY_ORDER.get(line.change.severity, 2))
    names = {str(change.before): str(change.after) for change in answer.changes if change.kind == "field_renamed"}
    pairings = compare_schemas(before_contract, other, names)
    is_reversed = data.version_numbers.index(before) < data.version_numbers.index(after)
    return Page(
        links.compare(name, before, after),
        "contract/compare.html",
        f"{name[:120]} {before} → {after}",
        "contracts",
        {
            "heading": heading_of(data, new, "versions"),
            "before": old,
            "before_major": parse_line(old.line).major,
            "after": new,
            "answer": answer,
            "is_reversed": is_reversed,
            "verdict": _verdict(answer, is_reversed=is_reversed),
            "issues": _issues(answer, is_reversed=is_reversed),
            "changes": tuple(lines[:_MAX_CHANGES]),
            "more_changes": max(len(lines) - _MAX_CHANGES, 0),
            "pairings": pairings,
            "unchanged": sum(pairing.state == "unchanged" for pairing in pairings),
            "impact": impact_result,
            "kinds": _kinds(answer),
            "migration_path": _migration_path(source, name, answer),
            "numbers": data.version_numbers,
        },
        assets=ASSETS,
    )


def _verdict(answer: DiffAnswer, *, is_reversed: bool) -> tuple[str, str]:
    """Return the verdict: its style and one sentence."""
    if not answer.changes:
        return "good", "The two versions are identical."
    is_safe = answer.compatible and answer.required_bump != "MAJOR"
    if is_safe or (is_reversed and not _breaking(answer)):
        return "good", f"Compatible: consumers of {answer.before} can use {answer.after}."
    if answer.admissible:
        return "warn", "Breaking but allowed: it opens a new line with a migration plan."
    if answer.compatible:
        return "bad", "Breaks consumers under this mode without breaking existing data: it needs a migration plan."
    return "bad", f"Not compatible: consumers of {answer.before} may fail with {answer.after}."


def _breaking(answer: DiffAnswer) -> bool:
    return any(change.severity == "error" for change in answer.changes)


def _issues(answer: DiffAnswer, *, is_reversed: bool) -> tuple[str, ...]:
    """Return problems of the new version that no change explains. Reversed comparisons ignore version numbers."""
    messages = {change.message for change in answer.changes}
    return tuple(
        issue.message
        for issue in answer.issues
        if issue.message not in messages and not (is_reversed and issue.kind in _VERSION_ISSUES)
    )


def _table_row(change: ChangeAnswer, consumers: tuple[str, ...]) -> ChangeTableRow:
    kind = KINDS.get(change.kind)
    before, after = summarize_difference(change.before, change.after)
    return ChangeTableRow(
        change,
        change.path or "contract",
        before,
        after,
        kind.summary if kind else change.message,
        tuple(BROKEN_PARTIES.get(party, party) for party in change.breaks),
        consumers[:_MAX_CONSUMERS],
        max(len(consumers) - _MAX_CONSUMERS, 0),
    )


def _kinds(answer: DiffAnswer) -> tuple[Kind, ...]:
    """Return the kinds of change on the page, each once."""
    return tuple(KINDS[kind] for kind in sorted({change.kind for change in answer.changes}) if kind in KINDS)


def _migration_path(source: Source, name: str, answer: DiffAnswer) -> MigrationPath | None:
    needed = answer.required_bump == "MAJOR" or not answer.compatible
    if not needed or not answer.changes or answer.before is None:
        return None
    return load_migration_path(source, name, answer.before, answer.after)


_MAX_VALUE_LENGTH = 400


def summarize_difference(before: Any, after: Any) -> tuple[str | None, str | None]:
    """Format two values of a term. Of lists and mappings only the differing entries are shown."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [key for key in {**before, **after} if not json_equal(before.get(key), after.get(key))]
        parts = [(key, *summarize_difference(before.get(key), after.get(key))) for key in keys]
        return _format_entries([(key, part) for key, part, _ in parts]), _format_entries(
            [(key, other) for key, _, other in parts]
        )
    if _are_lists_of_mappings(before, after):
        return _format_difference(before, after), _format_difference(after, before)
    return _format_value(before), _format_value(after)


def _are_lists_of_mappings(before: Any, after: Any) -> bool:
    """Return whether both are lists and one contains mappings, which are too long to show in full."""
    both = isinstance(before, list) and isinstance(after, list)
    return both and any(isinstance(one, dict) for one in (*before, *after))


def _format_difference(mine: list[Any], theirs: list[Any]) -> str | None:
    here = [one for one in mine if not any(json_equal(one, other) for other in theirs)]
    return abbreviate("\n".join(filter(None, map(_format_value, here))), _MAX_VALUE_LENGTH) or None


def _format_entries(entries: list[tuple[str, str | None]]) -> str | None:
    return (
        abbreviate("\n".join(f"{key}: {text}" for key, text in entries if text is not None), _MAX_VALUE_LENGTH) or None
    )


def _format_value(value: Any) -> str | None:
    if value is None or value in ("", [], {}):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return _format_entries([(key, _format_value(part)) for key, part in value.items()])
    if isinstance(value, (list, tuple)):
        return abbreviate(", ".join(filter(None, map(_format_value, value))), _MAX_VALUE_LENGTH)
    return abbreviate(value, _MAX_VALUE_LENGTH)


_MAX_ENTRIES = 50
_DIRECTION_TITLES = {
    "back": "Old shape from new data, for existing consumers",
    "forward": "New shape from old data, for history",
}


@dataclass(frozen=True, slots=True)
class View:
    """A view that can be created as is, or the reason why there is none."""

    direction: str
    title: str
    name: str
    sql: str | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Loss:
    """A field that cannot be converted exactly."""

    direction: str
    field: str
    fidelity: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class MigrationPath:
    """Views between the two shapes and the fields they lose. `problem` is the reason why there are none."""

    fidelity: str | None = None
    views: tuple[View, ...] = ()
    losses: tuple[Loss, ...] = ()
    more_losses: int = 0
    problem: str | None = None


def load_migration_path(source: Source, name: str, before: str, after: str) -> MigrationPath:
    """Load the migration path between two versions."""
    try:
        answer = source.migrations.path(name, before, after)
    except (InvalidDocument, Refused) as error:
        return MigrationPath(problem=str(error))
    lost = list(_losses(answer.path))
    views = tuple(map(_view, answer.views[:_MAX_ENTRIES]))
    return MigrationPath(
        str(answer.path["fidelity"]), views, tuple(lost[:_MAX_ENTRIES]), max(len(lost) - _MAX_ENTRIES, 0)
    )


def _view(view: Mapping[str, Any]) -> View:
    direction = str(view["way"])
    return View(
        direction, _DIRECTION_TITLES.get(direction, direction), str(view["view"]), view.get("sql"), view.get("refused")
    )


def _losses(path: Mapping[str, Any]) -> Iterator[Loss]:
    for object_path in path["objects"]:
        for direction in ("back", "forward"):
            for step in object_path[direction]["fields"]:
                if step["fidelity"] != "exact":
                    yield Loss(direction, str(step["field"]), str(step["fidelity"]), step.get("reason"))


@dataclass(frozen=True, slots=True)
class Affected:
    """Effect of the changes on one consumer."""

    consumer: str
    team: str | None
    effect: str
    is_critical: bool
    sentences: tuple[str, ...]
    more: int


@dataclass(frozen=True)
class ComparisonImpact:
    """Effect on the consumers of the old line, most affected first, and the consumers that each change breaks."""

    affected: tuple[Affected, ...]
    by_change: dict[int, tuple[str, ...]]

    def with_effect(self, effect: str) -> tuple[Affected, ...]:
        """Return the consumers with one effect."""
        return tuple(affected for affected in self.affected if affected.effect == effect)


_MAX_SENTENCES = 5


def affected_consumers(
    answer: DiffAnswer, before: Contract, after: Contract, subscriptions: Iterable[SubscriptionAnswer]
) -> ComparisonImpact:
    """Compute the effect of the changes on subscriptions. Changes are numbered as in the answer."""
    judged = tuple(map(_judged, answer.changes))
    verdict = Verdict(
        before,
        after,
        parse_mode(answer.mode),
        judged,
        (),
        Bump.parse(answer.required_bump),
        None,
        answer.required_version,
    )
    positions = {id(item): index for index, item in enumerate(judged)}
    teams = {subscription.consumer: subscription.team for subscription in subscriptions}
    named: defaultdict[int, list[str]] = defaultdict(list)
    affected: list[Affected] = []
    for impact in compute_impact(verdict, _subscriptions(subscriptions)):
        name = impact.subscription.consumer
        if impact.effect == "hit":
            for judged_change in impact.changes:
                named[positions[id(judged_change)]].append(name)
        messages = [change.message for change in impact.changes]
        critical = impact.subscription.consumer_class.is_critical
        affected.append(
            Affected(
                name,
                teams[name],
                impact.effect.value,
                critical,
                tuple(messages[:_MAX_SENTENCES]),
                max(len(messages) - _MAX_SENTENCES, 0),
            )
        )
    return ComparisonImpact(tuple(affected), {index: tuple(names) for index, names in named.items()})


def _judged(answer: ChangeAnswer) -> Judged:
    change = Change(answer.kind, Direction(answer.direction), answer.before, answer.after, answer.field)
    grade = Grade(Bump.parse(answer.bump), frozenset(map(Breaks, answer.breaks)))
    return Judged(change, grade, Severity(answer.severity), answer.message)


def _subscriptions(answers: Iterable[SubscriptionAnswer]) -> Iterator[Subscription]:
    for answer in answers:
        yield Subscription(
            answer.consumer,
            parse_line(answer.line),
            ConsumerClass(answer.consumer_class),
            parse_paths(answer.fields),
            answer.purpose,
        )
