"""Registering several documents: in which order, and what became of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from treaty.cli.inputs import Given, Source, given
from treaty.compatibility import Plan, plan_of
from treaty.contracts.loader import contract_from
from treaty.contracts.text import Limits
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound, Refused, TreatyError

if TYPE_CHECKING:
    from treaty.registry.client import RegistryClient
    from treaty.registry.model import ImpactAnswer, Registration
    from treaty.registry.report import CompatibilityReport
    from treaty.registry.service import Registry

    AnyRegistry = Registry | RegistryClient


class Became(StrEnum):
    """What became of a document."""

    REGISTERED = "registered"
    PROPOSED = "proposed"
    UNCHANGED = "unchanged"
    WOULD_REGISTER = "would register"
    WOULD_PROPOSE = "would propose"
    UNDECIDED = "undecided"
    REFUSED = "refused"
    CONFLICT = "conflict"
    INVALID = "invalid"
    NOT_ALLOWED = "not allowed"


STANDING_AGAINST = frozenset({Became.REFUSED, Became.CONFLICT, Became.INVALID})
"""What a document's author has to put right."""


@dataclass(frozen=True)
class Outcome:
    """What became of one document, and why."""

    source: str
    became: Became
    contract: str | None = None
    version: str | None = None
    message: str | None = None
    report: CompatibilityReport | None = None
    impact: ImpactAnswer | None = None
    plan: Plan = Plan.MISSING
    proposal: int | None = None


def read_all(sources: Sequence[Source], limits: Limits) -> tuple[list[Given], list[Outcome]]:
    """Read documents; one that is no contract is told, so that the others are registered all the same."""
    documents: list[Given] = []
    unreadable: list[Outcome] = []
    for source in sources:
        try:
            documents.append(given(source, limits))
        except InvalidDocument as error:
            unreadable.append(Outcome(source.name, Became.INVALID, message=str(error)))
    return documents, unreadable


def in_order(documents: Sequence[Given]) -> list[Given]:
    """Put policies before those they bind, upstreams before what is made from them, lower versions before higher."""
    rests_on: dict[str, set[str]] = {one.contract.id: set() for one in documents}
    for one in documents:
        blocks = one.contract.treaty
        named = {blocks.parent, *(upstream.contract for upstream in blocks.lineage)}
        rests_on[one.contract.id] |= {contract_of(name) for name in named if name} & rests_on.keys()
    depths = dict.fromkeys(rests_on, 1)
    for _ in rests_on:  # a circle ends here too
        deeper = {name: 1 + max((depths[other] for other in under), default=0) for name, under in rests_on.items()}
        if deeper == depths:
            break
        depths = deeper

    def place(one: Given) -> tuple[int, str, tuple[int, ...], str]:
        version = one.contract.semantic_version
        parts = (version.major, version.minor, version.patch) if version else ()
        return depths[one.contract.id], one.contract.id, parts, one.contract.version

    return sorted(documents, key=place)


def contract_of(name: str) -> str:
    """Return the contract that a line is of; any other name is the contract's own."""
    contract, mark, major = name.rpartition("@")
    return contract if mark and major.isdecimal() else name


def register_all(registry: AnyRegistry, documents: Sequence[Given], mode: str | None) -> Iterator[Outcome]:
    """Register one document after the other."""

    def register(one: Given) -> Outcome:
        done = registry.register(one.source.content, compatibility=mode)
        return _outcome(one, Became(done.status), _awaited(done), done.compatibility, proposal=done.proposal)

    for one in documents:
        yield _attempt(registry, one, mode, register)


def register_telling(registry: AnyRegistry, documents: Sequence[Given], mode: str | None) -> Iterator[Outcome]:
    """Register one document after the other, each with whom it asks something of, so that notices can be named."""

    def register(one: Given) -> Outcome:
        if (there := _registered(registry, one)) is not None:
            return there
        impact = _impact(registry, one, mode)
        done = registry.register(one.source.content, compatibility=mode)
        return _outcome(one, Became(done.status), _awaited(done), done.compatibility, impact, done.proposal)

    for one in documents:
        yield _attempt(registry, one, mode, register)


