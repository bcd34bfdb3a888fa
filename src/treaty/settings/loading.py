"""Reading the project file, and the environment over it."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from treaty.contracts.reading import Limits, read_document
from treaty.errors import InvalidDocument, NotFound
from treaty.settings.documented import DOCUMENTED
from treaty.settings.model import SECRETS, Secrets, Settings
from treaty.settings.parts import Parts
from treaty.settings.places import beside
from treaty.settings.reading import read_part, read_variables, variable

PROJECT_FILE = "treaty.yaml"
_WHOLE = re.compile(r"0*[1-9][0-9]{0,17}")
_DEEPEST = 200
_IN_WORDS = {"dict": "a mapping", "list": "a list", "str": "a text"}
_KEYS = tuple(dict.fromkeys(name.partition(".")[0] for name in DOCUMENTED))
_PARTS = frozenset(one.name for one in fields(Parts))


def load_settings(
    config: Path | None = None, start: Path | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """Read the project file that is named, or the nearest above `start`, and the environment over it."""
    environment = os.environ if environment is None else environment
    named = config or (Path(environment["TREATY_CONFIG"]) if environment.get("TREATY_CONFIG") else None)
    file = named or _nearest(start or Path.cwd())
    settings = _read(file) if file else Settings()
    return _with_environment(settings, environment)


def _nearest(start: Path) -> Path | None:
    for folder in (start.resolve(), *start.resolve().parents):
        if (folder / PROJECT_FILE).is_file():
            return folder / PROJECT_FILE
        if (folder / ".git").exists():
            return None
    return None


def _read(file: Path) -> Settings:
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"no project file at {file}; make one with: treaty init") from None
    except OSError as error:
        raise NotFound(f"cannot read {file}: {error.strerror}") from None
    if not content.strip():
        return Settings(source=str(file), parts=beside(Parts(), file.parent))
    reading = read_document(content, str(file))
    data = reading.data
    for key in data:
        if key not in _KEYS:
            close = difflib.get_close_matches(key, _KEYS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"use: {', '.join(_KEYS)}"
            raise InvalidDocument(f"{reading.place((key,))}: unknown setting {key!r}; {hint}")
    return Settings(
        source=str(file),
        name=_typed(data, "name", str, None, file),
        compatibility=_typed(data, "compatibility", str, "backward", file),
        grades=_typed(data, "grading", dict, {}, file),
        lint_rules=_lint_rules(_typed(data, "lint", dict, {}, file), file),
        waivers=tuple(_typed(data, "waivers", list, [], file)),
        limits=_limits(_typed(data, "limits", dict, {}, file), str(file)),
        parts=_parts(data, file),
    )


def _parts(data: Mapping[str, Any], file: Path) -> Parts:
    return beside(read_part(Parts, {key: data[key] for key in data if key in _PARTS}, str(file)), file.parent)


def _typed(data: Mapping[str, Any], key: str, kind: type, default: Any, file: Path) -> Any:
    value = data.get(key)
    if value is None:
        return default
    if not isinstance(value, kind):
        wanted = _IN_WORDS[kind.__name__]
        raise InvalidDocument(f"{file}: {key!r} must be {wanted}, not {value!r}")
    return value


def _lint_rules(data: Mapping[str, Any], file: Path) -> Mapping[str, Any]:
    if unknown := sorted(data.keys() - {"rules"}):
        raise InvalidDocument(f"{file}: unknown setting 'lint.{unknown[0]}'; use: lint.rules")
    rules: Mapping[str, Any] = _typed(data, "rules", dict, {}, file)
    return rules


def _limits(data: Mapping[str, Any], source: str) -> Limits:
    known = {one.name for one in fields(Limits)}
    for key, value in data.items():
        if key not in known:
            raise InvalidDocument(f"{source}: unknown limit {key!r}; use: {', '.join(sorted(known))}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidDocument(f"{source}: limits.{key} must be a whole number above 0, not {value!r}")
    if data.get("depth", 0) > _DEEPEST:
        raise InvalidDocument(f"{source}: limits.depth may be {_DEEPEST} at most, not {data['depth']}")
    return Limits(**data)


def _with_environment(settings: Settings, environment: Mapping[str, str]) -> Settings:
    if environment.get("TREATY_COMPATIBILITY"):
        settings = replace(settings, compatibility=environment["TREATY_COMPATIBILITY"])
    limits: dict[str, int] = {}
    for one in fields(Limits):
        name = f"TREATY_LIMITS_{one.name.upper()}"
        if text := environment.get(name):
            if not _WHOLE.fullmatch(text):
                raise InvalidDocument(f"{name} must be a whole number above 0, not {text[:40]!r}")
            limits[one.name] = int(text)
    return replace(
        settings,
        limits=_limits({**asdict(settings.limits), **limits}, "the environment"),
        parts=read_variables(settings.parts, environment),
        actor=environment.get("TREATY_ACTOR") or None,
        secrets=Secrets(**{name: environment.get(variable(name)) or None for name in SECRETS}),
    )
