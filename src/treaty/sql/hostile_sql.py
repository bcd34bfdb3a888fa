"""Recognize SQL that does more than read the data of a contract, in any dialect.

Enforcement runs only what is on the allow-list of `rules`. This scan is for documents that are linted or registered:
other tools run the SQL of a contract too, so a statement that changes data, runs code or reads files is refused there
even where Treaty would not run it. It works on tokens, takes linear time, and does not need a valid statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from treaty.contracts.values import abbreviate
from treaty.sql.functions import EXTERNAL_CODE, words

MAX_SCANNED_LENGTH = 50_000
_SHOWN_LENGTH = 40


class _Kind(Enum):
    WORD = "word"
    TEXT = "text"
    NAME = "name"
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: _Kind
    text: str  # upper case for words; without quotes for texts and quoted names

    def is_word(self, *choices: str) -> bool:
        return self.kind is _Kind.WORD and self.text in choices

    def is_sign(self, text: str) -> bool:
        return self.kind is _Kind.SIGN and self.text == text


_STATEMENTS = words(
    """
    ADD ALTER ANALYZE ATTACH BACKUP BEGIN CACHE CALL CHECKPOINT CLEAR COMMENT COMMIT COPY CREATE DEALLOCATE DECLARE
    DELETE DESC DESCRIBE DETACH DISABLE DO DROP ENABLE EXEC EXECUTE EXPLAIN EXPORT FLUSH GRANT HANDLER IMPORT INSERT
    INSTALL KILL LIST LOAD LOCK MERGE MSCK OPTIMIZE PRAGMA PREPARE PURGE PUT REFRESH REINDEX REMOVE RENAME REPAIR
    REPLACE RESET RESTORE REVOKE ROLLBACK SAVEPOINT SET SHOW SHUTDOWN START STOP TRUNCATE UNCACHE UNINSTALL UNLOAD
    UNLOCK UPDATE UPSERT USE VACUUM
    """
)
"""First words of statements other than queries."""

_ALONE = words("BEGIN CHECKPOINT COMMIT ROLLBACK SHUTDOWN VACUUM")
"""Statements of one word; any other first word alone is a column."""

_BEFORE_PARENTHESIS = words("COPY EXPLAIN")
"""Statements that may begin with a parenthesis after their first word, and are no functions."""

_OPERATORS = words("AND AS BETWEEN COLLATE DIV GLOB ILIKE IN IS ISNULL LIKE NOT NOTNULL OR REGEXP RLIKE SIMILAR XOR")
"""Words that follow a column; after one of them, a first word such as `comment` is a column."""

_OBJECTS = words(
    "CATALOG DATABASE EXTENSION EXTERNAL FUNCTION GLOBAL INDEX MACRO OR POLICY PROCEDURE ROLE SCHEMA SEQUENCE SERVER "
    "TABLE TABLESPACE TEMP TEMPORARY TRIGGER TYPE UNIQUE USER VIEW WAREHOUSE"
)
_CHANGES = {
    "INSERT": words("INTO OVERWRITE TABLE"),
    "REPLACE": words("INTO"),
    "DELETE": words("FROM"),
    "MERGE": words("INTO"),
    "ADD": words("ARCHIVE ARCHIVES FILE FILES JAR JARS"),
    "DROP": _OBJECTS,
    "CREATE": _OBJECTS,
    "ALTER": _OBJECTS | words("SESSION SYSTEM"),
    "TRUNCATE": words("TABLE"),
    "TO": words("PROGRAM"),
    "FROM": words("PROGRAM"),
}
"""Pairs of words that change something wherever they occur, as after WITH in PostgreSQL."""

_CODE_FUNCTIONS = EXTERNAL_CODE | words(
    """
    dbms_scheduler dblink dblink_exec exec execute http_get http_post lo_export lo_import load_extension query_to_xml
    sp_oacreate sp_oamethod sys_eval sys_exec utl_http xp_cmdshell xp_regread
    """
)
_FILE_FUNCTIONS = words(
    """
    azureblobstorage bfilename delta_scan file glob hdfs iceberg_scan jdbc load_file mysql odbc
    opendatasource openquery openrowset parquet_scan pg_ls_dir pg_read_binary_file pg_read_file pg_stat_file postgresql
    read_blob read_csv read_csv_auto read_files read_json read_json_auto read_kafka read_ndjson read_parquet read_text
    read_xlsx remote s3 sqlite_scan url utl_file
    """
)
_WAITING_FUNCTIONS = words("benchmark dbms_lock pg_sleep sleep waitfor")
_FUNCTIONS = {
    **dict.fromkeys(_FILE_FUNCTIONS, "reads files or other systems"),
    **dict.fromkeys(_WAITING_FUNCTIONS, "makes the engine wait"),
    **dict.fromkeys(_CODE_FUNCTIONS, "runs code outside the query"),
}
_TABLE_FUNCTIONS = words("file glob jdbc mysql odbc postgresql remote s3 url")
"""Names in `_FUNCTIONS` that other dialects use for harmless functions too; refused only after FROM or JOIN."""

_VARIABLE = re.compile(r"\$\{\s*(?:env|system|sparkconf|hiveconf|spark)\s*[:.]", re.IGNORECASE)
_FOLDER = re.compile(r"[/\\]")
_FILE = re.compile(r"[/\\]|\.(?:csv|json|parquet|orc|avro|txt|xml|xlsx|db|sqlite)\Z", re.IGNORECASE)
_PIECE = re.compile(
    r"(?P<space>\s+|--(?=\s|\Z)[^\r\n]*)|(?P<word>[^\W\d]\w*)|(?P<number>\d\w*)|(?P<mark>/\*[!+]?\d*)|(?P<sign>.)",
    re.DOTALL,
)
_QUOTES = {
    (quote, escapes): re.compile(rf"{quote}((?:[^{quote}\\]|\\.|{quote}{quote})*+){quote}", re.DOTALL)
    if escapes
    else re.compile(rf"{quote}((?:[^{quote}]|{quote}{quote})*+){quote}", re.DOTALL)
    for quote in "'\"`"
    for escapes in (True, False)
}


def find_hostile_sql(text: str) -> str | None:
    """Return what a text does that no rule may do, such as "calls reflect, which runs code"; None if nothing is found.

    Dialects disagree on whether a backslash escapes a quote, so a text with one is read both ways.
    """
    if len(text) > MAX_SCANNED_LENGTH:
        return f"has {len(text):,} characters, more than {MAX_SCANNED_LENGTH:,}"
    if variable := _VARIABLE.search(text):
        return f"reads a setting of the machine ({abbreviate(text[variable.start() :], _SHOWN_LENGTH)})"
    readings = (True, False) if "\\" in text else (False,)
    return next((found for escapes in readings if (found := _scan(list(_tokens(text, escapes=escapes))))), None)


def _tokens(text: str, *, escapes: bool) -> Iterator[_Token]:
    """Yield the tokens; a quote or comment that is not closed counts as a sign, so that nothing hides behind it."""
    at = 0
    unclosed: set[str] = set()
    while at < len(text):
        character = text[at]
        if character in "'\"`" and character not in unclosed:
            quoted = _QUOTES[character, escapes].match(text, at)
            if quoted is not None:
                yield _Token(_Kind.TEXT if character == "'" else _Kind.NAME, quoted[1])
                at = quoted.end()
                continue
            unclosed.add(character)
        piece = _PIECE.match(text, at)
        assert piece is not None  # noqa: S101 - the last alternative matches any character
        at = piece.end()
        if piece["word"] or piece["number"]:
            yield _Token(_Kind.WORD, piece[0].upper())
        elif piece["mark"] == "/*":  # MySQL runs what follows /*!, so only plain comments are skipped
            end = text.find("*/", at) if "/*" not in unclosed else -1
            if end < 0:
                unclosed.add("/*")
            at = max(at, end + 2)
        elif piece["sign"]:
            yield _Token(_Kind.SIGN, piece[0])


def _scan(tokens: Sequence[_Token]) -> str | None:
    while tokens and tokens[-1].is_sign(";"):
        tokens = tokens[:-1]
    if any(token.is_sign(";") for token in tokens):
        return "has more than one statement"
    return _statement(tokens) or next((found for at in range(len(tokens)) if (found := _at(tokens, at))), None)


def _statement(tokens: Sequence[_Token]) -> str | None:
    """Return the first word of a statement that is not a query; a column of that name has an operator after it."""
    start = next((at for at, token in enumerate(tokens) if not token.is_sign("(")), 0)
    first, following = tokens[start : start + 1], tokens[start + 1 : start + 2]
    if not first or not first[0].is_word(*_STATEMENTS):
        return None
    word = first[0].text
    if not following:
        is_statement = word in _ALONE
    elif following[0].kind is _Kind.SIGN:
        is_statement = following[0].text == "(" and word in _BEFORE_PARENTHESIS
    else:
        is_statement = not following[0].is_word(*_OPERATORS)
    return f"is no query, but a statement that begins with {word}" if is_statement else None


def _at(tokens: Sequence[_Token], at: int) -> str | None:
    """Return what the token at a position does, judging by its neighbours."""
    token = tokens[at]
    if token.kind is _Kind.SIGN:
        return None
    before, after = tokens[max(0, at - 3) : at], tokens[at + 1 : at + 5]
    is_table = bool(before) and before[-1].is_word("FROM", "JOIN")
    if after and after[0].is_sign("(") and (what := _function(token.text.lower(), is_table=is_table)):
        return f"calls {abbreviate(token.text.lower(), _SHOWN_LENGTH)}, which {what}"
    if token.kind is _Kind.WORD:
        return _change(token, after)
    is_format = len(before) == 3 and before[-1].is_sign(".") and before[0].is_word("FROM", "JOIN")
    path = _FILE if token.kind is _Kind.TEXT else _FOLDER
    if (is_table or is_format) and path.search(token.text):
        return f"reads the file {abbreviate(token.text, _SHOWN_LENGTH)!r}"
    return None


def _change(token: _Token, after: Sequence[_Token]) -> str | None:
    if not after or after[0].kind is _Kind.SIGN:
        return None
    if after[0].is_word(*_CHANGES.get(token.text, ())):
        return f"contains {token.text} {after[0].text}"
    if token.text == "INTO":
        return "writes its result (INTO)"
    if token.text == "UPDATE" and any(later.is_word("SET") for later in after):
        return "contains UPDATE … SET"
    if token.text == "USING" and after[0].kind is _Kind.TEXT:
        return "runs a program (USING)"
    return None


def _function(name: str, *, is_table: bool) -> str | None:
    return None if name in _TABLE_FUNCTIONS and not is_table else _FUNCTIONS.get(name)
