"""Routes for migrations: state, acknowledgements, proofs and migration paths."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query

from treaty.registry.access.permissions import Action
from treaty.registry.model import BoardAnswer, MigrationAnswer, MigrationPathAnswer, Page
from treaty.registry.model.page import PAGE
from treaty.server.errors import API
from treaty.server.rate_limits import Cost
from treaty.server.request_models import AcknowledgementBody, MigrationWaiverBody, MoveBody, ProofBody
from treaty.server.routing import CallerRegistry, Cursor, Limit, Routes

routes = Routes("migrations", API)
Number = Annotated[int, Path(ge=1, lt=2**63)]
Name = Annotated[str, Query(min_length=1, max_length=256)]
Version = Annotated[str, Query(min_length=1, max_length=64)]


@routes.get("/migrations", Action.READ)
def list_migrations(
    registry: CallerRegistry,
    contract: Annotated[str | None, Query(max_length=256)] = None,
    state: Literal["proposed", "open", "closed", "withdrawn"] | None = None,
    team: Annotated[
        str | None, Query(max_length=256, description="Only migrations with consumers of this team.")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> Page[MigrationAnswer]:
    """List migrations with the number of consumers in each state."""
    return registry.migrations.list(contract=contract, state=state, team=team, cursor=cursor, limit=limit)


@routes.get("/migrations/{identity}", Action.READ, (404,))
def get_migration(registry: CallerRegistry, identity: Number) -> BoardAnswer:
    """Return one migration with the state of each consumer and its proof."""
    return registry.migrations.get(identity)


@routes.post("/migrations/{identity}/acknowledge", Action.SUBSCRIBE, (404, 409))
def acknowledge_migration(registry: CallerRegistry, identity: Number, body: AcknowledgementBody) -> BoardAnswer:
    """Acknowledge the change for a consumer. The last required acknowledgement registers the proposed version."""
    return registry.migrations.acknowledge(identity, body.consumer, note=body.note)


@routes.post("/migrations/{identity}/move", Action.SUBSCRIBE, (404, 409))
def move_consumer(registry: CallerRegistry, identity: Number, body: MoveBody) -> BoardAnswer:
    """Move a consumer's subscription from the old line to the new one."""
    return registry.migrations.move(identity, body.consumer, fields=body.fields)


@routes.post("/migrations/{identity}/waive", Action.WAIVE, (404, 409))
def waive_consumer(registry: CallerRegistry, identity: Number, body: MigrationWaiverBody) -> BoardAnswer:
    """Exempt a consumer from the migration, for a reason, until a date."""
    return registry.migrations.waive(identity, body.consumer, reason=body.reason, until=body.until)


@routes.post("/migrations/{identity}/proof", Action.REGISTER, (404, 409))
def record_proof(registry: CallerRegistry, identity: Number, body: ProofBody) -> BoardAnswer:
    """Record a proof that the migration views work on data."""
    return registry.migrations.record_proof(identity, body.proof)


@routes.get("/migration-path", Action.READ, (404, 409), Cost.EXPENSIVE)
def migration_path(registry: CallerRegistry, contract: Name, before: Version, after: Version) -> MigrationPathAnswer:
    """Return the migration path between two versions: views in both directions, and a guide for each consumer."""
    return registry.migrations.path(contract, before, after)
