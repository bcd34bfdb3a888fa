"""Treaty's own blocks, as they are authored."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.contracts.strategies.values import at_least_one, dates, few, mapping, words


@cache
def blocks() -> dict[str, SearchStrategy[Any]]:
    """Treaty's own blocks, each as it is authored."""
    said = {"statement": words()}
    classes = st.sampled_from(("exploratory_analytics", "operational_reporting", "decision_automation"))
    modes = st.sampled_from(("none", "backward", "forward", "full", "full_transitive"))
    lengths = st.sampled_from(("30 d", "P3M", "2 months", "1w"))
    exclusion = st.one_of(words(), mapping({"what": words()}, {"why": words()}))
    upstream = {"contract": words(), "source": words()}
    traced = [mapping({name: upstream[name]}, {**upstream, "fields": few(words())}) for name in upstream]
    demand = at_least_one({"classification": st.just(True), "unit": words(), "required": st.booleans()})
    requirement = mapping(
        {"name": words(), "for": st.just("field"), "must": demand},
        {"where": at_least_one({"tag": words(), "name": words()}), "message": words()},
    )
    moved = mapping(
        {"from": st.sampled_from(("gone", "customer.`first name`", "lines[].sku"))},
        {"back_default": st.sampled_from(("EUR", 0, 1.5, True)), "back": words(), "note": words()},
    ).filter(lambda entry: len(entry.keys() - {"note"}) > 1)
    measure_names = st.sampled_from(("unpaid_pct", "late_orders", "margin_2"))
    states = st.sampled_from(("placed", "paid", "shipped"))
    targets = st.sampled_from(({"at_most": 2}, {"at_least": 99.5}))
    purposes = {"clear_for": st.lists(words(), min_size=1, max_size=2)}
    keyed = mapping({"mask": st.sampled_from(("hash", "tokenise")), "key": st.just("customer")}, purposes)
    generalised = mapping({"mask": st.just("generalise"), "to": st.sampled_from(("month", "year"))}, purposes)
    rules = st.one_of(st.sampled_from(("redact", "null", None)), keyed, generalised)
    return {
        "data_policy": at_least_one(
            {
                "classifications": st.dictionaries(words(), rules, min_size=1, max_size=2),
                "purposes": st.lists(words(), min_size=1, max_size=2),
            }
        ),
        "owners": st.lists(mapping({"team": words()}, {"contact": words()}), min_size=1, max_size=2),
        "deprecation": at_least_one(
            {name: words() for name in ("replacement", "migration_guide", "reason")}
            | {name: dates() for name in ("announced", "sunset_date")}
        ),
        "migration": mapping(
            {"guide": words(), "window": lengths, "owner": words()}, {"fields": st.lists(moved, min_size=1, max_size=2)}
        ),
        "changelog": st.lists(
            mapping({"version": words(), "changes": st.lists(words(), min_size=1, max_size=2)}, {"date": dates()}),
            min_size=1,
            max_size=2,
        ),
        "change_policy": at_least_one({"compatibility": modes, "notice": lengths, **said}),
        "intended_consumers": st.lists(
            mapping({"name": words()}, {"purpose": words(), "class": classes}), min_size=1, max_size=2
        ),
        "delivery": mapping(
            {"guarantee": st.sampled_from(("at_most_once", "at_least_once", "exactly_once"))},
            {"channels": few(words()), **said},
        ),
        "ordering": st.one_of(
            st.just("none"), mapping({"key": st.lists(words(), min_size=1, max_size=2), "sequence": words()}, said)
        ),
        "latency": at_least_one(
            {
                "profile": st.sampled_from(("real_time", "near_real_time", "hourly", "daily", "settled")),
                "within": st.sampled_from(("5 min", "PT1H")),
                "percentile": st.sampled_from((50, 99.9, 100)),
                **said,
            }
        ),
        "tier": st.sampled_from(("enterprise", "domain", "product", "edge")),
        "parent": words(),
        "expires": dates(),
        "sharing": st.sampled_from(("enterprise", "domain", "edge")),
        "effective_from": dates(),
        "require": st.lists(requirement, min_size=1, max_size=2, unique_by=lambda entry: entry["name"]),
        "exclusions": st.lists(exclusion, min_size=1, max_size=2),
        "measures": st.lists(
            st.one_of(
                [
                    mapping(
                        {"name": measure_names, how: words()}, {"meaning": words(), "unit": words(), "target": targets}
                    )
                    for how in ("expression", "rule")
                ]
            ),
            min_size=1,
            max_size=2,
            unique_by=lambda entry: entry["name"],
        ),
        "event": mapping({"type": words()}, {"meaning": words()}),
        "lifecycle": mapping(
            {"stream": words()},
            {
                "moves": st.lists(
                    mapping({"to": states}, {"from": states}),
                    min_size=1,
                    max_size=2,
                    unique_by=lambda one: one.get("from"),
                ),
                "invariants": st.lists(
                    mapping(
                        {"name": measure_names, "sql": words()},
                        {"severity": st.sampled_from(("error", "warning")), "meaning": words()},
                    ),
                    min_size=1,
                    max_size=2,
                    unique_by=lambda one: one["name"],
                ),
            },
        ),
        "content": st.sampled_from(["open", "closed"]),
        "source_authority": words(),
        "lineage": st.lists(st.one_of(traced), min_size=1, max_size=2),
        "visibility": st.one_of(
            st.just("private"),
            at_least_one({name: st.lists(words(), min_size=1, max_size=2) for name in ("teams", "domains")}),
        ),
    }
