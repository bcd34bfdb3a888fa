"""Rendering of policy checks, waivers and proposals."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from treaty.cli.render.console import text
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts, format_time, listing
from treaty.registry.model import PolicyCheckAnswer, ProposalAnswer, ViolationAnswer, WaiverAnswer


def render_policy_check(console: Console, check: PolicyCheckAnswer, holds_from: str | None = None) -> None:
    """Render the violations of a contract, and of the contracts that inherit from it from a day on."""
    console.print(text(f"{check.contract} {check.version}", style="path"))
    policies = " · ".join(check.policies) or "none"
    console.print(facts([("Policies", policies), ("Verdict", _verdict(check))]))
    if check.violations:
        console.print()
        console.print(_violations(check.violations))
    for child in check.children:
        console.print()
        since = f" from {holds_from}" if holds_from else ""
        console.print(text(f"{child.contract} {child.version} would violate it{since}", style="warning"))
        console.print(_violations(child.violations))


def render_waivers(console: Console, waivers: Sequence[WaiverAnswer]) -> None:
    """Render waivers."""
    console.print(
        listing(
            ("id", "state", "rule", "contract", "path", "owner", "until", "reason"),
            (
                (
                    str(waiver.id),
                    text(_waiver_state(waiver), style="good" if waiver.in_force else "quiet"),
                    waiver.rule,
                    waiver.contract,
                    waiver.path,
                    waiver.owner,
                    waiver.until.isoformat(),
                    waiver.reason,
                )
                for waiver in waivers
            ),
        )
    )


def _waiver_state(waiver: WaiverAnswer) -> str:
    return "in force" if waiver.in_force else "revoked" if waiver.revoked_at else "ended"


def render_waiver(console: Console, waiver: WaiverAnswer) -> None:
    """Render one waiver in one line."""
    until = "is revoked" if waiver.revoked_at else f"applies until {waiver.until}"
    console.print(
        text(f"waiver {waiver.id}: {waiver.rule} on {waiver.contract} {waiver.path} {until}; owner: {waiver.owner}")
    )


def render_proposals(console: Console, proposals: Sequence[ProposalAnswer]) -> None:
    """Render proposals."""
    console.print(
        listing(
            ("id", "contract", "version", "state", "proposed by", "proposed (UTC)", "decided by", "reason"),
            (
                (
                    str(proposal.id),
                    proposal.contract,
                    proposal.version,
                    proposal.state,
                    proposal.proposed_by,
                    format_time(proposal.proposed_at),
                    proposal.decided_by or "",
                    proposal.reason or "",
                )
                for proposal in proposals
            ),
        )
    )


def render_proposal(console: Console, proposal: ProposalAnswer) -> None:
    """Render the state of a proposal in one line."""
    by = f" by {proposal.decided_by}" if proposal.decided_by else ""
    registered = "; the version is registered" if proposal.state == "approved" else ""
    console.print(
        text(f"proposal {proposal.id}: {proposal.contract} {proposal.version} is {proposal.state}{by}{registered}")
    )


def _verdict(check: PolicyCheckAnswer) -> str:
    violations = sum(1 for one in check.violations if not one.waived_by and one.severity == "error")
    if violations:
        return f"refused: {pluralize(violations, 'term')} weaker than required"
    waived = any(violation.waived_by for violation in check.violations)
    return "passed, with waivers" if waived else "passed, with warnings" if check.violations else "passed"


def _violations(violations: Sequence[ViolationAnswer]) -> Table:
    return listing(
        ("policy", "term", "violation", ""),
        (
            (
                violation.policy,
                violation.path,
                violation.message,
                f"waived by {violation.waived_by}" if violation.waived_by else "",
            )
            for violation in violations
        ),
    )
