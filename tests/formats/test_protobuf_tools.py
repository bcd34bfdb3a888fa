"""Protobuf as its own tools see it: protoc compiles what we write, and what buf calls breaking is a change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.message import DecodeError, Message
from grpc_tools import protoc
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents import CASES, contract
from tests.strategies import contracts
from treaty.compatibility import Mode, diff, judge
from treaty.contracts import Contract
from treaty.contracts.text import read_document
from treaty.contracts.versions import Bump
from treaty.formats import get_format

PROTOBUF = get_format("protobuf")
INCLUDES = (str(files("grpc_tools") / "_proto"), str(distribution("googleapis-common-protos").locate_file("")))
BUF = Path(sys.executable).with_name("buf")
Case = dict[str, Any]


def _cases() -> list[Case]:
    file = CASES / "incompatible" / "protobuf.yaml"
    cases: list[Case] = read_document(file.read_bytes(), file.name).data["cases"]
    return cases


def _text(body: str, number: int) -> str:
    """Return a file; each case has a package of its own, so that one run of buf sees them all."""
    head, _, rest = body.partition(";") if body.startswith(("syntax", "edition")) else ('syntax = "proto3"', "", body)
    package = "" if "package" in rest else f" package case{number};"
    return f"{head};{package} {rest}"


@pytest.fixture(scope="module")
def broken_rules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The rules that buf reports, by file."""
    folder = tmp_path_factory.mktemp("buf")
    for number, case in enumerate(_cases()):
        for side in ("before", "after"):
            path = folder / side / f"case{number}" / "m.proto"
            path.parent.mkdir(parents=True)
            path.write_text(_text(case[side], number))
    command = [str(BUF), "breaking", "after", "--against", "before", "--error-format", "json"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "HOME": str(folder)}
    )
    assert done.returncode == 100, done.stderr
    rules: dict[str, list[str]] = {}
    for finding in map(json.loads, done.stdout.splitlines()):
        place = finding.get("path") or finding.get("against_path", "")
        rules.setdefault(Path(place).parent.name, []).append(finding["type"])
    return rules


@pytest.mark.parametrize(
    ("number", "case"), [pytest.param(number, case, id=case["name"]) for number, case in enumerate(_cases())]
)
def test_breaking_files_are_never_without_a_change(number: int, case: Case, broken_rules: dict[str, list[str]]) -> None:
    assert sorted(set(broken_rules.get(f"case{number}", []))) == case["rules"]
    assert _required_bump(_text(case["before"], number), _text(case["after"], number)) == case["bump"]


def _required_bump(before: str, after: str) -> str:
    """Return the largest bump of the contracts in two files; a message that is gone is a MAJOR change."""
    old = {one.schema[0].name: one for one in PROTOBUF.read(before, name="m.proto").contracts}
    new = {one.schema[0].name: one for one in PROTOBUF.read(after, name="m.proto").contracts}
    bumps = [judge(diff(old[name], new[name]), Mode.FULL).required_bump for name in old if name in new]
    return max([*bumps, *(Bump.MAJOR for name in old if name not in new)]).name


def _compile(text: str, folder: Path) -> descriptor_pb2.FileDescriptorSet | None:
    (folder / "m.proto").write_text(text)
    target = folder / "m.bin"
    arguments = [f"-I{folder}", *(f"-I{path}" for path in INCLUDES), f"--descriptor_set_out={target}"]
    if protoc.main(["protoc", *arguments, "--include_imports", str(folder / "m.proto")]):
        return None
    return descriptor_pb2.FileDescriptorSet.FromString(target.read_bytes())


@pytest.mark.parametrize("dialect", ["proto3", "proto2"])
def test_protoc_compiles_what_we_write(dialect: str, tmp_path: Path) -> None:
    @settings(max_examples=15)
    @given(contracts())
    def law(contract: Contract) -> None:
        if contract.schema:
            text = PROTOBUF.write(contract, dialect=dialect).text
            assert _compile(text, tmp_path) is not None, text

    law()


_SCALARS = ["int32", "int64", "uint32", "sint32", "fixed32", "sfixed64", "bool", "string", "bytes", "float", "double"]
_KINDS = st.sampled_from([*_SCALARS, "E", "N", "repeated int32", "repeated N", "map<string, int32>", "optional int32"])
_NAMES = st.sampled_from("ab")
_REST = "message N { int32 x = 1; } enum E { E_UNSPECIFIED = 0; A = 1; B = 2; }"


