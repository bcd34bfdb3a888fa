"""Contract resolution: from the registry, its cache, or the folders of the project."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.documents import document
from tests.registry.offers import ORDERS, orders, users
from treaty.contracts.text.writer import write_json, write_yaml
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, NotFound, Unavailable
from treaty.pipeline.project.contract_resolution import (
    ContractRegistry,
    OnRegistryDown,
    ResolvedContracts,
    resolve_contracts,
)
from treaty.pipeline.project.declarations import Files, Format, Project, Source
from treaty.registry.client import RegistryClient
from treaty.registry.model import DocumentAnswer, EffectiveAnswer, LineAnswer, Page
from treaty.registry.service import Registry

USERS = "users.daily_active"


def project(folder: Path, *lines: str) -> Project:
    """Declare a source for each line."""
    named = [one.partition("@") for one in lines]
    return Project(
        folder,
        sources=tuple(
            Source(f"s{index}", Line(contract, int(major)), Files("*", Format.CSV), at=f"sources/s{index}.yaml:1")
            for index, (contract, _, major) in enumerate(named)
        ),
    )


def versions(used: ResolvedContracts) -> dict[str, str]:
    return {str(line): contract.version for line, contract in used.by_line.items()}


class TestFolders:
    @staticmethod
    def keep(folder: Path, name: str, case: dict[str, Any]) -> Path:
        path = folder / "contracts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((write_json if name.endswith("json") else write_yaml)(document(case)))
        return path

    def test_highest_active_version_of_the_major_is_used_in_any_layout(self, tmp_path: Path) -> None:
        self.keep(tmp_path, "orders.yaml", orders("1.2.0"))
        self.keep(tmp_path, "old/orders-1.9.json", orders("1.9.0"))
        highest = self.keep(tmp_path, "old/orders/1.10.yml", orders("1.10.0"))
        self.keep(tmp_path, "next/orders.yaml", orders("1.11.0", status="draft"))
        self.keep(tmp_path, "next/two.yaml", orders("2.0.0"))
        self.keep(tmp_path, ".hidden/orders.yaml", orders("1.99.0"))
        self.keep(tmp_path, "more/users.yaml", users("3.1.0"))
        (tmp_path / "contracts" / "notes.yaml").write_text("title: no contract\n")

        used = resolve_contracts(
            project(tmp_path, f"{ORDERS}@1", f"{USERS}@3", f"{ORDERS}@1"), [tmp_path / "contracts"]
        )

        assert versions(used) == {"orders@1": "1.10.0", f"{USERS}@3": "3.1.0"}
        assert used.origins[Line(ORDERS, 1)] == str(highest)
        assert used.of(project(tmp_path, f"{USERS}@3").sources[0]).id == USERS
        assert used.findings == ()

    def test_line_without_an_active_version_uses_its_best_version(self, tmp_path: Path) -> None:
        self.keep(tmp_path, "a.yaml", orders("1.0.0", status="sunset"))
        self.keep(tmp_path, "b.yaml", orders("1.1.0", status="draft"))

        assert versions(resolve_contracts(project(tmp_path, "orders@1"), [tmp_path / "contracts"])) == {
            "orders@1": "1.0.0"
        }

    def test_several_folders_are_searched(self, tmp_path: Path) -> None:
        self.keep(tmp_path, "a.yaml", orders("1.0.0"))
        self.keep(tmp_path / "shared", "a.yaml", orders("1.1.0"))
        shared = tmp_path / "shared" / "contracts"

        used = resolve_contracts(project(tmp_path, "orders@1"), [tmp_path / "contracts", shared])

        assert versions(used) == {"orders@1": "1.1.0"}

    def test_all_missing_contracts_are_reported_together(self, tmp_path: Path) -> None:
        self.keep(tmp_path, "a.yaml", orders("2.0.0"))

        with pytest.raises(NotFound) as caught:
            resolve_contracts(project(tmp_path, "orders@1", "returns@1", "orders@2"), [tmp_path / "contracts"])

        first, second = str(caught.value).splitlines()
        assert first.startswith("sources/s0.yaml:1: no contract orders@1 in ")
        assert (
            "there is @2; add it there, correct the name, or set pipeline.contracts; treaty plan --draft drafts"
            in first
        )
        assert second.startswith("sources/s1.yaml:1: no contract returns@1 in ")

    def test_misspelt_contract_is_answered_with_the_similar_one(self, tmp_path: Path) -> None:
        self.keep(tmp_path, "a.yaml", orders("1.0.0"))

        with pytest.raises(
            NotFound, match=r"no contract ordrs@1 in .*contracts; did you mean 'orders'\?; add it there"
        ):
            resolve_contracts(project(tmp_path, "ordrs@1"), [tmp_path / "contracts"])

    def test_all_invalid_contracts_are_reported_together(self, tmp_path: Path) -> None:
        first = self.keep(tmp_path, "a.yaml", orders("1.0.0"))
        again = self.keep(tmp_path, "b.yaml", orders("1.0.0", fields=[]))
        broken = tmp_path / "contracts" / "c.yaml"
        broken.write_text("id: {\n")

        with pytest.raises(InvalidDocument) as caught:
            resolve_contracts(project(tmp_path, "orders@1"), [tmp_path / "contracts"])

        assert f"{broken}:2: " in str(caught.value)
        assert f"{again}: orders 1.0.0 is defined here and, differently, in {first}; delete one of them" in str(
            caught.value
        )


Opening = Callable[[], AbstractContextManager[ContractRegistry]]


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with Registry.open(str(tmp_path / "registry.db")) as one:
        one.register(orders("1.0.0"))
        one.register(orders("1.1.0"))
        one.register(users())
        yield one


def opening(registry: ContractRegistry) -> Opening:
    @contextmanager
    def opened() -> Iterator[ContractRegistry]:
        yield registry

    return opened


def closed_door() -> AbstractContextManager[RegistryClient]:
    """Return the URL of a server that does not exist."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    return RegistryClient(address, pause=lambda _: None)


