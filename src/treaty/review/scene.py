"""Everything that a judge may have to look at beside the pair before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from treaty.consumers.declared import Declared
from treaty.contracts.findings import Finding, Severity
from treaty.contracts.model import Contract
from treaty.review.asking import Asking
from treaty.review.branch import Rules
from treaty.review.documents import Document
from treaty.review.pairing import Pair, Read
from treaty.review.placing import Spots
from treaty.review.surroundings import Surroundings, policies_in_force


@dataclass(frozen=True)
class Scene:
    """The branch as it is: its contracts, subscriptions and policies, the project's rules, and whom to ask."""

    rules: Rules
    asking: Asking
    documents: tuple[Document, ...]
    untouched: tuple[Document, ...]
    declared: tuple[Declared, ...]
    policies: Mapping[str, Contract]
    versions: Mapping[tuple[str, str], Sequence[Document]]
    left: frozenset[str]
    """The paths that files were moved or removed from."""

    def moved_from(self, pair: Pair) -> str | None:
        """Return where a contract stood, if its file is no longer there."""
        before, after = pair.before, pair.after
        return before.path if before and after and before.path != after.path and before.path in self.left else None

    def duplicates_of(self, document: Document) -> Iterator[Finding]:
        """Yield each other file that holds the same version and says something else."""
        if document.format is not None:
            return
        contract = document.contract
        for other in self.versions[contract.id, contract.version]:
            if other.path != document.path and other.contract != contract:
                message = f"{contract.id} {contract.version} stands here and in {other.path}, and they differ"
                place = Spots(document).key("version")
                hint = "keep one, or give one a version of its own"
                yield Finding("version_duplicate", Severity.ERROR, message, place=place, hint=hint)


def set_scene(read: Sequence[Read], around: Surroundings, rules: Rules, asking: Asking) -> Scene:
    """Put together what the branch holds, touched or not."""
    documents = (*(one for part in read for one in part.after.documents), *around.documents)
    versions: defaultdict[tuple[str, str], list[Document]] = defaultdict(list)
    for one in documents:
        if one.format is None:
            versions[one.contract.id, one.contract.version].append(one)
    held = {part.touched.after.path for part in read if part.touched.after}
    return Scene(
        rules,
        asking,
        documents,
        around.documents,
        (*(one for part in read for one in part.after.declared), *around.declared),
        policies_in_force(documents),
        versions,
        frozenset(part.touched.before.path for part in read if part.touched.before) - held,
    )
