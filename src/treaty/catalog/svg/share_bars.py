"""SVG bars of two shares: of the events before and now."""

from __future__ import annotations

from markupsafe import Markup


def render_share(share: float, kind: str, scale: float = 1.0) -> Markup:
    """Render the bar of a share as part of the largest one; the value stands beside it as text."""
    width = min(max(share / scale, 0.0), 1.0) if scale else 0.0
    return Markup(
        '<svg class="share {}" aria-hidden="true"><rect class="full" width="100%" height="100%" rx="2"/>'
        '<rect class="part" width="{:.2f}%" height="100%" rx="2"/></svg>'
    ).format(kind, 100 * width)
