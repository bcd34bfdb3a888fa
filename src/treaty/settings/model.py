"""Settings, read once: `treaty.yaml` of the project, and the environment over it."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from treaty.contracts.reading import Limits, read_document
from treaty.errors import InvalidDocument, NotFound

if TYPE_CHECKING:
    from treaty.compatibility import Grading, Mode
    from treaty.governance.lint import LintSettings

T = TypeVar("T")

PROJECT_FILE = "treaty.yaml"
DOCUMENTED = {
    "name": "What the project is called.",
    "compatibility": "The mode changes are judged under, unless a contract pins more: backward by default.",
    "grading": "Kinds re-graded for this team: a bump, or bump and breaks.",
    "lint.rules": "Lint rules re-graded: error, warning, info or off.",
    "waivers": "Findings set aside: rule, contract, path, owner, reason, until.",
    "limits.bytes": "The largest document that is read.",
    "limits.depth": "The deepest nesting that is read.",
    "limits.aliases": "The most YAML aliases in a document.",
    "limits.nodes": "The most values in a document, aliases followed.",
}
"""Every setting and what it is for."""

ENVIRONMENT = {
    "TREATY_CONFIG": "The project file to use.",
    "TREATY_COMPATIBILITY": "Like compatibility.",
    "TREATY_LIMITS_BYTES": "Like limits.bytes.",
    "TREATY_LIMITS_DEPTH": "Like limits.depth.",
    "TREATY_LIMITS_ALIASES": "Like limits.aliases.",
    "TREATY_LIMITS_NODES": "Like limits.nodes.",
}
"""Every environment variable and what it is for."""

_WHOLE = re.compile(r"0*[1-9][0-9]{0,17}")
_DEEPEST = 200
_IN_WORDS = {"dict": "a mapping", "list": "a list", "str": "a text"}
_KEYS = tuple(dict.fromkeys(name.partition(".")[0] for name in DOCUMENTED))


@dataclass(frozen=True)
class Settings:
    """What a project has set; each room reads its own part when it is first asked for, so that commands start fast."""

    source: str | None = None
    name: str | None = None
    compatibility: str = "backward"
    grades: Mapping[str, Any] = field(default_factory=dict)
    lint_rules: Mapping[str, Any] = field(default_factory=dict)
    waivers: tuple[Any, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def mode(self) -> Mode:
        """Return the mode that changes are judged under."""
        from treaty.compatibility import parse_mode

        return self._named("compatibility", lambda: parse_mode(self.compatibility))

    def grading(self) -> Grading:
        """Return the table of kinds with this team's grades."""
        from treaty.compatibility import parse_grading

        return self._named("grading", lambda: parse_grading(self.grades))

    def linting(self) -> LintSettings:
        """Return the lint rules as this team weighs and waives them."""
        from treaty.governance.lint import parse_lint_settings

        return self._named("lint.rules or waivers", lambda: parse_lint_settings(self.lint_rules, self.waivers))

    def _named(self, setting: str, read: Callable[[], T]) -> T:
        """Say in an error which setting of which file it is about."""
        try:
            return read()
        except InvalidDocument as error:
            raise InvalidDocument(f"{self.source or 'the environment'}: {setting}: {error}") from None


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
        return Settings(source=str(file))
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
    )


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
    return replace(settings, limits=_limits({**asdict(settings.limits), **limits}, "the environment"))
