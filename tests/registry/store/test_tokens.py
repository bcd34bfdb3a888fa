"""Tokens in a real database file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text

from treaty.errors import Conflict, NotAllowed, NotFound
from treaty.registry.access.actors import Role, Scope
from treaty.registry.access.tokens import Minted, mint
from treaty.registry.store.tables import METADATA
from treaty.registry.store.tokens import add, any_ever, find, is_taken, listed, revoke, sign_in
from treaty.registry.store.transaction import Transaction

NOW = datetime(2026, 1, 3, 12, 0, 0, 123456, tzinfo=UTC)
LATER = NOW + timedelta(days=1)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    engine = create_engine(f"sqlite:///{tmp_path / 'registry.db'}")
    METADATA.create_all(engine)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def kept(connection: Connection, name: str = "ci", lifetime: timedelta = timedelta(days=90)) -> Minted:
    token = mint(NOW, name, Role.CONTRIBUTOR, "growth", [Scope.WRITE, Scope.READ], "ann", lifetime)
    add(Transaction(connection, NOW), token.record)
    return token


def test_a_record_is_found_as_it_was_added(connection: Connection) -> None:
    token = kept(connection)

    assert find(connection, token.record.id) == token.record
    assert find(connection, "000000000000") is None


def test_the_secret_is_nowhere_in_the_database(connection: Connection, tmp_path: Path) -> None:
    token = kept(connection)
    connection.commit()
    secret = token.secret_text.rpartition("_")[2]

    assert secret.encode() not in (tmp_path / "registry.db").read_bytes()
    assert secret not in str(connection.execute(text("SELECT * FROM tokens")).all())


def test_an_id_is_used_once(connection: Connection) -> None:
    token = kept(connection)

    with pytest.raises(Conflict, match=token.record.id):
        add(Transaction(connection, NOW), token.record)


def test_records_are_listed_page_by_page(connection: Connection) -> None:
    ids = sorted(kept(connection).record.id for _ in range(5))

    first = listed(connection, None, 2)
    second = listed(connection, first[-1].id, 2)
    third = listed(connection, second[-1].id, 2)

    assert [record.id for record in (*first, *second, *third)] == ids
    assert listed(connection, ids[-1], 2) == ()


def test_a_token_is_revoked_once_and_for_good(connection: Connection) -> None:
    token = kept(connection)

    assert revoke(Transaction(connection, NOW), token.record.id).revoked_at == NOW
    assert revoke(Transaction(connection, LATER), token.record.id).revoked_at == NOW
    with pytest.raises(NotAllowed, match="was revoked on 2026-01-03"):
        sign_in(connection, token.secret_text, LATER)


def test_revoking_one_token_leaves_the_others(connection: Connection) -> None:
    one, other = kept(connection, "one"), kept(connection, "other")

    revoke(Transaction(connection, NOW), one.record.id)

    assert sign_in(connection, other.secret_text, NOW).name == "other"


def test_a_token_that_is_not_there_cannot_be_revoked(connection: Connection) -> None:
    with pytest.raises(NotFound, match="there is no token 'abc'"):
        revoke(Transaction(connection, NOW), "abc")


def test_a_name_is_taken_until_its_token_expires_or_is_revoked(connection: Connection) -> None:
    token = kept(connection, lifetime=timedelta(days=1))
    name = token.record.name
    assert is_taken(connection, name, NOW)
    assert not is_taken(connection, name, LATER)
    assert not is_taken(connection, "somebody else", NOW)

    revoke(Transaction(connection, NOW), token.record.id)
    assert not is_taken(connection, name, NOW)


def test_revoked_and_expired_tokens_still_count_as_tokens(connection: Connection) -> None:
    assert not any_ever(connection)
    revoke(Transaction(connection, NOW), kept(connection).record.id)

    assert any_ever(connection)


def test_a_token_signs_in(connection: Connection) -> None:
    token = kept(connection)

    actor = sign_in(connection, token.secret_text, NOW)

    assert (actor.name, [str(grant) for grant in actor.grants], actor.via) == ("ci", ["contributor:growth"], "token")
    assert actor.scopes == {"read", "write"}


def test_all_failed_sign_ins_have_the_same_message(connection: Connection) -> None:
    token, revoked = kept(connection), kept(connection)
    revoke(Transaction(connection, NOW), revoked.record.id)
    said = set()

    for wrong in (
        "",
        "treaty_000000000000_" + "0" * 64,
        f"treaty_{token.record.id}_" + "0" * 64,
        f"treaty_{revoked.record.id}_" + "0" * 64,
        token.secret_text.upper(),
    ):
        with pytest.raises(NotAllowed) as caught:
            sign_in(connection, wrong, NOW)
        said.add(str(caught.value))

    assert said == {"the token is not known here; check it, or ask an admin for a new one"}


def test_an_expired_token_does_not_sign_in(connection: Connection) -> None:
    token = kept(connection, lifetime=timedelta(days=1))

    with pytest.raises(NotAllowed, match="expired on 2026-01-04") as caught:
        sign_in(connection, token.secret_text, LATER)
    assert token.secret_text not in str(caught.value)
