"""Random policies, subscriptions and rows of the orders, and what a consumer reads of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from hypothesis import strategies as st

from tests.serving.shop import KEYS, LINE, SCHEMA, contract
from treaty.consumers.subscriptions import ConsumerClass, Subscription, parse_fields
from treaty.contracts.loader import contract_from
from treaty.contracts.versions import parse_line
from treaty.governance.effective import effective_contract
from treaty.policy import EffectiveView
from treaty.policy.arrow_views import apply_view
from treaty.policy.key_files import key_finder
from treaty.registry.model import VersionAnswer
from treaty.registry.service.data_readers import DataReader
from treaty.serving.encoding import row_as_json

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PURPOSES = ("support", "analytics", "partner")
FIELDS = ("order_id", "placed_on", "customer", "email", "amount", "country", "lines")
TEXTS = st.text("ab –ü\n\"',;", max_size=6)
MASKS = st.one_of(
    st.just("null"),
    st.builds(lambda text: {"mask": "redact", "text": text}, st.sampled_from(("***", "x"))),
    st.just({"mask": "hash", "key": "customers"}),
    st.just({"mask": "tokenise", "key": "customers"}),
    st.just({"mask": "generalise", "to": "prefix", "length": 1}),
    st.just({"mask": "generalise", "to": "month"}),
)


def _rule(mask: Any, purposes: list[str]) -> Any:
    rule = {"mask": mask} if isinstance(mask, str) else dict(mask)
    return rule | ({"clear_for": purposes} if purposes else {})


RULES = st.builds(_rule, MASKS, st.lists(st.sampled_from(PURPOSES), unique=True, max_size=2))
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "classifications": st.dictionaries(st.sampled_from(("restricted", "secret")), RULES, min_size=1),
        "fields": st.dictionaries(st.sampled_from((*FIELDS[1:], "lines[].sku")), RULES, min_size=1, max_size=3),
        "purposes": st.lists(st.sampled_from(PURPOSES), unique=True, min_size=1),
        "residency": st.just({"column": "country", "serve": {"de": ["eu"], "us": ["us"], "fr": ["*"]}}),
        "retention": st.just({"column": "placed_on", "at_most": "40 d"}),
    },
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "placed_on": st.none() | st.dates(datetime(2026, 1, 1).date(), datetime(2026, 2, 28).date()),
            "customer": st.none() | TEXTS,
            "email": st.none() | TEXTS,
            "amount": st.none() | st.decimals(-1_000, 1_000, places=2).map(Decimal),
            "country": st.sampled_from(("de", "us", "fr", "", None)),
            "lines": st.lists(st.fixed_dictionaries({"sku": st.none() | TEXTS, "note": st.none() | TEXTS}), max_size=2),
        }
    ),
    max_size=40,
)


def reader_of(policy: dict[str, Any], purpose: str | None, fields: list[str]) -> DataReader:
    subscription = Subscription(
        "reader", parse_line(LINE), ConsumerClass.OPERATIONAL_REPORTING, parse_fields(fields), purpose
    )
    document = {name: value for name, value in contract().items() if name != "data_policy"}
    effective = effective_contract(
        contract_from(document | ({"data_policy": policy} if policy else {}), "the test"), ()
    )
    version = VersionAnswer.model_construct(version="1.0.0", status="active")
    return DataReader(subscription, version, effective)


def readable(rows: list[dict[str, Any]], view: EffectiveView) -> pa.Table:
    return apply_view(pa.Table.from_pylist(rows, SCHEMA), view, key_finder(KEYS), NOW)


def cells_of(table: pa.Table) -> dict[str, Any]:
    if "order_id" not in table.column_names:
        return {}
    return {row["order_id"]: json.loads(row_as_json(row)) for row in table.to_pylist()}
