"""The page of publishers: the life cycle of the stream, invariants, and certificates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.catalog.gym_registry import CANCELLED, UPDATED, fill_gym
from treaty.catalog import links
from treaty.catalog.pages.contract import publishers_page
from treaty.catalog.pages.contract.contract_data import heading_of, load_contract_data
from treaty.catalog.rendering import Page
from treaty.catalog.svg.state_diagram import Transition
from treaty.registry.service import Registry


@pytest.fixture(scope="module")
def gym(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with Registry.open(str(tmp_path_factory.mktemp("gym") / "registry.db")) as registry:
        yield fill_gym(registry)


def page(gym: Registry, name: str) -> Page:
    return publishers_page(gym, name)


def test_the_life_cycle_has_the_events_of_all_contracts_of_the_stream(gym: Registry) -> None:
    diagram = page(gym, UPDATED).values["diagram"]

    assert diagram.transitions == (
        Transition("scheduled", "ClassCancelled", "cancelled", is_own=False),
        Transition("start", "ClassPublished", "scheduled", is_own=False),
        Transition("scheduled", "ClassUpdated", "scheduled", is_own=True),
    )
    assert [(box.name, box.is_final) for box in diagram.boxes if box.kind == "state"] == [
        ("scheduled", False),
        ("cancelled", True),
    ]
    assert [box.name for box in diagram.boxes if box.is_own] == ["ClassUpdated"]


def test_certificates_show_their_state_and_what_was_not_seen(gym: Registry) -> None:
    rows = page(gym, UPDATED).values["certificates"]

    assert sorted((row.certificate.publisher.split()[0], row.certificate.state, row.icon) for row in rows) == [
        ("club", "revoked", "failing"),
        ("desk", "valid", "healthy"),
        ("native", "valid", "healthy"),
    ]
    assert rows[0].unseen == (("optional field", ("note",), 0),)
    assert page(gym, CANCELLED).values["certificates"] == ()


def test_only_event_contracts_have_the_tab(gym: Registry) -> None:
    data = load_contract_data(gym, UPDATED)

    assert links.publishers(UPDATED) in [tab.link for tab in heading_of(data, data.highest, "publishers").tabs]