@st.composite
def _messages(draw: Any) -> str:
    kind, name, number = draw(_KINDS), draw(_NAMES), draw(st.integers(1, 2))
    field = f"{kind} {name} = {number};"
    in_oneof = kind in (*_SCALARS, "E", "N") and draw(st.booleans())
    return f'syntax = "proto3"; message M {{ {f"oneof o {{ {field} bool z = 9; }}" if in_oneof else field} }} {_REST}'


def _filled(message: Message) -> Message:
    """Set every field of a message to a value that is not its default."""
    values = {"string": "x", "bytes": b"x", "bool": True, "float": 1.5, "double": 1.5}
    for field in message.DESCRIPTOR.fields:
        if field.name == "z" or (field.message_type and field.message_type.GetOptions().map_entry):
            continue
        target: Any = getattr(message, field.name)
        if field.message_type and field.is_repeated:
            target.add(x=7)
        elif field.message_type:
            target.x = 7
        else:
            names = {9: "string", 12: "bytes", 8: "bool", 2: "float", 1: "double"}
            value = values.get(names.get(field.type, ""), 1)
            target.append(value) if field.is_repeated else setattr(message, field.name, value)
    return message


def _class(compiled: descriptor_pb2.FileDescriptorSet) -> type[Message]:
    pool = descriptor_pool.DescriptorPool()
    for file in compiled.file:
        pool.Add(file)
    made: type[Message] = message_factory.GetMessageClass(pool.FindMessageTypeByName("M"))
    return made


def _reads_differently(one: type[Message], other: type[Message]) -> bool:
    """Whether bytes or JSON of a message are refused, or read as something else, by the other version."""
    message = _filled(one())
    written = json_format.MessageToDict(message)
    try:
        again = other.FromString(message.SerializeToString())
        parsed = json_format.ParseDict(written, other())
        return bool(json_format.MessageToDict(again) != written or parsed != again)
    except (DecodeError, json_format.ParseError):
        return True


def test_messages_that_are_read_differently_are_a_change(tmp_path: Path) -> None:
    @settings(max_examples=60)
    @given(_messages(), _messages())
    def law(before: str, after: str) -> None:
        classes = []
        for text in (before, after):
            compiled = _compile(text, tmp_path)
            assert compiled is not None, text
            classes.append(_class(compiled))
        if _reads_differently(classes[0], classes[1]) or _reads_differently(classes[1], classes[0]):
            assert _required_bump(before, after) != "NONE"

    law()


def test_a_file_is_the_same_after_its_way_through_a_contract() -> None:
    text = """syntax = "proto3";

package shop;

option java_package = "com.acme.shop";

message Order {
  reserved 9;
  message Line {
    sint64 amount = 1;
  }
  string id = 1;
  optional string note = 2 [json_name = "remark"];
  repeated Line lines = 3;
  oneof payment {
    string card = 4;
    string iban = 5;
  }
  Status status = 6;
  Order parent = 7;
}

enum Status {
  STATUS_UNSPECIFIED = 0;
  PAID = 3;
}
"""
    read = PROTOBUF.read(text, name="order.proto")
    written = PROTOBUF.write(read.contracts[0])

    assert (read.losses, written.losses) == ((), ())
    assert written.text == text


def _generated_names() -> Iterator[Any]:
    yield [
        {"name": "Status", "logicalType": "string", "enum": [{"value": "OPEN"}, {"value": "Status"}]},
        {"name": "status", "logicalType": "string", "enum": [{"value": "OPEN"}, {"value": "DONE"}]},
    ]
    yield [{"name": "order_id", "logicalType": "string"}, {"name": "orderId", "logicalType": "string"}]
    yield [
        {"name": "line", "logicalType": "object", "properties": [{"name": "a", "logicalType": "string"}]},
        {"name": "Line", "logicalType": "object", "properties": [{"name": "b", "logicalType": "string"}]},
    ]
    yield [{"name": "s", "logicalType": "string", "enum": [{"value": "S_OPEN"}, {"value": "OPEN"}, {"value": "open"}]}]


@pytest.mark.parametrize("fields", list(_generated_names()), ids=lambda fields: fields[0]["name"])
def test_names_are_unique_in_one_file(fields: Any, tmp_path: Path) -> None:
    text = PROTOBUF.write(contract(fields)).text

    assert _compile(text, tmp_path) is not None, text
