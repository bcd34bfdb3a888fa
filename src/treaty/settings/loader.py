"""Loads settings from the project file and environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, asdict, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from treaty.contracts.text import Limits, ParsedDocument, read_document
from treaty.contracts.values import freeze
from treaty.errors import InvalidDocument, NotFound
from treaty.settings.model import SECRETS, Secrets, Settings
from treaty.settings.sections import Iceberg, Parts, Pipeline, Spark
from treaty.settings.server_sections import Access, Audit, Catalog
from treaty.settings.setting_types import Kind
from treaty.suggestions import did_you_mean, similar_names

_SQLITE = "jdbc:sqlite:"


def resolve_paths(parts: Parts, folder: Path) -> Parts:
    """Return the settings with relative paths resolved against a folder."""
    return replace(
        parts,
        registry=_below(folder, parts.registry),
        access=_access(parts.access, folder),
        audit=_audit(parts.audit, folder),
        catalog=_catalog(parts.catalog, folder),
        spark=_spark(parts.spark, folder),
        pipeline=_pipeline(parts.pipeline, folder),
    )


def _access(part: Access, folder: Path) -> Access:
    file = part.oidc.client_secret_file
    return replace(part, oidc=replace(part.oidc, client_secret_file=file and _below(folder, file)))


def _audit(part: Audit, folder: Path) -> Audit:
    return replace(
        part,
        checkpoint_file=part.checkpoint_file and _below(folder, part.checkpoint_file),
        checkpoint_key_file=part.checkpoint_key_file and _below(folder, part.checkpoint_key_file),
    )


def _catalog(part: Catalog, folder: Path) -> Catalog:
    return replace(part, publish=part.publish and _below(folder, part.publish))


def _pipeline(part: Pipeline, folder: Path) -> Pipeline:
    return replace(part, contracts=tuple(_below(folder, path) for path in part.contracts))


def _spark(part: Spark, folder: Path) -> Spark:
    return replace(
        part,
        jars=part.jars and _below(folder, part.jars),
        ivy_settings=part.ivy_settings and _below(folder, part.ivy_settings),
        log=part.log and _below(folder, part.log),
        iceberg=_iceberg(part.iceberg, folder),
    )


def _iceberg(part: Iceberg, folder: Path) -> Iceberg:
    uri = part.uri
    if uri is not None and uri.startswith(_SQLITE):
        uri = _SQLITE + _below(folder, uri.removeprefix(_SQLITE))
    return replace(part, uri=uri, warehouse=part.warehouse and _below(folder, part.warehouse))


def _below(folder: Path, text: str) -> str:
    return text if "://" in text or text.startswith("~") else str(folder / text)


_ENVIRONMENT_ONLY = {
    "access.oidc.client_secret": (
        "a secret does not belong in a file; set TREATY_OIDC_CLIENT_SECRET or access.oidc.client_secret_file"
    ),
    "audit.checkpoint_key": "a key does not belong in a file; set TREATY_CHECKPOINT_KEY or audit.checkpoint_key_file",
    "notices.smtp.password": "a password does not belong in a file; set TREATY_SMTP_PASSWORD",
    "spark.iceberg.password": "a password does not belong in a file; set TREATY_ICEBERG_PASSWORD",
}

Part = TypeVar("Part")


def describe_settings(part: type[Any] = Parts, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield every setting with its description."""
    for setting in fields(part):
        if inner := _section_class(setting):
            yield from describe_settings(inner, f"{above}{setting.name}.")
        else:
            yield f"{above}{setting.name}", setting.metadata["what"]


def environment_variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return "TREATY_" + name.replace(".", "_").upper()


