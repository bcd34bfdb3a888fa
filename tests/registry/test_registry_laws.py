"""What holds whatever is handed in, and in whatever order."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.registry.backends import AnyRegistry
from tests.registry.offers import ID, PLAN, orders
from treaty.errors import Conflict
from treaty.registry.report import VersionRefused

LAW = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
_VERSIONS = st.builds("{}.{}.{}".format, st.integers(1, 3), st.integers(0, 2), st.integers(0, 2))
_FIELDS = st.lists(st.sampled_from("abc"), unique=True, max_size=3)
_OFFERS = st.lists(st.tuples(_VERSIONS, _FIELDS, st.booleans()), min_size=1, max_size=12)


def offered(name: str, version: str, fields: list[str], planned: bool) -> dict[str, Any]:
    chosen = [ID, *({"name": one, "logicalType": "string"} for one in sorted(fields))]
    plan = {**PLAN, "guide": f"https://wiki.example.org/{version}"} if planned else None
    return orders(version, chosen, id=name, migration=plan)


def parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


@LAW
@given(offers=_OFFERS)
def test_versions_increase_within_their_lines_and_none_is_there_twice(
    registry: AnyRegistry, offers: list[tuple[str, list[str], bool]]
) -> None:
    name = f"law-{len(registry.datasets(limit=1_000).items)}"
    taken: list[str] = []
    for version, fields, planned in offers:
        document = offered(name, version, fields, planned)
        admissible = registry.check(document).admissible
        try:
            answer = registry.register(document)
        except Conflict:
            assert version in taken
        except VersionRefused:
            assert not admissible
        else:
            assert answer.unchanged == (version in taken)
            if not answer.unchanged:
                assert admissible
                taken.append(version)

    assert taken[0] == offers[0][0]
    assert [one.version for one in registry.history(name).items] == taken
    by_line: dict[int, list[tuple[int, ...]]] = {}
    for numbers in map(parts, taken):
        by_line.setdefault(numbers[0], []).append(numbers)
    for members in by_line.values():
        assert members == sorted(set(members))
    opened = [members[0] for members in by_line.values()]
    assert opened == sorted(opened)
    assert registry.latest(name).version == ".".join(map(str, max(map(parts, taken))))
    assert registry.access.verify_audit().whole
