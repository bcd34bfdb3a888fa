"""`treaty admin`: tokens, sessions, actors, audit log, namespaces, channels, notices, backup and restore."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty, Write
from tests.cli.order_contracts import V1
from treaty.registry.access.actors import local_actor
from treaty.registry.service import Registry
from treaty.registry.store.database import HEAD
from treaty.server.authenticator import Authenticator
from treaty.server.settings import AccessSettings


@pytest.fixture(autouse=True)
def registered(treaty: Treaty, write: Write) -> None:
    """Orders."""
    assert treaty("register", write("orders.yaml", V1)).code == 0


def test_a_token_is_printed_once_and_alone(treaty: Treaty) -> None:
    made = treaty("admin", "token", "create", "ci", "--role", "owner", "--team", "growth", "--days", "7")

    assert made.code == 0
    assert made.output.startswith("treaty_")
    assert len(made.output.splitlines()) == 1
    assert "ci is owner:growth until" in made.errors
    assert made.output.strip() not in treaty("admin", "token", "list").output


def test_a_token_is_listed_and_revoked(treaty: Treaty) -> None:
    made = json.loads(
        treaty("admin", "token", "create", "ci", "--role", "viewer", "--scope", "read", "--format", "json").output
    )

    assert made["token"].startswith("treaty_")
    assert "viewer" in treaty("admin", "token", "list").output
    assert treaty("admin", "token", "revoke", made["id"]).output == f"token {made['id']} (ci) is revoked\n"
    assert "revoked" in treaty("admin", "token", "list").output
    assert treaty("admin", "token", "revoke", "nothing").code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--role", "owner"), 1, "is held in a team"),
        (("--role", "king"), 2, "viewer"),
        (("--role", "viewer", "--days", "0"), 2, "range"),
        (("--role", "viewer", "--scope", "write"), 1, "viewer has no use for the scope write; use one of: read"),
        (("--role", "viewer", "--for", "ana"), 1, "'ana' is no identity; write token:ID, or ISSUER#SUBJECT"),
    ],
)
def test_a_token_that_cannot_be_is_one_clear_error(
    treaty: Treaty, arguments: tuple[str, ...], code: int, said: str
) -> None:
    result = treaty("admin", "token", "create", "ci", *arguments)

    assert result.code == code
    assert said in " ".join(result.errors.split())


def test_the_last_use_of_a_token_and_a_long_time_without_are_shown(treaty: Treaty, tmp_path: Path) -> None:
    for name in ("used", "idle"):
        assert treaty("admin", "token", "create", name, "--role", "viewer").code == 0
    with sqlite3.connect(tmp_path / ".treaty" / "registry.db") as connection:
        connection.execute("UPDATE tokens SET last_used_at = 1767355200000000")  # 2026-01-02 12:00
        connection.execute(
            "UPDATE tokens SET last_used_at = expires_at WHERE name IN (SELECT id FROM actors WHERE name = 'used')"
        )
    connection.close()

    listed = {
        token["name"]: token
        for token in json.loads(treaty("admin", "token", "list", "--format", "json").output)["items"]
    }
    rows = treaty("admin", "token", "list").output.splitlines()

    assert listed["idle"]["last_used_at"] == "2026-01-02T12:00:00Z"
    assert (listed["idle"]["unused"], listed["used"]["unused"]) == (True, False)
    assert [("unused" in row) for row in rows if " used " in row or " idle " in row].count(True) == 1
    assert treaty("admin", "audit", "verify").code == 0


def test_a_name_is_erased(treaty: Treaty) -> None:
    token = json.loads(treaty("admin", "token", "create", "wilhelmina", "--role", "viewer", "--format", "json").output)
    refused = treaty("admin", "actor", "erase", "wilhelmina")
    treaty("admin", "token", "revoke", token["id"])

    tried = treaty("admin", "actor", "erase", "wilhelmina", "--dry-run")
    still_there = "wilhelmina" in treaty("admin", "token", "list").output
    erased = treaty("admin", "actor", "erase", "wilhelmina")

    assert (refused.code, f"revoke it first: treaty admin token revoke {token['id']}" in refused.errors) == (1, True)
    assert tried.output.startswith("the name would become 'erased user a_")
    assert tried.output.endswith("' in 0 audit entries, 1 row, 0 notices, 0 sessions\n")
    assert still_there
    assert erased.output == tried.output.replace("would become", "is now")
    assert "wilhelmina" not in treaty("admin", "audit", "list").output + treaty("admin", "token", "list").output
    assert treaty("admin", "audit", "verify").code == 0
    assert treaty("admin", "actor", "erase", "wilhelmina").code == 1


def test_a_session_is_listed_and_ended(treaty: Treaty, tmp_path: Path) -> None:
    assert treaty("admin", "session", "list").output == "no sessions\n"
    with Registry.open(str(tmp_path / ".treaty" / "registry.db")) as registry:
        Authenticator(registry.context.database, AccessSettings()).sessions.begin(local_actor("ana"))

    (session,) = json.loads(treaty("admin", "session", "list", "--format", "json").output)["items"]

    assert (session["name"], session["identity"]) == ("ana", "local:ana")
    assert session["id"] in treaty("admin", "session", "list").output
    assert treaty("admin", "session", "end", session["id"]).output == f"session {session['id']} (ana) is ended\n"
    assert treaty("admin", "session", "list").output == "no sessions\n"
    assert treaty("admin", "session", "end", session["id"]).code == 1


def test_the_audit_log_says_who_did_what(treaty: Treaty) -> None:
    page = json.loads(
        treaty("admin", "audit", "list", "--subject", "orders", "--actor", "ada", "--format", "json").output
    )

    assert [(one["actor"], one["action"]) for one in page["items"]] == [("ada", "contract.register")]
    assert "contract.register  orders 1.0.0" in treaty("admin", "audit", "list").output


def test_intact_audit_log_prints_its_head(treaty: Treaty) -> None:
    checked = json.loads(treaty("admin", "audit", "verify", "--format", "json").output)
    treaty("admin", "token", "create", "ci", "--role", "viewer")

    assert checked["whole"] is True
    assert treaty("admin", "audit", "verify", "--head", checked["head"]).code == 0
    assert "the audit log is intact: 2 entries" in treaty("admin", "audit", "verify").output
    assert treaty("admin", "audit", "verify", "--head", "nonsense").code == 1


def test_a_changed_audit_log_is_found(treaty: Treaty, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / ".treaty" / "registry.db")
    with connection:  # a change to the database file behind the registry
        connection.execute("DROP TRIGGER audit_does_not_change")
        connection.execute("UPDATE audit SET actor = 'nobody'")
    connection.close()

    result = treaty("admin", "audit", "verify")

    assert result.code == 3
    assert "the audit log is damaged" in result.output
    assert "entry 1" in result.output


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (
            "DROP TRIGGER versions_do_not_change; UPDATE versions SET parsed = '{}';",
            "version orders 1.0.0 was changed outside the registry; entry 1 recorded it differently",
        ),
        (
            "UPDATE versions SET status = 'retired';",
            "status of version orders 1.0.0 was changed outside the registry; entry 1 recorded it differently",
        ),
        (
            "DROP TRIGGER versions_are_kept; DELETE FROM versions;",
            "version orders 1.0.0 was deleted outside the registry; entry 1 recorded it",
        ),
        (
            "INSERT INTO tokens VALUES ('intruder', 'x', 'd', 'admin', NULL, '[]', 0, 'x', 0, NULL, NULL, NULL);",
            "token intruder was added outside the registry; no entry records it",
        ),
    ],
)
def test_a_row_that_was_changed_in_the_database_is_named(
    treaty: Treaty, tmp_path: Path, statements: str, said: str
) -> None:
    connection = sqlite3.connect(tmp_path / ".treaty" / "registry.db")
    connection.executescript(statements)
    connection.close()

    result = treaty("admin", "audit", "verify")

    assert result.code == 3
    assert "the registry is not as the audit log records it" in result.output
    assert said in " ".join(result.output.split())


def test_a_namespace_is_assigned_listed_and_released(treaty: Treaty) -> None:
    assert treaty("admin", "namespace", "list").output == (
        "no namespaces; assign one with: treaty admin namespace assign\n"
    )
    assert treaty("admin", "namespace", "assign", "pay.", "payments").output == "pay. belongs to payments\n"
    assert "payments" in treaty("admin", "namespace", "list").output
    assert treaty("admin", "namespace", "release", "pay.").output == "pay. no longer belongs to payments\n"
    assert treaty("admin", "namespace", "release", "pay.").code == 1
    assert treaty("admin", "namespace", "assign", "pay", "payments").code == 1


def test_an_assigned_namespace_lists_the_contracts_of_other_teams(treaty: Treaty, write: Write) -> None:
    assert treaty("register", write("cards.yaml", {**V1, "id": "pay.cards"})).code == 0

    result = treaty("admin", "namespace", "assign", "pay.", "payments")

    assert "contracts of other teams in it, which stay with their owners (1): pay.cards" in result.output


def test_a_channel_is_added_listed_and_removed(treaty: Treaty) -> None:
    added = treaty("admin", "channel", "add", "checkout", "log", "treaty.checkout", "--format", "json")
    identity = str(json.loads(added.output)["id"])

    assert "treaty.checkout" in treaty("admin", "channel", "list").output
    assert f"channel {identity} is removed" in treaty("admin", "channel", "remove", identity).output
    assert treaty("admin", "channel", "list").output == "no channels; add one with: treaty admin channel add\n"
    assert treaty("admin", "channel", "remove", identity).code == 1


def test_a_webhook_is_signed_with_a_secret_from_a_file(treaty: Treaty, write: Write) -> None:
    write("treaty.yaml", "notices: {allow_private: true}\n")
    write("secret", "0123456789abcdef\n")

    result = treaty(
        "admin", "channel", "add", "checkout", "webhook", "http://127.0.0.1:9/hook", "--secret-file", "secret"
    )

    assert result.code == 0
    assert "/hook" not in treaty("admin", "channel", "list").output
    assert "0123456789abcdef" not in result.output


def test_the_secret_of_a_channel_is_replaced(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    write("treaty.yaml", "notices: {allow_private: true}\n")
    write("old", "0123456789abcdef\n")
    write("new", "fedcba9876543210\n")
    added = treaty(
        *("admin", "channel", "add", "checkout", "webhook", "http://127.0.0.1:9/hook"),
        *("--secret-file", "old", "--format", "json"),
    )
    identity = str(json.loads(added.output)["id"])

    rotated = treaty("admin", "channel", "rotate", identity, "--secret-file", "new", "--days", "2")
    finished = treaty("admin", "channel", "rotate", identity, "--finish")
    unclear = treaty("admin", "channel", "rotate", identity)

    assert f"channel {identity} is signed with the new and the previous secret until 20" in rotated.output
    assert finished.output == f"channel {identity} is signed with its new secret only\n"
    assert (unclear.code, "give either --secret-file or --finish" in unclear.errors) == (2, True)
    assert b"fedcba9876543210" not in (tmp_path / ".treaty" / "registry.db").read_bytes()


def test_an_upgrade_is_shown_before_it_is_done(treaty: Treaty, tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    tried = treaty("admin", "upgrade", "--dry-run", "--registry", "empty.db")
    size = (tmp_path / "empty.db").stat().st_size
    done = treaty("admin", "upgrade", "--registry", "empty.db")
    again = treaty("admin", "upgrade", "--registry", "empty.db")
    missing = treaty("admin", "upgrade", "--registry", "none.db")

    shown = " ".join(tried.output.split())
    assert (tried.code, size) == (0, 0)
    assert f"upgrade from revision none to {HEAD}: dry run, nothing was changed" in shown
    assert "CREATE TABLE contracts" in shown
    assert "the audit log is intact: 0 entries" in shown
    assert f"upgrade from revision none to {HEAD}: done" in " ".join(done.output.split())
    assert f"the database is at revision {HEAD}; nothing is to be upgraded" in again.output
    assert (missing.code, "there is no registry at none.db" in missing.errors) == (1, True)


def test_old_notices_are_counted_and_deleted(treaty: Treaty, write: Write, tmp_path: Path) -> None:
    write("treaty.yaml", "retention: {notices_days: 30}\n")
    with Registry.open(str(tmp_path / ".treaty" / "registry.db")) as registry:
        for number in range(3):
            registry.notices.report_breach("orders", kind="sla_breach", message=f"late {number}")
    with sqlite3.connect(tmp_path / ".treaty" / "registry.db") as connection:
        connection.execute("UPDATE notices SET at = 0 WHERE headline <> 'late 2'")
    connection.close()

    counted = treaty("admin", "retention", "--dry-run")
    deleted = treaty("admin", "retention", "--format", "json")

    assert counted.output == "would delete 3 notices, 0 deliveries, 0 measures, 0 replaced secrets\n"
    assert json.loads(deleted.output)["notices"] == 3
    assert treaty("admin", "retention").output == "nothing has expired\n"
    assert treaty("admin", "tick").output == "nothing is due\n"


def test_keys_are_created_and_replaced(treaty: Treaty, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("treaty.yaml", "notices: {allow_private: true}\n")
    first, second = (treaty("admin", "secrets", "key").output.strip() for _ in range(2))
    monkeypatch.setenv("TREATY_SECRET_KEY", first)
    treaty("admin", "channel", "add", "checkout", "webhook", "http://127.0.0.1:9/hook")

    monkeypatch.setenv("TREATY_SECRET_KEY", f"{second},{first}")
    rotated = treaty("admin", "secrets", "rotate")
    monkeypatch.setenv("TREATY_SECRET_KEY", second)
    listed = treaty("admin", "channel", "list")
    monkeypatch.setenv("TREATY_SECRET_KEY", "too short")
    refused = treaty("admin", "channel", "list")

    assert rotated.output == "the secrets of 1 channel are encrypted with the first key\n"
    assert "http://127.0.0.1:9/…" in listed.output
    assert (refused.code, "TREATY_SECRET_KEY: key 1 is not 32 bytes" in refused.errors) == (1, True)


@pytest.mark.parametrize("home", ["file", "server"])
@pytest.mark.parametrize(
    ("secret", "said"),
    [
        ("short", "the secret is shorter than 16 characters; use a random one"),
        ("x" * 201, "the secret is longer than 200 characters; use a shorter random one"),
    ],
)
def test_invalid_secret_gives_the_same_error_in_every_command(
    treaty: Treaty, write: Write, request: pytest.FixtureRequest, home: str, secret: str, said: str
) -> None:
    write("secret", secret)
    where = ("--registry", request.getfixturevalue("served")) if home == "server" else ()

    result = treaty("admin", "channel", "add", "checkout", "log", "x", "--secret-file", "secret", *where)

    assert (result.code, result.errors) == (1, f"error: {said}\n")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("webhook", "http://127.0.0.1/hook"), 1, "loopback"),
        (("webhook", "ftp://example.com"), 1, "not http or https"),
        (("email", "nobody"), 1, "is not an e-mail address"),
        (("email", "team@example.org"), 1, "cannot send e-mail; set notices.smtp.host and notices.smtp.sender"),
        (("pigeon", "x"), 2, "webhook"),
        (("log", "x", "--secret-file", "nothing"), 1, "no secret file nothing"),
    ],
)
def test_a_channel_that_cannot_be_is_one_clear_error(
    treaty: Treaty, arguments: tuple[str, ...], code: int, said: str
) -> None:
    result = treaty("admin", "channel", "add", "checkout", *arguments)

    assert result.code == code
    assert said in " ".join(result.errors.split())


def test_notices_show_content_and_delivery_state(treaty: Treaty) -> None:
    output = treaty("admin", "notices", "--contract", "orders", "--party", "checkout").output

    assert "orders 1.0.0 was registered" in output
    assert "to checkout · no channel" in output
    assert treaty("admin", "notices", "--party", "nobody").output == "no notices\n"


def test_what_was_given_up_is_tried_again(treaty: Treaty) -> None:
    assert treaty("admin", "redeliver").output == "no failed deliveries\n"
    assert json.loads(treaty("admin", "redeliver", "--format", "json").output) == {"deliveries": 0}
    assert treaty("admin", "redeliver", "--channel", "99").code == 1


def test_a_registry_is_backed_up_and_restored(treaty: Treaty) -> None:
    backed_up = json.loads(treaty("admin", "backup", "copy", "--format", "json").output)
    treaty("admin", "token", "create", "ci", "--role", "viewer")

    assert backed_up["entries"] == 1
    assert treaty("admin", "backup", "copy").errors == (
        "error: copy exists; choose another file, or replace it with --force\n"
    )
    assert "backed up the registry with 2 audit entries to copy" in treaty("admin", "backup", "copy", "--force").output
    restored = treaty("admin", "restore", "copy", "--registry", "new.db")
    assert (restored.code, restored.output.splitlines()[0]) == (0, "the audit log is intact: 2 entries")
    assert treaty("admin", "audit", "verify", "--registry", "new.db", "--head", backed_up["head"]).code == 0


def test_a_registry_with_contents_is_replaced_only_with_force(treaty: Treaty) -> None:
    assert treaty("admin", "backup", "copy").code == 0
    treaty("admin", "token", "create", "ci", "--role", "viewer")

    refused = treaty("admin", "restore", "copy")
    forced = treaty("admin", "restore", "copy", "--force")

    assert refused.code == 1
    assert "is not empty; restore into another registry, or replace it with --force" in refused.errors
    assert (forced.code, forced.output.splitlines()[0]) == (0, "the audit log is intact: 1 entry")
    assert treaty("admin", "token", "list").output == "no tokens; create one with: treaty admin token create\n"


def test_a_backup_of_a_changed_registry_is_restored_with_findings(treaty: Treaty, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / ".treaty" / "registry.db")
    connection.executescript("UPDATE versions SET status = 'retired';")
    connection.close()
    treaty("admin", "backup", "copy")

    restored = treaty("admin", "restore", "copy", "--registry", "new.db")

    assert restored.code == 3
    assert "status of version orders 1.0.0 was changed outside the registry" in " ".join(restored.output.split())


def test_a_server_is_not_backed_up_over_http(treaty: Treaty) -> None:
    result = treaty("admin", "backup", "copy", "--registry", "http://127.0.0.1:9")

    assert result.code == 2
    assert "this does not work over HTTP; give the database of the server" in " ".join(result.errors.split())


def test_a_checkpoint_is_signed_and_verified(treaty: Treaty, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("treaty.yaml", "audit: {checkpoint_file: checkpoints.jsonl}\n")
    keyless = treaty("admin", "audit", "verify")
    monkeypatch.setenv("TREATY_CHECKPOINT_KEY", "k" * 32)

    assert keyless.code == 1
    assert "checkpoints need a random key of 32 characters or more; set TREATY_CHECKPOINT_KEY" in keyless.errors
    assert treaty("admin", "audit", "checkpoint").output == "signed entry 1\n"
    assert "1 signed, compared" in treaty("admin", "audit", "verify").output
    monkeypatch.setenv("TREATY_CHECKPOINT_KEY", "x" * 32)
    assert "is not signed with the key" in " ".join(treaty("admin", "audit", "verify").output.split())
