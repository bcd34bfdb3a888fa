"""Two versions side by side: what changed, whom it breaks, which version it needs, and the way over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.catalog import links
from treaty.catalog.formatting import BROKEN_PARTIES
from treaty.catalog.pages.contract.contract_data import ContractData, load_contract_data, parse_contract
from treaty.catalog.pages.contract.field_consumers import read_paths
from treaty.catalog.pages.contract.heading import heading_of
from treaty.catalog.pages.contract.overview import ASSETS
from treaty.catalog.pages.contract.schema_comparison import side_by_side
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

_MOST_CHANGES = 500
_NAMED = 6
_WEIGHT = {"error": 0, "warning": 1}
_ABOUT_VERSIONS = frozenset({"version_not_increasing", "version_bump_too_small"})


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One change as the page tells it."""

    change: ChangeAnswer
    where: str
    before: str | None
    after: str | None
    meaning: str
    breaks: tuple[str, ...]
    consumers: tuple[str, ...]
    more_consumers: int


def compare_page(source: Source, name: str, before: str, after: str, *, dossier: ContractData | None = None) -> Page:
    """Return two versions of a contract side by side, in either direction and across lines."""
    known = dossier or load_contract_data(source, name)
    old, new = known.at(before), known.at(after)
    answer = source.diff(name, before, after)
    one, other = parse_contract(old), parse_contract(new)
    hits = hits_of(answer, one, other, known.readers_of(old.line))
    lines = [_line(change, hits.by_change.get(place, ())) for place, change in enumerate(answer.changes)]
    lines.sort(key=lambda line: _WEIGHT.get(line.change.severity, 2))
    names = {str(change.before): str(change.after) for change in answer.changes if change.kind == "field_renamed"}
    pairings = side_by_side(one, other, names)
    looks_back = known.numbers.index(before) < known.numbers.index(after)
    return Page(
        links.compare(name, before, after),
        "contract/compare.html",
        f"{name[:120]} {before} → {after}",
        "contracts",
        {
            "heading": heading_of(known, new, "versions"),
            "before": old,
            "after": new,
            "answer": answer,
            "looks_back": looks_back,
            "verdict": _verdict(answer, looks_back=looks_back),
            "issues": _issues(answer, looks_back=looks_back),
            "changes": tuple(lines[:_MOST_CHANGES]),
            "more_changes": max(len(lines) - _MOST_CHANGES, 0),
            "pairings": pairings,
            "unchanged": sum(pairing.state == "unchanged" for pairing in pairings),
            "hits": hits,
            "kinds": _kinds(answer),
            "crossing": _crossing(source, name, answer),
            "numbers": known.numbers,
        },
        assets=ASSETS,
    )


def _verdict(answer: DiffAnswer, *, looks_back: bool) -> tuple[str, str]:
    """Say the verdict: its colour, and one sentence."""
    if not answer.changes:
        return "good", "Nothing differs between these two versions."
    if answer.compatible or (looks_back and not _breaking(answer)):
        return "good", f"Compatible: whoever relies on {answer.before} can rely on {answer.after}."
    if answer.admissible:
        return "warn", "Breaking, and allowed: it opens a new line beside the old one, with a plan for moving over."
    return "bad", f"Not compatible: what relies on {answer.before} may fail with {answer.after}."


def _breaking(answer: DiffAnswer) -> bool:
    return any(one.severity == "error" for one in answer.changes)


def _issues(answer: DiffAnswer, *, looks_back: bool) -> tuple[str, ...]:
    """Return what is said against the new version as a whole; looking back, its number is no surprise."""
    told = {change.message for change in answer.changes}
    return tuple(
        issue.message
        for issue in answer.issues
        if issue.message not in told and not (looks_back and issue.kind in _ABOUT_VERSIONS)
    )


def _line(change: ChangeAnswer, consumers: tuple[str, ...]) -> ChangeLine:
    kind = KINDS.get(change.kind)
    before, after = summarize_difference(change.before, change.after)
    return ChangeLine(
        change,
        change.path or "the contract",
        before,
        after,
        kind.summary if kind else change.message,
        tuple(BROKEN_PARTIES.get(one, one) for one in change.breaks),
        consumers[:_NAMED],
        max(len(consumers) - _NAMED, 0),
    )


def _kinds(answer: DiffAnswer) -> tuple[Kind, ...]:
    """Return the pages of the kinds that occur, each once."""
    return tuple(KINDS[one] for one in sorted({change.kind for change in answer.changes}) if one in KINDS)


def _crossing(source: Source, name: str, answer: DiffAnswer) -> Crossing | None:
    needed = answer.required_bump == "MAJOR" or not answer.compatible
    if not needed or not answer.changes or answer.before is None:
        return None
    return crossing_between(source, name, answer.before, answer.after)


_LONGEST = 400


