"""What a consumer must do, by field: from its guide, else in the words of the changes that hit it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from treaty.compatibility import Judged, Verdict
from treaty.compatibility.migration import MigrationPath, migration_path
from treaty.consumers.guides import guides
from treaty.consumers.subscriptions import ConsumerClass, Line, Subscription
from treaty.contracts.paths import FieldPath
from treaty.errors import TreatyError
from treaty.review.report import Step


class WayOver:
    """The way from one version to the next; it is worked out once, for whoever is hit first."""

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict

    def steps(self, hits: Sequence[Judged], fields: tuple[FieldPath, ...]) -> tuple[Step, ...]:
        """Return one step for each field that is hit; what the guide does not speak of, the change says itself."""
        if not hits:
            return ()
        guided = dict(self._guided(fields))
        named = {step.field for step in guided.values()}
        rest = [Step(item.change.field, item.message) for item in hits if item.change.field not in (*guided, *named)]
        return tuple(dict.fromkeys((*guided.values(), *rest)))

    def _guided(self, fields: tuple[FieldPath, ...]) -> Iterator[tuple[str, Step]]:
        path, before = self._path, self._verdict.before
        if path is None or before is None or not fields:
            return
        version = before.semantic_version
        line = Line(before.id, version.major if version else 0)
        asked = Subscription("consumer", line, ConsumerClass.OPERATIONAL_REPORTING, fields)
        (guide,) = guides(path, [asked], verdict=self._verdict)
        for one in guide.fields:
            yield one.before, Step(one.before, "; ".join(one.todo))

    @cached_property
    def _path(self) -> MigrationPath | None:
        verdict = self._verdict
        try:
            return migration_path(verdict.before, verdict.after) if verdict.before else None
        except TreatyError:  # a plan that cannot be followed is told where it is judged
            return None
