"""A registry with a private contract of which every part contains a marker, and the same registry without it."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple

from tests.catalog.contract_registry import read_event
from tests.certifications import certification
from tests.registry.backends import Clock, actor_with_role
from tests.registry.offers import ID, PLAN, PLAN_FIELD, made_from, orders
from treaty.errors import Refused
from treaty.events.drift import Profile
from treaty.legacy.differences import ComparisonResult, DifferenceClass, Finding
from treaty.observability.measures import Measure
from treaty.registry.rules import Approval, RegistryRules
from treaty.registry.service import Registry

MARK = "zq7mark"
PRIVATE = f"{MARK}.deals"
TEAM, CONSUMER, DOMAIN = f"{MARK}-team", f"{MARK}-board", f"{MARK}-domain"
MEMBER = actor_with_role(f"{MARK}-rita", "owner", TEAM)
RULES = RegistryRules(approval=Approval.REQUIRED)


class Ids(NamedTuple):
    """The numbers and ids of what a registry contains."""

    migrations: tuple[int, ...]
    proposals: tuple[int, ...]
    certificates: tuple[str, ...]
    drift: tuple[str, ...]


def fill(registry: Registry, clock: Clock, *, private: bool) -> Ids:
    """Fill a registry with an open contract, and with a private one that is made from it."""
    registry.register(orders())
    registry.register(made_from("revenue", "orders:ltv", domain="sales"))
    registry.consumers.subscribe("board", "orders@1", consumer_class="operational_reporting", team="insight")
    if private:
        _add_private_contract(registry, clock)
    registry.measures.record([Measure("orders", "rows", clock.now - timedelta(hours=1), 5)])
    registry.acting_as(actor_with_role("carl", "owner", "checkout")).register(
        orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)
    )
    return Ids(
        tuple(migration.id for migration in registry.migrations.list().items),
        tuple(proposal.id for proposal in registry.governance.proposals().items),
        tuple(one.id for one in registry.certificates.list().items),
        tuple(one.fingerprint for one in registry.drift.findings().items),
    )


def _add_private_contract(registry: Registry, clock: Clock) -> None:
    member = registry.acting_as(MEMBER)
    amount = {"name": f"{MARK}_amount", "logicalType": "number", "description": f"{MARK} amount"}
    kept = {"name": f"{MARK}_kept", "logicalType": "string"}

    def deals(version: str, fields: list[Any], **changes: Any) -> dict[str, Any]:
        return orders(
            version,
            fields,
            id=PRIVATE,
            name=f"{MARK} deals",
            domain=DOMAIN,
            owners=[{"team": TEAM, "contact": f"#{MARK}"}],
            tags=[f"{MARK}-tag"],
            description={"purpose": f"{MARK} purpose"},
            lineage=[{"contract": "orders", "mappings": {f"{MARK}_amount": ["ltv"]}}],
            visibility="private",
            **changes,
        )

    member.register(deals("1.0.0", [ID, kept, amount]))
    member.register(deals("1.1.0", [ID, kept, amount, {"name": f"{MARK}_more", "logicalType": "string"}]))
    for refused in (deals("1.1.1", [ID]), {**deals("1.0.0", [ID]), "id": f"{MARK}.refused", "tier": "edge"}):
        with suppress(Refused):
            member.register(refused)
    for consumer, line, field in ((CONSUMER, f"{PRIVATE}@1", f"{MARK}_amount"), (PRIVATE, "orders@1", "ltv")):
        member.consumers.subscribe(
            consumer,
            line,
            consumer_class="decision_automation",
            fields=[field],
            team=TEAM,
            purpose=MARK,
            contact=f"#{MARK}",
        )
    reads = ((CONSUMER, f"{PRIVATE}@1"), (f"{MARK}-notebook", f"{PRIVATE}@1"), (PRIVATE, "orders@1"))
    member.lineage.record([read_event(job, line, clock.now, run=number) for number, (job, line) in enumerate(reads)])
    registry.register(made_from(f"{MARK}.derived", f"{PRIVATE}@1", owners=[{"team": TEAM}], visibility="private"))
    late = Measure(PRIVATE, "run", clock.now - timedelta(hours=1), 0.0, details={"run": MARK})
    found = Finding(DifferenceClass.STATUS, MARK, MARK, 1)
    result = ComparisonResult(f"{MARK}_mart", MARK, clock.now.date(), 1, 1, {}, {}, (found,))
    member.parallel_runs.record(f"{PRIVATE}@1", TEAM, result)
    member.certificates.issue(f"{PRIVATE}@1", certification(PRIVATE, publisher=f"{MARK} exporter"))
    member.cutovers.declare(f"{MARK}_mart", f"{PRIVATE}@1", TEAM, names=[f"{MARK}.mart"], consumers=[f"{MARK}.derived"])
    for day, code in ((3, 20), (2, 28)):
        taken = Profile(
            version="1.1.0",
            run=day,
            at=clock.now - timedelta(days=day),
            events=2_000,
            histograms={f"field:{MARK}_amount": {code: 2_000}},
        )
        member.drift.record(f"{PRIVATE}@1", taken)
    member.measures.record([Measure(PRIVATE, "rows", clock.now - timedelta(hours=1), 5, details={"of": MARK}), late])
    member.notices.report_breach(PRIVATE, kind="sla_breach", message=f"{MARK} is late")
    member.deprecate(PRIVATE, "1.0.0", deprecation_uri=f"https://wiki.example.org/{MARK}")
    registry.governance.waive("sla_relaxed", owner=TEAM, reason=MARK, until="2026-12-31", contract=PRIVATE)
    registry.notices.add_channel(TEAM, kind="log", target=MARK)
    plan = {"guide": f"https://wiki.example.org/{MARK}", "window": "30d", "owner": TEAM}
    member.register(deals("2.0.0", [ID, kept], migration=plan))
