"""The lifecycle of a version: allowed transitions, their dates, and what consumers see."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from treaty.contracts.blocks import Deprecation
from treaty.errors import InvalidDocument, Refused
from treaty.governance.lifecycle import (
    EXISTING_CONSUMERS,
    FOLLOWS,
    NEW_CONSUMERS,
    Periods,
    Status,
    check_step,
    line_status,
    parse_status,
    status_on,
    timetable,
)

ANNOUNCED = date(2026, 1, 3)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("draft", "active"),
        ("active", "deprecated"),
        ("deprecated", "sunset"),
        ("sunset", "retired"),
        ("deprecated", "active"),
        ("draft", "archived"),
        ("sunset", "archived"),
    ],
)
def test_a_version_lives_through_its_states(before: str, after: str) -> None:
    check_step(Status(before), Status(after), "orders 1.0.0")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("active", "sunset"),
        ("active", "retired"),
        ("deprecated", "retired"),
        ("retired", "active"),
        ("archived", "draft"),
    ],
)
def test_no_state_is_left_out_and_none_comes_back_from_the_end(before: str, after: str) -> None:
    with pytest.raises(Refused, match=f"orders 1.0.0 is {before} and cannot become {after}"):
        check_step(Status(before), Status(after), "orders 1.0.0")


def test_every_status_says_what_follows_and_how_consumers_are_received() -> None:
    assert set(FOLLOWS) == set(NEW_CONSUMERS) == set(EXISTING_CONSUMERS) == set(Status)


@pytest.mark.parametrize(
    ("status", "new", "existing"),
    [
        ("active", "allowed", "allowed"),
        ("deprecated", "warned", "warned"),
        ("sunset", "refused", "warned"),
        ("retired", "refused", "refused"),
    ],
)
def test_consumers_are_received_as_the_status_says(status: str, new: str, existing: str) -> None:
    assert NEW_CONSUMERS[Status(status)] == new
    assert EXISTING_CONSUMERS[Status(status)] == existing


def test_without_dates_a_deprecation_takes_the_least_period() -> None:
    days = timetable(None, ANNOUNCED, Periods())

    assert (days.announced, days.sunset, days.retirement) == (ANNOUNCED, date(2026, 2, 2), date(2026, 2, 9))


def test_the_dates_of_the_document_hold() -> None:
    notice = Deprecation(announced="2026-01-03", sunset_date="2026-03-01")

    days = timetable(notice, date(2026, 1, 20), Periods())

    assert (days.announced, days.sunset) == (date(2026, 1, 3), date(2026, 3, 1))


def test_a_sunset_before_the_least_period_is_refused_with_the_earliest_day() -> None:
    with pytest.raises(Refused, match="use 2026-02-02 or later"):
        timetable(Deprecation(sunset_date="2026-01-20"), ANNOUNCED, Periods())


def test_the_periods_are_settings() -> None:
    days = timetable(None, ANNOUNCED, Periods(timedelta(days=5), timedelta(days=1)))

    assert (days.sunset, days.retirement) == (date(2026, 1, 8), date(2026, 1, 9))


@pytest.mark.parametrize(
    ("recorded", "today", "status"),
    [
        ("deprecated", date(2026, 2, 1), "deprecated"),
        ("deprecated", date(2026, 2, 2), "sunset"),
        ("sunset", date(2027, 1, 1), "sunset"),
        ("active", date(2026, 1, 2), "active"),
        ("active", date(2026, 1, 3), "deprecated"),
        ("active", date(2026, 2, 2), "sunset"),
        ("draft", date(2027, 1, 1), "draft"),
        ("archived", date(2027, 1, 1), "archived"),
    ],
)
def test_the_calendar_deprecates_and_sunsets_what_was_announced_and_never_retires_it(
    recorded: str, today: date, status: str
) -> None:
    days = timetable(None, ANNOUNCED, Periods())

    assert status_on(Status(recorded), days.announced, days.sunset, today) is Status(status)


@pytest.mark.parametrize(("text", "status"), [(None, "draft"), ("proposed", "draft"), ("active", "active")])
def test_a_status_is_read_from_a_document(text: str | None, status: str) -> None:
    assert parse_status(text) is Status(status)


def test_an_unknown_status_names_the_known_ones() -> None:
    with pytest.raises(InvalidDocument, match="use one of: draft, active, deprecated"):
        parse_status("living")


@pytest.mark.parametrize(
    ("statuses", "line"),
    [
        (["deprecated", "active"], "deprecated"),
        (["draft", "active"], "active"),
        (["active", "deprecated"], "active"),
        (["archived", "active"], "active"),
        (["retired", "sunset"], "sunset"),
        (["draft", "retired"], "draft"),
        (["retired", "archived"], "retired"),
    ],
)
def test_the_status_of_a_line_is_that_of_its_highest_released_version(statuses: list[str], line: str) -> None:
    assert line_status([Status(status) for status in statuses]) is Status(line)
