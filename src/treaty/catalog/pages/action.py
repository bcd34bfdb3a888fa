"""The page of an act: what it does, what it is about, and its form; or who may do it, for those who may not."""

from __future__ import annotations

from treaty.catalog import links
from treaty.catalog.actions import FormValues, PageAction
from treaty.catalog.links import LiveUrls
from treaty.catalog.rendering import Message, Page, Visitor
from treaty.catalog.source import Source
from treaty.registry.access.permissions import RULES, objection


def action_page(
    source: Source,
    act: PageAction,
    given: FormValues,
    visitor: Visitor,
    problem: Message | None = None,
    status: int = 200,
) -> Page:
    """Return the page of an act on what an address or a form names."""
    subject = act.look(source, given)
    about = {name: given.text(name) for name in act.about}
    here = links.action(act.name, **about)
    against = _against(act, visitor) if subject.may_be_anybody else None
    if visitor.actor is not None and not subject.may_be_anybody:
        against = objection(visitor.actor, subject.action, subject.resource)
    return Page(
        here,
        "actions/act.html",
        f"{act.title}: {subject.name}",
        "",
        {
            "act": act,
            "subject": subject,
            "given": given,
            "about": about,
            "against": against,
            "there": LiveUrls().url(here),
            "problem": problem,
        },
        ("actions.css",),
        status if against is None or problem else 403,
    )


def _against(act: PageAction, visitor: Visitor) -> str | None:
    """Say who could never do this, whatever they fill in."""
    actor, rule = visitor.actor, RULES[act.action]
    if actor is None or (
        {one.role for one in actor.grants} & (rule.anywhere | rule.in_team) and rule.scope in actor.scopes
    ):
        return None
    roles = ", ".join(sorted(rule.anywhere | rule.in_team))
    return f"{actor.name} may not do this; it takes one of the roles {roles}, and a token with the scope {rule.scope}"
