"""Contracts to the source of Pydantic models."""

from __future__ import annotations

from treaty.contracts.model import Contract
from treaty.formats.assembling import assembled, with_objects
from treaty.formats.losses import lost
from treaty.formats.pydantic.planning import Plan
from treaty.formats.pydantic.reading import model_part
from treaty.formats.pydantic.source import module
from treaty.formats.results import Written

TITLE = "Pydantic"
REASONS = {"*": "a model has no place for it"}


def write(contract: Contract) -> Written:
    """Write a contract as a module with one model for each object, and for each object inside it."""
    plan = Plan(with_objects(contract, TITLE))
    text = module(f"Models of the contract {contract.id} {contract.version}.", plan.classes)
    back = assembled([model_part(root.build())[0] for root in plan.roots], contract.id)
    return Written(text, lost(contract, back, REASONS))
