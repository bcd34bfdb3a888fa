"""Legacy feeds of a project: what is read, and the problems that `treaty plan` names with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from treaty.contracts.text import Limits
from treaty.contracts.values import FrozenMap
from treaty.errors import InvalidDocument, NotFound
from treaty.legacy.cutover import Gate
from treaty.legacy.feeds import (
    ColumnRule,
    Comparison,
    LegacyDatabase,
    LegacyFeed,
    LegacyFiles,
    LegacyTable,
    Tolerance,
)
from treaty.pipeline.project import read_project
from treaty.pipeline.project.declarations import FileLayout, Project
from treaty.pipeline.project.emulations import find_compared_feed
from treaty.pipeline.project.legacy_reader import find_feed, read_legacy_feeds
from treaty.pipeline.project.mapping_reader import Problems

REVENUE = """\
owner: Finance Systems
files: mart/revenue/*.csv
options: {header: true}
key: [order_no]
period: booked_on
produced: daily by 04:00
consumers: [finance_close, support_desk]
parallel:
  publication: recognized_sale
  columns:
    order_no: order_id
    booked_on: business_day
    net: {new: net_amount, absolute: 0.01, relative: 0.001}
    booked_at: {new: recognized_at, time: 1 h}
    state: {new: status, codes: {S: RECOGNIZED, "7": REFUNDED}}
  identity: [booked_on, net]
  late_days: 2
  money: [net]
  patterns: [state]
  totals: [booked_on]
names: [warehouse.revenue]
cutover:
  clean_runs: 5
  totals: {relative: 0.0001}
"""


def read(folder: Path, text: str) -> LegacyFeed:
    (folder / "legacy").mkdir(exist_ok=True)
    (folder / "legacy" / "revenue.yaml").write_text(text)
    problems = Problems()
    feeds = read_legacy_feeds(folder, ["recognized_sale", "order_timeline"], Limits(), problems)
    problems.raise_if_any()
    return feeds[0]


def test_a_feed_says_what_it_is_and_how_it_is_compared(tmp_path: Path) -> None:
    assert read(tmp_path, REVENUE) == LegacyFeed(
        name="revenue",
        origin=LegacyFiles(str(tmp_path / "mart/revenue/*.csv"), None, FrozenMap({"header": "true"})),
        key=("order_no",),
        period="booked_on",
        owner="Finance Systems",
        produced="daily by 04:00",
        consumers=("finance_close", "support_desk"),
        comparison=Comparison(
            publication="recognized_sale",
            columns=(
                ColumnRule("order_no", "order_id"),
                ColumnRule("booked_on", "business_day"),
                ColumnRule("net", "net_amount", Tolerance(0.01, 0.001)),
                ColumnRule("booked_at", "recognized_at", Tolerance(seconds=3600)),
                ColumnRule("state", "status", codes=FrozenMap({"S": "RECOGNIZED", "7": "REFUNDED"})),
            ),
            identity=("booked_on", "net"),
            late_days=2,
            money=("net",),
            patterns=("state",),
            totals=("booked_on",),
        ),
        names=("warehouse.revenue",),
        gate=Gate(clean_runs=5, relative=0.0001),
        at=f"{tmp_path}/legacy/revenue.yaml:1",
    )


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("table: warehouse.revenue", LegacyTable("warehouse.revenue")),
        (
            "jdbc: {url: 'jdbc:postgresql://db/mart', table: revenue}",
            LegacyDatabase("jdbc:postgresql://db/mart", "revenue"),
        ),
        (
            "jdbc: {url: 'jdbc:postgresql://db/mart', table: revenue, user: reader}",
            LegacyDatabase("jdbc:postgresql://db/mart", "revenue", "reader"),
        ),
    ],
)
def test_a_feed_is_a_table_files_or_a_database(tmp_path: Path, origin: str, expected: object) -> None:
    assert read(tmp_path, f"owner: A\n{origin}\nkey: [id]\nperiod: day\n").origin == expected


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("table: warehouse.revenue", ("warehouse.revenue",)),
        ("table: warehouse.revenue\nnames: [mart.revenue]", ("warehouse.revenue", "mart.revenue")),
        ("jdbc: {url: 'jdbc:postgresql://db/mart', table: public.revenue}", ("public.revenue",)),
        ("files: mart/*.csv\nnames: [warehouse.revenue]", ("warehouse.revenue",)),
        ("files: mart/*.csv", ("revenue",)),
    ],
)
def test_a_feed_is_read_under_the_names_of_its_tables(tmp_path: Path, origin: str, expected: tuple[str, ...]) -> None:
    assert read(tmp_path, f"owner: A\n{origin}\nkey: [id]\nperiod: day\n").read_names == expected


MISTAKES = {
    "without an origin": (("files: mart/revenue/*.csv\n", ""), "the origin is missing"),
    "with two origins": (("key:", "table: a.b\nkey:"), "a legacy feed has one origin, not 2"),
    "in an unknown format": (("options:", "format: xls\noptions:"), "unknown format 'xls'; use one of: parquet"),
    "without an owner": (("owner: Finance Systems\n", ""), "owner is missing"),
    "of an unknown publication": (("publication: recognized_sale", "publication: recognised_sale"), "did you mean"),
    "whose key is not mapped": (
        ("    order_no: order_id\n", ""),
        "'order_no' is not mapped, but rows are compared by it",
    ),
    "with money that is not mapped": (
        ("money: [net]", "money: [gross]"),
        "money names 'gross', which is no legacy column",
    ),
    "with a tolerance that is no number": (("absolute: 0.01", "absolute: a cent"), "must be a number, not a cent"),
    "with a time that is no duration": (("time: 1 h", "time: soon"), "'soon' is not a duration"),
    "with a misspelt key": (("period:", "peroid:"), "unknown key 'peroid'"),
    "with a late window that is no number of days": (
        ("late_days: 2", "late_days: -1"),
        "late_days must be 0 to 366 days",
    ),
    "with no clean run in its gate": (("clean_runs: 5", "clean_runs: 0"), "clean_runs must be 1 to 100, not 0"),
    "with an unknown condition in its gate": (("clean_runs: 5", "clean_days: 5"), "unknown key 'cutover.clean_days'"),
    "with a tolerance of totals that is no number": (
        ("relative: 0.0001", "relative: low"),
        "must be a number, not low",
    ),
    "with a password": (
        ("files: mart/revenue/*.csv\noptions: {header: true}", "jdbc: {url: 'jdbc:x://u:p@h/d', table: t}"),
        "a password must not be stored in this file",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_feed_is_named(tmp_path: Path, mistake: str) -> None:
    (before, after), message = MISTAKES[mistake]
    assert before in REVENUE

    with pytest.raises(InvalidDocument) as refused:
        read(tmp_path, REVENUE.replace(before, after))

    assert message in str(refused.value)
    assert "revenue.yaml" in str(refused.value)


def test_an_unknown_feed_gets_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no legacy feed 'revenu'.*revenue"):
        find_feed([read(tmp_path, REVENUE)], "revenu")


PUBLICATION = """\
contract: shop.revenue_files@1
from: [orders]
sql: sql/sale.sql
emulates: revenue
as: feed
feed: {folder: out, format: csv}
"""
SHOP = {
    "sources/placed.yaml": "contract: shop.placed@1\nfiles: landing/*.jsonl\n",
    "products/orders.yaml": "contract: shop.orders@1\nfrom: [placed]\n",
    "publications/recognized_sale.yaml": "contract: shop.sale@1\nfrom: [orders]\nsql: sql/sale.sql\n",
    "publications/revenue_files.yaml": PUBLICATION,
    "sql/sale.sql": "SELECT * FROM orders;\n",
    "legacy/revenue.yaml": REVENUE.replace("{header: true}", "{delimiter: ';', charset: cp1252, multiLine: true}"),
}


def read_shop(folder: Path, **changed: str) -> Project:
    for name, text in {**SHOP, **changed}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return read_project(folder)


def test_an_emulation_has_the_columns_codes_and_files_of_the_feed(tmp_path: Path) -> None:
    publication = next(one for one in read_shop(tmp_path).publications if one.emulates)

    assert publication.sql is not None
    assert publication.sql.text.startswith("SELECT clean_rows.`order_id` AS `order_no`,")
    assert publication.sql.text.endswith("FROM (SELECT * FROM orders\n) AS clean_rows")
    assert publication.feed is not None
    assert publication.feed.layout == FileLayout(
        "*.csv", "booked_on", None, FrozenMap({"sep": ";", "encoding": "cp1252"})
    )


def test_the_name_of_an_emulation_compares_it_with_its_feed(tmp_path: Path) -> None:
    project = read_shop(tmp_path)

    assert find_compared_feed(project, "revenue") == project.legacy[0]
    compared = find_compared_feed(project, "revenue_files")
    assert compared.comparison is not None
    assert (compared.name, compared.comparison.publication) == ("revenue_files", "revenue_files")
    with pytest.raises(NotFound, match="no legacy feed 'revenue_file'"):
        find_compared_feed(project, "revenue_file")


WITHOUT_MEANING = REVENUE[: REVENUE.index("parallel:")]
EMULATION_MISTAKES: dict[str, tuple[dict[str, str], str]] = {
    "of an unknown feed": (
        {"publications/revenue_files.yaml": PUBLICATION.replace("emulates: revenue", "emulates: revenu")},
        "emulates names 'revenu', which is no legacy feed",
    ),
    "of a feed without a mapping": (
        {"legacy/revenue.yaml": WITHOUT_MEANING},
        "revenue does not say what its columns mean",
    ),
    "of the feed that it replaces": (
        {"legacy/revenue.yaml": REVENUE.replace("recognized_sale", "revenue_files")},
        "revenue is compared with it, so it cannot emulate the feed",
    ),
    "in another format": (
        {"publications/revenue_files.yaml": PUBLICATION.replace("csv", "jsonl")},
        "feed.format is jsonl, but revenue has files in csv",
    ),
}


@pytest.mark.parametrize("mistake", EMULATION_MISTAKES)
def test_a_mistake_in_an_emulation_is_named(tmp_path: Path, mistake: str) -> None:
    changed, message = EMULATION_MISTAKES[mistake]

    with pytest.raises(InvalidDocument) as refused:
        read_shop(tmp_path, **changed)

    assert message in str(refused.value)
    assert "revenue_files.yaml" in str(refused.value)