def summarize_difference(before: Any, after: Any) -> tuple[str | None, str | None]:
    """Return two values in short: of lists and mappings only the entries that differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [key for key in {**before, **after} if not json_equal(before.get(key), after.get(key))]
        parts = [(key, *summarize_difference(before.get(key), after.get(key))) for key in keys]
        return _lines([(key, one) for key, one, _ in parts]), _lines([(key, other) for key, _, other in parts])
    if _are_lists_of_things(before, after):
        return _only_here(before, after), _only_here(after, before)
    return _written(before), _written(after)


def _are_lists_of_things(before: Any, after: Any) -> bool:
    """Tell lists of mappings, which are long, from lists of words, which read best as a whole."""
    both = isinstance(before, list) and isinstance(after, list)
    return both and any(isinstance(one, dict) for one in (*before, *after))


def _only_here(mine: list[Any], theirs: list[Any]) -> str | None:
    here = [one for one in mine if not any(json_equal(one, other) for other in theirs)]
    return abbreviate("\n".join(filter(None, map(_written, here))), _LONGEST) or None


def _lines(said: list[tuple[str, str | None]]) -> str | None:
    return abbreviate("\n".join(f"{key}: {text}" for key, text in said if text is not None), _LONGEST) or None


def _written(value: Any) -> str | None:
    if value is None or value in ("", [], {}):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return _lines([(key, _written(one)) for key, one in value.items()])
    if isinstance(value, (list, tuple)):
        return abbreviate(", ".join(filter(None, map(_written, value))), _LONGEST)
    return abbreviate(value, _LONGEST)


_MOST = 50
_WAYS = {
    "back": "The old shape, from the new data: old readers keep working",
    "forward": "The new shape, from the old data: history comes along",
}


@dataclass(frozen=True, slots=True)
class View:
    """One view that can be created as it stands, or why there is none."""

    way: str
    title: str
    name: str
    sql: str | None
    refused: str | None


@dataclass(frozen=True, slots=True)
class Loss:
    """A field that does not come across as it was."""

    way: str
    field: str
    fidelity: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Crossing:
    """The way over, in short; `problem` says why there is none."""

    fidelity: str | None = None
    views: tuple[View, ...] = ()
    losses: tuple[Loss, ...] = ()
    more_losses: int = 0
    problem: str | None = None


def crossing_between(source: Source, name: str, before: str, after: str) -> Crossing:
    """Ask for the way over between two versions."""
    try:
        answer = source.migrations.path(name, before, after)
    except (InvalidDocument, Refused) as error:
        return Crossing(problem=str(error))
    lost = list(_losses(answer.path))
    views = tuple(map(_view, answer.views[:_MOST]))
    return Crossing(str(answer.path["fidelity"]), views, tuple(lost[:_MOST]), max(len(lost) - _MOST, 0))


def _view(one: Mapping[str, Any]) -> View:
    way = str(one["way"])
    return View(way, _WAYS.get(way, way), str(one["view"]), one.get("sql"), one.get("refused"))


def _losses(path: Mapping[str, Any]) -> Iterator[Loss]:
    for item in path["objects"]:
        for way in ("back", "forward"):
            for step in item[way]["fields"]:
                if step["fidelity"] != "exact":
                    yield Loss(way, str(step["field"]), str(step["fidelity"]), step.get("reason"))


@dataclass(frozen=True, slots=True)
class Affected:
    """What the changes mean for one consumer."""

    consumer: str
    team: str | None
    effect: str
    is_critical: bool
    sentences: tuple[str, ...]
    more: int


@dataclass(frozen=True)
class Hits:
    """Everybody on the old line, those in trouble first; and by change, who reads what it breaks."""

    affected: tuple[Affected, ...]
    by_change: dict[int, tuple[str, ...]]

    def having(self, effect: str) -> tuple[Affected, ...]:
        """Return those for whom the changes have an effect."""
        return tuple(one for one in self.affected if one.effect == effect)


_SENTENCES = 5


def hits_of(answer: DiffAnswer, before: Contract, after: Contract, subscriptions: Iterable[SubscriptionAnswer]) -> Hits:
    """Work out whom the changes hit; the changes are numbered as the answer lists them."""
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
    places = {id(item): place for place, item in enumerate(judged)}
    teams = {one.consumer: one.team for one in subscriptions}
    named: defaultdict[int, list[str]] = defaultdict(list)
    affected: list[Affected] = []
    for one in compute_impact(verdict, _subscriptions(subscriptions)):
        name = one.subscription.consumer
        if one.effect == "hit":
            for item in one.changes:
                named[places[id(item)]].append(name)
        said = [item.message for item in one.changes]
        critical = one.subscription.consumer_class.is_critical
        affected.append(
            Affected(
                name,
                teams[name],
                one.effect.value,
                critical,
                tuple(said[:_SENTENCES]),
                max(len(said) - _SENTENCES, 0),
            )
        )
    return Hits(tuple(affected), {place: tuple(names) for place, names in named.items()})


def _judged(one: ChangeAnswer) -> Judged:
    change = Change(one.kind, Direction(one.direction), one.before, one.after, one.field)
    grade = Grade(Bump.parse(one.bump), frozenset(map(Breaks, one.breaks)))
    return Judged(change, grade, Severity(one.severity), one.message)


def _subscriptions(answers: Iterable[SubscriptionAnswer]) -> Iterator[Subscription]:
    for one in answers:
        yield Subscription(
            one.consumer, parse_line(one.line), ConsumerClass(one.consumer_class), read_paths(one.fields), one.purpose
        )
