"""Checks of the new version as a whole; under `none`, the size of the bump and the plan are not asked for."""

from __future__ import annotations

from treaty.compatibility.kinds.table import check
from treaty.contracts.versions import Bump


@check("contract.version")
def version_not_increasing(before: str, after: str) -> str:
    """The new version is not above the old one.

    Why it hurts: consumers could not tell which of two documents holds.

    Example: 1.2.0 is to follow 1.2.0, or 1.1.9.

    Instead: take the version that `treaty next-version BEFORE AFTER` computes.
    """
    return f"new version {after!r} must be strictly greater than {before!r}"


@check("contract.version")
def version_bump_too_small(declared: Bump, required: Bump, needed: str) -> str:
    """The version moved less than the changes ask for.

    Why it hurts: a breaking change under a MINOR version reaches consumers who were promised it would not break.

    Example: a field is removed and the version goes from 1.2.0 to 1.3.0.

    Instead: take the version that `treaty next-version BEFORE AFTER` computes.
    """
    return f"a {declared} bump was declared, the changes require {required}; the version must be at least {needed}"


@check("contract.version")
def version_not_semantic(version: str) -> str:
    """The version is not MAJOR.MINOR.PATCH.

    Why it hurts: nobody can tell whether a later version may break them. ODCS allows any text here, so such a
    document is read and linted, but it cannot follow or be followed.

    Example: `version: v2`.

    Instead: write 2.0.0.
    """
    return f"version {version!r} is not MAJOR.MINOR.PATCH"


@check("contract.owners")
def owner_missing() -> str:
    """The contract has no owner.

    Why it hurts: when the data goes stale at night there is nobody to call.

    Example: `owners: []`.

    Instead: name a team and its contact.
    """
    return "proposed contract must declare at least one owner"


@check("contract.migration")
def migration_missing(line: str, earlier: str | None = None) -> str:
    """A new MAJOR line opens without a plan that moves consumers to it.

    Why it hurts: two versions run side by side and nobody knows for how long, or how to cross over.

    Example: 2.0.0 drops a field and has no `migration:` block.

    Instead: add `migration:` with a `guide`, a `window` and an `owner`. The plan of an earlier line does not count.
    """
    if earlier is not None:
        return (
            f"{line} opens with the migration plan of {earlier}, which leads no further; "
            f"give the migration: block a plan of its own: the guide, window and owner of the way to {line}"
        )
    return f"{line} opens without a migration plan; add a migration: block with guide, window and owner"
