"""Drift of meaning in a registry: profiles are compared with those before, and owners answer to what they show."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Clock
from tests.registry.offers import ID, orders
from treaty.errors import InvalidDocument, NotFound, Refused
from treaty.events.drift import DriftKind, Profile

DAY = datetime(2026, 3, 1, 3, tzinfo=UTC)
CAPACITY = {"name": "capacity", "logicalType": "integer", "description": "Places of the class."}
PRICE = {"name": "price", "logicalType": "number"}
GUIDE = "https://wiki.example.org/cents"
EVENT = {"type": "ClassChanged", "meaning": "A class was put on the schedule or changed."}
USUAL = {21: 3_000, 22: 4_500, 23: 2_000, -1: 500}
CENTS = {29: 3_000, 30: 4_500, 31: 2_000, -1: 500}


def profile(day: int, *, price: dict[int, int] = USUAL, version: str = "1.0.0", hour: int = 0, **more: Any) -> Profile:
    began = DAY + timedelta(days=day, hours=hour)
    first = began.replace(hour=0) - timedelta(days=1)
    return Profile(
        version=version,
        run=1_000 + day * 24 + hour,
        at=began,
        events=sum(price.values()),
        received=sum(price.values()),
        **{
            "keys": 9_000,
            "first": first,
            "last": first + timedelta(hours=23),
            "histograms": {"field:price": price, "field:capacity": {17: 10_000}},
            **more,
        },
    )


@pytest.fixture
def watched(registry: AnyRegistry, clock: Clock) -> AnyRegistry:
    """A registry with seven usual days, of which the first is a Saturday."""
    registry.register(orders(fields=[ID, CAPACITY, PRICE], event=EVENT))
    clock.now = DAY + timedelta(days=30)
    for day in range(8):
        registry.drift.record("orders@1", profile(day))
    return registry


def test_usual_days_have_no_findings(watched: AnyRegistry) -> None:
    report = watched.drift.record("orders@1", profile(8))

    assert (report.events, report.compared_with, report.findings) == (10_000, 8, [])
    assert watched.drift.findings().items == []


def test_a_drift_is_found_and_kept_with_its_evidence(watched: AnyRegistry) -> None:
    report = watched.drift.record("orders@1", profile(8, price=CENTS))

    (found,) = report.findings
    assert (found.line, found.kind, found.field, found.state, found.seen) == (
        "orders@1",
        DriftKind.SCALE,
        "price",
        "open",
        1,
    )
    assert found.message == "price looks multiplied by about 100"
    assert [(bar.label, bar.before, bar.now) for bar in found.evidence][:2] == [
        ("10 to 17.8", 0.315789, 0.0),
        ("17.8 to 31.6", 0.473684, 0.0),
    ]
    assert watched.drift.get("orders@1", found.fingerprint) == found
    assert watched.drift.findings(contract="orders").items == [found]
    assert watched.drift.findings(contract="others").items == []


def test_a_drift_is_no_reference_for_the_days_after_it(watched: AnyRegistry) -> None:
    for day in range(8, 14):
        watched.drift.record("orders@1", profile(day, price=CENTS))

    (found,) = watched.drift.findings().items
    assert (found.seen, found.first_seen, found.last_seen, found.state) == (
        6,
        DAY + timedelta(days=8),
        DAY + timedelta(days=13),
        "open",
    )


def test_a_drift_ends_when_the_events_look_as_before(watched: AnyRegistry) -> None:
    watched.drift.record("orders@1", profile(8, price=CENTS))
    watched.drift.record("orders@1", profile(9))

    (found,) = watched.drift.findings().items
    assert (found.state, found.seen) == ("ended", 1)


def test_owners_and_readers_of_the_field_are_notified_once(watched: AnyRegistry) -> None:
    for name, field in (("till", "price"), ("hall", "capacity")):
        watched.consumers.subscribe(name, "orders@1", consumer_class="operational_reporting", fields=[field])
    for day in (8, 9):
        watched.drift.record("orders@1", profile(day, price=CENTS))

    (notice,) = [one for one in watched.notices.notices().items if one.kind == "drift.finding"]
    assert notice.headline == "orders@1 may have changed its meaning: price looks multiplied by about 100"
    assert "till" in notice.parties
    assert "hall" not in notice.parties


def test_an_explanation_holds_until_its_day(watched: AnyRegistry, clock: Clock) -> None:
    (found,) = watched.drift.record("orders@1", profile(8, price=CENTS)).findings
    until = clock.now.date() + timedelta(days=2)

    explained = watched.drift.explain(
        "orders@1", found.fingerprint, owner="Scheduling", reason="a sale of gold cards", until=until
    )
    clock.pass_days(3)
    lapsed = watched.drift.get("orders@1", found.fingerprint)

    assert explained.state == "explained"
    assert explained.decision is not None
    assert (explained.decision.owner, explained.decision.until, explained.decision.draft) == ("Scheduling", until, None)
    assert lapsed.state == "open"


def test_a_new_version_is_a_draft_with_a_changed_meaning(watched: AnyRegistry) -> None:
    (found,) = watched.drift.record("orders@1", profile(8, price=CENTS)).findings

    answered = watched.drift.open_version(
        "orders@1", found.fingerprint, owner="Scheduling", meaning="The price in cents.", guide=GUIDE
    )
    report = watched.check(watched.get("orders", "2.0.0").document | {"version": "1.1.0"})

    assert (answered.state, answered.decision and answered.decision.draft) == ("new_version", "2.0.0")
    draft = watched.get("orders", "2.0.0").document
    assert draft["status"] == "draft"
    assert draft["event"]["meaning"] == "A class was put on the schedule or changed. price: The price in cents."
    assert next(one for one in draft["schema"][0]["properties"] if one["name"] == "price")["description"] == (
        "The price in cents."
    )
    assert draft["changelog"][0]["changes"] == [
        "price means something else: The price in cents.",
        "price looks multiplied by about 100",
    ]
    assert "event_meaning_changed" in {one.kind for one in report.issues}


def test_a_declared_change_is_no_drift(watched: AnyRegistry) -> None:
    watched.register(orders("1.1.0", fields=[ID, CAPACITY, {**PRICE, "unit": "EUR cents"}], event=EVENT))

    report = watched.drift.record("orders@1", profile(8, price=CENTS, version="1.1.0"))

    assert (report.compared_with, report.findings) == (8, [])


def test_an_undeclared_change_is_found_across_versions(watched: AnyRegistry) -> None:
    watched.register(orders("1.0.1", fields=[ID, {**CAPACITY, "description": "All places."}, PRICE], event=EVENT))

    report = watched.drift.record("orders@1", profile(8, price=CENTS, version="1.0.1"))

    assert [one.kind for one in report.findings] == [DriftKind.SCALE]


def test_runs_of_the_same_hour_count_as_one_and_a_repeated_run_once(watched: AnyRegistry) -> None:
    first = profile(8)
    second = first.model_copy(update={"run": first.run + 1, "at": first.at + timedelta(minutes=10)})

    watched.drift.record("orders@1", first)
    both = watched.drift.record("orders@1", second)
    again = watched.drift.record("orders@1", second)

    assert (both.events, again.events, again.compared_with) == (20_000, 20_000, 0)
    assert watched.drift.record("orders@1", profile(9)).compared_with == 9


def test_in_the_first_hour_a_run_is_compared_with_the_runs_before(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders(fields=[ID, CAPACITY, PRICE], event=EVENT))
    clock.now = DAY + timedelta(days=30)
    first = profile(8)
    second = profile(8, price=CENTS).model_copy(update={"run": 2, "at": first.at + timedelta(minutes=5)})

    registry.drift.record("orders@1", first)
    report = registry.drift.record("orders@1", second)

    assert [one.kind for one in report.findings] == [DriftKind.SCALE]
    assert (report.events, report.compared_with) == (20_000, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": "9.0.0"}, "orders"),
        ({"at": DAY + timedelta(days=90)}, "in the future; check its clock"),
        ({"histograms": {"field:price": {900: 1}}}, "field:price has the code 900; it has codes up to 129"),
    ],
)
def test_a_profile_that_cannot_be_is_refused(watched: AnyRegistry, change: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidDocument, NotFound), match=message):
        watched.drift.record("orders@1", profile(8).model_copy(update=change))


def test_bad_answers_are_refused(watched: AnyRegistry) -> None:
    (found,) = watched.drift.record("orders@1", profile(8, price=CENTS)).findings
    drift, name = watched.drift, found.fingerprint

    with pytest.raises(NotFound, match="has no drift finding '0000'"):
        drift.get("orders@1", "0000")
    with pytest.raises(NotFound, match="others"):
        drift.get("others@1", name)
    with pytest.raises(InvalidDocument, match="until today or a later day"):
        drift.explain("orders@1", name, owner="a", reason="b", until=date(2026, 1, 1))
    with pytest.raises(InvalidDocument, match="owner"):
        drift.explain("orders@1", name, owner=" ", reason="b", until=date(2027, 1, 1))
    with pytest.raises(Refused, match="no migration plan"):
        drift.open_version("orders@1", name, owner="a", meaning="Cents.")
    assert drift.get("orders@1", name).decision is None


def test_findings_are_listed_in_pages(watched: AnyRegistry) -> None:
    shifted = {27: 10_000}
    histograms = {"field:price": CENTS, "field:capacity": shifted}
    watched.drift.record("orders@1", profile(8, histograms=histograms))

    first = watched.drift.findings(limit=1)
    second = watched.drift.findings(limit=1, cursor=first.next)

    assert {one.field for one in (*first.items, *second.items)} == {"price", "capacity"}
    assert second.next is None
