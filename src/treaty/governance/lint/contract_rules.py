"""Lint rules for the contract itself: purpose, version, status, promises, keys, owners."""

from __future__ import annotations

from collections.abc import Iterator

from treaty.contracts.blocks import EDGE
from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract, Form, has_field
from treaty.contracts.names import ALLOWED_IN_IDS, invalid_id_characters
from treaty.contracts.odcs import LATEST_API_VERSION, find_version_problems, write_odcs
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, parse_path
from treaty.contracts.values import EMPTY
from treaty.contracts.versions import is_version
from treaty.errors import InvalidDocument
from treaty.governance.lifecycle import ODCS_STATUSES, Status
from treaty.governance.lint.rule_table import FieldContext, Remark, contract_rule
from treaty.governance.lint.text_analysis import is_circular, says_nothing
from treaty.suggestions import choose

STATUSES = (*ODCS_STATUSES, *Status)
_NEEDS_KEY = frozenset({"product"})
_PROMISES = {
    "source_authority": "which system is the source of truth",
    "intended_consumers": "who its intended consumers are",
    "change_policy": "how it may change",
    "delivery": "its delivery guarantee",
    "latency": "its latency",
    "lineage": "its lineage",
}


@contract_rule(Severity.WARNING)
def purpose_missing(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """The contract does not say what it is for.

    Why: consumers cannot tell from a list of fields whether this is the data they need.

    Fix: write `description.purpose`: what one row represents and which questions the data answers.
    """
    words = contract.description or EMPTY
    stated = any(str(words.get(key, "")).strip() for key in ("purpose", "usage"))
    event = contract.treaty.event
    if not stated and not (event and event.meaning):
        yield Remark("the contract does not say what it is for", "add description.purpose", ("description",))


@contract_rule(Severity.WARNING)
def object_undescribed(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """One of several tables or topics has no description, or only repeats its name.

    Why: if a contract has several objects, each must say what one of its rows represents.

    Fix: describe the object, or give it a `dataGranularityDescription`.
    """
    if len(contract.schema) < 2:
        return
    for index, schema_object in enumerate(contract.schema):
        texts = (schema_object.description, schema_object.granularity)
        if all(says_nothing(text) or is_circular(schema_object.name, text or "") for text in texts):
            yield Remark(
                f"schema object {schema_object.name!r} has no description",
                "describe what one row represents",
                ("schema", index),
            )


@contract_rule(Severity.ERROR)
def version_not_semantic(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """The version is not MAJOR.MINOR.PATCH.

    Why: consumers cannot tell from it whether the next version may break them.

    Fix: write 1.0.0.
    """
    if not is_version(contract.version):
        yield Remark(f"version {contract.version!r} is not MAJOR.MINOR.PATCH", "write it like 1.2.0", ("version",))


@contract_rule(Severity.ERROR)
def id_invalid(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """The id contains blanks or special characters.

    Why: the id is part of commands, addresses and table names. Registries refuse a new contract with such an id.

    Fix: use letters, digits and `.`, `_`, `-`, `:` or `/`, such as `sales.orders`.
    """
    if characters := invalid_id_characters(contract.id):
        message = f"the id {contract.id!r} contains {' '.join(map(repr, characters))}"
        yield Remark(message, f"use {ALLOWED_IN_IDS}", ("id",))


@contract_rule(Severity.WARNING)
def status_missing(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """The contract has no status.

    Why: the life cycle of a contract depends on its status. Without one it is a draft, which is not published.

    Fix: write draft, or active once consumers may rely on it.
    """
    if not contract.status:
        yield Remark("the contract has no status", f"use one of: {', '.join(Status)}", ("status",))


@contract_rule(Severity.ERROR)
def status_unknown(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """The status is unknown.

    Why: the life cycle of a contract depends on its status: only an active contract is published. Registries refuse
    other statuses.

    Fix: use draft, active, deprecated, sunset, retired or archived. Of the words that ODCS suggests, `proposed`,
    `development` and `test` mean draft, and `production` means active.
    """
    if contract.status and contract.status not in STATUSES:
        yield Remark(f"status {contract.status!r} is unknown", choose(contract.status, Status), ("status",))


@contract_rule(Severity.WARNING)
def odcs_version_exceeded(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """The document uses what a later version of ODCS than its `apiVersion` introduced.

    Why: other tools validate the document with the schema of the version that it states, and refuse it.

    Fix: raise `apiVersion`, or remove what the version does not have.
    """
    if contract.form is not Form.ODCS or contract.api_version == LATEST_API_VERSION:
        return
    for violation in find_version_problems(write_odcs(contract)):
        message = f"{violation.finding.message} in ODCS {contract.api_version}"
        yield Remark(message, "raise apiVersion, or remove it", violation.pointer)


@contract_rule(Severity.WARNING)
def freshness_missing(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """A contract about data promises no freshness.

    Why: without a promise, consumers do not know when the data is too old.

    Fix: add a `freshness` service level, or a `latency:` block for a stream.
    """
    promised = {str(level.get("property", "")).lower() for level in contract.sla or ()}
    if (
        contract.schema
        and not promised & {"freshness", "latency", "ly", "frequency", "fy"}
        and contract.treaty.latency is None
    ):
        yield Remark(
            "the contract promises no freshness", "add a freshness service level or latency:", ("slaProperties",)
        )


@contract_rule(Severity.WARNING)
def key_missing(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """A data product has no identity key.

    Why: without a key, rows cannot be deduplicated, merged or identified.

    Fix: mark the identifying fields with `primaryKey: true`.
    """
    if contract.treaty.tier not in _NEEDS_KEY or contract.treaty.event is not None:
        return
    for index, schema_object in enumerate(contract.schema):
        if schema_object.fields and not schema_object.primary_key:
            yield Remark(
                f"schema object {schema_object.name!r} has no primary key", "mark its key fields", ("schema", index)
            )


@contract_rule(Severity.WARNING)
def promise_unstated(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """A data product or consumer contract does not state a promise that its consumers need.

    Why: consumers will make assumptions about the source of truth, the intended use, changes, delivery, latency and
    lineage of the data.

    Fix: add the block: `source_authority`, `intended_consumers`, `change_policy`, `delivery`, `latency`, `lineage`.
    """
    if contract.treaty.tier != "product" or contract.treaty.event is not None:
        return
    for name, what in _PROMISES.items():
        if getattr(contract.treaty, name) in (None, ()):
            yield Remark(f"the contract does not say {what}", f"add {name}:", ("tier",))


_MEASURE_KEYS = {"meaning": "what it means", "target": "its target", "owner": "who acts if it misses its target"}


@contract_rule(Severity.INFO)
def measure_incomplete(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """A semantic measure has no meaning, target or owner.

    Why: a number without a target is never wrong, and a missed target without an owner is never corrected.

    Fix: add `meaning`, `target` with `at_most` or `at_least`, and `owner` to the measure.
    """
    for index, measure in enumerate(contract.treaty.measures):
        for key, what in _MEASURE_KEYS.items():
            if getattr(measure, key) is None:
                message = f"measure {measure.name!r} does not say {what}"
                yield Remark(message, f"add {key}:", ("measures", index))


@contract_rule(Severity.WARNING)
def deprecation_incomplete(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """A deprecated contract has no sunset date or no replacement.

    Why: consumers cannot plan their migration without a date and a destination.

    Fix: add to `deprecation:` a `sunset_date` and a `replacement` or `migration_guide`.
    """
    notice = contract.treaty.deprecation
    if contract.status not in ("deprecated", "sunset"):
        return
    where = ("deprecation",) if notice else ("status",)
    if notice is None or not (notice.replacement or notice.migration_guide):
        yield Remark(
            "a deprecated contract has no replacement", "add deprecation.replacement or migration_guide", where
        )
    if notice is None or not (notice.sunset_date or contract.form is Form.SHORT):
        yield Remark("a deprecated contract has no sunset date", "add deprecation.sunset_date", where)


@contract_rule(Severity.WARNING)
def expiry_missing(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An edge contract has no expiry date.

    Why: contracts for single consumers accumulate unless each has a date on which it is renewed or removed.

    Fix: add `expires:`.
    """
    if contract.treaty.sharing == EDGE and not contract.treaty.expires:
        key = "sharing" if "sharing" in contract.plain_keys else "tier"
        yield Remark("an edge contract has no expiry", "add expires: with a date", (key,))


@contract_rule(Severity.ERROR)
def name_declared_twice(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """Two objects have the same name, or two fields of one object have names that differ only in case.

    Why: it is unclear which of them a query reads, and most SQL engines ignore case.

    Two fields of exactly the same name are refused when the document is read.

    Fix: rename or remove one.
    """
    names = [schema_object.name for schema_object in contract.schema]
    for name in sorted({name for name in names if names.count(name) > 1}):
        where = ("schema", len(names) - 1 - names[::-1].index(name))
        yield Remark(f"schema object {name!r} is declared twice", "keep one of them", where)
    seen: dict[str, str] = {}
    for spot in fields:
        if not spot.name or (spot.path.object is not None and names.count(spot.path.object) > 1):
            continue
        path = str(spot.path)
        first = seen.setdefault(path.casefold(), path)
        if first is not path:
            yield Remark(f"field {path} differs from {first} only in case", "keep one of them", spot.pointer)


@contract_rule(Severity.ERROR)
def reference_unknown(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """The ordering names a field that the contract does not have.

    Why: the ordering can neither be kept nor checked.

    Fix: use the path of a field, such as `order_id` or `customer.customer_id`.
    """
    ordering = contract.treaty.ordering
    if ordering is None or not fields:
        return
    known = {str(spot.path) for spot in fields} | {str(spot.path).partition(":")[2] for spot in fields}
    for name in dict.fromkeys((*ordering.key, *((ordering.sequence,) if ordering.sequence else ()))):
        if name not in known:
            yield Remark(
                f"ordering names {name!r}, which is not a field of the contract", "use a field path", ("ordering",)
            )
        elif ITEMS in name or MAP_VALUES in name or MAP_KEYS in name:
            message = f"ordering names {name!r}, which has several values per row"
            yield Remark(message, "use a field with one value per row", ("ordering",))


@contract_rule(Severity.ERROR)
def owner_missing(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """The contract has no owner.

    Why: when the data goes stale at night, there is no one to call and no one to decide.

    Fix: add `owners:` with a team and its contact, or `team:` as in ODCS.
    """
    if not contract.owners:
        yield Remark("the contract has no owner", "add owners: with a team and a contact", ("owners",))


@contract_rule(Severity.WARNING)
def owner_unreachable(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """An owner has no contact.

    Why: a team name alone does not tell consumers how to reach the team.

    Fix: add a `contact` (a channel, a pager group or an address), or a `support` channel as in ODCS.
    """
    if any(channel.get("channel") or channel.get("url") for channel in contract.support or ()):
        return
    for index, owner in enumerate(contract.owners):
        if not owner.contact:
            yield Remark(
                f"owner {owner.team!r} has no contact", "add a channel, pager group or address", ("owners", index)
            )


@contract_rule(Severity.ERROR)
def lineage_field_unknown(contract: Contract, fields: tuple[FieldContext, ...]) -> Iterator[Remark]:
    """A mapping of the lineage names a field that the contract does not have.

    Why: changes upstream are followed by field, so that consumers of the field that was meant are not notified.

    Fix: use the path of a field of this contract as the key of `mappings`.
    """
    for index, upstream in enumerate(contract.treaty.lineage):
        for name in upstream.mappings if fields else ():
            if not _is_field(contract, name):
                message = f"lineage maps {name!r}, which is not a field of the contract"
                yield Remark(message, "use a field path", ("lineage", index, "mappings", name))


def _is_field(contract: Contract, name: str) -> bool:
    try:
        return has_field(contract, parse_path(name))
    except InvalidDocument:
        return False
