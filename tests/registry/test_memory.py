"""The library reads as the quickstart does: register, check, deprecate, archive, all in memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import ValidationError

from treaty import ContractRegistry, DataContract, DataField, FreshnessSLA, MigrationPlan, Owner
from treaty.errors import Conflict, InvalidDocument, NotFound


@pytest.fixture
def v1() -> DataContract:
    return DataContract(
        dataset_id="users.daily_active",
        version="1.0.0",
        primary_key=["user_id", "active_date"],
        owners=[Owner(team="growth-platform", contact="#growth-platform")],
        fields=[
            DataField(name="user_id", type="string"),
            DataField(name="active_date", type="timestamp"),
            DataField(name="plan", type="string", enum=["free", "pro", "enterprise"]),
            DataField(name="ltv", type="number", required=False),
        ],
        freshness_sla=FreshnessSLA(max_lag_seconds=86_400),
        status="active",
    )


@pytest.fixture
def registry(v1: DataContract) -> ContractRegistry:
    registry = ContractRegistry()
    registry.register(v1)
    return registry


def _without_ltv(v1: DataContract, version: str = "2.0.0", **more: object) -> DataContract:
    fields = [field for field in v1.fields if field.name != "ltv"]
    return v1.model_copy(update={"version": version, "fields": fields, **more})


def test_a_compatible_version_is_registered(registry: ContractRegistry, v1: DataContract) -> None:
    added = DataField(name="signup_source", type="string", required=False)

    report = registry.register(v1.model_copy(update={"version": "1.1.0", "fields": [*v1.fields, added]}))

    assert report.compatible
    assert registry.latest("users.daily_active").version == "1.1.0"


def test_an_incompatible_version_is_reported_by_field_and_kind_and_not_registered(
    registry: ContractRegistry, v1: DataContract
) -> None:
    report = registry.register(_without_ltv(v1))

    assert not report.compatible
    assert report.errors[0].kind == "field_removed"
    assert report.errors[0].message == "field 'ltv' was removed; old data will fail validation"
    assert [one.version for one in registry.history("users.daily_active")] == ["1.0.0"]


def test_with_a_migration_plan_it_opens_a_line_beside_the_old_one(registry: ContractRegistry, v1: DataContract) -> None:
    plan = MigrationPlan(guide="join the finance dataset instead", window="60 d", owner="growth-platform")

    report = registry.register(_without_ltv(v1, migration=plan))

    assert not report.compatible
    assert [one.version for one in registry.history("users.daily_active")] == ["1.0.0", "2.0.0"]


def test_a_check_registers_nothing(registry: ContractRegistry, v1: DataContract) -> None:
    assert registry.check(v1.model_copy(update={"version": "1.0.1"})).compatible
    assert len(registry.history("users.daily_active")) == 1


def test_a_version_is_registered_once(registry: ContractRegistry, v1: DataContract) -> None:
    with pytest.raises(Conflict, match="registered already"):
        registry.register(v1)


def test_a_version_is_registered_once_whatever_the_concurrency(v1: DataContract) -> None:
    registry = ContractRegistry()

    def attempt(_: int) -> bool:
        try:
            registry.register(v1)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(attempt, range(64))) == 1


def test_what_is_registered_does_not_change_with_the_callers_copy(registry: ContractRegistry, v1: DataContract) -> None:
    v1.fields.clear()
    registry.latest("users.daily_active").fields.clear()

    assert len(registry.get("users.daily_active", "1.0.0").fields) == 4


def test_the_latest_is_the_latest_active_one(registry: ContractRegistry, v1: DataContract) -> None:
    registry.register(v1.model_copy(update={"version": "1.0.1", "status": "draft"}))

    assert registry.latest("users.daily_active").version == "1.0.0"
    assert registry.latest("users.daily_active", include_non_active=True).version == "1.0.1"


def test_deprecating_needs_the_address_of_the_plan(registry: ContractRegistry) -> None:
    with pytest.raises(InvalidDocument, match="link the migration plan"):
        registry.deprecate("users.daily_active", "1.0.0", deprecation_uri=" ")

    assert (
        registry.deprecate("users.daily_active", "1.0.0", deprecation_uri="https://example.com/plan").status
        == "deprecated"
    )


def test_an_archived_version_stays_in_the_history_and_is_final(registry: ContractRegistry) -> None:
    assert registry.archive("users.daily_active", "1.0.0").status == "archived"
    with pytest.raises(Conflict, match="archived"):
        registry.deprecate("users.daily_active", "1.0.0", deprecation_uri="https://example.com/plan")
    assert len(registry.history("users.daily_active")) == 1


@pytest.mark.parametrize("ask", ["latest", "history"])
def test_an_unknown_dataset_is_not_found(ask: str) -> None:
    with pytest.raises(NotFound, match="'nothing'"):
        getattr(ContractRegistry(), ask)("nothing")


def test_an_unknown_mode_names_the_known_ones(registry: ContractRegistry, v1: DataContract) -> None:
    with pytest.raises(InvalidDocument, match="use one of: none, backward"):
        registry.check(v1, compatibility="sideways")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": "1.0"}, "is not a version"),
        ({"version": "1.0.0\n"}, "is not a version"),
        ({"primary_key": ["nobody"]}, "not declared in fields"),
        ({"status": "deprecated"}, "needs a deprecation_uri"),
        ({"owners": []}, "at least 1 item"),
        ({"colour": "blue"}, "Extra inputs are not permitted"),
    ],
)
def test_a_contract_that_does_not_hold_together_is_refused(
    v1: DataContract, change: dict[str, object], said: str
) -> None:
    with pytest.raises(ValidationError, match=said):
        DataContract.model_validate({**v1.model_dump(), **change})


def test_the_short_form_and_the_full_model_are_the_same_contract(v1: DataContract) -> None:
    assert DataContract.from_contract(v1.to_contract()) == v1
