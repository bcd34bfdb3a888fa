"""Documents of a given size, the same in every run."""

from __future__ import annotations

_TYPES = ("string", "integer", "number", "boolean", "timestamp")


def contract_text(fields: int, changed: bool = False, version: str = "1.0.0") -> str:
    """Return an ODCS contract as YAML; where `changed`, one field in ten differs in type, words or requiredness."""
    lines = [
        "apiVersion: v3.2.0",
        "kind: DataContract",
        "id: bench.orders",
        f"version: {version}",
        "status: active",
        "description: {purpose: Every order that checkout accepted}",
        "team: {name: checkout}",
        "support: [{channel: '#checkout'}]",
        "slaProperties: [{property: freshness, value: 1, unit: h}]",
        "schema:",
        "  - name: orders",
        "    properties:",
    ]
    for number in range(fields):
        turn = number // 10 % 3 if changed and number % 10 == 0 else None
        kind = _TYPES[(number + (1 if turn == 0 else 0)) % len(_TYPES)]
        words = "Set anew by" if turn == 1 else "Set by"
        lines += [
            f"      - name: order_attribute_{number}",
            f"        logicalType: {kind}",
            f"        required: {'true' if number % 2 == (1 if turn == 2 else 0) else 'false'}",
            f"        description: {words} checkout step {number} when the customer confirms it.",
        ]
    return "\n".join(lines) + "\n"
