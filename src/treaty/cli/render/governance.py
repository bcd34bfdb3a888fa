"""Rendering of policy checks, waivers and proposals."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from treaty.cli.render.console import text
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts, format_time, listing
from treaty.registry.model import PolicyCheckAnswer, ProposalAnswer, ViolationAnswer, WaiverAnswer


def render_policy_check(console: Console, check: PolicyCheckAnswer) -> None:
    """Render the violations of a contract, and of the contracts that inherit from it."""
    console.print(text(f"{check.contract} {check.version}", style="path"))
    policies = " · ".join(check.policies) or "none"
    console.print(facts([("Policies", policies), ("Verdict", _verdict(check))]))
    if check.violations:
        console.print()
        console.print(_violations(check.violations))
    for child in check.children:
        console.print()
        console.print(text(f"{child.contract} {child.version} would violate it", style="warning"))
        console.print(_violations(child.violations))


def render_waivers(console: Console, waivers: Sequence[WaiverAnswer]) -> None:
    """Render waivers."""
    console.print(
        listing(
            ("id", "rule", "contract", "path", "owner", "until", "reason"),
            (
                (
                    str(one.id),
                    one.rule,
                    one.contract,
                    one.path,
                    one.owner,
                    text("revoked", style="quiet") if one.revoked_at else one.until.isoformat(),
                    one.reason,
                )
                for one in waivers
            ),
        )
    )


def render_waiver(console: Console, one: WaiverAnswer) -> None:
    """Render one waiver in one line."""
    until = "is revoked" if one.revoked_at else f"applies until {one.until}"
    console.print(text(f"waiver {one.id}: {one.rule} on {one.contract} {one.path} {until}; owner: {one.owner}"))


def render_proposals(console: Console, proposals: Sequence[ProposalAnswer]) -> None:
    """Render proposals."""
    console.print(
        listing(
            ("id", "contract", "version", "state", "proposed by", "proposed (UTC)", "decided by", "reason"),
            (
                (
                    str(one.id),
                    one.contract,
                    one.version,
                    one.state,
                    one.proposed_by,
                    format_time(one.proposed_at),
                    one.decided_by or "",
                    one.reason or "",
                )
                for one in proposals
            ),
        )
    )


def render_proposal(console: Console, one: ProposalAnswer) -> None:
    """Render the state of a proposal in one line."""
    by = f" by {one.decided_by}" if one.decided_by else ""
    registered = "; the version is registered" if one.state == "approved" else ""
    console.print(text(f"proposal {one.id}: {one.contract} {one.version} is {one.state}{by}{registered}"))


def _verdict(check: PolicyCheckAnswer) -> str:
    violations = sum(1 for one in check.violations if not one.waived_by)
    if violations:
        return f"refused: {pluralize(violations, 'term')} weaker than required"
    return "passed" if not check.violations else "passed, with waivers"


def _violations(violations: Sequence[ViolationAnswer]) -> Table:
    return listing(
        ("policy", "term", "violation", ""),
        (
            (one.policy, one.path, one.message, f"waived by {one.waived_by}" if one.waived_by else "")
            for one in violations
        ),
    )
