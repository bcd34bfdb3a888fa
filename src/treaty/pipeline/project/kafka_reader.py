"""Reading where a source finds its topics: the brokers, the names, where to start, and the security settings."""

from __future__ import annotations

import re

from treaty.pipeline.project.broker_reader import read_bootstrap, read_security
from treaty.pipeline.project.declarations import Kafka, LostOffsets, Starting
from treaty.pipeline.project.mapping_reader import MappingReader

TOPIC_KEYS = ("topic", "pattern", "bootstrap", "starting", "lost_offsets", "security")

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


def read_topics(entry: MappingReader) -> Kafka:
    """Read the topics of a source, and report problems."""
    if "topic" in entry and "pattern" in entry:
        entry.report("a source cannot have both a topic and a pattern", "remove one", "pattern")
    topic, pattern = entry.text("topic") or "", entry.text("pattern") or ""
    if topic and not _TOPIC.fullmatch(topic):
        hint = "use letters, digits, '.', '_' and '-'; for several topics, write pattern: and a regular expression"
        entry.report(f"{topic!r} is not the name of a topic", hint, "topic")
    return Kafka(
        bootstrap=read_bootstrap(entry),
        topic=topic,
        pattern=_pattern(entry, pattern),
        starting=entry.choice("starting", tuple(Starting)) or Starting.EARLIEST,
        lost_offsets=entry.choice("lost_offsets", tuple(LostOffsets)) or LostOffsets.FAIL,
        security=read_security(entry),
    )


def _pattern(entry: MappingReader, pattern: str) -> str:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace")
        entry.report(f"pattern is not a regular expression: {reason}", "write it like orders[.].*", "pattern")
        return ""
    return pattern
