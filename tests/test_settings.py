"""Settings come from the nearest project file and from environment variables."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from treaty.contracts.text import Limits
from treaty.errors import InvalidDocument, NotFound
from treaty.settings import Settings, load_settings


def _project(folder: Path, text: str) -> Path:
    file = folder / "treaty.yaml"
    file.write_text(text)
    return file


def test_without_a_project_file_every_setting_has_its_default(tmp_path: Path) -> None:
    assert load_settings(start=tmp_path, environment={}) == Settings()


def test_the_nearest_project_file_above_is_used(tmp_path: Path) -> None:
    _project(tmp_path, "name: retail\ncompatibility: full\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)

    settings = load_settings(start=inner, environment={})

    assert (settings.name, settings.compatibility) == ("retail", "full")


def test_the_search_stops_at_the_repository_root(tmp_path: Path) -> None:
    _project(tmp_path, "name: outside\n")
    (tmp_path / "repository" / ".git").mkdir(parents=True)

    assert load_settings(start=tmp_path / "repository", environment={}).name is None


def test_environment_variables_override_the_file(tmp_path: Path) -> None:
    file = _project(tmp_path, "compatibility: full\nlimits: {depth: 10}\n")

    settings = load_settings(file, environment={"TREATY_COMPATIBILITY": "none", "TREATY_LIMITS_BYTES": "5000"})

    assert settings.compatibility == "none"
    assert settings.limits == Limits(bytes=5000, depth=10)


def test_custom_properties_that_carry_meaning_are_read_with_the_grades(tmp_path: Path) -> None:
    settings = load_settings(_project(tmp_path, "meaning_properties: [Rounding-Mode]\n"), environment={})

    assert settings.grading().meaning_properties == {"roundingmode"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("compatability: full\n", "treaty.yaml:1: unknown setting 'compatability'; did you mean 'compatibility'"),
        ("limits: {depth: -1}\n", "limits.depth must be an integer above 0, not -1"),
        ("limits: {width: 3}\n", "unknown limit 'width'; use: aliases, bytes, depth, nodes"),
        ("meaning_properties: currency\n", "'meaning_properties' must be a list, not 'currency'"),
        ("waivers: none\n", "'waivers' must be a list, not 'none'"),
        ("lint: {rules: [a]}\n", "'rules' must be a mapping"),
        ("- a\n", "a document is a mapping"),
    ],
)
def test_an_invalid_setting_is_named_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    file = _project(tmp_path, text)

    with pytest.raises(InvalidDocument) as caught:
        load_settings(file, environment={})

    assert message in str(caught.value)


def test_a_given_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="treaty init"):
        load_settings(tmp_path / "nothing.yaml", environment={})


def test_an_invalid_number_in_the_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="TREATY_LIMITS_DEPTH must be an integer"):
        load_settings(start=tmp_path, environment={"TREATY_LIMITS_DEPTH": "deep"})


def test_registry_settings_have_defaults(tmp_path: Path) -> None:
    settings = load_settings(start=tmp_path, environment={})

    rules, limits = settings.registry_rules(), settings.request_limits()
    assert settings.parts.registry == ".treaty/registry.db"
    assert (rules.periods.deprecation, rules.periods.sunset) == (timedelta(days=30), timedelta(days=7))
    assert (rules.approval, rules.addresses, rules.mode) == ("off", "public-only", "backward")
    assert (settings.access().required, settings.access().open_reading) == (False, True)
    assert settings.oidc() is None
    assert settings.outlet().mail is None
    assert (settings.parts.server.host, settings.parts.server.port) == ("127.0.0.1", 8090)
    assert (limits.body, limits.seconds) == (4_000_000, 60)


def test_registry_settings_are_read_from_the_file(tmp_path: Path) -> None:
    file = _project(
        tmp_path,
        """\
registry: kept/registry.db
approvals: required
lifecycle: {deprecation_days: 90, sunset_days: 0}
access:
  required: true
  read: members
  oidc: {issuer: "https://login.example.com", audience: treaty, algorithms: [ES256], leeway: 5}
notices:
  allow_private: true
  smtp: {host: mail.example.com, port: 587, user: treaty, sender: contracts@example.com}
