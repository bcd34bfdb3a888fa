"""Rules of policies: `require` entries, evaluated on the effective contract below a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.compatibility.changes import Direction
from treaty.compatibility.terms.service_levels import compare_levels, level_name, parse_level
from treaty.contracts.model import Contract, Field, SchemaObject, locate_fields
from treaty.contracts.quantities import parse_quantity
from treaty.contracts.requirements import Requirement, Scope, matches_text
from treaty.contracts.values import EMPTY, FrozenMap

VIOLATED = "policy_rule_violated"
"""The id of findings about rules of policies, which waivers name."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule is evaluated on: the contract, one of its objects or a field, with the names beside it."""

    path: str | None
    label: str
    part: Contract | SchemaObject | Field
    contract: Contract
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Breach:
    """A part of a contract that violates a rule, and what it lacks."""

    requirement: Requirement
    path: str | None
    message: str


def find_breaches(contract: Contract, policy: Contract) -> Iterator[Breach]:
    """Yield each part of an effective contract that violates a rule of a policy."""
    for requirement in policy.treaty.require:
        for subject in _subjects(contract, requirement.scope):
            if not _applies(requirement, subject):
                continue
            missing = [text for option in requirement.must if (text := _lacks(option, subject)) is not None]
            if missing:
                message = requirement.message or f"the policy rule {requirement.name} requires it"
                yield Breach(requirement, subject.path, f"{message}: {subject.label} {', '.join(missing)}")


def certificate_rules(contract: Contract, policies: Iterable[Contract]) -> Iterator[Requirement]:
    """Yield the rules of policies that demand a certificate of the publishers of a contract."""
    subject = Subject(None, "the contract", contract, contract)
    for policy in policies:
        for requirement in policy.treaty.require:
            demands = any("certificate" in alternative for option in requirement.must for alternative in option)
            if demands and requirement.scope is Scope.CONTRACT and _applies(requirement, subject):
                yield requirement


def _subjects(contract: Contract, scope: Scope) -> Iterator[Subject]:
    match scope:
        case Scope.CONTRACT:
            yield Subject(None, "the contract", contract, contract)
        case Scope.OBJECT:
            for item in contract.schema:
                yield Subject(item.name, f"object {item.name!r}", item, contract)
        case Scope.FIELD:
            located = list(locate_fields(contract))
            beside: dict[str, set[str]] = {}
            for path, field, _ in located:
                beside.setdefault(str(path.parent), set()).add(field.name or "")
            for path, field, _ in located:
                if field.name:
                    names = frozenset(beside[str(path.parent)]) - {field.name}
                    yield Subject(str(path), f"field {str(path)!r}", field, contract, names)
        case Scope.CONSUMER:
            return  # evaluated on subscriptions


def _applies(requirement: Requirement, subject: Subject) -> bool:
    return all(_CONDITIONS[key](subject, value) for key, value in requirement.where.items())


def _tags(subject: Subject) -> frozenset[str]:
    tags = {str(tag).casefold() for tag in subject.part.more.get("tags") or ()}
    if isinstance(subject.part, Field) and subject.part.treaty.get("pii") is True:
        tags.add("pii")
    return frozenset(tags)


def _properties(subject: Subject) -> Mapping[str, Any]:
    return {str(entry.get("property")): entry.get("value") for entry in subject.part.custom_properties or ()}


def _name(subject: Subject) -> str:
    part = subject.part
    return part.id if isinstance(part, Contract) else part.name or ""


def _type(subject: Subject) -> str | None:
    part = subject.part
    return part.type.name if isinstance(part, Field) and part.type else getattr(part, "physical_type", None)


def _classification(subject: Subject) -> str | None:
    return subject.part.classification if isinstance(subject.part, Field) else None


def _has_properties(subject: Subject, wanted: FrozenMap) -> bool:
    held = _properties(subject)
    return all(name in held and (value is True or held[name] == value) for name, value in wanted.items())


_CONDITIONS: dict[str, Callable[[Subject, Any], bool]] = {
    "tag": lambda subject, wanted: any(matches_text(tag, wanted) for tag in _tags(subject)),
    "classification": lambda subject, wanted: matches_text(_classification(subject), wanted),
    "name": lambda subject, wanted: matches_text(_name(subject), wanted),
    "type": lambda subject, wanted: matches_text(_type(subject), wanted),
    "domain": lambda subject, wanted: matches_text(subject.contract.domain, wanted),
    "property": _has_properties,
}
"""What a condition tests; a policy refuses others when it is read."""


