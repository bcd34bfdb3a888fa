"""Where the name of a property means something else: in one schema, and in what one operation answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treaty.server.examples.migrations import MIGRATION_PATH
from treaty.server.examples.values import CLERK, CONSUMER, CONTRACT, DIGEST, LINE, TEAM, TODAY

Told = Mapping[str, Mapping[str, Any]]
"""What properties hold, by schema."""

_LINES = {"before": LINE, "after": "users.daily_active@2", "state": "open", "proposal": None}
_NOT_LEAVING = {"deprecation_uri": None, "announced_on": None, "sunset_on": None, "retire_on": None}
_TOKEN = {"id": "e3da3c37ff84", "name": CLERK}

OF_SCHEMAS: Told = {
    "ActivityAnswer": {
        "id": 42,
        "kind": "registration",
        "headline": f"{CLERK} registered 1.1.0: optional field 'country' added",
        "before": "1.0.0",
        "consumer": None,
        "migration": None,
        "proposal": None,
    },
    "AffectedAnswer": {"fields": ["ltv"]},
    "AuditAnswer": {
        "action": "contract.register",
        "before": None,
        "after": DIGEST,
        "details": {"mode": "backward", "compatible": True},
    },
    "AuditCheckAnswer": {"breaks": []},
    "BoardAnswer": _LINES,
    "BreachBody": {"details": {"measured": "31 h", "promised": "24 h"}},
    "ChangeAnswer": {
        "path": "ltv",
        "direction": "removed",
        "before": "number, optional",
        "after": None,
        "bump": "MAJOR",
        "breaks": ["existing_data"],
    },
    "ChannelAnswer": {"id": 5, "kind": "webhook"},
    "ChildAnswer": {"contract": "growth.signups"},
    "ContractAnswer": {"id": CONTRACT, "name": "Daily active users"},
    "DeclineBody": {"reason": "the finance team needs ltv until the end of the quarter"},
    "DeliveryAnswer": {"state": "delivered"},
    "DocumentAnswer": {"version": "1.0.0", **_NOT_LEAVING},
    "DomainAnswer": {"name": "growth", "consumers": 14},
    "DomainEdgeAnswer": {"upstream": "sales", "downstream": "growth"},
    "GridRowAnswer": {"name": "Daily active users"},
    "ImpactAnswer": {"after": "1.2.0"},
    "LineAnswer": {"sunset_on": None, "retire_on": None},
    "MapAnswer": {"more": 1},
    "MapEdgeAnswer": {"kind": "reads"},
    "MapNodeAnswer": {"id": f"line:{LINE}", "kind": "line", "name": LINE},
    "MeasureAnswer": {"name": "freshness", "details": {"newest": "2026-11-03T13:53:00Z"}},
    "MeasureBody": {"details": {"newest": "2026-11-03T13:53:00Z"}},
    "MigrationAnswer": _LINES,
    "MigrationConsumerAnswer": {
        "state": "acknowledged",
        "team": "analytics",
        "reason": "we move with the release of May",
        "until": None,
    },
    "MigrationPathAnswer": MIGRATION_PATH,
    "MintedAnswer": _TOKEN,
    "NodeAnswer": {"kind": "consumer"},
    "NoticeAnswer": {
        "id": "34fb5eddfff65eeaeb91ed0000000007",
        "kind": "contract.sla_breach",
        "headline": "freshness is 31 h, promised are 24 h",
        "details": {"measured": "31 h", "promised": "24 h"},
    },
    "OverviewAnswer": {"owners": {TEAM: 8, "checkout": 4}, "health": {"healthy": 9, "failing": 1, "none": 2}},
    "OwnerAnswer": {"contact": "#growth-platform"},
    "ProposalAnswer": {"id": 3, "version": "2.0.0", "state": "approved"},
    "Response Alive": {"status": "ok"},
    "Response Ready": {"status": "ok"},
    "Response Retry Notices": {"deliveries": 2},
    "StepAnswer": {"version": "1.0.0", "before": "deprecated", "after": "sunset", "reason": "its sunset was due"},
    "SubscriptionAnswer": {"team": "analytics"},
    "TokenAnswer": _TOKEN,
    "UpcomingAnswer": {
        "kind": "sunset",
        "headline": f"{LINE} goes into sunset: it takes no new consumers",
        "versions": ["1.0.0", "1.1.0"],
    },
    "VersionAnswer": {"version": "1.0.0", "status": "deprecated", "announced_on": TODAY},
    "ViolationAnswer": {
        "kind": "sla_relaxed",
        "path": "sla.freshness",
        "message": "service level sla.freshness is relaxed: 12 h -> 48 h",
    },
    "WaiverAnswer": {"path": "sla.freshness", "reason": "the source delivers daily until the new feed is live"},
    "WaiverBody": {"path": "sla.freshness"},
}

OF_OPERATIONS: Mapping[str, Told] = {
    "activate_version": {"VersionAnswer": {"status": "active", **_NOT_LEAVING}},
    "archive": {"VersionAnswer": {"status": "archived"}},
    "can_i_retire": {
        "DecisionAnswer": {"question": f"can {LINE} be retired?", "required_version": None},
        "ReasonAnswer": {"kind": "not_retirable", "message": f"{CONSUMER} still reads {LINE}"},
        "AffectedAnswer": {"fields": [], "reasons": []},
    },
    "decline_proposal": {
        "ProposalAnswer": {"state": "declined", "reason": "the finance team needs ltv until the end of the quarter"}
    },
    "list_policies": {
        "ContractAnswer": {
            "id": "policy/growth",
            "name": "What every product of growth promises",
            "tier": "domain",
            "summary": "Keys are confidential, and rows are at most 12 hours old.",
            "consumers": 0,
            "health": None,
        }
    },
    "list_proposals": {"ProposalAnswer": {"state": "open", "decided_by": None, "decided_at": None, "reason": None}},
    "move_consumer": {
        "BoardAnswer": {"counts": {"moved": 1}},
        "MigrationConsumerAnswer": {"state": "moved", "reason": None},
    },
    "owners_from_card": {"OwnerAnswer": {"team": "Springfield USD", "contact": "#data-platform"}},
    "retire_line": {"VersionAnswer": {"status": "retired"}},
    "retire_version": {"VersionAnswer": {"status": "retired"}},
    "revoke_token": {"TokenAnswer": {"revoked_at": "2026-12-01T08:00:00Z"}},
    "revoke_waiver": {"WaiverAnswer": {"revoked_at": "2026-12-01T08:00:00Z"}},
    "waive_consumer": {
        "BoardAnswer": {"counts": {"waived": 1}},
        "MigrationConsumerAnswer": {
            "state": "waived",
            "reason": "it is switched off at the end of the month",
            "until": "2027-01-31",
        },
    },
}


def told_by(operation: str) -> Told:
    """Return what properties hold in the requests and answers of an operation."""
    here = OF_OPERATIONS.get(operation, {})
    return {schema: {**OF_SCHEMAS.get(schema, {}), **here.get(schema, {})} for schema in {*OF_SCHEMAS, *here}}
