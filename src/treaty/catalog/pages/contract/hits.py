"""Whom the changes between two versions hit, by name: from what consumers said they read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from treaty.catalog.pages.contract.readers import read_paths
from treaty.compatibility import Breaks, Judged, Verdict
from treaty.compatibility.changes import Change, Direction
from treaty.compatibility.kinds import Grade
from treaty.compatibility.modes import parse_mode
from treaty.consumers.impact import impact
from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_line
from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.contracts.versions import Bump
from treaty.registry.answers import ChangeAnswer, DiffAnswer, SubscriptionAnswer


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
    for one in impact(verdict, _subscriptions(subscriptions)):
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
