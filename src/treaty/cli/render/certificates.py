"""Rendering of certificates: lists, and one with its checks and what was not seen."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from treaty.cli.render.console import text
from treaty.cli.render.plain_text import pluralize
from treaty.cli.render.tables import facts, format_time, listing
from treaty.registry.model import CertificateAnswer

_STYLES = {"valid": "good", "expired": "warning", "revoked": "error", "altered": "error"}
_MARKS = {"passed": ("✓", "good"), "warned": ("!", "warning"), "failed": ("✗", "error"), "not_checked": ("–", "quiet")}


def render_certificates(console: Console, certificates: Sequence[CertificateAnswer]) -> None:
    """Render certificates, one in each row."""
    console.print(
        listing(
            ("id", "publisher", "line", "version", "state", "until", "events", "not seen"),
            (
                (
                    one.id,
                    one.publisher,
                    one.line,
                    one.version,
                    state_text(one),
                    f"{one.expires_at:%Y-%m-%d}",
                    f"{one.evidence.events:,}",
                    str(len(one.unseen)),
                )
                for one in certificates
            ),
        )
    )


def state_text(one: CertificateAnswer) -> Text:
    """Return the state of a certificate in its colour."""
    return text(one.state, style=_STYLES[one.state])


def render_certificate(console: Console, one: CertificateAnswer) -> None:
    """Render a certificate with its scope, evidence, checks and coverage."""
    console.print(text(f"{one.publisher} for {one.line}", style="path"))
    evidence = one.evidence
    rows: list[tuple[str, str | Text]] = [
        ("Certificate", one.id),
        ("State", state_text(one)),
        ("Version", f"{one.version}, {one.event_type}"),
        ("Issued", f"{format_time(one.issued_at)} by {one.issued_by}"),
        ("Until", format_time(one.expires_at)),
        ("Signed", "with the key of audit checkpoints" if one.signed else "no: no key of audit checkpoints is set"),
        ("Digest", one.digest),
        (
            "Evidence",
            f"{pluralize(evidence.events, 'event')} of {pluralize(evidence.keys, 'key')} from {evidence.source}",
        ),
    ]
    if one.revoked_at is not None:
        rows.append(("Revoked", f"{format_time(one.revoked_at)} by {one.revoked_by}: {one.revoked_reason}"))
    console.print(facts(rows))
    console.print()
    for check in one.checks:
        mark, style = _MARKS[check.outcome.value]
        why = f"not checked: {check.why}" if check.why else check.title
        console.print(text(f"{mark} {check.id:<22}{why}", style=style), soft_wrap=True)
    if one.unseen:
        names = ", ".join(entry.name for entry in one.unseen)
        console.print(text(f"not seen: {names}", style="warning"), soft_wrap=True)
