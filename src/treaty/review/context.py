"""The context of a review: related files of the repository, policies in force, and the registry."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeVar

from treaty.consumers.property_lineage import SOURCES
from treaty.consumers.subscription_files import DeclaredSubscription
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.contracts.text import Limits
from treaty.errors import InvalidDocument, Unavailable
from treaty.governance.lifecycle import Status, parse_status
from treaty.governance.policy_chain import FoundPolicy, binding_policy, is_policy
from treaty.review.branch import Branch, Contents, Document, DocumentPlaces, RegistryGateway, Rules, read_file
from treaty.review.outlook import LineOutlook
from treaty.review.pairing import Pair, ReadChange
from treaty.review.report import RegistryAnswer

MAX_SEARCH_ROUNDS = 10
Answer = TypeVar("Answer")
_SOURCES = SOURCES.encode()


@dataclass(frozen=True)
class RelatedFiles:
    """Unchanged contracts and subscriptions that are related to the changed ones, and problems in their files."""

    documents: tuple[Document, ...] = ()
    declared: tuple[DeclaredSubscription, ...] = ()
    problems: tuple[tuple[str, tuple[Finding, ...]], ...] = ()


def find_related(branch: Branch, touched: Sequence[Contents], limits: Limits) -> RelatedFiles:
    """Find the files that name the changed contracts or their policies, and in turn those of policies and of contracts
    that are derived by field.
    """
    documents = [document for contents in touched for document in contents.documents if document.format is None]
    seen: set[str] = set()
    found: dict[str, Contents] = {}
    wanted = {document.contract.id for contents in touched for document in contents.documents} | set(
        _parents(documents)
    )
    for _ in range(MAX_SEARCH_ROUNDS):
        if not (wanted := wanted - seen):
            break
        seen |= wanted
        named = _naming(wanted)
        files = [file for file in branch.mentioning(sorted(wanted)) if file.path not in found]
        read = {
            file.path: read_file(file, limits)
            for file in files
            if named.search(file.content) or _SOURCES in file.content
        }
        found |= read
        around = [document for contents in read.values() for document in contents.documents]
        wanted = {*_parents(around), *_derived(around)}
    return RelatedFiles(
        tuple(document for path in sorted(found) for document in found[path].documents),
        tuple(subscription for path in sorted(found) for subscription in found[path].declared),
        tuple((path, found[path].problems) for path in sorted(found) if found[path].problems),
    )


def policies_in_force(documents: Collection[Document], today: date) -> dict[str, FoundPolicy]:
    """Return each policy by id, in the version that is in force on a day."""
    by_id: dict[str, list[tuple[Contract, Status]]] = {}
    for document in documents:
        if document.format is None and is_policy(document.contract):
            status = _status(document.contract) or Status.DRAFT
            by_id.setdefault(document.contract.id, []).append((document.contract, status))
    found = {name: binding_policy(versions, today) for name, versions in by_id.items()}
    return {name: policy for name, policy in found.items() if policy is not None}


def _naming(names: Collection[str]) -> re.Pattern[bytes]:
    """Return a pattern for keys whose value is one of the names, so that descriptions do not match."""
    either = "|".join(re.escape(name) for name in sorted(names))
    keys = "id|dataset_id|parent|contract|line"
    return re.compile(rf"""["']?(?:{keys})["']?\s*:\s*["']?(?:{either})(?:@[0-9]+)?["']?\s*(?:[,}}\r\n#]|$)""".encode())


def _parents(documents: Collection[Document] | Iterator[Document]) -> Iterator[str]:
    return (document.contract.treaty.parent for document in documents if document.contract.treaty.parent)


def _derived(documents: Iterable[Document]) -> Iterator[str]:
    """Yield the contracts through which a change can be followed by field."""
    for document in documents:
        if any(upstream.mappings for upstream in document.contract.treaty.lineage) or _SOURCES in document.file.content:
            yield document.contract.id


