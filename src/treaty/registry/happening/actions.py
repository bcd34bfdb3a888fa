"""Which entries of the audit log everybody may read, of which kind they are, and how they are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from treaty.registry.answers.activity import ActivityKind
from treaty.registry.happening import moves, subjects
from treaty.registry.happening import sentences as say
from treaty.registry.happening.subjects import About
from treaty.registry.happening.words import Told


@dataclass(frozen=True, slots=True)
class Action:
    """One action of the log: its kind, in a word, what its subject is, and its sentence."""

    kind: ActivityKind
    did: str
    read: Callable[[str], About]
    tell: Callable[[Told], str]


_version, _contract, _move = subjects.a_version, subjects.a_contract, subjects.a_move
_reading, _rule = subjects.a_reading, subjects.a_rule

ACTIONS: dict[str, Action] = {
    "contract.register": Action("registration", "registered", _version, say.registered),
    "contract.refuse": Action("refusal", "refused", _version, say.refused),
    "contract.propose": Action("proposal", "proposed", _version, say.proposed),
    "proposal.approve": Action("proposal", "approved", _version, say.approved),
    "proposal.override": Action("proposal", "overridden", _version, say.overridden),
    "proposal.decline": Action("proposal", "declined", _version, say.declined),
    "contract.active": Action("lifecycle", "activated", _version, say.activated),
    "contract.deprecated": Action("lifecycle", "deprecated", _version, say.deprecated),
    "contract.sunset": Action("lifecycle", "sunset", _version, say.in_sunset),
    "contract.retired": Action("lifecycle", "retired", _version, say.retired),
    "contract.archived": Action("lifecycle", "archived", _version, say.archived),
    "migration.propose": Action("migration", "proposed", _move, moves.move_proposed),
    "migration.open": Action("migration", "opened", _move, moves.move_opened),
    "migration.acknowledged": Action("migration", "acknowledged", _move, moves.acknowledged),
    "migration.moved": Action("migration", "moved", _move, moves.moved),
    "migration.waived": Action("migration", "waived", _move, moves.waived),
    "migration.prove": Action("migration", "proven", _move, moves.proven),
    "migration.remind": Action("migration", "reminded", _move, moves.reminded),
    "migration.close": Action("migration", "closed", _move, moves.move_closed),
    "subscription.put": Action("subscription", "subscribed", _reading, say.subscribed),
    "subscription.end": Action("subscription", "unsubscribed", _reading, say.unsubscribed),
    "waiver.grant": Action("waiver", "waived", _rule, say.waiver_granted),
    "waiver.revoke": Action("waiver", "unwaived", _rule, say.waiver_revoked),
    "contract.sla_breach": Action("breach", "breached", _contract, say.breached),
    "contract.exception": Action("breach", "breached", _contract, say.breached),
}
"""Everything else in the log is about tokens, channels and deliveries, which concern nobody but their owners."""
