"""Parallel runs of legacy feeds, and what was decided about their findings."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

from treaty.contracts.model import has_field, locate_fields
from treaty.contracts.paths import parse_path
from treaty.contracts.versions import Line, parse_line
from treaty.errors import InvalidDocument, NotFound
from treaty.legacy.differences import ComparisonResult, Disposition, Finding
from treaty.registry.access.permissions import Action, Resource, authorize
from treaty.registry.api import ParallelRunsApi
from treaty.registry.documents import check_name
from treaty.registry.model import FindingAnswer, Page, ParallelRunAnswer
from treaty.registry.model.page import PAGE, BadCursor, after, check_limit, page_of
from treaty.registry.model.parallel_answers import DispositionAnswer, ExampleAnswer
from treaty.registry.not_found import no_line
from treaty.registry.service.context import Context
from treaty.registry.service.lifecycle import head_of
from treaty.registry.store import Connection, versions
from treaty.registry.store import parallel_runs as store
from treaty.registry.store.parallel_runs import StoredDisposition, StoredRun
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility
from treaty.suggestions import did_you_mean

_MAX_TEXT = 2_000
_NEW_FINDINGS = "parallel.findings"
_REPORT = "parallel.report"


class ParallelRuns(ParallelRunsApi):
    """The parallel runs of a registry."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def record(self, line: str, owner: str, result: ComparisonResult) -> ParallelRunAnswer:
        """Store what a run found, in place of an earlier run of the same feed and day."""
        context = self._context
        check_name(result.feed, "feed")
        named = parse_line(line)

        def write(transaction: Transaction) -> ParallelRunAnswer:
            owners = _owners_of(transaction, context, named)
            authorize(context.actor, Action.NOTIFY, Resource("contract", named.contract, owners))
            run = StoredRun(
                result.feed,
                result.as_of,
                named,
                owner,
                result.legacy_rows,
                result.new_rows,
                tuple(finding.fingerprint for finding in result.findings),
                _result_data(result),
                transaction.now,
                context.actor.name,
            )
            details = {"feed": result.feed, "as_of": result.as_of.isoformat(), "differences": result.differences}
            transaction.record(context.actor.name, "parallel.run", str(named), details=details)
            store.put_run(transaction, run)
            answer = _answer(transaction.connection, run)
            _notify_of_run(transaction, answer, named, owners | {owner})
            return answer

        return context.write(write)

    def list(self, *, feed: str | None = None, cursor: str | None = None, limit: int = PAGE) -> Page[ParallelRunAnswer]:
        """List runs without their findings, by feed, the newest day first."""
        check_limit(limit)
        name, day = after(cursor, "", "0001-01-01")
        try:
            start = (str(name), date.fromisoformat(str(day))) if cursor else None
        except ValueError:
            raise BadCursor from None

        def find(connection: Connection, visibility: Visibility) -> Page[ParallelRunAnswer]:
            rows = store.page_of_runs(connection, visibility, feed, start, limit + 1)
            page = page_of(rows, limit, lambda row: (row.feed, row.as_of.isoformat()))
            answers = [_answer(connection, row) for row in page.items]
            listed = [answer.model_copy(update={"findings": [], "totals": []}) for answer in answers]
            return Page(items=listed, next=page.next)

        return self._context.read(find)

    def get(self, feed: str, *, as_of: date | None = None) -> ParallelRunAnswer:
        """Return the run of a feed up to a day, or the newest."""
        return self._context.read(
            lambda connection, visibility: _answer(connection, _find(connection, visibility, feed, as_of))
        )

    def dispose(
        self, feed: str, fingerprint: str, *, disposition: str, owner: str, reason: str, term: str | None = None
    ) -> FindingAnswer:
        """Decide about a finding of the newest run; the decision holds as long as later runs find the same pattern."""
        chosen = _parse_disposition(disposition)
        texts = {"owner": owner, "reason": reason} | ({} if term is None else {"term": term})
        for name, text in texts.items():
            if not text.strip() or len(text) > _MAX_TEXT:
                raise InvalidDocument(f"the {name} must have 1 to {_MAX_TEXT:,} characters")
        if chosen is Disposition.SEMANTIC_DISAGREEMENT and term is None:
            raise InvalidDocument("name the term of the contract that settles the disagreement, such as status")
        context = self._context

        def write(transaction: Transaction) -> FindingAnswer:
            connection = transaction.connection
            run = store.find_run(connection, Visibility(), feed, None)
            if run is None or not context.sight(transaction).sees(run.line.contract):
                raise _no_feed(feed)
            authorize(
                context.actor,
                Action.NOTIFY,
                Resource("contract", run.line.contract, _owners_of(transaction, context, run.line)),
            )
            finding = next((one for one in _answer(connection, run).findings if one.fingerprint == fingerprint), None)
            if finding is None:
                raise NotFound(
                    f"the newest run of {feed} has no finding {fingerprint[:40]!r}",
                    f"list them with: treaty parallel report {feed}",
                )
            decided = StoredDisposition(
                fingerprint,
                finding.title[:_MAX_TEXT],
                chosen.value,
                owner.strip(),
                reason.strip(),
                term.strip() if term else None,
                transaction.now,
                context.actor.name,
                run.as_of,
            )
            if decided.term is not None:
                _check_term(connection, run.line, decided.term)
            before = store.dispositions_of(connection, feed)
            details = {"feed": feed, "finding": finding.title, "disposition": chosen.value, "owner": decided.owner}
            transaction.record(context.actor.name, "parallel.dispose", str(run.line), after=details, details=details)
            store.put_disposition(transaction, feed, decided, is_new=fingerprint not in before)
            return next(one for one in _answer(connection, run).findings if one.fingerprint == fingerprint)

        return context.write(write)


