"""Frozen values: what was put off is worked out when somebody asks, and once."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, replace
from typing import Any

import pytest

from treaty.contracts import contract_from
from treaty.contracts.frozen import later, made, put_off, work_out
from treaty.contracts.loader import parse
from treaty.contracts.text import read_json


@dataclass(frozen=True)
class Report:
    title: str
    pages: int | None = put_off(None)


class Count:
    """Says how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> int:
        self.asked += 1
        return 12


def put_off_to(work: Any) -> Report:
    return made(Report, {"title": "a", later("pages"): work})


def test_what_nobody_put_off_is_said_or_the_default() -> None:
    assert Report("a").pages is None
    assert Report("a", 3).pages == 3
    assert made(Report, {"title": "a"}) == Report("a")


def test_what_was_put_off_is_worked_out_once() -> None:
    work = Count()
    report = put_off_to(work)

    assert work.asked == 0
    assert (report.pages, report.pages, work.asked) == (12, 12, 1)


def test_a_value_is_equal_whenever_it_was_worked_out() -> None:
    assert put_off_to(Count()) == Report("a", 12)
    assert hash(put_off_to(Count())) == hash(Report("a", 12))
    assert replace(put_off_to(Count()), title="b") == Report("b", 12)
    assert repr(put_off_to(Count())) == repr(Report("a", 12))


def test_everything_can_be_worked_out_now() -> None:
    work = Count()
    report = put_off_to(work)
    work_out(report)

    assert work.asked == 1
    assert vars(report) == {"title": "a", "pages": 12}


SHORT = b"""{"dataset_id": "orders", "version": "1.0.0", "owners": [{"team": "sales"}],
"freshness_sla": {"max_lag_seconds": 60}, "fields": [{"name": "id", "type": "string"}]}"""


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301


@pytest.mark.parametrize("moved", [copy.copy, copy.deepcopy, pickled])
def test_a_contract_can_be_copied_before_anybody_asked_for_its_fields(moved: Any) -> None:
    contract = parse(read_json(SHORT)).contract

    assert moved(contract) == parse(read_json(SHORT)).contract


def test_a_contract_does_not_change_with_the_data_it_was_made_from() -> None:
    data = read_json(SHORT).data
    contract = contract_from(data)
    data["fields"].append({"name": "late", "type": "string"})
    data["owners"][0]["team"] = "somebody else"
    data["freshness_sla"]["max_lag_seconds"] = 1

    assert contract == parse(read_json(SHORT)).contract