def _lacks(option: tuple[FrozenMap, ...], subject: Subject) -> str | None:
    """Return what a part lacks, or None if it meets one of the alternatives."""
    texts: list[str] = []
    for alternative in option:
        missing = [text for key, wanted in alternative.items() if (text := _CHECKS[key](subject, wanted)) is not None]
        if not missing:
            return None
        texts.append(" and ".join(missing))
    return " or ".join(texts)


def _text_check(what: str, read: Callable[[Subject], str | None]) -> Callable[[Subject, Any], str | None]:
    def check(subject: Subject, wanted: Any) -> str | None:
        text = read(subject)
        if matches_text(text, wanted):
            return None
        if wanted is True:
            return f"has no {what}"
        choices = ", ".join(map(str, wanted)) if isinstance(wanted, tuple) else str(wanted)
        return f"has the {what} {text}, not {choices}" if text else f"has no {what}: {choices}"

    return check


def _field_key(key: str) -> Callable[[Subject], str | None]:
    return lambda subject: subject.part.treaty.get(key) if isinstance(subject.part, Field) else None


def _description(subject: Subject) -> str | None:
    part = subject.part
    if isinstance(part, Contract):
        return str((part.description or EMPTY).get("purpose") or "") or None
    return part.description


def _lacks_owner(subject: Subject, wanted: Any) -> str | None:
    owners = subject.contract.owners
    if not owners:
        return "has no owner"
    return "has an owner without a contact" if wanted == "contact" and not all(one.contact for one in owners) else None


def _lacks_levels(subject: Subject, wanted: FrozenMap) -> str | None:
    """Return the service levels that the contract does not promise, or promises less of than the rule requires."""
    missing: list[str] = []
    for name, amount in wanted.items():
        entry = {"property": name, "value": amount}
        quantity = parse_quantity(amount, None)
        level = parse_level(entry if quantity is None else {**entry, "value": amount})
        held = [one for one in subject.contract.sla or () if level_name({**one, "element": None}) == level_name(entry)]
        if not held:
            missing.append(f"promises no {name} ({amount} is required)")
        for one in held:
            worse = [
                difference
                for difference in compare_levels(level, parse_level(one))
                if difference.direction is not Direction.TIGHTENED
            ]
            missing += [f"promises {name} {difference.after}, not {amount}" for difference in worse]
    return ", ".join(missing) or None


def _lacks_block(subject: Subject, wanted: Any) -> str | None:
    names = wanted if isinstance(wanted, tuple) else (wanted,)
    missing = [name for name in names if getattr(subject.contract.treaty, name) in (None, ())]
    return f"does not state {', '.join(missing)}" if missing else None


def _lacks_flag(what: str, read: Callable[[Subject], bool]) -> Callable[[Subject, Any], str | None]:
    return lambda subject, wanted: None if read(subject) is wanted else f"is {'not ' if wanted else ''}{what}"


def _has_key(subject: Subject) -> bool:
    return isinstance(subject.part, SchemaObject) and bool(subject.part.primary_key)


def _is_required(subject: Subject) -> bool:
    return isinstance(subject.part, Field) and subject.part.is_required


def _is_unique(subject: Subject) -> bool:
    return isinstance(subject.part, Field) and bool(subject.part.unique)


_CHECKS: dict[str, Callable[[Subject, Any], str | None]] = {
    "classification": _text_check("classification", _classification),
    "unit": _text_check("unit", _field_key("unit")),
    "semantic_type": _text_check("semantic type", _field_key("semantic_type")),
    "description": _text_check("description", _description),
    "type": _text_check("type", _type),
    "name": _text_check("name", _name),
    "domain": _text_check("domain", lambda subject: subject.contract.domain),
    "tag": lambda subject, wanted: (
        None if any(matches_text(tag, wanted) for tag in _tags(subject)) else f"has no tag {wanted}"
    ),
    "property": lambda subject, wanted: (
        None if _has_properties(subject, wanted) else f"has no property {', '.join(wanted)}"
    ),
    "beside": lambda subject, wanted: (
        None if any(matches_text(name, wanted) for name in subject.beside) else f"has no field {wanted} beside it"
    ),
    "required": _lacks_flag("required", _is_required),
    "unique": _lacks_flag("unique", _is_unique),
    "primary_key": lambda subject, wanted: None if _has_key(subject) is wanted else "has no primary key",
    "owner": _lacks_owner,
    "sla": _lacks_levels,
    "block": _lacks_block,
    "certificate": lambda subject, wanted: None,  # demanded of publishers, not of the document
}
"""What a rule may demand; a policy refuses others when it is read."""