def _check_term(connection: Connection, line: Line, term: str) -> None:
    """Raise an error if the contract of the publication has no field, quality rule or measure of a name."""
    contract = versions.contract_of(connection, head_of(versions.versions_in_line(connection, line)))
    try:
        if has_field(contract, parse_path(term)):
            return
    except InvalidDocument:
        pass  # rules may have names that are no paths
    fields = [str(path) for path, _, _ in locate_fields(contract)]
    quality = [schema_object.quality for schema_object in contract.schema]
    quality += [field.quality for _, field, _ in locate_fields(contract)]
    rules = [str(rule["name"]) for part in quality for rule in part or () if rule.get("name")]
    named = [*rules, *(measure.name for measure in contract.treaty.measures)]
    if term not in named:
        raise InvalidDocument(
            f"{line} has no field, quality rule or measure {term[:80]!r}; "
            + did_you_mean(term, [*fields, *named], "see the contract with: treaty show")
        )


def _owners_of(transaction: Transaction, context: Context, line: Line) -> frozenset[str]:
    if not context.sight(transaction).sees(line.contract) or not versions.versions_in_line(
        transaction.connection, line
    ):
        raise no_line(line)
    return versions.owners_of(transaction.connection, line)


def _notify_of_run(transaction: Transaction, answer: ParallelRunAnswer, line: Line, parties: frozenset[str]) -> None:
    new = [finding for finding in answer.findings if finding.state == "new"]
    counts = Counter[str]()
    for finding in answer.findings:
        counts[finding.difference_class.value] += finding.count
    details = {
        "feed": answer.feed,
        "as_of": answer.as_of.isoformat(),
        "clean": answer.clean,
        "undecided": answer.undisposed,
        "differences": dict(counts),
    }
    if new:
        noun = "new finding" if len(new) == 1 else "new findings"
        headline = f"{answer.feed} and {line}: {len(new)} {noun} up to {answer.as_of}; the first: {new[0].title}"
        details["findings"] = [f"{finding.title} ({finding.count:,})" for finding in new[:20]]
        transaction.notify(_NEW_FINDINGS, line.contract, headline, details=details, parties=parties)
        return
    state = "clean" if answer.clean else f"{answer.undisposed} undecided, none new"
    headline = f"{answer.feed} and {line} up to {answer.as_of}: {answer.differences:,} differences; {state}"
    transaction.notify(_REPORT, line.contract, headline, details=details, parties=parties)


