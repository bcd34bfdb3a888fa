"""Signed checkpoints of the audit log, kept outside the database, so that its owner cannot forge them."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from treaty.errors import InvalidDocument, Unavailable
from treaty.registry.documents import canonical_json
from treaty.registry.model import BreakAnswer, CheckpointAnswer, HeadAnswer
from treaty.registry.notices.channels import WebPolicy, parse_web_target
from treaty.registry.notices.delivery_failures import DeliveryFailed
from treaty.registry.notices.pinned_connection import SYSTEM_WIRE
from treaty.registry.notices.senders import USER_AGENT, post
from treaty.registry.rules import CheckpointRules
from treaty.registry.service.context import Context
from treaty.registry.store import audit_log
from treaty.registry.store.audit_check import Head

_ANY_URL = WebPolicy(allow_http=True)
"""The URL for checkpoints is a setting; the policy for channels is about URLs that users save."""


def publish_checkpoint(context: Context, *, after: int = 0) -> CheckpointAnswer | None:
    """Sign the newest entry and send it to the file and the URL of the settings; None if it is not after a number."""
    rules = context.rules.checkpoints
    if rules is None:
        raise InvalidDocument("no place for checkpoints is set; set audit.checkpoint_file or audit.checkpoint_url")
    with context.database.read() as connection:
        newest = audit_log.newest_entry(connection)
    if newest is None or newest.seq <= after:
        return None
    checkpoint = sign_head(rules.key, newest)
    if rules.file is not None:
        _append(rules.file, checkpoint)
    if rules.url is not None:
        _post(rules.url, checkpoint, context)
    return checkpoint


def sign_head(key: str, head: HeadAnswer) -> CheckpointAnswer:
    """Return the checkpoint of an entry."""
    at = head.at.isoformat()
    return CheckpointAnswer(seq=head.seq, hash=head.hash, at=at, signature=_signature(key, head.seq, head.hash, at))


def read_checkpoints(rules: CheckpointRules | None) -> tuple[list[Head], list[BreakAnswer]]:
    """Return the checkpoints of the file, and the lines that are not signed with the key."""
    if rules is None or rules.file is None or not rules.file.exists():
        return [], []
    heads: list[Head] = []
    broken: list[BreakAnswer] = []
    for number, line in enumerate(_lines(rules.file), start=1):
        checkpoint = _parse(line)
        if checkpoint is not None and _is_signed(rules.key, checkpoint):
            heads.append(Head(checkpoint.seq, checkpoint.hash))
        else:
            seq = checkpoint.seq if checkpoint else 0
            broken.append(BreakAnswer(seq=seq, reason=f"line {number} of {rules.file} is not signed with the key"))
    return heads, broken


def sign(key: str, digest: str) -> str:
    """Return the signature of the digest of a certificate, with the key of checkpoints."""
    return _signature(key, "certificate", digest)


def _signature(key: str, *values: Any) -> str:
    return hmac.new(key.encode(), canonical_json(list(values)), hashlib.sha256).hexdigest()


def _is_signed(key: str, checkpoint: CheckpointAnswer) -> bool:
    expected = _signature(key, checkpoint.seq, checkpoint.hash, checkpoint.at)
    return hmac.compare_digest(expected.encode(), checkpoint.signature.encode())


def _parse(line: str) -> CheckpointAnswer | None:
    try:
        return CheckpointAnswer(**json.loads(line))
    except (ValueError, TypeError):
        return None


def _lines(file: Path) -> Iterator[str]:
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            yield from (line for line in lines if line.strip())
    except OSError as error:
        raise Unavailable(f"cannot read the checkpoints in {file}: {error.strerror}") from None


def _append(file: Path, checkpoint: CheckpointAnswer) -> None:
    """Append a line and flush it, unless the file ends with it already."""
    line = f"{checkpoint.model_dump_json()}\n".encode()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "ab+", opener=_open_private) as lines:
            lines.seek(max(0, lines.tell() - len(line)))
            if lines.read() != line:
                lines.write(line)
                lines.flush()
                os.fsync(lines.fileno())
    except OSError as error:
        raise Unavailable(f"cannot write a checkpoint to {file}: {error.strerror}") from None


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _post(url: str, checkpoint: CheckpointAnswer, context: Context) -> None:
    headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
    body = checkpoint.model_dump_json().encode()
    target = parse_web_target(url)
    try:
        post(target, headers, body, context.rules.addresses, context.now, SYSTEM_WIRE, _ANY_URL)
    except DeliveryFailed as error:
        raise Unavailable(f"cannot send a checkpoint to {target.origin}: {error}") from None
