"""Who reads published rows: the consumer that an actor may act as, its subscription, and the contract that binds it."""

from __future__ import annotations

from dataclasses import dataclass

from treaty.consumers.subscriptions import Subscription
from treaty.contracts.versions import Line
from treaty.errors import Conflict, NotAllowed
from treaty.governance.effective import EffectiveContract
from treaty.governance.lifecycle import EXISTING_CONSUMERS, NEW_CONSUMERS, ConsumerAdmission, Status
from treaty.registry.access.actors import PER_TEAM, Actor, NotAuthenticated
from treaty.registry.model import VersionAnswer
from treaty.registry.not_found import no_line
from treaty.registry.service.context import Context
from treaty.registry.service.lifecycle import head_of
from treaty.registry.service.policies import effective_of
from treaty.registry.service.version_answers import version_answer
from treaty.registry.store import Connection, subscriptions, versions
from treaty.registry.store.subscriptions import Subscribed


class LineRetired(Conflict):
    """A line is retired or archived; its rows are no longer served."""


class NoDataAccess(NotAllowed):
    """The actor may not read the rows; `decision` is the reason as the access log has it."""

    def __init__(self, message: str, decision: str, consumer: str | None = None) -> None:
        super().__init__(message)
        self.decision = decision
        self.consumer = consumer


@dataclass(frozen=True)
class DataReader:
    """A consumer with its subscription, and the version and effective contract of the line."""

    subscription: Subscription
    version: VersionAnswer
    effective: EffectiveContract

    @property
    def consumer(self) -> str:
        """The name of the consumer."""
        return self.subscription.consumer


def find_data_reader(context: Context, line: Line, consumer: str | None = None) -> DataReader:
    """Return the consumer that the actor reads a line as: the one that it names, or else the only one it can be.

    An actor is the consumers of the teams in which it has a role, and the consumer that its access token is named
    after. Other roles read no rows: a steward or an admin is no consumer.
    """
    if context.actor.via == "anonymous":
        raise NotAuthenticated("sign in to read rows: send 'Authorization: Bearer <token>' of the consumer")

    def read(connection: Connection) -> DataReader:
        members = versions.versions_in_line(connection, line)
        if not members:
            raise no_line(line)
        version = version_answer(head_of(members))
        if EXISTING_CONSUMERS[head_of(members).status] is ConsumerAdmission.REFUSED:
            instead = f"; read {version.replacement} instead" if version.replacement else ""
            raise LineRetired(f"{line} is {version.status}, and its rows are no longer served{instead}")
        subscribed = _choose(connection, context.actor, line, consumer, version)
        return DataReader(
            subscribed.subscription, version, effective_of(connection, context.rules, head_of(members), context.today)
        )

    return context.read_contract(line.contract, read)


def _choose(
    connection: Connection, actor: Actor, line: Line, consumer: str | None, version: VersionAnswer
) -> Subscribed:
    subscribed = subscriptions.subscribers(connection, line)
    own = [one for one in subscribed if acts_for(actor, one)]
    if consumer is not None:
        own = [one for one in own if one.subscription.consumer == consumer]
    elif named := [one for one in own if one.subscription.consumer == actor.name]:
        own = named
    if not own:
        raise NoDataAccess(_how_to_subscribe(actor, line, consumer, version), "no_subscription", consumer)
    if len(own) > 1:
        names = ", ".join(one.subscription.consumer for one in own)
        raise NoDataAccess(
            f"{actor.name} reads {line} as several consumers; add consumer=NAME, one of: {names}", "no_subscription"
        )
    if not own[0].subscription.is_confirmed:
        name = own[0].subscription.consumer
        raise NoDataAccess(
            f"the subscription of {name} to {line} is not confirmed; "
            f"confirm it with: treaty consumer confirm {name} {line}",
            "unconfirmed",
            name,
        )
    return own[0]


def acts_for(actor: Actor, subscribed: Subscribed) -> bool:
    """Return whether an actor may read as a consumer."""
    if actor.via == "local":
        return True
    consumer = subscribed.subscription.consumer
    if actor.via == "token" and actor.name == consumer:
        return True
    team = subscribed.team or consumer
    return any(grant.role in PER_TEAM and grant.team == team for grant in actor.grants)


def _how_to_subscribe(actor: Actor, line: Line, consumer: str | None, version: VersionAnswer) -> str:
    name = consumer if consumer is not None else actor.name
    if NEW_CONSUMERS[Status(version.status)] is ConsumerAdmission.REFUSED:
        use = version.replacement or "another line"
        return f"{name} has no subscription to {line}, which is {version.status} and takes no new consumers; use {use}"
    return (
        f"{actor.name} has no subscription to {line}"
        + (f" as {consumer}" if consumer is not None else "")
        + f"; make one with: treaty consumer subscribe {name} {line} --class CLASS --purpose PURPOSE --field PATH"
    )