def _find(connection: Connection, visibility: Visibility, feed: str, as_of: date | None) -> StoredRun:
    run = store.find_run(connection, visibility, feed, as_of)
    if run is None:
        raise _no_feed(feed, as_of)
    return run


def _no_feed(feed: str, as_of: date | None = None) -> NotFound:
    day = f" up to {as_of}" if as_of else ""
    return NotFound(f"there is no parallel run of {feed[:80]!r}{day}", "start one with: treaty parallel run FEED")


def _parse_disposition(text: str) -> Disposition:
    try:
        return Disposition(text)
    except ValueError:
        raise InvalidDocument(f"unknown disposition {text[:40]!r}; use one of: {', '.join(Disposition)}") from None


def _result_data(result: ComparisonResult) -> dict[str, Any]:
    return {
        "legacy_sums": {name: str(value) for name, value in result.legacy_sums.items()},
        "new_sums": {name: str(value) for name, value in result.new_sums.items()},
        "findings": [_finding_data(finding) for finding in result.findings],
        "periods": [
            {
                "period": one.period.isoformat() if one.period else None,
                "difference_class": one.difference_class.value,
                "count": one.count,
            }
            for one in result.periods
        ],
        "totals": [
            {"group": list(one.group), "effects": {name: str(value) for name, value in one.effects.items()}}
            for one in result.totals
        ],
    }


def _finding_data(finding: Finding) -> dict[str, Any]:
    return {
        "fingerprint": finding.fingerprint,
        "difference_class": finding.difference_class.value,
        "column": finding.column,
        "pattern": finding.pattern,
        "title": finding.title,
        "count": finding.count,
        "effects": {name: str(value) for name, value in finding.effects.items()},
        "involved": {name: str(value) for name, value in finding.involved.items()},
        "examples": [
            {"key": one.key, "period": one.period, "legacy": one.legacy, "new": one.new} for one in finding.examples
        ],
    }


_STATES = ("new", "open", "disposed")


def _answer(connection: Connection, run: StoredRun) -> ParallelRunAnswer:
    first = store.first_seen(connection, run.feed, run.as_of, run.fingerprints)
    decided = store.dispositions_of(connection, run.feed)
    findings = [_finding_answer(data, run, first, decided) for data in run.result["findings"]]
    findings.sort(key=lambda one: (_STATES.index(one.state), -one.count, one.fingerprint))
    undisposed = sum(finding.state != "disposed" for finding in findings)
    return ParallelRunAnswer(
        feed=run.feed,
        line=str(run.line),
        owner=run.owner,
        as_of=run.as_of,
        legacy_rows=run.legacy_rows,
        new_rows=run.new_rows,
        legacy_sums=run.result["legacy_sums"],
        new_sums=run.result["new_sums"],
        differences=sum(finding.count for finding in findings),
        undisposed=undisposed,
        clean=undisposed == 0,
        findings=findings,
        periods=run.result["periods"],
        totals=run.result["totals"],
        recorded_at=run.recorded_at,
        recorded_by=run.recorded_by,
    )


def _finding_answer(
    data: dict[str, Any], run: StoredRun, first: dict[str, date], decided: dict[str, StoredDisposition]
) -> FindingAnswer:
    seen = first.get(data["fingerprint"], run.as_of)
    disposition = decided.get(data["fingerprint"])
    disposition = disposition if disposition is not None and disposition.holds(seen) else None
    examples = [ExampleAnswer(**example) for example in data["examples"]]
    return FindingAnswer(
        **{**data, "examples": examples},
        state="disposed" if disposition else "new" if seen == run.as_of else "open",
        first_seen=seen,
        disposition=DispositionAnswer(
            disposition=Disposition(disposition.disposition),
            owner=disposition.owner,
            reason=disposition.reason,
            term=disposition.term,
            decided_at=disposition.decided_at,
            decided_by=disposition.decided_by,
        )
        if disposition
        else None,
    )
