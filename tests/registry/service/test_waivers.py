"""Waivers of change kinds: they hold where the registry allows them, end with a notice, and lists say which hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.registry.backends import AnyRegistry, Backend, Clock
from tests.registry.offers import ID, LTV, ORDERS, PLAN_FIELD, orders
from treaty.errors import Refused
from treaty.registry.report import VersionRefused
from treaty.registry.rules import RegistryRules

WITHOUT_LTV = orders("1.1.0", [ID, PLAN_FIELD])
WAIVED = "; waived by growth until 2026-03-20"


def waive(registry: AnyRegistry, rule: str = "field_removed", path: str = "ltv") -> int:
    return registry.governance.waive(
        rule, owner="growth", reason="nobody reads it yet", until="2026-03-20", contract=ORDERS, path=path
    ).id


def test_a_waived_change_is_registered_in_its_line_and_stays_a_finding(registry: AnyRegistry) -> None:
    registry.register(orders())
    with pytest.raises(VersionRefused):
        registry.register(WITHOUT_LTV)
    waive(registry)

    result = registry.register(WITHOUT_LTV)

    assert (result.status, result.compatibility.compatible) == ("registered", False)
    (error,) = result.compatibility.errors
    assert (error.kind, error.field) == ("field_removed", "ltv")
    assert error.message.endswith(WAIVED)


def test_consumers_of_what_is_waived_are_still_told(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.consumers.subscribe("board", "orders@1", consumer_class="operational_reporting", fields=["ltv"])
    waive(registry)

    assert [(one.name, one.effect) for one in registry.consumers.impact(WITHOUT_LTV).affected] == [("board", "hit")]
    registry.register(WITHOUT_LTV)

    (notice,) = registry.notices.notices(party="board").items
    assert (notice.kind, notice.version) == ("contract.changed", "1.1.0")


@pytest.mark.parametrize(
    ("rule", "path"), [("field_removed", "plan"), ("field_type_changed", "ltv"), ("field_required_added", "*")]
)
def test_a_waiver_covers_only_its_kind_and_path(registry: AnyRegistry, rule: str, path: str) -> None:
    registry.register(orders())
    waive(registry, rule, path)

    with pytest.raises(VersionRefused):
        registry.register(WITHOUT_LTV)


def test_what_every_mode_refuses_is_not_waived(registry: AnyRegistry) -> None:
    def keyed(version: str, key: str) -> dict[str, object]:
        fields = [{**one, "primaryKey": one["name"] == key, "required": True} for one in (ID, PLAN_FIELD, LTV)]
        return orders(version, fields)

    registry.register(keyed("1.0.0", "id"))
    waive(registry, "primary_key_changed", "*")

    with pytest.raises(VersionRefused) as refused:
        registry.register(keyed("1.1.0", "plan"))

    assert "primary_key_changed" in [issue.kind for issue in refused.value.report.errors]


def test_a_registry_says_which_kinds_may_be_waived(open_backend: Callable[..., Backend]) -> None:
    registry = open_backend(RegistryRules(waivable_kinds=frozenset({"sla_relaxed"}))).acting_as("ana", "admin")

    with pytest.raises(Refused, match="field_removed may not be waived in this registry; waivable_kinds: sla_relaxed"):
        waive(registry)

    assert waive(registry, "sla_relaxed", "*") > 0


def test_a_waiver_ends_with_a_notice_and_counts_no_longer(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    identity = waive(registry)
    clock.pass_days(19)
    assert registry.tick() == []
    assert [waiver.in_force for waiver in registry.governance.waivers().items] == [True]
    clock.pass_days(1)
    assert [waiver.in_force for waiver in registry.governance.waivers().items] == [False]
    assert [step.reason for step in registry.due()] == ["the waiver of field_removed by growth ended on 2026-03-20"]

    steps = registry.tick()

    assert [(step.contract, step.version, step.after) for step in steps] == [(ORDERS, f"waiver {identity}", "ended")]
    (notice,) = registry.notices.notices(party="growth").items
    assert (notice.kind, notice.parties) == ("waiver.ended", ["checkout", "growth"])
    assert notice.headline == ("The waiver of field_removed on orders ended on 2026-03-20; the finding counts again")
    assert registry.tick() == []
    with pytest.raises(VersionRefused):
        registry.register(WITHOUT_LTV)
    assert registry.access.verify_audit().whole


def test_a_revoked_waiver_ends_with_a_notice_too(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    identity = waive(registry)

    assert not registry.governance.revoke_waiver(identity).in_force
    registry.governance.revoke_waiver(identity)

    (notice,) = registry.notices.notices(party="growth").items
    assert notice.headline.startswith("The waiver of field_removed on orders was revoked by ")
    clock.pass_days(100)
    assert registry.tick() == []


def test_a_transfer_of_ownership_is_told_to_consumers_of_every_line(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.consumers.subscribe(
        "board", "orders@1", consumer_class="operational_reporting", fields=["plan"], team="bi"
    )

    registry.register(orders("1.0.1", owners=[{"team": "sales", "contact": "#sales"}]))

    notices = [one for one in registry.notices.notices(party="board").items if one.kind == "contract.transferred"]
    assert [(one.headline, one.parties) for one in notices] == [
        ("orders is now owned by sales; before, by checkout", ["bi", "board", "checkout", "sales"])
    ]
    assert notices[0].details == {"owners": [{"team": "sales", "contact": "#sales"}], "before": ["checkout"]}
    registry.register(orders("1.0.2", owners=[{"team": "sales", "contact": "#sales-team"}]))
    assert len(registry.notices.notices(party="board").items) == 1
