"""Turning tokens back needs the role that the data policy names and a purpose, and is one audit entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.documents import document
from tests.registry.backends import Backend
from treaty.errors import InvalidDocument, NotAllowed, NotFound
from treaty.registry.rules import RegistryRules

everywhere = pytest.mark.parametrize("open_backend", ["sqlite", "http"], indirect=True)
ASKED: dict[str, Any] = {"field": "email", "purpose": "fraud review", "tokens": 3}


def _customers(role: str | None) -> dict[str, Any]:
    rule = {"mask": "tokenise", "key": "customer"} | ({"role": role} if role else {})
    fields = [{"name": "email", "logicalType": "string"}]
    policy = {"fields": {"email": rule}, "purposes": ["fraud*", "support"]}
    return document({"id": "shop.customers", "fields": fields, "data_policy": policy})


@pytest.fixture
def backend(open_backend: Callable[[RegistryRules], Backend]) -> Backend:
    return open_backend(RegistryRules())


@everywhere
def test_the_audit_log_has_who_asked_and_why_without_tokens(backend: Backend) -> None:
    backend.local.register(_customers("steward"))

    allowed = backend.acting_as("sten", "steward").governance.authorize_detokenisation("shop.customers@1", **ASKED)

    entries = [
        entry
        for entry in backend.local.access.audit(subject="shop.customers@1").items
        if entry.action == "tokens.detokenise"
    ]
    assert (allowed.key, allowed.tokens) == ("customer", 3)
    assert [(entry.seq, entry.actor, entry.details) for entry in entries] == [
        (allowed.audit, "sten", {"field": "email", "purpose": "fraud review", "tokens": 3, "key": "customer"})
    ]


@everywhere
def test_other_roles_purposes_and_numbers_are_refused_and_not_recorded(backend: Backend) -> None:
    backend.local.register(_customers("steward"))

    refused: list[tuple[str, dict[str, Any], type[Exception], str]] = [
        ("viewer", {}, NotAllowed, "viewer"),
        ("steward", {"purpose": "marketing"}, NotAllowed, "allows fraud"),
        ("steward", {"tokens": 0}, InvalidDocument, "tokens"),
        ("steward", {"tokens": 10_001}, InvalidDocument, "tokens"),
        ("steward", {"field": "name"}, NotFound, "has no field name"),
    ]
    for role, differs, error, words in refused:
        with pytest.raises(error, match=words):
            backend.acting_as(f"a {role}", role).governance.authorize_detokenisation(
                "shop.customers@1", **ASKED | differs
            )
    with pytest.raises(NotFound, match="nothing@1"):
        backend.acting_as("sten", "steward").governance.authorize_detokenisation("nothing@1", **ASKED)

    tokens = [entry for entry in backend.local.access.audit().items if entry.action == "tokens.detokenise"]
    assert tokens == []


@pytest.mark.parametrize("open_backend", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("needed", "held", "is_allowed"),
    [
        ("admin", "steward", False),
        ("owner", "owner:checkout", True),
        ("owner", "contributor:checkout", False),
        ("owner:privacy", "owner:privacy", True),
        ("owner:privacy", "owner:checkout", False),
        ("owner:privacy", "steward", True),
        (None, "admin", False),
        ("dpo", "admin", False),
    ],
)
def test_a_role_is_held_in_the_team_that_it_names_or_in_that_of_the_contract(
    backend: Backend, needed: str | None, held: str, is_allowed: bool
) -> None:
    backend.local.register(_customers(needed))
    role, _, team = held.partition(":")
    governance = backend.acting_as("someone", role, team or None).governance

    if is_allowed:
        assert governance.authorize_detokenisation("shop.customers@1", **ASKED).key == "customer"
    else:
        with pytest.raises(NotAllowed):
            governance.authorize_detokenisation("shop.customers@1", **ASKED)
