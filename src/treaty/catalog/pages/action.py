"""The form of an action, or the reason why the visitor is not allowed to use it."""

from __future__ import annotations

from treaty.catalog import links
from treaty.catalog.actions import FormValues, PageAction
from treaty.catalog.links import LiveUrls
from treaty.catalog.rendering import Message, Page, Visitor
from treaty.catalog.source import Source
from treaty.registry.access.permissions import RULES, objection


def action_page(
    source: Source,
    action: PageAction,
    values: FormValues,
    visitor: Visitor,
    problem: Message | None = None,
    status: int = 200,
) -> Page:
    """Return the page of an action for the subject that the query or form names."""
    subject = action.load_subject(source, values)
    subject_fields = {name: values.text(name) for name in action.subject_fields}
    link = links.action(action.name, **subject_fields)
    denial = _role_denial(action, visitor) if subject.checked_on_submit else None
    if visitor.actor is not None and not subject.checked_on_submit:
        denial = objection(visitor.actor, subject.action, subject.resource)
    return Page(
        link,
        "actions/action.html",
        f"{action.title}: {subject.name}",
        "",
        {
            "action": action,
            "subject": subject,
            "values": values,
            "subject_fields": subject_fields,
            "denial": denial,
            "return_to": LiveUrls().url(link),
            "problem": problem,
        },
        ("actions.css",),
        status if denial is None or problem else 403,
    )


def _role_denial(action: PageAction, visitor: Visitor) -> str | None:
    """Return why the roles or scopes of a visitor rule out this action, whatever they enter."""
    actor, rule = visitor.actor, RULES[action.action]
    if actor is None or (
        {grant.role for grant in actor.grants} & (rule.anywhere | rule.in_team) and rule.scope in actor.scopes
    ):
        return None
    roles = ", ".join(sorted(rule.anywhere | rule.in_team))
    return f"{actor.name} needs one of the roles {roles} and a token with the scope {rule.scope}"
