"""Checks of the new version itself. Mode `none` skips the checks of the bump and of the migration plan."""

from __future__ import annotations

from treaty.compatibility.kinds.table import check
from treaty.contracts.versions import Bump


@check("contract.version")
def version_not_increasing(before: str, after: str) -> str:
    """The new version is not greater than the old one.

    Why it hurts: consumers cannot tell which of the two documents is current.

    Example: 1.2.0 is followed by 1.2.0, or by 1.1.9.

    Instead: use the version that `treaty diff BEFORE AFTER` computes.
    """
    return f"new version {after!r} must be strictly greater than {before!r}"


@check("contract.version")
def version_bump_too_small(declared: Bump, required: Bump, needed: str) -> str:
    """The version bump is smaller than the changes require.

    Why it hurts: a breaking change in a MINOR version reaches consumers who were promised that it would not break
    them.

    Example: a field is removed and the version goes from 1.2.0 to 1.3.0.

    Instead: use the version that `treaty diff BEFORE AFTER` computes.
    """
    return f"a {declared} bump was declared, the changes require {required}; the version must be at least {needed}"


@check("contract.version")
def version_not_semantic(version: str) -> str:
    """The version is not MAJOR.MINOR.PATCH.

    Why it hurts: consumers cannot tell whether a later version may break them. ODCS allows any text here, so the
    document can be read and linted, but it cannot be compared with other versions.

    Example: `version: v2`.

    Instead: write 2.0.0.
    """
    return f"version {version!r} is not MAJOR.MINOR.PATCH"


@check("contract.owners")
def owner_missing() -> str:
    """The contract has no owner.

    Why it hurts: when the data goes stale at night, there is no one to call.

    Example: `owners: []`.

    Instead: name a team and its contact.
    """
    return "proposed contract must declare at least one owner"


@check("contract.migration")
def migration_missing(line: str | None, earlier: str | None = None) -> str:
    """A change requires MAJOR, and there is no plan for moving consumers to the new line.

    Why it hurts: two versions run side by side, and consumers do not know for how long or how to migrate.

    Example: 2.0.0 drops a field and has no `migration:` block.

    Every change that requires MAJOR needs a plan, whether it breaks existing data or existing readers.

    Instead: add `migration:` with a `guide`, a `window` and an `owner`. The plan of an earlier line does not count.
    A schema without a version cannot have a plan: make the change compatible, or publish it as a new contract.
    """
    if line is None:
        return (
            "the change requires MAJOR, and the schema states no version and no migration plan; "
            "make it compatible, or write a contract with a version and a migration: block"
        )
    if earlier is not None:
        return (
            f"{line} repeats the migration plan of {earlier}; "
            f"write a migration: block for {line} with its own guide, window and owner"
        )
    return f"{line} has no migration plan; add a migration: block with guide, window and owner"
