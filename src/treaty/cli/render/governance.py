"""Drawing governance: what policies find, waivers, and changes that wait for approval."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from treaty.cli.render.console import text
from treaty.cli.render.tables import facts, listing, moment
from treaty.registry.model import PolicyCheckAnswer, ProposalAnswer, ViolationAnswer, WaiverAnswer


def draw_policy_check(drawn: Console, check: PolicyCheckAnswer) -> None:
    """Draw what the policies above a contract find weakened, and whom it would find in breach."""
    drawn.print(text(f"{check.contract} {check.version}", style="path"))
    above = " · ".join(check.policies) or "none; it inherits from no policy"
    drawn.print(facts([("Policies", above), ("Verdict", _verdict(check))]))
    if check.violations:
        drawn.print()
        drawn.print(_violations(check.violations))
    for child in check.children:
        drawn.print()
        drawn.print(text(f"{child.contract} {child.version} would be in breach of it", style="warning"))
        drawn.print(_violations(child.violations))


def draw_waivers(drawn: Console, waivers: Sequence[WaiverAnswer]) -> None:
    """Draw who sets what aside."""
    drawn.print(
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


def draw_waiver(drawn: Console, one: WaiverAnswer) -> None:
    """Draw one waiver in a line."""
    until = "is revoked" if one.revoked_at else f"holds until {one.until}"
    drawn.print(text(f"waiver {one.id}: {one.rule} on {one.contract} {one.path} {until}, for {one.owner}"))


def draw_proposals(drawn: Console, proposals: Sequence[ProposalAnswer]) -> None:
    """Draw what waits for approval, and what was decided."""
    drawn.print(
        listing(
            ("id", "contract", "version", "state", "proposed by", "at (UTC)", "decided by", "reason"),
            (
                (
                    str(one.id),
                    one.contract,
                    one.version,
                    one.state,
                    one.proposed_by,
                    moment(one.proposed_at),
                    one.decided_by or "",
                    one.reason or "",
                )
                for one in proposals
            ),
        )
    )


def draw_proposal(drawn: Console, one: ProposalAnswer) -> None:
    """Draw what became of a proposal, in a line."""
    became = "is registered" if one.state == "approved" else f"is {one.state}"
    by = f" by {one.decided_by}" if one.decided_by else ""
    drawn.print(text(f"proposal {one.id}: {one.contract} {one.version} {became}; {one.state}{by}"))


def _verdict(check: PolicyCheckAnswer) -> str:
    standing = sum(1 for one in check.violations if not one.waived_by)
    if standing:
        return (
            f"refused: {standing} of its terms are weaker than asked" if standing > 1 else "refused: one term is weaker"
        )
    return "holds" if not check.violations else "holds, by waivers"


def _violations(violations: Sequence[ViolationAnswer]) -> Table:
    return listing(
        ("policy", "where", "what", ""),
        (
            (one.policy, one.path, one.message, f"waived by {one.waived_by}" if one.waived_by else "")
            for one in violations
        ),
    )
