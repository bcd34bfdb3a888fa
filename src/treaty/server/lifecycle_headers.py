"""The headers of a version that is ending: Deprecation (RFC 9745), Sunset (RFC 8594), and links to where to go."""

from __future__ import annotations

from datetime import UTC, date, datetime
from email.utils import format_datetime
from urllib.parse import quote, urlsplit

from treaty.contracts.versions import try_parse_line
from treaty.registry.model import VersionAnswer

_SAFE_IN_URL = ":/?#[]@!$&'()*+,;=%-._~"


def lifecycle_headers(version: VersionAnswer) -> dict[str, str]:
    """Return the headers of a version whose end is announced; none for other versions."""
    by_expiry = version.status == "active" and version.deprecation_uri is None and version.replacement is None
    if version.announced_on is None or (by_expiry and version.reason is None):
        return {}
    headers = {"Deprecation": f"@{int(_midnight(version.announced_on).timestamp())}"}
    if version.sunset_on is not None:
        headers["Sunset"] = format_datetime(_midnight(version.sunset_on), usegmt=True)
    if links := [*_links(version)]:
        headers["Link"] = ", ".join(links)
    return headers


def _links(version: VersionAnswer) -> list[str]:
    links: list[str] = []
    if version.deprecation_uri and urlsplit(version.deprecation_uri).scheme in ("http", "https"):
        links.append(f'<{quote(version.deprecation_uri, safe=_SAFE_IN_URL)}>; rel="deprecation"')
    if version.replacement:
        links.append(f'<{_address(version.replacement)}>; rel="successor-version"')
    return links


def _address(replacement: str) -> str:
    """Return where the replacement is found: its own address, or its contract in this registry."""
    if urlsplit(replacement).scheme in ("http", "https"):
        return quote(replacement, safe=_SAFE_IN_URL)
    line = try_parse_line(replacement)
    return f"/api/v1/contracts/{quote(line.contract if line else replacement, safe='/@')}/lines"


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
