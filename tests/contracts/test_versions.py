"""Versions are strict, bumps are ordered, ranges say what a consumer accepts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from semver import Version

from tests.strategies import texts
from treaty.contracts import Bump, contract_from, parse_range, parse_version
from treaty.contracts.versions import bump_between, next_version, try_parse_version
from treaty.errors import InvalidDocument

parts = st.integers(0, 30)
some_versions = st.builds(Version, parts, parts, parts)


@pytest.mark.parametrize(("text", "expected"), [("0.0.0", (0, 0, 0)), ("1.2.3", (1, 2, 3)), ("10.20.30", (10, 20, 30))])
def test_a_version_has_three_parts(text: str, expected: tuple[int, int, int]) -> None:
    version = parse_version(text)

    assert (version.major, version.minor, version.patch) == expected
    assert str(version) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "1", "1.0", "1.0.0.0", "v1.0.0", "1.0.0-rc.1", "1.0.0+build", "01.0.0", "1.00.0", "1.0.x", "-1.0.0"),
        *("1.0.0\n", "\n1.0.0", " 1.0.0", "1.0.0 ", "1. 0.0", "١.٠.٠", "1.0.0" + "0" * 100, "9" * 5_000, "a.b.c"),
    ],
    ids=ascii,
)
def test_an_invalid_version_is_refused(text: str) -> None:
    assert try_parse_version(text) is None
    with pytest.raises(InvalidDocument, match=r"is not a version; write MAJOR\.MINOR\.PATCH") as caught:
        parse_version(text)
    assert len(str(caught.value)) < 300


@given(some_versions)
def test_a_version_reads_back_from_its_text(version: Version) -> None:
    assert parse_version(str(version)) == version


@given(texts(40))
def test_any_text_is_a_version_or_none(text: str) -> None:
    version = try_parse_version(text)

    assert version is None or str(version) == text


RANGES: list[tuple[str, list[str], list[str]]] = [
    # range, inside, outside
    ("^1", ["1.0.0", "1.2.3", "1.99.99"], ["0.9.9", "2.0.0"]),
    ("^1.2", ["1.2.0", "1.9.0"], ["1.1.9", "2.0.0"]),
    ("^1.2.3", ["1.2.3", "1.3.0"], ["1.2.2", "2.0.0"]),
    ("^0", ["0.0.0", "0.9.9"], ["1.0.0"]),
    ("^0.2", ["0.2.0", "0.2.9"], ["0.1.9", "0.3.0", "1.0.0"]),
    ("^0.2.3", ["0.2.3", "0.2.9"], ["0.2.2", "0.3.0"]),
    ("^0.0", ["0.0.0", "0.0.9"], ["0.1.0"]),
    ("^0.0.3", ["0.0.3"], ["0.0.2", "0.0.4"]),
    ("~1", ["1.0.0", "1.9.9"], ["0.9.9", "2.0.0"]),
    ("~1.2", ["1.2.0", "1.2.9"], ["1.1.9", "1.3.0"]),
    ("~1.2.3", ["1.2.3", "1.2.9"], ["1.2.2", "1.3.0"]),
    ("1.x", ["1.0.0", "1.9.9"], ["0.9.9", "2.0.0"]),
    ("1.2.x", ["1.2.0", "1.2.9"], ["1.1.9", "1.3.0"]),
    ("1.x.x", ["1.0.0", "1.9.9"], ["2.0.0"]),
    ("1", ["1.0.0", "1.9.9"], ["2.0.0"]),
    ("1.2", ["1.2.0", "1.2.9"], ["1.3.0"]),
    ("1.2.3", ["1.2.3"], ["1.2.2", "1.2.4"]),
    ("=1.2.3", ["1.2.3"], ["1.2.2", "1.2.4"]),
]


@pytest.mark.parametrize(("text", "inside", "outside"), RANGES)
def test_a_range_holds_the_versions_it_says(text: str, inside: list[str], outside: list[str]) -> None:
    accepted = parse_range(text)

    assert [version for version in inside if parse_version(version) not in accepted] == []
    assert [version for version in outside if parse_version(version) in accepted] == []
    assert str(accepted) == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "x",
            "*",
            "^",
            "~",
            "=",
            "=1",
            "=1.2",
            "^1.x",
            "~1.x",
            "=1.2.x",
            "1.x.3",
            ">1",
            ">=1.0.0",
            "1.0.0 - 2.0.0",
        ),
        *("^^1", "1.", "1.2.3.4", "^01", "v1", "1.X", " ^1", "^1\n", "^1 || ^2", "^1.2.3-rc", "^" + "9" * 100),
    ],
    ids=repr,
)
def test_an_invalid_range_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument, match=r"is not a version range; write \^1\.2, ~1\.2, 1\.x or =1\.2\.3"):
        parse_range(text)


@given(some_versions, some_versions)
def test_a_caret_range_keeps_the_first_part_that_is_not_zero(low: Version, version: Version) -> None:
    leading = next((index for index, part in enumerate(low.to_tuple()[:3]) if part), 2)

    expected = version >= low and version.to_tuple()[: leading + 1] == low.to_tuple()[: leading + 1]
    assert (version in parse_range(f"^{low}")) is expected


@given(some_versions, some_versions)
def test_an_exact_range_holds_one_version(exact: Version, version: Version) -> None:
    assert (version in parse_range(f"={exact}")) is (version == exact)
    assert (version in parse_range(str(exact))) is (version == exact)


@given(some_versions, some_versions)
def test_a_wide_range_holds_its_line(line: Version, version: Version) -> None:
    assert (version in parse_range(f"{line.major}.x")) is (version.major == line.major)
    assert (version in parse_range(f"{line.major}.{line.minor}.x")) is (
        (version.major, version.minor) == (line.major, line.minor)
    )


BUMPS = [
    ("1.2.3", "1.2.3", Bump.NONE),
    ("1.2.3", "1.2.2", Bump.NONE),
    ("1.2.3", "0.9.9", Bump.NONE),
    ("1.2.3", "1.2.4", Bump.PATCH),
    ("1.2.3", "1.2.9", Bump.PATCH),
    ("1.2.3", "1.3.0", Bump.MINOR),
    ("1.2.3", "1.9.9", Bump.MINOR),
    ("1.2.3", "2.0.0", Bump.MAJOR),
    ("1.2.3", "9.9.9", Bump.MAJOR),
    ("0.1.0", "0.2.0", Bump.MINOR),
]


@pytest.mark.parametrize(("before", "after", "bump"), BUMPS)
def test_a_bump_is_the_first_part_that_increased(before: str, after: str, bump: Bump) -> None:
    assert bump_between(parse_version(before), parse_version(after)) is bump


@pytest.mark.parametrize(
    ("bump", "after"), [(Bump.NONE, "1.2.3"), (Bump.PATCH, "1.2.4"), (Bump.MINOR, "1.3.0"), (Bump.MAJOR, "2.0.0")]
)
def test_the_next_version_is_one_bump_away(bump: Bump, after: str) -> None:
    assert str(next_version(parse_version("1.2.3"), bump)) == after


@given(some_versions, st.sampled_from(Bump))
def test_a_bump_is_found_again_between_the_versions(version: Version, bump: Bump) -> None:
    assert bump_between(version, next_version(version, bump)) is bump


def test_bumps_are_ordered_and_read_by_name() -> None:
    assert sorted(Bump) == [Bump.NONE, Bump.PATCH, Bump.MINOR, Bump.MAJOR]
    assert [Bump.parse(text) for text in ("none", "Patch", "MINOR", "major")] == sorted(Bump)
    assert str(Bump.MINOR) == "MINOR"


@pytest.mark.parametrize("text", ["", "huge", "1", "minor "])
def test_an_unknown_bump_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(InvalidDocument, match=f"unknown bump '{text}'; use one of: none, patch, minor, major"):
        Bump.parse(text)


@pytest.mark.parametrize(
    ("version", "line"), [("1.2.3", "orders@1"), ("0.1.0", "orders@0"), ("2026-01", None), ("", None)]
)
def test_a_contract_belongs_to_the_line_of_its_version(version: str, line: str | None) -> None:
    document = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "orders", "version": version}

    assert contract_from(document).line == line