def _status(contract: Contract) -> Status | None:
    try:
        return parse_status(contract.status)
    except InvalidDocument:
        return None


class RegistrySession:
    """The registry during one review; after the first failure it is not queried again."""

    def __init__(self, gateway: RegistryGateway | None) -> None:
        self._gateway = gateway
        self.failure: str | None = None

    @property
    def answers(self) -> bool:
        """Whether there is a registry that answers."""
        return self._gateway is not None and self.failure is None

    def answer_for(self, pair: Pair) -> RegistryAnswer | None:
        """Return the answer of the registry for a contract, with located findings; None for foreign schemas."""
        gateway = self._gateway
        if gateway is None or pair.document.format is not None:
            return None
        after, gone = pair.after, pair.before
        if after is not None:
            return self._answer(lambda: _placed(gateway.judge(after), after))
        return self._answer(lambda: gateway.removal(gone.contract)) if gone is not None else None

    def outlook_for(self, declared: DeclaredSubscription) -> LineOutlook | None:
        """Return what is known about the line that a consumer reads; None if it is unknown, or there is no answer."""
        gateway = self._gateway
        return None if gateway is None else self._answer(lambda: gateway.outlook(declared))

    def _answer(self, ask: Callable[[], Answer]) -> Answer | None:
        if self.failure is not None:
            return None
        try:
            return ask()
        except Unavailable as error:
            self.failure = str(error)
            return None


def _placed(answer: RegistryAnswer, document: Document) -> RegistryAnswer:
    spots = DocumentPlaces(document)

    def locate(finding: Finding) -> Finding:
        place = spots.of(finding.path) if finding.path else finding.place or spots.key("version")
        return replace(finding, place=place)

    return replace(answer, findings=tuple(locate(remark) for remark in answer.findings))


@dataclass(frozen=True)
class ReviewContext:
    """The contracts, subscriptions and policies of the branch, the project rules, and the registry."""

    rules: Rules
    registry: RegistrySession
    documents: tuple[Document, ...]
    untouched: tuple[Document, ...]
    declared: tuple[DeclaredSubscription, ...]
    policies: Mapping[str, FoundPolicy]
    versions: Mapping[tuple[str, str], Sequence[Document]]
    left: frozenset[str]
    """The paths of moved and removed files in the base."""

    def moved_from(self, pair: Pair) -> str | None:
        """Return the old path of a contract whose file was moved, else None."""
        before, after = pair.before, pair.after
        return before.path if before and after and before.path != after.path and before.path in self.left else None

    def duplicates_of(self, document: Document) -> Iterator[Finding]:
        """Yield a finding for each other file with the same version and different content."""
        if document.format is not None:
            return
        contract = document.contract
        for other in self.versions[contract.id, contract.version]:
            if other.path != document.path and other.contract != contract:
                message = f"{contract.id} {contract.version} is also in {other.path} with different content"
                place = DocumentPlaces(document).key("version")
                hint = "keep one of them, or give one a different version"
                yield Finding("version_duplicate", Severity.ERROR, message, place=place, hint=hint)


def build_context(
    read: Sequence[ReadChange], around: RelatedFiles, rules: Rules, session: RegistrySession
) -> ReviewContext:
    """Build the context from the changed and the related files."""
    documents = (*(document for part in read for document in part.after.documents), *around.documents)
    versions: defaultdict[tuple[str, str], list[Document]] = defaultdict(list)
    for document in documents:
        if document.format is None:
            versions[document.contract.id, document.contract.version].append(document)
    held = {part.touched.after.path for part in read if part.touched.after}
    return ReviewContext(
        rules,
        session,
        documents,
        around.documents,
        (*(subscription for part in read for subscription in part.after.declared), *around.declared),
        policies_in_force(documents, rules.today),
        versions,
        frozenset(part.touched.before.path for part in read if part.touched.before) - held,
    )