def read_part(part: type[Part], data: Any, source: str, above: str = "") -> Part:
    """Read a section of the project file; raises InvalidDocument with the name of an invalid setting."""
    if not isinstance(data, Mapping):
        raise InvalidDocument(f"{source}: {above[:-1]} must be a mapping, not {data!r}")
    known = {setting.name: setting for setting in fields(part)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for key, value in data.items():
        if key not in known:
            raise InvalidDocument(f"{source}: unknown setting '{above}{key}'; {_hint(f'{above}{key}', above, known)}")
        if value is None:
            continue
        inner = _section_class(known[key])
        name = f"{above}{key}"
        values[key] = (
            read_part(inner, value, source, f"{name}.") if inner else _checked(known[key], value, source, name)
        )
    return part(**values)


def read_variables(part: Part, environment: Mapping[str, str], above: str = "") -> Part:
    """Return a section with the values of environment variables that are set."""
    values: dict[str, Any] = {}
    for setting in fields(part):  # type: ignore[arg-type]
        name = f"{above}{setting.name}"
        if _section_class(setting):
            values[setting.name] = read_variables(getattr(part, setting.name), environment, f"{name}.")
        elif text := environment.get(environment_variable(name)):
            values[setting.name] = _checked(
                setting, setting.metadata["kind"].parse(text), "the environment", environment_variable(name)
            )
    return replace(part, **values)  # type: ignore[type-var]


def _checked(setting: Field[Any], value: Any, source: str, name: str) -> Any:
    kind: Kind = setting.metadata["kind"]
    if not kind.is_valid(value):
        raise InvalidDocument(f"{source}: {name} must be {kind.description}, not {str(value)[:60]!r}")
    return freeze(value)


def _section_class(setting: Field[Any]) -> type[Any] | None:
    """Return the section class of a field, or None if the field is a setting."""
    factory = setting.default_factory
    return factory if isinstance(factory, type) else None


def _hint(name: str, above: str, known: Mapping[str, Any]) -> str:
    if name in _ENVIRONMENT_ONLY:
        return _ENVIRONMENT_ONLY[name]
    close = similar_names(name.removeprefix(above), known, most=1)
    return f"did you mean '{above}{close[0]}'?" if close else f"use: {', '.join(f'{above}{key}' for key in known)}"


DOCUMENTED = {
    "name": "The name of the project.",
    "compatibility": "The compatibility mode, unless a contract pins a stricter one. Default: backward.",
    "grading": "Grades of change kinds that replace the defaults: a bump, or bump and breaks.",
    "meaning_properties": "Custom properties that carry meaning, in addition to currency and timezone.",
    "lint.rules": "Severities of lint rules that replace the defaults: error, warning, info or off.",
    "waivers": "Waived findings: rule, contract, path, owner, reason, until.",
    "limits.bytes": "The maximum size of a document.",
    "limits.depth": "The maximum nesting of a document.",
    "limits.aliases": "The maximum number of YAML aliases in a document.",
    "limits.nodes": "The maximum number of values in a document, with aliases expanded.",
    **dict(describe_settings()),
}
"""Every setting with its description."""

_FILE_ONLY = ("name", "grading", "meaning_properties", "lint.rules", "waivers")

ENVIRONMENT = {
    "TREATY_CONFIG": "The project file to use.",
    "TREATY_TOKEN": "The access token for a registry server. Alternatively, use --token-file.",
    "TREATY_ACTOR": "The actor for a registry that is opened directly. Default: your login name.",
    "TREATY_SMTP_PASSWORD": "The password of notices.smtp.user.",
    "TREATY_ICEBERG_PASSWORD": "The password of spark.iceberg.user.",
    "TREATY_JDBC_PASSWORD": "The password of the user in a JDBC URL.",
    "TREATY_HASH_SECRET": "The secret for hashes of redacted fields. Changing it changes all hashes.",
    "TREATY_GITLAB_TOKEN": "The token with which treaty check --comment writes to a GitLab merge request.",
    **{environment_variable(name): f"Overrides {name}." for name in DOCUMENTED if name not in _FILE_ONLY},
}
"""Every environment variable with its description."""


PROJECT_FILE = "treaty.yaml"
_POSITIVE_INTEGER = re.compile(r"0*[1-9][0-9]{0,17}")
MAX_DEPTH_LIMIT = 200
_TYPE_NAMES = {"dict": "a mapping", "list": "a list", "str": "a string"}
_KEYS = tuple(dict.fromkeys(name.partition(".")[0] for name in DOCUMENTED))
_PARTS = frozenset(setting.name for setting in fields(Parts))


def load_settings(
    config: Path | None = None, start: Path | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """Load the given project file, or the nearest one at or above `start`, and apply environment variables."""
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
        raise NotFound(f"no project file at {file}; create one with: treaty init") from None
    except IsADirectoryError:
        raise NotFound(f"{file} is a folder; give its project file: {file / PROJECT_FILE}") from None
    except OSError as error:
        raise NotFound(f"cannot read {file}: {error.strerror}; check the path and its permissions") from None
    if not content.strip():
        return Settings(source=str(file), parts=resolve_paths(Parts(), file.parent))
    document = _read_yaml(content, file)
    data = document.data
    for key in data:
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS, f"use: {', '.join(_KEYS)}")
            raise InvalidDocument(f"{document.place((key,))}: unknown setting {key!r}; {hint}")
    return Settings(
        source=str(file),
        name=_typed(data, "name", str, None, file),
        compatibility=_typed(data, "compatibility", str, "backward", file),
        grades=_typed(data, "grading", dict, {}, file),
        meaning_properties=tuple(_typed(data, "meaning_properties", list, [], file)),
        lint_rules=_lint_rules(_typed(data, "lint", dict, {}, file), file),
        waivers=tuple(_typed(data, "waivers", list, [], file)),
        limits=_limits(_typed(data, "limits", dict, {}, file), str(file)),
        parts=_parts(data, file),
    )


def _read_yaml(content: bytes, file: Path) -> ParsedDocument:
    """Read the project file; its errors have no findings, because those are about contracts."""
    try:
        return read_document(content, str(file))
    except InvalidDocument as error:
        raise InvalidDocument(str(error)) from None


def _parts(data: Mapping[str, Any], file: Path) -> Parts:
    return resolve_paths(read_part(Parts, {key: data[key] for key in data if key in _PARTS}, str(file)), file.parent)


def _typed(data: Mapping[str, Any], key: str, kind: type, default: Any, file: Path) -> Any:
    value = data.get(key)
    if value is None:
        return default
    if not isinstance(value, kind):
        expected = _TYPE_NAMES[kind.__name__]
        raise InvalidDocument(f"{file}: {key!r} must be {expected}, not {value!r}")
    return value


def _lint_rules(data: Mapping[str, Any], file: Path) -> Mapping[str, Any]:
    if unknown := sorted(data.keys() - {"rules"}):
        raise InvalidDocument(f"{file}: unknown setting 'lint.{unknown[0]}'; use: lint.rules")
    rules: Mapping[str, Any] = _typed(data, "rules", dict, {}, file)
    return rules


def _limits(data: Mapping[str, Any], source: str) -> Limits:
    known = {limit.name for limit in fields(Limits)}
    for key, value in data.items():
        if key not in known:
            raise InvalidDocument(f"{source}: unknown limit {key!r}; use: {', '.join(sorted(known))}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidDocument(f"{source}: limits.{key} must be an integer above 0, not {value!r}")
    if data.get("depth", 0) > MAX_DEPTH_LIMIT:
        raise InvalidDocument(f"{source}: limits.depth must be at most {MAX_DEPTH_LIMIT}, not {data['depth']}")
    return Limits(**data)


def _with_environment(settings: Settings, environment: Mapping[str, str]) -> Settings:
    if environment.get("TREATY_COMPATIBILITY"):
        settings = replace(settings, compatibility=environment["TREATY_COMPATIBILITY"])
    limits: dict[str, int] = {}
    for limit in fields(Limits):
        name = f"TREATY_LIMITS_{limit.name.upper()}"
        if text := environment.get(name):
            if not _POSITIVE_INTEGER.fullmatch(text):
                raise InvalidDocument(f"{name} must be an integer above 0, not {text[:40]!r}")
            limits[limit.name] = int(text)
    return replace(
        settings,
        limits=_limits({**asdict(settings.limits), **limits}, "the environment"),
        parts=read_variables(settings.parts, environment),
        actor=environment.get("TREATY_ACTOR") or None,
        secrets=Secrets(**{name: environment.get(environment_variable(name)) or None for name in SECRETS}),
    )