class Leaving:
    """A registry that answers for one contract and is unreachable afterwards."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._served: str | None = None

    def lines(self, contract: str) -> list[LineAnswer]:
        self._served = self._served or contract
        if contract != self._served:
            raise Unavailable("the registry is gone; try again")
        return self._registry.lines(contract)

    def effective(self, contract: str, version: str) -> EffectiveAnswer:
        return self._registry.effective(contract, version)

    def history(self, contract: str, *, cursor: str | None = None) -> Page[DocumentAnswer]:
        return self._registry.history(contract, cursor=cursor)

    def datasets(self) -> Page[str]:
        return self._registry.datasets()


def test_registry_takes_precedence_over_folders(tmp_path: Path, registry: Registry) -> None:
    TestFolders.keep(tmp_path, "orders.yaml", orders("1.5.0"))

    used = resolve_contracts(project(tmp_path, "orders@1", f"{USERS}@1"), [tmp_path / "contracts"], opening(registry))

    assert versions(used) == {"orders@1": "1.1.0", f"{USERS}@1": "1.0.0"}
    assert set(used.origins.values()) == {"the registry"}
    assert used.findings == ()


def test_registered_line_without_an_active_version_uses_its_best_version(tmp_path: Path, registry: Registry) -> None:
    registry.register(orders("1.2.0", status="draft"))
    for version in ("1.0.0", "1.1.0"):
        registry.deprecate(ORDERS, version, deprecation_uri="https://wiki.example.org/move")

    used = resolve_contracts(project(tmp_path, "orders@1"), [], opening(registry))

    (contract,) = used.by_line.values()
    assert (contract.version, contract.status) == ("1.1.0", "deprecated")


def test_all_unregistered_lines_are_reported_together(tmp_path: Path, registry: Registry) -> None:
    TestFolders.keep(tmp_path, "returns.yaml", orders(id="returns"))

    with pytest.raises(NotFound) as caught:
        resolve_contracts(
            project(tmp_path, "orders@1", "orders@7", "returns@1"), [tmp_path / "contracts"], opening(registry)
        )

    first, second = str(caught.value).splitlines()
    assert first.startswith("sources/s1.yaml:1: line orders@7 is not registered; there are: orders@1; register it")
    assert second.startswith("sources/s2.yaml:1: ")
    assert "returns" in second


def test_misspelt_contract_is_answered_with_the_registered_one(tmp_path: Path, registry: Registry) -> None:
    with pytest.raises(NotFound, match=r"no contract 'ordrs' is registered; did you mean 'orders'\?; register it"):
        resolve_contracts(project(tmp_path, "ordrs@1"), [], opening(registry))


def test_without_the_registry_cached_contracts_are_used_with_a_warning(tmp_path: Path, registry: Registry) -> None:
    declared = project(tmp_path, "orders@1", f"{USERS}@1")
    before = resolve_contracts(declared, [], opening(registry))

    after = resolve_contracts(declared, [], closed_door)

    assert after.by_line == before.by_line
    assert all(origin.startswith("cached on 20") for origin in after.origins.values())
    (finding,) = after.findings
    assert (finding.id, finding.severity) == ("contract-as-last-known", "warning")
    assert "http://127.0.0.1" in finding.message
    assert "orders 1.1.0, users.daily_active 1.0.0" in finding.message
    assert sorted(one.name for one in (tmp_path / ".treaty" / "contracts").iterdir()) == [
        "orders@1.yaml",
        f"{USERS}@1.yaml",
    ]


def test_contracts_missing_from_an_interrupted_registry_come_from_the_cache(tmp_path: Path, registry: Registry) -> None:
    declared = project(tmp_path, "orders@1", f"{USERS}@1")
    resolve_contracts(declared, [], opening(registry))
    registry.register(orders("1.2.0"))

    used = resolve_contracts(declared, [], opening(Leaving(registry)))

    assert versions(used) == {"orders@1": "1.2.0", f"{USERS}@1": "1.0.0"}
    assert used.origins[Line(ORDERS, 1)] == "the registry"
    assert [one.id for one in used.findings] == ["contract-as-last-known"]
    assert [text.partition(",")[0] for text in used.last_known] == [f"{USERS}@1 1.0.0"]


def test_halt_stops_the_run_without_the_registry(tmp_path: Path, registry: Registry) -> None:
    declared = project(tmp_path, "orders@1")
    resolve_contracts(declared, [], opening(registry))

    with pytest.raises(Unavailable, match=r"set pipeline\.on_registry_down to last_known"):
        resolve_contracts(declared, [], closed_door, OnRegistryDown.HALT)


def test_nothing_runs_without_a_cached_contract(tmp_path: Path, registry: Registry) -> None:
    TestFolders.keep(tmp_path, "orders.yaml", orders())
    resolve_contracts(project(tmp_path, f"{USERS}@1"), [], opening(registry))

    with pytest.raises(
        Unavailable, match="there is no cached copy of orders@1: run once while the registry is reachable"
    ):
        resolve_contracts(project(tmp_path, f"{USERS}@1", "orders@1"), [tmp_path / "contracts"], closed_door)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("id: {", "orders@1.yaml:2: .*; delete the cached copy"),
        (write_yaml(document(orders("2.0.0"))), "contains orders@2, not orders@1"),
    ],
)
def test_broken_cached_contract_is_refused(tmp_path: Path, registry: Registry, content: str, says: str) -> None:
    declared = project(tmp_path, "orders@1")
    resolve_contracts(declared, [], opening(registry))
    (tmp_path / ".treaty" / "contracts" / "orders@1.yaml").write_text(content)

    with pytest.raises(InvalidDocument, match=says):
        resolve_contracts(declared, [], closed_door)


def test_contract_id_cannot_escape_the_cache_folder(tmp_path: Path, registry: Registry) -> None:
    named = "shop/orders/über"
    registry.register(orders(id=named))
    declared = project(tmp_path, f"{named}@1")

    resolve_contracts(declared, [], opening(registry))

    assert versions(resolve_contracts(declared, [], closed_door)) == {f"{named}@1": "1.0.0"}
    assert len(list((tmp_path / ".treaty" / "contracts").iterdir())) == 1


def test_unwritable_cache_is_a_warning(tmp_path: Path, registry: Registry) -> None:
    (tmp_path / ".treaty").write_text("a file where a folder should be")

    used = resolve_contracts(project(tmp_path, "orders@1"), [], opening(registry))

    assert versions(used) == {"orders@1": "1.1.0"}
    assert [(one.id, one.severity) for one in used.findings] == [("no-copy-kept", "warning")]


def test_contract_of_a_folder_includes_what_it_inherits(tmp_path: Path) -> None:
    level = {"property": "freshness", "value": 6, "unit": "h"}
    policy = orders(fields=[{"name": "region", "logicalType": "string", "required": True}], id="base", tier="domain")
    TestFolders.keep(tmp_path, "base.yaml", {**policy, "slaProperties": [level]})
    TestFolders.keep(tmp_path, "orders.yaml", orders(parent="base"))

    (contract,) = resolve_contracts(project(tmp_path, "orders@1"), [tmp_path / "contracts"]).by_line.values()

    assert [dict(one) for one in contract.sla or ()] == [level]
    assert [field.name for field in contract.schema[0].fields if field.is_required] == ["id", "region"]


def test_contract_whose_policy_is_in_no_folder_is_used_with_a_warning(tmp_path: Path) -> None:
    TestFolders.keep(tmp_path, "orders.yaml", orders(parent="base"))

    used = resolve_contracts(project(tmp_path, "orders@1"), [tmp_path / "contracts"])

    assert [(one.id, str(one.severity)) for one in used.findings] == [("policy-unknown", "warning")]