def check_all(registry: AnyRegistry, documents: Sequence[Given], mode: str | None) -> Iterator[Outcome]:
    """Say what would become of each document, and register none."""
    given_here = {one.contract.id for one in documents}

    def check(one: Given) -> Outcome:
        if (there := _registered(registry, one)) is not None:
            return there
        try:
            report = registry.check(one.source.content, compatibility=mode)
        except InvalidDocument:
            parent = one.contract.treaty.parent
            if parent not in given_here:
                raise
            return _outcome(one, Became.UNDECIDED, f"it can be judged once {parent} is registered")
        if report.admissible:
            waits = registry.consumers.can_i_publish(one.source.content, compatibility=mode).waits
            became = Became.WOULD_PROPOSE if waits else Became.WOULD_REGISTER
            return _outcome(one, became, "\n".join(waits) or None, report)
        return _refused(registry, one, mode, report, "")

    for one in documents:
        yield _attempt(registry, one, mode, check)


def _attempt(registry: AnyRegistry, one: Given, mode: str | None, act: Callable[[Given], Outcome]) -> Outcome:
    try:
        return act(one)
    except Refused as error:
        return _refused(registry, one, mode, getattr(error, "report", None), str(error))
    except Conflict as error:
        return _registered(registry, one) or _outcome(one, Became.CONFLICT, str(error))
    except InvalidDocument as error:
        return _outcome(one, Became.INVALID, str(error))
    except NotAllowed as error:
        return _outcome(one, Became.NOT_ALLOWED, str(error))


def _awaited(done: Registration) -> str | None:
    """Say whose word a version waits for, and how it is given."""
    if not done.waits_for:
        return None
    return f"it waits for the word of {', '.join(done.waits_for)}: treaty migrate status --contract {done.dataset_id}"


def _registered(registry: AnyRegistry, one: Given) -> Outcome | None:
    """Compare a document with the registered one of its version: the same again is no conflict."""
    try:
        there = registry.get(one.contract.id, one.contract.version)
    except NotFound:
        return None
    if there.digest == one.prepared.digest:
        return _outcome(one, Became.UNCHANGED)
    return _outcome(
        one,
        Became.CONFLICT,
        f"version {one.contract.version} is registered with other content, and history does not change;"
        " give the change a version of its own",
    )


def _refused(
    registry: AnyRegistry, one: Given, mode: str | None, report: CompatibilityReport | None, message: str
) -> Outcome:
    impact = _impact(registry, one, mode)
    refused = _outcome(one, Became.REFUSED, message or None, report=report, impact=impact)
    return replace(refused, plan=_plan(registry, one, impact))


def _plan(registry: AnyRegistry, one: Given, impact: ImpactAnswer | None) -> Plan:
    """Tell whose migration plan a document comes with, seen from the version that it follows."""
    before = None
    if one.contract.treaty.migration is not None and impact is not None and impact.before is not None:
        before = contract_from(registry.get(one.contract.id, impact.before).document, "the registry")
    return plan_of(before, one.contract)


def _impact(registry: AnyRegistry, one: Given, mode: str | None) -> ImpactAnswer | None:
    try:
        return registry.consumers.impact(one.source.content, compatibility=mode)
    except TreatyError:  # what is refused stays refused, whoever may not ask whom it hits
        return None


def _outcome(
    one: Given,
    became: Became,
    message: str | None = None,
    report: CompatibilityReport | None = None,
    impact: ImpactAnswer | None = None,
    proposal: int | None = None,
) -> Outcome:
    contract = one.contract
    return Outcome(
        one.source.name,
        became,
        contract.id,
        contract.version,
        message,
        report,
        impact,
        proposal=proposal,
    )
