"""Frozen values: a deferred attribute is computed on first access, and only once."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, replace
from typing import Any

import pytest

from treaty.contracts import contract_from
from treaty.contracts.frozen import build_frozen, deferred, deferred_key, resolve_deferred
from treaty.contracts.loader import parse
from treaty.contracts.text import read_json


@dataclass(frozen=True)
class Report:
    title: str
    pages: int | None = deferred(None)


class Count:
    """Counts how often it is called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        return 12


def deferring(compute: Any) -> Report:
    return build_frozen(Report, {"title": "a", deferred_key("pages"): compute})


def test_attribute_without_deferral_is_given_or_default() -> None:
    assert Report("a").pages is None
    assert Report("a", 3).pages == 3
    assert build_frozen(Report, {"title": "a"}) == Report("a")


def test_deferred_attribute_is_computed_once() -> None:
    work = Count()
    report = deferring(work)

    assert work.calls == 0
    assert (report.pages, report.pages, work.calls) == (12, 12, 1)


def test_deferred_and_given_values_are_equal() -> None:
    assert deferring(Count()) == Report("a", 12)
    assert hash(deferring(Count())) == hash(Report("a", 12))
    assert replace(deferring(Count()), title="b") == Report("b", 12)
    assert repr(deferring(Count())) == repr(Report("a", 12))


def test_resolve_deferred_computes_everything() -> None:
    work = Count()
    report = deferring(work)
    resolve_deferred(report)

    assert work.calls == 1
    assert vars(report) == {"title": "a", "pages": 12}


SHORT = b"""{"dataset_id": "orders", "version": "1.0.0", "owners": [{"team": "sales"}],
"freshness_sla": {"max_lag_seconds": 60}, "fields": [{"name": "id", "type": "string"}]}"""


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickled])
def test_contract_with_deferred_fields_can_be_copied(duplicate: Any) -> None:
    contract = parse(read_json(SHORT)).contract

    assert duplicate(contract) == parse(read_json(SHORT)).contract


def test_contract_is_independent_of_its_source_data() -> None:
    data = read_json(SHORT).data
    contract = contract_from(data)
    data["fields"].append({"name": "late", "type": "string"})
    data["owners"][0]["team"] = "other"
    data["freshness_sla"]["max_lag_seconds"] = 1

    assert contract == parse(read_json(SHORT)).contract
