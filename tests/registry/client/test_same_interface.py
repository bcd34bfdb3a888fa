"""The client has the methods of the local registry, parameter by parameter: they cannot drift apart."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from treaty.registry.client import RegistryClient
from treaty.registry.client import resources as client_access
from treaty.registry.client import resources as client_consumers
from treaty.registry.client import resources as client_governance
from treaty.registry.client import resources as client_measures
from treaty.registry.client import resources as client_migrations
from treaty.registry.client import resources as client_notices
from treaty.registry.service import Registry
from treaty.registry.service import access_tokens as local_access
from treaty.registry.service import consumers as local_consumers
from treaty.registry.service import governance as local_governance
from treaty.registry.service import measures as local_measures
from treaty.registry.service import migrations as local_migrations
from treaty.registry.service import notifications as local_notices

FOR_SERVERS = {"open", "acting_as", "desk", "submit", "ask_latest", "latest_json", "cached_latest_json"}
"""What only those need who hold the database."""

PAIRS: list[tuple[type, type]] = [
    (Registry, RegistryClient),
    (local_consumers.Consumers, client_consumers.Consumers),
    (local_governance.Governance, client_governance.Governance),
    (local_measures.Measures, client_measures.Measures),
    (local_migrations.Migrations, client_migrations.Migrations),
    (local_notices.Notices, client_notices.Notices),
    (local_access.Access, client_access.Access),
]


def methods(of: type) -> dict[str, Callable[..., Any]]:
    return {name: one for name, one in vars(of).items() if not name.startswith("_") and name not in FOR_SERVERS}


@pytest.mark.parametrize(("local", "client"), PAIRS, ids=[local.__name__ for local, _ in PAIRS])
def test_the_client_has_every_method_with_the_same_parameters(local: type, client: type) -> None:
    ours, theirs = methods(client), methods(local)

    assert ours.keys() == theirs.keys()
    for name, method in theirs.items():
        assert inspect.signature(ours[name]) == inspect.signature(method), name
        assert inspect.getdoc(ours[name]) == inspect.getdoc(method) or name == "close", name


def test_the_client_has_the_same_parts() -> None:
    with RegistryClient("http://127.0.0.1:9") as client:
        parts = {name for name in vars(client) if not name.startswith("_")}

    assert parts == {"consumers", "governance", "measures", "migrations", "notices", "access"}
