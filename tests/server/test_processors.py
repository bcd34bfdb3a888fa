"""Processors: each process of a server keeps to one, unless it is told not to."""

from __future__ import annotations

import os

import pytest

from treaty.server.processors import Processors, keep_still, processor_of


def test_places_follow_each_other_from_the_last_processor_to_the_first_and_begin_anew() -> None:
    assert [processor_of(place, {0, 3, 7}) for place in range(4)] == [7, 3, 0, 7]


@pytest.fixture
def kept_to(monkeypatch: pytest.MonkeyPatch) -> list[set[int]]:
    """Which processors a process was kept to; the one of the tests itself goes on as it was."""
    found: list[set[int]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, chosen: found.append(set(chosen)), raising=False)
    return found


def test_a_process_keeps_to_one_of_those_it_may_use(kept_to: list[set[int]]) -> None:
    keep_still(Processors.ONE, 8090)
    keep_still(Processors.ONE, 8091)
    assert kept_to == [{1}, {0}]


def test_a_process_that_is_told_to_use_all_is_left_alone(kept_to: list[set[int]]) -> None:
    keep_still(Processors.ALL, 8090)
    assert kept_to == []


def test_where_a_system_cannot_keep_processes_nothing_happens(
    kept_to: list[set[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "sched_setaffinity")
    keep_still(Processors.ONE, 8090)
    assert kept_to == []


def test_a_system_that_forbids_it_is_obeyed(kept_to: list[set[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    def forbid(_: int, chosen: set[int]) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", forbid)
    keep_still(Processors.ONE, 8090)
    assert kept_to == []
