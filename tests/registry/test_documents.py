"""A document is kept as it was handed in, and read back in its form at its present status."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.registry.backends import AnyRegistry
from tests.registry.offers import ORDERS, USERS, orders, users
from treaty.contracts.text.writer import write_yaml
from treaty.registry.documents import prepare

JSON = "application/json"
YAML = "application/yaml"
IDS = (
    "a/b/c",
    "retail/orders-eu",
    "über.größe",
    "注文/毎日",
    "заказы",
    "100%",
    "a%2Fb",
    "what?",
    "no#1",
    "a&b=c",
    "x@1",
    "versions",
    "a/versions",
    "a/versions/1.0.0",
    "a/lines",
    "diff",
    "a+b",
    "e\u0301",  # with an accent of its own
)


@pytest.mark.parametrize(
    ("content", "media"),
    [
        pytest.param(write_yaml(users()).encode(), YAML, id="short form in YAML"),
        pytest.param(b"# a comment\n" + write_yaml(users()).encode() + b"\n\n", YAML, id="YAML with a comment"),
        pytest.param(json.dumps(users(), indent=3).encode(), JSON, id="short form in JSON"),
        pytest.param(b"\n " + json.dumps(users()).encode() + b"\n", JSON, id="JSON with blanks around"),
        pytest.param(b"\xef\xbb\xbf" + json.dumps(users()).encode(), JSON, id="JSON behind a mark of its encoding"),
        pytest.param(
            b"{dataset_id: users.daily_active, version: 1.0.0, status: active,"
            b" owners: [{team: growth}], fields: [{name: a, type: string}]}",
            YAML,
            id="YAML that begins like JSON",
        ),
        pytest.param(json.dumps(users(description="größer → 注")).encode(), JSON, id="escapes"),
        pytest.param(json.dumps(users(description="größer → 注"), ensure_ascii=False).encode(), JSON, id="no escapes"),
    ],
)
@pytest.mark.parametrize("as_text", [False, True], ids=["bytes", "text"])
def test_a_document_is_returned_byte_for_byte(registry: AnyRegistry, content: bytes, media: str, as_text: bool) -> None:
    registry.register(content.decode() if as_text else content)

    assert registry.given(USERS, "1.0.0") == (content, media)
    assert registry.get(USERS, "1.0.0").document["dataset_id"] == USERS


def test_a_prepared_document_is_handed_in_as_it_is(registry: AnyRegistry) -> None:
    content = write_yaml(users()).encode()

    registry.register(prepare(content))

    assert registry.given(USERS, "1.0.0") == (content, YAML)


def test_a_mapping_is_kept_as_json(registry: AnyRegistry) -> None:
    registry.register(users(description="größer"))

    content, media = registry.given(USERS, "1.0.0")

    assert (json.loads(content), media) == (users(description="größer"), JSON)
    assert "größer".encode() in content


def test_a_short_form_is_read_back_in_short_form_with_its_present_status(registry: AnyRegistry) -> None:
    registry.register(users())
    registry.deprecate(USERS, "1.0.0", deprecation_uri="https://wiki.example.org/move")

    found = registry.get(USERS, "1.0.0")

    assert found.form == "short"
    assert found.document == {
        "dataset_id": USERS,
        "version": "1.0.0",
        "description": None,
        "status": "deprecated",
        "owners": [{"team": "growth", "contact": "#growth"}],
        "fields": [
            {"name": "user_id", "type": "string", "required": True, "description": None, "enum": None}
            | {"deprecated": False},
            {"name": "plan", "type": "string", "required": True, "description": None, "enum": ["free", "pro"]}
            | {"deprecated": False},
            {"name": "ltv", "type": "number", "required": False, "description": None, "enum": None}
            | {"deprecated": False},
        ],
        "primary_key": ["user_id"],
        "freshness_sla": None,
        "deprecation_uri": "https://wiki.example.org/move",
    }


def test_odcs_is_read_back_as_odcs_with_its_present_status(registry: AnyRegistry) -> None:
    given_in = orders(status="draft", tags=["eu"], customProperties=[{"property": "kept", "value": {"a": [1, None]}}])
    registry.register(given_in)
    registry.activate(ORDERS, "1.0.0")

    found = registry.get(ORDERS, "1.0.0")

    assert found.form == "odcs"
    assert found.document == {**given_in, "status": "active"}


def test_a_version_says_who_registered_it_when_and_what_it_is(registry: AnyRegistry) -> None:
    registry.register(users())

    found = registry.get(USERS, "1.0.0")

    assert (found.contract, found.version, found.line, found.mode) == (USERS, "1.0.0", f"{USERS}@1", "backward")
    assert (found.registered_by, found.registered_at.isoformat()) == ("local", "2026-03-01T12:00:00+00:00")
    assert [(owner.team, owner.contact) for owner in found.owners] == [("growth", "#growth")]
    assert found.digest == prepare(users()).digest


def test_the_digest_does_not_depend_on_the_order_of_keys_or_the_notation(registry: AnyRegistry) -> None:
    registry.register(write_yaml(users()))
    turned = dict(reversed(users(dataset_id="turned").items()))
    registry.register(turned)
    again = {**turned, "dataset_id": USERS}

    assert registry.get(USERS, "1.0.0").digest == prepare(again).digest


def test_ids_may_have_slashes_and_any_letter(registry: AnyRegistry) -> None:
    for name in IDS:
        registry.register(users(dataset_id=name))
    for name in IDS:
        assert registry.latest(name).contract == name
        assert registry.get(name, "1.0.0").document["dataset_id"] == name
        assert json.loads(registry.given(name, "1.0.0")[0])["dataset_id"] == name
        assert [one.version for one in registry.history(name).items] == ["1.0.0"]
        assert [one.line for one in registry.lines(name)] == [f"{name}@1"]
        assert registry.diff(name, "1.0.0", "1.0.0").contract == name
        assert registry.deprecate(name, "1.0.0", deprecation_uri="https://x.example/").status == "deprecated"
        assert registry.activate(name, "1.0.0").status == "active"
        assert [one.contract for one in registry.deprecate_line(f"{name}@1", deprecation_uri="u")] == [name]
        assert registry.archive(name, "1.0.0").contract == name

    assert registry.datasets().items == sorted(IDS)


_WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=40).filter(str.strip)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_WORDS, notation=st.sampled_from([json.dumps, write_yaml]))
def test_any_document_is_returned_unchanged(registry: AnyRegistry, text: str, notation: Any) -> None:
    count = len(registry.datasets(limit=1_000).items)
    name = f"law.{count}"
    document = users(dataset_id=name, description=text)
    content = notation(document).encode()

    registry.register(content)

    assert registry.given(name, "1.0.0")[0] == content
    found = registry.get(name, "1.0.0")
    assert found.document["description"] == text
    assert found.digest == prepare(document).digest == prepare(content).digest