server: {body_limit: 5000, timeout_seconds: 5}
""",
    )

    settings = load_settings(file, environment={"TREATY_SMTP_PASSWORD": "hunter2"})

    rules, oidc, mail = settings.registry_rules(), settings.oidc(), settings.outlet().mail
    assert settings.parts.registry == str(tmp_path / "kept" / "registry.db")
    assert (rules.approval, rules.addresses) == ("required", "allow-private")
    assert (rules.periods.deprecation, rules.periods.sunset) == (timedelta(days=90), timedelta(0))
    assert (settings.access().required, settings.access().open_reading) == (True, False)
    assert oidc is not None
    assert (oidc.algorithms, oidc.name_claim, oidc.leeway) == (("ES256",), "sub", 5)
    assert mail is not None
    assert (mail.host, mail.port, mail.user, mail.password) == ("mail.example.com", 587, "treaty", "hunter2")
    assert (settings.request_limits().body, settings.request_limits().seconds) == (5000, 5)
    assert "hunter2" not in repr(settings)


@pytest.mark.parametrize(
    "registry", ["https://contracts.example.com", "postgresql://db/treaty", "/var/lib/registry.db"]
)
def test_an_absolute_registry_is_unchanged(tmp_path: Path, registry: str) -> None:
    file = _project(tmp_path, f"registry: {registry}\n")

    assert load_settings(file, environment={}).parts.registry == registry


def test_the_registry_is_beside_the_project_file_by_default(tmp_path: Path) -> None:
    expected = str(tmp_path / ".treaty" / "registry.db")

    for text in ("", "name: shop\n"):
        assert load_settings(_project(tmp_path, text), environment={}).parts.registry == expected


def test_every_setting_can_be_overridden_by_a_variable(tmp_path: Path) -> None:
    file = _project(tmp_path, "registry: a.db\nserver: {port: 1}\nnotices: {allow_private: false}\n")
    environment = {
        "TREATY_REGISTRY": "b.db",
        "TREATY_SERVER_PORT": "9000",
        "TREATY_NOTICES_ALLOW_PRIVATE": "true",
        "TREATY_ACCESS_OIDC_ALGORITHMS": "RS256, ES256",
        "TREATY_LIFECYCLE_SUNSET_DAYS": "",
        "TREATY_TOKEN": "treaty_a_b",
        "TREATY_ACTOR": "ada",
    }

    settings = load_settings(file, environment=environment)

    assert settings.parts.registry == "b.db"
    assert settings.parts.server.port == 9000
    assert settings.parts.notices.allow_private is True
    assert settings.parts.access.oidc.algorithms == ("RS256", "ES256")
    assert settings.parts.lifecycle.sunset_days == 7
    assert (settings.secrets.token, settings.actor) == ("treaty_a_b", "ada")
    assert "treaty_a_b" not in repr(settings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lifecycle: {deprecation_days: -1}\n", "lifecycle.deprecation_days must be an integer from 0 to 3,650"),
        ("lifecycle: {deprecation_days: true}\n", "lifecycle.deprecation_days must be an integer"),
        ("lifecycle: 30\n", "lifecycle must be a mapping, not 30"),
        ("lifecycle: {deprecation_day: 3}\n", "did you mean 'lifecycle.deprecation_days'?"),
        ("approvals: maybe\n", "approvals must be one of: off, required, not 'maybe'"),
        ("access: {required: 1}\n", "access.required must be true or false, not '1'"),
        ("access: {oidc: {algorithms: RS256}}\n", "access.oidc.algorithms must be a list of strings"),
        ("registry: ''\n", "registry must be a string"),
        ("server: {port: 70000}\n", "server.port must be an integer from 0 to 65,535"),
        (
            "server: {whatever: 1}\n",
            "use: server.host, server.port, server.body_limit, server.timeout_seconds, server.body_timeout_seconds, "
            "server.head_limit, server.keep_alive_seconds, server.connection_limit",
        ),
        ("notices: {smtp: {password: x}}\n", "a password does not belong in a file; set TREATY_SMTP_PASSWORD"),
    ],
)
def test_an_invalid_section_is_named_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    file = _project(tmp_path, text)

    with pytest.raises(InvalidDocument) as caught:
        load_settings(file, environment={})

    assert str(file) in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TREATY_SERVER_PORT", "http"),
        ("TREATY_ACCESS_REQUIRED", "perhaps"),
        ("TREATY_APPROVALS", "yes"),
        ("TREATY_LIFECYCLE_SUNSET_DAYS", "-1"),
    ],
)
def test_an_invalid_variable_is_named(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(InvalidDocument, match=f"the environment: {name} must be .*{value}"):
        load_settings(start=tmp_path, environment={name: value})


@pytest.mark.parametrize(
    ("oidc", "message"),
    [
        ("{issuer: 'http://login.example.com', audience: a}", "must be an https address"),
        ("{issuer: 'https://login.example.com', audience: a, algorithms: [none]}", "'none' is not accepted"),
        ("{audience: a}", "issuer is missing"),
    ],
)
def test_an_invalid_issuer_is_refused_when_oidc_is_used(tmp_path: Path, oidc: str, message: str) -> None:
    settings = load_settings(_project(tmp_path, f"access: {{oidc: {oidc}}}\n"), environment={})

    with pytest.raises(InvalidDocument, match=f"treaty.yaml: access.oidc: .*{message}"):
        settings.oidc()


def test_contracts_of_a_pipeline_are_next_to_the_project_file(tmp_path: Path) -> None:
    by_default = load_settings(_project(tmp_path, "name: retail\n"), environment={}).parts.pipeline
    text = "pipeline: {contracts: [contracts, /shared/contracts], on_registry_down: halt}\n"
    chosen = load_settings(_project(tmp_path, text), environment={}).parts.pipeline

    assert (by_default.contracts, by_default.on_registry_down) == ((str(tmp_path / "contracts"),), "last_known")
    assert (chosen.contracts, chosen.on_registry_down) == ((str(tmp_path / "contracts"), "/shared/contracts"), "halt")


def test_on_registry_down_has_two_values(tmp_path: Path) -> None:
    file = _project(tmp_path, "pipeline: {on_registry_down: ignore}\n")

    with pytest.raises(InvalidDocument, match="on_registry_down must be one of: last_known, halt, not 'ignore'"):
        load_settings(file, environment={})
