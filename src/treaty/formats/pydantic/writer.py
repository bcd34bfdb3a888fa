"""Write contracts as the source of Pydantic models."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

from treaty.contracts.model import Contract
from treaty.formats.losses import find_losses
from treaty.formats.notes import assemble_contracts, require_objects
from treaty.formats.pydantic.model_plan import Attribute, ModelClass, ModelPlan
from treaty.formats.pydantic.reader import read_model_part
from treaty.formats.pydantic.types import used_validators
from treaty.formats.pydantic.validators import VALIDATORS
from treaty.formats.results import WriteResult
from treaty.formats.unchecked_rules import UncheckedRules, find_unchecked_rules

TITLE = "Pydantic"
REASONS = {"*": "a Pydantic model cannot express it"}
UNCHECKED = UncheckedRules(
    rows="a model validates one row at a time",
    other="the model does not check it",
    unchecked_options=frozenset({"minProperties", "maxProperties"}),
    checks_constructs=False,
)


def write(contract: Contract) -> WriteResult:
    """Write a contract as a module with one model per object, nested objects included."""
    plan = ModelPlan(require_objects(contract, TITLE))
    text = render_module(f"Models of the contract {contract.id} {contract.version}.", plan.classes)
    read_back = assemble_contracts([read_model_part(root.build())[0] for root in plan.roots], contract.id)
    losses = find_losses(contract, read_back, REASONS)
    return WriteResult(text, (*losses, *find_unchecked_rules(plan.contract, UNCHECKED)))


_WIDTH = 110
_PLAIN_DOC = re.compile(r"[^\\\"\x00-\x09\x0b-\x1f\x7f-\x9f]*[^\\\"\s\x00-\x1f\x7f-\x9f]")
_TYPING = ("Annotated", "Any", "Literal")
_PYDANTIC = (
    *("AfterValidator", "AwareDatetime", "BaseModel", "BeforeValidator", "ConfigDict", "Field", "NaiveDatetime"),
    *("StrictBool", "StrictFloat", "StrictInt"),
)


def render_module(title: str, classes: Iterable[ModelClass]) -> str:
    """Return the source of a module that defines the classes."""
    bodies = [_class(one) for one in classes]
    used = used_validators("\n".join(bodies))
    bodies = [*(inspect.getsource(VALIDATORS[name]).rstrip() for name in used), *bodies]
    return "\n\n\n".join([f"{_docstring(title)}\n\n{_imports(bodies)}", *bodies]) + "\n"


def _imports(bodies: list[str]) -> str:
    whole = "\n".join(bodies)
    lines: list[str] = []
    if "dt." in whole:
        lines.append("import datetime as dt")
    if "re.fullmatch(" in whole:
        lines.append("import re")
    if _uses(whole, "Decimal"):
        lines.append("from decimal import Decimal")
    if typing := [name for name in _TYPING if _uses(whole, name)]:
        lines.append(f"from typing import {', '.join(typing)}")
    if _uses(whole, "UUID"):
        lines.append("from uuid import UUID")
    names = [name for name in _PYDANTIC if _uses(whole, name)]
    line = f"from pydantic import {', '.join(names)}"
    if len(line) > _WIDTH:
        line = "\n".join(["from pydantic import (", *(f"    {name}," for name in names), ")"])
    return "\n".join([*lines, *([""] if lines else []), line])


def _uses(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _class(one: ModelClass) -> str:
    lines = [f"class {one.name}(BaseModel):"]
    if one.doc:
        lines += [f"    {_docstring(one.doc)}", ""]
    lines.append(f"    model_config = ConfigDict({_arguments(one.config, 4)})")
    if one.attributes:
        lines.append("")
    lines += [_attribute(attribute) for attribute in one.attributes]
    return "\n".join(lines)


def _attribute(one: Attribute) -> str:
    head = f"    {one.name}: {one.typed.text}"
    if not one.arguments:
        return head
    if one.arguments == {"default": None}:
        return f"{head} = None"
    return f"{head} = Field({_arguments(one.arguments, 4)})"


def _arguments(arguments: dict[str, Any], indent: int) -> str:
    """Return keyword arguments, on one line if they fit."""
    texts = [f"{key}={_literal(value)}" for key, value in arguments.items()]
    line = ", ".join(texts)
    if len(line) <= _WIDTH - 40 and "\n" not in line:
        return line
    space = "\n" + " " * (indent + 4)
    inner = "".join(f"{space}{text.replace(chr(10), space)}," for text in texts)
    return f"{inner}\n{' ' * indent}"


def _literal(value: Any) -> str:
    """Return a value as source, on one line or with one line per item."""
    line = repr(value)
    if len(line) <= _WIDTH - 50 or not isinstance(value, dict | list):
        return line
    if isinstance(value, dict):
        parts, ends = [f"{key!r}: {_literal(inner)}" for key, inner in value.items()], "{}"
    else:
        parts, ends = [_literal(inner) for inner in value], "[]"
    inner = "".join(f"    {part},\n".replace("\n", "\n    ").removesuffix("    ") for part in parts)
    return f"{ends[0]}\n{inner}{ends[1]}"


def _docstring(text: str) -> str:
    """Return a text as a docstring; text with special characters is written as a string literal."""
    return f'"""{text}"""' if _PLAIN_DOC.fullmatch(text) and "\n" not in text else repr(text)
