"""Actions on migrations (acknowledge, move, waive) and on proposals (approve, decline)."""

from __future__ import annotations

from treaty.catalog import links
from treaty.catalog.actions.page_action import ActionSubject, FormField, FormValues, PageAction
from treaty.catalog.formatting import format_datetime
from treaty.catalog.source import Source, iterate_pages
from treaty.errors import InvalidDocument, NotFound
from treaty.registry.access.permissions import Action, Resource
from treaty.registry.model import BoardAnswer, MigrationConsumerAnswer, ProposalAnswer


def _find_consumer(source: Source, values: FormValues) -> tuple[BoardAnswer, MigrationConsumerAnswer]:
    board = source.migrations.get(values.number("migration"))
    name = values.required("consumer", "The consumer")
    match = next((consumer for consumer in board.consumers if consumer.consumer == name), None)
    if match is None:
        raise NotFound(f"{name!r} is not part of the migration from {board.before} to {board.after}")
    return board, match


def _consumer_subject(source: Source, values: FormValues) -> ActionSubject:
    board, consumer = _find_consumer(source, values)
    team = consumer.team or consumer.consumer
    return _subject(board, consumer, Action.SUBSCRIBE, Resource("subscription", consumer.consumer, frozenset({team})))


def _waiver_subject(source: Source, values: FormValues) -> ActionSubject:
    board, consumer = _find_consumer(source, values)
    return _subject(board, consumer, Action.WAIVE, Resource("migration", board.before))


def _subject(
    board: BoardAnswer, consumer: MigrationConsumerAnswer, action: Action, resource: Resource
) -> ActionSubject:
    facts = (
        ("Migration", f"{board.before} → {board.after}"),
        ("Consumer", consumer.consumer),
        ("State", consumer.state),
        ("Effect", consumer.effect),
        ("Fields", ", ".join(consumer.fields) or "not specified"),
        ("Ends on", str(board.ends_on) if board.ends_on else "not set"),
    )
    return ActionSubject(
        f"{consumer.consumer}, {board.before} → {board.after}", action, resource, links.migration(board.id), facts
    )


def _acknowledge(source: Source, values: FormValues) -> str:
    source.migrations.acknowledge(values.number("migration"), values.text("consumer"), note=values.optional("note"))
    return f"{values.text('consumer')} has acknowledged the change."


def _move(source: Source, values: FormValues) -> str:
    board = source.migrations.move(
        values.number("migration"), values.text("consumer"), fields=list(values.items("fields")) or None
    )
    return f"{values.text('consumer')} now uses {board.after}."


def _waive(source: Source, values: FormValues) -> str:
    until = values.day("until", "The end date")
    if until is None:
        raise InvalidDocument("a waiver needs an end date")
    source.migrations.waive(
        values.number("migration"), values.text("consumer"), reason=values.required("reason", "The reason"), until=until
    )
    return f"{values.text('consumer')} is waived until {until}."


_SUBJECT_FIELDS = ("migration", "consumer")

MIGRATION_ACTIONS = (
    PageAction(
        "acknowledge",
        "Acknowledge",
        "Confirm that this consumer knows of the change. If the new version requires acknowledgements, "
        "it is registered with the last one.",
        "Acknowledge",
        Action.SUBSCRIBE,
        _SUBJECT_FIELDS,
        _consumer_subject,
        _acknowledge,
        (FormField("note", "Note", "long", hint="For example, when the consumer will move."),),
    ),
    PageAction(
        "move",
        "Move to the new line",
        "Move the subscription of this consumer from the old line to the new one.",
        "Move to the new line",
        Action.SUBSCRIBE,
        _SUBJECT_FIELDS,
        _consumer_subject,
        _move,
        (
            FormField(
                "fields",
                "Fields on the new line",
                "long",
                hint="Paths, one per line. If empty, the fields that replace its current ones.",
            ),
        ),
    ),
    PageAction(
        "waive",
        "Waive this consumer",
        "Continue the migration although this consumer has not moved.",
        "Waive",
        Action.WAIVE,
        _SUBJECT_FIELDS,
        _waiver_subject,
        _waive,
        (
            FormField("reason", "Reason", "long", required=True, hint="Recorded in the audit log."),
            FormField(
                "until",
                "Until",
                "date",
                required=True,
                hint="After this date, the migration waits for the consumer again.",
            ),
        ),
        "I understand that this consumer may break.",
    ),
)


def _proposal_subject(source: Source, values: FormValues) -> ActionSubject:
    proposal, teams = _proposal(source, values.number("proposal"))
    facts = (
        ("Contract", proposal.contract),
        ("Version", proposal.version),
        ("Proposed by", proposal.proposed_by),
        ("Proposed on", f"{format_datetime(proposal.proposed_at)} UTC"),
        ("State", proposal.state),
    )
    name = f"{proposal.contract} {proposal.version}"
    waiting = source.migrations.list(contract=proposal.contract, state="proposed", limit=100).items
    missing = [consumer for migration in waiting if migration.proposal == proposal.id for consumer in migration.missing]
    warnings = (f"Waiting for acknowledgement by {', '.join(missing)}.",) if missing else ()
    return ActionSubject(
        name,
        Action.APPROVE,
        Resource("proposal", name, teams),
        links.proposals(),
        facts,
        warnings,
        checked_on_submit=True,  # proposers may decline their own, stewards may override: only the registry knows
    )


def _proposal(source: Source, identity: int) -> tuple[ProposalAnswer, frozenset[str]]:
    still = iterate_pages(lambda cursor, limit: source.governance.proposals(state="open", cursor=cursor, limit=limit))
    match = next((proposal for proposal in still if proposal.id == identity), None)
    if match is None:
        raise NotFound(f"no proposal {identity} is open")
    lines = source.lines(match.contract)
    owners = source.get(match.contract, lines[0].latest).owners if lines else []
    return match, frozenset(owner.team for owner in owners)


def _approve(source: Source, values: FormValues) -> str:
    done = source.governance.approve(
        values.number("proposal"), reason=values.optional("reason"), override=values.text("override") == "yes"
    )
    return f"{done.contract} {done.version} is approved and registered."


def _decline(source: Source, values: FormValues) -> str:
    done = source.governance.decline(values.number("proposal"), reason=values.optional("reason"))
    return f"{done.contract} {done.version} is declined."


_REASON = FormField("reason", "Reason", "long", hint="Shown to the proposer and recorded in the audit log.")

PROPOSAL_ACTIONS = (
    PageAction(
        "approve",
        "Approve",
        "Register the proposed version. It breaks consumers: check which ones before you approve.",
        "Approve and register",
        Action.APPROVE,
        ("proposal",),
        _proposal_subject,
        _approve,
        (
            _REASON,
            FormField(
                "override",
                "Override: approve my own proposal, or without missing acknowledgements",
                "tick",
                hint="For stewards only. Requires a reason.",
            ),
        ),
    ),
    PageAction(
        "decline",
        "Decline",
        "Decline the proposed version, or withdraw your own.",
        "Decline",
        Action.REGISTER,
        ("proposal",),
        _proposal_subject,
        _decline,
        (_REASON,),
    ),
)
